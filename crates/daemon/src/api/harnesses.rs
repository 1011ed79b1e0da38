// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Harnesses: which are here, which are guarded and how well; and guarding one, with the change shown first.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use tenterhook_api::{
    AskEffect, DenyEffect, EventCoverage, EventWiring, HarnessList, HarnessPlan, HarnessState,
};
use tenterhook_harness::{Ask, Deny, EventRow, Rewrite, Wiring};

use super::error::ApiError;
use super::extract::PathParams;
use super::route::Route;
use crate::daemon::Daemon;
use crate::own;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/v1/harnesses", "listHarnesses", list).about(
            "Every harness: whether it is here, whether our hooks are in it, its last event, and what hooks can do.",
        ),
        Route::post("/v1/harnesses/{id}/plan", "planHarness", plan)
            .about("What installing or repairing our hooks in a harness would change, as a diff. Nothing is changed.")
            .errors(&[404]),
        Route::post("/v1/harnesses/{id}/install", "installHarness", install)
            .about("Installs or repairs our hooks in a harness, for the user. The original is backed up, and it is recorded.")
            .errors(&[404]),
    ]
}

async fn list(State(daemon): State<Arc<Daemon>>) -> Result<Json<HarnessList>, ApiError> {
    let mut list: HarnessList = own::json(&daemon, &["detect"]).await?;
    for state in &mut list.harnesses {
        state.coverage = coverage(state);
    }
    Ok(Json(list))
}

fn coverage(state: &HarnessState) -> Vec<EventCoverage> {
    let harness = tenterhook_harness::find(&state.harness);
    harness.map_or(&[][..], |harness| harness.events).iter().map(event_coverage).collect()
}

fn event_coverage(row: &EventRow) -> EventCoverage {
    let (wired, why) = match row.wiring {
        Wiring::Guard => (EventWiring::Guard, None),
        Wiring::Watch => (EventWiring::Watch, None),
        Wiring::Left(why) => (EventWiring::Left, Some(why.to_owned())),
    };
    EventCoverage {
        native: row.native.to_owned(),
        event: row.kind,
        wired,
        why,
        deny: match row.deny {
            Deny::Prevents => DenyEffect::Prevents,
            Deny::Feedback => DenyEffect::Feedback,
            Deny::Impossible => DenyEffect::Impossible,
        },
        ask: match row.ask {
            Ask::Prompt => AskEffect::Prompt,
            Ask::Wait => AskEffect::Wait,
            Ask::Never => AskEffect::Never,
        },
        rewrites: row.rewrite != Rewrite::Nothing,
        context: row.context,
    }
}

async fn plan(
    State(daemon): State<Arc<Daemon>>,
    PathParams(id): PathParams<String>,
) -> Result<Json<HarnessPlan>, ApiError> {
    change(&daemon, &id, "--dry-run").await
}

async fn install(
    State(daemon): State<Arc<Daemon>>,
    PathParams(id): PathParams<String>,
) -> Result<Json<HarnessPlan>, ApiError> {
    let _turn = daemon.changing.lock().await;
    change(&daemon, &id, "--yes").await
}

async fn change(daemon: &Arc<Daemon>, id: &str, how: &str) -> Result<Json<HarnessPlan>, ApiError> {
    let Some(harness) = tenterhook_harness::find(id) else {
        let message = format!("there is no harness `{}`", tenterhook_records::sanitize(id, 100));
        return Err(ApiError::not_found(message).hint("GET /v1/harnesses lists them"));
    };
    Ok(Json(own::json(daemon, &["install", harness.id, how]).await?))
}
