// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Hooks of programs, with the Rust client: one round trip on the socket, and one stream kept full.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use tenterhook_client::{Address, Client, Error, Fire, Hook, Response};
use tokio::task::JoinSet;

use crate::cases::SetupError;
use crate::daemon::Home;
use crate::measure::Measured;

/// How often one hook is asked, one after the other.
const ROUNDS: usize = 2_000;
/// How many events are fired to fill a stream, and how many of them are under way at once.
const EVENTS: usize = 4_000;
const AT_ONCE: usize = 64;
/// Hooks that are asked about each of them, all on one stream.
const HOOKS: u32 = 10;

pub(crate) fn run() -> Result<Vec<Measured>, SetupError> {
    let home = Home::new(Some(&["--relaxed"]), "")?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(measure(&home)).map_err(|error| SetupError(error.to_string()))
}

async fn measure(home: &Home) -> Result<Vec<Measured>, Error> {
    let (program, agent) = (client(home)?, client(home)?);
    let hook =
        || Hook::on("PreToolUse").timeout(Duration::from_secs(40)).run(|_| async { Response::proceed() });
    program.register(hook()).await?;
    for _ in 0..ROUNDS / 10 {
        agent.fire(event()).await?;
    }
    let (mut asked, mut whole) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let began = Instant::now();
        let fired = agent.fire(event()).await?;
        whole.push(began.elapsed().as_secs_f64() * 1e9);
        // What the daemon itself measured: from the question to the answer that it has read.
        let took = fired.outcome.pointer("/trace/0/took_us").and_then(serde_json::Value::as_f64);
        asked.extend(took.map(|us| us * 1e3));
    }
    let one = full(&agent).await?;
    for _ in 1..HOOKS {
        program.register(hook()).await?;
    }
    let ten = full(&agent).await? / f64::from(HOOKS);
    Ok(vec![
        Measured::of("sdk: one hook asked over the socket", Some(150e3), 1, asked),
        Measured::of("sdk: fire with that hook, relaxed", None, 1, whole),
        Measured::of("sdk: fire with that hook, 64 at once, each", None, 1, vec![one]),
        // 10,000 a second.
        Measured::of("sdk: event on one full stream, each", Some(100e3), 1, vec![ten]),
    ])
}

/// How long one event takes when many are under way, in nanoseconds.
async fn full(agent: &Client) -> Result<f64, Error> {
    let room = Arc::new(tokio::sync::Semaphore::new(AT_ONCE));
    let (began, mut calls) = (Instant::now(), JoinSet::new());
    for _ in 0..EVENTS {
        // It is never closed.
        let Ok(room) = Arc::clone(&room).acquire_owned().await else { break };
        let agent = agent.clone();
        calls.spawn(async move {
            let fired = agent.fire(event()).await;
            drop(room);
            fired
        });
    }
    while let Some(fired) = calls.join_next().await {
        fired.map_err(|error| Error::Json(error.to_string()))??;
    }
    #[expect(clippy::cast_precision_loss, reason = "it is a small number")]
    let events = EVENTS as f64;
    Ok(began.elapsed().as_secs_f64() * 1e9 / events)
}

fn client(home: &Home) -> Result<Client, Error> {
    Client::new(Address::Unix(home.socket()))
}

fn event() -> Fire {
    let payload = json!({
        "tool": "Bash", "args": {"command": "cargo test --workspace"}, "context": {"workingDirectory": "/"},
    });
    Fire::new("PreToolUse", &payload).session("bench").source("bench")
}
