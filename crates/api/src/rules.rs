// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Rules, rule packs and drafts of rules.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenterhook_event::{Decision, Timestamp};

use crate::{AuthorityProof, EnforcementMode, PolicyValidation, RuleLayer};

/// A rule, with its state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RuleView {
    /// Id of the rule.
    pub id: String,
    /// Purpose of the rule.
    pub description: String,
    /// Whose rule it is.
    pub layer: RuleLayer,
    /// File of the rule.
    pub source: String,
    /// Line in the file.
    pub line: usize,
    /// Verdict of the rule.
    pub verdict: Decision,
    /// How bad it would be if the action happened.
    pub severity: RuleSeverity,
    /// Whether it is enforced.
    pub mode: EnforcementMode,
    /// Reason shown to the model.
    pub reason: Option<String>,
    /// Suggestion shown to the model.
    pub nudge: Option<String>,
    /// Whether it cannot be switched off or overridden.
    pub locked: bool,
    /// Whether it is switched off.
    pub disabled: bool,
    /// Whether it has expired.
    pub expired: bool,
    /// Time at which it expires.
    pub expires: Option<Timestamp>,
    /// Ids of rules that it overrides.
    pub overrides: Vec<String>,
}

/// How bad it would be if the action happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum RuleSeverity {
    /// A minor nuisance.
    Low,
    /// Worth a look.
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
    /// Rule packs and rules that are switched off.
    pub disabled: Vec<String>,
}

/// A rule pack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RulePack {
    /// Name of the rule pack.
    pub name: String,
    /// Purpose of the rule pack; null for a rule pack that was added.
    pub title: Option<String>,
    /// Whether it is on.
    pub on: bool,
    /// Where it was added from; null for a rule pack of the program.
    pub from: Option<String>,
    /// Number of its rules; null for a rule pack that was added.
    pub rules: Option<usize>,
}

/// A rule pack or rule to switch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RuleSwitchRequest {
    /// Name of a rule pack, or id of a rule.
    pub name: String,
    /// Whether it should be on.
    pub on: bool,
    /// Proof of the user; needed to switch off.
    #[serde(default)]
    pub proof: AuthorityProof,
}

/// What a rule is made from: `seq` and `want`, or `template`, or `rule`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RuleDraftRequest {
    /// Number of a decision's record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// What the rule should do with such calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub want: Option<RuleDraftGoal>,
    /// Name of a template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
    /// A rule in its parts, as in a rule file.
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

/// A rule, and the user's policy with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "RuleDraft"))]
pub struct DraftedRule {
    /// Ids of the rules.
    pub ids: Vec<String>,
    /// The rule in its parts; null if it was made from a template.
    pub rule: Value,
    /// The rule as an item of a list, in YAML.
    pub yaml: String,
    /// The user's policy.
    pub before: String,
    /// The user's policy with the rule; null if the rule cannot be used.
    pub text: Option<String>,
    /// Value of `If-Match` for the change.
    pub etag: String,
    /// Result of the check.
    pub validation: PolicyValidation,
}
