// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What was fetched.

use serde_json::Value;

use super::{learn, waiting};
use crate::message::{Command, RequestError, Subject};
use crate::plain;
use crate::read::{Decided, Detail, Health, Ledger, Line, Session, Step};
use crate::state::{Fetching, Open, Proved, State};

pub(super) fn got(state: &mut State, subject: Subject, answer: Result<Value, RequestError>) -> Vec<Command> {
    let answer = match answer {
        Ok(answer) => answer,
        Err(RequestError(why)) => {
            failed(state, &subject, plain::line(&why));
            return Vec::new();
        }
    };
    match subject {
        Subject::Decisions(before) => {
            let more = answer.get("next").is_some_and(|next| !next.is_null());
            decisions(state, &answer);
            if before.is_some() || !more {
                state.fetching = if more { Fetching::No } else { Fetching::Done };
            }
        }
        Subject::DecisionsOf(_) => decisions(state, &answer),
        Subject::Decision(sought) => {
            for page in &mut state.pages {
                if let Open::Decision { seq, found, .. } = &mut page.open
                    && *seq == sought
                {
                    *found = Decided::read(&answer).map(Box::new);
                }
            }
        }
        Subject::Proof(seq) => proved(state, seq, &answer),
        Subject::Sessions => state.sessions.replace(Session::all(&answer)),
        Subject::Session(sought) => {
            if let Some(Open::Session { found, .. }) = session(state, &sought) {
                *found = Some(Box::new(Detail::read(&answer)));
            }
        }
        Subject::Timeline(sought) => {
            if let Some(Open::Session { steps, .. }) = session(state, &sought) {
                *steps = Step::all(&answer);
            }
        }
        Subject::Approvals => waiting(state, &answer),
        Subject::Health => state.health = Health::read(&answer),
        Subject::Ledger => state.ledger = Ledger::read(&answer),
    }
    Vec::new()
}

fn decisions(state: &mut State, answer: &Value) {
    let leaves = answer.get("leaves").and_then(Value::as_array).into_iter().flatten();
    for line in leaves.filter_map(Line::recorded) {
        learn(state, line);
    }
}

fn session<'a>(state: &'a mut State, sought: &str) -> Option<&'a mut Open> {
    let pages = state.pages.iter_mut().map(|page| &mut page.open);
    pages.into_iter().find(|open| matches!(open, Open::Session { key, .. } if key == sought))
}

/// What whoever checked the proof found: `{holds, hash, size, root, key}` or `{problem}`.
fn proved(state: &mut State, sought: u64, answer: &Value) {
    let text = |key: &str| plain::line(answer.get(key).and_then(Value::as_str).unwrap_or_default());
    let holds = answer.get("holds") == Some(&Value::Bool(true));
    for page in &mut state.pages {
        if let Open::Decision { seq, found, proved } = &mut page.open
            && *seq == sought
        {
            // What is proved has to be what is shown.
            let shown = found.as_ref().is_some_and(|found| found.hash == text("hash"));
            *proved = match (holds, shown) {
                (true, true) => {
                    let size = answer.get("size").and_then(Value::as_u64).unwrap_or_default();
                    Proved::Yes { size, root: text("root"), key: text("key") }
                }
                (true, false) => Proved::No("the proof is about another leaf than what is shown".to_owned()),
                (false, _) => Proved::No(text("problem")),
            };
        }
    }
}

fn failed(state: &mut State, subject: &Subject, why: String) {
    match subject {
        Subject::Proof(seq) => proved(state, *seq, &serde_json::json!({"problem": why})),
        Subject::Decisions(Some(_)) => {
            state.fetching = Fetching::No;
            state.say(false, why);
        }
        _ => state.say(false, why),
    }
}
