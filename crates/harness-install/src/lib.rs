// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Detects harnesses on a machine, and installs hooks into their settings or removes them.
//!
//! The folder of each harness (for example `claude_code/install.rs`) lists its [`ManagedFile`]s: the files to write
//! and the content of each. [`file`] reads and writes files. A [`SettingsEditor`] ([`hooks`] for JSON, [`toml`])
//! edits a part of a file; Tenterhook writes an [`OwnedFile`] as a whole. [`receipt`] stores the previous state.
//! [`plan`] shows the change and then applies it. [`launch`] runs a client without a user, and [`run_settings`]
//! adds hooks to one run of a client.
//!
//! `tenterhook-harness` decodes native payloads and encodes replies. [`CLIENTS`] has one row for each harness in its
//! table.

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
pub mod run_settings;
mod shell;
#[cfg(test)]
mod tests;
pub mod toml;
mod vscode;

pub use clients::{CLIENTS, ClientRow, HarnessClient};
pub use detect::{ClientSigns, DetectedClient, detect};
pub use editor::{
    EditCheckError, FileContent, InstallWarning, MARK, ManagedFile, OwnedFile, SettingsEditor, WarningLevel,
    has_mark,
};
pub use error::InstallError;
pub use installer::{HookTransport, InstallRequest, Installer, MachineEnvironment, SettingsScope};
pub use machine::{MachineHooks, MachineScope};
pub use mcp_servers::{McpSettings, mcp_settings};
pub(crate) use paths::utf8;
pub use plan::{InstallPlan, PlannedChange};
pub use planning::{plan_install, plan_uninstall};
pub use shell::quote;
