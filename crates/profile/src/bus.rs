// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Seed 002's message bus as data: requests in, responses out, one JSON object a line.

mod validate;

use serde::Serialize;
use serde_json::{Value, json};

use crate::aggregate::Aggregated;
use crate::switches::Profile;

/// The channel requests come in on.
pub const REQUEST: &str = "HOOK_EXECUTION_REQUEST";
/// The channel responses go out on.
pub const RESPONSE: &str = "HOOK_EXECUTION_RESPONSE";

/// A request to fire an event.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Comes back with the response.
    pub correlation_id: String,
    /// The event.
    pub event: &'static str,
    /// What the hooks are given, beside the fields every event has. What is here goes before those.
    pub input: Value,
}

/// The answer to a request.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    /// The request's.
    pub correlation_id: String,
    /// Whether all went well.
    pub success: bool,
    /// What the hooks came to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Aggregated>,
    /// Why there is no output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
}

/// Why a request was not carried out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Failure {
    /// For programs: `invalid_request`, `unsupported_event`, `internal_error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// For people.
    pub message: String,
    /// More of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

/// Reads one message. What cannot be carried out is answered at once.
///
/// `new_id` gives a random id; it is asked when the request has none, or an empty one.
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
        // The original leaves `error` out here and puts an unreadable `[object Object]` among the
        // output's errors; the place is kept, the text is one that can be read.
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
    /// The message a client sends.
    pub fn message(&self) -> Value {
        let payload =
            json!({"eventName": self.event, "input": self.input, "correlationId": self.correlation_id});
        json!({"type": REQUEST, "payload": payload})
    }

    /// The answer: what the hooks came to.
    pub fn answered(&self, output: Aggregated) -> Response {
        let correlation_id = self.correlation_id.clone();
        Response { correlation_id, success: output.success, output: Some(output), error: None }
    }
}

impl Response {
    /// A request that was not carried out.
    pub fn failed(correlation_id: String, code: &str, message: impl Into<String>) -> Self {
        let error = Failure { code: Some(code.to_owned()), message: message.into(), details: None };
        Self { correlation_id, success: false, output: None, error: Some(error) }
    }

    /// The message that goes out.
    pub fn message(&self) -> Value {
        json!({"type": RESPONSE, "payload": self})
    }
}

#[cfg(test)]
mod tests;
