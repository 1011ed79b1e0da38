// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What the view wants from the daemon, one after the other.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use serde_json::{Value, json};
use tenterhook_authority::{Action, Needs as Shown};
use tenterhook_home::Home;
use tenterhook_ledger::{Hash, LeafProof};
use tenterhook_tui::{Command, Deed, Message, Needs, Proof, RequestError, Subject};

use super::Teller;
use crate::commands::ledger::proof;
use crate::error::CommandError;
use tenterhook_daemon_control::gate::caller_standing;

use crate::ask;

/// Begins to work, in a thread of its own; what is wanted is sent to it.
pub(super) fn begin(home: Home, teller: Teller) -> Result<Sender<Command>, CommandError> {
    let (send, wanted) = channel();
    thread::Builder::new().name("work".to_owned()).spawn(move || work(&home, &wanted, &teller))?;
    Ok(send)
}

fn work(home: &Home, wanted: &Receiver<Command>, teller: &Teller) {
    while let Ok(first) = wanted.recv() {
        let mut commands = vec![first];
        // The same twice is asked once.
        for next in wanted.try_iter() {
            if !(matches!(next, Command::Get(_)) && commands.contains(&next)) {
                commands.push(next);
            }
        }
        for command in commands {
            let told = match command {
                Command::Get(subject) => {
                    let answer = get(home, &subject).map_err(in_words);
                    teller.tell(Message::Got(subject, answer))
                }
                Command::Ask(deed) => {
                    let answer = needs(home, &deed).map_err(in_words);
                    teller.tell(Message::Needed(deed, answer))
                }
                Command::Do(deed, proof) => {
                    let answer = carry_out(home, &deed, &proof).map_err(in_words);
                    teller.tell(Message::Done(deed, answer))
                }
                Command::Quit => return,
            };
            if !told {
                return;
            }
        }
    }
}

fn get(home: &Home, subject: &Subject) -> Result<Value, CommandError> {
    let answer = ask::get(home, &subject.path())?.ok_or_else(no_daemon)?;
    match subject {
        Subject::Proof(_) => checked(home, answer.as_str().unwrap_or_default()),
        _ => Ok(answer),
    }
}

/// The daemon's proof, checked here: its word alone proves nothing.
fn checked(home: &Home, text: &str) -> Result<Value, CommandError> {
    let key = proof::own_key(home)?;
    Ok(match (proof::check(text, &key), text.parse::<LeafProof>()) {
        (Ok((_, tree)), Ok(proof)) => json!({
            "holds": true,
            "hash": Hash::of_leaf(&proof.leaf).to_string(),
            "size": tree.size,
            "root": tree.root.to_string(),
            "key": key.to_string(),
        }),
        (Err(problem), _) => json!({"holds": false, "problem": problem}),
        (_, Err(problem)) => json!({"holds": false, "problem": problem.to_string()}),
    })
}

fn needs(home: &Home, deed: &Deed) -> Result<(Needs, bool), CommandError> {
    let Some(action) = deed.action() else { return Ok((Needs::Nothing, false)) };
    let action = Action::from_name(action)
        .ok_or_else(|| CommandError::internal(format!("`{action}` is nothing that passes the gate")))?;
    let (shown, guarded) = caller_standing(home, action)?;
    let needs = match shown {
        Shown::Code => Needs::Code,
        Shown::Tty => Needs::Word,
        Shown::Nothing => Needs::Nothing,
    };
    Ok((needs, guarded))
}

fn carry_out(home: &Home, deed: &Deed, proof: &Proof) -> Result<Value, CommandError> {
    let (method, path, body) = deed.request(proof);
    ask::request(home, method, &path, Some(&body))?.ok_or_else(no_daemon)
}

fn no_daemon() -> CommandError {
    CommandError::not_found("no daemon is running").hint("`tenterhook start` starts one")
}

/// One line, with what to do next.
fn in_words(error: CommandError) -> RequestError {
    RequestError([vec![error.message], error.hints].concat().join("; "))
}
