// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Dialects: how one hook is spoken to.
//!
//! A dialect belongs to a hook, not to a harness: hooks of several dialects can serve one event,
//! and the engine folds what they say in one and the same way.

mod claude;
mod native;

use std::time::Duration;

use tenterhook_event::{Call, Event, Finding, Origin};

/// Every dialect.
pub const DIALECTS: &[Dialect] = &[native::DIALECT, claude::DIALECT];

/// How one hook is spoken to.
#[derive(Debug)]
pub struct Dialect {
    /// The name in a hook's `dialect:`.
    pub name: &'static str,
    /// One sentence for people.
    pub about: &'static str,
    /// How long a hook may take when it does not say.
    pub timeout: Duration,
    pub(crate) stdin: fn(&Call) -> Vec<u8>,
    pub(crate) env: fn(&Event) -> Vec<(&'static str, String)>,
    pub(crate) hear: fn(&Event, Origin, &Exited) -> Result<Heard, Misheard>,
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

// === impl Dialect ===

impl Dialect {
    /// What the hook gets on standard input.
    pub fn stdin(&self, call: &Call) -> Vec<u8> {
        (self.stdin)(call)
    }

    /// Environment variables the hook gets on top of its surroundings.
    pub fn env(&self, event: &Event) -> Vec<(&'static str, String)> {
        (self.env)(event)
    }

    /// What the hook said.
    pub fn hear(&self, event: &Event, by: Origin, exited: &Exited) -> Result<Heard, Misheard> {
        (self.hear)(event, by, exited)
    }
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
            "" => "the hook blocked this and gave no reason".to_owned(),
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
