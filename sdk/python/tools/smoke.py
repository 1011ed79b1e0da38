# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Runs with an installed package: a hook blocks a call, and type checkers find the types."""

from __future__ import annotations

import asyncio
from importlib import metadata
from pathlib import Path

import tenterhook
from tenterhook import HookResponse, PreToolUseEvent, TenterhookClient

client = TenterhookClient()


@client.hook("PreToolUse", matcher={"tool": "Bash"})
async def no_deploys(event: PreToolUseEvent) -> HookResponse:
    """Blocks deployments."""
    return HookResponse.block("not on a Friday") if "deploy" in event.args["command"] else HookResponse.continue_()


async def main() -> None:
    """Fires two events and checks their outcomes."""
    async with client:
        deploy = await client.fire(PreToolUseEvent(session_id="s", tool="Bash", args={"command": "make deploy"}))
        test = await client.fire(PreToolUseEvent(session_id="s", tool="Bash", args={"command": "make test"}))
    if (deploy.blocked, deploy.reason, test.blocked) != (True, "not on a Friday", False):
        raise SystemExit(f"not as it should be: {deploy} {test}")
    if metadata.version("tenterhook") != tenterhook.__version__:
        raise SystemExit("the package and the module disagree about the version")
    if not (Path(tenterhook.__file__).parent / "py.typed").is_file():
        raise SystemExit("the package has no py.typed")


asyncio.run(main())
