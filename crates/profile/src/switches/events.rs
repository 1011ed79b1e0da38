// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Events of each harness, and what a hook can do at each.

use tenterhook_event::EventKind;
use tenterhook_event::EventKind as On;

use super::Kind;

/// One event of one harness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventRow {
    /// The harness's name of the event.
    pub name: &'static str,
    /// Tenterhook's kind of the event.
    pub kind: EventKind,
    /// How the outputs of several hooks are merged.
    pub merge: Strategy,
    /// Whether a group's `matcher` is applied.
    pub matcher: bool,
    /// Effect of a hook's objection.
    pub deny: Deny,
    /// Whether `continue: false` stops the agent.
    pub stops: bool,
    /// Kinds of hooks that run at the event.
    pub kinds: &'static [Kind],
    /// Whether a failed hook can count as an objection if its entry asks for that.
    pub fail_closed: bool,
}

/// How the outputs of several hooks are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// Any objection counts, texts are joined (seed 002, "OR decision logic").
    OrDecision,
    /// Later fields replace earlier ones, `hookSpecificOutput` key by key.
    Replace,
    /// Modes and tool names are combined; other fields are dropped.
    ToolSelection,
    /// Later fields completely replace earlier ones.
    Simple,
    /// Claude Code's order: deny, defer, ask, allow; everything else is combined.
    Permission,
    /// Seed 003's order: block, retry, continue; modifications are merged.
    Actions,
}

/// Effect of a hook's objection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deny {
    /// The action does not happen, or its result is kept from the model.
    Prevents,
    /// The agent's turn ends.
    EndsTurn,
    /// None: the action has already happened, or the harness ignores it.
    Nothing,
}

/// LLxprt Code's and Gemini CLI's events.
pub(super) const GEMINI: &[EventRow] = &[
    EventRow { deny: Deny::Nothing, stops: false, ..gemini("SessionStart", On::SessionStart) }.matched(),
    gemini("BeforeAgent", On::Prompt),
    EventRow { merge: Strategy::Replace, ..gemini("BeforeModel", On::PreModel) },
    EventRow {
        merge: Strategy::ToolSelection,
        deny: Deny::Nothing,
        stops: false,
        ..gemini("BeforeToolSelection", On::ToolSelection)
    },
    EventRow { merge: Strategy::Replace, ..gemini("AfterModel", On::PostModel) },
    gemini("BeforeTool", On::PreTool).matched(),
    gemini("AfterTool", On::PostTool).matched(),
    advisory("Notification", On::Notification),
    advisory("PreCompress", On::PreCompact).matched(),
    gemini("AfterAgent", On::Stop),
    advisory("SessionEnd", On::SessionEnd).matched(),
];

/// Seed 003's events. An action that has already happened cannot be blocked.
pub(super) const A3S: &[EventRow] = &[
    a3s("SessionStart", On::SessionStart),
    a3s("GenerateStart", On::PreModel),
    a3s("GenerateEnd", On::PostModel),
    a3s("PreToolUse", On::PreTool),
    EventRow { deny: Deny::Nothing, ..a3s("PostToolUse", On::PostTool) },
    a3s("ToolError", On::ToolError),
    a3s("PermissionRequest", On::PermissionRequest),
    EventRow { deny: Deny::Nothing, ..a3s("PermissionGranted", On::PermissionGranted) },
    EventRow { deny: Deny::Nothing, ..a3s("PermissionDenied", On::PermissionDenied) },
    a3s("PreCompact", On::PreCompact),
    EventRow { deny: Deny::Nothing, ..a3s("PostCompact", On::PostCompact) },
    EventRow { deny: Deny::Nothing, ..a3s("ContextWarning", On::ContextWarning) },
    EventRow { deny: Deny::Nothing, ..a3s("SessionEnd", On::SessionEnd) },
];

// Claude Code runs all kinds of hooks, except at these events.
const ALL: &[Kind] = &[Kind::Command, Kind::Http, Kind::McpTool, Kind::Prompt, Kind::Agent];
const NO_AGENT: &[Kind] = &[Kind::Command, Kind::Http, Kind::McpTool, Kind::Prompt];
const NO_MODEL: &[Kind] = &[Kind::Command, Kind::Http, Kind::McpTool];
const LOCAL: &[Kind] = &[Kind::Command, Kind::McpTool];

/// Claude Code's events.
pub(super) const CLAUDE: &[EventRow] = &[
    EventRow { kinds: LOCAL, ..watch("Setup", On::Other) }.matched(),
    EventRow { kinds: LOCAL, ..watch("SessionStart", On::SessionStart) }.matched(),
    watch("InstructionsLoaded", On::Other).matched(),
    guard("UserPromptSubmit", On::Prompt),
    guard("UserPromptExpansion", On::Other).matched(),
    guard("PreToolUse", On::PreTool).matched(),
    EventRow { kinds: NO_AGENT, ..guard("PermissionRequest", On::PermissionRequest) }.matched(),
    EventRow { kinds: ALL, ..watch("PermissionDenied", On::PermissionDenied) }.matched(),
    guard("PostToolUse", On::PostTool).matched(),
    guard("PostToolUseFailure", On::ToolError).matched(),
    EventRow { deny: Deny::EndsTurn, ..guard("PostToolBatch", On::Other) },
    watch("Notification", On::Notification).matched(),
    watch("SubagentStart", On::SubagentStart).matched(),
    EventRow { fail_closed: false, ..guard("SubagentStop", On::SubagentStop) }.matched(),
    EventRow { kinds: NO_MODEL, ..guard("PreCompact", On::PreCompact) }.matched(),
    watch("PostCompact", On::PostCompact).matched(),
    EventRow { kinds: NO_MODEL, ..guard("PreModelSwitch", On::Other) }.matched(),
    watch("PostModelSwitch", On::Other).matched(),
    guard("TaskCreated", On::Other),
    EventRow { fail_closed: false, ..guard("TaskCompleted", On::Other) },
    EventRow { fail_closed: false, ..guard("TeammateIdle", On::Other) },
    EventRow { kinds: NO_MODEL, ..guard("Elicitation", On::Other) }.matched(),
    EventRow { kinds: NO_MODEL, ..guard("ElicitationResult", On::Other) }.matched(),
    EventRow { kinds: NO_MODEL, ..guard("ConfigChange", On::Other) }.matched(),
    watch("CwdChanged", On::Other),
    watch("DirectoryAdded", On::Other).matched(),
    watch("FileChanged", On::Other).matched(),
    EventRow { kinds: NO_MODEL, ..guard("WorktreeCreate", On::Other) },
    watch("WorktreeRemove", On::Other),
    watch("MessageDisplay", On::Other),
    EventRow { fail_closed: false, ..guard("Stop", On::Stop) },
    watch("StopFailure", On::Other).matched(),
    watch("SessionEnd", On::SessionEnd).matched(),
];

const fn gemini(name: &'static str, kind: EventKind) -> EventRow {
    EventRow {
        name,
        kind,
        merge: Strategy::OrDecision,
        matcher: false,
        deny: Deny::Prevents,
        stops: true,
        kinds: &[Kind::Command, Kind::Plugin, Kind::Runtime],
        fail_closed: false,
    }
}

const fn advisory(name: &'static str, kind: EventKind) -> EventRow {
    EventRow { merge: Strategy::Simple, deny: Deny::Nothing, stops: false, ..gemini(name, kind) }
}

const fn a3s(name: &'static str, kind: EventKind) -> EventRow {
    EventRow {
        name,
        kind,
        merge: Strategy::Actions,
        matcher: true,
        deny: Deny::Prevents,
        stops: false,
        kinds: &[Kind::Command],
        fail_closed: true,
    }
}

const fn guard(name: &'static str, kind: EventKind) -> EventRow {
    EventRow {
        name,
        kind,
        merge: Strategy::Permission,
        matcher: false,
        deny: Deny::Prevents,
        stops: true,
        kinds: ALL,
        fail_closed: true,
    }
}

const fn watch(name: &'static str, kind: EventKind) -> EventRow {
    EventRow { deny: Deny::Nothing, kinds: NO_MODEL, ..guard(name, kind) }
}

impl EventRow {
    const fn matched(self) -> Self {
        Self { matcher: true, ..self }
    }
}
