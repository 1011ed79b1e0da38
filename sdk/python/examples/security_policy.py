# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Blocks dangerous commands."""

import re

from tenterhook import HookResponse, PreToolUseEvent, TenterhookClient

DANGEROUS = [r"rm\s+-rf\s+/", r"mkfs\.", r"dd\s+if=.*of=/dev", r">\s*/dev/sd"]


def hooks(client: TenterhookClient) -> None:
    @client.hook("PreToolUse", matcher={"tool": "Bash"}, config={"fail_behavior": "block"})
    async def security_policy(event: PreToolUseEvent) -> HookResponse:
        for pattern in DANGEROUS:
            if re.search(pattern, event.args["command"]):
                return HookResponse.block(f"Blocked dangerous command matching {pattern}")
        return HookResponse.continue_()


if __name__ == "__main__":
    client = TenterhookClient(name="security-policy")
    hooks(client)
    client.run()
