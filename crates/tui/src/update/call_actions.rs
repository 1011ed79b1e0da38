// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Handles the keys that act on the shown entry: block, allow, undo, explain, copy.

use super::keys::open_page;
use crate::key_press::KeyPress;
use crate::message::{ExplainSubject, FetchTarget, TuiCommand, UserAction};
use crate::parse::DecisionDetail;
use crate::state::{DeferredAction, OpenPage, PageContent, TuiState, ViewTab};

/// Applies a key to the shown entry. `None` if the key is not one of these keys, or no entry is shown.
pub(super) fn handle_call_key(state: &mut TuiState, key: KeyPress) -> Option<Vec<TuiCommand>> {
    let KeyPress::Char(letter) = key else { return None };
    if let Some(seq) = shown_record(state) {
        return match letter {
            'b' => Some(open_page(state, OpenPage::draft(seq))),
            'a' => Some(allow_once(state, seq)),
            'u' => Some(with_detail(state, seq, DeferredAction::Undo)),
            'e' => Some(with_detail(state, seq, DeferredAction::Explain)),
            'y' => Some(with_detail(state, seq, DeferredAction::Copy)),
            's' => Some(with_detail(state, seq, DeferredAction::OpenSession)),
            _ => None,
        };
    }
    match (letter, state.shown_content()) {
        ('y', Some(PageContent::Session { key, .. })) => {
            let id = key.split_once(':').map_or(key.as_str(), |(_, id)| id).to_owned();
            Some(copy(state, id))
        }
        ('y', Some(PageContent::Approval { card, .. })) => {
            let text = card.whole.join("\n");
            Some(copy(state, text))
        }
        ('y', Some(PageContent::Draft { found: Some(found), .. })) => {
            let text = found.yaml.join("\n");
            Some(copy(state, text))
        }
        ('u', Some(PageContent::Session { found: Some(found), .. })) => {
            let latest = found.undoable().next().map(ToOwned::to_owned);
            if latest.is_none() {
                state.notify(false, "nothing was saved in this session");
            }
            let preview = |latest| TuiCommand::Fetch(FetchTarget::RestorePreview(latest));
            Some(latest.map(preview).into_iter().collect())
        }
        _ => None,
    }
}

/// Returns the record of the shown decision: of the open page, or of the selected row.
fn shown_record(state: &TuiState) -> Option<u64> {
    match state.pages.last().map(|page| &page.open) {
        Some(PageContent::Decision { seq, .. }) => Some(*seq),
        None if state.tab == ViewTab::Live => {
            let row = state.calls.shown().selected()?;
            row.folded.is_none().then_some(row.seq)
        }
        Some(_) | None => None,
    }
}

/// Asks for the proof that allowing the call needs. The page of the call opens first, because the user must see the
/// call before allowing it.
fn allow_once(state: &mut TuiState, seq: u64) -> Vec<TuiCommand> {
    let mut commands = Vec::new();
    if state.pages.is_empty() {
        commands = open_page(state, OpenPage::decision(seq));
    }
    commands.push(TuiCommand::AskProofNeeded(UserAction::AllowOnce(seq)));
    commands
}

/// Performs an action on a decision, after it is fetched if necessary.
fn with_detail(state: &mut TuiState, seq: u64, action: DeferredAction) -> Vec<TuiCommand> {
    let known = match state.shown_content() {
        Some(PageContent::Decision { seq: shown, found: Some(found), .. }) if *shown == seq => {
            Some((**found).clone())
        }
        _ => None,
    };
    if let Some(detail) = known {
        return perform(state, action, &detail);
    }
    state.deferred = Some((seq, action));
    vec![TuiCommand::Fetch(FetchTarget::Decision(seq))]
}

/// Performs the action that waited for this decision.
pub(super) fn run_deferred(
    state: &mut TuiState,
    seq: u64,
    detail: Option<DecisionDetail>,
) -> Vec<TuiCommand> {
    match (state.deferred.take_if(|(wanted, _)| *wanted == seq), detail) {
        (Some((_, action)), Some(detail)) => perform(state, action, &detail),
        _ => Vec::new(),
    }
}

fn perform(state: &mut TuiState, action: DeferredAction, detail: &DecisionDetail) -> Vec<TuiCommand> {
    match action {
        DeferredAction::Copy => copy(state, detail.whole.join("\n")),
        DeferredAction::Undo => vec![TuiCommand::Fetch(FetchTarget::RestorePreview(detail.id.clone()))],
        DeferredAction::Explain => {
            let subject = ExplainSubject::Record(detail.line.seq, detail.event.clone());
            open_page(state, OpenPage::explanation(subject))
        }
        DeferredAction::OpenSession if detail.line.session.is_empty() => {
            state.notify(false, "this decision belongs to no session");
            Vec::new()
        }
        DeferredAction::OpenSession => {
            let key = format!("{}:{}", detail.line.harness, detail.line.session);
            let now = state.clock.now_ms;
            open_page(state, OpenPage::session(key, now))
        }
    }
}

/// Copies text as it is shown, so that no control character reaches the clipboard.
fn copy(state: &mut TuiState, text: String) -> Vec<TuiCommand> {
    let lines = text.lines().count();
    let what = if lines > 1 { format!("{lines} lines") } else { crate::plain::truncate(&text, 40) };
    state.notify(true, format!("copied: {what}"));
    vec![TuiCommand::Copy(text)]
}
