// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Selects the events that a hook handles, according to the hook's dialect.
//!
//! When in doubt, a hook runs, because a guard that does not run cannot deny.

mod a3s;
mod glob;
mod pattern;
mod permission;
mod shell;

use tenterhook_event::{Event, EventKind as Kind, ToolClass};

pub use a3s::A3sMatcher;
pub use glob::GlobSyntaxError;
pub use pattern::PatternError;
pub use permission::{PermissionRule, permission_rule};

use super::HookDialect;
use super::switches::MatcherRules;
use glob::NameGlob;
use pattern::{HookPattern, PatternHit};

/// Why a matcher or permission rule cannot be parsed.
#[derive(Debug, thiserror::Error)]
pub enum MatcherError {
    /// A name glob or path glob is invalid.
    #[error(transparent)]
    Glob(#[from] GlobSyntaxError),
    /// The regular expression for tools is invalid.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// The regular expression for commands is invalid.
    #[error("invalid regular expression `{text}`: {source}")]
    CommandPattern {
        /// The expression as written.
        text: String,
        /// Cause of the error.
        source: PatternError,
    },
    /// `class:` names an unknown tool class.
    #[error("unknown class `{0}`; known: {known}", known = known_classes())]
    UnknownClass(String),
    /// The permission rule lacks its closing parenthesis.
    #[error("`{0}` has no `)` at its end")]
    UnclosedRule(String),
    /// There are several permission rules, or none.
    #[error("`{0}` is not one permission rule: `if` takes one, without `|`, `&&` or `,`")]
    NotOneRule(String),
}

fn known_classes() -> String {
    ToolClass::ALL.iter().map(|class| class.name()).collect::<Vec<_>>().join(", ")
}

/// Why a hook does not run for an event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Mismatch(pub String);

/// Selects the events that a hook handles.
#[derive(Debug, Clone)]
pub struct EventMatcher {
    /// The matcher as written, for messages.
    text: String,
    test: MatcherTest,
}

#[derive(Debug, Clone)]
enum MatcherTest {
    All,
    /// Tests on the tool, written in the native syntax.
    Tool(Vec<ToolTest>),
    /// Exact names, compared with the subject that Claude Code uses for the event.
    ClaudeNames(Vec<String>),
    /// A regular expression, searched in the subject that Claude Code uses for the event.
    ClaudePattern(HookPattern),
    /// LLxprt Code's matcher. For tools it is a regular expression, and for everything else the exact text. If the
    /// text is not a valid expression, the exact text is used for both.
    Llxprt(Option<HookPattern>),
    A3s(Box<a3s::CompiledA3sMatcher>),
}

#[derive(Debug, Clone)]
enum ToolTest {
    Name(NameGlob),
    Class(ToolClass),
    Pattern(HookPattern),
}

impl HookDialect {
    /// Parses a matcher. Also returns a warning if there is a problem with the matcher.
    pub fn matcher(&self, text: Option<&str>) -> (EventMatcher, Option<String>) {
        let text = text.map(str::trim).unwrap_or_default();
        let (test, warning) = match (text, self.switches.matcher) {
            ("" | "*", _) => (MatcherTest::All, None),
            (_, MatcherRules::Native) => native(text),
            (_, MatcherRules::Claude) => claude(text),
            (_, MatcherRules::Llxprt) => match HookPattern::javascript(text) {
                Ok(pattern) => (MatcherTest::Llxprt(Some(pattern)), None),
                Err(why) => (MatcherTest::Llxprt(None), Some(exact_only(text, &why))),
            },
            (_, MatcherRules::A3s) => (MatcherTest::A3s(Box::new(a3s::CompiledA3sMatcher::tool(text))), None),
        };
        (EventMatcher { text: text.to_owned(), test }, warning)
    }
}

fn exact_only(text: &str, why: &PatternError) -> String {
    format!("invalid regular expression `{text}` ({why}): only that exact name matches")
}

/// Returns whether the text has only characters that may occur in a list of names. Any other character makes it a
/// regular expression.
fn is_list(text: &str) -> bool {
    text.chars().all(|letter| letter.is_ascii_alphanumeric() || "_- ,|".contains(letter))
}

fn claude(text: &str) -> (MatcherTest, Option<String>) {
    if is_list(text) {
        let names = text.split(['|', ',']).map(str::trim).filter(|name| !name.is_empty());
        let names: Vec<_> = names.map(ToOwned::to_owned).collect();
        let warning = names.is_empty().then(|| format!("`{text}` contains no name, so nothing matches"));
        return (MatcherTest::ClaudeNames(names), warning);
    }
    match HookPattern::javascript(text) {
        Ok(pattern) => (MatcherTest::ClaudePattern(pattern), None),
        Err(why) => (MatcherTest::ClaudeNames(vec![text.to_owned()]), Some(exact_only(text, &why))),
    }
}

fn native(text: &str) -> (MatcherTest, Option<String>) {
    let expression = text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
    let tests: Result<Vec<_>, MatcherError> = match expression {
        Some(expression) => {
            HookPattern::plain(expression).map(|pattern| vec![ToolTest::Pattern(pattern)]).map_err(Into::into)
        }
        None => text.split('|').map(|part| tool_test(part.trim())).collect(),
    };
    match tests {
        Ok(tests) => {
            // Tool names never contain these characters, so a glob with them would silently match nothing.
            let looks_like_one = text.contains(['^', '$', '(', '+', '\\']) || text.contains(".*");
            let warning = (expression.is_none() && looks_like_one).then(|| {
                format!("`{text}` looks like a regular expression; write `/{text}/` if it is meant as one")
            });
            (MatcherTest::Tool(tests), warning)
        }
        // An invalid matcher matches every event. If it matched none, a guard would never run.
        Err(why) => (
            MatcherTest::All,
            Some(format!("invalid matcher `{text}` ({why}): the hook runs at every event")),
        ),
    }
}

fn tool_test(part: &str) -> Result<ToolTest, MatcherError> {
    let Some(class) = part.strip_prefix("class:") else { return Ok(ToolTest::Name(NameGlob::new(part)?)) };
    let known = ToolClass::from_name(class).ok_or_else(|| MatcherError::UnknownClass(class.to_owned()));
    known.map(ToolTest::Class)
}

// === impl EventMatcher ===

impl EventMatcher {
    /// Returns a matcher that matches every event.
    pub fn all() -> Self {
        Self { text: String::new(), test: MatcherTest::All }
    }

    /// Creates an A3S matcher. Invalid patterns are errors: if a pattern were read differently than intended, a guard
    /// would be missing.
    pub fn a3s(matcher: &A3sMatcher) -> Result<Self, MatcherError> {
        Ok(Self {
            text: matcher.to_string(),
            test: MatcherTest::A3s(Box::new(a3s::CompiledA3sMatcher::new(matcher)?)),
        })
    }

    /// Checks whether the hook runs for this event; the error is the reason why it does not.
    pub fn admits(&self, event: &Event) -> Result<(), Mismatch> {
        self.evaluate(event).map(|_| ())
    }

    /// Checks like [`EventMatcher::admits`]. Also returns a note if the hook runs only because evaluating the pattern
    /// took too long.
    pub fn evaluate(&self, event: &Event) -> Result<Option<String>, Mismatch> {
        match &self.test {
            MatcherTest::All => Ok(None),
            MatcherTest::Tool(tests) => self.tool(tests, event),
            MatcherTest::ClaudeNames(names) => match claude_subject(event) {
                Some((what, subject)) if !names.iter().any(|name| name == subject) => {
                    Err(self.mismatch(what, subject))
                }
                _ => Ok(None),
            },
            MatcherTest::ClaudePattern(pattern) => match claude_subject(event) {
                Some((what, subject)) => self.hit_result(pattern.find(subject), what, subject),
                None => Ok(None),
            },
            MatcherTest::Llxprt(pattern) => match (llxprt_subject(event), pattern) {
                (Some((what @ "tool", subject)), Some(pattern)) => {
                    self.hit_result(pattern.find(subject), what, subject)
                }
                (Some((what, subject)), _) if subject != self.text => Err(self.mismatch(what, subject)),
                _ => Ok(None),
            },
            MatcherTest::A3s(compiled) => compiled.evaluate(event),
        }
    }

    fn tool(&self, tests: &[ToolTest], event: &Event) -> Result<Option<String>, Mismatch> {
        let Some(tool) = &event.tool else {
            return Err(Mismatch(format!("the event has no tool, and the matcher is `{}`", self.text)));
        };
        let hits = tests.iter().map(|test| match test {
            ToolTest::Name(glob) => PatternHit::from(glob.matches(&tool.name)),
            ToolTest::Class(class) => PatternHit::from(tool.class == *class),
            ToolTest::Pattern(pattern) => pattern.find(&tool.name),
        });
        self.hit_result(hits.max().unwrap_or(PatternHit::No), "tool", &tool.name)
    }

    fn hit_result(&self, hit: PatternHit, what: &str, subject: &str) -> Result<Option<String>, Mismatch> {
        match hit {
            PatternHit::Yes => Ok(None),
            PatternHit::GaveUp => {
                Ok(Some(format!("matching `{}` on `{subject}` takes too long, so the hook runs", self.text)))
            }
            PatternHit::No => Err(self.mismatch(what, subject)),
        }
    }

    fn mismatch(&self, what: &str, subject: &str) -> Mismatch {
        Mismatch(format!("the {what} is `{subject}`, not `{}`", self.text))
    }
}

/// Returns the value that Claude Code compares with a matcher. If there is none, every hook runs.
fn claude_subject(event: &Event) -> Option<(&'static str, &str)> {
    let (what, subject) = match event.event {
        kind if kind.concerns_tool() => ("tool", event.tool.as_ref().map(|tool| tool.name.as_str())),
        Kind::SessionStart => ("source", event.detail.cause.as_deref()),
        Kind::SessionEnd => ("reason", event.detail.cause.as_deref()),
        Kind::PreCompact | Kind::PostCompact => ("trigger", event.detail.cause.as_deref()),
        Kind::Notification => ("type", event.detail.cause.as_deref()),
        Kind::SubagentStart | Kind::SubagentStop => ("agent", event.agent.kind.as_deref()),
        _ => return None,
    };
    subject.map(|subject| (what, subject))
}

/// Returns the value that LLxprt Code and Gemini CLI compare with a matcher. Other events ignore matchers.
fn llxprt_subject(event: &Event) -> Option<(&'static str, &str)> {
    let (what, subject) = match event.event {
        kind if kind.concerns_tool() => ("tool", event.tool.as_ref().map(|tool| tool.name.as_str())),
        Kind::SessionStart => ("source", event.detail.cause.as_deref()),
        Kind::SessionEnd => ("reason", event.detail.cause.as_deref()),
        Kind::PreCompact => ("trigger", event.detail.cause.as_deref()),
        _ => return None,
    };
    subject.map(|subject| (what, subject))
}

#[cfg(test)]
mod tests;
