# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Adds a timeout to all shell commands: a hook changes the arguments, and the rules judge the changed call."""

from tenterhook import HookResponse, PreToolUseEvent, TenterhookClient


def hooks(client: TenterhookClient) -> None:
    @client.hook("PreToolUse", matcher={"tool": "Bash"})
    async def bash_timeout(event: PreToolUseEvent) -> HookResponse:
        return HookResponse.modified(args={**event.args, "timeout": 30000})


if __name__ == "__main__":
    client = TenterhookClient(name="bash-timeout")
    hooks(client)
    client.run()
