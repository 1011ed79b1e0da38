// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The reference agent: a small agent loop that fires every kind of event.
//!
//! [`AgentSession::prompt`] is the agent loop. Before each step, the agent fires an event through [`EventDispatcher`]
//! and obeys the outcome. Tools run with the arguments as changed by hooks, and the model receives only what hooks
//! let through. If no decision could be made, nothing runs.
//!
//! | file | content |
//! |---|---|
//! | `session.rs` | runtime, settings and state of a session |
//! | `turn.rs` | the loop: prompt, model, tools, stop |
//! | `model_step.rs` | one model step: tool selection, request, reply |
//! | `tool_call.rs`, `permission.rs` | one tool call |
//! | `compaction.rs` | context warning and compaction |
//! | `event_draft.rs`, `hook_payload.rs` | events and the payloads that hooks read |
//! | `tools/`, `mcp/`, `provider/` | built-in tools, MCP servers, models |

mod activity;
mod cancel;
mod compaction;
mod dispatch;
mod event_draft;
mod hook_payload;
pub mod mcp;
mod model_step;
mod permission;
pub mod provider;
mod session;
mod tool_call;
pub mod tools;
mod turn;

pub use activity::{ActivityObserver, AgentActivity, NoObserver};
pub use cancel::CancelToken;
pub use dispatch::{DispatchError, EventDispatcher};
pub use permission::{
    NoPermissionPrompt, PermissionAnswer, PermissionMode, PermissionPrompt, PermissionQuestion,
};
pub use session::{AgentRuntime, AgentSession, AgentSettings, EventIdSource, PriceLookup};
pub use tool_call::ToolCallResult;
pub use turn::{MAX_STOP_BLOCKS, TurnError};
