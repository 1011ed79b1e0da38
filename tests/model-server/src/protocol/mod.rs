// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The wire protocols, one module each. Adding one is a module and a row in [`ALL`].

mod anthropic;

use serde_json::Value;

use crate::conversation::ToolResult;
use crate::http::Response;
use crate::script::Turn;

/// Every protocol the server speaks, told apart by path.
pub(crate) const ALL: &[&dyn Protocol] = &[&anthropic::Messages];

pub(crate) trait Protocol: Sync {
    /// Whether a POST to this path asks the model for a turn.
    fn serves(&self, path: &str) -> bool;

    /// Whether the request comes from the agent's loop, rather than from an errand beside it.
    fn offers_tools(&self, body: &Value) -> bool;

    /// Every tool result in the request, in order.
    fn tool_results(&self, body: &Value) -> Vec<ToolResult>;

    /// The turn in the protocol's own words, streamed if the request asks for it.
    fn reply(&self, body: &Value, turn: &Turn) -> Response;
}
