// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What other rules would have said about what happened: the same replay as `tenterhook policy backtest`.

use std::sync::Arc;
use std::time::Instant;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::on;
use serde::Deserialize;
use serde_json::{Value, json};
use tenterhook_event::Timestamp;
use tenterhook_home::backtest::Backtest;
use tenterhook_home::{Failure, Place, door, moment};
use tenterhook_ledger::Reader;
use tokio::sync::Semaphore;

use super::policy::replace;
use super::route::{Gives, Route, Takes};
use super::{failed, read, refuse};
use crate::daemon::Daemon;

pub(super) const ROUTES: &[Route] =
    &[Route::post("/v1/policy/backtest", "backtestPolicy", |method| on(method, backtest))
        .about("Replays the ledger through a text in place of the person's policy: which decisions would differ. Nothing is changed.")
        .takes(Takes::Json("BacktestRequest"))
        .gives(Gives::Json("Backtest"))
        .refuses(&[400, 422, 503])];

/// A replay has a core or more to itself, so there is one at a time.
static ONE: Semaphore = Semaphore::const_new(1);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    text: String,
    since: Option<String>,
    until: Option<String>,
}

async fn backtest(State(daemon): State<Arc<Daemon>>, body: Bytes) -> Response {
    let hint = "send {\"text\": …}, and {\"since\": …, \"until\": …} if not all of the ledger is meant";
    let wanted: Wanted = match read(&body, "request to replay", hint) {
        Ok(wanted) => wanted,
        Err(response) => return *response,
    };
    let moment =
        |said: &Option<String>| said.as_deref().map(|said| moment::read(said, door::now_ms())).transpose();
    let (since, until) = match (moment(&wanted.since), moment(&wanted.until)) {
        (Ok(since), Ok(until)) => (since, until),
        (Err(why), _) | (_, Err(why)) => return refuse(StatusCode::BAD_REQUEST, &why, Some(hint)),
    };
    let Ok(_turn) = ONE.try_acquire() else {
        let why = "another replay is under way";
        return refuse(StatusCode::SERVICE_UNAVAILABLE, why, Some("wait until it is done"));
    };
    match tokio::task::spawn_blocking(move || replayed(&daemon, wanted.text, since, until)).await {
        Ok(Ok(Ok(replay))) => Json(replay).into_response(),
        Ok(Ok(Err(problems))) => {
            let error =
                json!({"message": "not all of it can be used", "hint": "the problems have their places"});
            let answer = Json(json!({"error": error, "problems": problems}));
            (StatusCode::UNPROCESSABLE_ENTITY, answer).into_response()
        }
        Ok(Err(failure)) => failed(&failure),
        Err(error) => refuse(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string(), None),
    }
}

/// The replay, or what in the text cannot be used.
fn replayed(
    daemon: &Daemon,
    text: String,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
) -> Result<Result<Value, Value>, Failure> {
    let mut sources = daemon.generations.sources(&Place::default());
    replace(&mut sources, &daemon.home.policy().display().to_string(), text);
    let loaded = sources.load();
    let problems: Vec<_> = sources.problems.iter().chain(&loaded.problems).collect();
    if !problems.is_empty() {
        return Ok(Err(json!(problems)));
    }
    let backtest = Backtest {
        rules: &loaded.rules,
        person: daemon.generations.person(),
        from_ms: since.map_or(0, Timestamp::unix_ms),
        until_ms: until.map_or(u64::MAX, Timestamp::unix_ms),
        // Calls are answered meanwhile.
        threads: std::thread::available_parallelism().map_or(1, |cores| cores.get().saturating_sub(1).max(1)),
    };
    // A reader of its own: this one is busy for long.
    let reader = Reader::open(&daemon.home.ledger()).map_err(|error| Failure::failed(error.to_string()))?;
    let began = Instant::now();
    let replay = backtest.run(&reader, &mut |_, _| {})?;
    let mut answer = serde_json::to_value(&replay).map_err(std::io::Error::from)?;
    if let Some(answer) = answer.as_object_mut() {
        let took = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        answer.insert("took_ms".to_owned(), json!(took));
    }
    Ok(Ok(answer))
}
