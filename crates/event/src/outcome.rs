// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What comes out of the fold: one answer about one event.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Modification, Origin, Said, SelectionMode, Step};

/// A decision about the thing itself. The order is the precedence: the greatest found stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Decision {
    /// Nobody objected. Not the same as `allow`: the harness's own checks still apply.
    #[default]
    None,
    /// Somebody vouches for it; the harness may skip its own question.
    Allow,
    /// Put off: the harness ends here and lets somebody else take it up.
    Defer,
    /// A person has to say yes.
    Ask,
    /// It must not happen. At `stop` and `subagent-stop`: not finished yet.
    Deny,
}

/// Whether the agent goes on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Flow {
    /// It goes on.
    #[default]
    Go,
    /// It ends here.
    Stop {
        /// What the person is told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

/// The fold of all findings. Every part carries who said it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Outcome {
    /// About the thing itself.
    pub decision: Decision,
    /// About the agent going on.
    pub flow: Flow,
    /// Why, from everyone whose decision is the one that stands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Said<String>>,
    /// What the agent could do instead; only beside a deny.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nudges: Vec<Said<String>>,
    /// All that should be different, in the order it applies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modifications: Vec<Said<Modification>>,
    /// The tool input after all modifications, when it is not the one that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_input: Option<Value>,
    /// What the model should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<Said<String>>,
    /// What the person should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<Said<String>>,
    /// Keep the output from the person's eyes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub suppress_output: bool,
    /// tool-error: the tool should be tried again, this many milliseconds later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_ms: Option<u64>,
    /// Which hooks and rules ran, and what became of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<Step>,
}

// === impl Decision ===

impl Decision {
    /// The word on the wire.
    pub fn word(self) -> &'static str {
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
        f.pad(self.word())
    }
}

// === impl Outcome ===

impl Outcome {
    /// The reasons as one text, each said once, without any nudge.
    pub fn reason(&self) -> Option<String> {
        joined(&self.reasons, "\n")
    }

    /// The text a harness shows beside the decision.
    ///
    /// A deny that carries a nudge reads `<reason>\n\n→ Suggested: <nudge>`, to the byte: other
    /// tools look for `→ Suggested: `.
    pub fn reason_with_nudge(&self) -> Option<String> {
        let reason = self.reason();
        if self.decision != Decision::Deny {
            return reason;
        }
        match (reason, joined(&self.nudges, "; ")) {
            (Some(reason), Some(nudge)) => Some(format!("{reason}\n\n→ Suggested: {nudge}")),
            (reason, _) => reason,
        }
    }

    /// Everything the model should know, as one text.
    pub fn context_text(&self) -> Option<String> {
        joined(&self.context, "\n")
    }

    /// Everything the person should know, as one text.
    pub fn message_text(&self) -> Option<String> {
        joined(&self.messages, "\n")
    }

    /// The rule whose decision stands, if it was a rule's.
    pub fn deciding_rule(&self) -> Option<&str> {
        self.reasons.iter().find_map(|said| match &said.by {
            Origin::Rule(id) => Some(id.as_ref()),
            _ => None,
        })
    }

    /// Who decided: the rule if one did, else the hook, else Tenterhook itself. `None`: no decision.
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

    /// The last replacement of the tool's output, if any.
    pub fn tool_output(&self) -> Option<&Value> {
        self.modifications.iter().rev().find_map(|said| match &said.what {
            Modification::ToolOutput { value } => Some(value),
            _ => None,
        })
    }

    /// The last narrowing of the tools the model may choose from, if any.
    pub fn tool_selection(&self) -> Option<(SelectionMode, &[String])> {
        self.modifications.iter().rev().find_map(|said| match &said.what {
            Modification::ToolSelection { mode, allowed } => Some((*mode, allowed.as_slice())),
            _ => None,
        })
    }
}

fn joined(parts: &[Said<String>], separator: &str) -> Option<String> {
    let mut once: Vec<&str> = Vec::with_capacity(parts.len());
    for part in parts {
        if !once.contains(&part.what.as_str()) {
            once.push(&part.what);
        }
    }
    (!once.is_empty()).then(|| once.join(separator))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn denied(nudges: &[&str]) -> Outcome {
        let said = |text: &str| Said { by: Origin::rule("r"), what: text.to_owned() };
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
