// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Differences between harnesses with more than two values.

/// A kind of hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names are the keywords of settings files")]
pub enum HookKind {
    Command,
    Http,
    Plugin,
    Runtime,
    Prompt,
    Agent,
    McpTool,
}

/// Format of a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingsShape {
    /// `hooks.<Event>[].hooks[]`, the format of Claude Code, Gemini CLI and LLxprt Code.
    Groups,
    /// Seed 003's `hooks` object, with the hooks that an SDK would register as a list.
    Registered,
}

/// How hooks of one event in several settings files are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayerMerge {
    /// The hooks of all files run.
    AddUp,
    /// The later file's list replaces the earlier one's; extensions still add to it.
    ReplaceEvent,
}

/// Meaning of `enabled`, `disabled` and `notifications` in `hooks`, their former location.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LegacyKeys {
    /// They apply, unless `hooksConfig` sets them.
    Migrated,
    /// They are ignored.
    Ignored,
    /// They are unknown event names.
    Unknown,
}

/// Conditions under which hooks run at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HookGate {
    /// Whether they run without any setting.
    pub default: bool,
    /// Whether `tools.enableHooks: false` turns them off.
    pub enable_hooks: bool,
    /// Whether `hooksConfig.enabled` decides.
    pub hooks_config: bool,
    /// Whether `disableAllHooks: true` turns them off.
    pub disable_all: bool,
}

/// Order in which hooks run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookOrder {
    /// By source (runtime, settings, extensions), then as configured. Merged settings of all layers have the same source.
    Source,
    /// In the order of the configuration.
    Configured,
    /// Lower priority numbers first, then as configured.
    Priority,
}

/// What identifies duplicates of a hook, of which only the first runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DedupeRule {
    /// The command line of the hook.
    Command,
    /// Name and command, joined as `name:command`. As in the harnesses, `a:b`+`c` therefore collides with `a`+`b:c`.
    NameAndCommand,
    /// Everything that is run; copies from different extensions are separate.
    Handler,
    /// Hooks are never duplicates.
    Never,
}

/// When the aggregate counts as a success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SuccessRule {
    /// No hook had an error.
    NoErrors,
    /// No hook had an error, and every one succeeded.
    AllSucceeded,
}

/// How tool names of several hooks are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SelectNames {
    /// The union, sorted; missing lists and mode `NONE` give an empty list.
    Union,
    /// The intersection, in canonical spelling, sorted; without any list there is no list.
    Intersection,
}

/// Which field has the reason for a block or stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EffectiveReason {
    /// `reason`, otherwise `stopReason`.
    ReasonFirst,
    /// `stopReason`, otherwise `reason`.
    StopReasonFirst,
    /// `stopReason` whenever it is present: an empty one hides `reason`.
    StopReasonEvenEmpty,
}

/// How a hook's messages are merged into the contents of a model request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestText {
    /// Text is put into its original entries; parts without text are kept.
    Merged,
    /// The contents are rebuilt; parts without text are lost.
    Rebuilt,
}

/// Which changes the next hook of a sequential group receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChainMode {
    /// None: hooks run in parallel.
    Nothing,
    /// The changes; a `tool_input` only if it is an object.
    Objects,
    /// The changes; a `tool_input` of any type.
    Anything,
}

// === impl HookKind ===

impl HookKind {
    /// Keyword in a settings file.
    pub fn word(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Http => "http",
            Self::Plugin => "plugin",
            Self::Runtime => "runtime",
            Self::Prompt => "prompt",
            Self::Agent => "agent",
            Self::McpTool => "mcp_tool",
        }
    }
}
