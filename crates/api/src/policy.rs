// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The policy: rules in force, changes, explanations and backtests.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenterhook_event::{Decision, Event, EventId, Outcome};

use crate::{AuthorityProof, FileProblem, RuleView};

/// Directory whose policy is requested.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PolicyQuery {
    /// Working directory of the agent. The project in this directory may have its own rules.
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
    /// Problems that do not prevent a rule from being used.
    pub warnings: Vec<FileProblem>,
    /// Files that changed and cannot be read; their previous content is in force.
    pub stale: Vec<FileProblem>,
    /// Identifier of the rules and hooks in force.
    pub generation: String,
    /// The user's own policy.
    pub own: PolicyText,
}

/// A source of rules.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PolicyLayer {
    /// Who the rules come from.
    pub layer: RuleLayer,
    /// File that contains the rules.
    pub source: String,
    /// Name of the rule pack.
    pub pack: Option<String>,
    /// Whether rules from this source may allow calls.
    pub trusted: bool,
    /// Whether the source is trusted, and if not, why.
    pub standing: String,
}

/// Who a rule comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum RuleLayer {
    /// Built-in rule packs.
    Baseline,
    /// The organisation's rules.
    Organisation,
    /// The user's rules.
    User,
    /// The project's rules.
    Project,
}

/// A policy file's text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PolicyText {
    /// Path of the file.
    pub path: String,
    /// The text; null if the file does not exist.
    pub text: Option<String>,
    /// Value to send in the `If-Match` header of a change.
    pub etag: String,
}

/// Request to replace the text of the user's policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PolicyRequest {
    /// The complete new text, in YAML.
    pub text: String,
    /// Proof that a user sends the request.
    #[serde(default)]
    pub proof: AuthorityProof,
}

/// Result of a policy change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PolicyChanged {
    /// Value to send in the `If-Match` header of the next change.
    pub etag: String,
    /// Identifier of the rules and hooks in force.
    pub generation: String,
    /// Result of checking the new text.
    pub validation: PolicyValidation,
}

/// Result of checking a policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PolicyValidation {
    /// Whether every entry of the policy can be used.
    pub ok: bool,
    /// Ids of the policy's rules.
    pub rules: Vec<String>,
    /// Rules that cannot be used.
    pub problems: Vec<FileProblem>,
    /// Problems that do not prevent a rule from being used.
    pub warnings: Vec<FileProblem>,
}

/// What to explain: exactly one of `event`, `command` and `tool`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ExplainRequest {
    /// A complete event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<Event>,
    /// A shell command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// A tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<ExplainTool>,
    /// Working directory of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Whether to include rules that do not match.
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
    /// Combined verdict of all rules.
    pub verdict: Decision,
    /// Id of the rule that decides.
    pub rule: Option<String>,
    /// Reason shown to the model.
    pub reason: Option<String>,
    /// Reason and suggestion, as a harness shows them.
    pub says: Option<String>,
    /// The complete outcome.
    pub outcome: Outcome,
    /// Number of rules that were evaluated.
    pub considered: usize,
    /// Result for each rule.
    pub rules: Vec<RuleExplanation>,
    /// Facts about the call that the rules were evaluated on.
    pub facts: Value,
    /// Identifier of the rules and hooks in force.
    pub generation: String,
    /// The event that was evaluated.
    pub event: Event,
}

/// Result for one rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RuleExplanation {
    /// Id of the rule.
    pub rule: String,
    /// Whether the rule matches.
    pub matched: bool,
    /// Whether the rule's verdict applies: the rule is enforced, has not expired and is not overridden.
    pub counts: bool,
    /// The rule's verdict.
    pub verdict: Decision,
    /// What the rule matched on, or which condition failed first. If the verdict does not apply, also the reason for
    /// that.
    pub why: String,
}

/// Request to evaluate recorded events with a different policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BacktestRequest {
    /// Policy text to use instead of the user's policy.
    pub text: String,
    /// Only events since this time: `15m`, `24h`, `7d`, `2026-11-15` or `2026-11-15T08:00:00Z`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Only events before this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
}

/// Decisions that the tested policy would change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BacktestReport {
    /// Number of events that were evaluated.
    pub replayed: u64,
    /// Number of events whose decision stays the same.
    pub same: u64,
    /// Decisions that would change, oldest first.
    pub differences: Vec<DecisionDifference>,
    /// Number of further differences that are not listed.
    pub unnamed: u64,
    /// Number of differences by rule.
    pub by_rule: BTreeMap<String, RuleEffect>,
    /// Number of events that could not be replayed, by reason.
    pub left_out: BTreeMap<String, u64>,
    /// Number of events whose secrets were redacted before evaluation.
    pub redacted: u64,
    /// Time that the replay took, in milliseconds.
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
    /// The command, path or tool.
    pub what: String,
    /// The recorded decision.
    pub was: Decision,
    /// Id of the rule behind the recorded decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was_by: Option<String>,
    /// The new decision.
    pub now: Decision,
    /// Id of the rule behind the new decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now_by: Option<String>,
}

/// Number of decisions that a rule would change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RuleEffect {
    /// Number of decisions that become stricter.
    pub stricter: u64,
    /// Number of decisions that become less strict.
    pub looser: u64,
}
