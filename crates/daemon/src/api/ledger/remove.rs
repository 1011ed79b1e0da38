// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What takes something out of the ledger: through the gate, and a leaf says so.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::json;
use tenterhook_home::authority::{Action, Proof};
use tenterhook_home::{door, moment, removal, secrets};
use tenterhook_ledger::Reader;

use crate::api::authority::refused;
use crate::api::{failed, read, refuse};
use crate::catch_up;
use crate::daemon::Daemon;
use crate::listen::Peer;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Erase {
    from: u64,
    to: Option<u64>,
    reason: String,
    #[serde(default)]
    proof: Proof,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Prune {
    to: Option<u64>,
    before: Option<String>,
    reason: String,
    #[serde(default)]
    proof: Proof,
}

pub(super) async fn erase(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    body: Bytes,
) -> Response {
    let hint = "send {\"from\": …, \"to\": …, \"reason\": …, \"proof\": …}";
    let Erase { from, to, reason, proof } = match read(&body, "request to erase", hint) {
        Ok(wanted) => wanted,
        Err(response) => return *response,
    };
    let to = to.unwrap_or(from);
    if from > to {
        return refuse(StatusCode::BAD_REQUEST, "`to` comes before `from`", Some(hint));
    }
    match daemon.readers.with(Reader::size).await {
        Ok(size) => match removal::exists(to, size) {
            Ok(()) => remove(&daemon, Action::LedgerErase, (from, to), reason, peer, &proof).await,
            Err(failure) => failed(&failure),
        },
        Err(response) => *response,
    }
}

pub(super) async fn prune(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    body: Bytes,
) -> Response {
    let hint = "send {\"to\": …} or {\"before\": …}, with \"reason\" and \"proof\"";
    let Prune { to, before, reason, proof } = match read(&body, "request to prune", hint) {
        Ok(wanted) => wanted,
        Err(response) => return *response,
    };
    let before = before.map(|before| moment::read(&before, door::now_ms()));
    let found = match (to, before) {
        (Some(to), None) => daemon.readers.with(Reader::size).await.map(|size| (Some(to), size)),
        (None, Some(Ok(before))) => {
            let last =
                move |reader: &Reader| Ok((removal::last_before(reader, before.unix_ms())?, reader.size()?));
            daemon.readers.with(last).await
        }
        (_, Some(Err(why))) => return refuse(StatusCode::BAD_REQUEST, &why, Some(hint)),
        _ => return refuse(StatusCode::BAD_REQUEST, "either `to` or `before` is needed", Some(hint)),
    };
    match found {
        Ok((Some(to), size)) => match removal::exists(to, size) {
            Ok(()) => remove(&daemon, Action::LedgerPrune, (0, to), reason, peer, &proof).await,
            Err(failure) => failed(&failure),
        },
        Ok((None, _)) => Json(json!({"from": 0, "to": null, "leaf": null})).into_response(),
        Err(response) => *response,
    }
}

async fn remove(
    daemon: &Arc<Daemon>,
    action: Action,
    (from, to): (u64, u64),
    reason: String,
    peer: Peer,
    proof: &Proof,
) -> Response {
    let detail = json!({"from": from, "to": to, "reason": reason});
    if let Err(why) = daemon.admit(action, peer, proof, detail, Vec::new()).await {
        return refused(&why);
    }
    let (ledger, who) = (daemon.ledger.clone(), daemon.user_of(peer));
    let removed = tokio::task::spawn_blocking(move || match action {
        Action::LedgerErase => ledger.erase(from, to, &who, &reason, &secrets),
        _ => ledger.prune(to, &who, &reason, &secrets),
    });
    let why = match removed.await {
        Ok(Ok(appended)) => {
            catch_up::anew(daemon);
            return Json(json!({"from": from, "to": to, "leaf": appended.seq()})).into_response();
        }
        Ok(Err(error)) => error.to_string(),
        Err(error) => error.to_string(),
    };
    refuse(StatusCode::INTERNAL_SERVER_ERROR, &format!("nothing was removed: {why}"), None)
}
