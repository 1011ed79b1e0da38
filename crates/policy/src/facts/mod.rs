// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Event → facts: what a call would do, in words that rules can be about.

pub(crate) mod code;
mod effect;
pub(crate) mod overlap;
mod package;
mod path;
mod shell;
mod url;

use serde::Serialize;
use tenterhook_event::{Event, Mcp};

pub use effect::{Does, Effect, Side};
pub use package::{From as PackageFrom, PackageFact};
pub use url::{UrlFact, url};

pub(crate) use path::{Found, Ground};
pub use path::{PathFact, Place};
pub use shell::{ShellCommand, ShellOption, Unread, Word};
pub(crate) use shell::{expand_braces, find_targets};

/// What the caller knows about the machine. The working directory and the project come with the event.
#[derive(Debug, Clone, Copy, Default)]
pub struct Surroundings<'a> {
    /// The home directory of whoever runs the agent.
    pub home: Option<&'a str>,
}

/// What one call would do.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Facts {
    /// Every command that would run, however it is wrapped.
    pub commands: Vec<ShellCommand>,
    /// Every path the call names outside a command.
    pub paths: Vec<PathFact>,
    /// What would be done to files: by the tool itself, by commands, by code.
    pub effects: Vec<Effect>,
    /// Where it would connect to.
    pub urls: Vec<UrlFact>,
    /// The packages it would install or run.
    pub packages: Vec<PackageFact>,
    /// The MCP tool, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp: Option<Mcp>,
    /// Kinds of secrets in what is written, sent, said or run.
    pub secrets: Vec<SecretFact>,
    /// Whether some shell text could not be understood.
    pub unparsed: bool,
    /// The texts that could not be understood, or that nobody reads.
    pub unread: Vec<Unread>,
}

/// A secret in a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SecretFact {
    /// Which kind, such as `github-token`.
    pub kind: &'static str,
    /// Where: `command`, `content`, `args`, `prompt` or `output`.
    pub within: &'static str,
}

/// Reads what a call would do. Bounded by the size of the text and of its tree, never by a clock.
pub fn facts(event: &Event, around: &Surroundings<'_>) -> Facts {
    let Some(tool) = &event.tool else { return Facts::default() };
    let cwd = event.cwd.as_deref().or(event.project.as_deref());
    let ground = Ground::new(around.home, event.project.as_deref().or(cwd));
    let named = tool.paths().into_iter();
    let files = tool.urls().into_iter().filter(|url| url.starts_with("file://"));
    let paths = named.chain(files).map(|text| {
        // Tools take `~` for the home directory as a shell does.
        let whole = home_of(text, &ground.home);
        let found = Found { text, shape: whole.as_deref().unwrap_or(text), dynamic: false, pattern: false };
        ground.fact(&found, cwd)
    });
    let paths: Vec<_> = paths.collect();
    let mut effects = effect::by_tool(tool, &paths);
    let read = shell::read(&tool.commands(), &tool.codes(), &ground, cwd);
    effects.extend(read.effects);
    Facts {
        commands: read.commands,
        paths,
        effects,
        unparsed: read.unparsed,
        unread: read.unread,
        mcp: tool.mcp.clone(),
        ..Facts::default()
    }
}

/// The text with a leading `~` replaced.
fn home_of(text: &str, home: &str) -> Option<String> {
    let rest = text.strip_prefix('~')?;
    (rest.is_empty() || rest.starts_with('/')).then(|| format!("{home}{rest}"))
}
