// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Sets up codes of an authenticator app. The new secret is not used before its first code is typed in a terminal.

use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use serde_json::json;
use tenterhook_api::CodeEnrolment;
use tenterhook_authority::totp;
use tenterhook_home::call_meta;
use tenterhook_terminal_text::qr_code_rows;

use super::error::{ApiError, run_blocking};
use super::route::Route;
use crate::daemon::Daemon;
use crate::listen::Peer;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post("/v1/authority/codes", "beginCodeEnrolment", begin)
            .about(
                "Creates a secret for an authenticator app. It is active after `tenterhook approvals totp verify CODE` \
                 in a terminal. Not for agents.",
            )
            .errors(&[409]),
    ]
}

async fn begin(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
) -> Result<Json<CodeEnrolment>, ApiError> {
    let caller = tokio::task::block_in_place(|| daemon.caller(peer));
    if let Some(refused) = caller.refusal("totp enroll") {
        return Err(refused.into());
    }
    if daemon.authority.codes.is_enabled() {
        return Err(ApiError::conflict("codes are already set up")
            .hint("to use another app, first run `tenterhook approvals totp remove`"));
    }
    let detail = json!({"state": "begun", "authority": caller.to_json()});
    let recorded = daemon.record_change("totp enroll", caller.uid, detail, Vec::new()).await;
    recorded.map_err(|why| ApiError::internal(format!("cannot record the change: {why}")))?;
    let secret = run_blocking(move || daemon.authority.codes.start(call_meta::now_ms())).await?;
    let account = format!("{}@tenterhook", tenterhook_home::env::current_user());
    let uri = totp::enrolment_uri(&secret, &account);
    let qr = qr_code_rows(&uri).unwrap_or_default();
    Ok(Json(CodeEnrolment { secret: totp::encode_base32(&secret), uri, qr }))
}
