// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A call that waits for an approval.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use tenterhook_model_server::ConversationScript;

use super::{PROMPT, Seen, guarded, shell};
use crate::client::Client;
use crate::programs;
use crate::world::World;

const POLL_INTERVAL: Duration = Duration::from_millis(200);

pub(super) fn ask(client: &Client) -> Result<Seen> {
    let world = guarded(client)?;
    world.write_policy(&json!({"version": 1, "rules": [{
        "id": "approved-first",
        "description": "A person approves this file",
        "match": {"effect": {"does": ["write"], "path": ["**/approved.txt"]}},
        "verdict": "ask",
        "reason": "A person has to approve this.",
    }]}))?;
    let codes = world.enroll()?;
    let _daemon = world.serve()?;
    let script = ConversationScript::new()
        .turn(shell(client, "touch approved.txt"))
        .turn(shell(client, "touch went-on.txt"));
    let file = world.project().join("approved.txt");
    let (session, approved, early) = std::thread::scope(|scope| {
        let session = scope.spawn(|| client.run(&world, PROMPT, script));
        let (mut approved, mut early) = (false, false);
        while !approved && !session.is_finished() {
            early |= file.exists();
            if let Some(id) = waiting(&world)? {
                let code = codes.next()?;
                answer(&world, &["approvals", "approve", &id, "--code", &code])?;
                approved = true;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        let session = session.join().ok().context("the client's thread panicked")??;
        Ok::<_, anyhow::Error>((session, approved, early))
    })?;
    let (ran, went_on) = (file.exists(), world.project().join("went-on.txt").exists());
    Seen::new(world, &session, approved && ran && went_on, !early && (approved || !ran))
}

/// Id of a waiting call.
fn waiting(world: &World) -> Result<Option<String>> {
    let list: Value = serde_json::from_str(&answer(world, &["approvals", "list", "--json"])?)?;
    Ok(list.pointer("/pending/0/id").and_then(Value::as_str).map(ToOwned::to_owned))
}

/// Runs the `tenterhook` binary while a client runs. [`World::tenterhook`] cannot be used, because it ends
/// every other process group.
fn answer(world: &World, args: &[&str]) -> Result<String> {
    let output = world.command(programs::tenterhook()?)?.args(args).output()?;
    ensure!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}
