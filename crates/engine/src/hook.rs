// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A hook: where it applies, how it runs, and what its failure means.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tenterhook_event::{Event, EventKind};
use tenterhook_harness::dialect::{Dialect, Heard, Matcher, PermissionRule};

use crate::{BoxFuture, sdk};

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

/// A condition that cannot be evaluated.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct ConditionError(#[from] pub Box<dyn std::error::Error + Send + Sync>);

/// A condition on the event, beyond kind and matcher.
pub trait Condition: fmt::Debug + Send + Sync {
    /// Whether it holds; an error is a failure of the hook.
    fn holds(&self, event: &Event) -> Result<bool, ConditionError>;

    /// As it was written.
    fn text(&self) -> &str;
}

#[cfg(feature = "when")]
impl Condition for tenterhook_when::When {
    fn holds(&self, event: &Event) -> Result<bool, ConditionError> {
        self.holds(event).map_err(|error| ConditionError(error.into()))
    }

    fn text(&self) -> &str {
        self.text()
    }
}

/// A hook.
#[derive(Debug, Clone)]
pub struct Hook {
    /// Its stable id.
    pub id: HookId,
    /// The kinds of events it is for.
    pub on: Vec<EventKind>,
    /// The tools, sources or reasons it is for, by its dialect's rules.
    pub matcher: Matcher,
    /// Claude Code's `if`: a permission rule that must fit.
    pub only_if: Option<PermissionRule>,
    /// A condition that must hold.
    pub when: Option<Arc<dyn Condition>>,
    /// Lower numbers come first.
    pub priority: i32,
    /// Hooks of one chain run one after the other.
    pub chain: Option<Arc<str>>,
    /// How long it may take.
    pub timeout: Duration,
    /// What its failure means.
    pub fail: Fail,
    /// It only watches: nobody waits for it and nothing it says counts.
    pub observes: bool,
    /// Whether it is switched on.
    pub enabled: bool,
    /// What runs.
    pub runner: Runner,
}

/// What runs when a hook is called.
#[derive(Clone)]
pub enum Runner {
    /// A Rust closure.
    InProcess(Arc<dyn Fn(Arc<Event>) -> BoxFuture<'static, Heard> + Send + Sync>),
    /// A program of its own.
    Command(Command),
    /// A function in another program.
    Sdk(sdk::Function),
    /// An HTTP endpoint.
    #[cfg(feature = "http")]
    Http(Http),
}

/// A program that is a hook.
#[derive(Debug, Clone)]
pub struct Command {
    /// What to run.
    pub line: CommandLine,
    /// How to speak with it.
    pub dialect: &'static Dialect,
    /// Variables on top of the dialect's.
    pub env: Vec<(String, String)>,
    /// The person's home, for a command that starts with `~/`.
    pub home: Option<String>,
    /// The directory of last resort when the event has none that exists.
    pub dir: PathBuf,
    /// The most bytes read from each of its outputs.
    pub output_limit: usize,
}

/// What to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandLine {
    /// Text for the dialect's shell.
    Shell(String),
    /// A program and its arguments; no shell in between.
    Exec(Vec<String>),
}

/// An HTTP endpoint that is a hook.
#[cfg(feature = "http")]
#[derive(Debug, Clone)]
pub struct Http {
    /// Where the payload is posted.
    pub url: String,
    /// Headers, with every variable already filled in.
    pub headers: Vec<(String, String)>,
    /// How to speak with it.
    pub dialect: &'static Dialect,
    /// The most bytes read of its answer.
    pub output_limit: usize,
}

// === impl Hook ===

impl Hook {
    /// Whether it is called at events of this kind.
    pub fn serves(&self, kind: EventKind) -> bool {
        self.on.contains(&kind) || self.takes_failed_tool_as_result(kind)
    }

    /// Whether this is the event of a failed tool, and the hook hears of it as of any result: A3S fires `PostToolUse`
    /// with `success: false` beside `ToolError`. A hook for both hears `ToolError`.
    pub(crate) fn takes_failed_tool_as_result(&self, kind: EventKind) -> bool {
        kind == EventKind::ToolError
            && self.on.contains(&EventKind::PostTool)
            && !self.on.contains(&EventKind::ToolError)
            && self.runner.speaks_a3s()
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

impl Runner {
    /// How it is spoken to; a closure is not.
    pub fn dialect(&self) -> Option<&'static Dialect> {
        match self {
            Self::InProcess(_) | Self::Sdk(_) => None,
            Self::Command(command) => Some(command.dialect),
            #[cfg(feature = "http")]
            Self::Http(http) => Some(http.dialect),
        }
    }

    /// Whether it is given the events of the A3S hook design.
    fn speaks_a3s(&self) -> bool {
        matches!(self, Self::Sdk(_)) || self.dialect().is_some_and(|dialect| dialect.name == "a3s")
    }
}

impl fmt::Debug for Runner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InProcess(_) => f.write_str("InProcess"),
            Self::Command(command) => command.fmt(f),
            Self::Sdk(function) => function.fmt(f),
            #[cfg(feature = "http")]
            Self::Http(http) => http.fmt(f),
        }
    }
}
