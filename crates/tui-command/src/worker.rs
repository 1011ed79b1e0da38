// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Sends the view's requests to the daemon, one after the other.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use serde_json::{Value, json};
use tenterhook_allow_commands::allow::allow_once;
use tenterhook_authority::{Action, ProofRequirement as Shown};
use tenterhook_command::error::CommandError;
use tenterhook_daemon_control::ask;
use tenterhook_daemon_control::gate::caller_standing;
use tenterhook_home::env::Env;
use tenterhook_home::{Home, make_private_dir, regular_file, write_atomic};
use tenterhook_ledger::{Hash, LeafProof};
use tenterhook_ledger_commands::ledger::proof;
use tenterhook_tui::{
    FetchTarget, GivenProof, ProofNeeded, RequestError, ShownRule, TuiCommand, TuiMessage, UserAction,
};

use super::TuiSender;

/// Starts the thread that sends requests to the daemon. Commands reach the thread over the returned channel.
pub(super) fn spawn_worker(
    home: Home,
    env: Env,
    sender: TuiSender,
) -> Result<Sender<TuiCommand>, CommandError> {
    let (to_worker, commands) = channel();
    thread::Builder::new()
        .name("work".to_owned())
        .spawn(move || run_commands(&home, &env, &commands, &sender))?;
    Ok(to_worker)
}

fn run_commands(home: &Home, env: &Env, commands: &Receiver<TuiCommand>, sender: &TuiSender) {
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
                    let answer = perform_action(home, env, &action, &proof).map_err(request_error);
                    sender.send(TuiMessage::ActionDone(action, answer))
                }
                // The view itself carries these out.
                TuiCommand::Quit | TuiCommand::RingBell | TuiCommand::Copy(_) => true,
            };
            if !sent {
                return;
            }
        }
    }
}

fn get_subject(home: &Home, subject: &FetchTarget) -> Result<Value, CommandError> {
    let (path, body) = subject.api_request();
    let method = if body.is_some() { "POST" } else { "GET" };
    let answer = ask::request(home, method, &path, body.as_ref())?.ok_or_else(no_daemon)?;
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

fn perform_action(
    home: &Home,
    env: &Env,
    action: &UserAction,
    proof: &GivenProof,
) -> Result<Value, CommandError> {
    if let Some((method, path, body)) = action.api_request(proof) {
        return ask::request(home, method, &path, Some(&body))?.ok_or_else(no_daemon);
    }
    match action {
        UserAction::AllowOnce(seq) => {
            allow_once(home, env, &seq.to_string(), |detail| {
                let body =
                    json!({"action": Action::Allow.name(), "detail": detail, "proof": proof.to_json()});
                ask::request(home, "POST", "/v1/authority", Some(&body))?.map(drop).ok_or_else(no_daemon)
            })?;
        }
        UserAction::AddRule(rule) => add_rule(home, rule)?,
        _ => {}
    }
    Ok(Value::Null)
}

/// Adds a rule to the user's policy, unless the policy changed since the rule was drafted.
fn add_rule(home: &Home, rule: &ShownRule) -> Result<(), CommandError> {
    let path = home.policy();
    if regular_file(&path)?.unwrap_or_default() != rule.before {
        return Err(CommandError::conflict(format!("`{}` was changed in the meantime", path.display()))
            .hint("draft the rule again"));
    }
    make_private_dir(&home.config)?;
    write_atomic(&path, rule.after.as_bytes(), 0o600)
}

fn no_daemon() -> CommandError {
    CommandError::not_found("no daemon is running").hint("start one with `tenterhook start`")
}

/// Converts an error to one line with its hints.
fn request_error(error: CommandError) -> RequestError {
    RequestError([vec![error.message], error.hints].concat().join("; "))
}
