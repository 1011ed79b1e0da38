from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class FailBehavior(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FAIL_DEFAULT: _ClassVar[FailBehavior]
    FAIL_CONTINUE: _ClassVar[FailBehavior]
    FAIL_BLOCK: _ClassVar[FailBehavior]

class HookEventKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    HOOK_EVENT: _ClassVar[HookEventKind]
    HOOK_CANCEL: _ClassVar[HookEventKind]
    HOOK_HELLO: _ClassVar[HookEventKind]
    HOOK_REFUSED: _ClassVar[HookEventKind]
    HOOK_GOODBYE: _ClassVar[HookEventKind]

class HookAction(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CONTINUE: _ClassVar[HookAction]
    BLOCK: _ClassVar[HookAction]
    RETRY: _ClassVar[HookAction]
    SKIP: _ClassVar[HookAction]

class ErrorCode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ERROR_UNSPECIFIED: _ClassVar[ErrorCode]
    ERROR_INVALID: _ClassVar[ErrorCode]
    ERROR_NOT_FOUND: _ClassVar[ErrorCode]
    ERROR_ALREADY_EXISTS: _ClassVar[ErrorCode]
    ERROR_LIMIT: _ClassVar[ErrorCode]
    ERROR_REFUSED: _ClassVar[ErrorCode]
    ERROR_UNKNOWN_CALL: _ClassVar[ErrorCode]
    ERROR_TIMED_OUT: _ClassVar[ErrorCode]
    ERROR_CANCELLED: _ClassVar[ErrorCode]
    ERROR_UNREGISTERED: _ClassVar[ErrorCode]
    ERROR_HANDLER: _ClassVar[ErrorCode]
    ERROR_OVERLOADED: _ClassVar[ErrorCode]
    ERROR_INTERNAL: _ClassVar[ErrorCode]
    ERROR_BLOCKED: _ClassVar[ErrorCode]
    ERROR_MODEL: _ClassVar[ErrorCode]

class AuditLevel(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    AUDIT_LEVEL_UNSPECIFIED: _ClassVar[AuditLevel]
    AUDIT_LEVEL_OFF: _ClassVar[AuditLevel]
    AUDIT_LEVEL_INFO: _ClassVar[AuditLevel]
    AUDIT_LEVEL_VERBOSE: _ClassVar[AuditLevel]
FAIL_DEFAULT: FailBehavior
FAIL_CONTINUE: FailBehavior
FAIL_BLOCK: FailBehavior
HOOK_EVENT: HookEventKind
HOOK_CANCEL: HookEventKind
HOOK_HELLO: HookEventKind
HOOK_REFUSED: HookEventKind
HOOK_GOODBYE: HookEventKind
CONTINUE: HookAction
BLOCK: HookAction
RETRY: HookAction
SKIP: HookAction
ERROR_UNSPECIFIED: ErrorCode
ERROR_INVALID: ErrorCode
ERROR_NOT_FOUND: ErrorCode
ERROR_ALREADY_EXISTS: ErrorCode
ERROR_LIMIT: ErrorCode
ERROR_REFUSED: ErrorCode
ERROR_UNKNOWN_CALL: ErrorCode
ERROR_TIMED_OUT: ErrorCode
ERROR_CANCELLED: ErrorCode
ERROR_UNREGISTERED: ErrorCode
ERROR_HANDLER: ErrorCode
ERROR_OVERLOADED: ErrorCode
ERROR_INTERNAL: ErrorCode
ERROR_BLOCKED: ErrorCode
ERROR_MODEL: ErrorCode
AUDIT_LEVEL_UNSPECIFIED: AuditLevel
AUDIT_LEVEL_OFF: AuditLevel
AUDIT_LEVEL_INFO: AuditLevel
AUDIT_LEVEL_VERBOSE: AuditLevel

class RegisterHookRequest(_message.Message):
    __slots__ = ("event_type", "matcher", "config", "hook_id")
    EVENT_TYPE_FIELD_NUMBER: _ClassVar[int]
    MATCHER_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    HOOK_ID_FIELD_NUMBER: _ClassVar[int]
    event_type: str
    matcher: HookMatcher
    config: HookConfig
    hook_id: str
    def __init__(self, event_type: _Optional[str] = ..., matcher: _Optional[_Union[HookMatcher, _Mapping]] = ..., config: _Optional[_Union[HookConfig, _Mapping]] = ..., hook_id: _Optional[str] = ...) -> None: ...

class RegisterHookResponse(_message.Message):
    __slots__ = ("hook_id", "replaced", "error")
    HOOK_ID_FIELD_NUMBER: _ClassVar[int]
    REPLACED_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    hook_id: str
    replaced: bool
    error: HookError
    def __init__(self, hook_id: _Optional[str] = ..., replaced: _Optional[bool] = ..., error: _Optional[_Union[HookError, _Mapping]] = ...) -> None: ...

class UnregisterHookRequest(_message.Message):
    __slots__ = ("hook_id",)
    HOOK_ID_FIELD_NUMBER: _ClassVar[int]
    hook_id: str
    def __init__(self, hook_id: _Optional[str] = ...) -> None: ...

class UnregisterHookResponse(_message.Message):
    __slots__ = ("error",)
    ERROR_FIELD_NUMBER: _ClassVar[int]
    error: HookError
    def __init__(self, error: _Optional[_Union[HookError, _Mapping]] = ...) -> None: ...

class ListHooksRequest(_message.Message):
    __slots__ = ("all",)
    ALL_FIELD_NUMBER: _ClassVar[int]
    all: bool
    def __init__(self, all: _Optional[bool] = ...) -> None: ...

class ListHooksResponse(_message.Message):
    __slots__ = ("hooks", "error")
    HOOKS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    hooks: _containers.RepeatedCompositeFieldContainer[HookInfo]
    error: HookError
    def __init__(self, hooks: _Optional[_Iterable[_Union[HookInfo, _Mapping]]] = ..., error: _Optional[_Union[HookError, _Mapping]] = ...) -> None: ...

class HookInfo(_message.Message):
    __slots__ = ("hook_id", "event_type", "matcher", "config", "own", "client_name", "connected")
    HOOK_ID_FIELD_NUMBER: _ClassVar[int]
    EVENT_TYPE_FIELD_NUMBER: _ClassVar[int]
    MATCHER_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    OWN_FIELD_NUMBER: _ClassVar[int]
    CLIENT_NAME_FIELD_NUMBER: _ClassVar[int]
    CONNECTED_FIELD_NUMBER: _ClassVar[int]
    hook_id: str
    event_type: str
    matcher: HookMatcher
    config: HookConfig
    own: bool
    client_name: str
    connected: bool
    def __init__(self, hook_id: _Optional[str] = ..., event_type: _Optional[str] = ..., matcher: _Optional[_Union[HookMatcher, _Mapping]] = ..., config: _Optional[_Union[HookConfig, _Mapping]] = ..., own: _Optional[bool] = ..., client_name: _Optional[str] = ..., connected: _Optional[bool] = ...) -> None: ...

class HookMatcher(_message.Message):
    __slots__ = ("tool", "path_pattern", "command_pattern")
    TOOL_FIELD_NUMBER: _ClassVar[int]
    PATH_PATTERN_FIELD_NUMBER: _ClassVar[int]
    COMMAND_PATTERN_FIELD_NUMBER: _ClassVar[int]
    tool: str
    path_pattern: str
    command_pattern: str
    def __init__(self, tool: _Optional[str] = ..., path_pattern: _Optional[str] = ..., command_pattern: _Optional[str] = ...) -> None: ...

class HookConfig(_message.Message):
    __slots__ = ("priority", "timeout_ms", "fail_behavior", "linger_ms")
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    ASYNC_FIELD_NUMBER: _ClassVar[int]
    FAIL_BEHAVIOR_FIELD_NUMBER: _ClassVar[int]
    LINGER_MS_FIELD_NUMBER: _ClassVar[int]
    priority: int
    timeout_ms: int
    fail_behavior: FailBehavior
    linger_ms: int
    def __init__(self, priority: _Optional[int] = ..., timeout_ms: _Optional[int] = ..., fail_behavior: _Optional[_Union[FailBehavior, str]] = ..., linger_ms: _Optional[int] = ..., **kwargs) -> None: ...

class HookEvent(_message.Message):
    __slots__ = ("hook_id", "event_type", "session_id", "timestamp", "payload", "event_id", "call_id", "deadline", "timeout_ms", "kind", "redelivered", "attempt", "hello", "error")
    HOOK_ID_FIELD_NUMBER: _ClassVar[int]
    EVENT_TYPE_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    REDELIVERED_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    HELLO_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    hook_id: str
    event_type: str
    session_id: str
    timestamp: int
    payload: bytes
    event_id: str
    call_id: int
    deadline: int
    timeout_ms: int
    kind: HookEventKind
    redelivered: bool
    attempt: int
    hello: StreamHello
    error: HookError
    def __init__(self, hook_id: _Optional[str] = ..., event_type: _Optional[str] = ..., session_id: _Optional[str] = ..., timestamp: _Optional[int] = ..., payload: _Optional[bytes] = ..., event_id: _Optional[str] = ..., call_id: _Optional[int] = ..., deadline: _Optional[int] = ..., timeout_ms: _Optional[int] = ..., kind: _Optional[_Union[HookEventKind, str]] = ..., redelivered: _Optional[bool] = ..., attempt: _Optional[int] = ..., hello: _Optional[_Union[StreamHello, _Mapping]] = ..., error: _Optional[_Union[HookError, _Mapping]] = ...) -> None: ...

class StreamHello(_message.Message):
    __slots__ = ("version", "hook_ids", "missed")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    HOOK_IDS_FIELD_NUMBER: _ClassVar[int]
    MISSED_FIELD_NUMBER: _ClassVar[int]
    version: str
    hook_ids: _containers.RepeatedScalarFieldContainer[str]
    missed: int
    def __init__(self, version: _Optional[str] = ..., hook_ids: _Optional[_Iterable[str]] = ..., missed: _Optional[int] = ...) -> None: ...

class HookResponse(_message.Message):
    __slots__ = ("hook_id", "action", "reason", "modified", "event_id", "call_id", "retry_delay_ms", "error")
    HOOK_ID_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    MODIFIED_FIELD_NUMBER: _ClassVar[int]
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    RETRY_DELAY_MS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    hook_id: str
    action: HookAction
    reason: str
    modified: bytes
    event_id: str
    call_id: int
    retry_delay_ms: int
    error: HookError
    def __init__(self, hook_id: _Optional[str] = ..., action: _Optional[_Union[HookAction, str]] = ..., reason: _Optional[str] = ..., modified: _Optional[bytes] = ..., event_id: _Optional[str] = ..., call_id: _Optional[int] = ..., retry_delay_ms: _Optional[int] = ..., error: _Optional[_Union[HookError, _Mapping]] = ...) -> None: ...

class HookError(_message.Message):
    __slots__ = ("code", "message", "hint")
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    HINT_FIELD_NUMBER: _ClassVar[int]
    code: ErrorCode
    message: str
    hint: str
    def __init__(self, code: _Optional[_Union[ErrorCode, str]] = ..., message: _Optional[str] = ..., hint: _Optional[str] = ...) -> None: ...

class FireRequest(_message.Message):
    __slots__ = ("event_type", "session_id", "payload", "source", "event_id", "native", "timeout_ms", "callbacks")
    EVENT_TYPE_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    NATIVE_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    CALLBACKS_FIELD_NUMBER: _ClassVar[int]
    event_type: str
    session_id: str
    payload: bytes
    source: str
    event_id: str
    native: bool
    timeout_ms: int
    callbacks: _containers.RepeatedCompositeFieldContainer[CallbackAnswer]
    def __init__(self, event_type: _Optional[str] = ..., session_id: _Optional[str] = ..., payload: _Optional[bytes] = ..., source: _Optional[str] = ..., event_id: _Optional[str] = ..., native: _Optional[bool] = ..., timeout_ms: _Optional[int] = ..., callbacks: _Optional[_Iterable[_Union[CallbackAnswer, _Mapping]]] = ...) -> None: ...

class CallbackAnswer(_message.Message):
    __slots__ = ("name", "output", "error", "fail_behavior", "duration_us")
    NAME_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    FAIL_BEHAVIOR_FIELD_NUMBER: _ClassVar[int]
    DURATION_US_FIELD_NUMBER: _ClassVar[int]
    name: str
    output: bytes
    error: HookError
    fail_behavior: FailBehavior
    duration_us: int
    def __init__(self, name: _Optional[str] = ..., output: _Optional[bytes] = ..., error: _Optional[_Union[HookError, _Mapping]] = ..., fail_behavior: _Optional[_Union[FailBehavior, str]] = ..., duration_us: _Optional[int] = ...) -> None: ...

class FireResponse(_message.Message):
    __slots__ = ("event_id", "action", "reason", "modified", "decision", "stop", "outcome", "context", "message", "reply", "retry_delay_ms", "callbacks", "error")
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    MODIFIED_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    STOP_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    REPLY_FIELD_NUMBER: _ClassVar[int]
    RETRY_DELAY_MS_FIELD_NUMBER: _ClassVar[int]
    CALLBACKS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    event_id: str
    action: HookAction
    reason: str
    modified: bytes
    decision: str
    stop: bool
    outcome: bytes
    context: str
    message: str
    reply: NativeReply
    retry_delay_ms: int
    callbacks: int
    error: HookError
    def __init__(self, event_id: _Optional[str] = ..., action: _Optional[_Union[HookAction, str]] = ..., reason: _Optional[str] = ..., modified: _Optional[bytes] = ..., decision: _Optional[str] = ..., stop: _Optional[bool] = ..., outcome: _Optional[bytes] = ..., context: _Optional[str] = ..., message: _Optional[str] = ..., reply: _Optional[_Union[NativeReply, _Mapping]] = ..., retry_delay_ms: _Optional[int] = ..., callbacks: _Optional[int] = ..., error: _Optional[_Union[HookError, _Mapping]] = ...) -> None: ...

class NativeReply(_message.Message):
    __slots__ = ("stdout", "stderr", "exit_code")
    STDOUT_FIELD_NUMBER: _ClassVar[int]
    STDERR_FIELD_NUMBER: _ClassVar[int]
    EXIT_CODE_FIELD_NUMBER: _ClassVar[int]
    stdout: bytes
    stderr: str
    exit_code: int
    def __init__(self, stdout: _Optional[bytes] = ..., stderr: _Optional[str] = ..., exit_code: _Optional[int] = ...) -> None: ...

class WatchRequest(_message.Message):
    __slots__ = ("kinds", "session_id")
    KINDS_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    kinds: _containers.RepeatedScalarFieldContainer[str]
    session_id: str
    def __init__(self, kinds: _Optional[_Iterable[str]] = ..., session_id: _Optional[str] = ...) -> None: ...

class WatchEvent(_message.Message):
    __slots__ = ("number", "kind", "data")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    number: int
    kind: str
    data: bytes
    def __init__(self, number: _Optional[int] = ..., kind: _Optional[str] = ..., data: _Optional[bytes] = ...) -> None: ...

class SetAuditLevelRequest(_message.Message):
    __slots__ = ("level", "proof")
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    PROOF_FIELD_NUMBER: _ClassVar[int]
    level: AuditLevel
    proof: Proof
    def __init__(self, level: _Optional[_Union[AuditLevel, str]] = ..., proof: _Optional[_Union[Proof, _Mapping]] = ...) -> None: ...

class SetAuditLevelResponse(_message.Message):
    __slots__ = ("level", "previous", "error")
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    level: AuditLevel
    previous: AuditLevel
    error: HookError
    def __init__(self, level: _Optional[_Union[AuditLevel, str]] = ..., previous: _Optional[_Union[AuditLevel, str]] = ..., error: _Optional[_Union[HookError, _Mapping]] = ...) -> None: ...

class Proof(_message.Message):
    __slots__ = ("tty", "code")
    TTY_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    tty: bool
    code: str
    def __init__(self, tty: _Optional[bool] = ..., code: _Optional[str] = ...) -> None: ...
