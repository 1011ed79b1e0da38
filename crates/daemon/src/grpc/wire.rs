// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Translates between gRPC messages and our own types.

use std::time::Duration;

use serde_json::{Map, Value};
use tenterhook_engine::load::HookAuditLevel as Level;
use tenterhook_engine::sdk::{
    A3sAction, A3sAnswer, CancelReason, HandlerError, SdkCall, SdkMessage, SdkReply,
};
use tenterhook_engine::{FailMode, Hook};
use tenterhook_harness::dialect::A3sMatcher;
use tenterhook_home::call_meta;
use tenterhook_proto::v1::{
    AuditLevel, ErrorCode, FailBehavior, HookAction, HookConfig, HookError, HookEvent, HookEventKind,
    HookMatcher, HookResponse, RegisterHookRequest,
};
use tokio::time::Instant;

use crate::sdk::{HookRegistration, ProgramRefusal, RefusalCode};

pub(super) fn error(code: ErrorCode, message: impl Into<String>, hint: &str) -> HookError {
    HookError { code: code.into(), message: message.into(), hint: hint.to_owned() }
}

impl From<ProgramRefusal> for HookError {
    fn from(refusal: ProgramRefusal) -> Self {
        let code = match refusal.code {
            RefusalCode::Invalid => ErrorCode::ErrorInvalid,
            RefusalCode::NotFound => ErrorCode::ErrorNotFound,
            RefusalCode::AlreadyExists => ErrorCode::ErrorAlreadyExists,
            RefusalCode::Limit => ErrorCode::ErrorLimit,
            RefusalCode::Refused => ErrorCode::ErrorRefused,
            RefusalCode::Overloaded => ErrorCode::ErrorOverloaded,
            RefusalCode::Internal => ErrorCode::ErrorInternal,
            RefusalCode::Blocked => ErrorCode::ErrorBlocked,
            RefusalCode::Model => ErrorCode::ErrorModel,
            RefusalCode::TimedOut => ErrorCode::ErrorTimedOut,
            RefusalCode::Cancelled => ErrorCode::ErrorCancelled,
        };
        error(code, refusal.message, &refusal.hint)
    }
}

pub(super) fn hook_request(request: RegisterHookRequest) -> Result<HookRegistration, HookError> {
    let RegisterHookRequest { event_type, matcher, config, hook_id } = request;
    let HookConfig { priority, timeout_ms, r#async, fail_behavior, linger_ms } = config.unwrap_or_default();
    let fail = match FailBehavior::try_from(fail_behavior) {
        Ok(FailBehavior::FailDefault) => None,
        Ok(FailBehavior::FailContinue) => Some(FailMode::Open),
        Ok(FailBehavior::FailBlock) => Some(FailMode::Closed),
        Err(_) => {
            let why = format!("`fail_behavior` {fail_behavior} is unknown");
            return Err(error(ErrorCode::ErrorInvalid, why, "the daemon may be older than the program"));
        }
    };
    let HookMatcher { tool, path_pattern, command_pattern } = matcher.unwrap_or_default();
    let matcher = A3sMatcher { tool, path_pattern, command_pattern };
    let observes = r#async;
    Ok(HookRegistration { id: hook_id, event_type, matcher, priority, timeout_ms, observes, fail, linger_ms })
}

pub(super) fn matcher_message(matcher: &A3sMatcher) -> HookMatcher {
    let A3sMatcher { tool, path_pattern, command_pattern } = matcher.clone();
    HookMatcher { tool, path_pattern, command_pattern }
}

pub(super) fn config_message(hook: &Hook, linger: Duration) -> HookConfig {
    let fail = match hook.fail {
        FailMode::Open => FailBehavior::FailContinue,
        FailMode::Closed => FailBehavior::FailBlock,
    };
    HookConfig {
        priority: hook.priority,
        timeout_ms: milliseconds(hook.timeout),
        r#async: hook.observes,
        fail_behavior: fail.into(),
        linger_ms: milliseconds(linger),
    }
}

/// Converts a message for a program.
pub(super) fn event_message(sent: SdkMessage) -> HookEvent {
    match sent {
        SdkMessage::Call(question) => question_message(&question),
        SdkMessage::Cancelled { call_id, reason } => {
            let (code, message) = match reason {
                CancelReason::TimedOut => (ErrorCode::ErrorTimedOut, "the timeout has passed"),
                CancelReason::CallerGone => (ErrorCode::ErrorCancelled, "the caller is gone"),
                CancelReason::Unregistered => (ErrorCode::ErrorUnregistered, "the hook was unregistered"),
            };
            let (kind, error) = (HookEventKind::HookCancel, Some(error(code, message, "")));
            // The hook id is left out. Otherwise a client that answers every message would answer this one in
            // the hook's name.
            HookEvent { call_id, error, ..message_of_kind(kind) }
        }
        SdkMessage::Refused { call_id, why } => refused_answer(call_id, ErrorCode::ErrorInvalid, why),
    }
}

/// Builds the remark that an answer was refused.
pub(super) fn refused_answer(call_id: u64, code: ErrorCode, why: impl Into<String>) -> HookEvent {
    HookEvent { call_id, error: Some(error(code, why, "")), ..message_of_kind(HookEventKind::HookRefused) }
}

pub(super) fn message_of_kind(kind: HookEventKind) -> HookEvent {
    HookEvent { kind: kind.into(), ..HookEvent::default() }
}

fn question_message(question: &SdkCall) -> HookEvent {
    let left = question.deadline.map(|until| until.saturating_duration_since(Instant::now()));
    let deadline = left
        .map(|left| call_meta::now_ms().saturating_add(u64::try_from(left.as_millis()).unwrap_or(u64::MAX)));
    HookEvent {
        hook_id: question.hook.to_string(),
        event_type: question.event_type.to_string(),
        session_id: question.session.to_string(),
        timestamp: i64::try_from(question.ts.unix_ms()).unwrap_or(i64::MAX),
        payload: question.payload.to_vec(),
        event_id: question.event_id.to_string(),
        call_id: question.call_id,
        deadline: deadline.map_or(0, |ms| i64::try_from(ms).unwrap_or(i64::MAX)),
        // Times below a millisecond are rounded up to one, because 0 means no limit.
        timeout_ms: left.map_or(0, |left| milliseconds(left).max(1)),
        redelivered: question.redelivered,
        attempt: i32::try_from(question.attempt).unwrap_or(i32::MAX),
        ..message_of_kind(HookEventKind::HookEvent)
    }
}

/// Parses a program's answer. An invalid answer counts as a failure of the hook.
pub(super) fn read_reply(response: HookResponse) -> SdkReply {
    let HookResponse { hook_id, action, reason, modified, event_id, call_id, retry_delay_ms, error } =
        response;
    let answer = match (error, HookAction::try_from(action)) {
        (Some(error), _) => Err(handler_error(&error)),
        (None, Err(_)) => Err(HandlerError(format!("unknown action {action}"))),
        (None, Ok(action)) => read_answer(action, reason, modified.as_deref(), retry_delay_ms),
    };
    SdkReply { call_id: Some(call_id).filter(|id| *id != 0), hook: hook_id, event_id, answer }
}

fn read_answer(
    action: HookAction,
    reason: Option<String>,
    modified: Option<&[u8]>,
    delay: Option<i32>,
) -> Result<A3sAnswer, HandlerError> {
    let action = match action {
        // A block applies even if other fields of the answer are invalid.
        HookAction::Block => {
            return Ok(A3sAnswer { action: A3sAction::Block, reason, modified: None, delay: None });
        }
        HookAction::Continue => A3sAction::Continue,
        HookAction::Retry => A3sAction::Retry,
        HookAction::Skip => A3sAction::Skip,
    };
    let modified = modified.filter(|bytes| !bytes.is_empty()).map(parse_object).transpose()?;
    let negative = |ms: i32| HandlerError(format!("`retry_delay_ms` is {ms}; it cannot be less than 0"));
    let delay = match delay {
        None | Some(0) => None,
        Some(ms) => Some(Duration::from_millis(u64::try_from(ms).map_err(|_| negative(ms))?)),
    };
    Ok(A3sAnswer { action, reason, modified, delay })
}

fn parse_object(bytes: &[u8]) -> Result<Map<String, Value>, HandlerError> {
    let unreadable = |error| HandlerError(format!("`modified` is not a JSON object: {error}"));
    serde_json::from_slice(bytes).map_err(unreadable)
}

fn handler_error(error: &HookError) -> HandlerError {
    HandlerError(match error.message.as_str() {
        "" => "the handler failed".to_owned(),
        message => format!("the handler failed: {}", tenterhook_records::sanitize(message, 500)),
    })
}

pub(super) fn milliseconds(time: Duration) -> i32 {
    i32::try_from(time.as_millis()).unwrap_or(i32::MAX)
}

pub(super) fn to_wire_level(level: AuditLevel) -> Option<Level> {
    match level {
        AuditLevel::Unspecified => None,
        AuditLevel::Off => Some(Level::Off),
        AuditLevel::Info => Some(Level::Info),
        AuditLevel::Verbose => Some(Level::Verbose),
    }
}

pub(super) fn from_wire_level(level: Level) -> AuditLevel {
    match level {
        Level::Off => AuditLevel::Off,
        Level::Info => AuditLevel::Info,
        Level::Verbose => AuditLevel::Verbose,
    }
}
