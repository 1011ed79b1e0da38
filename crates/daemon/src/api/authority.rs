// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use serde_json::json;
use tenterhook_api::{
    AuthorityGrant, AuthorityNeeds, AuthorityQuery, AuthorityRequest, ForgottenAgent, MarkedAgent,
    MarkedAgentList, ProofRequest, RequiredProof,
};
use tenterhook_authority::{Action, Agent, ProofRequirement};

use super::error::ApiError;
use super::extract::{PathParams, QueryParams, RequestBody};
use super::route::Route;
use crate::daemon::Daemon;
use crate::listen::Peer;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/v1/authority", "getAuthority", get_needs)
            .about("Proof that the caller needs for a privileged action."),
        Route::post("/v1/authority", "passAuthority", admit)
            .about("Permits a privileged action that the caller then performs itself. A refusal is recorded too."),
        Route::get("/v1/authority/agents", "listAgents", list_agents).about(
            "Processes that are marked as guarded agents. They and their child processes need a code for privileged actions.",
        ),
        Route::post("/v1/authority/agents/{pid}/forget", "forgetAgent", forget)
            .about("Clears the mark of a process that is not an agent. Needs a proof of the user. A hook call of a harness marks its process again.")
            .errors(&[404]),
    ]
}

/// Returns which proof the caller would need for a privileged action.
async fn get_needs(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    QueryParams(AuthorityQuery { action }): QueryParams<AuthorityQuery>,
) -> Result<Json<AuthorityNeeds>, ApiError> {
    let action = find_action(&action)?;
    let caller = tokio::task::block_in_place(|| daemon.caller(peer));
    let needs = match daemon.authority.required_proof(action, &caller) {
        ProofRequirement::Code => RequiredProof::Code,
        ProofRequirement::Tty => RequiredProof::Tty,
        ProofRequirement::Nothing => RequiredProof::Nothing,
    };
    let guarded = caller.agent.is_some() || caller.unverified_reason().is_some();
    Ok(Json(AuthorityNeeds { action: action.name().to_owned(), needs, guarded }))
}

/// Checks the proof for a privileged action that the caller performs itself.
async fn admit(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    RequestBody(AuthorityRequest { action, detail, proof }): RequestBody<AuthorityRequest>,
) -> Result<Json<AuthorityGrant>, ApiError> {
    let action = find_action(&action)?;
    let granted = daemon.admit(action, peer, &proof, detail, Vec::new()).await?;
    Ok(Json(AuthorityGrant { action: action.name().to_owned(), proof: granted.proof.to_owned() }))
}

async fn list_agents(State(daemon): State<Arc<Daemon>>) -> Json<MarkedAgentList> {
    let agents = tokio::task::block_in_place(|| daemon.authority.agents.list());
    Json(MarkedAgentList { agents: agents.into_iter().map(marked_agent).collect() })
}

fn marked_agent(agent: Agent) -> MarkedAgent {
    let Agent { pid, start, name, harness, namespace, boot } = agent;
    MarkedAgent { pid, start, name, harness, namespace, boot }
}

async fn forget(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    PathParams(pid): PathParams<i32>,
    RequestBody(ProofRequest { proof }): RequestBody<ProofRequest>,
) -> Result<Json<ForgottenAgent>, ApiError> {
    let marks = &daemon.authority.agents;
    let Some(agent) = marks.list().into_iter().find(|agent| agent.pid == pid) else {
        return Err(ApiError::not_found(format!("process {pid} is not marked as an agent"))
            .hint("`tenterhook agent list` shows the marks"));
    };
    daemon.admit(Action::AgentForget, peer, &proof, json!({"agent": agent}), Vec::new()).await?;
    marks.forget(pid)?;
    Ok(Json(ForgottenAgent { pid, name: agent.name }))
}

fn find_action(name: &str) -> Result<Action, ApiError> {
    Action::from_name(name)
        .ok_or_else(|| ApiError::bad_request(format!("unknown privileged action `{name}`")))
}
