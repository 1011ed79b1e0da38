// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The table of supported harnesses, and the types of its rows.

use std::time::Duration;

use serde_json::{Map, Value};
use tenterhook_event::{Event, EventKind, HookCall, McpToolId, Outcome};

use crate::payload_keys::PayloadKeys;
use crate::{
    CallMeta, DecodeError, HookReply, VersionGap, claude_code, cline, codex, continue_dev, copilot, cursor,
    decode, gemini, llxprt, opencode, outcome_encoding, payload_keys, pi, qwen, vscode,
};

/// All supported harnesses.
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

/// One harness, with its names, its events and its codec.
#[derive(Debug)]
pub struct Harness {
    /// Id used in commands, URLs and records.
    pub id: &'static str,
    /// Name that users read.
    pub title: &'static str,
    /// Versions on which the row was verified by running them. Empty if the row was written from documentation.
    pub proved_on: &'static [&'static str],
    /// Every event that the harness fires.
    pub events: &'static [EventRow],
    /// Environment variable in which the harness passes the project root to hooks.
    pub project_variable: Option<&'static str>,
    /// Environment variable of hooks, and its value in a run without a prompt (`-p`). `None` if hooks cannot tell.
    pub headless_sign: Option<(&'static str, &'static str)>,
    /// Paths of the known fields in the harness's payload.
    pub keys: PayloadKeys,
    /// Whether the harness has a tool that writes to running processes without firing a hook.
    pub unhooked_stdin: bool,
    /// Known gaps in the hook support of older versions.
    pub version_gaps: &'static [VersionGap],
    /// Default time limit of a hook; `None` if there is no limit or it is unknown.
    pub deadline: Option<Duration>,
    /// Splits the harness's name for an MCP tool into server and tool.
    pub mcp_name: fn(&str) -> Option<McpToolId>,
    /// Corrects a decoded event for special cases of this harness.
    pub(crate) adapt: fn(&Map<String, Value>, &mut Event),
    pub(crate) encode: fn(&'static EventRow, &HookCall, &Outcome) -> HookReply,
    pub(crate) refuse: fn(Option<&EventRow>, &str) -> HookReply,
    /// Standard output that means "no match".
    pub(crate) neutral: fn(Option<&EventRow>) -> &'static str,
}

/// One native event, and what a hook can do for this event.
#[derive(Debug)]
pub struct EventRow {
    /// The harness's name for the event.
    pub native: &'static str,
    /// Other names that the harness uses for the event.
    pub aliases: &'static [&'static str],
    /// Tenterhook's event kind.
    pub kind: EventKind,
    /// Effect of a deny.
    pub deny: DenySupport,
    /// How the user is asked for approval.
    pub ask: AskSupport,
    /// Whether the harness can defer the action.
    pub defers: bool,
    /// What a hook can rewrite.
    pub rewrite: RewriteSupport,
    /// Whether a hook can add text to the model's context.
    pub context: bool,
    /// Whether the harness's settings accept a matcher for this event.
    pub matcher: bool,
    /// Where the payload contains the tool call.
    pub tool: ToolLocation,
    /// Time limit of a hook for this event, if it is shorter than the harness's default.
    pub deadline: Option<Duration>,
    /// Whether `install` registers a hook for the event.
    pub wiring: InstallWiring,
}

/// Effect of a deny for an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DenySupport {
    /// The action does not happen.
    Prevents,
    /// The action has already happened; the model reads the reason.
    Feedback,
    /// The harness ignores a deny.
    Impossible,
}

/// How the user is asked for approval for an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskSupport {
    /// The harness shows a working prompt of its own.
    Prompt,
    /// The harness cannot ask. The call waits for an approval in Tenterhook, and is denied if there is none.
    Wait,
    /// The event has nothing to approve.
    Never,
}

/// What a hook can rewrite for an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RewriteSupport {
    /// No rewrite is possible.
    Nothing,
    /// Arguments of the tool.
    ToolInput,
    /// Output of the tool.
    ToolOutput,
    /// Output of the tool, for MCP tools only.
    McpOutput,
    /// The model request, or a synthetic response in its place.
    ModelRequest,
    /// The model's response.
    ModelResponse,
    /// Tools that the model may call.
    ToolSelection,
}

/// Where a payload contains the tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolLocation {
    /// At the paths in [`PayloadKeys`].
    Keys,
    /// At the paths in [`PayloadKeys`]; the tool always belongs to an MCP server.
    Mcp,
    /// The event is for one tool only, and fields of the payload are the tool's arguments.
    Fields {
        /// Name of the tool.
        name: &'static str,
        /// Payload fields that are arguments.
        args: &'static [&'static str],
    },
}

/// Whether `install` registers a hook for an event, and what happens if the hook fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstallWiring {
    /// The hook is registered. If it fails, the harness must deny.
    Guard,
    /// The hook is registered. If it fails, the harness continues.
    Watch,
    /// The hook is not registered. Contains the reason.
    Skip(&'static str),
}

/// Returns the harness with this id.
pub fn find_harness(id: &str) -> Option<&'static Harness> {
    HARNESSES.iter().find(|harness| harness.id == id)
}

// === impl Harness ===

impl Harness {
    /// Decodes a native payload.
    pub fn decode(&self, meta: &CallMeta, payload: &[u8]) -> Result<HookCall, DecodeError> {
        decode::decode(self, meta, payload)
    }

    /// Encodes an outcome as the harness's native reply.
    pub fn encode(&self, call: &HookCall, outcome: &Outcome) -> HookReply {
        let native = &call.event.native_event;
        match self.event(native).filter(|row| !is_only_recorded(row, call)) {
            Some(row) => (self.encode)(row, call, outcome),
            None => HookReply {
                lost: outcome_encoding::unsupported_parts(None, call, outcome),
                ..self.neutral(native)
            },
        }
    }

    /// Returns the reply to a payload that cannot be decoded. The reply denies wherever a deny prevents the action.
    pub fn refuse(&self, event_name: &str, why: &str) -> HookReply {
        (self.refuse)(self.event(event_name), why)
    }

    /// Returns the reply that means "no match". It is also used for a call whose rules could not be evaluated, if the
    /// settings allow such calls. The reply contains no text for the model.
    pub fn neutral(&self, event_name: &str) -> HookReply {
        HookReply { stdout: (self.neutral)(self.event(event_name)).to_owned(), ..HookReply::silent() }
    }

    /// Returns the path of the transcript file that a payload names.
    pub fn transcript_path(&self, payload: &Map<String, Value>) -> Option<String> {
        payload_keys::find_id(payload, self.keys.transcript)
    }

    /// Returns the time limit of a hook for this event; `None` if there is no limit or it is unknown.
    pub fn deadline(&self, event_name: &str) -> Option<Duration> {
        self.event(event_name).and_then(|row| row.deadline).or(self.deadline)
    }

    /// Returns the row of an event. `name` is the native name (`BeforeTool`), its kebab-case form (`before-tool`),
    /// Tenterhook's kind (`pre-tool`), or Claude Code's name for that kind (`pre-tool-use`).
    pub fn event(&self, name: &str) -> Option<&'static EventRow> {
        let by_kebab = |row: &&EventRow| row.has_kebab_name(name);
        self.event_by_native_name(name).or_else(|| self.events.iter().find(by_kebab)).or_else(|| {
            let claude =
                || claude_code::events::EVENTS.iter().find(|row| row.has_native_name(name) || by_kebab(row));
            let kind = name.parse().ok().or_else(|| Some(claude()?.kind))?;
            self.events.iter().find(|row| row.kind == kind && kind != EventKind::Other)
        })
    }

    /// Returns the row of the event with this native name.
    pub(crate) fn event_by_native_name(&self, native: &str) -> Option<&'static EventRow> {
        self.events.iter().find(|row| row.has_native_name(native))
    }
}

/// Returns whether `adapt` found that the event is not what its name says, such as a prompt without text in the
/// middle of a turn. Such an event is recorded without a decision. A gate ([`EventRow::is_gate`]) always gets a
/// decision.
fn is_only_recorded(row: &EventRow, call: &HookCall) -> bool {
    call.event.event == EventKind::Other && row.kind != EventKind::Other && !row.is_gate()
}

// === impl EventRow ===

impl EventRow {
    /// Creates a row without any capabilities, as the base of table entries.
    pub(crate) const fn new(native: &'static str, kind: EventKind) -> Self {
        Self {
            native,
            aliases: &[],
            kind,
            deny: DenySupport::Impossible,
            ask: AskSupport::Never,
            defers: false,
            rewrite: RewriteSupport::Nothing,
            context: false,
            matcher: false,
            tool: ToolLocation::Keys,
            deadline: None,
            wiring: InstallWiring::Watch,
        }
    }

    /// Returns whether the event is a gate: a deny prevents a tool from running.
    pub fn is_gate(&self) -> bool {
        self.deny == DenySupport::Prevents
            && matches!(self.kind, EventKind::PreTool | EventKind::PermissionRequest)
    }

    fn has_kebab_name(&self, name: &str) -> bool {
        let mut names = std::iter::once(&self.native).chain(self.aliases);
        names.any(|native| kebab_chars(native).eq(name.chars()))
    }

    fn has_native_name(&self, native: &str) -> bool {
        self.native == native || self.aliases.contains(&native)
    }
}

/// Converts a native name to kebab case: `PreToolUse` and `preToolUse` become `pre-tool-use`, `beforeMCPExecution`
/// becomes `before-mcp-execution`, `tool.execute.before` becomes `tool-execute-before`.
pub fn to_kebab_case(native: &str) -> String {
    kebab_chars(native).collect()
}

/// Returns the kebab-case characters of a name as an iterator. Every hook call looks up its event this way, so no
/// string is allocated.
fn kebab_chars(native: &str) -> impl Iterator<Item = char> {
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
