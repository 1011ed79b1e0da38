// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Measures hooks in other programs with the Rust client: one round trip on the socket, and one busy stream.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use tenterhook_client::{Address, Client, Error, FiredEvent, Hook, HookResponse};
use tokio::task::JoinSet;

use crate::cases::SetupError;
use crate::daemon::BenchHome;
use crate::measure::BenchResult;

/// Number of sequential calls of one hook.
const SEQUENTIAL_CALLS: usize = 2_000;
/// Number of events on a busy stream, and number of concurrent ones.
const STREAM_EVENTS: usize = 4_000;
const CONCURRENT_EVENTS: usize = 64;
/// Number of hooks that are called for each event, all on one stream.
const HOOK_COUNT: u32 = 10;

pub(crate) fn run() -> Result<Vec<BenchResult>, SetupError> {
    let home = BenchHome::new(Some(&["--relaxed"]), "")?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(measure(&home)).map_err(|error| SetupError(error.to_string()))
}

async fn measure(home: &BenchHome) -> Result<Vec<BenchResult>, Error> {
    let (program, agent) = (client(home)?, client(home)?);
    let hook =
        || Hook::on("PreToolUse").timeout(Duration::from_secs(40)).run(|_| async { HookResponse::proceed() });
    program.register(hook()).await?;
    for _ in 0..SEQUENTIAL_CALLS / 10 {
        agent.fire(event()).await?;
    }
    let (mut asked, mut whole) = (Vec::new(), Vec::new());
    for _ in 0..SEQUENTIAL_CALLS {
        let began = Instant::now();
        let fired = agent.fire(event()).await?;
        whole.push(began.elapsed().as_secs_f64() * 1e9);
        // The daemon measured this time, from sending the call to reading the reply.
        let took = fired.outcome.pointer("/trace/0/took_us").and_then(serde_json::Value::as_f64);
        asked.extend(took.map(|us| us * 1e3));
    }
    let one = busy_stream(&agent).await?;
    for _ in 1..HOOK_COUNT {
        program.register(hook()).await?;
    }
    let ten = busy_stream(&agent).await? / f64::from(HOOK_COUNT);
    Ok(vec![
        BenchResult::of("sdk: one hook asked over the socket", Some(150e3), 1, asked),
        BenchResult::of("sdk: fire with that hook, relaxed", None, 1, whole),
        BenchResult::of("sdk: fire with that hook, 64 at once, each", None, 1, vec![one]),
        // The limit corresponds to 10,000 events per second.
        BenchResult::of("sdk: event on one full stream, each", Some(100e3), 1, vec![ten]),
    ])
}

/// Time per event with many concurrent events, in nanoseconds.
async fn busy_stream(agent: &Client) -> Result<f64, Error> {
    let room = Arc::new(tokio::sync::Semaphore::new(CONCURRENT_EVENTS));
    let (began, mut calls) = (Instant::now(), JoinSet::new());
    for _ in 0..STREAM_EVENTS {
        // The semaphore is never closed.
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
    #[expect(clippy::cast_precision_loss, reason = "the number is small")]
    let events = STREAM_EVENTS as f64;
    Ok(began.elapsed().as_secs_f64() * 1e9 / events)
}

fn client(home: &BenchHome) -> Result<Client, Error> {
    Client::new(Address::Unix(home.socket()))
}

fn event() -> FiredEvent {
    let payload = json!({
        "tool": "Bash", "args": {"command": "cargo test --workspace"}, "context": {"workingDirectory": "/"},
    });
    FiredEvent::new("PreToolUse", &payload).session("bench").source("bench")
}
