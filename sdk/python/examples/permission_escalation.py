# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Asks the user before sensitive tools run. The time limit of the hook allows for a user's answer."""

import asyncio
import json
from collections.abc import Awaitable, Callable

from tenterhook import HookResponse, PermissionRequestEvent, TenterhookClient

SENSITIVE = ("Bash", "Write", "Edit")

Dialog = Callable[[str, str], Awaitable[bool]]
"""Shows a title and a message, and returns the answer."""


def hooks(client: TenterhookClient, confirm: Dialog) -> None:
    @client.hook("PermissionRequest", config={"timeout_ms": 35_000, "fail_behavior": "block"})
    async def permission_escalation(event: PermissionRequestEvent) -> HookResponse:
        if event.tool in SENSITIVE:
            message = f"The agent wants to execute: {json.dumps(event.args)}"
            try:
                confirmed = await asyncio.wait_for(confirm(f"Allow {event.tool}?", message), timeout=30)
            except asyncio.TimeoutError:
                confirmed = False
            if not confirmed:
                return HookResponse.block("User denied permission")
        return HookResponse.continue_()


async def on_terminal(title: str, message: str) -> bool:
    answer = await asyncio.to_thread(input, f"{title}\n{message}\n[y/N] ")
    return answer.strip().lower() == "y"


if __name__ == "__main__":
    client = TenterhookClient(name="permission-escalation")
    hooks(client, on_terminal)
    client.run()
