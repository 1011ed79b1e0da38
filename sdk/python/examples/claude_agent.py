# SPDX-License-Identifier: Apache-2.0 OR MIT
"""An agent on the Claude Agent SDK: one line adds policy, ledger and live view, together with your own callbacks."""

import asyncio
import sys

from claude_agent_sdk import ClaudeAgentOptions, HookMatcher, query
from claude_agent_sdk.types import HookContext, HookInput, HookJSONOutput

from tenterhook import FileChanged, TenterhookClient, tenterhook_hooks


async def current_time(given: HookInput, tool_use_id: str | None, context: HookContext) -> HookJSONOutput:
    return {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "It is teatime."}}


def show(changed: FileChanged) -> None:
    print(f"{changed.tool_name} changed {changed.file}")


async def main(prompt: str) -> None:
    async with TenterhookClient(name="claude-agent") as client:
        client.on_file_changed(show)
        own = {"UserPromptSubmit": [HookMatcher(hooks=[current_time])]}
        options = ClaudeAgentOptions(hooks=tenterhook_hooks(client, own))
        async for message in query(prompt=prompt, options=options):
            print(message)


if __name__ == "__main__":
    asyncio.run(main(" ".join(sys.argv[1:])))
