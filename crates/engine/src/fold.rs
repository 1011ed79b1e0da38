// SPDX-License-Identifier: Apache-2.0 OR MIT

//! One pure, total fold of findings into an outcome.
//!
//! Findings come in (priority, registration) order, hooks before rules; the outcome depends on
//! that order and on nothing else.

use tenterhook_event::{Decision, Event, Finding, Flow, Modification, Outcome, Said};

/// Folds findings into one outcome. The strictest decision stands; everything else is collected.
pub fn fold(event: &Event, findings: &[Finding]) -> Outcome {
    let decision = findings.iter().map(|finding| finding.decision).max().unwrap_or_default();
    let deciding = || findings.iter().filter(move |finding| finding.decision == decision);
    let modifications: Vec<_> = findings.iter().flat_map(modifications).collect();
    Outcome {
        decision,
        flow: flow(findings),
        reasons: match decision {
            Decision::None => Vec::new(),
            _ => deciding().filter_map(|finding| said(finding, finding.reason.as_ref())).collect(),
        },
        nudges: match decision {
            Decision::Deny => {
                deciding().filter_map(|finding| said(finding, finding.nudge.as_ref())).collect()
            }
            _ => Vec::new(),
        },
        tool_input: tool_input(event, &modifications),
        modifications,
        context: findings.iter().filter_map(|finding| said(finding, finding.context.as_ref())).collect(),
        messages: findings.iter().filter_map(|finding| said(finding, finding.message.as_ref())).collect(),
        suppress_output: findings.iter().any(|finding| finding.suppress_output),
        retry_ms: None,
        trace: Vec::new(),
    }
}

/// Adds one finding to a folded outcome; it can only make it stricter.
pub fn strengthen(mut outcome: Outcome, finding: Finding) -> Outcome {
    let by = finding.by;
    let said = |what: String| Said { by: by.clone(), what };
    if finding.decision > outcome.decision {
        outcome.decision = finding.decision;
        outcome.reasons.clear();
        outcome.nudges.clear();
    }
    if finding.decision == outcome.decision && outcome.decision > Decision::None {
        outcome.reasons.extend(finding.reason.map(said));
    }
    outcome.messages.extend(finding.message.map(said));
    outcome
}

/// The event as it would be with this tool input.
pub fn with_tool_input(event: &Event, input: &serde_json::Value) -> Event {
    let mut changed = event.clone();
    if let Some(tool) = &mut changed.tool {
        tool.args = input.clone();
    }
    changed
}

/// The same finding, changing nothing.
pub fn without_modifications(mut finding: Finding) -> Finding {
    finding.modifications.clear();
    finding
}

fn flow(findings: &[Finding]) -> Flow {
    let mut stops = findings.iter().filter_map(|finding| match &finding.flow {
        Flow::Stop { reason } => Some(reason),
        Flow::Go => None,
    });
    match stops.next() {
        None => Flow::Go,
        Some(first) => Flow::Stop { reason: first.clone().or_else(|| stops.find_map(Clone::clone)) },
    }
}

fn modifications(finding: &Finding) -> impl Iterator<Item = Said<Modification>> + '_ {
    finding.modifications.iter().map(|what| Said { by: finding.by.clone(), what: what.clone() })
}

fn said(finding: &Finding, what: Option<&String>) -> Option<Said<String>> {
    Some(Said { by: finding.by.clone(), what: what?.clone() })
}

/// The tool input after all changes, if it is not the one that was asked for.
fn tool_input(event: &Event, modifications: &[Said<Modification>]) -> Option<serde_json::Value> {
    let asked = &event.tool.as_ref()?.args;
    let mut changes = modifications.iter().filter_map(|said| match &said.what {
        Modification::ToolInput { merge, value } => Some((*merge, value)),
        _ => None,
    });
    let first = changes.next()?;
    let mut input = asked.clone();
    for (merge, value) in std::iter::once(first).chain(changes) {
        merge.apply(&mut input, value);
    }
    (input != *asked).then_some(input)
}

#[cfg(test)]
mod tests;
