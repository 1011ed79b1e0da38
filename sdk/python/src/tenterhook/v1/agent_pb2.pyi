from tenterhook.v1 import hooks_pb2 as _hooks_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Handling(_message.Message):
    __slots__ = ("event_id", "hook_id")
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    HOOK_ID_FIELD_NUMBER: _ClassVar[int]
    event_id: str
    hook_id: str
    def __init__(self, event_id: _Optional[str] = ..., hook_id: _Optional[str] = ...) -> None: ...

class CreateSessionRequest(_message.Message):
    __slots__ = ("working_directory", "system_prompt", "model", "tools", "permission_mode", "handling")
    WORKING_DIRECTORY_FIELD_NUMBER: _ClassVar[int]
    SYSTEM_PROMPT_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_MODE_FIELD_NUMBER: _ClassVar[int]
    HANDLING_FIELD_NUMBER: _ClassVar[int]
    working_directory: str
    system_prompt: str
    model: bytes
    tools: _containers.RepeatedScalarFieldContainer[str]
    permission_mode: str
    handling: Handling
    def __init__(self, working_directory: _Optional[str] = ..., system_prompt: _Optional[str] = ..., model: _Optional[bytes] = ..., tools: _Optional[_Iterable[str]] = ..., permission_mode: _Optional[str] = ..., handling: _Optional[_Union[Handling, _Mapping]] = ...) -> None: ...

class CreateSessionResponse(_message.Message):
    __slots__ = ("session_id", "error")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    error: _hooks_pb2.HookError
    def __init__(self, session_id: _Optional[str] = ..., error: _Optional[_Union[_hooks_pb2.HookError, _Mapping]] = ...) -> None: ...

class EndSessionRequest(_message.Message):
    __slots__ = ("session_id", "reason", "handling")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    HANDLING_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    reason: str
    handling: Handling
    def __init__(self, session_id: _Optional[str] = ..., reason: _Optional[str] = ..., handling: _Optional[_Union[Handling, _Mapping]] = ...) -> None: ...

class EndSessionResponse(_message.Message):
    __slots__ = ("error",)
    ERROR_FIELD_NUMBER: _ClassVar[int]
    error: _hooks_pb2.HookError
    def __init__(self, error: _Optional[_Union[_hooks_pb2.HookError, _Mapping]] = ...) -> None: ...

class GenerateRequest(_message.Message):
    __slots__ = ("session_id", "prompt", "drafts", "handling")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    DRAFTS_FIELD_NUMBER: _ClassVar[int]
    HANDLING_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    prompt: str
    drafts: bool
    handling: Handling
    def __init__(self, session_id: _Optional[str] = ..., prompt: _Optional[str] = ..., drafts: _Optional[bool] = ..., handling: _Optional[_Union[Handling, _Mapping]] = ...) -> None: ...

class GenerateEvent(_message.Message):
    __slots__ = ("text", "tool_call", "tool_result", "done", "draft", "moment", "error")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALL_FIELD_NUMBER: _ClassVar[int]
    TOOL_RESULT_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    DRAFT_FIELD_NUMBER: _ClassVar[int]
    MOMENT_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    text: str
    tool_call: bytes
    tool_result: bytes
    done: bytes
    draft: str
    moment: bytes
    error: _hooks_pb2.HookError
    def __init__(self, text: _Optional[str] = ..., tool_call: _Optional[bytes] = ..., tool_result: _Optional[bytes] = ..., done: _Optional[bytes] = ..., draft: _Optional[str] = ..., moment: _Optional[bytes] = ..., error: _Optional[_Union[_hooks_pb2.HookError, _Mapping]] = ...) -> None: ...

class ExecuteToolRequest(_message.Message):
    __slots__ = ("session_id", "tool", "args", "timeout_ms", "handling")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    ARGS_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    HANDLING_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    tool: str
    args: bytes
    timeout_ms: int
    handling: Handling
    def __init__(self, session_id: _Optional[str] = ..., tool: _Optional[str] = ..., args: _Optional[bytes] = ..., timeout_ms: _Optional[int] = ..., handling: _Optional[_Union[Handling, _Mapping]] = ...) -> None: ...

class ExecuteToolResponse(_message.Message):
    __slots__ = ("result", "error")
    RESULT_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    result: bytes
    error: _hooks_pb2.HookError
    def __init__(self, result: _Optional[bytes] = ..., error: _Optional[_Union[_hooks_pb2.HookError, _Mapping]] = ...) -> None: ...
