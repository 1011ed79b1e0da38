// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Folds findings into one outcome.
//!
//! Findings are sorted by priority, then by registration, with hooks before rules. The outcome depends only on the
//! findings and their order.

use tenterhook_event::{Attributed, Decision, Event, Finding, Flow, Modification, Outcome};

/// Folds findings into one outcome. The strictest decision applies; texts and modifications of all findings are kept.
pub fn fold(event: &Event, findings: &[Finding]) -> Outcome {
    let decision = findings.iter().map(|finding| finding.decision).max().unwrap_or_default();
    let deciding = || findings.iter().filter(move |finding| finding.decision == decision);
    let modifications: Vec<_> = findings.iter().flat_map(attribute_modifications).collect();
    Outcome {
        decision,
        flow: fold_flow(findings),
        reasons: match decision {
            Decision::None => Vec::new(),
            _ => deciding().filter_map(|finding| attribute_text(finding, finding.reason.as_ref())).collect(),
        },
        nudges: match decision {
            Decision::Deny => {
                deciding().filter_map(|finding| attribute_text(finding, finding.nudge.as_ref())).collect()
            }
            _ => Vec::new(),
        },
        tool_input: changed_tool_input(event, &modifications),
        modifications,
        context: findings
            .iter()
            .filter_map(|finding| attribute_text(finding, finding.context.as_ref()))
            .collect(),
        messages: findings
            .iter()
            .filter_map(|finding| attribute_text(finding, finding.message.as_ref()))
            .collect(),
        suppress_output: findings.iter().any(|finding| finding.suppress_output),
        retry_ms: None,
        trace: Vec::new(),
    }
}

/// Adds one finding to an outcome. A finding can only make the outcome stricter.
pub fn strengthen(mut outcome: Outcome, finding: Finding) -> Outcome {
    let by = finding.by;
    let attribute = |value: String| Attributed { by: by.clone(), value };
    if finding.decision > outcome.decision {
        outcome.decision = finding.decision;
        outcome.reasons.clear();
        outcome.nudges.clear();
    }
    if finding.decision == outcome.decision && outcome.decision > Decision::None {
        outcome.reasons.extend(finding.reason.map(attribute));
    }
    outcome.messages.extend(finding.message.map(attribute));
    outcome
}

/// Returns a copy of the event with its tool input replaced by `input`.
pub fn with_tool_input(event: &Event, input: &serde_json::Value) -> Event {
    let mut changed = event.clone();
    if let Some(tool) = &mut changed.tool {
        tool.args = input.clone();
    }
    changed
}

/// Returns the finding without its modifications.
pub fn without_modifications(mut finding: Finding) -> Finding {
    finding.modifications.clear();
    finding
}

fn fold_flow(findings: &[Finding]) -> Flow {
    let mut stops = findings.iter().filter_map(|finding| match &finding.flow {
        Flow::Stop { reason } => Some(reason),
        Flow::Go => None,
    });
    match stops.next() {
        None => Flow::Go,
        Some(first) => Flow::Stop { reason: first.clone().or_else(|| stops.find_map(Clone::clone)) },
    }
}

fn attribute_modifications(finding: &Finding) -> impl Iterator<Item = Attributed<Modification>> + '_ {
    finding.modifications.iter().map(|value| Attributed { by: finding.by.clone(), value: value.clone() })
}

fn attribute_text(finding: &Finding, text: Option<&String>) -> Option<Attributed<String>> {
    Some(Attributed { by: finding.by.clone(), value: text?.clone() })
}

/// Returns the tool input after all modifications; `None` if it is unchanged.
fn changed_tool_input(
    event: &Event,
    modifications: &[Attributed<Modification>],
) -> Option<serde_json::Value> {
    let requested = &event.tool.as_ref()?.args;
    let mut changes = modifications.iter().filter_map(|said| match &said.value {
        Modification::ToolInput { merge, value } => Some((*merge, value)),
        _ => None,
    });
    let first = changes.next()?;
    let mut input = requested.clone();
    for (merge, value) in std::iter::once(first).chain(changes) {
        merge.apply(&mut input, value);
    }
    (input != *requested).then_some(input)
}

#[cfg(test)]
mod tests;
