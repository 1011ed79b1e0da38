// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The hooks that are registered: which there are, and switching them on and off.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::on;
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::{Value, json};
use tenterhook_document::Problem;
use tenterhook_engine::{CommandLine, Hook, Runner};
use tenterhook_home::Switches;
use tenterhook_home::authority::{Action, Proof};

use super::authority::refused;
use super::route::{Gives, Route, Takes};
use super::{failed, read, refuse};
use crate::daemon::Daemon;
use crate::listen::Peer;

pub(super) const ROUTES: &[Route] = &[
    Route::get("/v1/hooks", "listHooks", |method| on(method, list))
        .about("The hooks in force, in the order they run.")
        .gives(Gives::Json("Hooks")),
    Route::post("/v1/hooks/{id}/enable", "enableHook", |method| on(method, enable))
        .about("Switches a hook on, beside what its settings say. Needs a person's proof: a hook may allow.")
        .takes(Takes::Json("SwitchRequest"))
        .gives(Gives::Json("Switched"))
        .refuses(&[400, 403, 404]),
    Route::post("/v1/hooks/{id}/disable", "disableHook", |method| on(method, disable))
        .about("Switches a hook off, beside what its settings say. Needs a person's proof.")
        .takes(Takes::Json("SwitchRequest"))
        .gives(Gives::Json("Switched"))
        .refuses(&[400, 403, 404]),
];

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    #[serde(default)]
    proof: Proof,
}

async fn enable(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    Path(id): Path<String>,
    body: Bytes,
) -> Response {
    switch(daemon, peer, id, &body, true).await
}

async fn disable(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    Path(id): Path<String>,
    body: Bytes,
) -> Response {
    switch(daemon, peer, id, &body, false).await
}

async fn switch(daemon: Arc<Daemon>, peer: Peer, id: String, body: &[u8], on: bool) -> Response {
    let wanted =
        if body.is_empty() { Ok(Wanted::default()) } else { read(body, "switch", "send {\"proof\": …}") };
    let Wanted { proof } = match wanted {
        Ok(wanted) => wanted,
        Err(response) => return *response,
    };
    let _turn = daemon.changing.lock().await;
    let Some(hook) = found(&daemon, &id) else { return unknown(&id) };
    let is_on = hook.enabled;
    if is_on != on {
        let action = if on { Action::HooksAdd } else { Action::HooksRemove };
        let detail = json!({"hook": id, "enabled": on});
        if let Err(why) = daemon.admit(action, peer, &proof, detail, Vec::new()).await {
            return refused(&why);
        }
        let (switching, name) = (Arc::clone(&daemon), id.clone());
        let switched = tokio::task::spawn_blocking(move || {
            let mut switches = Switches::read(&switching.home)?;
            switches.hooks.insert(name, on);
            switches.write(&switching.home)?;
            switching.generations.refresh(true)
        });
        match switched.await {
            Ok(Ok(_)) => {}
            Ok(Err(failure)) => return failed(&failure),
            Err(error) => return refuse(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string(), None),
        }
    }
    let hook = found(&daemon, &id).map(|hook| shown(&hook, &daemon.generations.base().problems));
    let generation = daemon.generations.base().generation.name().to_owned();
    Json(json!({"hook": hook, "changed": is_on != on, "generation": generation})).into_response()
}

pub(super) fn unknown(id: &str) -> Response {
    let message = format!("there is no hook `{}`", crate::sessions::clean(id, 100));
    refuse(StatusCode::NOT_FOUND, &message, Some("GET /v1/hooks lists them"))
}

pub(super) fn found(daemon: &Daemon, id: &str) -> Option<Arc<Hook>> {
    daemon.generations.base().generation.all_hooks().iter().find(|hook| hook.id.as_ref() == id).cloned()
}

async fn list(State(daemon): State<Arc<Daemon>>) -> Response {
    let base = daemon.generations.base();
    let hooks = base.generation.all_hooks().iter().map(|hook| shown(hook, &base.problems));
    let hooks: Vec<_> = hooks.collect();
    Json(json!({"hooks": hooks, "generation": base.generation.name()})).into_response()
}

/// A hook as programs see it, with the problem that keeps it from running. Headers and variables may hold
/// secrets and stay where they are.
fn shown(hook: &Hook, problems: &[Problem]) -> Value {
    let about = format!("hook `{}`", hook.id);
    let problem = problems.iter().find(|problem| problem.about.as_deref() == Some(&*about));
    let runs = match &hook.runner {
        Runner::InProcess(_) => json!({"type": "in-process"}),
        Runner::Sdk(function) => json!({"type": "sdk", "client": function.client.name()}),
        Runner::Command(command) => match &command.line {
            CommandLine::Shell(text) => json!({"type": "command", "command": text}),
            CommandLine::Exec(words) => json!({"type": "command", "exec": words}),
        },
        Runner::Http(http) => json!({"type": "http", "url": http.url}),
    };
    json!({
        "id": &*hook.id,
        "on": hook.on,
        "when": hook.when.as_ref().map(|when| when.text()),
        "priority": hook.priority,
        "chain": hook.chain.as_deref(),
        "timeout_ms": u64::try_from(hook.timeout.as_millis()).unwrap_or(u64::MAX),
        "fail": hook.fail,
        "async": hook.observes,
        "enabled": hook.enabled,
        "dialect": hook.runner.dialect().map(|dialect| dialect.name),
        "runs": runs,
        "problem": problem,
    })
}
