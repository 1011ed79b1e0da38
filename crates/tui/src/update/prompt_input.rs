// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Handles input in the prompt. Privileged actions need the same proof as on the command line: the typed name of the
//! action, or a code.

use serde_json::Value;

use super::command_line;
use super::keys::{scroll_distance, scroll_page};
use crate::input_prompt::{InputPrompt, PromptPurpose};
use crate::key_press::KeyPress;
use crate::message::{
    ApproveFor, FetchTarget, GivenProof, ProofNeeded, RequestError, TuiCommand, UserAction,
};
use crate::plain;
use crate::state::{PageContent, TuiState};

pub(super) fn handle_prompt_key(state: &mut TuiState, key: KeyPress) -> Vec<TuiCommand> {
    let rows = state.list_rows();
    let Some(prompt) = &mut state.prompt else { return Vec::new() };
    let mut commands = Vec::new();
    match (key, &prompt.purpose) {
        (KeyPress::Esc, _) => close_prompt(state),
        (KeyPress::Enter, _) => commands = submit_prompt(state),
        (KeyPress::Char(c), PromptPurpose::Yes(action)) => {
            if matches!(c, 'y' | 'Y') {
                commands = vec![TuiCommand::Perform(action.clone(), GivenProof::Nothing)];
            }
            close_prompt(state);
        }
        (KeyPress::Char(c), _) => prompt.push_char(c),
        (KeyPress::Tab, PromptPurpose::Command) => prompt.text = command_line::complete(&prompt.text),
        // Like in other programs, this leaves an empty command line.
        (KeyPress::Backspace, PromptPurpose::Command) if prompt.text.is_empty() => close_prompt(state),
        (KeyPress::Backspace, _) => drop(prompt.text.pop()),
        (KeyPress::Ctrl('u'), _) => prompt.text.clear(),
        (key, _) => {
            // The call can still be scrolled while the prompt is open.
            if let Some(by) = scroll_distance(key, rows) {
                scroll_page(state, by);
            }
        }
    }
    apply_filter_text(state);
    commands
}

/// Applies the filter while the user types it.
fn apply_filter_text(state: &mut TuiState) {
    if let Some(InputPrompt { purpose: PromptPurpose::Filter, text }) = &state.prompt {
        let text = text.clone();
        if let Some(filter) = state.filter_mut() {
            *filter = text;
        }
    }
}

fn close_prompt(state: &mut TuiState) {
    let filters = state.prompt.take().is_some_and(|prompt| prompt.purpose == PromptPurpose::Filter);
    if let (true, Some(filter)) = (filters, state.filter_mut()) {
        filter.clear();
    }
}

fn submit_prompt(state: &mut TuiState) -> Vec<TuiCommand> {
    let Some(InputPrompt { purpose, text }) = state.prompt.take() else { return Vec::new() };
    let text = text.trim().to_owned();
    match purpose {
        PromptPurpose::Filter => {
            if let Some(filter) = state.filter_mut() {
                *filter = text;
            }
            Vec::new()
        }
        PromptPurpose::Command => command_line::run_command(state, &text),
        PromptPurpose::Note(id) => vec![TuiCommand::Perform(UserAction::Deny(id, text), GivenProof::Nothing)],
        PromptPurpose::Word(action) if action.privileged_action() == Some(text.as_str()) => {
            vec![TuiCommand::Perform(action, GivenProof::Word)]
        }
        PromptPurpose::Word(action) => {
            state.notify(
                false,
                format!("that was not `{}`; cancelled", action.privileged_action().unwrap_or_default()),
            );
            Vec::new()
        }
        PromptPurpose::Code(action) if !text.is_empty() => {
            vec![TuiCommand::Perform(action, GivenProof::Code(text))]
        }
        PromptPurpose::Code(_) | PromptPurpose::Yes(_) => {
            state.notify(false, "cancelled");
            Vec::new()
        }
    }
}

/// Opens the prompt for the proof that an action needs.
pub(super) fn handle_required_proof(
    state: &mut TuiState,
    action: UserAction,
    answer: Result<(ProofNeeded, bool), RequestError>,
) -> Vec<TuiCommand> {
    match answer {
        Err(RequestError(why)) => state.notify(false, plain::single_line(&why)),
        Ok((ProofNeeded::Code, _)) => state.prompt = Some(InputPrompt::new(PromptPurpose::Code(action))),
        // A guarded agent for which no code is set up is not prompted. The daemon refuses the action and records the
        // attempt.
        Ok((_, true) | (ProofNeeded::Nothing, false)) => {
            return vec![TuiCommand::Perform(action, GivenProof::Nothing)];
        }
        Ok((ProofNeeded::Word, false)) => state.prompt = Some(InputPrompt::new(PromptPurpose::Word(action))),
    }
    close_stale_prompt(state);
    Vec::new()
}

/// Shows the result of an action.
pub(super) fn handle_action_done(
    state: &mut TuiState,
    action: &UserAction,
    answer: Result<Value, RequestError>,
) -> Vec<TuiCommand> {
    if let Err(RequestError(why)) = &answer {
        state.notify(false, plain::single_line(why));
        return Vec::new();
    }
    let text = match action {
        UserAction::Restore(_) => return show_restored(state, &answer.unwrap_or_default()),
        UserAction::AllowOnce(_) => "allowed once, within ten minutes: tell the agent to try again",
        UserAction::AddRule(_) => "rule added: calls like this one are denied",
        UserAction::Approve(_, ApproveFor::Once) => "approved",
        UserAction::Approve(_, ApproveFor::Session) => {
            "approved, with all calls that the same rules ask about in this session"
        }
        UserAction::Deny(..) => "denied",
        UserAction::Monitor => "monitor mode: verdicts are only recorded",
        UserAction::Enforce => "enforce mode: verdicts are enforced",
    };
    state.notify(true, text);
    match action {
        UserAction::Approve(..) | UserAction::Deny(..) => {
            state.pages.pop();
            vec![TuiCommand::Fetch(FetchTarget::Approvals)]
        }
        UserAction::AddRule(_) => {
            state.pages.pop();
            vec![TuiCommand::Fetch(FetchTarget::Health)]
        }
        UserAction::AllowOnce(_) => Vec::new(),
        UserAction::Monitor | UserAction::Enforce | UserAction::Restore(_) => {
            vec![TuiCommand::Fetch(FetchTarget::Health)]
        }
    }
}

/// Shows the result of a restore.
fn show_restored(state: &mut TuiState, answer: &Value) -> Vec<TuiCommand> {
    let restored = answer.get("restored").and_then(Value::as_u64).unwrap_or_default();
    let left = answer.get("left").and_then(Value::as_array).map_or(0, Vec::len);
    let saved = answer.get("saved").and_then(Value::as_str).map(plain::single_line);
    let saved = saved.map(|id| format!("; `tenterhook undo {id}` reverts this")).unwrap_or_default();
    state.notify(left == 0, format!("{restored} restored, {left} left{saved}"));
    match state.shown_content() {
        Some(PageContent::Session { key, .. }) => {
            vec![TuiCommand::Fetch(FetchTarget::Session(key.clone()))]
        }
        _ => Vec::new(),
    }
}

/// Closes a prompt about an approval that is no longer pending.
pub(super) fn close_stale_prompt(state: &mut TuiState) {
    let waits = state.prompt.as_ref().is_none_or(|prompt| match &prompt.purpose {
        PromptPurpose::Note(id) => state.approvals.find(id).is_some(),
        PromptPurpose::Word(UserAction::Approve(shown, _))
        | PromptPurpose::Code(UserAction::Approve(shown, _)) => {
            state.approvals.find(&shown.id).is_some_and(|card| card.is_shown(shown))
        }
        _ => true,
    });
    if !waits {
        state.prompt = None;
        state.notify(false, "this approval is closed: answered elsewhere or timed out");
    }
}
