// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::fmt::Display;
use std::time::Duration;

use serde_json::Value;
use tenterhook_proto::v1::{ErrorCode, HookAction, HookError, HookResponse};

/// What a hook answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    action: HookAction,
    reason: Option<String>,
    modified: Option<Value>,
    delay: Option<Duration>,
}

/// The handler of a hook failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct HandlerError(String);

/// An answer, or that there is none.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer(pub(crate) Result<Response, HandlerError>);

impl Response {
    /// Go on.
    pub fn proceed() -> Self {
        Self { action: HookAction::Continue, reason: None, modified: None, delay: None }
    }

    /// Go on with this changed: `{"args": {…}}` at `PreToolUse`; `docs/spec/sdk-events.md` has the others.
    pub fn modified(modified: Value) -> Self {
        Self { modified: Some(modified), ..Self::proceed() }
    }

    /// Stop this, and say why.
    pub fn block(reason: impl Into<String>) -> Self {
        Self { action: HookAction::Block, reason: Some(reason.into()), ..Self::proceed() }
    }

    /// Ask again in a second.
    pub fn retry() -> Self {
        Self { action: HookAction::Retry, ..Self::proceed() }
    }

    /// Ask again after this time.
    pub fn retry_after(delay: Duration) -> Self {
        Self { delay: Some(delay), ..Self::retry() }
    }

    /// Ignore the hooks that come after this one.
    pub fn skip() -> Self {
        Self { action: HookAction::Skip, ..Self::proceed() }
    }

    /// The same with a reason for people.
    #[must_use]
    pub fn because(self, reason: impl Into<String>) -> Self {
        Self { reason: Some(reason.into()), ..self }
    }
}

impl Answer {
    pub(crate) fn failed(why: impl Display) -> Self {
        Self(Err(HandlerError(why.to_string())))
    }

    pub(crate) fn to(&self, hook_id: &str, event_id: &str, call_id: u64) -> HookResponse {
        let (hook_id, event_id) = (hook_id.to_owned(), event_id.to_owned());
        let question = HookResponse { hook_id, event_id, call_id, ..HookResponse::default() };
        match &self.0 {
            Ok(Response { action, reason, modified, delay }) => HookResponse {
                action: (*action).into(),
                reason: reason.clone(),
                modified: modified.as_ref().map(|modified| modified.to_string().into_bytes()),
                retry_delay_ms: delay.map(|delay| i32::try_from(delay.as_millis()).unwrap_or(i32::MAX)),
                ..question
            },
            Err(HandlerError(message)) => {
                let error = HookError {
                    code: ErrorCode::ErrorHandler.into(),
                    message: message.clone(),
                    hint: String::new(),
                };
                HookResponse { error: Some(error), ..question }
            }
        }
    }
}

impl From<Response> for Answer {
    fn from(response: Response) -> Self {
        Self(Ok(response))
    }
}

/// Nothing to say is nothing to object.
impl From<()> for Answer {
    fn from((): ()) -> Self {
        Self(Ok(Response::proceed()))
    }
}

/// An error is a failure of the hook: its `fail` decides.
impl<E: Display> From<Result<Response, E>> for Answer {
    fn from(result: Result<Response, E>) -> Self {
        Self(result.map_err(|error| HandlerError(error.to_string())))
    }
}
