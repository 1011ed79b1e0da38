// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The points at which the harnesses differ in more than yes or no.

/// A kind of hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Kind {
    Command,
    Http,
    Plugin,
    Runtime,
    Prompt,
    Agent,
    McpTool,
}

/// What a settings file looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// `hooks.<Event>[].hooks[]`, as Claude Code, Gemini CLI and LLxprt Code write it.
    Groups,
    /// Seed 003's `hooks` object, with the hooks an SDK would register as a list.
    Registered,
}

/// What becomes of one event's hooks when several settings files have some.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layers {
    /// They add up.
    AddUp,
    /// The later file's list replaces the earlier one's; extensions still add to it.
    ReplaceEvent,
}

/// What `enabled`, `disabled` and `notifications` mean inside `hooks`, where they used to stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Legacy {
    /// They count, unless `hooksConfig` says otherwise.
    Migrated,
    /// They are passed over.
    Ignored,
    /// They are no more than unknown event names.
    Unknown,
}

/// When hooks run at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gate {
    /// Without any setting.
    pub default: bool,
    /// Whether `tools.enableHooks: false` turns them off.
    pub enable_hooks: bool,
    /// Whether `hooksConfig.enabled` decides.
    pub hooks_config: bool,
    /// Whether `disableAllHooks: true` turns them off.
    pub disable_all: bool,
}

/// The order hooks are taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// By source (runtime, settings, extensions), then as configured. Settings of every layer carry
    /// one and the same source once merged.
    Source,
    /// As configured.
    Configured,
    /// Lower priority numbers first, then as configured.
    Priority,
}

/// What makes two hooks the same hook, of which only the first runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dedupe {
    /// Its command.
    Command,
    /// `name:command` as one text, so `a:b`+`c` is `a`+`b:c`: the originals have that collision.
    NameAndCommand,
    /// All that is run; copies from different extensions stay apart.
    Handler,
    /// Nothing: every registration counts.
    Never,
}

/// When the whole counts as a success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Success {
    /// No hook left an error.
    NoErrors,
    /// No hook left an error and every one succeeded.
    AllSucceeded,
}

/// Names of tools from several hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SelectNames {
    /// All of them, sorted; nothing said is an empty list, and so is mode `NONE`.
    Union,
    /// Those every list has, in canonical spelling, sorted; no list at all stays no list.
    Intersection,
}

/// Where the reason for a block or stop is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EffectiveReason {
    /// `reason`, else `stopReason`.
    ReasonFirst,
    /// `stopReason`, else `reason`.
    StopReasonFirst,
    /// `stopReason` whenever it is there: an empty one hides `reason`.
    StopReasonEvenEmpty,
}

/// How a hook's messages meet the contents of a model request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestText {
    /// Text is put into the entries it came from; parts that are no text stay.
    Merged,
    /// The contents are built anew; parts that are no text are lost.
    Rebuilt,
}

/// What the next hook of a sequential group sees of the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chain {
    /// Nothing: hooks run side by side.
    Nothing,
    /// What it changed; a `tool_input` only if it is an object.
    Objects,
    /// What it changed; a `tool_input` if it is anything at all.
    Anything,
}

// === impl Kind ===

impl Kind {
    /// The word in a settings file.
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
