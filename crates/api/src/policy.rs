// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The policy: rules in force, changes, explanations and backtests.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenterhook_event::{Decision, Event, EventId, Outcome};

use crate::{AuthorityProof, FileProblem, RuleView};

/// Where an agent works.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PolicyQuery {
    /// Working directory of the agent; a project may have its own rules.
    pub cwd: Option<String>,
}

/// The rules in force.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PolicyView {
    /// Sources of rules.
    pub layers: Vec<PolicyLayer>,
    /// All rules, with their state.
    pub rules: Vec<RuleView>,
    /// Rules, hooks and settings that cannot be used.
    pub problems: Vec<FileProblem>,
    /// Problems that do not keep a rule from being used.
    pub warnings: Vec<FileProblem>,
    /// Files that changed and cannot be read; their previous content is in force.
    pub stale: Vec<FileProblem>,
    /// Name of the rules and hooks in force.
    pub generation: String,
    /// The user's own policy.
    pub own: PolicyText,
}

/// A source of rules.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PolicyLayer {
    /// Whose rules they are.
    pub layer: RuleLayer,
    /// File of the rules.
    pub source: String,
    /// The rule pack.
    pub pack: Option<String>,
    /// Whether it may allow.
    pub trusted: bool,
    /// Whether it is trusted, and why not.
    pub standing: String,
}

/// Whose rules they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum RuleLayer {
    /// Rule packs of the program.
    Baseline,
    /// Rules of the organisation.
    Organisation,
    /// Rules of the user.
    User,
    /// Rules of the project.
    Project,
}

/// Text of a policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PolicyText {
    /// Path of the file.
    pub path: String,
    /// The text; null if there is no file.
    pub text: Option<String>,
    /// Value of `If-Match` for a change.
    pub etag: String,
}

/// New text of the user's policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PolicyRequest {
    /// The whole text, in YAML.
    pub text: String,
    /// Proof of the user.
    #[serde(default)]
    pub proof: AuthorityProof,
}

/// A policy that was changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PolicyChanged {
    /// Value of `If-Match` for the next change.
    pub etag: String,
    /// Name of the rules and hooks in force.
    pub generation: String,
    /// Result of the check.
    pub validation: PolicyValidation,
}

/// Result of checking a policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PolicyValidation {
    /// Whether all of it can be used.
    pub ok: bool,
    /// Ids of its rules.
    pub rules: Vec<String>,
    /// Rules that cannot be used.
    pub problems: Vec<FileProblem>,
    /// Problems that do not keep a rule from being used.
    pub warnings: Vec<FileProblem>,
}

/// What to explain: exactly one of `event`, `command` and `tool`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ExplainRequest {
    /// A whole event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<Event>,
    /// A shell command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// A tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<ExplainTool>,
    /// Where it would run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Whether to list rules that do not match, too.
    #[serde(default)]
    pub all: bool,
}

/// A tool call to explain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ExplainTool {
    /// Name of the tool.
    pub name: String,
    /// Arguments of the tool.
    #[serde(default)]
    pub args: Value,
}

/// What the rules decide about an event, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Explanation {
    /// Verdict of all rules together.
    pub verdict: Decision,
    /// Id of the rule that decides.
    pub rule: Option<String>,
    /// Reason shown to the model.
    pub reason: Option<String>,
    /// Reason and suggestion, as a harness would show them.
    pub says: Option<String>,
    /// The whole outcome.
    pub outcome: Outcome,
    /// Number of rules that were evaluated.
    pub considered: usize,
    /// Result of each rule.
    pub rules: Vec<RuleExplanation>,
    /// Facts that the rules were evaluated on.
    pub facts: Value,
    /// Name of the rules and hooks in force.
    pub generation: String,
    /// The event that was evaluated.
    pub event: Event,
}

/// Result of one rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RuleExplanation {
    /// Id of the rule.
    pub rule: String,
    /// Whether it matches.
    pub matched: bool,
    /// Whether it counts: it is enforced, not expired and not overridden.
    pub counts: bool,
    /// Verdict of the rule.
    pub verdict: Decision,
    /// What it matches on, or which condition failed first; and why it does not count.
    pub why: String,
}

/// Rules to replay the ledger with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BacktestRequest {
    /// Text in place of the user's policy.
    pub text: String,
    /// Only events since then: `15m`, `24h`, `7d`, `2026-11-15` or `2026-11-15T08:00:00Z`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Only events before then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
}

/// Decisions that other rules would change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BacktestReport {
    /// Number of events that were evaluated.
    pub replayed: u64,
    /// Number of events with the same decision.
    pub same: u64,
    /// Decisions that would change, oldest first.
    pub differences: Vec<DecisionDifference>,
    /// Number of further differences, which are not listed.
    pub unnamed: u64,
    /// Differences by rule.
    pub by_rule: BTreeMap<String, RuleEffect>,
    /// Number of events that could not be replayed, by reason.
    pub left_out: BTreeMap<String, u64>,
    /// Number of events that were evaluated without the secrets in them.
    pub redacted: u64,
    /// Time that the replay took.
    pub took_ms: u64,
}

/// A decision that would change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DecisionDifference {
    /// Number of the record.
    pub seq: u64,
    /// Id of the event.
    pub id: EventId,
    /// The command, the path or the tool.
    pub what: String,
    /// The decision on record.
    pub was: Decision,
    /// Rule of the decision on record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was_by: Option<String>,
    /// The new decision.
    pub now: Decision,
    /// Rule of the new decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now_by: Option<String>,
}

/// Decisions that a rule would change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RuleEffect {
    /// Decisions that become stricter.
    pub stricter: u64,
    /// Decisions that become less strict.
    pub looser: u64,
}
