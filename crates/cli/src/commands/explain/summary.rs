// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Formats a short explanation: verdict, reason, suggestion, source of the decision, and how to change the decision.

use std::fmt::Write as _;

use tenterhook_event::{Decision, Event, Origin, Outcome, TraceStatus};
use tenterhook_policy::{Rule, RuleNote, RuleSet};

use super::HookNote;
use crate::terminal::{BOLD, DIM, Terminal, describe_verdict, style_of, tame};
use tenterhook_rulebook::DescribedProgram;
use tenterhook_terminal_text::{fit, wrap};

/// Maximum number of lines of each part; the whole text has at most fifteen lines.
const REASON_LINES: usize = 3;
const SUGGESTION_LINES: usize = 2;
const LIST_LINES: usize = 1;
const CHANGE_LINES: usize = 2;
const UNDO_LINES: usize = 2;
/// Width of the labels before the parts.
const LABEL_COLUMNS: usize = 9;

/// Event, outcome and findings that the summary describes.
pub(super) struct ExplainedCall<'a> {
    pub(super) event: &'a Event,
    pub(super) outcome: &'a Outcome,
    pub(super) notes: &'a [RuleNote],
    pub(super) hooks: &'a [HookNote],
    pub(super) rules: &'a RuleSet,
    /// Whether a daemon is running, so that hooks of connected programs were called.
    pub(super) daemon: bool,
    /// The call's programs that the policy describes.
    pub(super) described: &'a [DescribedProgram],
    /// The call's record, if the call was recorded.
    pub(super) record: Option<ExplainedRecord>,
}

/// Record of an explained call.
pub(super) struct ExplainedRecord {
    /// Number of the record.
    pub(super) seq: u64,
    /// Id of the snapshot of what the call discarded.
    pub(super) snapshot: Option<String>,
}

pub(super) fn summary_text(explained: &ExplainedCall<'_>) -> String {
    let ExplainedCall { event, outcome, notes, hooks, .. } = explained;
    let width = Terminal::width().min(100);
    let call = event.tool.as_ref().map(|tool| format!("{} {}", tool.name, tool.gist()));
    let call = call.unwrap_or_else(|| event.native_event.clone());
    let style = style_of(outcome.decision);
    let mut out = format!(
        "{BOLD}{}{BOLD:#}\n{style}{}{style:#}\n",
        fit(&tame(&call), width).trim_end(),
        describe_verdict(outcome.decision)
    );
    let reason = outcome.reason().unwrap_or_default();
    out += &labelled_text("reason", &reason, width, REASON_LINES);
    if outcome.decision == Decision::Deny {
        let nudges: Vec<_> = outcome.nudges.iter().map(|nudge| nudge.value.as_str()).collect();
        out += &labelled_text("instead", &nudges.join("; "), width, SUGGESTION_LINES);
    }
    out += &labelled_text("undo", &undo_text(explained), width, UNDO_LINES);
    if let Some(by) = outcome.decided_by().filter(|by| **by != Origin::Engine) {
        out += &labelled_text("by", &source_text(by, explained), width, LIST_LINES);
    }
    let matched: Vec<_> = notes.iter().filter(|note| note.matched).map(|note| note.rule.as_str()).collect();
    let others: Vec<_> = matched.iter().map(|rule| (*rule).to_owned()).collect();
    out += &labelled_text("rules", &count_text(&others, notes.len(), "matches", "match"), width, LIST_LINES);
    let of_session = outcome.trace.iter().filter(|step| step.by == Origin::Engine);
    let of_session = of_session.filter(|step| step.status == TraceStatus::Ran);
    let session: Vec<_> = of_session.filter_map(|step| step.note.as_deref()).collect();
    if !session.is_empty() {
        out += &labelled_text("session", &tame(&session.join("; ")), width, LIST_LINES);
    }
    let described: Vec<_> = explained.described.iter().map(ToString::to_string).collect();
    if !described.is_empty() {
        out += &labelled_text("programs", &described.join(", "), width, LIST_LINES);
    }
    let applied: Vec<_> = hooks.iter().filter(|hook| hook.why_not.is_none()).map(HookNote::brief).collect();
    let mut hook_text = count_text(&applied, hooks.len(), "applies", "apply");
    if !explained.daemon {
        hook_text += "; no daemon: hooks of connected programs are unknown";
    }
    out += &labelled_text("hooks", &hook_text, width, LIST_LINES);
    out += &labelled_text("change", &change_text(explained), width, CHANGE_LINES);
    let _ = writeln!(out, "{DIM}`--all` shows every rule and hook, and why it does or does not match{DIM:#}");
    out
}

/// Formats a count and names: `2 of 50 match: a, b`.
fn count_text(names: &[String], all: usize, one: &str, many: &str) -> String {
    match names {
        [] => format!("none of {all} {one}"),
        [name] => format!("1 of {all} {one}: {name}"),
        names => format!("{} of {all} {many}: {}", names.len(), names.join(", ")),
    }
}

/// Formats a label followed by wrapped text. Text beyond the line limit is cut.
fn labelled_text(label: &str, text: &str, width: usize, max_lines: usize) -> String {
    let text = text.lines().collect::<Vec<_>>().join(" ");
    let mut lines = wrap(&tame(&text), width.saturating_sub(LABEL_COLUMNS));
    if lines.len() > max_lines {
        lines.truncate(max_lines);
        if let Some(last) = lines.last_mut() {
            let cut = fit(&format!("{last} …"), width.saturating_sub(LABEL_COLUMNS));
            cut.trim_end().clone_into(last);
        }
    }
    let mut out = String::new();
    for (number, line) in lines.iter().enumerate() {
        let label = if number == 0 { label } else { "" };
        let line = fit(line, width.saturating_sub(LABEL_COLUMNS));
        let _ = writeln!(out, "{DIM}{label:<LABEL_COLUMNS$}{DIM:#}{}", line.trim_end());
    }
    out
}

/// Names the rule or hook that decided, and where it is defined.
fn source_text(by: &Origin, explained: &ExplainedCall<'_>) -> String {
    match by {
        Origin::Rule(id) => match explained.rules.rule(id) {
            Some(rule) => format!("rule {id} ({} {}:{})", rule.layer(), rule.source(), rule.line()),
            None => format!("rule {id}"),
        },
        Origin::Hook(id) => {
            let hook = explained.hooks.iter().find(|hook| hook.id == id.as_ref());
            match hook.and_then(|hook| hook.program.as_deref()) {
                Some(program) => format!("hook:{id} (program {program})"),
                None => format!("hook:{id}"),
            }
        }
        Origin::Engine => "Tenterhook itself".to_owned(),
    }
}

/// Describes how the call can be undone, or that a snapshot replaces the question about it.
fn undo_text(explained: &ExplainedCall<'_>) -> String {
    if let Some(ExplainedRecord { seq, snapshot }) = &explained.record {
        let saved = |id: &String| format!("saved in snapshot {id}; `tenterhook undo {seq}` restores it");
        return snapshot.as_ref().map(saved).unwrap_or_default();
    }
    let takes_snapshot =
        |note: &&RuleNote| explained.rules.rule(&note.rule).is_some_and(Rule::takes_snapshot);
    let mut asking = explained.notes.iter().filter(|note| note.counts && note.verdict >= Decision::Ask);
    if explained.outcome.decision != Decision::Ask || !asking.all(|note| takes_snapshot(&note)) {
        return String::new();
    }
    "if what the call would lose can be saved, an agent's call is saved and runs without this question"
        .to_owned()
}

/// Suggests how to get another verdict.
fn change_text(explained: &ExplainedCall<'_>) -> String {
    let by = match (explained.outcome.decision, explained.outcome.decided_by()) {
        (Decision::None, _) => return "to stop it, write a rule: `tenterhook rules new`".to_owned(),
        (_, None) => return String::new(),
        (_, Some(by)) => by,
    };
    match by {
        Origin::Rule(id) => match explained.rules.rule(id) {
            Some(rule) if rule.locked() => "the rule is locked and cannot be turned off".to_owned(),
            _ if explained.outcome.decision == Decision::Allow => {
                format!("turn the rule off: `tenterhook rules disable {id}`")
            }
            _ => match &explained.record {
                Some(ExplainedRecord { seq, .. }) => format!(
                    "let this call run once: `tenterhook allow {seq}`; turn the rule off: \
                     `tenterhook rules disable {id}`"
                ),
                None => format!(
                    "allow it with a rule that has `overrides: [{id}]`, or turn the rule off: \
                     `tenterhook rules disable {id}`"
                ),
            },
        },
        Origin::Hook(id) => match explained.hooks.iter().find(|hook| hook.id == id.as_ref()) {
            Some(HookNote { program: Some(program), .. }) => format!("change the program `{program}`"),
            _ => format!("change the hook `{id}`, or set `enabled: false` in tenterhook.yaml"),
        },
        Origin::Engine => String::new(),
    }
}
