// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A hook: where it applies, how it runs, and what its failure means.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tenterhook_event::{Event, EventKind, Finding};
use tenterhook_harness::dialect::Dialect;

use crate::BoxFuture;

/// A hook's stable id.
pub type HookId = Arc<str>;

/// What the failure of a hook means: it could not run, ran out of time, or said nothing readable.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fail {
    /// As if it had not been there.
    #[default]
    Open,
    /// As if it had denied.
    Closed,
}

/// Which tools a hook is for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Matcher {
    /// All of them, and events without a tool.
    #[default]
    Any,
    /// Tools of exactly these names.
    Names(Vec<String>),
}

/// A hook.
#[derive(Debug)]
pub struct Hook {
    /// Its stable id.
    pub id: HookId,
    /// The kinds of events it is for.
    pub on: Vec<EventKind>,
    /// The tools it is for.
    pub matcher: Matcher,
    /// Lower numbers come first.
    pub priority: i32,
    /// How long it may take.
    pub timeout: Duration,
    /// What its failure means.
    pub fail: Fail,
    /// What runs.
    pub runner: Runner,
}

/// What runs when a hook is called.
pub enum Runner {
    /// A Rust closure.
    InProcess(Arc<dyn Fn(Arc<Event>) -> BoxFuture<'static, Finding> + Send + Sync>),
    /// A program of its own.
    Command(Command),
}

/// A program that is a hook.
#[derive(Debug)]
pub struct Command {
    /// What to run.
    pub line: CommandLine,
    /// How to speak with it.
    pub dialect: &'static Dialect,
    /// The directory of last resort when the event has none that exists.
    pub dir: PathBuf,
    /// The most bytes read from each of its outputs.
    pub output_limit: usize,
}

/// What to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandLine {
    /// Text for `/bin/sh -c`.
    Shell(String),
    /// A program and its arguments; no shell in between.
    Exec(Vec<String>),
}

// === impl Matcher ===

impl Matcher {
    /// Reads `Bash`, `Write|Edit`, `*` or nothing.
    pub fn parse(text: &str) -> Self {
        match text.trim() {
            "" | "*" => Self::Any,
            names => Self::Names(names.split('|').map(|name| name.trim().to_owned()).collect()),
        }
    }

    /// Whether the event's tool is one of ours; if not, why not.
    pub fn admits(&self, event: &Event) -> Result<(), String> {
        let Self::Names(names) = self else { return Ok(()) };
        match &event.tool {
            Some(tool) if names.contains(&tool.name) => Ok(()),
            Some(tool) => Err(format!("the tool is `{}`, not `{}`", tool.name, names.join("|"))),
            None => Err(format!("there is no tool, and it is for `{}`", names.join("|"))),
        }
    }
}

// === impl CommandLine ===

impl CommandLine {
    /// What is run, for messages.
    pub fn program(&self) -> &str {
        match self {
            Self::Shell(text) => text,
            Self::Exec(words) => words.first().map_or("", String::as_str),
        }
    }
}

// === impl Runner ===

impl fmt::Debug for Runner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InProcess(_) => f.write_str("InProcess"),
            Self::Command(command) => command.fmt(f),
        }
    }
}
