// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What differs between dialects, by name: one row each, nothing decided elsewhere.
//!
//! The rows for LLxprt Code and Gemini CLI were measured by running both engines; the cases are in
//! `tests/cases/llxprt_gemini.jsonl`.

/// What differs between dialects.
#[derive(Debug, Clone, Copy)]
pub struct Switches {
    /// The harness whose own payload such a hook gets byte for byte, when the event is its own.
    pub harness: Option<&'static str>,
    /// What a command line is handed to.
    pub shell: &'static [&'static str],
    /// The environment variables a hook gets, in the order they are set.
    pub env_names: &'static [(&'static str, EnvValue)],
    /// Whether `$NAME` of those variables is replaced in the command line before the shell reads it.
    pub substitute_project_dir: Substitute,
    /// How a matcher is read and what it is compared with.
    pub matcher: MatcherRules,
    /// What a bare number for a time means.
    pub time_unit: TimeUnit,
    /// Standard output is read at every exit code, and JSON there decides whatever the code.
    pub json_on_nonzero_exit: bool,
    /// Standard error stands in for a blank standard output, JSON and all.
    pub stderr_when_stdout_blank: bool,
    /// Which JSON values are an answer.
    pub json_values: JsonValues,
    /// Whether plain text is an answer too.
    pub plain_text: PlainText,
    /// Exit 2 with nothing said: the reason it denies with, or nothing when it does not deny.
    pub exit_two_without_stderr: Option<&'static str>,
    /// What exit 2 comes to beside what is printed.
    pub exit_two: ExitTwo,
    /// Native events at which exit 2 is not honoured.
    pub exit_two_ignored_at: &'static [&'static str],
    /// An answer of a shape that is not Claude Code's, or for another event, is dropped whole.
    pub strict_shape: bool,
    /// What text means at exit codes from 3 on.
    pub other_exit_with_text: OtherExit,
    /// The exit code by which the text of a hook that a signal ended is read.
    pub signal_read_as: i32,
    /// The exit code that is reported for a hook that a signal ended.
    pub signal_reported_as: Option<i32>,
    /// What `"decision": "ask"` comes to in the original's aggregate. Our own fold always asks.
    pub ask: Ask,
    /// `hookSpecificOutput.permissionDecision` counts at a tool call.
    pub permission_decision: bool,
    /// `allowedFunctionNames: []` means "no tool at all", not "no restriction".
    pub empty_tool_list_is_none: bool,
    /// A hook may print `{"async": true}` and go on in the background.
    pub detaches: bool,
    /// By what two hooks are known to be the same one.
    pub dedupe_key: DedupeKey,
}

/// What an environment variable carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnvValue {
    /// The project's root, or where the agent works when that is all we know.
    Project,
    /// The project's root, if known.
    KnownProject,
    /// Where the agent works.
    Cwd,
    /// The harness's id of the conversation.
    Session,
    /// Our kind of the event.
    Kind,
    /// The dialect's own name of the event.
    EventName,
}

/// How `$NAME` in a command line is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Substitute {
    /// Not at all: the shell does it.
    None,
    /// As it stands. A value the shell would read as more than a path is left to the shell.
    Raw,
    /// Quoted as npm's `shell-quote` does.
    Escaped,
}

/// How a matcher is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatcherRules {
    /// Names, lists, globs, `/regex/` and `class:…`, on tools only.
    Native,
    /// A list of exact names, or else a regular expression, on whatever the event is matched by.
    Claude,
    /// A regular expression on the tool, exact text on a session's source, reason or trigger.
    Llxprt,
    /// Exact tool name, path glob and command expression; see `Matcher::a3s`.
    A3s,
}

/// What a bare number for a time means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
}

/// Which JSON values are an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonValues {
    /// One object; text that does not start with `{` and end with `}` is never JSON.
    Object,
    /// Whatever JavaScript holds for true; a text is decoded once more.
    Truthy,
    /// Anything but `null`; a text is decoded once more.
    NotNull,
    /// Objects and lists; a text is decoded once more.
    Containers,
}

/// Whether plain text is an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainText {
    /// No: the reader of the dialect says what it means.
    NoAnswer,
    /// Yes: an allow with a message at exit 0, a warning at 1, a deny at 2.
    Answer,
}

/// What text means at exit codes from 3 on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherExit {
    /// The hook failed.
    Fails,
    /// A warning: it goes on.
    Warns,
    /// A deny.
    Denies,
}

/// What exit 2 comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitTwo {
    /// What is printed says: text denies, JSON decides by itself.
    AsPrinted,
    /// `{"decision": "block"}`, whatever is printed; a blocking reason in it is kept.
    Blocks,
    /// `{"action": "block"}`.
    BlocksByAction,
}

/// What `ask` comes to in the original's aggregate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    /// Nothing: the word is known and without effect.
    NoEffect,
    /// The same as `allow`.
    Allows,
    /// A person is asked.
    Asks,
}

/// By what two hooks are known to be the same one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DedupeKey {
    /// Never the same.
    Never,
    /// The command.
    Command,
    /// `name:command`, collisions included.
    NameAndCommand,
}

pub(super) const NATIVE: Switches = Switches {
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
    ask: Ask::Asks,
    permission_decision: false,
    empty_tool_list_is_none: false,
    detaches: false,
    dedupe_key: DedupeKey::Never,
};

pub(super) const CLAUDE: Switches = Switches {
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

/// LLxprt Code as seed 002 describes it (2026-02-19).
pub(super) const LLXPRT: Switches = Switches {
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
    ask: Ask::NoEffect,
    permission_decision: true,
    dedupe_key: DedupeKey::Command,
    ..NATIVE
};

/// LLxprt Code of 2026-08-20.
pub(super) const LLXPRT_2026_08: Switches = Switches {
    shell: &["bash", "-c"],
    env_names: &[("LLXPRT_PROJECT_DIR", EnvValue::Cwd)],
    substitute_project_dir: Substitute::Escaped,
    json_values: JsonValues::NotNull,
    exit_two_without_stderr: Some("Hook exited with code 2 without an error message"),
    ask: Ask::Allows,
    empty_tool_list_is_none: true,
    dedupe_key: DedupeKey::NameAndCommand,
    ..LLXPRT
};

/// Gemini CLI of 2026-08-21. Its `GEMINI_PLANS_DIR` is not set: nobody outside the client knows it.
pub(super) const GEMINI: Switches = Switches {
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
    ask: Ask::Asks,
    permission_decision: false,
    dedupe_key: DedupeKey::NameAndCommand,
    ..LLXPRT
};

/// A3S hooks as seed 003 describes them.
pub(super) const A3S: Switches = Switches {
    env_names: &[("A3S_WORKSPACE", EnvValue::Project), ("A3S_HOOK_EVENT", EnvValue::EventName)],
    exit_two: ExitTwo::BlocksByAction,
    matcher: MatcherRules::A3s,
    time_unit: TimeUnit::Milliseconds,
    ..NATIVE
};
