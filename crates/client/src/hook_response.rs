// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::fmt::Display;
use std::time::Duration;

use serde_json::Value;
use tenterhook_proto::v1::{self, ErrorCode, HookAction, HookError};

/// The response of a hook.
///
/// ```
/// use tenterhook_client::HookResponse;
///
/// let blocked = HookResponse::block("do not push to main");
/// let changed = HookResponse::modified(serde_json::json!({"args": {"command": "git status"}}));
/// let skipped = HookResponse::skip().because("checked by another hook");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct HookResponse {
    action: HookAction,
    reason: Option<String>,
    modified: Option<Value>,
    delay: Option<Duration>,
}

/// The handler of a hook failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct HandlerFailure(String);

/// What a handler returns: a response or an error. Handlers can return [`HookResponse`], `()` or
/// `Result<HookResponse, E>`.
#[derive(Debug, Clone, PartialEq)]
pub struct HandlerResult(pub(crate) Result<HookResponse, HandlerFailure>);

impl HookResponse {
    /// Continues without a change.
    pub fn proceed() -> Self {
        Self { action: HookAction::Continue, reason: None, modified: None, delay: None }
    }

    /// Continues with changes, such as `{"args": {…}}` for `PreToolUse`. `docs/spec/sdk-events.md` lists the changes
    /// for other events.
    pub fn modified(modified: Value) -> Self {
        Self { modified: Some(modified), ..Self::proceed() }
    }

    /// Blocks the action. The model sees the reason.
    pub fn block(reason: impl Into<String>) -> Self {
        Self { action: HookAction::Block, reason: Some(reason.into()), ..Self::proceed() }
    }

    /// Asks the daemon to call the hook again in one second.
    pub fn retry() -> Self {
        Self { action: HookAction::Retry, ..Self::proceed() }
    }

    /// Asks the daemon to call the hook again after a delay.
    pub fn retry_after(delay: Duration) -> Self {
        Self { delay: Some(delay), ..Self::retry() }
    }

    /// Skips the hooks after this one. Rules cannot be skipped.
    pub fn skip() -> Self {
        Self { action: HookAction::Skip, ..Self::proceed() }
    }

    /// Sets the reason.
    #[must_use]
    pub fn because(self, reason: impl Into<String>) -> Self {
        Self { reason: Some(reason.into()), ..self }
    }
}

impl HandlerResult {
    pub(crate) fn failed(why: impl Display) -> Self {
        Self(Err(HandlerFailure(why.to_string())))
    }

    pub(crate) fn to_message(&self, hook_id: &str, event_id: &str, call_id: u64) -> v1::HookResponse {
        let (hook_id, event_id) = (hook_id.to_owned(), event_id.to_owned());
        let message = v1::HookResponse { hook_id, event_id, call_id, ..v1::HookResponse::default() };
        match &self.0 {
            Ok(HookResponse { action, reason, modified, delay }) => v1::HookResponse {
                action: (*action).into(),
                reason: reason.clone(),
                modified: modified.as_ref().map(|modified| modified.to_string().into_bytes()),
                retry_delay_ms: delay.map(|delay| i32::try_from(delay.as_millis()).unwrap_or(i32::MAX)),
                ..message
            },
            Err(HandlerFailure(error)) => {
                let error = HookError {
                    code: ErrorCode::ErrorHandler.into(),
                    message: error.clone(),
                    hint: String::new(),
                };
                v1::HookResponse { error: Some(error), ..message }
            }
        }
    }
}

impl From<HookResponse> for HandlerResult {
    fn from(response: HookResponse) -> Self {
        Self(Ok(response))
    }
}

/// Continues without a change.
impl From<()> for HandlerResult {
    fn from((): ()) -> Self {
        Self(Ok(HookResponse::proceed()))
    }
}

/// An error is treated as a failure of the hook. [`Hook::fail`](crate::Hook::fail) decides what happens then.
impl<E: Display> From<Result<HookResponse, E>> for HandlerResult {
    fn from(result: Result<HookResponse, E>) -> Self {
        Self(result.map_err(|error| HandlerFailure(error.to_string())))
    }
}
