// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The words of the wire, and ours.

use std::time::Duration;

use serde_json::{Map, Value};
use tenterhook_engine::load::AuditLevel as Level;
use tenterhook_engine::sdk::{Action, Answer, FunctionError, Question, Reply, Sent, Why};
use tenterhook_engine::{Fail, Hook};
use tenterhook_harness::dialect::A3sMatcher;
use tenterhook_home::call_meta;
use tenterhook_proto::v1::{
    AuditLevel, ErrorCode, FailBehavior, HookAction, HookConfig, HookError, HookEvent, HookEventKind,
    HookMatcher, HookResponse, RegisterHookRequest,
};
use tokio::time::Instant;

use crate::sdk::{Code, Refusal, Wanted};

/// An error as data.
pub(super) fn error(code: ErrorCode, message: impl Into<String>, hint: &str) -> HookError {
    HookError { code: code.into(), message: message.into(), hint: hint.to_owned() }
}

impl From<Refusal> for HookError {
    fn from(refusal: Refusal) -> Self {
        let code = match refusal.code {
            Code::Invalid => ErrorCode::ErrorInvalid,
            Code::NotFound => ErrorCode::ErrorNotFound,
            Code::AlreadyExists => ErrorCode::ErrorAlreadyExists,
            Code::Limit => ErrorCode::ErrorLimit,
            Code::Refused => ErrorCode::ErrorRefused,
            Code::Overloaded => ErrorCode::ErrorOverloaded,
            Code::Internal => ErrorCode::ErrorInternal,
            Code::Blocked => ErrorCode::ErrorBlocked,
            Code::Model => ErrorCode::ErrorModel,
            Code::TimedOut => ErrorCode::ErrorTimedOut,
            Code::Cancelled => ErrorCode::ErrorCancelled,
        };
        error(code, refusal.message, &refusal.hint)
    }
}

/// A hook as a program wants it.
pub(super) fn wanted(request: RegisterHookRequest) -> Result<Wanted, HookError> {
    let RegisterHookRequest { event_type, matcher, config, hook_id } = request;
    let HookConfig { priority, timeout_ms, r#async, fail_behavior, linger_ms } = config.unwrap_or_default();
    let fail = match FailBehavior::try_from(fail_behavior) {
        Ok(FailBehavior::FailDefault) => None,
        Ok(FailBehavior::FailContinue) => Some(Fail::Open),
        Ok(FailBehavior::FailBlock) => Some(Fail::Closed),
        Err(_) => {
            let why = format!("`fail_behavior` {fail_behavior} is not known here");
            return Err(error(ErrorCode::ErrorInvalid, why, "is the daemon older than the program?"));
        }
    };
    let HookMatcher { tool, path_pattern, command_pattern } = matcher.unwrap_or_default();
    let matcher = A3sMatcher { tool, path_pattern, command_pattern };
    let observes = r#async;
    Ok(Wanted { id: hook_id, event_type, matcher, priority, timeout_ms, observes, fail, linger_ms })
}

pub(super) fn matcher(matcher: &A3sMatcher) -> HookMatcher {
    let A3sMatcher { tool, path_pattern, command_pattern } = matcher.clone();
    HookMatcher { tool, path_pattern, command_pattern }
}

pub(super) fn config(hook: &Hook, linger: Duration) -> HookConfig {
    let fail = match hook.fail {
        Fail::Open => FailBehavior::FailContinue,
        Fail::Closed => FailBehavior::FailBlock,
    };
    HookConfig {
        priority: hook.priority,
        timeout_ms: ms(hook.timeout),
        r#async: hook.observes,
        fail_behavior: fail.into(),
        linger_ms: ms(linger),
    }
}

/// What goes to a program.
pub(super) fn event(sent: Sent) -> HookEvent {
    match sent {
        Sent::Asked(question) => asked(&question),
        Sent::Cancelled { call_id, why } => {
            let (code, message) = match why {
                Why::TimedOut => (ErrorCode::ErrorTimedOut, "the time is over"),
                Why::Gone => (ErrorCode::ErrorCancelled, "whoever asked has gone"),
                Why::Unregistered => (ErrorCode::ErrorUnregistered, "the hook was unregistered"),
            };
            let (kind, error) = (HookEventKind::HookCancel, Some(error(code, message, "")));
            // Without the hook's name: a client that answers every message does not answer for the hook.
            HookEvent { call_id, error, ..of_kind(kind) }
        }
        Sent::Refused { call_id, why } => refused(call_id, ErrorCode::ErrorInvalid, why),
    }
}

/// An answer was of no use.
pub(super) fn refused(call_id: u64, code: ErrorCode, why: impl Into<String>) -> HookEvent {
    HookEvent { call_id, error: Some(error(code, why, "")), ..of_kind(HookEventKind::HookRefused) }
}

pub(super) fn of_kind(kind: HookEventKind) -> HookEvent {
    HookEvent { kind: kind.into(), ..HookEvent::default() }
}

fn asked(question: &Question) -> HookEvent {
    let left = question.until.map(|until| until.saturating_duration_since(Instant::now()));
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
        // What has less than a millisecond left is still waited for.
        timeout_ms: left.map_or(0, |left| ms(left).max(1)),
        redelivered: question.redelivered,
        attempt: i32::try_from(question.attempt).unwrap_or(i32::MAX),
        ..of_kind(HookEventKind::HookEvent)
    }
}

/// What comes from a program. An answer that cannot be read is the failure of the hook.
pub(super) fn reply(response: HookResponse) -> Reply {
    let HookResponse { hook_id, action, reason, modified, event_id, call_id, retry_delay_ms, error } =
        response;
    let said = match (error, HookAction::try_from(action)) {
        (Some(error), _) => Err(failed(&error)),
        (None, Err(_)) => Err(FunctionError(format!("the action {action} is not known here"))),
        (None, Ok(action)) => answer(action, reason, modified.as_deref(), retry_delay_ms),
    };
    Reply { call_id: Some(call_id).filter(|id| *id != 0), hook: hook_id, event_id, said }
}

fn answer(
    action: HookAction,
    reason: Option<String>,
    modified: Option<&[u8]>,
    delay: Option<i32>,
) -> Result<Answer, FunctionError> {
    let action = match action {
        // A block stands, whatever is beside it.
        HookAction::Block => {
            return Ok(Answer { action: Action::Block, reason, modified: None, delay: None });
        }
        HookAction::Continue => Action::Continue,
        HookAction::Retry => Action::Retry,
        HookAction::Skip => Action::Skip,
    };
    let modified = modified.filter(|bytes| !bytes.is_empty()).map(object).transpose()?;
    let negative = |ms: i32| FunctionError(format!("`retry_delay_ms` is {ms}; it cannot be less than 0"));
    let delay = match delay {
        None | Some(0) => None,
        Some(ms) => Some(Duration::from_millis(u64::try_from(ms).map_err(|_| negative(ms))?)),
    };
    Ok(Answer { action, reason, modified, delay })
}

fn object(bytes: &[u8]) -> Result<Map<String, Value>, FunctionError> {
    let unreadable = |error| FunctionError(format!("`modified` is no JSON object: {error}"));
    serde_json::from_slice(bytes).map_err(unreadable)
}

fn failed(error: &HookError) -> FunctionError {
    FunctionError(match error.message.as_str() {
        "" => "its handler failed".to_owned(),
        message => format!("its handler failed: {}", tenterhook_records::sanitize(message, 500)),
    })
}

pub(super) fn ms(time: Duration) -> i32 {
    i32::try_from(time.as_millis()).unwrap_or(i32::MAX)
}

pub(super) fn level(level: AuditLevel) -> Option<Level> {
    match level {
        AuditLevel::Unspecified => None,
        AuditLevel::Off => Some(Level::Off),
        AuditLevel::Info => Some(Level::Info),
        AuditLevel::Verbose => Some(Level::Verbose),
    }
}

pub(super) fn of_level(level: Level) -> AuditLevel {
    match level {
        Level::Off => AuditLevel::Off,
        Level::Info => AuditLevel::Info,
        Level::Verbose => AuditLevel::Verbose,
    }
}
