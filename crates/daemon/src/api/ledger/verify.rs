// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Checking all of the ledger, in the background: one check at a time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use tenterhook_event::Timestamp;
use tenterhook_home::door;
use tenterhook_ledger::checkpoint::Checkpoint;
use tenterhook_ledger::{Expect, Place, Problem, Reader, Verified, VerifierKey};

use crate::api::{read, refuse};
use crate::daemon::Daemon;

/// How the check stands.
#[derive(Default)]
pub(crate) struct Verification(Mutex<Option<Check>>);

struct Check {
    started: Timestamp,
    ended: Option<Timestamp>,
    checked: u64,
    of: Option<u64>,
    result: Option<Value>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// A key the log must have had.
    key: Option<String>,
    /// A checkpoint from before, which the log must extend.
    since: Option<String>,
}

impl Verification {
    fn lock(&self) -> MutexGuard<'_, Option<Check>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn json(&self) -> Option<Value> {
        self.lock().as_ref().map(|check| {
            json!({
                "running": check.ended.is_none(),
                "started": check.started,
                "ended": check.ended,
                "checked": check.checked,
                "of": check.of,
                "result": check.result,
            })
        })
    }

    /// Begins, unless a check is under way.
    fn begin(&self) -> bool {
        let mut check = self.lock();
        if check.as_ref().is_some_and(|check| check.ended.is_none()) {
            return false;
        }
        *check = Some(Check { started: door::now(), ended: None, checked: 0, of: None, result: None });
        true
    }

    fn progress(&self, checked: u64, of: Option<u64>) {
        if let Some(check) = self.lock().as_mut() {
            (check.checked, check.of) = (checked, of);
        }
    }

    fn end(&self, result: Value) {
        if let Some(check) = self.lock().as_mut() {
            (check.ended, check.result) = (Some(door::now()), Some(result));
        }
    }
}

pub(super) async fn begin(State(daemon): State<Arc<Daemon>>, body: Bytes) -> Response {
    let hint = "send {}, or {\"key\": …, \"since\": …}";
    let wanted = if body.is_empty() { Ok(Wanted::default()) } else { read(&body, "request to verify", hint) };
    let expect = match wanted.and_then(expect) {
        Ok(expect) => expect,
        Err(response) => return *response,
    };
    if daemon.verification.begin() {
        let daemon = Arc::clone(&daemon);
        tokio::task::spawn_blocking(move || check(&daemon, expect));
    }
    (StatusCode::ACCEPTED, Json(daemon.verification.json())).into_response()
}

pub(super) async fn status(State(daemon): State<Arc<Daemon>>) -> Response {
    if let Some(status) = daemon.verification.json() {
        return Json(status).into_response();
    }
    let hint = "POST /v1/ledger/verify begins";
    refuse(StatusCode::NOT_FOUND, "nothing was checked since the daemon began", Some(hint))
}

fn expect(wanted: Wanted) -> Result<Expect, Box<Response>> {
    let wrong = |message: String| Box::new(refuse(StatusCode::BAD_REQUEST, &message, None));
    let key = wanted.key.map(|key| key.trim().parse::<VerifierKey>()).transpose();
    let key = key.map_err(|error| wrong(format!("`key` is no public key: {error}")))?;
    if let Some(Err(error)) = wanted.since.as_deref().map(Checkpoint::parse) {
        return Err(wrong(format!("`since` is no checkpoint: {error}")));
    }
    Ok(Expect { key, since: wanted.since })
}

fn check(daemon: &Daemon, expect: Expect) {
    let verification = &daemon.verification;
    let dir = daemon.home.ledger();
    // The file beside the store is one more thing that whoever rolls it back has to think of.
    let beside = tenterhook_ledger::published_checkpoint(&dir);
    let since = expect.since.or(beside.filter(|note| Checkpoint::parse(note).is_ok()));
    let mut progress = |checked, of| verification.progress(checked, of);
    // A reader of its own: this one is busy for long.
    let result = match Reader::open(&dir) {
        Ok(reader) => match reader.verify(Expect { since, ..expect }, &mut progress) {
            Ok(verified) => good(&verified),
            Err(problem) => bad(&problem),
        },
        Err(error) => json!({"verified": false, "leaf": null, "problem": error.to_string()}),
    };
    if result.get("verified") == Some(&Value::Bool(false)) {
        tracing::error!(%result, "the ledger is not as it was signed");
    }
    verification.end(result);
    daemon.observers.live.tell("verify", || verification.json().unwrap_or_default());
}

fn good(verified: &Verified) -> Value {
    json!({
        "verified": true,
        "origin": verified.origin,
        "size": verified.size,
        "root": verified.root.to_string(),
        "unpublished": verified.unpublished,
        "pruned": verified.pruned,
        "erased": verified.erased,
        "checkpoints": verified.checkpoints,
        "keys": verified.keys.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "trusted_on_first_use": verified.on_first_use,
    })
}

fn bad(problem: &Problem) -> Value {
    let leaf = match problem.place {
        Place::Leaf(seq) | Place::Leaves(seq, _) => Some(seq),
        _ => None,
    };
    json!({"verified": false, "leaf": leaf, "problem": problem.to_string()})
}
