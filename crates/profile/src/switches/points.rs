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
    /// The `hooks` object of the A3S hook design (seed 003 in `docs/seeds.md`). Hooks that an SDK would register are
    /// a list.
    Registered,
}

/// How hooks of one event in several settings files are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayerMerge {
    /// The hooks of all files run.
    AddUp,
    /// The list of the later file replaces the list of the earlier file. Hooks of extensions are still added.
    ReplaceEvent,
}

/// Meaning of `enabled`, `disabled` and `notifications` under `hooks`, where they were before `hooksConfig` existed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LegacyKeys {
    /// The keys apply, unless `hooksConfig` sets them.
    Migrated,
    /// The keys are ignored.
    Ignored,
    /// The keys are treated as unknown event names.
    Unknown,
}

/// Conditions under which hooks run at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HookGate {
    /// Whether hooks run if no setting says anything.
    pub default: bool,
    /// Whether `tools.enableHooks: false` turns hooks off.
    pub enable_hooks: bool,
    /// Whether `hooksConfig.enabled` turns hooks on and off.
    pub hooks_config: bool,
    /// Whether `disableAllHooks: true` turns hooks off.
    pub disable_all: bool,
}

/// Order in which hooks run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookOrder {
    /// By source (runtime, settings, extensions), then in the order of the configuration. All settings files have the
    /// same source.
    Source,
    /// In the order of the configuration.
    Configured,
    /// Lower priority numbers first, then in the order of the configuration.
    Priority,
}

/// Properties that make two hooks duplicates if they are equal. Only the first of several duplicates runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DedupeRule {
    /// The command line of the hook.
    Command,
    /// Name and command, joined as `name:command`. As in the harnesses, `a:b`+`c` therefore collides with `a`+`b:c`.
    NameAndCommand,
    /// Everything that the hook runs. Copies from different extensions are not duplicates.
    Handler,
    /// Hooks are never duplicates.
    Never,
}

/// When the aggregate is considered a success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SuccessRule {
    /// No hook had an error.
    NoErrors,
    /// No hook had an error, and every hook succeeded.
    AllSucceeded,
}

/// How tool names of several hooks are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SelectNames {
    /// The sorted union. Missing lists and mode `NONE` result in an empty list.
    Union,
    /// The sorted intersection, in canonical spelling. If no hook has a list, the result has none.
    Intersection,
}

/// The field that contains the reason for a block or stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EffectiveReason {
    /// `reason`, or `stopReason` if there is no `reason`.
    ReasonFirst,
    /// `stopReason`, or `reason` if there is no `stopReason`.
    StopReasonFirst,
    /// `stopReason` whenever it is present. Even an empty `stopReason` hides `reason`.
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
    /// No changes, because hooks run in parallel.
    Nothing,
    /// All changes. A changed `tool_input` is used only if it is an object.
    Objects,
    /// All changes. A changed `tool_input` may have any type.
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
