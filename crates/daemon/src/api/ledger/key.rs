// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Who signs: checkpoints on request, another key, and how the secret half lies on the disk.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::{Value, json};
use tenterhook_home::authority::{Action, Proof};
use tenterhook_ledger::{Cost, Reader, SoftwareKey};

use crate::api::authority::refused;
use crate::api::{read, refuse};
use crate::catch_up;
use crate::daemon::Daemon;
use crate::listen::Peer;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rotate {
    #[serde(default)]
    proof: Proof,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Seal {
    passphrase: String,
    #[serde(default)]
    proof: Proof,
}

pub(super) async fn checkpoint(State(daemon): State<Arc<Daemon>>) -> Response {
    if daemon.spooled().0 > 0 {
        catch_up::take_in(&daemon, &daemon.book).await;
    }
    let ledger = daemon.ledger.clone();
    match tokio::task::spawn_blocking(move || ledger.checkpoint()).await {
        Ok(Ok(note)) => Json(json!({"checkpoint": note})).into_response(),
        Ok(Err(error)) => unwritten(&error.to_string()),
        Err(error) => unwritten(&error.to_string()),
    }
}

pub(super) async fn show(State(daemon): State<Arc<Daemon>>) -> Response {
    let file = daemon.book.key_file();
    match daemon.readers.with(Reader::key).await {
        Ok(Some(key)) => {
            let sealed = SoftwareKey::is_sealed(&file);
            Json(json!({"key": key.to_string(), "id": key.id(), "sealed": sealed, "file": file}))
                .into_response()
        }
        Ok(None) => refuse(StatusCode::NOT_FOUND, "the ledger names no key", None),
        Err(response) => *response,
    }
}

pub(super) async fn rotate(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    body: Bytes,
) -> Response {
    let wanted = if body.is_empty() { Ok(Rotate::default()) } else { read(&body, "request", "send {}") };
    let Rotate { proof } = match wanted {
        Ok(wanted) => wanted,
        Err(response) => return *response,
    };
    // The new key is kept as the old one was when we opened it.
    if SoftwareKey::is_sealed(&daemon.book.key_file()) != daemon.opened_sealed {
        let why = "the key was sealed or unsealed since the daemon began";
        return refuse(StatusCode::CONFLICT, why, Some("`tenterhook restart`, then try again"));
    }
    if let Err(why) = daemon.admit(Action::KeyRotate, peer, &proof, Value::Null, Vec::new()).await {
        return refused(&why);
    }
    let ledger = daemon.ledger.clone();
    let note = match tokio::task::spawn_blocking(move || ledger.rotate(None)).await {
        Ok(Ok(note)) => note,
        Ok(Err(error)) => return unwritten(&error.to_string()),
        Err(error) => return unwritten(&error.to_string()),
    };
    match daemon.readers.with(Reader::key).await {
        Ok(key) => {
            let key = key.map(|key| key.to_string()).unwrap_or_default();
            Json(json!({"key": key, "checkpoint": note})).into_response()
        }
        Err(response) => *response,
    }
}

pub(super) async fn seal(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    body: Bytes,
) -> Response {
    change(&daemon, peer, &body, true).await
}

pub(super) async fn unseal(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    body: Bytes,
) -> Response {
    change(&daemon, peer, &body, false).await
}

/// Seals the key where it lies, or opens it there.
async fn change(daemon: &Arc<Daemon>, peer: Peer, body: &[u8], sealed: bool) -> Response {
    let hint = "send {\"passphrase\": …, \"proof\": …}";
    let Seal { passphrase, proof } = match read(body, "request", hint) {
        Ok(wanted) => wanted,
        Err(response) => return *response,
    };
    if !matches!(peer, Peer::Local { .. }) {
        let why = "a passphrase is taken over the socket only";
        return refuse(StatusCode::FORBIDDEN, why, Some("use `tenterhook ledger key`"));
    }
    let _turn = daemon.changing.lock().await;
    let file = daemon.book.key_file();
    if SoftwareKey::is_sealed(&file) == sealed {
        let why = if sealed { "the key is sealed already" } else { "the key is not sealed" };
        return refuse(StatusCode::BAD_REQUEST, why, None);
    }
    let action = if sealed { Action::KeySeal } else { Action::KeyUnseal };
    if let Err(why) = daemon.admit(action, peer, &proof, Value::Null, Vec::new()).await {
        return refused(&why);
    }
    let changed = tokio::task::spawn_blocking(move || {
        if sealed {
            SoftwareKey::seal_in_place(&file, &passphrase, Cost::default())
        } else {
            SoftwareKey::unseal_in_place(&file, &passphrase)
        }
    });
    match changed.await {
        Ok(Ok(())) => Json(json!({"sealed": sealed})).into_response(),
        Ok(Err(error)) => refuse(StatusCode::UNPROCESSABLE_ENTITY, &error.to_string(), None),
        Err(error) => unwritten(&error.to_string()),
    }
}

fn unwritten(why: &str) -> Response {
    let hint = "see that there is room on the disk and that it can be written";
    refuse(StatusCode::INTERNAL_SERVER_ERROR, why, Some(hint))
}
