# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Keeps API keys out of .env files: a matcher selects the calls that reach the hook."""

from tenterhook import HookResponse, PreToolUseEvent, TenterhookClient


def hooks(client: TenterhookClient) -> None:
    @client.hook("PreToolUse", matcher={"tool": "Write", "path_pattern": "*.env"})
    async def env_files(event: PreToolUseEvent) -> HookResponse:
        if "API_KEY=" in event.args.get("content", ""):
            return HookResponse.block("Cannot write API keys to .env files")
        return HookResponse.continue_()


if __name__ == "__main__":
    client = TenterhookClient(name="env-files")
    hooks(client)
    client.run()
