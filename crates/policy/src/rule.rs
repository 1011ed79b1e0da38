// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A compiled rule, as the rest of the program sees it.

mod encoding;

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tenterhook_document::{Problem, Spot};
use tenterhook_event::{Decision, Timestamp};

use crate::budget::Budget;
use crate::conditions::Matcher;
use crate::source::Layer;
pub(crate) use encoding::LazyWhen;

/// A compiled rule. Its encoding is the compiled form; the id comes first, so that it is known even where the
/// rest cannot be read.
#[derive(Debug, Serialize, Deserialize)]
pub struct Rule {
    #[serde(with = "encoding::shared_text")]
    pub(crate) id: Arc<str>,
    pub(crate) description: String,
    pub(crate) severity: Severity,
    pub(crate) mode: Mode,
    pub(crate) layer: Layer,
    pub(crate) source: String,
    pub(crate) line: usize,
    pub(crate) matcher: Matcher,
    pub(crate) verdict: Decision,
    /// What to say about an unread text that mentions what the rule looks for; `None` says nothing.
    pub(crate) unread: Option<Decision>,
    pub(crate) reason: Option<String>,
    pub(crate) nudge: Option<String>,
    pub(crate) when: Option<LazyWhen>,
    pub(crate) rewrite: Option<Rewrite>,
    pub(crate) limit: Option<Limit>,
    pub(crate) labels: Vec<String>,
    pub(crate) expires: Option<Timestamp>,
    pub(crate) overrides: Vec<String>,
    pub(crate) locked: bool,
    /// Which of the files it comes from, by number, if only the first rule of that file counts.
    pub(crate) first_of: Option<usize>,
    /// Nothing of the rule's own words may reach a model.
    pub(crate) fixed_words: bool,
}

/// What a call should be instead.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Rewrite {
    #[serde(with = "encoding::json_text")]
    pub(crate) set: Map<String, Value>,
    pub(crate) command: Option<String>,
}

/// What has to be used up before a rule speaks.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) enum Limit {
    /// A number of its matches.
    Matches(Matches),
    /// A budget.
    Budget(Budget),
}

/// How often a rule must have matched before it speaks.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Matches {
    pub(crate) count: usize,
    pub(crate) window_ms: u64,
    /// Whether all sessions are counted together.
    pub(crate) shared: bool,
}

/// How bad it would be if the thing happened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Severity {
    /// A nuisance.
    Low,
    /// Worth a look.
    #[default]
    Medium,
    /// Hard to undo.
    High,
    /// Cannot be undone.
    Critical,
}

/// Whether a rule decides or only watches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Mode {
    /// What the rule says counts.
    #[default]
    Enforce,
    /// What the rule would have said is recorded and changes nothing.
    Monitor,
}

// === impl Rule ===

impl Rule {
    /// Whether all it does is to keep the later rules of its file from being asked.
    pub(crate) fn lets_pass(&self) -> bool {
        self.first_of.is_some()
            && self.verdict == Decision::None
            && self.labels.is_empty()
            && self.rewrite.is_none()
    }

    /// Its name, unique in the set.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What it is for.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// How bad it would be.
    pub fn severity(&self) -> Severity {
        self.severity
    }

    /// What it says when it matches.
    pub fn verdict(&self) -> Decision {
        self.verdict
    }

    /// Whether it decides or only watches.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Whose rule it is.
    pub fn layer(&self) -> Layer {
        self.layer
    }

    /// The name of the file it comes from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The line of that file on which it begins.
    pub fn line(&self) -> usize {
        self.line
    }

    /// Why, for the agent and the person.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// What the agent could do instead.
    pub fn nudge(&self) -> Option<&str> {
        self.nudge.as_deref()
    }

    /// Whether nobody below may disable it, set it aside or have it only watch.
    pub fn locked(&self) -> bool {
        self.locked
    }

    /// From when on it is passed over.
    pub fn expires(&self) -> Option<Timestamp> {
        self.expires
    }

    /// The rules it sets aside when it matches.
    pub fn overrides(&self) -> impl Iterator<Item = &str> {
        self.overrides.iter().map(String::as_str)
    }

    /// The MCP servers that it names, patterns left out.
    pub fn mcp_servers(&self) -> Vec<String> {
        let mut names = Vec::new();
        self.matcher.each(&mut |matcher| {
            let servers = matcher.mcp.as_ref().and_then(|mcp| mcp.server.as_ref());
            names.extend(
                servers.into_iter().flat_map(|server| server.written.spelled_out().map(str::to_owned)),
            );
        });
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Something to say about it, with its place in its file.
    pub fn problem(&self, message: String) -> Problem {
        let spot = Spot { line: self.line, column: 0 };
        Problem::new(&self.source, spot, message).about("rule", Some(self.id()))
    }

    /// Whether what it says depends on, or changes, what is remembered of the session.
    pub fn is_stateful(&self) -> bool {
        let mut asks = false;
        self.matcher.each(&mut |matcher| asks |= matcher.label.is_some());
        asks || self.limit.is_some() || !self.labels.is_empty()
    }

    /// Whether it asks for the groups of the account that runs the agent.
    pub(crate) fn asks_for_groups(&self) -> bool {
        let mut asks = false;
        self.matcher.each(&mut |matcher| asks |= matcher.group.is_some());
        asks
    }

    /// What may be spent before it speaks.
    pub(crate) fn budget(&self) -> Option<&Budget> {
        match &self.limit {
            Some(Limit::Budget(budget)) => Some(budget),
            _ => None,
        }
    }

    /// Whether it is passed over at this moment.
    pub(crate) fn is_expired(&self, now: Timestamp) -> bool {
        self.expires.is_some_and(|expires| now >= expires)
    }
}

// === impl Severity ===

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        })
    }
}

// === impl Mode ===

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Enforce => "enforce",
            Self::Monitor => "monitor",
        })
    }
}
