// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The table of profiles. Every difference between harnesses is a named switch. No code outside this table checks
//! which profile is used.

mod events;
mod points;

pub use events::{MergeStrategy, ObjectionEffect, ProfileEvent};
pub use points::{
    ChainMode, DedupeRule, EffectiveReason, HookGate, HookKind, HookOrder, LayerMerge, LegacyKeys,
    RequestText, SelectNames, SettingsShape, SuccessRule,
};

use crate::SettingsSource;

/// A harness's way of planning and aggregating hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    /// Name in `--profile`.
    pub name: &'static str,
    /// One-sentence description for users.
    pub about: &'static str,
    /// Events of the harness.
    pub events: &'static [ProfileEvent],
    /// Whether event names are also accepted in snake case: `pre_tool_use` for `PreToolUse`.
    pub loose_event_names: bool,
    /// Format of settings files.
    pub shape: SettingsShape,
    /// Kinds of hooks that a settings file may have.
    pub kinds: &'static [HookKind],
    /// Order in which settings files are merged; later ones take precedence.
    pub layers: &'static [SettingsSource],
    /// How hooks of one event in several files are combined.
    pub merge_layers: LayerMerge,
    /// Whether lists of disabled hooks are merged. If not, the last list replaces the others.
    pub disabled_add_up: bool,
    /// Meaning of `hooks.enabled` and similar keys.
    pub legacy: LegacyKeys,
    /// Conditions under which hooks run at all.
    pub gate: HookGate,
    /// Unit of `timeout` in milliseconds.
    pub timeout_unit_ms: u32,
    /// Events for which one invalid entry makes the harness drop the whole file.
    pub bad_entry_drops_file: &'static [&'static str],
    /// Order in which hooks run.
    pub order: HookOrder,
    /// Properties that make two hooks duplicates if they are equal.
    pub dedupe: DedupeRule,
    /// When the aggregate is considered a success.
    pub success: SuccessRule,
    /// Whether `ask` is a decision between deny and allow. If not, it is equivalent to allow.
    pub ask: bool,
    /// Whether `suppressOutput` applies only if it is exactly `true`.
    pub suppress_strict: bool,
    /// Whether `clearContext: true` is kept regardless of later hooks.
    pub clear_context_stands: bool,
    /// How tool names of several hooks are combined.
    pub select_names: SelectNames,
    /// Which field has the reason for a block or stop.
    pub effective_reason: EffectiveReason,
    /// Whether `permissionDecision` and its reason are read for the event before a tool.
    pub permission_decision: bool,
    /// Whether `<` and `>` are escaped in text added to the context.
    pub escape_context: bool,
    /// Whether a stop after the model's response replaces that response.
    pub stop_becomes_response: bool,
    /// Whether a changed response without any part is treated as no change.
    pub response_needs_parts: bool,
    /// Whether the names of allowed tools are also written outside the tool configuration.
    pub names_beside_config: bool,
    /// How a hook's messages are merged into the contents of a model request.
    pub request_text: RequestText,
    /// Whether a hook's partial generation or tool configuration is merged with the original, as LLxprt's hook
    /// documentation (seed 002 in `docs/seeds.md`) says. If not, values that the hook omits are dropped.
    pub merge_partial_config: bool,
    /// Whether `ProcessedHookResult` joins the messages of all hooks and uses any `suppressOutput`, like the
    /// aggregate. If not, it uses only the first hook with a message.
    pub processed_joins: bool,
    /// Model to use if neither the hook nor the request names one.
    pub fallback_model: &'static str,
    /// Whether a model request is also passed in the format of LLxprt's hook documentation.
    pub seed_request: bool,
    /// Which changes the next hook of a sequential group receives.
    pub chain: ChainMode,
    /// Whether SessionStart, SessionEnd and PreCompress always fail over the message bus. They fail in LLxprt Code,
    /// which has no validator for them. LLxprt's hook documentation offers them, so its profile accepts them.
    pub bus_refuses_session_events: bool,
}

const DEFAULT_GEMINI_MODEL: &str = "gemini-2.5-flash";

/// LLxprt Code as documented in February 2026 (seed 002 in `docs/seeds.md`). The other profiles are based on this
/// one.
const LLXPRT: Profile = Profile {
    name: "llxprt",
    about: "LLxprt Code as seed 002 documents it",
    events: events::GEMINI,
    loose_event_names: false,
    shape: SettingsShape::Groups,
    kinds: &[HookKind::Command],
    layers: &[
        SettingsSource::Defaults,
        SettingsSource::User,
        SettingsSource::Project,
        SettingsSource::Local,
        SettingsSource::Flag,
        SettingsSource::System,
        SettingsSource::Extensions,
    ],
    merge_layers: LayerMerge::ReplaceEvent,
    disabled_add_up: false,
    legacy: LegacyKeys::Migrated,
    // The documentation never says that hooks have to be enabled.
    gate: HookGate { default: true, enable_hooks: true, hooks_config: true, disable_all: false },
    timeout_unit_ms: 1,
    bad_entry_drops_file: &[],
    order: HookOrder::Source,
    dedupe: DedupeRule::Command,
    // The documentation says: "True if all hooks succeeded".
    success: SuccessRule::AllSucceeded,
    ask: false,
    suppress_strict: false,
    clear_context_stands: false,
    select_names: SelectNames::Union,
    effective_reason: EffectiveReason::ReasonFirst,
    permission_decision: true,
    escape_context: false,
    stop_becomes_response: true,
    response_needs_parts: false,
    names_beside_config: true,
    request_text: RequestText::Rebuilt,
    merge_partial_config: true,
    processed_joins: true,
    fallback_model: DEFAULT_GEMINI_MODEL,
    seed_request: true,
    chain: ChainMode::Objects,
    bus_refuses_session_events: false,
};

/// Profiles of all supported harnesses.
pub const PROFILES: &[Profile] = &[
    Profile {
        name: "claude",
        about: "Claude Code",
        events: events::CLAUDE,
        kinds: &[HookKind::Command, HookKind::Http, HookKind::McpTool, HookKind::Prompt, HookKind::Agent],
        // Managed settings come last, because they take precedence.
        layers: &[
            SettingsSource::Extensions,
            SettingsSource::User,
            SettingsSource::Project,
            SettingsSource::Local,
            SettingsSource::Flag,
            SettingsSource::System,
        ],
        merge_layers: LayerMerge::AddUp,
        legacy: LegacyKeys::Unknown,
        gate: HookGate { default: true, enable_hooks: false, hooks_config: false, disable_all: true },
        timeout_unit_ms: 1000,
        bad_entry_drops_file: &["PreToolUse", "PermissionRequest"],
        order: HookOrder::Configured,
        dedupe: DedupeRule::Handler,
        success: SuccessRule::NoErrors,
        ask: true,
        suppress_strict: true,
        merge_partial_config: false,
        processed_joins: false,
        seed_request: false,
        stop_becomes_response: false,
        chain: ChainMode::Nothing,
        ..LLXPRT
    },
    LLXPRT,
    Profile {
        name: "llxprt-2026-08",
        about: "LLxprt Code as its code was in August 2026",
        kinds: &[HookKind::Command, HookKind::Plugin],
        gate: HookGate { default: false, enable_hooks: true, hooks_config: true, disable_all: false },
        dedupe: DedupeRule::NameAndCommand,
        suppress_strict: true,
        clear_context_stands: true,
        select_names: SelectNames::Intersection,
        effective_reason: EffectiveReason::StopReasonEvenEmpty,
        stop_becomes_response: false,
        merge_partial_config: false,
        processed_joins: false,
        seed_request: false,
        bus_refuses_session_events: true,
        ..LLXPRT
    },
    Profile {
        name: "gemini",
        about: "Gemini CLI as its code was in August 2026",
        kinds: &[HookKind::Command, HookKind::Plugin, HookKind::Runtime],
        merge_layers: LayerMerge::AddUp,
        disabled_add_up: true,
        legacy: LegacyKeys::Ignored,
        gate: HookGate { default: true, enable_hooks: false, hooks_config: true, disable_all: false },
        dedupe: DedupeRule::NameAndCommand,
        success: SuccessRule::NoErrors,
        ask: true,
        clear_context_stands: true,
        effective_reason: EffectiveReason::StopReasonFirst,
        permission_decision: false,
        escape_context: true,
        stop_becomes_response: false,
        response_needs_parts: true,
        names_beside_config: false,
        request_text: RequestText::Merged,
        fallback_model: "",
        merge_partial_config: false,
        processed_joins: false,
        seed_request: false,
        chain: ChainMode::Anything,
        ..LLXPRT
    },
    Profile {
        name: "a3s",
        about: "A3S Box as seed 003 designs it",
        events: events::A3S,
        loose_event_names: true,
        shape: SettingsShape::Registered,
        merge_layers: LayerMerge::AddUp,
        order: HookOrder::Priority,
        dedupe: DedupeRule::Never,
        success: SuccessRule::NoErrors,
        stop_becomes_response: false,
        merge_partial_config: false,
        processed_joins: false,
        seed_request: false,
        chain: ChainMode::Nothing,
        ..LLXPRT
    },
];

/// The profile with this name.
pub fn find_profile(name: &str) -> Option<&'static Profile> {
    PROFILES.iter().find(|profile| profile.name == name)
}

// === impl Profile ===

impl Profile {
    /// The event with this name.
    pub fn event(&self, name: &str) -> Option<&'static ProfileEvent> {
        let bare = name.replace('_', "");
        self.events.iter().find(|row| row.name == name).or_else(|| {
            self.events.iter().find(|row| self.loose_event_names && row.name.eq_ignore_ascii_case(&bare))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_and_events_are_found_by_name() {
        let names: Vec<_> = PROFILES.iter().map(|profile| profile.name).collect();
        assert_eq!(names, ["claude", "llxprt", "llxprt-2026-08", "gemini", "a3s"]);
        assert!(find_profile("seed").is_none());
        assert_eq!(find_profile("a3s").unwrap().event("pre_tool_use").unwrap().name, "PreToolUse");
        assert!(find_profile("claude").unwrap().event("pre_tool_use").is_none());
        assert_eq!(find_profile("claude").unwrap().events.len(), 33);
    }
}
