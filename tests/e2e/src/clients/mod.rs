// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The clients, one module each. To add one, add a module, a row in [`ALL`] and a line in `clients.txt`.

mod claude_code;
pub mod cline;
mod codex;
mod copilot;
mod gemini;
mod llxprt;
mod opencode;
mod pi;
pub mod qwen;

use anyhow::{Context as _, Result};

use crate::client::Client;

/// Every tested client.
pub const ALL: &[Client] = &[
    claude_code::CLIENT,
    codex::CLIENT,
    gemini::CLIENT,
    qwen::CLIENT,
    opencode::CLIENT,
    cline::CLIENT,
    copilot::CLIENT,
    pi::CLIENT,
    llxprt::CLIENT,
];

/// The client with this name.
pub fn find(id: &str) -> Result<&'static Client> {
    ALL.iter().find(|client| client.id == id).with_context(|| format!("no client `{id}`"))
}
