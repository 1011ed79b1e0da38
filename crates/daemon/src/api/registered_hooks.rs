// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Lists registered hooks, and switches them on and off.

use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use serde_json::json;
use tenterhook_api::{HookFailMode, HookList, HookRunner, HookSwitched, ProofRequest, RegisteredHook};
use tenterhook_authority::{Action, Proof};
use tenterhook_document::Problem;
use tenterhook_engine::{CommandLine, FailMode, Hook, HookBackend};
use tenterhook_home::Switches;

use super::error::{ApiError, run_blocking};
use super::extract::{PathParams, RequestBody};
use super::file_problem;
use super::route::Route;
use crate::daemon::Daemon;
use crate::listen::Peer;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/v1/hooks", "listHooks", list).about("The hooks in force, in the order they run."),
        Route::post("/v1/hooks/{id}/enable", "enableHook", enable)
            .about(
                "Switches a hook on, overriding its settings. Needs a proof of the user, because a hook may allow calls.",
            )
            .errors(&[404]),
        Route::post("/v1/hooks/{id}/disable", "disableHook", disable)
            .about("Switches a hook off, overriding its settings. Needs a proof of the user.")
            .errors(&[404]),
    ]
}

async fn enable(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    PathParams(id): PathParams<String>,
    RequestBody(ProofRequest { proof }): RequestBody<ProofRequest>,
) -> Result<Json<HookSwitched>, ApiError> {
    switch(daemon, peer, id, &proof, true).await
}

async fn disable(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    PathParams(id): PathParams<String>,
    RequestBody(ProofRequest { proof }): RequestBody<ProofRequest>,
) -> Result<Json<HookSwitched>, ApiError> {
    switch(daemon, peer, id, &proof, false).await
}

async fn switch(
    daemon: Arc<Daemon>,
    peer: Peer,
    id: String,
    proof: &Proof,
    on: bool,
) -> Result<Json<HookSwitched>, ApiError> {
    let _turn = daemon.change_lock.lock().await;
    let changed = find_hook(&daemon, &id)?.enabled != on;
    if changed {
        let action = if on { Action::HooksAdd } else { Action::HooksRemove };
        let detail = json!({"hook": id, "enabled": on});
        daemon.admit(action, peer, proof, detail, Vec::new()).await?;
        let (switching, name) = (Arc::clone(&daemon), id.clone());
        run_blocking(move || {
            let mut switches = Switches::read(&switching.home)?;
            switches.hooks.insert(name, on);
            switches.write(&switching.home)?;
            switching.generations.refresh(true)
        })
        .await?;
    }
    let hook = registered_hook(&*find_hook(&daemon, &id)?, &daemon.generations.base().problems);
    let generation = daemon.generations.base().generation.name().to_owned();
    Ok(Json(HookSwitched { hook, changed, generation }))
}

pub(super) fn find_hook(daemon: &Daemon, id: &str) -> Result<Arc<Hook>, ApiError> {
    let base = daemon.generations.base();
    let found = base.generation.all_hooks().iter().find(|hook| hook.id.as_ref() == id);
    found.cloned().ok_or_else(|| {
        ApiError::not_found(format!("unknown hook `{}`", tenterhook_records::sanitize(id, 100)))
            .hint("GET /v1/hooks lists the hooks")
    })
}

async fn list(State(daemon): State<Arc<Daemon>>) -> Json<HookList> {
    let base = daemon.generations.base();
    let hooks = base.generation.all_hooks().iter().map(|hook| registered_hook(hook, &base.problems));
    Json(HookList { hooks: hooks.collect(), generation: base.generation.name().to_owned() })
}

/// Describes a hook and why it cannot run. Headers and variables may contain secrets and are left out.
fn registered_hook(hook: &Hook, problems: &[Problem]) -> RegisteredHook {
    let about = format!("hook `{}`", hook.id);
    let problem = problems.iter().find(|problem| problem.about.as_deref() == Some(&*about));
    RegisteredHook {
        id: hook.id.to_string(),
        on: hook.on.clone(),
        when: hook.when.as_ref().map(|when| when.text().to_owned()),
        priority: hook.priority,
        chain: hook.chain.as_deref().map(ToOwned::to_owned),
        timeout_ms: u64::try_from(hook.timeout.as_millis()).unwrap_or(u64::MAX),
        fail: match hook.fail {
            FailMode::Open => HookFailMode::Open,
            FailMode::Closed => HookFailMode::Closed,
        },
        observes: hook.observes,
        enabled: hook.enabled,
        dialect: hook.runner.dialect().map(|dialect| dialect.name.to_owned()),
        runs: hook_runner(&hook.runner),
        problem: problem.cloned().map(file_problem),
    }
}

fn hook_runner(runner: &HookBackend) -> HookRunner {
    match runner {
        HookBackend::InProcess(_) => HookRunner::InProcess,
        HookBackend::Sdk(function) => HookRunner::Sdk { client: function.client.name().to_owned() },
        HookBackend::Command(command) => match &command.line {
            CommandLine::Shell(text) => HookRunner::Command { command: Some(text.clone()), exec: None },
            CommandLine::Exec(words) => HookRunner::Command { command: None, exec: Some(words.clone()) },
        },
        HookBackend::Http(http) => HookRunner::Http { url: http.url.clone() },
    }
}
