// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Codecs for every supported agent harness.
//!
//! Each harness has its own events and sends its own JSON. This crate decodes a native payload into an
//! [`Event`](tenterhook_event::Event). It encodes an [`Outcome`] into exactly what the harness reads: standard
//! output, standard error and exit code.
//!
//! To add a harness, create a folder with `events.rs` (one row per native event) and `encode.rs`, list the payload's
//! keys in [`PayloadKeys`], and add a row to [`HARNESSES`]. The command line, the daemon, the documentation and the
//! tests read only that table. `tenterhook-harness-install` finds the harness's program and edits its settings, and
//! `tenterhook-transcript` reads its past sessions.
//!
//! ```
//! use tenterhook_harness::{CallMeta, find_harness};
//! use tenterhook_event::{EventId, EventKind, Outcome, Timestamp};
//!
//! let claude = find_harness("claude-code").expect("a known harness");
//! let meta = CallMeta::new(EventId::from_parts(0, 0), Timestamp::from_unix_ms(0), "pre-tool-use");
//! let call = claude.decode(
//!     &meta,
//!     br#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}"#,
//! )?;
//! assert_eq!(call.event.event, EventKind::PreTool);
//!
//! let reply = claude.encode(&call, &Outcome::default());
//! assert_eq!((reply.stdout.as_str(), reply.exit), ("", 0), "no rule matched, so nothing is printed");
//! # Ok::<(), tenterhook_harness::DecodeError>(())
//! ```

mod apply_to_native;
mod call_meta;
pub mod claude_code;
pub mod cline;
pub mod codex;
pub mod continue_dev;
pub mod copilot;
pub mod cursor;
mod decode;
pub mod dialect;
pub mod gemini;
mod hook_reply;
pub mod llxprt;
pub mod mcp;
pub mod opencode;
mod outcome_encoding;
mod payload;
pub mod payload_keys;
pub mod pi;
mod plugin_reply;
pub mod qwen;
mod same_call;
mod table;
mod version_gap;
pub mod vscode;

pub use apply_to_native::{CallPart, apply_to_native};
pub use call_meta::CallMeta;
pub use hook_reply::HookReply;
pub use payload::{DecodeError, MAX_PAYLOAD_BYTES};
pub use payload_keys::{KeyPaths, PayloadKeys};
pub use plugin_reply::PluginReply;
pub use same_call::same_call_key;
pub use table::{
    AskSupport, DenySupport, EventRow, HARNESSES, Harness, InstallWiring, RewriteSupport, ToolLocation,
    find_harness, to_kebab_case,
};
#[cfg(doc)]
use tenterhook_event::Outcome;
pub use version_gap::VersionGap;
