// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Putting hooks into a harness's own settings, and taking them out again.
//!
//! The road: [`file`] reads, [`jsonc`] edits text, [`receipt`] remembers what was there, [`plan`] shows and
//! then writes. A harness's own folder (`claude_code/install.rs`) says which entries belong in which file.

mod error;
pub mod file;
pub mod jsonc;
pub mod plan;
pub mod receipt;
mod shell;
#[cfg(test)]
mod tests;

pub use error::InstallError;
pub use plan::{Change, Plan};
pub use shell::quote;
