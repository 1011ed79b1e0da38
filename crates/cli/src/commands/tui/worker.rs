// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What the view wants from the daemon, one after the other.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use serde_json::{Value, json};
use tenterhook_authority::{Action, ProofRequirement as Shown};
use tenterhook_home::Home;
use tenterhook_ledger::{Hash, LeafProof};
use tenterhook_tui::{
    FetchTarget, GivenProof, ProofNeeded, RequestError, TuiCommand, TuiMessage, UserAction,
};

use super::TuiSender;
use crate::commands::ledger::proof;
use crate::error::CommandError;
use tenterhook_daemon_control::gate::caller_standing;

use crate::ask;

/// Begins to work, in a thread of its own; what is wanted is sent to it.
pub(super) fn spawn_worker(home: Home, sender: TuiSender) -> Result<Sender<TuiCommand>, CommandError> {
    let (send, wanted) = channel();
    thread::Builder::new().name("work".to_owned()).spawn(move || run_commands(&home, &wanted, &sender))?;
    Ok(send)
}

fn run_commands(home: &Home, wanted: &Receiver<TuiCommand>, sender: &TuiSender) {
    while let Ok(first) = wanted.recv() {
        let mut commands = vec![first];
        // The same twice is asked once.
        for next in wanted.try_iter() {
            if !(matches!(next, TuiCommand::Fetch(_)) && commands.contains(&next)) {
                commands.push(next);
            }
        }
        for command in commands {
            let told = match command {
                TuiCommand::Fetch(subject) => {
                    let answer = get_subject(home, &subject).map_err(request_error);
                    sender.tell(TuiMessage::Fetched(subject, answer))
                }
                TuiCommand::AskProofNeeded(deed) => {
                    let answer = deed_needs(home, &deed).map_err(request_error);
                    sender.tell(TuiMessage::ProofNeeded(deed, answer))
                }
                TuiCommand::Perform(deed, proof) => {
                    let answer = carry_out(home, &deed, &proof).map_err(request_error);
                    sender.tell(TuiMessage::ActionDone(deed, answer))
                }
                TuiCommand::Quit => return,
            };
            if !told {
                return;
            }
        }
    }
}

fn get_subject(home: &Home, subject: &FetchTarget) -> Result<Value, CommandError> {
    let answer = ask::get(home, &subject.api_path())?.ok_or_else(no_daemon)?;
    match subject {
        FetchTarget::Proof(_) => check_proof(home, answer.as_str().unwrap_or_default()),
        _ => Ok(answer),
    }
}

/// The daemon's proof, checked here: its word alone proves nothing.
fn check_proof(home: &Home, text: &str) -> Result<Value, CommandError> {
    let key = proof::own_key(home)?;
    Ok(match (proof::check_proof(text, &key), text.parse::<LeafProof>()) {
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

fn deed_needs(home: &Home, deed: &UserAction) -> Result<(ProofNeeded, bool), CommandError> {
    let Some(action) = deed.privileged_action() else { return Ok((ProofNeeded::Nothing, false)) };
    let action = Action::from_name(action)
        .ok_or_else(|| CommandError::internal(format!("`{action}` is nothing that passes the gate")))?;
    let (shown, guarded) = caller_standing(home, action)?;
    let needs = match shown {
        Shown::Code => ProofNeeded::Code,
        Shown::Tty => ProofNeeded::Word,
        Shown::Nothing => ProofNeeded::Nothing,
    };
    Ok((needs, guarded))
}

fn carry_out(home: &Home, deed: &UserAction, proof: &GivenProof) -> Result<Value, CommandError> {
    let (method, path, body) = deed.api_request(proof);
    ask::request(home, method, &path, Some(&body))?.ok_or_else(no_daemon)
}

fn no_daemon() -> CommandError {
    CommandError::not_found("no daemon is running").hint("`tenterhook start` starts one")
}

/// One line, with what to do next.
fn request_error(error: CommandError) -> RequestError {
    RequestError([vec![error.message], error.hints].concat().join("; "))
}
