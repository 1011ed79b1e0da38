// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a message changes.

mod got;
mod keys;
mod prompts;

use serde_json::Value;

use crate::message::{Clock, Command, Message, Subject};
use crate::read::{Card, Line, Session};
use crate::state::{Link, Open, State, Tab};

/// Changes the state, and says what is to be done.
pub fn update(state: &mut State, message: Message) -> Vec<Command> {
    match message {
        Message::Key(key) => keys::press(state, key),
        Message::Size(columns, rows) => {
            state.size = (columns, rows);
            Vec::new()
        }
        Message::Now(clock) => passed(state, clock),
        Message::Up => {
            if matches!(state.link, Link::Down(..)) {
                state.say(true, "the daemon is back");
            }
            state.link = Link::Up;
            State::all()
        }
        Message::Down(why) => {
            if !matches!(state.link, Link::Down(..)) {
                state.link = Link::Down(crate::plain::line(&why), state.clock.now_ms);
                state.approvals.replace(Vec::new());
                unlist(state);
            }
            Vec::new()
        }
        Message::Told(kind, data) => told(state, &kind, &data),
        Message::Got(subject, answer) => got::got(state, subject, answer),
        Message::Needed(deed, answer) => prompts::needed(state, deed, answer),
        Message::Done(deed, answer) => prompts::done(state, &deed, answer),
    }
}

/// Time has passed.
fn passed(state: &mut State, clock: Clock) -> Vec<Command> {
    let minute = clock.now_ms / 60_000 != state.clock.now_ms / 60_000;
    state.clock = clock;
    let mut commands = Vec::new();
    if minute && state.link == Link::Up {
        // The state of a session also changes with time, and nothing is sent for that.
        commands.extend([Command::Get(Subject::Health), Command::Get(Subject::Sessions)]);
        if state.tab == Tab::Statistics {
            commands.push(Command::Get(Subject::Ledger));
        }
    }
    if let Some(page) = state.pages.last_mut() {
        commands.extend(page.refresh(clock.now_ms));
    }
    commands
}

/// The daemon says what happens.
fn told(state: &mut State, kind: &str, data: &Value) -> Vec<Command> {
    match kind {
        "decided" => {
            if let Some(line) = Line::told(data) {
                learn(state, line);
            }
        }
        "session" => {
            let session = Session::read(data);
            if let Some(page) = state.pages.last_mut() {
                page.heard(&session.key);
            }
            state.sessions.put(session);
        }
        "approvals" => waiting(state, data),
        "lagged" => {
            state.missed += data.get("missed").and_then(Value::as_u64).unwrap_or_default();
            return State::all();
        }
        "generation" | "warning" => return vec![Command::Get(Subject::Health)],
        _ => {}
    }
    Vec::new()
}

/// A decision is known; counted once.
fn learn(state: &mut State, line: Line) {
    let (seq, oldest) = (line.seq, state.feed.last().map(|last| last.seq));
    // What was pushed out was counted when it came.
    let gone = state.feed.is_full() && oldest.is_some_and(|oldest| seq < oldest);
    if !gone {
        let counted = line.clone();
        if state.feed.put(line) {
            state.stats.add(&counted);
        }
    }
}

/// Which calls wait.
fn waiting(state: &mut State, answer: &Value) {
    let cards = Card::all(answer);
    let new =
        cards.iter().find(|card| state.approvals.find(&card.id).is_none()).map(|card| card.wants.clone());
    state.approvals.replace(cards);
    unlist(state);
    if let Some(wants) = new.filter(|_| state.tab != Tab::Approvals) {
        state.say(false, format!("a call waits for you (3): {wants}"));
    }
}

/// What was opened and waits no more.
fn unlist(state: &mut State) {
    for page in &mut state.pages {
        if let Open::Approval { card, waits } = &mut page.open {
            *waits = state.approvals.find(&card.id).is_some_and(|now| now.is_shown(&card.shown()));
        }
    }
    prompts::unlist(state);
}

#[cfg(test)]
mod tests;
