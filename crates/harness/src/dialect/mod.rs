// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Dialects: how one hook is spoken to.
//!
//! A dialect belongs to a hook, not to a harness: hooks of several dialects can serve one event,
//! and the engine folds what they say in one and the same way.

//!
//! [`DIALECTS`] is the table. What differs is in each row's [`Switches`]; how an event is written
//! and an answer is heard is one module per family. Hearing is stricter than the originals where
//! they let something through by accident: `docs/compatibility.md` lists every such place.

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

use tenterhook_event::{Call, Event, EventKind, Finding, Origin};

pub use command::expand_home;
pub use matcher::{
    A3sMatcher, GlobSyntaxError, Matcher, MatcherError, Mismatch, PatternError, PermissionRule,
    permission_rule,
};
pub use read::{Format, RawResult, read, read_at};
pub use switches::{
    Ask, DedupeKey, EnvValue, ExitTwo, JsonValues, MatcherRules, OtherExit, PlainText, Substitute, Switches,
    TimeUnit,
};
pub use time::HookTimeError;

/// Every dialect.
pub const DIALECTS: &[Dialect] =
    &[native::DIALECT, claude::DIALECT, llxprt::SEED, llxprt::LATER, llxprt::GEMINI, a3s::DIALECT];

/// Our own dialect.
pub const NATIVE: &Dialect = &native::DIALECT;

/// A deny always has a reason.
const NO_REASON: &str = "the hook blocked this and gave no reason";

/// How one hook is spoken to.
#[derive(Debug)]
pub struct Dialect {
    /// The name in a hook's `dialect:`.
    pub name: &'static str,
    /// One sentence for people.
    pub about: &'static str,
    /// How long a hook may take when it does not say.
    pub timeout: Duration,
    /// What it does differently from the others.
    pub switches: Switches,
    /// The dialect's own name for an event, if it has one.
    pub(crate) event_name: fn(&Event) -> &str,
    /// Our kind for the dialect's name of an event.
    pub(crate) kind: fn(&str) -> Option<EventKind>,
    pub(crate) stdin: fn(&Event) -> Vec<u8>,
    pub(crate) hear: fn(&Dialect, &Event, Origin, &Exited) -> Result<Heard, Misheard>,
}

/// What a hook said, and what it wants of the engine beside that.
#[derive(Debug, Clone, PartialEq)]
pub struct Heard {
    /// About the event.
    pub finding: Finding,
    /// About how the event is dealt with.
    pub control: Control,
}

/// What a hook wants of the engine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Control {
    /// Nothing.
    #[default]
    Go,
    /// Ignore the hooks that come after it.
    Skip,
    /// Ask again, a little later.
    Retry {
        /// How much later.
        delay: Duration,
    },
    /// It goes on by itself and decides nothing.
    Detach {
        /// How long it may.
        limit: Duration,
    },
}

/// Tells from what a hook has printed so far whether it goes into the background, and for how long.
pub type Detaches = fn(&[u8]) -> Option<Duration>;

/// What a command hook left behind when it ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exited {
    /// The exit code; absent when a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
}

/// The hook's answer cannot be taken: it failed, or it spoke in a shape that means nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Misheard(pub String);

/// The dialect of this name.
pub fn find(name: &str) -> Option<&'static Dialect> {
    DIALECTS.iter().find(|dialect| dialect.name == name)
}

/// The dialect in which a harness speaks to its own hooks, if there is one.
pub fn of_harness(id: &str) -> Option<&'static Dialect> {
    DIALECTS.iter().find(|dialect| dialect.switches.harness == Some(id))
}

// === impl Dialect ===

impl Dialect {
    /// What the hook gets on standard input: the harness's own bytes if it is the dialect's own
    /// harness that speaks, else the same fields from the normal form.
    pub fn stdin(&self, call: &Call) -> Vec<u8> {
        match &call.native {
            Some(native) if self.switches.harness == Some(call.event.source.as_str()) => native.bytes.clone(),
            _ => (self.stdin)(&call.event),
        }
    }

    /// Our kind for the dialect's own name of an event, if it has such an event.
    pub fn kind(&self, name: &str) -> Option<EventKind> {
        (self.kind)(name)
    }

    /// Tells from what a hook has printed so far whether it goes into the background, and for how
    /// long it may; nothing where hooks cannot.
    pub fn detaches(&self) -> Option<Detaches> {
        self.switches.detaches.then_some(claude::detaches)
    }

    /// What the hook said, as strictly as a guard has to hear it.
    pub fn hear(&self, event: &Event, by: Origin, exited: &Exited) -> Result<Heard, Misheard> {
        (self.hear)(self, event, by, exited)
    }
}

/// The name of a kind in a dialect's table; the harness's own where the dialect has none.
fn name_in<'a>(names: &[(EventKind, &'static str)], event: &'a Event) -> &'a str {
    let found = names.iter().find(|(kind, _)| *kind == event.event);
    found.map_or(event.native_event.as_str(), |(_, name)| name)
}

/// The kind of a name in a dialect's table: the first, where several are called the same.
fn kind_in(names: &[(EventKind, &'static str)], name: &str) -> Option<EventKind> {
    names.iter().find(|(_, known)| *known == name).map(|(kind, _)| *kind)
}

// === impl Heard ===

impl From<Finding> for Heard {
    fn from(finding: Finding) -> Self {
        Self { finding, control: Control::Go }
    }
}

// === impl Exited ===

impl Exited {
    /// Standard error as text for a reason: trimmed, and never empty.
    fn complaint(&self) -> String {
        let text = String::from_utf8_lossy(&self.stderr);
        match text.trim() {
            "" => NO_REASON.to_owned(),
            text => text.to_owned(),
        }
    }

    /// The exit code for people.
    fn how(&self) -> String {
        let first = String::from_utf8_lossy(&self.stderr).lines().next().unwrap_or_default().to_owned();
        let how =
            self.code.map_or_else(|| "ended by a signal".to_owned(), |code| format!("exit code {code}"));
        if first.is_empty() { how } else { format!("{how}: {first}") }
    }
}
