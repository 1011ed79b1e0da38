// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A compiled rule.

mod encoding;

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tenterhook_document::{Problem, Spot};
use tenterhook_event::{Decision, Timestamp};

use crate::budget::SpendBudget;
use crate::conditions::RuleMatcher;
use crate::source::SourceLayer;
pub(crate) use encoding::LazyWhen;

/// A compiled rule. Its fields are encoded one after the other in the compiled form. The id comes first, so that it
/// is known even if the rest cannot be decoded.
#[derive(Debug, Serialize, Deserialize)]
pub struct Rule {
    #[serde(with = "encoding::shared_text")]
    pub(crate) id: Arc<str>,
    pub(crate) description: String,
    pub(crate) severity: Severity,
    pub(crate) mode: RuleMode,
    pub(crate) layer: SourceLayer,
    pub(crate) source: String,
    pub(crate) line: usize,
    pub(crate) matcher: RuleMatcher,
    pub(crate) verdict: Decision,
    /// Verdict on unparsed text that mentions what the rule looks for; `None` ignores such text.
    pub(crate) unread: Option<Decision>,
    pub(crate) reason: Option<String>,
    pub(crate) nudge: Option<String>,
    pub(crate) when: Option<LazyWhen>,
    pub(crate) rewrite: Option<RewriteAction>,
    pub(crate) limit: Option<RuleLimit>,
    pub(crate) labels: Vec<String>,
    /// How long the labels last after the latest match, in milliseconds; `None` for the whole session.
    pub(crate) label_lifetime_ms: Option<u64>,
    pub(crate) expires: Option<Timestamp>,
    pub(crate) overrides: Vec<String>,
    pub(crate) locked: bool,
    /// Whether the rule also applies to commands that run on a build machine.
    pub(crate) build_machines: bool,
    /// Whether a question of the rule also applies to files that the call runs and the session did not write.
    pub(crate) project_scripts: bool,
    /// Number of the rule's file, if only the first matching rule of that file applies.
    pub(crate) first_of: Option<usize>,
    /// Whether the reason is fixed: no text of the rule may reach a model.
    pub(crate) fixed_reason: bool,
    /// Whether a snapshot of what the call would lose replaces the question to the user.
    pub(crate) takes_snapshot: bool,
}

/// Changes that a rule makes to a call.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RewriteAction {
    #[serde(with = "encoding::json_text")]
    pub(crate) set: Map<String, Value>,
    pub(crate) command: Option<String>,
}

/// The limit that has to be exceeded before a rule applies.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) enum RuleLimit {
    /// A number of matches of the rule.
    Matches(MatchLimit),
    /// An amount spent on models.
    Budget(SpendBudget),
}

/// How often a rule must match within a time window before it applies.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct MatchLimit {
    pub(crate) count: usize,
    pub(crate) window_ms: u64,
    /// Whether all sessions are counted together.
    pub(crate) shared: bool,
}

/// How much damage the action could do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Severity {
    /// Harmless, but a nuisance.
    Low,
    /// Worth a look.
    #[default]
    Medium,
    /// Hard to undo.
    High,
    /// Cannot be undone.
    Critical,
}

/// Whether a rule is enforced or only monitored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Mode"))]
pub enum RuleMode {
    /// The verdict applies.
    #[default]
    Enforce,
    /// The verdict is recorded and has no effect.
    Monitor,
}

// === impl Rule ===

impl Rule {
    /// Whether the rule's only effect is to shadow later rules of its file.
    pub(crate) fn only_shadows(&self) -> bool {
        self.first_of.is_some()
            && self.verdict == Decision::None
            && self.labels.is_empty()
            && self.rewrite.is_none()
            && !self.takes_snapshot
    }

    /// Returns the id of the rule, unique in the set.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns what the rule is for.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Returns how much damage the action could do.
    pub fn severity(&self) -> Severity {
        self.severity
    }

    /// Returns the verdict that applies when the rule matches.
    pub fn verdict(&self) -> Decision {
        self.verdict
    }

    /// Whether the rule is enforced or only monitored.
    pub fn mode(&self) -> RuleMode {
        self.mode
    }

    /// Whether the rule also applies to commands in pipelines, which run on a build machine.
    pub fn applies_on_build_machines(&self) -> bool {
        self.build_machines
    }

    /// Whether a question of the rule also applies to files that the call runs and the session did not write.
    pub fn asks_about_project_scripts(&self) -> bool {
        self.project_scripts
    }

    /// Returns the layer that the rule belongs to.
    pub fn layer(&self) -> SourceLayer {
        self.layer
    }

    /// Returns the name of the rule's file.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the line on which the rule begins in its file.
    pub fn line(&self) -> usize {
        self.line
    }

    /// Returns the reason shown to the agent and the user.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// Returns the suggestion for the agent: what to do instead.
    pub fn nudge(&self) -> Option<&str> {
        self.nudge.as_deref()
    }

    /// Whether the rule's question is replaced by a snapshot of what the call would lose, if that can be saved.
    pub fn takes_snapshot(&self) -> bool {
        self.takes_snapshot
    }

    /// Whether later layers are prevented from disabling or overriding the rule or setting it to monitor mode.
    pub fn locked(&self) -> bool {
        self.locked
    }

    /// Returns the time from which the rule is ignored.
    pub fn expires(&self) -> Option<Timestamp> {
        self.expires
    }

    /// Returns the ids of the rules that this rule overrides when it matches.
    pub fn overrides(&self) -> impl Iterator<Item = &str> {
        self.overrides.iter().map(String::as_str)
    }

    /// Returns the names of the MCP servers in the rule's conditions, without patterns.
    pub fn mcp_servers(&self) -> Vec<String> {
        let mut names = Vec::new();
        self.matcher.visit_all(&mut |matcher| {
            let servers = matcher.mcp.as_ref().and_then(|mcp| mcp.server.as_ref());
            names.extend(
                servers.into_iter().flat_map(|server| server.written.literal_names().map(str::to_owned)),
            );
        });
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Creates a problem about this rule, with its place in the rule file.
    pub fn problem(&self, message: String) -> Problem {
        let spot = Spot { line: self.line, column: 0 };
        Problem::new(&self.source, spot, message).about("rule", Some(self.id()))
    }

    /// Whether the rule reads or changes the session's state.
    pub fn is_stateful(&self) -> bool {
        let mut asks = false;
        self.matcher.visit_all(&mut |matcher| asks |= matcher.label.is_some());
        asks || self.limit.is_some() || !self.labels.is_empty()
    }

    /// Whether a condition looks at the groups of the account that runs the agent.
    pub(crate) fn uses_groups(&self) -> bool {
        let mut asks = false;
        self.matcher.visit_all(&mut |matcher| asks |= matcher.group.is_some());
        asks
    }

    /// Returns the budget that has to be used up before the rule applies.
    pub(crate) fn budget(&self) -> Option<&SpendBudget> {
        match &self.limit {
            Some(RuleLimit::Budget(budget)) => Some(budget),
            _ => None,
        }
    }

    /// Whether the rule has expired at this time.
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

// === impl RuleMode ===

impl fmt::Display for RuleMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Enforce => "enforce",
            Self::Monitor => "monitor",
        })
    }
}
