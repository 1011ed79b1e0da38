// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Events of each harness, and what a hook can do for each event.

use tenterhook_event::EventKind;
use tenterhook_event::EventKind as On;

use super::HookKind;

/// One event of one harness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProfileEvent {
    /// The harness's name of the event.
    pub name: &'static str,
    /// Tenterhook's kind of the event.
    pub kind: EventKind,
    /// How the outputs of several hooks are merged.
    pub merge: MergeStrategy,
    /// Whether a group's `matcher` is applied.
    pub matcher: bool,
    /// Effect of a hook's objection.
    pub deny: ObjectionEffect,
    /// Whether `continue: false` stops the agent.
    pub stops: bool,
    /// Kinds of hooks that run for the event.
    pub kinds: &'static [HookKind],
    /// Whether a failed hook is treated as an objection if its entry requests that.
    pub fail_closed: bool,
}

/// How the outputs of several hooks are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeStrategy {
    /// Any objection applies, and texts are joined: "OR decision logic" in LLxprt's hook documentation (seed 002 in
    /// `docs/seeds.md`).
    OrDecision,
    /// Later fields replace earlier ones. `hookSpecificOutput` is merged key by key.
    Replace,
    /// Modes and tool names are combined; other fields are dropped.
    ToolSelection,
    /// Later fields completely replace earlier ones.
    Simple,
    /// The strictest decision applies, in Claude Code's order: deny, defer, ask, allow. Everything else is combined.
    Permission,
    /// The strictest action applies, in the order of the A3S hook design (seed 003 in `docs/seeds.md`): block, retry,
    /// continue. Modifications are merged.
    Actions,
}

/// Effect of a hook's objection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectionEffect {
    /// The action does not happen, or the model does not receive its result.
    Prevents,
    /// The agent's turn ends.
    EndsTurn,
    /// No effect: the action has already happened, or the harness ignores the objection.
    Nothing,
}

/// LLxprt Code's and Gemini CLI's events.
pub(super) const GEMINI: &[ProfileEvent] = &[
    ProfileEvent { deny: ObjectionEffect::Nothing, stops: false, ..gemini("SessionStart", On::SessionStart) }
        .matched(),
    gemini("BeforeAgent", On::Prompt),
    ProfileEvent { merge: MergeStrategy::Replace, ..gemini("BeforeModel", On::PreModel) },
    ProfileEvent {
        merge: MergeStrategy::ToolSelection,
        deny: ObjectionEffect::Nothing,
        stops: false,
        ..gemini("BeforeToolSelection", On::ToolSelection)
    },
    ProfileEvent { merge: MergeStrategy::Replace, ..gemini("AfterModel", On::PostModel) },
    gemini("BeforeTool", On::PreTool).matched(),
    gemini("AfterTool", On::PostTool).matched(),
    advisory("Notification", On::Notification),
    advisory("PreCompress", On::PreCompact).matched(),
    gemini("AfterAgent", On::Stop),
    advisory("SessionEnd", On::SessionEnd).matched(),
];

/// Events of the A3S hook design. An action that has already happened cannot be blocked.
pub(super) const A3S: &[ProfileEvent] = &[
    a3s("SessionStart", On::SessionStart),
    a3s("GenerateStart", On::PreModel),
    a3s("GenerateEnd", On::PostModel),
    a3s("PreToolUse", On::PreTool),
    ProfileEvent { deny: ObjectionEffect::Nothing, ..a3s("PostToolUse", On::PostTool) },
    a3s("ToolError", On::ToolError),
    a3s("PermissionRequest", On::PermissionRequest),
    ProfileEvent { deny: ObjectionEffect::Nothing, ..a3s("PermissionGranted", On::PermissionGranted) },
    ProfileEvent { deny: ObjectionEffect::Nothing, ..a3s("PermissionDenied", On::PermissionDenied) },
    a3s("PreCompact", On::PreCompact),
    ProfileEvent { deny: ObjectionEffect::Nothing, ..a3s("PostCompact", On::PostCompact) },
    ProfileEvent { deny: ObjectionEffect::Nothing, ..a3s("ContextWarning", On::ContextWarning) },
    ProfileEvent { deny: ObjectionEffect::Nothing, ..a3s("SessionEnd", On::SessionEnd) },
];

// Kinds of hooks that Claude Code runs. Most events run all kinds, some events run fewer.
const ALL: &[HookKind] =
    &[HookKind::Command, HookKind::Http, HookKind::McpTool, HookKind::Prompt, HookKind::Agent];
const NO_AGENT: &[HookKind] = &[HookKind::Command, HookKind::Http, HookKind::McpTool, HookKind::Prompt];
const NO_MODEL: &[HookKind] = &[HookKind::Command, HookKind::Http, HookKind::McpTool];
const LOCAL: &[HookKind] = &[HookKind::Command, HookKind::McpTool];

/// Claude Code's events.
pub(super) const CLAUDE: &[ProfileEvent] = &[
    ProfileEvent { kinds: LOCAL, ..watch("Setup", On::Other) }.matched(),
    ProfileEvent { kinds: LOCAL, ..watch("SessionStart", On::SessionStart) }.matched(),
    watch("InstructionsLoaded", On::Other).matched(),
    guard("UserPromptSubmit", On::Prompt),
    guard("UserPromptExpansion", On::Other).matched(),
    guard("PreToolUse", On::PreTool).matched(),
    ProfileEvent { kinds: NO_AGENT, ..guard("PermissionRequest", On::PermissionRequest) }.matched(),
    ProfileEvent { kinds: ALL, ..watch("PermissionDenied", On::PermissionDenied) }.matched(),
    guard("PostToolUse", On::PostTool).matched(),
    guard("PostToolUseFailure", On::ToolError).matched(),
    ProfileEvent { deny: ObjectionEffect::EndsTurn, ..guard("PostToolBatch", On::Other) },
    watch("Notification", On::Notification).matched(),
    watch("SubagentStart", On::SubagentStart).matched(),
    ProfileEvent { fail_closed: false, ..guard("SubagentStop", On::SubagentStop) }.matched(),
    ProfileEvent { kinds: NO_MODEL, ..guard("PreCompact", On::PreCompact) }.matched(),
    watch("PostCompact", On::PostCompact).matched(),
    ProfileEvent { kinds: NO_MODEL, ..guard("PreModelSwitch", On::Other) }.matched(),
    watch("PostModelSwitch", On::Other).matched(),
    guard("TaskCreated", On::Other),
    ProfileEvent { fail_closed: false, ..guard("TaskCompleted", On::Other) },
    ProfileEvent { fail_closed: false, ..guard("TeammateIdle", On::Other) },
    ProfileEvent { kinds: NO_MODEL, ..guard("Elicitation", On::Other) }.matched(),
    ProfileEvent { kinds: NO_MODEL, ..guard("ElicitationResult", On::Other) }.matched(),
    ProfileEvent { kinds: NO_MODEL, ..guard("ConfigChange", On::Other) }.matched(),
    watch("CwdChanged", On::Other),
    watch("DirectoryAdded", On::Other).matched(),
    watch("FileChanged", On::Other).matched(),
    ProfileEvent { kinds: NO_MODEL, ..guard("WorktreeCreate", On::Other) },
    watch("WorktreeRemove", On::Other),
    watch("MessageDisplay", On::Other),
    ProfileEvent { fail_closed: false, ..guard("Stop", On::Stop) },
    watch("StopFailure", On::Other).matched(),
    watch("SessionEnd", On::SessionEnd).matched(),
];

const fn gemini(name: &'static str, kind: EventKind) -> ProfileEvent {
    ProfileEvent {
        name,
        kind,
        merge: MergeStrategy::OrDecision,
        matcher: false,
        deny: ObjectionEffect::Prevents,
        stops: true,
        kinds: &[HookKind::Command, HookKind::Plugin, HookKind::Runtime],
        fail_closed: false,
    }
}

const fn advisory(name: &'static str, kind: EventKind) -> ProfileEvent {
    ProfileEvent {
        merge: MergeStrategy::Simple,
        deny: ObjectionEffect::Nothing,
        stops: false,
        ..gemini(name, kind)
    }
}

const fn a3s(name: &'static str, kind: EventKind) -> ProfileEvent {
    ProfileEvent {
        name,
        kind,
        merge: MergeStrategy::Actions,
        matcher: true,
        deny: ObjectionEffect::Prevents,
        stops: false,
        kinds: &[HookKind::Command],
        fail_closed: true,
    }
}

const fn guard(name: &'static str, kind: EventKind) -> ProfileEvent {
    ProfileEvent {
        name,
        kind,
        merge: MergeStrategy::Permission,
        matcher: false,
        deny: ObjectionEffect::Prevents,
        stops: true,
        kinds: ALL,
        fail_closed: true,
    }
}

const fn watch(name: &'static str, kind: EventKind) -> ProfileEvent {
    ProfileEvent { deny: ObjectionEffect::Nothing, kinds: NO_MODEL, ..guard(name, kind) }
}

impl ProfileEvent {
    const fn matched(self) -> Self {
        Self { matcher: true, ..self }
    }
}
