// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The message bus of LLxprt's hook documentation (seed 002 in `docs/seeds.md`), as data: requests in, responses out,
//! one JSON object per line.

mod validate;

use serde::Serialize;
use serde_json::{Value, json};

use crate::aggregate::AggregatedResult;
use crate::switches::Profile;

/// Channel of requests.
pub const REQUEST_CHANNEL: &str = "HOOK_EXECUTION_REQUEST";
/// Channel of responses.
pub const RESPONSE_CHANNEL: &str = "HOOK_EXECUTION_RESPONSE";

/// A request to fire an event.
#[derive(Debug, Clone, PartialEq)]
pub struct BusRequest {
    /// Id that the response repeats.
    pub correlation_id: String,
    /// Name of the event.
    pub event: &'static str,
    /// Input of the hooks. Its fields take precedence over the fields that every event has.
    pub input: Value,
}

/// The response to a request.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BusResponse {
    /// Correlation id of the request.
    pub correlation_id: String,
    /// Whether the request succeeded.
    pub success: bool,
    /// Aggregated output of the hooks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<AggregatedResult>,
    /// Reason why there is no output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<BusError>,
}

/// Reason why a request failed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BusError {
    /// Machine-readable code: `invalid_request`, `unsupported_event`, `internal_error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Message for users.
    pub message: String,
    /// Further details of the error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

/// Parses one message. For an invalid request, the error is the response to send.
///
/// `new_id` creates a random id, which is used if the request has no id or an empty one.
pub fn parse_request(
    profile: &Profile,
    line: &str,
    new_id: &mut dyn FnMut() -> String,
) -> Result<BusRequest, Box<BusResponse>> {
    let message: Value = match serde_json::from_str(line) {
        Ok(message) => message,
        Err(error) => return Err(invalid(new_id(), format!("not a JSON message: {error}"))),
    };
    let payload = message.get("payload");
    let given = payload.and_then(|payload| payload.get("correlationId")?.as_str());
    let id = given.filter(|id| !id.is_empty()).map_or_else(&mut *new_id, str::to_owned);
    if let Some(other) = message.get("type").filter(|kind| *kind != REQUEST_CHANNEL) {
        return Err(invalid(id, format!("Not a {REQUEST_CHANNEL}: {other}")));
    }
    let Some(payload) = payload else { return Err(invalid(id, "Missing payload")) };
    let (Some(event), Some(input)) = (payload.get("eventName"), payload.get("input")) else {
        return Err(invalid(id, "Missing eventName or input"));
    };
    let Some(row) = event.as_str().and_then(|name| profile.event(name)) else {
        let name = crate::js::to_js_string(event);
        return Err(BusResponse::failed(id, "unsupported_event", format!("Unknown event: {name}")).into());
    };
    if !validate::input(profile, row, input) {
        // LLxprt Code omits `error` in this case and adds an unreadable `[object Object]` to the output's errors.
        // This response has a readable error in the same place.
        let what = format!("Invalid payload for event '{}'", row.name);
        let output = AggregatedResult { errors: vec![what], ..AggregatedResult::default() };
        return Err(
            BusResponse { correlation_id: id, success: false, output: Some(output), error: None }.into()
        );
    }
    Ok(BusRequest { correlation_id: id, event: row.name, input: input.clone() })
}

fn invalid(id: String, message: impl Into<String>) -> Box<BusResponse> {
    BusResponse::failed(id, "invalid_request", message).into()
}

impl BusRequest {
    /// The message that a client sends.
    pub fn to_message(&self) -> Value {
        let payload =
            json!({"eventName": self.event, "input": self.input, "correlationId": self.correlation_id});
        json!({"type": REQUEST_CHANNEL, "payload": payload})
    }

    /// The response with the hooks' output.
    pub fn to_response(&self, output: AggregatedResult) -> BusResponse {
        let correlation_id = self.correlation_id.clone();
        BusResponse { correlation_id, success: output.success, output: Some(output), error: None }
    }
}

impl BusResponse {
    /// The response to a request that failed.
    pub fn failed(correlation_id: String, code: &str, message: impl Into<String>) -> Self {
        let error = BusError { code: Some(code.to_owned()), message: message.into(), details: None };
        Self { correlation_id, success: false, output: None, error: Some(error) }
    }

    /// The message that is sent.
    pub fn to_message(&self) -> Value {
        json!({"type": RESPONSE_CHANNEL, "payload": self})
    }
}

#[cfg(test)]
mod tests;
