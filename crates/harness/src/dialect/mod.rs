// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Hook dialects. A dialect is the protocol that a hook uses.
//!
//! A dialect belongs to a hook, not to a harness. Hooks with different dialects can handle the same event, and the
//! engine combines their results in the same way.
//!
//! [`DIALECTS`] is the table of dialects. The [`DialectSwitches`] of each row describe how the dialect differs from
//! others. Each family of dialects has a module that writes events and interprets output. Where an original client
//! allows something by accident, the interpretation here is stricter. `docs/compatibility.md` lists every such case.

pub mod a3s;
#[cfg(test)]
mod cases;
mod claude;
mod command;
mod fields;
mod llxprt;
pub mod matcher;
mod native;
mod read;
mod switches;
mod time;

use std::time::Duration;

use tenterhook_event::{Event, EventKind, Finding, HookCall, Origin};

pub use command::expand_home;
pub use matcher::{
    A3sMatcher, EventMatcher, GlobSyntaxError, MatcherError, Mismatch, PatternError, PermissionRule,
    permission_rule,
};
pub use read::{OutputFormat, RawHookResult, read, read_at};
pub use switches::{
    AskSemantics, DedupeKey, DialectSwitches, EnvValue, ExitTwo, JsonValues, MatcherRules, OtherExit,
    PlainText, Substitute, TimeUnit,
};
pub use time::HookTimeError;

/// All supported dialects.
pub const DIALECTS: &[HookDialect] =
    &[native::DIALECT, claude::DIALECT, llxprt::SEED, llxprt::LATER, llxprt::GEMINI, a3s::DIALECT];

/// Tenterhook's own dialect.
pub const NATIVE: &HookDialect = &native::DIALECT;

/// Reason for a deny if the hook printed none.
const NO_REASON: &str = "the hook blocked this and gave no reason";

/// The protocol that a hook uses: its input, environment, time limit and output.
#[derive(Debug)]
pub struct HookDialect {
    /// Name of the dialect in a hook's `dialect:` setting.
    pub name: &'static str,
    /// One-sentence description for users.
    pub about: &'static str,
    /// Default time limit of a hook.
    pub timeout: Duration,
    /// How the dialect differs from other dialects.
    pub switches: DialectSwitches,
    /// Returns the dialect's name for an event, or the harness's name if the dialect has none.
    pub(crate) event_name: fn(&Event) -> &str,
    /// Returns the event kind for one of the dialect's event names.
    pub(crate) kind: fn(&str) -> Option<EventKind>,
    pub(crate) stdin: fn(&Event) -> Vec<u8>,
    pub(crate) interpret:
        fn(&HookDialect, &Event, Origin, &HookExit) -> Result<InterpretedOutput, InvalidOutput>,
}

/// A hook's output after interpretation.
#[derive(Debug, Clone, PartialEq)]
pub struct InterpretedOutput {
    /// The hook's finding about the event.
    pub finding: Finding,
    /// The hook's instruction to the engine.
    pub control: EngineControl,
}

/// A hook's instruction to the engine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EngineControl {
    /// The engine continues as usual.
    #[default]
    Go,
    /// The engine ignores the remaining hooks.
    Skip,
    /// The engine runs the hook again after a delay.
    Retry {
        /// Time to wait before the retry.
        delay: Duration,
    },
    /// The hook continues in the background and makes no decision.
    Detach {
        /// Time limit of the background hook.
        limit: Duration,
    },
}

/// A function that reads a hook's output so far. Returns a time limit if the hook continues in the background.
pub type DetachProbe = fn(&[u8]) -> Option<Duration>;

/// Exit status and output of a finished hook command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookExit {
    /// Exit code; `None` if a signal ended the process.
    pub code: Option<i32>,
    /// Content of standard output.
    pub stdout: Vec<u8>,
    /// Content of standard error.
    pub stderr: Vec<u8>,
}

/// The hook failed, or its output has an invalid format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidOutput(pub String);

/// Returns the dialect with this name.
pub fn find(name: &str) -> Option<&'static HookDialect> {
    DIALECTS.iter().find(|dialect| dialect.name == name)
}

/// Returns the dialect of a harness's own hooks, if there is one.
pub fn for_harness(id: &str) -> Option<&'static HookDialect> {
    DIALECTS.iter().find(|dialect| dialect.switches.harness == Some(id))
}

// === impl HookDialect ===

impl HookDialect {
    /// Returns the hook's standard input. If the event comes from the dialect's own harness, this is the native
    /// payload, byte for byte. For other harnesses, a payload is built from the normalized event.
    pub fn stdin(&self, call: &HookCall) -> Vec<u8> {
        match &call.native {
            Some(native) if self.switches.harness == Some(call.event.source.as_str()) => native.bytes.clone(),
            _ => (self.stdin)(&call.event),
        }
    }

    /// Returns the event kind for one of the dialect's event names; `None` if the dialect has no such event.
    pub fn kind(&self, name: &str) -> Option<EventKind> {
        (self.kind)(name)
    }

    /// Returns a function that detects from the output so far whether a hook continues in the background; `None` if
    /// the dialect does not support background hooks.
    pub fn detaches(&self) -> Option<DetachProbe> {
        self.switches.detaches.then_some(claude::detaches)
    }

    /// Interprets the hook's output. Unclear output is an error, not an allow.
    pub fn interpret(
        &self,
        event: &Event,
        by: Origin,
        exited: &HookExit,
    ) -> Result<InterpretedOutput, InvalidOutput> {
        (self.interpret)(self, event, by, exited)
    }
}

/// Returns the dialect's name for an event, or the harness's name if the table has none.
fn event_name_in<'a>(names: &[(EventKind, &'static str)], event: &'a Event) -> &'a str {
    let found = names.iter().find(|(kind, _)| *kind == event.event);
    found.map_or(event.native_event.as_str(), |(_, name)| name)
}

/// Returns the first kind with this name in a dialect's table.
fn event_kind_in(names: &[(EventKind, &'static str)], name: &str) -> Option<EventKind> {
    names.iter().find(|(_, known)| *known == name).map(|(kind, _)| *kind)
}

// === impl InterpretedOutput ===

impl From<Finding> for InterpretedOutput {
    fn from(finding: Finding) -> Self {
        Self { finding, control: EngineControl::Go }
    }
}

// === impl HookExit ===

impl HookExit {
    /// Returns the reason for a deny: standard error, trimmed, or a default text if it is empty.
    fn stderr_reason(&self) -> String {
        let text = String::from_utf8_lossy(&self.stderr);
        match text.trim() {
            "" => NO_REASON.to_owned(),
            text => text.to_owned(),
        }
    }

    /// Returns the exit status and the first line of standard error, for messages.
    fn describe_exit(&self) -> String {
        let first = String::from_utf8_lossy(&self.stderr).lines().next().unwrap_or_default().to_owned();
        let how =
            self.code.map_or_else(|| "ended by a signal".to_owned(), |code| format!("exit code {code}"));
        if first.is_empty() { how } else { format!("{how}: {first}") }
    }
}
