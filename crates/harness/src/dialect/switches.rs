// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Differences between dialects, one row of named switches for each.
//!
//! The rows for LLxprt Code and Gemini CLI were measured by running both engines; the cases are in
//! `tests/cases/llxprt_gemini.jsonl`.

/// Differences between dialects.
#[derive(Debug, Clone, Copy)]
pub struct DialectSwitches {
    /// Harness whose native payload such a hook receives byte for byte.
    pub harness: Option<&'static str>,
    /// Program and options to which a command line is passed.
    pub shell: &'static [&'static str],
    /// Environment variables of a hook, in the order in which they are set.
    pub env_names: &'static [(&'static str, EnvValue)],
    /// How `$NAME` of those variables is replaced in the command line before the shell reads it.
    pub substitute_project_dir: Substitute,
    /// Syntax and subject of matchers.
    pub matcher: MatcherRules,
    /// Unit of a bare number for a timeout.
    pub time_unit: TimeUnit,
    /// Whether standard output is read at every exit code, with JSON taking precedence over the code.
    pub json_on_nonzero_exit: bool,
    /// Whether standard error is read, including as JSON, if standard output is blank.
    pub stderr_when_stdout_blank: bool,
    /// JSON values that count as output.
    pub json_values: JsonValues,
    /// Whether plain text counts as output.
    pub plain_text: PlainText,
    /// Reason with which exit 2 without text denies; `None` if it does not deny.
    pub exit_two_without_stderr: Option<&'static str>,
    /// Effect of exit 2, depending on the printed output.
    pub exit_two: ExitTwo,
    /// Native events that ignore exit 2.
    pub exit_two_ignored_at: &'static [&'static str],
    /// Whether output is dropped if its format is not Claude Code's, or if it names another event.
    pub strict_shape: bool,
    /// Meaning of text at exit codes from 3 on.
    pub other_exit_with_text: OtherExit,
    /// Exit code that is assumed for the text of a hook that was ended by a signal.
    pub signal_read_as: i32,
    /// Exit code that is reported for a hook that was ended by a signal.
    pub signal_reported_as: Option<i32>,
    /// Meaning of `"decision": "ask"` in the original's aggregate. Tenterhook's engine always asks.
    pub ask: AskSemantics,
    /// Whether `hookSpecificOutput.permissionDecision` is supported at tool calls.
    pub permission_decision: bool,
    /// Whether `allowedFunctionNames: []` means "no tools" instead of "no restriction".
    pub empty_tool_list_is_none: bool,
    /// Whether a hook may print `{"async": true}` and continue in the background.
    pub detaches: bool,
    /// What identifies duplicates of a hook.
    pub dedupe_key: DedupeKey,
}

/// Value of an environment variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnvValue {
    /// Project root, or the working directory if the root is unknown.
    Project,
    /// Project root, if known.
    KnownProject,
    /// Working directory of the agent.
    Cwd,
    /// The harness's id of the conversation.
    Session,
    /// Tenterhook's kind of the event.
    Kind,
    /// The dialect's name of the event.
    EventName,
}

/// How `$NAME` in a command line is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Substitute {
    /// Not replaced: the shell expands the variable.
    None,
    /// Replaced without quoting. A value that the shell could parse as code is left to the shell.
    Raw,
    /// Replaced with quoting as in npm's `shell-quote`.
    Escaped,
}

/// Syntax and subject of a matcher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatcherRules {
    /// Names, lists, globs, `/regex/` and `class:…`, compared with tools only.
    Native,
    /// A list of exact names, otherwise a regular expression, compared with the event's own subject.
    Claude,
    /// A regular expression on the tool; exact text on the source, reason or trigger of other events.
    Llxprt,
    /// Exact tool name, path glob and command expression; see `EventMatcher::a3s`.
    A3s,
}

/// Unit of a bare number for a timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// Time limits in seconds.
    Seconds,
    /// Time limits in milliseconds.
    Milliseconds,
}

/// JSON values that count as output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonValues {
    /// One object; text that does not start with `{` and end with `}` is never JSON.
    Object,
    /// Values that are truthy in JavaScript; a string is decoded once more.
    Truthy,
    /// Any value except `null`; a string is decoded once more.
    NotNull,
    /// Objects and lists; a string is decoded once more.
    Containers,
}

/// Whether plain text counts as output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainText {
    /// Not handled in general: the dialect's reader decides.
    NoAnswer,
    /// An allow with a message at exit 0, a warning at 1, a deny at 2.
    Answer,
}

/// Meaning of text at exit codes from 3 on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherExit {
    /// The hook failed.
    Fails,
    /// A warning; the action proceeds.
    Warns,
    /// The call is denied.
    Denies,
}

/// Effect of exit 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitTwo {
    /// Depends on the output: text denies, JSON decides.
    AsPrinted,
    /// `{"decision": "block"}` in any case; a printed reason to block is kept.
    Blocks,
    /// `{"action": "block"}` in any case.
    BlocksByAction,
}

/// Meaning of `ask` in the original's aggregate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskSemantics {
    /// Accepted, but without effect.
    NoEffect,
    /// The same as `allow`.
    Allows,
    /// The user is asked.
    Asks,
}

/// What identifies duplicates of a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DedupeKey {
    /// Hooks are never duplicates.
    Never,
    /// The command alone.
    Command,
    /// `name:command`, including collisions.
    NameAndCommand,
}

pub(super) const NATIVE: DialectSwitches = DialectSwitches {
    harness: None,
    shell: &["/bin/sh", "-c"],
    env_names: &[("TENTERHOOK_EVENT", EnvValue::Kind), ("TENTERHOOK_PROJECT", EnvValue::KnownProject)],
    substitute_project_dir: Substitute::None,
    matcher: MatcherRules::Native,
    time_unit: TimeUnit::Seconds,
    json_on_nonzero_exit: false,
    stderr_when_stdout_blank: false,
    json_values: JsonValues::Object,
    plain_text: PlainText::NoAnswer,
    exit_two_without_stderr: Some(super::NO_REASON),
    exit_two: ExitTwo::Blocks,
    exit_two_ignored_at: &[],
    strict_shape: false,
    other_exit_with_text: OtherExit::Fails,
    signal_read_as: 1,
    signal_reported_as: None,
    ask: AskSemantics::Asks,
    permission_decision: false,
    empty_tool_list_is_none: false,
    detaches: false,
    dedupe_key: DedupeKey::Never,
};

pub(super) const CLAUDE: DialectSwitches = DialectSwitches {
    harness: Some("claude-code"),
    env_names: &[("CLAUDE_PROJECT_DIR", EnvValue::Project)],
    matcher: MatcherRules::Claude,
    json_on_nonzero_exit: true,
    exit_two_ignored_at: &["PermissionRequest"],
    strict_shape: true,
    permission_decision: true,
    detaches: true,
    dedupe_key: DedupeKey::Command,
    ..NATIVE
};

/// LLxprt Code as described by seed 002 (2026-02-19).
pub(super) const LLXPRT: DialectSwitches = DialectSwitches {
    harness: Some("llxprt"),
    env_names: &[
        ("LLXPRT_PROJECT_DIR", EnvValue::Cwd),
        ("GEMINI_PROJECT_DIR", EnvValue::Cwd),
        ("CLAUDE_PROJECT_DIR", EnvValue::Cwd),
    ],
    substitute_project_dir: Substitute::Raw,
    matcher: MatcherRules::Llxprt,
    time_unit: TimeUnit::Milliseconds,
    json_values: JsonValues::Truthy,
    plain_text: PlainText::Answer,
    exit_two_without_stderr: None,
    exit_two: ExitTwo::AsPrinted,
    other_exit_with_text: OtherExit::Warns,
    signal_reported_as: Some(0),
    ask: AskSemantics::NoEffect,
    permission_decision: true,
    dedupe_key: DedupeKey::Command,
    ..NATIVE
};

/// LLxprt Code of 2026-08-20.
pub(super) const LLXPRT_2026_08: DialectSwitches = DialectSwitches {
    shell: &["bash", "-c"],
    env_names: &[("LLXPRT_PROJECT_DIR", EnvValue::Cwd)],
    substitute_project_dir: Substitute::Escaped,
    json_values: JsonValues::NotNull,
    exit_two_without_stderr: Some("Hook exited with code 2 without an error message"),
    ask: AskSemantics::Allows,
    empty_tool_list_is_none: true,
    dedupe_key: DedupeKey::NameAndCommand,
    ..LLXPRT
};

/// Gemini CLI of 2026-08-21. `GEMINI_PLANS_DIR` is not set, because only the client knows it.
pub(super) const GEMINI: DialectSwitches = DialectSwitches {
    harness: Some("gemini"),
    shell: &["bash", "-c"],
    env_names: &[
        ("GEMINI_PROJECT_DIR", EnvValue::Cwd),
        ("GEMINI_CWD", EnvValue::Cwd),
        ("GEMINI_SESSION_ID", EnvValue::Session),
        ("CLAUDE_PROJECT_DIR", EnvValue::Cwd),
    ],
    substitute_project_dir: Substitute::Escaped,
    json_on_nonzero_exit: true,
    stderr_when_stdout_blank: true,
    json_values: JsonValues::Containers,
    other_exit_with_text: OtherExit::Denies,
    signal_read_as: 0,
    ask: AskSemantics::Asks,
    permission_decision: false,
    dedupe_key: DedupeKey::NameAndCommand,
    ..LLXPRT
};

/// A3S hooks as described by seed 003.
pub(super) const A3S: DialectSwitches = DialectSwitches {
    env_names: &[("A3S_WORKSPACE", EnvValue::Project), ("A3S_HOOK_EVENT", EnvValue::EventName)],
    exit_two: ExitTwo::BlocksByAction,
    matcher: MatcherRules::A3s,
    time_unit: TimeUnit::Milliseconds,
    ..NATIVE
};
