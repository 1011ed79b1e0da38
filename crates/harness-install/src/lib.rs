// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds the programs of harnesses on a machine, puts hooks into their settings and takes them out again.
//!
//! The folder of a harness (`claude_code/install.rs`) lists which [`Piece`]s belong in which file; [`file`] reads,
//! an [`Editor`] ([`hooks`] for JSON, [`toml`]) edits text, or the whole file is [`Owned`]; [`receipt`] stores what was
//! there before; [`plan`] shows the change and then writes it. [`launch`] runs a client without a user.
//!
//! Native payloads and replies are in `tenterhook-harness`; [`CLIENTS`] has one row for each harness of its table.

mod accounts;
pub mod claude_code;
mod clients;
mod cline;
mod codex;
mod continue_dev;
mod copilot;
mod cursor;
mod detect;
mod editor;
pub(crate) mod env_files;
mod error;
pub mod file;
mod gemini;
pub mod hooks;
mod installer;
pub mod jsonc;
pub mod launch;
pub mod line;
pub mod list_item;
mod llxprt;
mod machine;
mod mcp_servers;
mod opencode;
mod paths;
mod pi;
pub mod plan;
mod planning;
mod plugin;
mod qwen;
pub mod receipt;
mod shell;
#[cfg(test)]
mod tests;
pub mod toml;
mod vscode;

pub use clients::{CLIENTS, ClientRow, HarnessClient};
pub use detect::{Found, Signs, detect};
pub use editor::{Content, EditCheckError, Editor, MARK, Owned, Piece, Warning, Weight, marked};
pub use error::InstallError;
pub use installer::{Ground, Installer, Order, Scope, Transport};
pub use machine::{MachineHooks, MachineScope};
pub use mcp_servers::{McpSettings, mcp_settings};
pub(crate) use paths::utf8;
pub use plan::{Change, Plan};
pub use planning::{plan_install, plan_uninstall};
pub use shell::quote;
