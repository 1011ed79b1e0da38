// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Signs checkpoints on request, rotates the signing key, and seals or unseals the key file.

use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use serde_json::Value;
use tenterhook_api::{
    KeySealState, PassphraseRequest, ProofRequest, RotatedKey, SignedCheckpoint, SigningKeyState,
};
use tenterhook_authority::Action;
use tenterhook_ledger::{Argon2Cost, Reader, SoftwareKey};

use crate::api::error::{ApiError, run_blocking};
use crate::api::extract::RequestBody;
use crate::backfill;
use crate::daemon::Daemon;
use crate::listen::Peer;

pub(super) async fn checkpoint(
    State(daemon): State<Arc<Daemon>>,
) -> Result<Json<SignedCheckpoint>, ApiError> {
    if daemon.spool_counts().waiting > 0 {
        backfill::import_spooled(&daemon, &daemon.book).await;
    }
    let ledger = daemon.ledger.clone();
    let checkpoint = run_blocking(move || ledger.checkpoint().map_err(|error| write_failed(&error))).await?;
    Ok(Json(SignedCheckpoint { checkpoint }))
}

pub(super) async fn show(State(daemon): State<Arc<Daemon>>) -> Result<Json<SigningKeyState>, ApiError> {
    let Some(key) = daemon.readers.with(Reader::key).await? else {
        return Err(ApiError::not_found("the ledger has no signing key"));
    };
    let file = daemon.book.key_file();
    let sealed = SoftwareKey::is_sealed(&file);
    let (key, id) = (key.to_string(), key.id());
    Ok(Json(SigningKeyState { key, id, sealed, file: file.display().to_string() }))
}

pub(super) async fn rotate(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    RequestBody(ProofRequest { proof }): RequestBody<ProofRequest>,
) -> Result<Json<RotatedKey>, ApiError> {
    // The new key is sealed if the old one was sealed when the ledger was opened.
    if SoftwareKey::is_sealed(&daemon.book.key_file()) != daemon.opened_sealed {
        return Err(ApiError::conflict("the key was sealed or unsealed since the daemon started")
            .hint("run `tenterhook daemon restart`, then try again"));
    }
    daemon.admit(Action::KeyRotate, peer, &proof, Value::Null, Vec::new()).await?;
    let ledger = daemon.ledger.clone();
    let checkpoint = run_blocking(move || ledger.rotate(None).map_err(|error| write_failed(&error))).await?;
    let key = daemon.readers.with(Reader::key).await?;
    Ok(Json(RotatedKey { key: key.map(|key| key.to_string()).unwrap_or_default(), checkpoint }))
}

pub(super) async fn seal(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    RequestBody(request): RequestBody<PassphraseRequest>,
) -> Result<Json<KeySealState>, ApiError> {
    set_sealed(&daemon, peer, request, true).await
}

pub(super) async fn unseal(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    RequestBody(request): RequestBody<PassphraseRequest>,
) -> Result<Json<KeySealState>, ApiError> {
    set_sealed(&daemon, peer, request, false).await
}

/// Seals or unseals the key file.
async fn set_sealed(
    daemon: &Arc<Daemon>,
    peer: Peer,
    PassphraseRequest { passphrase, proof }: PassphraseRequest,
    sealed: bool,
) -> Result<Json<KeySealState>, ApiError> {
    if !matches!(peer, Peer::Local { .. }) {
        return Err(ApiError::forbidden("passphrases are accepted over the Unix socket only")
            .hint("use `tenterhook ledger key`"));
    }
    let _turn = daemon.change_lock.lock().await;
    let file = daemon.book.key_file();
    if SoftwareKey::is_sealed(&file) == sealed {
        let why = if sealed { "the key is already sealed" } else { "the key is not sealed" };
        return Err(ApiError::bad_request(why));
    }
    let action = if sealed { Action::KeySeal } else { Action::KeyUnseal };
    daemon.admit(action, peer, &proof, Value::Null, Vec::new()).await?;
    run_blocking(move || {
        let changed = if sealed {
            SoftwareKey::seal_in_place(&file, &passphrase, Argon2Cost::default())
        } else {
            SoftwareKey::unseal_in_place(&file, &passphrase)
        };
        changed.map_err(|error| ApiError::unprocessable(error.to_string()))
    })
    .await?;
    Ok(Json(KeySealState { sealed }))
}

fn write_failed(why: &impl ToString) -> ApiError {
    ApiError::internal(why.to_string()).hint("check that the disk has free space and is writable")
}
