// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The types that all of Tenterhook shares: events, tool calls, findings and outcomes.
//!
//! Every agent harness sends its own JSON. `tenterhook-harness` decodes that JSON into the types of this crate, and
//! the rest of Tenterhook works with these types only. A hook call enters as an [`Event`] and leaves as an
//! [`Outcome`].
//!
//! This example builds an event for a tool call, as a harness adapter does:
//!
//! ```
//! use tenterhook_event::{Event, EventId, EventKind, Timestamp, ToolCall, ToolClass};
//!
//! let unix_ms = 1_763_193_600_000;
//! let id = EventId::from_parts(unix_ms, 0x5eed);
//! let mut event =
//!     Event::new(id, Timestamp::from_unix_ms(unix_ms), "my-agent", EventKind::PreTool, "PreToolUse");
//! event.tool = Some(ToolCall::new("Bash", serde_json::json!({"command": "rm -rf build"})));
//!
//! let tool = event.tool.as_ref().unwrap();
//! assert_eq!(tool.class, ToolClass::Shell, "known tools have a class, whatever the harness calls them");
//! assert_eq!(tool.gist(), "rm -rf build");
//! assert_eq!("pre-tool".parse(), Ok(EventKind::PreTool));
//! ```
//!
//! This example reads an outcome, as the code that answers the harness does:
//!
//! ```
//! use tenterhook_event::{Attributed, Decision, Origin, Outcome};
//!
//! let by = Origin::rule("no-rm");
//! let outcome = Outcome {
//!     decision: Decision::Deny,
//!     reasons: vec![Attributed { by: by.clone(), value: "deletes files".to_owned() }],
//!     nudges: vec![Attributed { by, value: "use trash".to_owned() }],
//!     ..Outcome::default()
//! };
//! assert!(outcome.decision > Decision::Ask, "a stricter decision is greater");
//! assert_eq!(outcome.deciding_rule(), Some("no-rm"));
//! assert_eq!(outcome.reason_with_nudge().as_deref(), Some("deletes files\n\n→ Suggested: use trash"));
//! ```
//!
//! | type | what it is |
//! |---|---|
//! | [`Event`], [`EventKind`] | one point in an agent's run, in the form all harnesses share |
//! | [`HookCall`] | an event together with the native payload it was decoded from |
//! | [`ToolCall`], [`ToolClass`] | the tool that an event is about, and what that kind of tool does |
//! | [`Finding`] | what one hook or rule decided about one event |
//! | [`Outcome`] | all findings about one event, folded into one answer |
//! | [`TraceEntry`] | which hooks and rules took part in an outcome, and how each of them ended |
//!
//! The crate does no I/O and uses neither a clock nor a random number generator. Ids and timestamps come from the
//! caller.

mod argument_roles;
mod decided_call;
mod event;
mod event_id;
mod event_kind;
mod finding;
mod mcp;
mod modification;
mod outcome;
mod path_effect;
pub mod plain_text;
mod sandbox_level;
mod timestamp;
mod token_counts;
mod tool;
mod trace;
mod transcript_usage;

pub use argument_roles::ArgumentRoles;
pub use decided_call::DecidedCall;
pub use event::{AgentIdentity, Event, EventDetail, FORMAT_VERSION, HookCall, NativePayload, SessionCheck};
pub use event_id::{EventId, ParseEventIdError};
pub use event_kind::{EventKind, UnknownEventKind};
pub use finding::{Attributed, Finding, Origin, ParseOriginError};
pub use mcp::{McpNameReading, McpServers, McpToolId, fold_mcp_name};
pub use modification::{MergeMode, Modification, SelectionMode};
pub use outcome::{Decision, Flow, Outcome};
pub use path_effect::{PathEffect, PathEffectKind};
pub use sandbox_level::SandboxLevel;
pub use timestamp::Timestamp;
pub use token_counts::TokenCounts;
pub use tool::{NETWORK_CONNECT, TOOLS, ToolCall, ToolClass, ToolCommand, ToolRow, tool_row};
pub use trace::{TraceEntry, TraceStatus};
pub use transcript_usage::{DayUsage, TranscriptUsage};
