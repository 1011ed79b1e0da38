// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A scripted model on loopback, for running a real agent without an account or network.
//!
//! A [`ConversationScript`] contains the model's answers, turn by turn. A [`ModelServer`] serves the script in the
//! wire protocols of `protocol/` and stores every request, so that a test can check what was sent to the model.
//!
//! ```
//! use serde_json::json;
//! use tenterhook_model_server::{ModelServer, ConversationScript, ModelTurn};
//!
//! let script = ConversationScript::new().turn(ModelTurn::tool("Bash", json!({"command": "touch ran.txt"})));
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

pub use conversation::{ToolResult, contains_text};
pub use http::Delivery;
pub use script::{ConversationScript, Fault, ModelTurn, ScriptedCall, TurnUsage};
pub use server::ModelServer;
