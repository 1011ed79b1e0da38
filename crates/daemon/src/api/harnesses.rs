// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Lists harnesses with their state, and installs our hooks. A change can be previewed before it is made.

use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use serde_json::Value;
use tenterhook_api::{HarnessList, HarnessPlan};
use tenterhook_error::Failure;
use tenterhook_harness_install::SettingsScope;
use tenterhook_harness_install::receipt::InstallOptions;
use tenterhook_setup::detect::detect_harnesses;
use tenterhook_setup::install::{apply_install, describe, plan_install};
use tenterhook_setup::{Setup, SetupHost};
use tokio::runtime::Handle;

use super::error::ApiError;
use super::extract::PathParams;
use super::route::Route;
use crate::daemon::Daemon;
use crate::listen::Peer;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/v1/harnesses", "listHarnesses", list).about(
            "Every harness: whether it is installed, whether our hooks are in its settings, its last event, and what hooks can do.",
        ),
        Route::post("/v1/harnesses/{id}/plan", "planHarness", plan)
            .about("Shows as a diff what installing or repairing our hooks in a harness would change. Nothing is changed.")
            .errors(&[404]),
        Route::post("/v1/harnesses/{id}/install", "installHarness", install)
            .about("Installs or repairs our hooks in a harness, for the user. The settings are backed up and the change is recorded.")
            .errors(&[404]),
    ]
}

async fn list(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
) -> Result<Json<HarnessList>, ApiError> {
    let list = with_setup(&daemon, peer, |setup| {
        let harnesses = detect_harnesses(setup).into_iter().map(|detected| detected.state).collect();
        Ok(HarnessList { harnesses })
    });
    Ok(Json(list.await?))
}

async fn plan(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    PathParams(id): PathParams<String>,
) -> Result<Json<HarnessPlan>, ApiError> {
    change(&daemon, peer, &id, false).await
}

async fn install(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    PathParams(id): PathParams<String>,
) -> Result<Json<HarnessPlan>, ApiError> {
    change(&daemon, peer, &id, true).await
}

/// Plans the installation of our hooks, and carries it out if `apply` is set.
async fn change(
    daemon: &Arc<Daemon>,
    peer: Peer,
    id: &str,
    apply: bool,
) -> Result<Json<HarnessPlan>, ApiError> {
    let Some(harness) = tenterhook_harness::find_harness(id) else {
        let message = format!("unknown harness `{}`", tenterhook_records::sanitize(id, 100));
        return Err(ApiError::not_found(message).hint("GET /v1/harnesses lists the harnesses"));
    };
    // Held until the change is made, even if the caller disconnects.
    let turn = if apply { Some(Arc::clone(&daemon.change_lock).lock_owned().await) } else { None };
    let plan = with_setup(daemon, peer, move |setup| {
        let _turn = turn;
        let scope = setup.home.machine().map_or(SettingsScope::User, SettingsScope::Machine);
        let proposal = plan_install(setup, harness, &InstallOptions { scope, ..InstallOptions::default() })?;
        if apply {
            apply_install(setup, std::slice::from_ref(&proposal))?;
        }
        Ok(describe(setup, &proposal, apply))
    });
    Ok(Json(plan.await?))
}

/// Runs work on harness settings in a thread that may wait for the disk.
async fn with_setup<T: Send + 'static>(
    daemon: &Arc<Daemon>,
    peer: Peer,
    work: impl FnOnce(&Setup<'_>) -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let host = ApiHost { daemon: Arc::clone(daemon), peer, runtime: Handle::current() };
    let done = tokio::task::spawn_blocking(move || {
        let ApiHost { daemon, .. } = &host;
        let (home, env, programs) = (&daemon.home, &daemon.env, daemon.hook_programs);
        work(&Setup { home, env, working_directory: None, programs, host: &host })
    });
    done.await.map_err(|error| Failure::internal(error.to_string()))?
}

/// Context of an API request that changes harness settings.
struct ApiHost {
    daemon: Arc<Daemon>,
    peer: Peer,
    runtime: Handle,
}

impl SetupHost for ApiHost {
    fn daemon_address(&self) -> Result<Option<String>, Failure> {
        Ok(self.daemon.listen.get().map(ToString::to_string))
    }

    fn refuse_guarded_agent(&self, action: &str) -> Result<(), Failure> {
        // A browser has no process to check, but the user gave it access. A token could have been read by an agent.
        let is_browser = matches!(self.peer, Peer::Browser);
        if !is_browser && self.daemon.caller(self.peer).refusal(action).is_some() {
            return Err(Failure::denied(format!("guarded agents may not {action}"))
                .hint("run `tenterhook install` in your own terminal"));
        }
        Ok(())
    }

    fn record_change(&self, name: &str, detail: Value) -> Result<(), Failure> {
        let daemon = &self.daemon;
        let recorded = self.runtime.block_on(daemon.record_change(name, daemon.uid, detail, Vec::new()));
        recorded.map_err(|reason| {
            Failure::internal(format!("`{name}` was not done, because it could not be recorded: {reason}"))
                .hint("free disk space for the ledger")
        })
    }
}
