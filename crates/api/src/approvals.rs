// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Calls that wait for an approval.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenterhook_event::{Attributed, EventId, Timestamp};

use crate::AuthorityProof;

/// List of calls that wait for an approval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ApprovalList {
    /// The waiting calls.
    pub pending: Vec<Approval>,
}

/// A call that waits for an approval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Approval {
    /// Id of the event.
    pub id: EventId,
    /// Short name of the call, derived from the id, which commands accept in its place. It is for users only.
    #[serde(default)]
    pub name: String,
    /// SHA-256 of all other fields except the times and the short name. A request to approve the call must repeat it.
    pub digest: String,
    /// When the call started to wait.
    pub since: Timestamp,
    /// Time at which the call is denied if no user has answered.
    pub until: Timestamp,
    /// Id of the harness.
    pub source: String,
    /// The harness's own name for the event.
    pub event: String,
    /// Id of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Working directory of the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The user whose account runs the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Name of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Summary of the call in one line.
    pub wants: String,
    /// All arguments of the call, as they would be executed.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub args: Value,
    /// Rules and hooks that ask, each with its reason.
    pub reasons: Vec<Attributed<String>>,
}

impl Approval {
    /// Returns the call as text for an approver on another machine: JSON with all fields, whose keys are sorted. A signed
    /// answer is bound to the digest of this text.
    pub fn call_text(&self) -> String {
        serde_json::to_value(self).map(|value| value.to_string()).unwrap_or_default()
    }
}

/// A user's answer to a waiting call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ApprovalAnswer {
    /// Whether to approve or deny.
    pub answer: ApprovalVerdict,
    /// The `digest` of the approval that was shown to the user. Required to approve. If it is present, it must match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// What an approval covers.
    #[serde(default, rename = "for")]
    pub scope: ApprovalScope,
    /// A note to store in the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Proof that a user sends the request; required to approve.
    #[serde(default)]
    pub proof: AuthorityProof,
}

/// Whether the user approves or denies the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ApprovalVerdict {
    /// The call may run.
    Approve,
    /// The call may not run.
    Deny,
}

/// What an approval covers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ApprovalScope {
    /// Only this call.
    #[default]
    Once,
    /// All calls in the same session that the same rules ask about.
    Session,
    /// Every identical call from now on: an exception is added to the user's policy.
    Rule,
}

/// Response to an accepted answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ApprovalResult {
    /// Id of the event.
    pub id: EventId,
    /// The answer that was accepted.
    pub answer: ApprovalVerdict,
    /// What the approval covers; absent for a denial.
    #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
    pub scope: Option<ApprovalScope>,
    /// Id of the exception that was added to the policy; absent for a denial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<Option<String>>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_an_approval_names_its_scope_and_exception() {
        let id: EventId = "01JCQZ8W3N6R5T4V7X9Y2B1D00".parse().unwrap();
        let denied = ApprovalResult { id, answer: ApprovalVerdict::Deny, scope: None, rule: None };
        assert_eq!(serde_json::to_value(denied).unwrap(), json!({"id": id, "answer": "deny"}));
        let scope = Some(ApprovalScope::Once);
        let approved = ApprovalResult { id, answer: ApprovalVerdict::Approve, scope, rule: Some(None) };
        let expected = json!({"id": id, "answer": "approve", "for": "once", "rule": null});
        assert_eq!(serde_json::to_value(approved).unwrap(), expected);
    }
}
