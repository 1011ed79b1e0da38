// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The words of Tenterhook.
//!
//! An agent harness speaks its own JSON; everything behind `harness::decode` speaks the words of
//! this crate. One hook call is an [`Event`] on the way in and an [`Outcome`] on the way out:
//!
//! ```
//! use tenterhook_event::{Decision, EventKind, ToolCall, ToolClass};
//!
//! let tool = ToolCall::new("Bash", serde_json::json!({"command": "ls -la"}));
//! assert_eq!(tool.class, ToolClass::Shell);
//! assert_eq!("pre-tool".parse(), Ok(EventKind::PreTool));
//! assert!(Decision::Deny > Decision::Ask, "the strictest decision is the greatest");
//! ```
//!
//! Nothing here does IO, reads a clock or draws randomness: the binaries do, once, at the door.

mod decided;
mod event;
mod finding;
mod id;
mod kind;
mod mcp;
mod modification;
mod outcome;
pub mod plain_text;
mod roles;
mod time;
mod tokens;
mod tool;
mod touch;
mod trace;
mod usage;

pub use decided::Decided;
pub use event::{Agent, Call, Detail, Event, FORMAT_VERSION, Native, SessionCheck};
pub use finding::{Finding, Origin, ParseOriginError, Said};
pub use id::{EventId, ParseIdError};
pub use kind::{EventKind, UnknownKind};
pub use mcp::{Mcp, McpName, McpServers, fold_mcp_name};
pub use modification::{Merge, Modification, SelectionMode};
pub use outcome::{Decision, Flow, Outcome};
pub use roles::Roles;
pub use time::Timestamp;
pub use tokens::Tokens;
pub use tool::{Command, TOOLS, ToolCall, ToolClass, ToolRow, tool_row};
pub use touch::{Touch, Touches};
pub use trace::{Status, Step};
pub use usage::{DayUsage, TranscriptUsage};
