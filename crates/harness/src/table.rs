// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The one table of harnesses, and what a row of it says.

use std::time::Duration;

use serde_json::{Map, Value};
use tenterhook_event::{Call, Event, EventKind, Mcp, Outcome};

use crate::keys::Keys;
use crate::{
    DecodeError, Door, Reply, VersionGap, answer, claude_code, cline, codex, continue_dev, copilot, cursor,
    decode, gemini, keys, llxprt, opencode, pi, qwen, vscode,
};

/// Every harness we speak to.
pub const HARNESSES: &[Harness] = &[
    claude_code::HARNESS,
    codex::HARNESS,
    codex::DESKTOP,
    cursor::HARNESS,
    gemini::HARNESS,
    llxprt::HARNESS,
    qwen::HARNESS,
    opencode::HARNESS,
    pi::HARNESS,
    cline::HARNESS,
    copilot::HARNESS,
    vscode::HARNESS,
    continue_dev::HARNESS,
];

/// One harness: what it is called, what it fires, and how to speak with it.
#[derive(Debug)]
pub struct Harness {
    /// The id in commands, URLs and records.
    pub id: &'static str,
    /// The name for people.
    pub title: &'static str,
    /// Versions the row was proved on, by running them; none: written from its documentation.
    pub proved_on: &'static [&'static str],
    /// Every event it fires.
    pub events: &'static [EventRow],
    /// The variable in which it tells its hooks the project's root.
    pub project_variable: Option<&'static str>,
    /// Where its payload has what we look for.
    pub keys: Keys,
    /// Whether it has a tool that types into running processes and fires no hook.
    pub unhooked_stdin: bool,
    /// What its hooks do not see in older versions.
    pub version_gaps: &'static [VersionGap],
    /// How long it waits for a hook whose entry says nothing else; nothing: for ever, or not known.
    pub deadline: Option<Duration>,
    /// How it writes the names of MCP tools.
    pub mcp_name: fn(&str) -> Option<Mcp>,
    /// What is said in its own way only.
    pub(crate) adapt: fn(&Map<String, Value>, &mut Event),
    pub(crate) encode: fn(&'static EventRow, &Call, &Outcome) -> Reply,
    pub(crate) refuse: fn(Option<&EventRow>, &str) -> Reply,
    /// What it has to read on standard output when nobody objects.
    pub(crate) neutral: fn(Option<&EventRow>) -> &'static str,
}

/// One native event, and what the harness lets a hook do about it.
#[derive(Debug)]
pub struct EventRow {
    /// The harness's name for it.
    pub native: &'static str,
    /// Other names the harness has for it.
    pub aliases: &'static [&'static str],
    /// Our kind.
    pub kind: EventKind,
    /// How the harness hears "no".
    pub deny: Deny,
    /// Who is asked when a person has to say yes.
    pub ask: Ask,
    /// Whether the harness can put the thing off for somebody else.
    pub defers: bool,
    /// What can be rewritten.
    pub rewrite: Rewrite,
    /// Whether text can be given to the model.
    pub context: bool,
    /// Whether the harness takes a matcher here.
    pub matcher: bool,
    /// Where the payload has the tool call.
    pub tool: ToolAt,
    /// How long the harness waits here, where that is less than elsewhere.
    pub deadline: Option<Duration>,
    /// Whether `install` wires it.
    pub wiring: Wiring,
}

/// How a harness hears "no" at an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deny {
    /// It does not happen.
    Prevents,
    /// It has happened already; the model is told.
    Feedback,
    /// The harness does not listen.
    Impossible,
}

/// Who asks when a person has to say yes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    /// The harness, with a prompt of its own that works.
    Prompt,
    /// The harness cannot: the call waits for an approval, and is denied without one.
    Wait,
    /// There is nothing to approve.
    Never,
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
    /// What the tool returned, if an MCP server did.
    McpOutput,
    /// The request to the model, or an answer in its place.
    ModelRequest,
    /// The model's answer.
    ModelResponse,
    /// The tools the model may choose from.
    ToolSelection,
}

/// Where a payload has the tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolAt {
    /// The name and the arguments are where [`Keys`] says.
    Keys,
    /// The same, and it is a tool of an MCP server whatever its name.
    Mcp,
    /// The payload is about one tool, and its own fields are the arguments.
    Fields {
        /// The tool.
        name: &'static str,
        /// The fields.
        args: &'static [&'static str],
    },
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
        decode::decode(self, door, payload)
    }

    /// Outcome → native reply.
    pub fn encode(&self, call: &Call, outcome: &Outcome) -> Reply {
        let native = &call.event.native_event;
        match self.event(native).filter(|row| !is_only_recorded(row, call)) {
            Some(row) => (self.encode)(row, call, outcome),
            None => Reply { lost: answer::lost(None, call, outcome), ..self.neutral(native) },
        }
    }

    /// The reply when the payload cannot be read: what can be prevented is prevented.
    pub fn refuse(&self, event_name: &str, why: &str) -> Reply {
        (self.refuse)(self.event(event_name), why)
    }

    /// The reply when nobody objects, or when nobody could look and that is allowed: nothing that a
    /// model could read.
    pub fn neutral(&self, event_name: &str) -> Reply {
        Reply { stdout: (self.neutral)(self.event(event_name)).to_owned(), ..Reply::silent() }
    }

    /// The file in which the client writes down the session of a payload.
    pub fn transcript_path(&self, payload: &Map<String, Value>) -> Option<String> {
        keys::id(payload, self.keys.transcript)
    }

    /// How long the harness waits for a hook at this event; nothing: for ever, or not known.
    pub fn deadline(&self, event_name: &str) -> Option<Duration> {
        self.event(event_name).and_then(|row| row.deadline).or(self.deadline)
    }

    /// The row of an event named natively (`BeforeTool`), in kebab form (`before-tool`), by our kind
    /// (`pre-tool`), or as Claude Code calls an event of this kind (`pre-tool-use`).
    pub fn event(&self, name: &str) -> Option<&'static EventRow> {
        let by_kebab = |row: &&EventRow| row.is_kebab(name);
        self.named(name).or_else(|| self.events.iter().find(by_kebab)).or_else(|| {
            let claude =
                || claude_code::events::EVENTS.iter().find(|row| row.is_named(name) || by_kebab(row));
            let kind = name.parse().ok().or_else(|| Some(claude()?.kind))?;
            self.events.iter().find(|row| row.kind == kind && kind != EventKind::Other)
        })
    }

    /// The row of an event in the harness's own words.
    pub(crate) fn named(&self, native: &str) -> Option<&'static EventRow> {
        self.events.iter().find(|row| row.is_named(native))
    }
}

/// Whether `adapt` found that the event is not what its name says, such as a prompt without a text in the middle
/// of a turn. It is recorded, and no decision about it reaches the harness. A gate always answers.
fn is_only_recorded(row: &EventRow, call: &Call) -> bool {
    call.event.event == EventKind::Other && row.kind != EventKind::Other && !row.is_gate()
}

// === impl EventRow ===

impl EventRow {
    /// A row that can do nothing yet, for the tables to be written short.
    pub(crate) const fn new(native: &'static str, kind: EventKind) -> Self {
        Self {
            native,
            aliases: &[],
            kind,
            deny: Deny::Impossible,
            ask: Ask::Never,
            defers: false,
            rewrite: Rewrite::Nothing,
            context: false,
            matcher: false,
            tool: ToolAt::Keys,
            deadline: None,
            wiring: Wiring::Watch,
        }
    }

    /// Whether a "no" here keeps a tool from running.
    pub fn is_gate(&self) -> bool {
        self.deny == Deny::Prevents && matches!(self.kind, EventKind::PreTool | EventKind::PermissionRequest)
    }

    fn is_kebab(&self, name: &str) -> bool {
        let mut names = std::iter::once(&self.native).chain(self.aliases);
        names.any(|native| kebab_letters(native).eq(name.chars()))
    }

    fn is_named(&self, native: &str) -> bool {
        self.native == native || self.aliases.contains(&native)
    }
}

/// `PreToolUse` and `preToolUse` → `pre-tool-use`; `beforeMCPExecution` → `before-mcp-execution`;
/// `tool.execute.before` → `tool-execute-before`.
pub fn kebab(native: &str) -> String {
    kebab_letters(native).collect()
}

/// The same, letter by letter: events are looked up by it at every call.
fn kebab_letters(native: &str) -> impl Iterator<Item = char> {
    let before = std::iter::once(None).chain(native.chars().map(Some));
    let after = native.chars().skip(1).map(Some).chain(std::iter::once(None));
    let letters = native.chars().zip(before).zip(after).flat_map(|((letter, before), after)| {
        let starts_word = letter.is_uppercase()
            && before.is_some_and(|before| {
                before.is_alphanumeric() && (!before.is_uppercase() || after.is_some_and(char::is_lowercase))
            });
        let letter = if matches!(letter, '.' | '_') { '-' } else { letter.to_ascii_lowercase() };
        [starts_word.then_some('-'), Some(letter)]
    });
    letters.flatten()
}

#[cfg(test)]
mod tests;
