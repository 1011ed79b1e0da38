// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The one table of harnesses, and what a row of it says.

use tenterhook_event::{Call, EventKind, Outcome};

use crate::{DecodeError, Door, Reply, claude_code};

/// Every harness we speak to.
pub const HARNESSES: &[Harness] = &[claude_code::HARNESS];

/// One harness: what it is called, what it fires, and how to speak with it.
#[derive(Debug)]
pub struct Harness {
    /// The id in commands, URLs and records.
    pub id: &'static str,
    /// The name for people.
    pub title: &'static str,
    /// Versions the row was proved on, by running them.
    pub proved_on: &'static [&'static str],
    /// Every event it fires.
    pub events: &'static [EventRow],
    /// The variable in which it tells its hooks the project's root.
    pub project_variable: Option<&'static str>,
    /// How we get into its settings, and out again.
    #[cfg(feature = "install")]
    pub installer: crate::install::Installer,
    pub(crate) decode: fn(&Door, &[u8]) -> Result<Call, DecodeError>,
    pub(crate) encode: fn(&Call, &Outcome) -> Reply,
    pub(crate) refuse: fn(Option<&EventRow>, &str) -> Reply,
}

/// One native event, and what the harness lets a hook do about it.
#[derive(Debug)]
pub struct EventRow {
    /// The harness's name for it.
    pub native: &'static str,
    /// Our kind.
    pub kind: EventKind,
    /// How the harness hears "no".
    pub deny: Deny,
    /// What can be rewritten.
    pub rewrite: Rewrite,
    /// Whether text can be given to the model.
    pub context: bool,
    /// Whether the harness takes a matcher here.
    pub matcher: bool,
    /// Whether `install` wires it.
    pub wiring: Wiring,
}

/// How a harness hears "no" at an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deny {
    /// It does not happen, and the harness can also ask a person.
    OrAsk,
    /// It does not happen.
    Prevents,
    /// It has happened already; the model is told.
    Feedback,
    /// The harness does not listen.
    Impossible,
}

/// What a hook can rewrite at an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rewrite {
    /// Nothing.
    Nothing,
    /// The arguments of the tool.
    ToolInput,
    /// What the tool returned.
    ToolOutput,
}

/// Whether and how `install` wires an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wiring {
    /// Wired; if our hook breaks, the harness is told to refuse.
    Guard,
    /// Wired; if our hook breaks, the harness goes on.
    Watch,
    /// Not wired, and why.
    Left(&'static str),
}

/// The harness of this id.
pub fn find(id: &str) -> Option<&'static Harness> {
    HARNESSES.iter().find(|harness| harness.id == id)
}

// === impl Harness ===

impl Harness {
    /// Native payload → event.
    pub fn decode(&self, door: &Door, payload: &[u8]) -> Result<Call, DecodeError> {
        (self.decode)(door, payload)
    }

    /// Outcome → native reply.
    pub fn encode(&self, call: &Call, outcome: &Outcome) -> Reply {
        (self.encode)(call, outcome)
    }

    /// The reply when the payload cannot be read: what can be prevented is prevented.
    pub fn refuse(&self, event_name: &str, why: &str) -> Reply {
        (self.refuse)(self.event(event_name), why)
    }

    /// The row of an event named natively (`PreToolUse`), in kebab form (`pre-tool-use`) or by our
    /// kind (`pre-tool`).
    pub fn event(&self, name: &str) -> Option<&'static EventRow> {
        let by_name = |row: &&EventRow| row.native == name || kebab(row.native) == name;
        self.events.iter().find(by_name).or_else(|| {
            let kind: EventKind = name.parse().ok()?;
            self.events.iter().find(|row| row.kind == kind && kind != EventKind::Other)
        })
    }
}

/// `PreToolUse` and `preToolUse` → `pre-tool-use`; `beforeMCPExecution` → `before-mcp-execution`.
pub fn kebab(native: &str) -> String {
    let letters: Vec<char> = native.chars().collect();
    let mut name = String::with_capacity(native.len() + 4);
    for (at, letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| letters.get(at));
        let starts_word = letter.is_uppercase()
            && before.is_some_and(|before| {
                let after = letters.get(at + 1);
                !before.is_uppercase() || after.is_some_and(|after| after.is_lowercase())
            });
        if starts_word {
            name.push('-');
        }
        name.extend(letter.to_lowercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kebab_names_split_at_words() {
        for (native, expected) in [
            ("PreToolUse", "pre-tool-use"),
            ("beforeShellExecution", "before-shell-execution"),
            ("beforeMCPExecution", "before-mcp-execution"),
            ("Stop", "stop"),
        ] {
            assert_eq!(kebab(native), expected);
        }
    }

    #[test]
    fn an_event_is_found_under_all_three_names() {
        let claude = find("claude-code").unwrap();
        for name in ["PreToolUse", "pre-tool-use", "pre-tool"] {
            assert_eq!(claude.event(name).map(|row| row.native), Some("PreToolUse"), "{name}");
        }
        assert!(claude.event("other").is_none(), "`other` names no single event");
        assert!(claude.event("PreToolUsee").is_none());
    }

    #[test]
    fn no_harness_names_an_event_twice() {
        for harness in HARNESSES {
            let mut names: Vec<_> = harness.events.iter().map(|row| kebab(row.native)).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), harness.events.len(), "{}", harness.id);
        }
    }
}
