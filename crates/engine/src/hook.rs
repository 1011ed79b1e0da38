// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Hooks: when a hook applies, how it runs, and what happens if it fails.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tenterhook_event::{Event, EventKind};
use tenterhook_harness::dialect::{EventMatcher, HookDialect, InterpretedOutput, PermissionRule};

use crate::{BoxFuture, sdk};

/// The stable id of a hook.
pub type HookId = Arc<str>;

/// What happens if a hook fails: the hook cannot run, exceeds its time limit, or gives an invalid answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FailMode {
    /// The call continues as if the hook did not exist.
    #[default]
    Open,
    /// The call is denied.
    Closed,
}

/// The error of a condition that could not be evaluated.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct ConditionError(#[from] pub Box<dyn std::error::Error + Send + Sync>);

/// A condition on the event, in addition to its kind and the matcher.
pub trait HookCondition: fmt::Debug + Send + Sync {
    /// Evaluates the condition. An error is treated as a failure of the hook.
    fn holds(&self, event: &Event) -> Result<bool, ConditionError>;

    /// Returns the source text of the condition.
    fn text(&self) -> &str;
}

#[cfg(feature = "when")]
impl HookCondition for tenterhook_when::When {
    fn holds(&self, event: &Event) -> Result<bool, ConditionError> {
        self.holds(event).map_err(|error| ConditionError(error.into()))
    }

    fn text(&self) -> &str {
        self.text()
    }
}

/// A hook: a program, an HTTP endpoint, an SDK function or a closure that decides about events.
#[derive(Debug, Clone)]
pub struct Hook {
    /// Id of the hook. It stays the same when the configuration is reloaded.
    pub id: HookId,
    /// Kinds of events for which the hook runs.
    pub on: Vec<EventKind>,
    /// Tools, sources or causes to which the hook applies. The hook's dialect defines the syntax.
    pub matcher: EventMatcher,
    /// Permission rule that must match. Claude Code calls it `if`.
    pub only_if: Option<PermissionRule>,
    /// Condition that must be true.
    pub when: Option<Arc<dyn HookCondition>>,
    /// Position in the order of hooks; lower numbers run first.
    pub priority: i32,
    /// Name of the chain; hooks of one chain run in sequence.
    pub chain: Option<Arc<str>>,
    /// Time limit of one run.
    pub timeout: Duration,
    /// What happens if the hook fails.
    pub fail: FailMode,
    /// Whether the hook only observes: the call does not wait for it, and its answer is ignored.
    pub observes: bool,
    /// Whether the hook is enabled.
    pub enabled: bool,
    /// How the hook runs.
    pub runner: HookBackend,
}

/// How a hook runs.
#[derive(Clone)]
pub enum HookBackend {
    /// A Rust closure.
    InProcess(Arc<dyn Fn(Arc<Event>) -> BoxFuture<'static, InterpretedOutput> + Send + Sync>),
    /// A separate program.
    Command(CommandHook),
    /// A function in another program, connected through an SDK.
    Sdk(sdk::SdkHook),
    /// An HTTP endpoint.
    #[cfg(feature = "http")]
    Http(HttpHook),
}

/// A hook that is a separate program.
#[derive(Debug, Clone)]
pub struct CommandHook {
    /// Command line of the program.
    pub line: CommandLine,
    /// Format of the program's input and output.
    pub dialect: &'static HookDialect,
    /// Environment variables, in addition to those of the dialect.
    pub env: Vec<(String, String)>,
    /// Home directory of the user, for a command that starts with `~/`.
    pub home: Option<String>,
    /// Working directory if the event's directory does not exist.
    pub dir: PathBuf,
    /// Maximum number of bytes read from standard output and from standard error each.
    pub max_output_bytes: usize,
}

/// The command line of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandLine {
    /// Shell text, run by the shell of the dialect.
    Shell(String),
    /// A program and its arguments, run without a shell.
    Exec(Vec<String>),
}

/// A hook that is an HTTP endpoint.
#[cfg(feature = "http")]
#[derive(Debug, Clone)]
pub struct HttpHook {
    /// URL to which the payload is posted.
    pub url: String,
    /// Request headers, with all variables already expanded.
    pub headers: Vec<(String, String)>,
    /// Format of the request and response bodies.
    pub dialect: &'static HookDialect,
    /// Maximum number of bytes read from the response.
    pub max_output_bytes: usize,
}

// === impl Hook ===

impl Hook {
    /// Returns whether the hook runs for events of this kind.
    pub fn serves(&self, kind: EventKind) -> bool {
        self.on.contains(&kind) || self.takes_failed_tool_as_result(kind)
    }

    /// Returns whether the hook receives a failed tool call as a `post-tool` event. In the A3S hook design (seed 003 in
    /// `docs/seeds.md`), a failed tool fires `PostToolUse` with `success: false` in addition to `ToolError`. A hook for
    /// both events receives only `ToolError`.
    pub(crate) fn takes_failed_tool_as_result(&self, kind: EventKind) -> bool {
        kind == EventKind::ToolError
            && self.on.contains(&EventKind::PostTool)
            && !self.on.contains(&EventKind::ToolError)
            && self.runner.speaks_a3s()
    }
}

// === impl CommandLine ===

impl CommandLine {
    /// Returns the program or shell text, for messages.
    pub fn program(&self) -> &str {
        match self {
            Self::Shell(text) => text,
            Self::Exec(words) => words.first().map_or("", String::as_str),
        }
    }
}

// === impl HookBackend ===

impl HookBackend {
    /// Returns the format of the hook's input and output; `None` for closures and SDK functions, which use none.
    pub fn dialect(&self) -> Option<&'static HookDialect> {
        match self {
            Self::InProcess(_) | Self::Sdk(_) => None,
            Self::Command(command) => Some(command.dialect),
            #[cfg(feature = "http")]
            Self::Http(http) => Some(http.dialect),
        }
    }

    /// Returns whether the hook receives events in the format of the A3S hook design.
    fn speaks_a3s(&self) -> bool {
        matches!(self, Self::Sdk(_)) || self.dialect().is_some_and(|dialect| dialect.name == "a3s")
    }
}

impl fmt::Debug for HookBackend {
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
