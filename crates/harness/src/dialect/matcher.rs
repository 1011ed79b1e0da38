// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Which events a hook is for, by the rules of its dialect.
//!
//! When in doubt a hook runs: a guard that is not asked cannot refuse.

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

use super::Dialect;
use super::switches::MatcherRules;
use glob::NameGlob;
use pattern::{Hit, Pattern};

/// A matcher or a permission rule that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum MatcherError {
    /// A name or path.
    #[error(transparent)]
    Glob(#[from] GlobSyntaxError),
    /// A regular expression on the tool.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// A regular expression on commands.
    #[error("`{text}` cannot be read as a regular expression: {source}")]
    CommandPattern {
        /// As it was written.
        text: String,
        /// What is wrong with it.
        source: PatternError,
    },
    /// `class:` with a name that is not one of the tool classes.
    #[error("`{0}` is no class; known: {known}", known = known_classes())]
    UnknownClass(String),
    /// A permission rule that does not end.
    #[error("`{0}` has no `)` at its end")]
    UnclosedRule(String),
    /// Several permission rules, or none.
    #[error("`{0}` is not one permission rule: `if` takes one, without `|`, `&&` or `,`")]
    NotOneRule(String),
}

fn known_classes() -> String {
    ToolClass::ALL.iter().map(|class| class.name()).collect::<Vec<_>>().join(", ")
}

/// Why a hook is not for an event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Mismatch(pub String);

/// Which events a hook is for.
#[derive(Debug, Clone)]
pub struct Matcher {
    /// As it was written, for people.
    text: String,
    test: Test,
}

#[derive(Debug, Clone)]
enum Test {
    All,
    /// Our own words, about the tool.
    Tool(Vec<ToolTest>),
    /// Exactly one of these, compared with what Claude Code matches the event by.
    ClaudeNames(Vec<String>),
    /// A regular expression on the same.
    ClaudePattern(Pattern),
    /// LLxprt Code's: the pattern is for tools, the text for everything else. Without a pattern
    /// the text is for both.
    Llxprt(Option<Pattern>),
    A3s(Box<a3s::Compiled>),
}

#[derive(Debug, Clone)]
enum ToolTest {
    Name(NameGlob),
    Class(ToolClass),
    Pattern(Pattern),
}

impl Dialect {
    /// Reads a matcher, and says what is wrong with it, if something is.
    pub fn matcher(&self, text: Option<&str>) -> (Matcher, Option<String>) {
        let text = text.map(str::trim).unwrap_or_default();
        let (test, warning) = match (text, self.switches.matcher) {
            ("" | "*", _) => (Test::All, None),
            (_, MatcherRules::Native) => native(text),
            (_, MatcherRules::Claude) => claude(text),
            (_, MatcherRules::Llxprt) => match Pattern::javascript(text) {
                Ok(pattern) => (Test::Llxprt(Some(pattern)), None),
                Err(why) => (Test::Llxprt(None), Some(exact_only(text, &why))),
            },
            (_, MatcherRules::A3s) => (Test::A3s(Box::new(a3s::Compiled::tool(text))), None),
        };
        (Matcher { text: text.to_owned(), test }, warning)
    }
}

fn exact_only(text: &str, why: &PatternError) -> String {
    format!("`{text}` cannot be read as a regular expression ({why}): only that exact name matches")
}

/// Letters of a list of names; anything else makes it a regular expression.
fn is_list(text: &str) -> bool {
    text.chars().all(|letter| letter.is_ascii_alphanumeric() || "_- ,|".contains(letter))
}

fn claude(text: &str) -> (Test, Option<String>) {
    if is_list(text) {
        let names = text.split(['|', ',']).map(str::trim).filter(|name| !name.is_empty());
        let names: Vec<_> = names.map(ToOwned::to_owned).collect();
        let warning = names.is_empty().then(|| format!("`{text}` names nothing, so nothing matches"));
        return (Test::ClaudeNames(names), warning);
    }
    match Pattern::javascript(text) {
        Ok(pattern) => (Test::ClaudePattern(pattern), None),
        Err(why) => (Test::ClaudeNames(vec![text.to_owned()]), Some(exact_only(text, &why))),
    }
}

fn native(text: &str) -> (Test, Option<String>) {
    let expression = text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
    let tests: Result<Vec<_>, MatcherError> = match expression {
        Some(expression) => {
            Pattern::plain(expression).map(|pattern| vec![ToolTest::Pattern(pattern)]).map_err(Into::into)
        }
        None => text.split('|').map(|part| tool_test(part.trim())).collect(),
    };
    match tests {
        Ok(tests) => {
            // No tool has such letters in its name, so it would silently never match.
            let looks_like_one = text.contains(['^', '$', '(', '+', '\\']) || text.contains(".*");
            let warning = (expression.is_none() && looks_like_one).then(|| {
                format!("`{text}` looks like a regular expression; write `/{text}/` if it is meant as one")
            });
            (Test::Tool(tests), warning)
        }
        // Nobody meant "never" by a matcher that cannot be read.
        Err(why) => {
            (Test::All, Some(format!("`{text}` is no matcher ({why}): the hook runs at every event")))
        }
    }
}

fn tool_test(part: &str) -> Result<ToolTest, MatcherError> {
    let Some(class) = part.strip_prefix("class:") else { return Ok(ToolTest::Name(NameGlob::new(part)?)) };
    let known = ToolClass::from_name(class).ok_or_else(|| MatcherError::UnknownClass(class.to_owned()));
    known.map(ToolTest::Class)
}

// === impl Matcher ===

impl Matcher {
    /// A matcher that admits every event.
    pub fn all() -> Self {
        Self { text: String::new(), test: Test::All }
    }

    /// A3S's matcher. What cannot be read is an error: a pattern taken for something else would be
    /// a guard that is not there.
    pub fn a3s(matcher: &A3sMatcher) -> Result<Self, MatcherError> {
        Ok(Self { text: matcher.to_string(), test: Test::A3s(Box::new(a3s::Compiled::new(matcher)?)) })
    }

    /// Whether the hook is for this event; if not, why not.
    pub fn admits(&self, event: &Event) -> Result<(), Mismatch> {
        self.weigh(event).map(|_| ())
    }

    /// Like [`Matcher::admits`], with a note when the event is admitted only because the pattern
    /// took too long to tell.
    pub fn weigh(&self, event: &Event) -> Result<Option<String>, Mismatch> {
        match &self.test {
            Test::All => Ok(None),
            Test::Tool(tests) => self.tool(tests, event),
            Test::ClaudeNames(names) => match claude_subject(event) {
                Some((what, subject)) if !names.iter().any(|name| name == subject) => {
                    Err(self.not(what, subject))
                }
                _ => Ok(None),
            },
            Test::ClaudePattern(pattern) => match claude_subject(event) {
                Some((what, subject)) => self.hit(pattern.find(subject), what, subject),
                None => Ok(None),
            },
            Test::Llxprt(pattern) => match (llxprt_subject(event), pattern) {
                (Some((what @ "tool", subject)), Some(pattern)) => {
                    self.hit(pattern.find(subject), what, subject)
                }
                (Some((what, subject)), _) if subject != self.text => Err(self.not(what, subject)),
                _ => Ok(None),
            },
            Test::A3s(compiled) => compiled.weigh(event),
        }
    }

    fn tool(&self, tests: &[ToolTest], event: &Event) -> Result<Option<String>, Mismatch> {
        let Some(tool) = &event.tool else {
            return Err(Mismatch(format!("there is no tool, and it is for `{}`", self.text)));
        };
        let hits = tests.iter().map(|test| match test {
            ToolTest::Name(glob) => Hit::from(glob.matches(&tool.name)),
            ToolTest::Class(class) => Hit::from(tool.class == *class),
            ToolTest::Pattern(pattern) => pattern.find(&tool.name),
        });
        self.hit(hits.max().unwrap_or(Hit::No), "tool", &tool.name)
    }

    fn hit(&self, hit: Hit, what: &str, subject: &str) -> Result<Option<String>, Mismatch> {
        match hit {
            Hit::Yes => Ok(None),
            Hit::GaveUp => Ok(Some(format!("`{}` takes too long on `{subject}`, so it is run", self.text))),
            Hit::No => Err(self.not(what, subject)),
        }
    }

    fn not(&self, what: &str, subject: &str) -> Mismatch {
        Mismatch(format!("the {what} is `{subject}`, not `{}`", self.text))
    }
}

/// What Claude Code compares a matcher with. An event without such a thing runs every hook.
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

/// What LLxprt Code and Gemini CLI compare a matcher with: at every other event it is ignored.
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
