// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Every agent harness on its own terms.
//!
//! A harness speaks its own JSON at its own points of time. This crate turns a native payload into
//! an [`Event`](tenterhook_event::Event) and an [`Outcome`] back into exactly what the harness
//! reads: standard output, standard error, exit code.
//!
//! To add a harness: make a folder with `events.rs` (one row per native event) and `encode.rs`, say in
//! [`Keys`] where its payload has what, and add its row to [`HARNESSES`]. The command line, the daemon, the documents
//! and the tests read that table and nothing else. `tenterhook-harness-install` finds its program and edits its
//! settings, `tenterhook-transcript` reads its past sessions.
//!
//! ```
//! use tenterhook_harness::{Door, find};
//! use tenterhook_event::{EventId, EventKind, Outcome, Timestamp};
//!
//! let claude = find("claude-code").expect("a known harness");
//! let door = Door::new(EventId::from_parts(0, 0), Timestamp::from_unix_ms(0), "pre-tool-use");
//! let call = claude.decode(
//!     &door,
//!     br#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}"#,
//! )?;
//! assert_eq!(call.event.event, EventKind::PreTool);
//!
//! let reply = claude.encode(&call, &Outcome::default());
//! assert_eq!((reply.stdout.as_str(), reply.exit), ("", 0), "nobody objected, nothing is said");
//! # Ok::<(), tenterhook_harness::DecodeError>(())
//! ```

mod answer;
mod carry;
pub mod claude_code;
pub mod cline;
pub mod codex;
pub mod continue_dev;
pub mod copilot;
pub mod cursor;
mod decode;
pub mod dialect;
mod door;
pub mod gemini;
pub mod keys;
pub mod llxprt;
pub mod mcp;
pub mod opencode;
mod payload;
pub mod pi;
mod plugin_reply;
pub mod qwen;
mod reply;
mod same;
mod table;
mod version_gap;
pub mod vscode;

pub use carry::{Part, carry};
pub use door::Door;
pub use keys::{Keys, Places};
pub use payload::{DecodeError, MAX_PAYLOAD};
pub use plugin_reply::PluginReply;
pub use reply::Reply;
pub use same::same_call;
pub use table::{Ask, Deny, EventRow, HARNESSES, Harness, Rewrite, ToolAt, Wiring, find, kebab};
#[cfg(doc)]
use tenterhook_event::Outcome;
pub use version_gap::VersionGap;
