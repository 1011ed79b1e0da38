// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use tenterhook_api::{Approval, ApprovalAnswer, ApprovalList, ApprovalResult, SignedApprovalAnswer};

use super::error::ApiError;
use super::extract::{PathParams, RequestBody};
use super::route::Route;
use super::shape::EventStream;
use super::sse;
use crate::approvals::{self, AnswerRefusal};
use crate::daemon::Daemon;
use crate::listen::Peer;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/v1/approvals", "listApprovals", list).about("The calls that wait for an approval."),
        Route::get("/v1/approvals/stream", "streamApprovals", stream)
            .about("The calls that wait for an approval, now and at every change.")
            .errors(&[503]),
        Route::get("/v1/approvals/{id}", "getApproval", show)
            .about("One call that waits for an approval.")
            .errors(&[404]),
        Route::post("/v1/approvals/{id}", "answerApproval", answer)
            .about(
                "Approves or denies a call that waits. To approve takes a proof, the full id, and the digest of the call \
                 that was shown; to deny, the end of an id is enough.",
            )
            .errors(&[404, 409, 422]),
        Route::post("/v1/approvals/{id}/signed", "answerApprovalSigned", answer_signed)
            .about(
                "Approves or denies a call that waits with an answer that an approver of the fleet signed. The keys of \
                 approvers are in the policy bundle in force. Needs the full id.",
            )
            .errors(&[404, 409, 422]),
    ]
}

async fn list(State(daemon): State<Arc<Daemon>>) -> Json<ApprovalList> {
    Json(pending_list(&daemon))
}

async fn show(
    State(daemon): State<Arc<Daemon>>,
    PathParams(id): PathParams<String>,
) -> Result<Json<Approval>, ApiError> {
    daemon.approvals.find(&id).map(|(approval, _)| Json(approval)).ok_or_else(|| not_waiting(&id))
}

async fn answer(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    PathParams(id): PathParams<String>,
    RequestBody(answer): RequestBody<ApprovalAnswer>,
) -> Result<Json<ApprovalResult>, ApiError> {
    let done = approvals::answer(&daemon, &id, answer, peer).await;
    done.map(Json).map_err(|refusal| refusal_error(&id, refusal))
}

async fn answer_signed(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    PathParams(id): PathParams<String>,
    RequestBody(answer): RequestBody<SignedApprovalAnswer>,
) -> Result<Json<ApprovalResult>, ApiError> {
    let done = approvals::answer_signed(&daemon, &id, answer, peer).await;
    done.map(Json).map_err(|refusal| refusal_error(&id, refusal))
}

fn refusal_error(id: &str, refusal: AnswerRefusal) -> ApiError {
    match refusal {
        AnswerRefusal::NotPending => not_waiting(id),
        AnswerRefusal::DigestMissing => {
            ApiError::bad_request("an approval must name the call by its full id and digest")
                .hint("send the full id and the `digest` that GET /v1/approvals/{id} shows")
        }
        AnswerRefusal::Changed => ApiError::conflict("the waiting call is not the one that was shown")
            .hint("nothing was approved; reload the call and review it again"),
        AnswerRefusal::Refused(refused) => refused.into(),
        AnswerRefusal::Failed(failure) => ApiError::unusable_content(failure),
    }
}

/// Streams the list of waiting calls, at once and after every change, until the daemon shuts down.
async fn stream(State(daemon): State<Arc<Daemon>>) -> Result<EventStream<ApprovalList>, ApiError> {
    let mut changes = daemon.approvals.subscribe_changes();
    sse::stream(daemon, |daemon, sender| async move {
        loop {
            changes.mark_unchanged();
            let event = sse::event("approvals", &pending_list(&daemon));
            if sender.send(event).await.is_err() || changes.changed().await.is_err() {
                return;
            }
        }
    })
}

pub(super) fn pending_list(daemon: &Daemon) -> ApprovalList {
    ApprovalList { pending: daemon.approvals.list_pending() }
}

fn not_waiting(id: &str) -> ApiError {
    let message = format!("no call `{}` waits for an answer", tenterhook_records::sanitize(id, 100));
    ApiError::not_found(message)
        .hint("GET /v1/approvals lists waiting calls; this one may be answered or expired")
}
