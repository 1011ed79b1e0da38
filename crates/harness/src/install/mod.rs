// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Putting hooks into a harness's own settings, and taking them out again.
//!
//! The road: a harness's own folder (`claude_code/install.rs`) says which [`Piece`]s belong in which file;
//! [`file`] reads, an [`Editor`] ([`hooks`] for JSON, [`toml`]) edits text, or the whole file is [`Owned`];
//! [`receipt`] remembers what was there; [`plan`] shows and then writes.

mod accounts;
mod detect;
mod editor;
pub(crate) mod env_files;
mod error;
pub mod file;
pub mod hooks;
mod installer;
pub mod jsonc;
pub mod line;
pub mod list_item;
mod machine;
mod mcp_servers;
mod paths;
pub mod plan;
mod planning;
pub mod receipt;
mod shell;
#[cfg(test)]
mod tests;
pub mod toml;

pub use detect::{Found, Signs, detect};
pub use editor::{Content, Editor, MARK, Owned, Piece, Warning, Weight, marked};
pub use error::InstallError;
pub use installer::{Ground, Installer, Order, Scope, Transport};
pub use machine::{MachineHooks, MachineScope};
pub use mcp_servers::{McpSettings, mcp_settings};
pub(crate) use paths::utf8;
pub use plan::{Change, Plan};
pub use planning::{plan_install, plan_uninstall};
pub use shell::quote;
