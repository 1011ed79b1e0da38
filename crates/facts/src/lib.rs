// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Derives what a tool call would do, in terms that rules can match.
//!
//! [`facts`] analyses an event: the commands it runs ([`ShellCommand`]), the operations on files ([`FileEffect`]), the
//! addresses it connects to ([`UrlFact`]), the packages it installs ([`PackageFact`]) and the secrets it contains
//! ([`SecretFact`]). This crate knows no rules and reads no file, clock or environment: callers pass those values in.

mod directory;
mod facts;
mod follow;
mod mcp;
mod package;
mod redirection;
mod session_files;
#[cfg(test)]
mod tests;
mod tool_actions;
mod tool_arguments;
mod tool_content;
mod tool_effects;
mod tool_words;
mod typed_input;
mod url;
mod variable_reads;

pub use directory::DirectoryFact;
pub use facts::{EvalEnvironment, Facts, SecretFact, facts, touched_files};
pub use follow::probe_links;
pub use mcp::{McpFact, McpReading};
pub use package::{PackageFact, PackageOrigin};
pub use session_files::SessionFilePaths;
pub use tenterhook_paths::{Certainty, EntryKind, FileOp, LinkMap, PathFact, PathLocation};
pub use tenterhook_shell_facts::{
    DECLARING_BUILTINS, ExecLocation, FileEffect, FileRunner, RunFile, RunPiece, RunText, RunTexts,
    SCRATCH_ACT, ShellCommand, ShellOption, ShellWord, TextSpan, UnreadText, find_project_files,
    interpreter_of_file, is_ambient_variable, is_redirecting_variable,
};
pub use url::{UrlFact, parse_url};
