// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Applies messages to the state.

mod call_actions;
mod command_line;
mod fetched;
mod keys;
mod mouse;
mod prompt_input;

use serde_json::Value;

use crate::message::{FetchTarget, TuiCommand, TuiMessage, WallClock};
use crate::parse::{DecisionRow, LiveCallPart, PendingApproval, SessionRow};
use crate::state::{DaemonLink, PageContent, TuiState, ViewTab};

/// Applies a message to the state and returns the commands for the caller.
pub fn update(state: &mut TuiState, message: TuiMessage) -> Vec<TuiCommand> {
    let mut commands = apply_message(state, message);
    state.follow_selection();
    commands.extend(state.preview.fetch_due(state.clock.now_ms));
    commands
}

fn apply_message(state: &mut TuiState, message: TuiMessage) -> Vec<TuiCommand> {
    match message {
        TuiMessage::Key(key) => keys::handle_key(state, key),
        TuiMessage::Mouse(input) => mouse::handle_mouse(state, input),
        TuiMessage::Resized(columns, rows) => {
            state.size = (columns, rows);
            Vec::new()
        }
        TuiMessage::Tick(clock) => handle_tick(state, clock),
        TuiMessage::Connected => {
            if matches!(state.link, DaemonLink::Down(..)) {
                state.notify(true, "reconnected to the daemon");
            }
            state.link = DaemonLink::Up;
            TuiState::initial_fetches()
        }
        TuiMessage::Disconnected(why) => {
            if !matches!(state.link, DaemonLink::Down(..)) {
                state.link = DaemonLink::Down(crate::plain::single_line(&why), state.clock.now_ms);
                state.approvals.replace(Vec::new());
                close_stale_approvals(state);
            }
            Vec::new()
        }
        TuiMessage::Event(kind, data) => handle_event(state, &kind, &data),
        TuiMessage::Fetched(subject, answer) => fetched::handle_fetched(state, subject, answer),
        TuiMessage::ProofNeeded(action, answer) => prompt_input::handle_required_proof(state, action, answer),
        TuiMessage::ActionDone(action, answer) => prompt_input::handle_action_done(state, &action, answer),
    }
}

/// Applies the current time and refreshes what is due.
fn handle_tick(state: &mut TuiState, clock: WallClock) -> Vec<TuiCommand> {
    let minute = clock.now_ms / 60_000 != state.clock.now_ms / 60_000;
    state.clock = clock;
    let mut commands = Vec::new();
    if minute && state.link == DaemonLink::Up {
        // A session's activity also changes with time, without an event.
        commands.extend([TuiCommand::Fetch(FetchTarget::Health), TuiCommand::Fetch(FetchTarget::Sessions)]);
        if state.tab == ViewTab::Statistics {
            commands.push(TuiCommand::Fetch(FetchTarget::Ledger));
        }
    }
    if let Some(page) = state.pages.last_mut() {
        commands.extend(page.refresh(clock.now_ms));
    }
    commands
}

/// Applies an event from the daemon.
fn handle_event(state: &mut TuiState, kind: &str, data: &Value) -> Vec<TuiCommand> {
    match kind {
        "decided" => {
            if let Some(line) = DecisionRow::from_event(data) {
                state.stats.add(&line);
            }
            if let Some(part) = LiveCallPart::parse(data) {
                state.calls.add(part);
            }
        }
        "session" => {
            let session = SessionRow::parse(data);
            let pages = state.pages.last_mut().into_iter().chain(state.preview.page.as_mut());
            pages.for_each(|page| page.mark_changed(&session.key));
            state.sessions.upsert(session);
        }
        "approvals" => return set_approvals(state, data),
        "lagged" => {
            state.missed += data.get("missed").and_then(Value::as_u64).unwrap_or_default();
            return TuiState::initial_fetches();
        }
        "generation" | "warning" => return vec![TuiCommand::Fetch(FetchTarget::Health)],
        _ => {}
    }
    Vec::new()
}

/// Replaces the pending approvals. A new approval rings the bell.
fn set_approvals(state: &mut TuiState, answer: &Value) -> Vec<TuiCommand> {
    let cards = PendingApproval::parse_list(answer);
    let new =
        cards.iter().find(|card| state.approvals.find(&card.id).is_none()).map(|card| card.wants.clone());
    state.approvals.replace(cards);
    close_stale_approvals(state);
    let Some(wants) = new else { return Vec::new() };
    if state.tab != ViewTab::Approvals {
        state.notify(false, format!("approval needed (press 3): {wants}"));
    }
    vec![TuiCommand::RingBell]
}

/// Marks open approvals that are no longer pending.
fn close_stale_approvals(state: &mut TuiState) {
    for page in &mut state.pages {
        if let PageContent::Approval { card, waits } = &mut page.open {
            *waits = state.approvals.find(&card.id).is_some_and(|now| now.is_shown(&card.shown()));
        }
    }
    prompt_input::close_stale_prompt(state);
}

#[cfg(test)]
mod tests;
