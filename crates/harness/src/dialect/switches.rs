// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The differences between dialects, as named switches with one row per dialect.
//!
//! The rows for LLxprt Code and Gemini CLI were measured by running both engines. The cases are in
//! `tests/cases/llxprt_gemini.jsonl`.

/// Describes how a dialect differs from other dialects.
#[derive(Debug, Clone, Copy)]
pub struct DialectSwitches {
    /// Harness whose native payload a hook of this dialect receives byte for byte.
    pub harness: Option<&'static str>,
    /// Shell program and options to which a command line is passed.
    pub shell: &'static [&'static str],
    /// Environment variables of a hook, in the order in which they are set.
    pub env_names: &'static [(&'static str, EnvValue)],
    /// How `$NAME` is replaced in the command line before the shell reads it. Only variables in `env_names` are
    /// replaced.
    pub substitute_project_dir: Substitute,
    /// Syntax of matchers, and what they are compared with.
    pub matcher: MatcherRules,
    /// Unit of a timeout that is given as a plain number.
    pub time_unit: TimeUnit,
    /// Whether standard output is read at every exit code. If so, JSON takes precedence over the exit code.
    pub json_on_nonzero_exit: bool,
    /// Whether standard error is read, including as JSON, if standard output contains only whitespace.
    pub stderr_when_stdout_blank: bool,
    /// JSON values that are accepted as output.
    pub json_values: JsonValues,
    /// Whether plain text is accepted as output.
    pub plain_text: PlainText,
    /// Reason for the deny if a hook exits with code 2 and prints no text; `None` if that exit does not deny.
    pub exit_two_without_stderr: Option<&'static str>,
    /// Effect of exit code 2, depending on the printed output.
    pub exit_two: ExitTwo,
    /// Native events for which exit code 2 is ignored.
    pub exit_two_ignored_at: &'static [&'static str],
    /// Whether output is ignored if it is not in Claude Code's format, or if it names another event.
    pub strict_shape: bool,
    /// Meaning of text with exit codes of 3 and above.
    pub other_exit_with_text: OtherExit,
    /// Exit code assumed for the text of a hook that was ended by a signal.
    pub signal_read_as: i32,
    /// Exit code reported for a hook that was ended by a signal.
    pub signal_reported_as: Option<i32>,
    /// Meaning of `"decision": "ask"` when the original client combines results. In Tenterhook's engine, `ask` always
    /// asks the user.
    pub ask: AskSemantics,
    /// Whether `hookSpecificOutput.permissionDecision` is supported for tool calls.
    pub permission_decision: bool,
    /// Whether `allowedFunctionNames: []` means "no tools" instead of "no restriction".
    pub empty_tool_list_is_none: bool,
    /// Whether a hook may print `{"async": true}` and continue in the background.
    pub detaches: bool,
    /// Properties that make two hooks duplicates if they are equal.
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
    /// Session id assigned by the harness.
    Session,
    /// Tenterhook's event kind.
    Kind,
    /// The dialect's name for the event.
    EventName,
}

/// How `$NAME` in a command line is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Substitute {
    /// `$NAME` is not replaced; the shell expands the variable.
    None,
    /// `$NAME` is replaced without quoting. A value that the shell could parse as code is left to the shell.
    Raw,
    /// `$NAME` is replaced with quoting, as in npm's `shell-quote`.
    Escaped,
}

/// Syntax of a matcher, and what it is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatcherRules {
    /// Names, lists, globs, `/regex/` and `class:…`, compared with tools only.
    Native,
    /// A list of exact names, or a regular expression. It is compared with a value that depends on the event.
    Claude,
    /// A regular expression for tools. For other events, exact text that is compared with the source, reason or
    /// trigger.
    Llxprt,
    /// Exact tool name, path glob and command expression; see `EventMatcher::a3s`.
    A3s,
}

/// Unit of a timeout that is given as a plain number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// Time limits in seconds.
    Seconds,
    /// Time limits in milliseconds.
    Milliseconds,
}

/// JSON values that are accepted as output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonValues {
    /// One object; text that does not start with `{` and end with `}` is never JSON.
    Object,
    /// Values that are truthy in JavaScript; a JSON string is parsed once more.
    Truthy,
    /// Any value except `null`; a JSON string is parsed once more.
    NotNull,
    /// Objects and lists; a JSON string is parsed once more.
    Containers,
}

/// Whether plain text is accepted as output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainText {
    /// Plain text is not handled in general; the dialect's reader decides.
    NoAnswer,
    /// Plain text is an allow with a message if the exit code is 0, a warning if it is 1, and a deny if it is 2.
    Answer,
}

/// Meaning of text with exit codes of 3 and above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherExit {
    /// The hook failed.
    Fails,
    /// A warning; the action proceeds.
    Warns,
    /// The call is denied.
    Denies,
}

/// Effect of exit code 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitTwo {
    /// The effect depends on the output: text denies, JSON decides.
    AsPrinted,
    /// The output is always `{"decision": "block"}`. A printed reason for a block is kept.
    Blocks,
    /// The output is always `{"action": "block"}`.
    BlocksByAction,
}

/// Meaning of `ask` when the original client combines results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskSemantics {
    /// Accepted, but without effect.
    NoEffect,
    /// The same as `allow`.
    Allows,
    /// The user is asked.
    Asks,
}

/// Properties that make two hooks duplicates if they are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DedupeKey {
    /// Hooks are never duplicates.
    Never,
    /// The command alone.
    Command,
    /// The string `name:command`. Different hooks can collide, as in the original client.
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

/// LLxprt Code as described in its documentation of 2026-02-19 (seed 002 in `docs/seeds.md`).
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

/// LLxprt Code as of 2026-08-20.
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

/// Gemini CLI as of 2026-08-21. `GEMINI_PLANS_DIR` is not set, because only the client knows that directory.
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

/// A3S hooks as described in the A3S hook design (seed 003 in `docs/seeds.md`).
pub(super) const A3S: DialectSwitches = DialectSwitches {
    env_names: &[("A3S_WORKSPACE", EnvValue::Project), ("A3S_HOOK_EVENT", EnvValue::EventName)],
    exit_two: ExitTwo::BlocksByAction,
    matcher: MatcherRules::A3s,
    time_unit: TimeUnit::Milliseconds,
    ..NATIVE
};
