// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Rules, rule packs and drafted rules.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenterhook_event::{Decision, Timestamp};

use crate::{AuthorityProof, EnforcementMode, PolicyValidation, RuleLayer};

/// A rule with its state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RuleView {
    /// Id of the rule.
    pub id: String,
    /// Purpose of the rule.
    pub description: String,
    /// Who the rule comes from.
    pub layer: RuleLayer,
    /// File that contains the rule.
    pub source: String,
    /// Line in the file.
    pub line: usize,
    /// The rule's verdict.
    pub verdict: Decision,
    /// How bad it would be if the guarded action happened.
    pub severity: RuleSeverity,
    /// Whether the rule is enforced.
    pub mode: EnforcementMode,
    /// Reason shown to the model.
    pub reason: Option<String>,
    /// Suggestion shown to the model.
    pub nudge: Option<String>,
    /// Whether the rule is locked: it cannot be disabled or overridden.
    pub locked: bool,
    /// Whether the rule is disabled.
    pub disabled: bool,
    /// Whether the rule has expired.
    pub expired: bool,
    /// When the rule expires.
    pub expires: Option<Timestamp>,
    /// Ids of the rules that this rule overrides.
    pub overrides: Vec<String>,
}

/// A rule as it is written in its file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WrittenRule {
    /// Id of the rule.
    pub id: String,
    /// File that contains the rule.
    pub source: String,
    /// Line in the file.
    pub line: usize,
    /// The rule's lines in the file; null if the file has changed since it was loaded.
    pub yaml: Option<String>,
    /// What the rule matches, in Markdown: one line for each alternative.
    pub matches: Vec<String>,
    /// What happens if a match is not certain, in Markdown.
    pub certainty: Vec<String>,
    /// Calls that the rule denies or asks about, in Markdown.
    pub dangerous: Vec<String>,
    /// Calls that the rule does not match, in Markdown.
    pub harmless: Vec<String>,
}

/// How bad it would be if the guarded action happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum RuleSeverity {
    /// A minor nuisance.
    Low,
    /// Worth a check.
    Medium,
    /// Hard to undo.
    High,
    /// Cannot be undone.
    Critical,
}

/// All rule packs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RulePackList {
    /// The rule packs.
    pub packs: Vec<RulePack>,
    /// Names of the rule packs and ids of the rules that are disabled.
    pub disabled: Vec<String>,
}

/// A rule pack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RulePack {
    /// Name of the rule pack.
    pub name: String,
    /// Purpose of the rule pack; null for an added rule pack.
    pub title: Option<String>,
    /// Whether the rule pack is enabled.
    pub on: bool,
    /// Where the rule pack was added from; null for a built-in rule pack.
    pub from: Option<String>,
    /// Number of rules in the rule pack; null for an added rule pack.
    pub rules: Option<usize>,
}

/// Request to enable or disable a rule pack or rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RuleSwitchRequest {
    /// Name of the rule pack or id of the rule.
    pub name: String,
    /// Whether to enable it.
    pub on: bool,
    /// Proof that a user sends the request; required to disable.
    #[serde(default)]
    pub proof: AuthorityProof,
}

/// What to draft a rule from: `seq` and `want`, or `template`, or `rule`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RuleDraftRequest {
    /// Number of the record of a decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// What the rule should do with calls like the recorded one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub want: Option<RuleDraftGoal>,
    /// Name of the template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
    /// The rule's fields, as in a rule file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<Value>,
}

/// What a rule should do with calls like a recorded one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum RuleDraftGoal {
    /// Deny such calls.
    Block,
    /// Allow such calls.
    Allow,
}

/// A drafted rule, and the user's policy before and after adding it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "RuleDraft"))]
pub struct DraftedRule {
    /// Ids of the drafted rules.
    pub ids: Vec<String>,
    /// The rule's fields; null if the rule was drafted from a template.
    pub rule: Value,
    /// The rule as a YAML list item.
    pub yaml: String,
    /// The user's policy without the rule.
    pub before: String,
    /// The user's policy with the rule; null if the rule cannot be used.
    pub text: Option<String>,
    /// Value to send in the `If-Match` header of the change.
    pub etag: String,
    /// Result of checking the policy with the rule.
    pub validation: PolicyValidation,
}
