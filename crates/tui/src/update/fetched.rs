// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Applies fetched data to the state.

use serde_json::Value;

use super::{call_actions, set_approvals};
use crate::input_prompt::{InputPrompt, PromptPurpose};
use crate::message::{FetchTarget, RequestError, ShownSnapshot, TuiCommand, UserAction};
use crate::parse::{
    CallRow, DecisionDetail, DecisionRow, ExplanationDetail, HealthSummary, LedgerCounts, RuleDraft,
    SessionDetail, SessionRow, TimelineRow,
};
use crate::plain;
use crate::state::{PageContent, ProofStatus, TuiState};

pub(super) fn handle_fetched(
    state: &mut TuiState,
    subject: FetchTarget,
    answer: Result<Value, RequestError>,
) -> Vec<TuiCommand> {
    let answer = match answer {
        Ok(answer) => answer,
        Err(RequestError(why)) => {
            handle_fetch_error(state, &subject, plain::single_line(&why));
            return Vec::new();
        }
    };
    match subject {
        FetchTarget::Decisions => count_decisions(state, &answer),
        FetchTarget::Calls(show, before) => {
            let next = answer.get("next").and_then(Value::as_u64);
            state.calls.add_page(show, before.is_none(), CallRow::parse_page(&answer), next);
            // A page may have few of the calls that are sought, so older ones are fetched until the screen is full.
            if show == state.calls.show() && state.calls.shown().len() < state.list_rows() {
                return state.calls.fetch_older();
            }
        }
        FetchTarget::CallsOf(_) => state.calls.add_session_calls(CallRow::parse_page(&answer)),
        FetchTarget::Decision(requested) => {
            for open in open_contents(state) {
                if let PageContent::Decision { seq, found, .. } = open
                    && *seq == requested
                {
                    *found = DecisionDetail::parse(&answer).map(Box::new);
                }
            }
            return call_actions::run_deferred(state, requested, DecisionDetail::parse(&answer));
        }
        FetchTarget::Explain(requested) => {
            for open in open_contents(state) {
                if let PageContent::Explanation { subject, found } = open
                    && *subject == requested
                {
                    *found = Some(Box::new(ExplanationDetail::parse(&answer)));
                }
            }
        }
        FetchTarget::DenyRuleDraft(requested) => {
            for open in open_contents(state) {
                if let PageContent::Draft { seq, found } = open
                    && *seq == requested
                {
                    *found = Some(Box::new(RuleDraft::parse(&answer)));
                }
            }
        }
        FetchTarget::Proof(seq) => set_proof(state, seq, &answer),
        FetchTarget::Sessions => state.sessions.replace(SessionRow::parse_list(&answer)),
        FetchTarget::Session(requested) => {
            for open in session_contents(state, &requested) {
                if let PageContent::Session { found, .. } = open {
                    *found = Some(Box::new(SessionDetail::parse(&answer)));
                }
            }
        }
        FetchTarget::Timeline(requested) => {
            for open in session_contents(state, &requested) {
                if let PageContent::Session { steps, .. } = open {
                    *steps = TimelineRow::parse_list(&answer);
                }
            }
        }
        FetchTarget::RestorePreview(_) => return offer_restore(state, &answer),
        FetchTarget::Approvals => return set_approvals(state, &answer),
        FetchTarget::Health => state.health = HealthSummary::parse(&answer),
        FetchTarget::Ledger => state.ledger = LedgerCounts::parse(&answer),
    }
    Vec::new()
}

/// Asks whether a snapshot is restored. If there is nothing to restore, the call before it in the session is offered.
fn offer_restore(state: &mut TuiState, answer: &Value) -> Vec<TuiCommand> {
    let number = |key: &str| answer.get(key).and_then(Value::as_u64).unwrap_or_default();
    let text = |key: &str| {
        let found = answer.get("snapshot").and_then(|snapshot| snapshot.get(key)).and_then(Value::as_str);
        plain::single_line(found.unwrap_or_default())
    };
    let shown = ShownSnapshot {
        id: text("id"),
        reason: text("reason"),
        restorable: number("restorable"),
        conflicts: number("conflicts"),
    };
    if shown.restorable > 0 {
        state.prompt = Some(InputPrompt::new(PromptPurpose::Yes(UserAction::Restore(shown))));
        return Vec::new();
    }
    if shown.conflicts > 0 {
        let command = format!("tenterhook undo {} --dry-run", shown.id);
        state.notify(false, format!("changed after the call, so not restored; see `{command}`"));
        return Vec::new();
    }
    let older = match state.shown_content() {
        Some(PageContent::Session { found: Some(found), .. }) => {
            found.undoable().skip_while(|id| *id != shown.id).nth(1).map(ToOwned::to_owned)
        }
        _ => None,
    };
    if let Some(older) = older {
        return vec![TuiCommand::Fetch(FetchTarget::RestorePreview(older))];
    }
    state.notify(false, "nothing to undo: everything is as it was before the call");
    Vec::new()
}

fn count_decisions(state: &mut TuiState, answer: &Value) {
    let lines = answer.get("lines").and_then(Value::as_array).into_iter().flatten();
    for line in lines.filter_map(DecisionRow::from_event) {
        state.stats.add(&line);
    }
}

/// Returns the contents of the open pages and of the preview.
fn open_contents(state: &mut TuiState) -> impl Iterator<Item = &mut PageContent> {
    state.pages.iter_mut().chain(state.preview.page.as_mut()).map(|page| &mut page.open)
}

fn session_contents<'a>(
    state: &'a mut TuiState,
    requested: &'a str,
) -> impl Iterator<Item = &'a mut PageContent> {
    open_contents(state)
        .filter(move |open| matches!(open, PageContent::Session { key, .. } if key == requested))
}

/// Applies the result of a proof check: `{holds, hash, size, root, key}` or `{problem}`.
fn set_proof(state: &mut TuiState, requested: u64, answer: &Value) {
    let text = |key: &str| plain::single_line(answer.get(key).and_then(Value::as_str).unwrap_or_default());
    let holds = answer.get("holds") == Some(&Value::Bool(true));
    for open in open_contents(state) {
        if let PageContent::Decision { seq, found, proved } = open
            && *seq == requested
        {
            // The proof must be for the shown record.
            let shown = found.as_ref().is_some_and(|found| found.hash == text("hash"));
            *proved = match (holds, shown) {
                (true, true) => {
                    let size = answer.get("size").and_then(Value::as_u64).unwrap_or_default();
                    ProofStatus::Yes { size, root: text("root"), key: text("key") }
                }
                (true, false) => ProofStatus::No("the proof is for a different record".to_owned()),
                (false, _) => ProofStatus::No(text("problem")),
            };
        }
    }
}

fn handle_fetch_error(state: &mut TuiState, subject: &FetchTarget, why: String) {
    match subject {
        FetchTarget::Proof(seq) => set_proof(state, *seq, &serde_json::json!({"problem": why})),
        FetchTarget::Calls(show, Some(before)) => {
            state.calls.retry_older(*show, *before);
            state.notify(false, why);
        }
        FetchTarget::Explain(_) | FetchTarget::DenyRuleDraft(_) => {
            state.pages.retain(|page| !page.waits_for(subject));
            state.notify(false, why);
        }
        FetchTarget::RestorePreview(_) if why.starts_with("unknown snapshot") => {
            state.notify(false, "nothing was saved for this call");
        }
        _ => state.notify(false, why),
    }
}
