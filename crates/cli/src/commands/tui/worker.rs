// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Sends the view's requests to the daemon, one after the other.

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
use crate::error::CommandError;
use tenterhook_daemon_control::gate::caller_standing;
use tenterhook_ledger_commands::ledger::proof;

use crate::ask;

/// Starts the thread that sends requests to the daemon. Commands reach the thread over the returned channel.
pub(super) fn spawn_worker(home: Home, sender: TuiSender) -> Result<Sender<TuiCommand>, CommandError> {
    let (to_worker, commands) = channel();
    thread::Builder::new().name("work".to_owned()).spawn(move || run_commands(&home, &commands, &sender))?;
    Ok(to_worker)
}

fn run_commands(home: &Home, commands: &Receiver<TuiCommand>, sender: &TuiSender) {
    while let Ok(first) = commands.recv() {
        let mut batch = vec![first];
        // Identical requests are sent once.
        for next in commands.try_iter() {
            if !(matches!(next, TuiCommand::Fetch(_)) && batch.contains(&next)) {
                batch.push(next);
            }
        }
        for command in batch {
            let sent = match command {
                TuiCommand::Fetch(subject) => {
                    let answer = get_subject(home, &subject).map_err(request_error);
                    sender.send(TuiMessage::Fetched(subject, answer))
                }
                TuiCommand::AskProofNeeded(action) => {
                    let answer = action_proof_needed(home, &action).map_err(request_error);
                    sender.send(TuiMessage::ProofNeeded(action, answer))
                }
                TuiCommand::Perform(action, proof) => {
                    let answer = perform_action(home, &action, &proof).map_err(request_error);
                    sender.send(TuiMessage::ActionDone(action, answer))
                }
                TuiCommand::Quit => return,
            };
            if !sent {
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

/// Checks the daemon's proof in this process, without relying on the daemon.
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
        (Err(problem), _) => json!({"holds": false, "problem": problem.to_string()}),
        (_, Err(problem)) => json!({"holds": false, "problem": problem.to_string()}),
    })
}

fn action_proof_needed(home: &Home, action: &UserAction) -> Result<(ProofNeeded, bool), CommandError> {
    let Some(action) = action.privileged_action() else { return Ok((ProofNeeded::Nothing, false)) };
    let action = Action::from_name(action)
        .ok_or_else(|| CommandError::internal(format!("`{action}` is not a privileged action")))?;
    let (shown, guarded) = caller_standing(home, action)?;
    let needs = match shown {
        Shown::Code => ProofNeeded::Code,
        Shown::Tty => ProofNeeded::Word,
        Shown::Nothing => ProofNeeded::Nothing,
    };
    Ok((needs, guarded))
}

fn perform_action(home: &Home, action: &UserAction, proof: &GivenProof) -> Result<Value, CommandError> {
    let (method, path, body) = action.api_request(proof);
    ask::request(home, method, &path, Some(&body))?.ok_or_else(no_daemon)
}

fn no_daemon() -> CommandError {
    CommandError::not_found("no daemon is running").hint("start one with `tenterhook start`")
}

/// Converts an error to one line with its hints.
fn request_error(error: CommandError) -> RequestError {
    RequestError([vec![error.message], error.hints].concat().join("; "))
}
