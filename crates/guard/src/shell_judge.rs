// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Evaluates a call alone, and together with the statements of earlier calls that it may depend on.

use serde_json::json;
use tenterhook_engine::RuleJudgement;
use tenterhook_event::{Decision, Event, Finding, Origin, TraceEntry, TraceStatus};
use tenterhook_facts::{Facts, FileOp, PathLocation};
use tenterhook_policy::{SessionState, ShellStatement};

use crate::rule_judge::RuleJudge;
use crate::session_shell::{self, CallWithShell};
use crate::shell_certainty;

/// Rule that asks about a deletion only because a value is unknown.
const UNKNOWN_VALUE_RULE: &str = "recursive-delete-unknown";
/// Programs whose words do not change what a call does to files and repositories.
const PRINTING_PROGRAMS: &[&str] = &["echo", "printf", "test", "["];
/// Maximum number of letters of the statements that are shown.
const MAX_SHOWN_LETTERS: usize = 160;

/// Findings on a call and their steps, without any effect on the state of its session.
pub(crate) struct CallEvaluation {
    pub(crate) findings: Vec<Finding>,
    pub(crate) steps: Vec<TraceEntry>,
    pub(crate) facts: Facts,
}

impl CallEvaluation {
    fn has_finding(&self, finding: &Finding) -> bool {
        self.findings.iter().any(|other| covers(other, finding))
    }
}

/// Whether a finding of the same rule is at least as strict.
fn covers(finding: &Finding, other: &Finding) -> bool {
    finding.by == other.by && finding.decision >= other.decision
}

impl RuleJudge {
    /// Evaluates a call alone and together with the statements of earlier calls that it uses. The stricter verdict
    /// applies.
    pub(crate) fn judge_in_shell(&self, event: &Event, account: Option<u32>) -> RuleJudgement {
        let state = session_shell::may_use_statements(event).then(|| self.memory.shell_state(event));
        let calls =
            state.as_ref().map(|state| session_shell::with_statements(event, state)).unwrap_or_default();
        let Some(state) = state.filter(|_| !calls.is_empty()) else { return self.judge_call(event, account) };
        // The state before this call.
        let before = self.memory.state_of(event, &self.set);
        let mut judged = self.judge_call(event, account);
        let mut alone = None;
        for call in &calls {
            let together = self.evaluate_call(&call.event, account, &before);
            let is_known = |finding: &Finding| {
                !is_strict(finding) || judged.findings.iter().any(|other| covers(other, finding))
            };
            // Most statements change no verdict, and then nothing else has to be evaluated.
            if together.findings.iter().all(is_known) {
                judged.steps.push(note_evaluation(Decision::None, call));
            } else {
                let alone = alone.get_or_insert_with(|| self.evaluate_call(&call.alone, account, &before));
                self.add_shell_findings(event, call, &before, alone, &together, account, &mut judged);
            }
            let is_only = calls.len() == 1 && shell_certainty::are_certain(event, &call.used, &state);
            if is_only && !together.findings.iter().any(is_strict) {
                let alone = || self.evaluate_call(&call.alone, account, &before);
                remove_unknown_value_findings(call, alone, &mut judged);
            }
        }
        let observed = judged.observed.get_or_insert_with(|| json!({}));
        let used: Vec<_> =
            calls.iter().flat_map(|call| &call.used).map(|statement| statement.text.as_str()).collect();
        observed.as_object_mut().map(|all| all.insert("statements".to_owned(), json!(used)));
        judged
    }

    /// Adds the findings that apply only together with the statements.
    #[expect(clippy::too_many_arguments, reason = "each evaluation is made once")]
    fn add_shell_findings(
        &self,
        event: &Event,
        call: &CallWithShell,
        before: &SessionState,
        alone: &CallEvaluation,
        together: &CallEvaluation,
        account: Option<u32>,
        judged: &mut RuleJudgement,
    ) {
        let statements = self.evaluate_call(&call.statements, account, before);
        // A snapshot replaces a question only if the statements do not change what the call discards.
        let is_redirected = call.redirects_silently(&alone.facts)
            || changes_commands(&alone.facts, &together.facts, &statements.facts);
        // The commands of the statements were evaluated when they ran.
        let is_of_statements = |finding: &Finding| is_strict(finding) && statements.has_finding(finding);
        let without_commands = if together.findings.iter().any(is_of_statements) {
            call.without_commands(event).map(|call| self.evaluate_call(&call.event, account, before))
        } else {
            None
        };
        let is_new = |finding: &&Finding| {
            let is_known = judged.findings.iter().any(|other| covers(other, finding))
                || alone.has_finding(finding) && !is_redirected;
            let runs_earlier = is_of_statements(finding)
                && !without_commands.as_ref().is_some_and(|other| other.has_finding(finding));
            is_strict(finding) && !is_known && !runs_earlier
        };
        let new: Vec<_> = together.findings.iter().filter(is_new).cloned().collect();
        let decision = new.iter().map(|finding| finding.decision).max().unwrap_or_default();
        let shown = show_statements(&call.used);
        for finding in new {
            let steps = together.steps.iter().filter(|step| step.by == finding.by);
            judged.steps.extend(steps.cloned());
            let reason =
                finding.reason.as_ref().map(|reason| format!("{reason} (an earlier call set {shown})"));
            judged.findings.push(Finding { reason, modifications: Vec::new(), ..finding });
        }
        judged.steps.push(note_evaluation(decision, call));
    }
}

fn is_strict(finding: &Finding) -> bool {
    finding.decision >= Decision::Ask
}

/// Removes the question about a value that is known from the statements, which leave nothing to ask about.
fn remove_unknown_value_findings(
    call: &CallWithShell,
    evaluate_alone: impl FnOnce() -> CallEvaluation,
    judged: &mut RuleJudgement,
) {
    let is_unknown_value = |finding: &Finding| {
        finding.decision == Decision::Ask && finding.by == Origin::rule(UNKNOWN_VALUE_RULE)
    };
    if !judged.findings.iter().any(is_unknown_value) {
        return;
    }
    let alone = evaluate_alone();
    let mut unknown_deletions = (alone.facts.effects.iter()).filter(|effect| {
        effect.does == FileOp::Delete && effect.path.places.contains(&PathLocation::Unknown)
    });
    if !unknown_deletions.all(|effect| effect.by == "rm") {
        return;
    }
    judged.findings.retain(|finding| !is_unknown_value(finding));
    let note =
        format!("`{UNKNOWN_VALUE_RULE}` does not ask: an earlier call set {}", show_statements(&call.used));
    judged.steps.push(note_step(Decision::None, note));
}

fn note_evaluation(decision: Decision, call: &CallWithShell) -> TraceEntry {
    let shown = show_statements(&call.used);
    note_step(decision, format!("also evaluated with statements of earlier calls: {shown}"))
}

/// Whether the statements change a command of the call that may affect files or repositories.
fn changes_commands(alone: &Facts, together: &Facts, statements: &Facts) -> bool {
    let commands = |facts: &Facts, skipped: usize| -> Vec<_> {
        let commands = facts.commands.iter().skip(skipped);
        let relevant = commands.filter(|command| !PRINTING_PROGRAMS.contains(&command.program.as_str()));
        let words = relevant.map(|command| {
            let words: Vec<_> = command.words.iter().map(|word| word.text.clone()).collect();
            (command.program.clone(), command.directory.clone(), words)
        });
        words.collect()
    };
    commands(alone, 0) != commands(together, statements.commands.len())
}

/// Returns the statements in backticks, cut to a readable length.
fn show_statements(used: &[ShellStatement]) -> String {
    let texts: Vec<_> = used.iter().map(|statement| format!("`{}`", statement.text)).collect();
    let shown = texts.join(", ");
    match shown.char_indices().nth(MAX_SHOWN_LETTERS) {
        Some((end, _)) => format!("{}…", shown.get(..end).unwrap_or_default()),
        None => shown,
    }
}

fn note_step(decision: Decision, note: String) -> TraceEntry {
    TraceEntry { by: Origin::Engine, status: TraceStatus::Ran, decision, took_us: 0, note: Some(note) }
}
