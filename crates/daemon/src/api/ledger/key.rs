// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Who signs: checkpoints on request, another key, and how the secret half lies on the disk.

use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use serde_json::Value;
use tenterhook_api::{
    KeySealState, PassphraseRequest, ProofRequest, RotatedKey, SignedCheckpoint, SigningKeyInfo,
};
use tenterhook_authority::Action;
use tenterhook_ledger::{Argon2Cost, Reader, SoftwareKey};

use crate::api::error::{ApiError, run_blocking};
use crate::api::extract::RequestBody;
use crate::catch_up;
use crate::daemon::Daemon;
use crate::listen::Peer;

pub(super) async fn checkpoint(
    State(daemon): State<Arc<Daemon>>,
) -> Result<Json<SignedCheckpoint>, ApiError> {
    if daemon.spooled().0 > 0 {
        catch_up::import_spooled(&daemon, &daemon.book).await;
    }
    let ledger = daemon.ledger.clone();
    let checkpoint = run_blocking(move || ledger.checkpoint().map_err(|error| unwritten(&error))).await?;
    Ok(Json(SignedCheckpoint { checkpoint }))
}

pub(super) async fn show(State(daemon): State<Arc<Daemon>>) -> Result<Json<SigningKeyInfo>, ApiError> {
    let Some(key) = daemon.readers.with(Reader::key).await? else {
        return Err(ApiError::not_found("the ledger names no key"));
    };
    let file = daemon.book.key_file();
    let sealed = SoftwareKey::is_sealed(&file);
    let (key, id) = (key.to_string(), key.id());
    Ok(Json(SigningKeyInfo { key, id, sealed, file: file.display().to_string() }))
}

pub(super) async fn rotate(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    RequestBody(ProofRequest { proof }): RequestBody<ProofRequest>,
) -> Result<Json<RotatedKey>, ApiError> {
    // The new key is kept as the old one was when we opened it.
    if SoftwareKey::is_sealed(&daemon.book.key_file()) != daemon.opened_sealed {
        return Err(ApiError::conflict("the key was sealed or unsealed since the daemon began")
            .hint("`tenterhook restart`, then try again"));
    }
    daemon.admit(Action::KeyRotate, peer, &proof, Value::Null, Vec::new()).await?;
    let ledger = daemon.ledger.clone();
    let checkpoint = run_blocking(move || ledger.rotate(None).map_err(|error| unwritten(&error))).await?;
    let key = daemon.readers.with(Reader::key).await?;
    Ok(Json(RotatedKey { key: key.map(|key| key.to_string()).unwrap_or_default(), checkpoint }))
}

pub(super) async fn seal(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    RequestBody(request): RequestBody<PassphraseRequest>,
) -> Result<Json<KeySealState>, ApiError> {
    change(&daemon, peer, request, true).await
}

pub(super) async fn unseal(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    RequestBody(request): RequestBody<PassphraseRequest>,
) -> Result<Json<KeySealState>, ApiError> {
    change(&daemon, peer, request, false).await
}

/// Seals the key where it lies, or opens it there.
async fn change(
    daemon: &Arc<Daemon>,
    peer: Peer,
    PassphraseRequest { passphrase, proof }: PassphraseRequest,
    sealed: bool,
) -> Result<Json<KeySealState>, ApiError> {
    if !matches!(peer, Peer::Local { .. }) {
        return Err(ApiError::forbidden("a passphrase is taken over the socket only")
            .hint("use `tenterhook ledger key`"));
    }
    let _turn = daemon.changing.lock().await;
    let file = daemon.book.key_file();
    if SoftwareKey::is_sealed(&file) == sealed {
        let why = if sealed { "the key is sealed already" } else { "the key is not sealed" };
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

fn unwritten(why: &impl ToString) -> ApiError {
    ApiError::internal(why.to_string()).hint("see that there is room on the disk and that it can be written")
}
