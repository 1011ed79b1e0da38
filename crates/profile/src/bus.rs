// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Seed 002's message bus as data: requests in, responses out, one JSON object per line.

mod validate;

use serde::Serialize;
use serde_json::{Value, json};

use crate::aggregate::Aggregated;
use crate::switches::Profile;

/// Channel of requests.
pub const REQUEST: &str = "HOOK_EXECUTION_REQUEST";
/// Channel of responses.
pub const RESPONSE: &str = "HOOK_EXECUTION_RESPONSE";

/// A request to fire an event.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Returned with the response.
    pub correlation_id: String,
    /// Name of the event.
    pub event: &'static str,
    /// Input of the hooks. Its fields take precedence over the common ones.
    pub input: Value,
}

/// The response to a request.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    /// Correlation id of the request.
    pub correlation_id: String,
    /// Whether the request succeeded.
    pub success: bool,
    /// Aggregated output of the hooks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Aggregated>,
    /// Reason why there is no output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
}

/// Reason why a request failed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Failure {
    /// Machine-readable code: `invalid_request`, `unsupported_event`, `internal_error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Message for users.
    pub message: String,
    /// Additional details.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

/// Parses one message. An invalid request gets its response at once.
///
/// `new_id` creates a random id, for requests without one or with an empty one.
pub fn parse(
    profile: &Profile,
    line: &str,
    new_id: &mut dyn FnMut() -> String,
) -> Result<Request, Box<Response>> {
    let message: Value = match serde_json::from_str(line) {
        Ok(message) => message,
        Err(error) => return Err(invalid(new_id(), format!("not a JSON message: {error}"))),
    };
    let payload = message.get("payload");
    let given = payload.and_then(|payload| payload.get("correlationId")?.as_str());
    let id = given.filter(|id| !id.is_empty()).map_or_else(&mut *new_id, str::to_owned);
    if let Some(other) = message.get("type").filter(|kind| *kind != REQUEST) {
        return Err(invalid(id, format!("Not a {REQUEST}: {other}")));
    }
    let Some(payload) = payload else { return Err(invalid(id, "Missing payload")) };
    let (Some(event), Some(input)) = (payload.get("eventName"), payload.get("input")) else {
        return Err(invalid(id, "Missing eventName or input"));
    };
    let Some(row) = event.as_str().and_then(|name| profile.event(name)) else {
        let name = crate::js::shown(event);
        return Err(Response::failed(id, "unsupported_event", format!("Unknown event: {name}")).into());
    };
    if !validate::input(profile, row, input) {
        // The original omits `error` here and puts an unreadable `[object Object]` among the output's errors. The place is kept, with
        // a readable text.
        let what = format!("Invalid payload for event '{}'", row.name);
        let output = Aggregated { errors: vec![what], ..Aggregated::default() };
        return Err(Response { correlation_id: id, success: false, output: Some(output), error: None }.into());
    }
    Ok(Request { correlation_id: id, event: row.name, input: input.clone() })
}

fn invalid(id: String, message: impl Into<String>) -> Box<Response> {
    Response::failed(id, "invalid_request", message).into()
}

impl Request {
    /// The message that a client sends.
    pub fn message(&self) -> Value {
        let payload =
            json!({"eventName": self.event, "input": self.input, "correlationId": self.correlation_id});
        json!({"type": REQUEST, "payload": payload})
    }

    /// The response with the hooks' output.
    pub fn answered(&self, output: Aggregated) -> Response {
        let correlation_id = self.correlation_id.clone();
        Response { correlation_id, success: output.success, output: Some(output), error: None }
    }
}

impl Response {
    /// The response to a request that failed.
    pub fn failed(correlation_id: String, code: &str, message: impl Into<String>) -> Self {
        let error = Failure { code: Some(code.to_owned()), message: message.into(), details: None };
        Self { correlation_id, success: false, output: None, error: Some(error) }
    }

    /// The message that is sent.
    pub fn message(&self) -> Value {
        json!({"type": RESPONSE, "payload": self})
    }
}

#[cfg(test)]
mod tests;
