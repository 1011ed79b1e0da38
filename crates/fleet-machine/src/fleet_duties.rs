// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What the connector does beside the upload, in tasks of their own: a replay of policy or a slow daemon must not hold
//! up records or answers.

use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use tenterhook_fleet_bundle::Trust;
use tenterhook_fleet_protocol::{BundleReport, Mailbox, Ring, Subject};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::approval_relay::ApprovalRelay;
use crate::backoff::random_below;
use crate::bus::{Bus, NatsError};
use crate::daemon_call::DaemonCall;
use crate::policy_sync::PolicySync;

/// Interval at which waiting approvals are looked up.
const APPROVAL_INTERVAL: Duration = Duration::from_secs(1);
/// Interval at which the policy in force is looked up.
const REPORT_INTERVAL: Duration = Duration::from_mins(1);
/// Interval at which the pointer of the ring is read, in case a message about it was lost.
const LOOK_INTERVAL: Duration = Duration::from_mins(20);
/// Shortest time between two readings of the pointer, and the time over which machines spread them.
const MIN_LOOK_INTERVAL: Duration = Duration::from_secs(2);
const LOOK_SPREAD: Duration = Duration::from_secs(1);
/// Pause after the message bus refused a subscription.
const RETRY_PAUSE: Duration = Duration::from_secs(10);

/// The tasks of one connection. They end when this value is dropped.
pub(crate) struct FleetDuties {
    /// State of the policy on this machine.
    pub(crate) policy: watch::Receiver<Option<BundleReport>>,
    _tasks: JoinSet<()>,
}

/// What the tasks need.
#[derive(Clone)]
pub(crate) struct DutyContext {
    pub(crate) bus: Bus,
    pub(crate) daemon: DaemonCall,
    pub(crate) mailbox: Mailbox,
    pub(crate) ring: Ring,
    /// What the enrolment trusts; `None` if the fleet signs no policy.
    pub(crate) trust: Option<Trust>,
}

impl FleetDuties {
    pub(crate) fn start(context: &DutyContext) -> Self {
        let (sender, policy) = watch::channel(None);
        let mut tasks = JoinSet::new();
        let own = context.clone();
        tasks.spawn(async move {
            while let Err(error) = sync_policy(&own, &sender).await {
                tracing::warn!(%error, "the policy of the ring cannot be read");
                tokio::time::sleep(RETRY_PAUSE).await;
            }
        });
        let own = context.clone();
        tasks.spawn(async move {
            while let Err(error) = relay_approvals(&own).await {
                tracing::warn!(%error, "approvals cannot be relayed");
                tokio::time::sleep(RETRY_PAUSE).await;
            }
        });
        Self { policy, _tasks: tasks }
    }
}

async fn sync_policy(
    context: &DutyContext,
    sender: &watch::Sender<Option<BundleReport>>,
) -> Result<(), NatsError> {
    let DutyContext { bus, daemon, ring, trust, .. } = context;
    let mut pointers = bus.subscribe(Subject::Policy(ring)).await?;
    let mut sync = PolicySync::new(daemon.clone(), trust.clone());
    sync.look(bus, ring).await?;
    let mut look_at = Instant::now() + LOOK_INTERVAL / 2 + random_below(LOOK_INTERVAL / 2);
    let mut looked = Instant::now();
    let mut report_at = Instant::now();
    loop {
        if Instant::now() >= look_at {
            sync.look(bus, ring).await?;
            looked = Instant::now();
            look_at = looked + LOOK_INTERVAL / 2 + random_below(LOOK_INTERVAL / 2);
        }
        if Instant::now() >= report_at {
            let report = sync.report().await;
            sender.send_if_modified(|known| {
                let changed = *known != report;
                *known = report;
                changed
            });
            report_at = Instant::now() + REPORT_INTERVAL;
        }
        let next = sync.due().map_or(report_at, |due| due.min(report_at)).min(look_at);
        tokio::select! {
            message = pointers.next() => match message {
                // Another machine can send this message too. What counts is the stored pointer, and it is read only so often.
                Some(_) => look_at = look_at.min(Instant::now().max(looked + MIN_LOOK_INTERVAL) + random_below(LOOK_SPREAD)),
                None => return Ok(()),
            },
            () = tokio::time::sleep_until(next.into()) => {
                if sync.due().is_some_and(|due| due <= Instant::now()) && sync.follow(bus).await {
                    report_at = Instant::now();
                }
            }
        }
    }
}

async fn relay_approvals(context: &DutyContext) -> Result<(), NatsError> {
    let DutyContext { bus, daemon, mailbox, .. } = context;
    let mut answers = bus.subscribe(Subject::Answer(mailbox)).await?;
    let mut relay = ApprovalRelay::new(daemon.clone(), mailbox.machine().clone());
    loop {
        tokio::select! {
            message = answers.next() => match message {
                Some(message) => relay.answer(&message.payload).await,
                None => return Ok(()),
            },
            () = tokio::time::sleep(APPROVAL_INTERVAL) => relay.relay(bus).await?,
        }
    }
}
