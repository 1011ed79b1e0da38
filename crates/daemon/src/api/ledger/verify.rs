// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Verifies the whole ledger in the background, one run at a time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use tenterhook_api::{
    DamagedLedger, IntactLedger, LiveEvent, VerificationResult, VerificationStatus, VerifyRequest,
};
use tenterhook_event::Timestamp;
use tenterhook_home::call_meta;
use tenterhook_ledger::checkpoint::Checkpoint;
use tenterhook_ledger::{Expectations, LogProblem, ProblemLocation, Reader, VerifiedLog, VerifierKey};

use crate::api::error::ApiError;
use crate::api::extract::RequestBody;
use crate::daemon::Daemon;

/// State of the last verification.
#[derive(Default)]
pub(crate) struct Verification(Mutex<Option<VerifyRun>>);

struct VerifyRun {
    started: Timestamp,
    ended: Option<Timestamp>,
    checked: u64,
    of: Option<u64>,
    result: Option<VerificationResult>,
}

impl Verification {
    fn lock(&self) -> MutexGuard<'_, Option<VerifyRun>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the state of the last run, if there was one.
    fn status(&self) -> Option<VerificationStatus> {
        self.lock().as_ref().map(|check| VerificationStatus {
            running: check.ended.is_none(),
            started: check.started,
            ended: check.ended,
            checked: check.checked,
            of: check.of,
            result: check.result.clone(),
        })
    }

    /// Starts a run, unless one is active. Returns whether it started.
    fn begin(&self) -> bool {
        let mut run = self.lock();
        if run.as_ref().is_some_and(|run| run.ended.is_none()) {
            return false;
        }
        *run = Some(VerifyRun { started: call_meta::now(), ended: None, checked: 0, of: None, result: None });
        true
    }

    fn progress(&self, checked: u64, of: Option<u64>) {
        if let Some(check) = self.lock().as_mut() {
            (check.checked, check.of) = (checked, of);
        }
    }

    fn end(&self, result: VerificationResult) {
        if let Some(check) = self.lock().as_mut() {
            (check.ended, check.result) = (Some(call_meta::now()), Some(result));
        }
    }
}

pub(super) async fn begin(
    State(daemon): State<Arc<Daemon>>,
    RequestBody(request): RequestBody<VerifyRequest>,
) -> Result<(StatusCode, Json<VerificationStatus>), ApiError> {
    let expect = expectation(request)?;
    if daemon.verification.begin() {
        let daemon = Arc::clone(&daemon);
        tokio::task::spawn_blocking(move || run_check(&daemon, expect));
    }
    Ok((StatusCode::ACCEPTED, last_check(&daemon)?))
}

pub(super) async fn status(State(daemon): State<Arc<Daemon>>) -> Result<Json<VerificationStatus>, ApiError> {
    last_check(&daemon)
}

fn last_check(daemon: &Daemon) -> Result<Json<VerificationStatus>, ApiError> {
    daemon.verification.status().map(Json).ok_or_else(|| {
        ApiError::not_found("the ledger was not verified since the daemon started")
            .hint("start with POST /v1/ledger/verify")
    })
}

fn expectation(request: VerifyRequest) -> Result<Expectations, ApiError> {
    let key = request.key.map(|key| key.trim().parse::<VerifierKey>()).transpose();
    let key = key.map_err(|error| ApiError::bad_request(format!("`key` is not a public key: {error}")))?;
    if let Some(Err(error)) = request.since.as_deref().map(Checkpoint::parse) {
        return Err(ApiError::bad_request(format!("`since` is not a checkpoint: {error}")));
    }
    Ok(Expectations { key, since: request.since })
}

fn run_check(daemon: &Daemon, expect: Expectations) {
    let verification = &daemon.verification;
    let dir = daemon.home.ledger();
    // The published checkpoint reveals a rollback of the ledger, unless the file was replaced too.
    let beside = tenterhook_ledger::published_checkpoint(&dir);
    let since = expect.since.or(beside.filter(|note| Checkpoint::parse(note).is_ok()));
    let mut progress = |checked, of| verification.progress(checked, of);
    // Opens a separate reader, because the check would block a shared one for a long time.
    let result = match Reader::open(&dir) {
        Ok(reader) => match reader.verify(Expectations { since, ..expect }, &mut progress) {
            Ok(verified) => intact_result(&verified),
            Err(problem) => damaged_result(&problem),
        },
        Err(error) => {
            let (leaf, problem) = (None, error.to_string());
            VerificationResult::Damaged(DamagedLedger { verified: false, leaf, problem })
        }
    };
    if let VerificationResult::Damaged(DamagedLedger { leaf, problem, .. }) = &result {
        tracing::error!(leaf, problem, "the ledger could not be verified");
    }
    verification.end(result);
    if let Some(status) = verification.status() {
        daemon.observers.live.publish(|| LiveEvent::Verify(status));
    }
}

fn intact_result(verified: &VerifiedLog) -> VerificationResult {
    VerificationResult::Intact(IntactLedger {
        verified: true,
        origin: verified.origin.clone(),
        size: verified.size,
        root: verified.root.to_string(),
        unpublished: verified.unpublished,
        pruned: verified.pruned,
        erased: verified.erased,
        checkpoints: verified.checkpoints,
        keys: verified.keys.iter().map(ToString::to_string).collect(),
        trusted_on_first_use: verified.on_first_use,
    })
}

fn damaged_result(problem: &LogProblem) -> VerificationResult {
    let leaf = match problem.location {
        ProblemLocation::Leaf(seq) | ProblemLocation::Leaves(seq, _) => Some(seq),
        _ => None,
    };
    VerificationResult::Damaged(DamagedLedger { verified: false, leaf, problem: problem.to_string() })
}
