// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The harnesses: which are here, which are guarded and how well; and guarding one, with the change shown first.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::on;
use serde_json::{Value, json};
use tenterhook_harness::{Ask, Deny, EventRow, HARNESSES, Rewrite, Wiring};

use super::route::{Gives, Route};
use super::{failed, refuse};
use crate::daemon::Daemon;
use crate::own;

pub(super) const ROUTES: &[Route] = &[
    Route::get("/v1/harnesses", "listHarnesses", |method| on(method, list))
        .about("Every harness: whether it is here, whether our hooks are in it, when it was last heard of, and what it covers.")
        .gives(Gives::Json("Harnesses")),
    Route::post("/v1/harnesses/{id}/plan", "planHarness", |method| on(method, plan))
        .about("What installing or repairing our hooks in a harness would change, as a diff. Nothing is changed.")
        .gives(Gives::Json("HarnessPlan"))
        .refuses(&[400, 404]),
    Route::post("/v1/harnesses/{id}/install", "installHarness", |method| on(method, install))
        .about("Installs or repairs our hooks in a harness, for the person. The original is backed up, and a leaf says so.")
        .gives(Gives::Json("HarnessPlan"))
        .refuses(&[400, 404]),
];

async fn list(State(daemon): State<Arc<Daemon>>) -> Response {
    let mut answer = match own::json(&daemon, &["detect"]).await {
        Ok(answer) => answer,
        Err(failure) => return failed(&failure),
    };
    for one in answer.get_mut("harnesses").and_then(Value::as_array_mut).into_iter().flatten() {
        let id = one.get("harness").and_then(Value::as_str).unwrap_or_default();
        let rows =
            HARNESSES.iter().find(|harness| harness.id == id).map_or(&[][..], |harness| harness.events);
        let rows: Vec<_> = rows.iter().map(coverage).collect();
        if let Some(one) = one.as_object_mut() {
            one.insert("coverage".to_owned(), rows.into());
        }
    }
    Json(answer).into_response()
}

fn coverage(row: &EventRow) -> Value {
    let (wired, why) = match row.wiring {
        Wiring::Guard => ("guard", None),
        Wiring::Watch => ("watch", None),
        Wiring::Left(why) => ("left", Some(why)),
    };
    let deny = match row.deny {
        Deny::Prevents => "prevents",
        Deny::Feedback => "feedback",
        Deny::Impossible => "impossible",
    };
    let ask = match row.ask {
        Ask::Prompt => "prompt",
        Ask::Wait => "wait",
        Ask::Never => "never",
    };
    json!({
        "native": row.native, "event": row.kind, "wired": wired, "why": why, "deny": deny, "ask": ask,
        "rewrites": row.rewrite != Rewrite::Nothing, "context": row.context,
    })
}

async fn plan(State(daemon): State<Arc<Daemon>>, Path(id): Path<String>) -> Response {
    change(&daemon, &id, "--dry-run").await
}

async fn install(State(daemon): State<Arc<Daemon>>, Path(id): Path<String>) -> Response {
    let _turn = daemon.changing.lock().await;
    change(&daemon, &id, "--yes").await
}

async fn change(daemon: &Arc<Daemon>, id: &str, how: &str) -> Response {
    let Some(harness) = tenterhook_harness::find(id) else {
        let message = format!("there is no harness `{}`", crate::sessions::clean(id, 100));
        return refuse(StatusCode::NOT_FOUND, &message, Some("GET /v1/harnesses lists them"));
    };
    match own::json(daemon, &["install", harness.id, how]).await {
        Ok(answer) => Json(answer).into_response(),
        Err(failure) => failed(&failure),
    }
}
