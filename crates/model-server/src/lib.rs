// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A scripted model on loopback, so that a real agent can be run with no account and no network.
//!
//! A [`Script`] says what the model answers, turn by turn; a [`ModelServer`] serves it in the wire
//! protocols of `protocol/` and keeps every request, so that a test can ask what the model was
//! sent next.
//!
//! ```
//! use serde_json::json;
//! use tenterhook_model_server::{ModelServer, Script, Turn};
//!
//! let script = Script::new().turn(Turn::tool("Bash", json!({"command": "touch ran.txt"})));
//! let server = ModelServer::start(script)?;
//! // Run an agent against server.url(); then:
//! assert!(server.tool_results().is_empty());
//! # Ok::<(), std::io::Error>(())
//! ```

mod conversation;
mod http;
mod protocol;
mod script;
mod server;

pub use conversation::{ToolResult, anywhere};
pub use http::Delivery;
pub use script::{Fault, Script, ToolCall, Turn, Usage};
pub use server::ModelServer;
