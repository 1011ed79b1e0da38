// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a call of a tool would do, in words that rules can be about.
//!
//! [`facts`] reads an event: the commands it runs ([`ShellCommand`]), what is done to files ([`Effect`]), where it
//! connects to ([`UrlFact`]), which packages it installs ([`PackageFact`]), which secrets it carries ([`SecretFact`]).
//! Nothing here knows a rule, and nothing reads a file, a clock or the environment: the caller passes it in.

mod directory;
mod facts;
mod follow;
mod mcp;
mod package;
#[cfg(test)]
mod tests;
mod tool_effects;
mod url;

pub use directory::DirectoryFact;
pub use facts::{Facts, SecretFact, Surroundings, facts, touched};
pub use follow::look;
pub use mcp::{McpFact, McpReading};
pub use package::{From as PackageFrom, PackageFact};
pub use tenterhook_paths::{Certainty, Does, PathFact, Place, Seen, Sight};
pub use tenterhook_shell_facts::{Effect, ShellCommand, ShellOption, Side, TextSpan, Unread, Word};
pub use url::{UrlFact, url};
