// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Outcomes: all findings about one event, combined into one answer.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Attributed, Modification, Origin, SelectionMode, TraceEntry};

/// A decision about a tool call, a prompt or another action. Variants are ordered by strictness; the strictest
/// decision of all findings applies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Decision {
    /// No hook or rule decided. This differs from `allow`: the harness's own checks still apply.
    #[default]
    None,
    /// Allowed; the harness may skip its own permission prompt.
    Allow,
    /// Deferred: the harness ends the call and hands it over to an external handler.
    Defer,
    /// The user has to approve the action.
    Ask,
    /// Denied. For a `stop` or `subagent-stop` event this means that the agent has to continue.
    Deny,
}

/// Whether the agent may continue after this event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Flow {
    /// The agent continues.
    #[default]
    Go,
    /// The agent stops.
    Stop {
        /// Reason shown to the user.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

/// All findings about one event, combined into one answer. Each part names the hook or rule that produced it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Outcome {
    /// Decision about the tool call, prompt or other action.
    pub decision: Decision,
    /// Whether the agent may continue.
    pub flow: Flow,
    /// Reasons given by the findings whose decision applies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Attributed<String>>,
    /// Suggestions of what the agent could do instead; present only if the action is denied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nudges: Vec<Attributed<String>>,
    /// Modifications, in the order in which they are applied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modifications: Vec<Attributed<Modification>>,
    /// The tool input after all modifications; absent if it is unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_input: Option<Value>,
    /// Additional texts for the model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<Attributed<String>>,
    /// Messages for the user.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<Attributed<String>>,
    /// Whether the output is hidden from the user.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub suppress_output: bool,
    /// tool-error: delay in milliseconds after which the tool should be called again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_ms: Option<u64>,
    /// The hooks and rules that took part, and the result of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<TraceEntry>,
}

// === impl Decision ===

impl Decision {
    /// Returns the word for this decision in texts for users. [`Decision::as_str`] returns the name used in JSON.
    pub fn label(self) -> &'static str {
        match self {
            Self::None => "no match",
            Self::Allow => "allowed",
            Self::Defer => "deferred",
            Self::Ask => "asked",
            Self::Deny => "denied",
        }
    }

    /// Returns the label for a decision's JSON name. An unknown name is returned unchanged.
    pub fn label_of(name: &str) -> &str {
        let known = [Self::None, Self::Allow, Self::Defer, Self::Ask, Self::Deny];
        known.iter().find(|decision| decision.as_str() == name).map_or(name, |decision| decision.label())
    }

    /// Returns the name used in JSON and the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Allow => "allow",
            Self::Defer => "defer",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

// === impl Outcome ===

impl Outcome {
    /// Returns all reasons as one string, without duplicates and without suggestions.
    pub fn reason(&self) -> Option<String> {
        join_unique(&self.reasons, "\n")
    }

    /// Returns the text that a harness shows with the decision.
    ///
    /// If a denied call has a suggestion, the text is exactly `<reason>\n\n→ Suggested: <nudge>`, byte for byte:
    /// other tools search for `→ Suggested: `.
    pub fn reason_with_nudge(&self) -> Option<String> {
        let reason = self.reason();
        if self.decision != Decision::Deny {
            return reason;
        }
        match (reason, join_unique(&self.nudges, "; ")) {
            (Some(reason), Some(nudge)) => Some(format!("{reason}\n\n→ Suggested: {nudge}")),
            (reason, _) => reason,
        }
    }

    /// Returns the additional texts for the model as one string.
    pub fn context_text(&self) -> Option<String> {
        join_unique(&self.context, "\n")
    }

    /// Returns the messages for the user as one string.
    pub fn message_text(&self) -> Option<String> {
        join_unique(&self.messages, "\n")
    }

    /// Returns the id of the rule that decided; `None` if no rule decided.
    pub fn deciding_rule(&self) -> Option<&str> {
        self.reasons.iter().find_map(|said| match &said.by {
            Origin::Rule(id) => Some(id.as_ref()),
            _ => None,
        })
    }

    /// Returns the origin of the decision: a rule if a rule decided, else a hook, else Tenterhook itself. Returns
    /// `None` if there is no decision.
    pub fn decided_by(&self) -> Option<&Origin> {
        let is = |wanted: fn(&Origin) -> bool| {
            self.reasons.iter().map(|said| &said.by).find(|by| wanted(by)).filter(|_| {
                matches!(self.decision, Decision::Allow | Decision::Defer | Decision::Ask | Decision::Deny)
            })
        };
        let hook_step = || {
            let step = self.trace.iter().find(|step| {
                step.decision == self.decision
                    && self.decision != Decision::None
                    && matches!(step.by, Origin::Hook(_))
            });
            step.map(|step| &step.by)
        };
        is(|by| matches!(by, Origin::Rule(_)))
            .or_else(|| is(|by| matches!(by, Origin::Hook(_))))
            .or_else(hook_step)
            .or_else(|| is(|by| matches!(by, Origin::Engine)))
    }

    /// Returns the tool output after all modifications; `None` if it is unchanged.
    pub fn tool_output(&self) -> Option<&Value> {
        self.modifications.iter().rev().find_map(|said| match &said.value {
            Modification::ToolOutput { value } => Some(value),
            _ => None,
        })
    }

    /// Returns the last restriction of the tools that the model may call.
    pub fn tool_selection(&self) -> Option<(SelectionMode, &[String])> {
        self.modifications.iter().rev().find_map(|said| match &said.value {
            Modification::ToolSelection { mode, allowed } => Some((*mode, allowed.as_slice())),
            _ => None,
        })
    }
}

fn join_unique(parts: &[Attributed<String>], separator: &str) -> Option<String> {
    let mut once: Vec<&str> = Vec::with_capacity(parts.len());
    for part in parts {
        if !once.contains(&part.value.as_str()) {
            once.push(&part.value);
        }
    }
    (!once.is_empty()).then(|| once.join(separator))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn denied(nudges: &[&str]) -> Outcome {
        let said = |text: &str| Attributed { by: Origin::rule("r"), value: text.to_owned() };
        Outcome {
            decision: Decision::Deny,
            reasons: vec![said("too much"), said("too much")],
            nudges: nudges.iter().map(|nudge| said(nudge)).collect(),
            ..Outcome::default()
        }
    }

    // seed: 001-054
    #[test]
    fn the_nudge_contract_holds_to_the_byte() {
        let text = denied(&["use trash"]).reason_with_nudge().unwrap();
        assert_eq!(text.as_bytes(), b"too much\n\n\xe2\x86\x92 Suggested: use trash");
    }

    #[test]
    fn without_a_deny_the_nudge_is_dropped() {
        let asked = Outcome { decision: Decision::Ask, ..denied(&["use trash"]) };
        assert_eq!(asked.reason_with_nudge().as_deref(), Some("too much"));
        assert_eq!(denied(&[]).reason_with_nudge().as_deref(), Some("too much"));
    }

    #[test]
    fn decisions_are_ordered_by_strictness() {
        use Decision::{Allow, Ask, Defer, Deny, None};
        let mut all = [Deny, None, Ask, Allow, Defer];
        all.sort();
        assert_eq!(all, [None, Allow, Defer, Ask, Deny]);
    }
}
