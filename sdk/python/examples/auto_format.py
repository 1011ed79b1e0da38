# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Formats files that an agent has written. The formatter runs in the program that has the hook."""

import asyncio
from pathlib import Path

from tenterhook import HookResponse, PostToolUseEvent, TenterhookClient

FORMATTERS = {
    ".rs": ["rustfmt"],
    ".py": ["black", "--quiet"],
    ".ts": ["prettier", "--write"],
    ".js": ["prettier", "--write"],
    ".go": ["gofmt", "-w"],
}


def hooks(client: TenterhookClient) -> None:
    @client.hook("PostToolUse", matcher={"tool": "Write"}, config={"timeout_ms": 10_000})
    async def auto_format(event: PostToolUseEvent) -> HookResponse:
        if not event.result.success:
            return HookResponse.continue_()
        path = Path(event.context.working_directory, event.args["file_path"])
        if formatter := FORMATTERS.get(path.suffix):
            process = await asyncio.create_subprocess_exec(*formatter, str(path))
            try:
                await process.wait()
            except asyncio.CancelledError:
                process.kill()
                raise
        return HookResponse.continue_()


if __name__ == "__main__":
    client = TenterhookClient(name="auto-format")
    hooks(client)
    client.run()
