// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Fetches the policy of the machine's ring and hands it to the daemon, which verifies it again and decides.

use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tenterhook_fleet_bundle::{Bundle, Trust};
use tenterhook_fleet_protocol::{
    BacktestCounts, BundleReport, FleetMessage as _, PolicyPointer, RefusedBundle, Ring, StreamName, Subject,
};

use crate::backoff::random_below;
use crate::bus::{Bus, NatsError};
use crate::daemon_call::{DaemonCall, ask, error_message};

/// Pause before a bundle is fetched or handed over again.
const RETRY_PAUSE: Duration = Duration::from_secs(10);
/// Longest time over which machines may be asked to spread a download.
const MAX_SPREAD_SECONDS: u32 = 3600;

/// Why a bundle was not handed over. It is tried again.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct SyncError(String);

impl From<&str> for SyncError {
    fn from(why: &str) -> Self {
        Self(why.to_owned())
    }
}

/// The policy of the machine's ring.
pub(crate) struct PolicySync {
    daemon: DaemonCall,
    /// What the enrolment trusts; `None` if the fleet signs no policy.
    trust: Option<Trust>,
    /// The pointer that waits, and when it is followed.
    waiting: Option<(PolicyPointer, Instant)>,
    /// The pointer that was followed last.
    followed: Option<PolicyPointer>,
    refused: Option<RefusedBundle>,
    backtest: Option<BacktestCounts>,
}

impl PolicySync {
    pub(crate) fn new(daemon: DaemonCall, trust: Option<Trust>) -> Self {
        Self { daemon, trust, waiting: None, followed: None, refused: None, backtest: None }
    }

    /// Reads the pointer of the ring, for example after the connection was made.
    pub(crate) async fn look(&mut self, bus: &Bus, ring: &Ring) -> Result<(), NatsError> {
        let last = bus.last_message(StreamName::Policy, Subject::Policy(ring)).await?;
        if let Some(last) = last {
            self.note_pointer(&last.payload, ring);
        }
        Ok(())
    }

    /// Notes a pointer. It is followed after a random time, so that not all machines download at once.
    pub(crate) fn note_pointer(&mut self, payload: &[u8], ring: &Ring) {
        let Ok(pointer) = PolicyPointer::decode(payload) else { return };
        let is_digest =
            pointer.sha256.len() == 64 && pointer.sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
        if pointer.ring != *ring || pointer.version == 0 || !is_digest || self.trust.is_none() {
            return;
        }
        if self.followed.as_ref() == Some(&pointer) {
            return;
        }
        let spread = Duration::from_secs(u64::from(pointer.jitter_seconds.min(MAX_SPREAD_SECONDS)));
        let pause = random_below(spread);
        self.waiting = Some((pointer, Instant::now() + pause));
    }

    /// Returns when [`Self::follow`] has something to do.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.waiting.as_ref().map(|(_, at)| *at)
    }

    /// Follows the pointer that waits. Returns whether there is something to report.
    pub(crate) async fn follow(&mut self, bus: &Bus) -> bool {
        let Some((pointer, _)) = self.waiting.take() else { return false };
        match self.try_follow(bus, &pointer).await {
            Ok(()) => {
                self.followed = Some(pointer);
                true
            }
            Err(error) => {
                tracing::warn!(version = pointer.version, %error,
                    "the policy was not handed over, trying again"
                );
                self.waiting = Some((pointer, Instant::now() + RETRY_PAUSE));
                false
            }
        }
    }

    async fn try_follow(&mut self, bus: &Bus, pointer: &PolicyPointer) -> Result<(), SyncError> {
        let last = bus.last_message(StreamName::Bundle, Subject::Bundle(&pointer.sha256)).await;
        let last = last
            .map_err(|error| SyncError(error.to_string()))?
            .ok_or("the bundle is not on the message bus")?;
        let bytes = last.payload;
        if Bundle::digest(&bytes) != pointer.sha256 {
            return Err("the bundle on the message bus has another digest".into());
        }
        let request = json!({ "bundle": STANDARD.encode(&bytes) });
        if pointer.candidate {
            return self.backtest(pointer, &bytes, request).await;
        }
        // The daemon also refuses such a bundle; it records the refusal.
        let answer = ask(&self.daemon, "/v1/fleet/policy", Some(request)).await.ok_or("no daemon answers")?;
        match answer.0 {
            200 => self.refused = None,
            409 | 422 => self.refuse(pointer, &bytes, error_message(&answer)),
            _ => return Err(SyncError(error_message(&answer))),
        }
        Ok(())
    }

    async fn backtest(
        &mut self,
        pointer: &PolicyPointer,
        bytes: &[u8],
        request: Value,
    ) -> Result<(), SyncError> {
        if let Some(trust) = &self.trust
            && let Err(error) = Bundle::open(bytes, trust)
        {
            self.refuse(pointer, bytes, error.to_string());
            return Ok(());
        }
        let answer = ask(&self.daemon, "/v1/fleet/policy/backtest", Some(request)).await;
        let answer = answer.ok_or("no daemon answers")?;
        let count = |key: &str| answer.1.get(key).and_then(Value::as_u64).unwrap_or_default();
        match answer.0 {
            200 => {
                self.backtest = Some(BacktestCounts {
                    version: count("version"),
                    calls: count("calls"),
                    denied_before: count("denied_before"),
                    denied_after: count("denied_after"),
                    asked_before: count("asked_before"),
                    asked_after: count("asked_after"),
                    newly_denied: count("newly_denied"),
                });
            }
            409 | 422 => self.refuse(pointer, bytes, error_message(&answer)),
            _ => return Err(SyncError(error_message(&answer))),
        }
        Ok(())
    }

    fn refuse(&mut self, pointer: &PolicyPointer, bytes: &[u8], reason: String) {
        tracing::warn!(version = pointer.version, reason, "a policy bundle was refused");
        let version = Bundle::stated_version(bytes);
        self.refused = Some(RefusedBundle { sha256: pointer.sha256.clone(), version, reason });
    }

    /// Describes the policy for the machine's status.
    pub(crate) async fn report(&self) -> Option<BundleReport> {
        self.trust.as_ref()?;
        let in_force = ask(&self.daemon, "/v1/fleet/policy", None).await.map(|(_, body)| body);
        let bundle = in_force.as_ref().and_then(|body| body.get("bundle"));
        let problem = in_force.as_ref().and_then(|body| body.get("problems")?.as_array()?.first());
        // A bundle that was changed on the disk is reported like one that was refused on arrival.
        let stored = problem.map(|problem| RefusedBundle {
            sha256: String::new(),
            version: None,
            reason: problem
                .get("message")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .chars()
                .take(500)
                .collect(),
        });
        Some(BundleReport {
            version: bundle.and_then(|bundle| bundle.get("version")?.as_u64()).unwrap_or_default(),
            sha256: bundle.and_then(|bundle| bundle.get("sha256")?.as_str().map(ToOwned::to_owned)),
            stale: bundle.and_then(|bundle| bundle.get("stale")?.as_bool()).unwrap_or_default(),
            refused: self.refused.clone().or(stored),
            backtest: self.backtest,
        })
    }
}
