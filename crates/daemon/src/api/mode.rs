// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use tenterhook_api::{EnforcementMode, ModeRequest, ModeState};
use tenterhook_home::Mode;

use super::error::ApiError;
use super::extract::RequestBody;
use super::route::Route;
use crate::daemon::Daemon;
use crate::listen::Peer;
use crate::mode_change::{self, ModeChangeError};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/v1/mode", "getMode", get).about("Whether rules are enforced."),
        Route::put("/v1/mode", "setMode", put)
            .about("Sets whether rules are enforced; `monitor` needs a proof of the user."),
    ]
}

async fn get(State(daemon): State<Arc<Daemon>>) -> Json<ModeState> {
    let base = daemon.generations.base();
    Json(ModeState { mode: enforcement_mode(base.mode), changed: None, until: base.sources.monitor_until })
}

async fn put(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    RequestBody(ModeRequest { mode, time_s, proof }): RequestBody<ModeRequest>,
) -> Result<Json<ModeState>, ApiError> {
    let wanted = match mode {
        EnforcementMode::Enforce => Mode::Enforce,
        EnforcementMode::Monitor => Mode::Monitor,
    };
    let time = time_s.map(std::time::Duration::from_secs);
    let changed = mode_change::set_mode(&daemon, wanted, time, peer, &proof).await?;
    let until = daemon.generations.base().sources.monitor_until;
    Ok(Json(ModeState { mode, changed: Some(changed), until }))
}

pub(super) fn enforcement_mode(mode: Mode) -> EnforcementMode {
    match mode {
        Mode::Enforce => EnforcementMode::Enforce,
        Mode::Monitor => EnforcementMode::Monitor,
    }
}

impl From<ModeChangeError> for ApiError {
    fn from(unchanged: ModeChangeError) -> Self {
        match unchanged {
            ModeChangeError::Refused(refused) => refused.into(),
            ModeChangeError::Failed(failure) => failure.into(),
        }
    }
}
