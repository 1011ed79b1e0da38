# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Hooks for AI agents in Python.

```python
from tenterhook import HookResponse, PreToolUseEvent, TenterhookClient

client = TenterhookClient()


@client.hook("PreToolUse", matcher={"tool": "Bash"})
async def no_force_push(event: PreToolUseEvent) -> HookResponse:
    if "push --force" in event.args.get("command", ""):
        return HookResponse.block("force pushes are done by people")
    return HookResponse.continue_()


client.run()
```
"""

from .agent import GenerateStep, PermissionMode
from .claude import GUARDED_EVENTS, tenterhook_hooks
from .client import AuditLevel, TenterhookClient
from .errors import ErrorCode, InvalidEventError, InvalidHookError, NotConnectedError, RefusedError, TenterhookError
from .events import (
    EVENTS,
    ContextWarningEvent,
    GenerateEndEvent,
    GenerateStartEvent,
    HookEvent,
    NotificationEvent,
    PermissionDeniedEvent,
    PermissionGrantedEvent,
    PermissionRequestEvent,
    PostCompactEvent,
    PostToolUseEvent,
    PreCompactEvent,
    PreToolUseEvent,
    SessionEndEvent,
    SessionStartEvent,
    StopEvent,
    SubagentStartEvent,
    SubagentStopEvent,
    ToolErrorEvent,
    ToolEvent,
    UserPromptSubmitEvent,
)
from .gather import CallbackAnswer
from .hooks import AsyncHandler, Handler, HookConfig, HookInfo, ListedHook, Matcher, PlainHandler
from .live import FileChanged, FileListener, TodoItem, TodoListener, TodoUpdate, WatchEvent
from .outcome import Decision, NativeReply, Outcome
from .pending import Pending
from .response import Action, HookResponse
from .shapes import EventContext, GenerateResponse, ModelConfig, TokenUsage, ToolArgs, ToolCall, ToolResult

__version__ = "0.1.0"

__all__ = [
    "EVENTS",
    "GUARDED_EVENTS",
    "Action",
    "AsyncHandler",
    "AuditLevel",
    "CallbackAnswer",
    "ContextWarningEvent",
    "Decision",
    "ErrorCode",
    "EventContext",
    "FileChanged",
    "FileListener",
    "GenerateEndEvent",
    "GenerateResponse",
    "GenerateStartEvent",
    "GenerateStep",
    "Handler",
    "HookConfig",
    "HookEvent",
    "HookInfo",
    "HookResponse",
    "InvalidEventError",
    "InvalidHookError",
    "ListedHook",
    "Matcher",
    "ModelConfig",
    "NativeReply",
    "NotConnectedError",
    "NotificationEvent",
    "Outcome",
    "Pending",
    "PermissionDeniedEvent",
    "PermissionGrantedEvent",
    "PermissionMode",
    "PermissionRequestEvent",
    "PlainHandler",
    "PostCompactEvent",
    "PostToolUseEvent",
    "PreCompactEvent",
    "PreToolUseEvent",
    "RefusedError",
    "SessionEndEvent",
    "SessionStartEvent",
    "StopEvent",
    "SubagentStartEvent",
    "SubagentStopEvent",
    "TenterhookClient",
    "TenterhookError",
    "TodoItem",
    "TodoListener",
    "TodoUpdate",
    "TokenUsage",
    "ToolArgs",
    "ToolCall",
    "ToolErrorEvent",
    "ToolEvent",
    "ToolResult",
    "UserPromptSubmitEvent",
    "WatchEvent",
    "tenterhook_hooks",
]
