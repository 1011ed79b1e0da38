// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Evaluates the rules on files that run automatically, when a tool writes them.
//!
//! No hook fires when a shell enters a directory with an `.envrc` or an editor opens a folder with tasks. The
//! commands in such a file are therefore evaluated when the file is written. If a rule would deny such a
//! command, the user is asked about the file. If a rule would only ask, nothing happens, because many of
//! these commands never run on this machine.

use std::path::Path;

use serde_json::json;
use tenterhook_command_files::autorun_commands;
use tenterhook_event::{Decision, Event, Finding, Flow, ToolCall, TraceEntry};
use tenterhook_facts::{EvalEnvironment, Facts, FileOp};
use tenterhook_policy::{RuleSet, SessionState};

/// Maximum number of bytes of a file that are evaluated.
const MAX_AUTORUN_BYTES: usize = 64 * 1024;

/// Findings about the commands in a file that is written.
#[derive(Debug, Default)]
pub(crate) struct AutorunFindings {
    pub(crate) findings: Vec<Finding>,
    pub(crate) steps: Vec<TraceEntry>,
}

/// Returns the findings about a call that writes a file whose commands run automatically.
pub(crate) fn judge_autorun_files(
    event: &Event,
    facts: &Facts,
    environment: &EvalEnvironment<'_>,
    rules: &RuleSet,
) -> AutorunFindings {
    let mut found = AutorunFindings::default();
    let Some(tool) = event.tool.as_ref().filter(|tool| tool.is_edit()) else { return found };
    let contents = tool.contents();
    let mut written =
        facts.effects.iter().filter(|effect| matches!(effect.does, FileOp::Write | FileOp::Append));
    let Some(path) = written.find_map(|effect| effect.path.resolved.as_deref()) else {
        return found;
    };
    let sizes = contents.iter().filter(|text| text.len() <= MAX_AUTORUN_BYTES);
    let commands = sizes.filter_map(|text| autorun_commands(Path::new(path), text)).flatten();
    for command in commands {
        let call = ToolCall::new("Bash", json!({ "command": command.text }));
        let inner = Event { tool: Some(call), ..event.clone() };
        let facts = tenterhook_facts::facts(&inner, environment);
        let judged = tenterhook_policy::judge(&inner, &facts, &SessionState::default(), rules);
        for finding in judged.findings.into_iter().filter(|finding| finding.decision == Decision::Deny) {
            if found.findings.iter().any(|other| other.by == finding.by) {
                continue;
            }
            let steps = judged.steps.iter().filter(|step| step.by == finding.by);
            found.steps.extend(steps.cloned().map(|step| TraceEntry { decision: Decision::Ask, ..step }));
            let reason = finding.reason.as_deref().unwrap_or_default();
            found.findings.push(Finding {
                decision: Decision::Ask,
                reason: Some(format!("`{path}` contains a command that runs automatically: {reason}")),
                modifications: Vec::new(),
                flow: Flow::Go,
                ..finding
            });
        }
    }
    found
}
