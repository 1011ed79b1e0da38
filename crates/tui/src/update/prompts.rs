// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a person types, and what becomes of it. What loosens protection passes the daemon's gate: with the
//! name of the action typed, or a code, as in every other command.

use serde_json::Value;

use super::keys::{distance, scroll};
use crate::input::Key;
use crate::message::{Command, Deed, Needs, Proof, RequestError, Scope, Subject};
use crate::plain;
use crate::prompt::{Asks, Prompt};
use crate::state::State;

pub(super) fn press(state: &mut State, key: Key) -> Vec<Command> {
    let rows = state.rows();
    let Some(prompt) = &mut state.prompt else { return Vec::new() };
    let mut commands = Vec::new();
    match (key, &prompt.asks) {
        (Key::Esc, _) => close(state),
        (Key::Enter, _) => commands = enter(state),
        (Key::Char(letter), Asks::Yes(deed)) => {
            if matches!(letter, 'y' | 'Y') {
                commands = vec![Command::Do(deed.clone(), Proof::Nothing)];
            }
            close(state);
        }
        (Key::Char(letter), _) => prompt.put(letter),
        (Key::Backspace, _) => drop(prompt.text.pop()),
        (Key::Ctrl('u'), _) => prompt.text.clear(),
        (key, _) => {
            // What is to be decided can be read to its end meanwhile.
            if let Some(by) = distance(key, rows) {
                scroll(state, by);
            }
        }
    }
    follow(state);
    commands
}

/// A filter works while it is typed.
fn follow(state: &mut State) {
    if let Some(Prompt { asks: Asks::Filter, text }) = &state.prompt {
        let text = text.clone();
        if let Some(filter) = state.filter() {
            *filter = text;
        }
    }
}

fn close(state: &mut State) {
    let filters = state.prompt.take().is_some_and(|prompt| prompt.asks == Asks::Filter);
    if let (true, Some(filter)) = (filters, state.filter()) {
        filter.clear();
    }
}

fn enter(state: &mut State) -> Vec<Command> {
    let Some(Prompt { asks, text }) = state.prompt.take() else { return Vec::new() };
    let text = text.trim().to_owned();
    match asks {
        Asks::Filter => {
            if let Some(filter) = state.filter() {
                *filter = text;
            }
            Vec::new()
        }
        Asks::Note(id) => vec![Command::Do(Deed::Deny(id, text), Proof::Nothing)],
        Asks::Word(deed) if deed.action() == Some(text.as_str()) => vec![Command::Do(deed, Proof::Word)],
        Asks::Word(deed) => {
            state
                .say(false, format!("that was not `{}`; nothing is done", deed.action().unwrap_or_default()));
            Vec::new()
        }
        Asks::Code(deed) if !text.is_empty() => vec![Command::Do(deed, Proof::Code(text))],
        Asks::Code(_) | Asks::Yes(_) => {
            state.say(false, "nothing is done");
            Vec::new()
        }
    }
}

/// What a deed takes is known.
pub(super) fn needed(
    state: &mut State,
    deed: Deed,
    answer: Result<(Needs, bool), RequestError>,
) -> Vec<Command> {
    match answer {
        Err(RequestError(why)) => state.say(false, plain::line(&why)),
        Ok((Needs::Code, _)) => state.prompt = Some(Prompt::new(Asks::Code(deed))),
        // Without a code an agent is not asked; it is refused, on the record.
        Ok((_, true) | (Needs::Nothing, false)) => return vec![Command::Do(deed, Proof::Nothing)],
        Ok((Needs::Word, false)) => state.prompt = Some(Prompt::new(Asks::Word(deed))),
    }
    unlist(state);
    Vec::new()
}

/// What became of a deed.
pub(super) fn done(state: &mut State, deed: &Deed, answer: Result<Value, RequestError>) -> Vec<Command> {
    if let Err(RequestError(why)) = answer {
        state.say(false, plain::line(&why));
        return Vec::new();
    }
    let said = match deed {
        Deed::Approve(_, Scope::Once) => "approved",
        Deed::Approve(_, Scope::Session) => "approved, and whatever the same rules ask about in this session",
        Deed::Deny(..) => "denied",
        Deed::Monitor => "monitor: rules only watch; nothing is stopped or asked about",
        Deed::Enforce => "enforce: what rules say happens",
    };
    state.say(true, said);
    match deed {
        Deed::Approve(..) | Deed::Deny(..) => {
            state.pages.pop();
            vec![Command::Get(Subject::Approvals)]
        }
        Deed::Monitor | Deed::Enforce => vec![Command::Get(Subject::Health)],
    }
}

/// Nobody goes on typing about a call that waits no more.
pub(super) fn unlist(state: &mut State) {
    let waits = state.prompt.as_ref().is_none_or(|prompt| match &prompt.asks {
        Asks::Note(id) => state.approvals.find(id).is_some(),
        Asks::Word(Deed::Approve(shown, _)) | Asks::Code(Deed::Approve(shown, _)) => {
            state.approvals.find(&shown.id).is_some_and(|card| card.is_shown(shown))
        }
        _ => true,
    });
    if !waits {
        state.prompt = None;
        state.say(false, "this call waits no more: it was answered elsewhere, or its time is over");
    }
}
