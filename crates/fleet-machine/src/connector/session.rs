// SPDX-License-Identifier: Apache-2.0 OR MIT

//! One connection to the message bus: uploads, acknowledgements, commands and status.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_nats::Subscriber;
use futures_util::StreamExt as _;
use tenterhook_fleet_bundle::{SignerSet, Trust};
use tenterhook_fleet_protocol::{
    CosignMessage, FleetMessage, InstanceId, MachineCommand, MachineStatus, Mailbox, MessageId, StreamName,
    Subject, UploadBatch,
};
use tenterhook_fleet_state::{ConnectorState, FleetEnrolment};

use super::Connector;
use crate::backoff::{Backoff, random_below};
use crate::bus::{Bus, NatsError};
use crate::fleet_duties::{DutyContext, FleetDuties};
use crate::host;
use crate::ledger_source::{LedgerSource, SourceError};
use crate::status_report::add_health;
use crate::upload::{PublishOutcome, UploadProgress};

/// Pauses after a batch that was not stored.
const UPLOAD_PAUSES: (Duration, Duration) = (Duration::from_millis(500), Duration::from_mins(1));
/// Time without a connection after which the session ends, so that a new one starts with fresh credentials.
const MAX_DISCONNECTED_TIME: Duration = Duration::from_secs(30);
/// Number of new records that are uploaded without waiting for others.
const FULL_BATCH_RECORDS: u64 = 1000;

/// Why a session ended.
pub(super) enum BusSessionEnd {
    /// The credentials were renewed, so the connection is made again with them.
    Renewed,
    /// The connection was lost, or the message bus does not work.
    Lost(String),
}

/// One connection to the message bus.
pub(super) struct Session<'c> {
    connector: &'c mut Connector,
    bus: Bus,
    mailbox: Mailbox,
    instance: InstanceId,
    source: Arc<Mutex<LedgerSource>>,
    progress: UploadProgress,
    backoff: Backoff,
    /// Number of records in the ledger when it was checked last, and since when records wait.
    ledger_size: u64,
    waiting_since: Option<Instant>,
    disconnected_since: Option<Instant>,
    /// Since when batches were not stored although the connection is open.
    unavailable_since: Option<Instant>,
    /// Size of a rolled-back ledger that was shown to the server.
    shown_rollback: Option<u64>,
    /// Policy and approvals.
    duties: FleetDuties,
    /// Problem with the upload, if any.
    problem: Option<String>,
}

/// Returns what the enrolment trusts for policy; `None` if the fleet signs none.
fn policy_trust(enrolment: &FleetEnrolment) -> Option<Trust> {
    let FleetEnrolment { tenant, policy_keys, policy_threshold, .. } = enrolment;
    let signers = SignerSet::of_enrolment(policy_keys.clone(), *policy_threshold);
    (!policy_keys.is_empty()).then(|| Trust { fleet: tenant.clone(), signers, since: 0 })
}

/// A batch that is ready to be published.
type EncodedBatch = (UploadBatch, Vec<u8>);

impl<'c> Session<'c> {
    /// Serves a connection until it ends.
    pub(super) async fn run(connector: &'c mut Connector, bus: Bus) -> BusSessionEnd {
        match Self::start(connector, bus).await {
            Ok((mut session, commands, cosigned)) => session.serve(commands, cosigned).await,
            Err(error) => BusSessionEnd::Lost(error.to_string()),
        }
    }

    /// Subscribes, and finds out where the upload continues.
    async fn start(
        connector: &'c mut Connector,
        bus: Bus,
    ) -> Result<(Session<'c>, [Subscriber; 2], Subscriber), NatsError> {
        let mailbox = connector.credentials.credentials.mailbox.clone();
        let commands =
            [bus.subscribe(Subject::Command(&mailbox)).await?, bus.subscribe(Subject::CommandAll).await?];
        let cosigned = bus.subscribe(Subject::Cosign(&mailbox)).await?;
        let source = Arc::new(Mutex::new(LedgerSource::new(&connector.options.state)));
        let instance = host::instance(connector.enrolment.instance_seed);
        let cursor = connector.fleet.cursor().unwrap_or_default();
        let progress = UploadProgress::resume(cursor, None, 0, Instant::now());
        let duties = FleetDuties::start(&DutyContext {
            bus: bus.clone(),
            daemon: Arc::clone(&connector.options.daemon),
            mailbox: mailbox.clone(),
            ring: connector.credentials.credentials.ring.clone(),
            trust: policy_trust(&connector.enrolment),
        });
        let mut session = Self {
            connector,
            duties,
            bus,
            mailbox,
            instance,
            source,
            progress,
            backoff: Backoff::new(UPLOAD_PAUSES.0, UPLOAD_PAUSES.1),
            ledger_size: 0,
            waiting_since: None,
            disconnected_since: None,
            unavailable_since: None,
            shown_rollback: None,
            problem: None,
        };
        session.resume().await?;
        Ok((session, commands, cosigned))
    }

    /// Continues at the server's cursor and after the machine's last message on the message bus.
    async fn resume(&mut self) -> Result<(), NatsError> {
        let mut cursor = self.connector.fleet.cursor().unwrap_or_default();
        let last = self.bus.last_message(StreamName::Cosign, Subject::Cosign(&self.mailbox)).await?;
        if let Some(message) = last.and_then(|last| CosignMessage::decode(&last.payload).ok())
            && self.accept_cosigned(&message).await
        {
            cursor.acknowledged = message.cursor;
        }
        let last = self.bus.last_batch().await?;
        let sequence = last.as_ref().map_or(0, |last| last.sequence);
        let own = match last.and_then(|last| last.id) {
            Some(id) if self.is_own(&id).await => Some(id),
            _ => None,
        };
        let stored = own.as_ref().map(|id| (id, sequence));
        self.progress = UploadProgress::resume(cursor, stored, sequence, Instant::now());
        tracing::info!(
            next = self.progress.next(),
            acknowledged = self.progress.acknowledged(),
            sequence,
            "the upload continues"
        );
        Ok(())
    }

    async fn serve(
        &mut self,
        [mut commands, mut common]: [Subscriber; 2],
        mut cosigned: Subscriber,
    ) -> BusSessionEnd {
        let timing = self.connector.options.timing;
        self.note_connected();
        let mut upload_at = tokio::time::Instant::now();
        let mut status_at = upload_at;
        let mut renew_at = upload_at + self.connector.time_to_renewal();
        loop {
            tokio::select! {
                message = cosigned.next() => {
                    let Some(message) = message else { return BusSessionEnd::Lost("the connection was closed".to_owned()) };
                    if let Ok(message) = CosignMessage::decode(&message.payload) {
                        self.note_cosigned(&message).await;
                    }
                }
                message = commands.next() => {
                    let Some(message) = message else { return BusSessionEnd::Lost("the connection was closed".to_owned()) };
                    match MachineCommand::decode(&message.payload) {
                        Ok(MachineCommand::Resend { from }) => {
                            if self.note_resend(from) {
                                upload_at = tokio::time::Instant::now();
                            }
                        }
                        Ok(MachineCommand::Report) => status_at = tokio::time::Instant::now(),
                        Ok(MachineCommand::RefreshPolicy) | Err(_) => {}
                    }
                }
                message = common.next() => {
                    let Some(message) = message else { return BusSessionEnd::Lost("the connection was closed".to_owned()) };
                    // All machines get these at once, so each waits for a random time. A report that is due is not put off.
                    if let Ok(MachineCommand::Report) = MachineCommand::decode(&message.payload) {
                        status_at = status_at.min(tokio::time::Instant::now() + random_below(timing.status));
                    }
                }
                () = tokio::time::sleep_until(upload_at) => {
                    if let Some(end) = self.check_connection() {
                        return end;
                    }
                    upload_at = tokio::time::Instant::now() + self.upload().await;
                    self.note_connected();
                }
                Ok(()) = self.duties.policy.changed() => status_at = tokio::time::Instant::now(),
                () = tokio::time::sleep_until(status_at) => {
                    self.send_status().await;
                    status_at = tokio::time::Instant::now() + timing.status / 2 + random_below(timing.status / 2);
                }
                () = tokio::time::sleep_until(renew_at) => {
                    if self.connector.must_renew() && self.connector.renew().await {
                        return BusSessionEnd::Renewed;
                    }
                    renew_at = tokio::time::Instant::now() + self.connector.time_to_renewal();
                }
            }
        }
    }

    /// Ends a session whose connection has been lost for a while.
    fn check_connection(&mut self) -> Option<BusSessionEnd> {
        if self.bus.is_connected() {
            self.disconnected_since = None;
            // A server that a network separates from the others keeps its connections, but stores nothing.
            let separated =
                self.unavailable_since.is_some_and(|since| since.elapsed() >= MAX_DISCONNECTED_TIME);
            return separated.then(|| BusSessionEnd::Lost("the message bus stores nothing".to_owned()));
        }
        let since = *self.disconnected_since.get_or_insert_with(Instant::now);
        (since.elapsed() >= MAX_DISCONNECTED_TIME)
            .then(|| BusSessionEnd::Lost("the message bus is not reachable".to_owned()))
    }

    fn note_connected(&mut self) {
        if self.disconnected_since.is_none() {
            self.connector.note_state(ConnectorState::Connected, self.problem.clone().into_iter().collect());
        }
    }

    /// Uploads one batch if there is enough to upload. Returns the time until the next one.
    async fn upload(&mut self) -> Duration {
        let poll = self.connector.options.timing.poll;
        if self.progress.retry_unacknowledged((host::now(), Instant::now())) {
            tracing::warn!(
                from = self.progress.next(),
                "no acknowledgement for a long time: uploading again"
            );
        }
        let size = match self.read(LedgerSource::size).await {
            Ok(size) => size,
            Err(error) => return self.note_problem(&error),
        };
        self.ledger_size = size;
        if !self.bus.is_connected() {
            return poll;
        }
        let next = self.progress.next();
        if size < next {
            return self.show_rollback(size).await;
        }
        if size == next {
            (self.waiting_since, self.problem) = (None, None);
            return poll;
        }
        let since = *self.waiting_since.get_or_insert_with(Instant::now);
        let (machine, instance) = (self.connector.enrolment.machine.clone(), self.instance);
        let age = self.connector.options.timing.batch_age;
        if since.elapsed() < age && size - next < FULL_BATCH_RECORDS {
            return poll.min(age.saturating_sub(since.elapsed()));
        }
        match self.read(move |source| source.batch(next, &machine, instance)).await {
            Ok(Some(batch)) => self.publish(batch).await,
            Ok(None) => poll,
            Err(error) => self.note_problem(&error),
        }
    }

    async fn publish(&mut self, (batch, bytes): EncodedBatch) -> Duration {
        let id = MessageId { attempt: self.progress.attempt(), ..batch.message_id() };
        let end = batch.end();
        let outcome = self.bus.publish_batch(bytes, &id, self.progress.last_sequence()).await;
        if !matches!(outcome, PublishOutcome::Unavailable(_)) {
            self.unavailable_since = None;
        }
        match outcome {
            PublishOutcome::Stored { sequence } => {
                self.progress.note_stored(end, sequence, Instant::now());
                self.backoff.reset();
                (self.waiting_since, self.problem) = (None, None);
                self.store_cursor();
                // More records wait: the next batch follows at once.
                if self.ledger_size > end { Duration::ZERO } else { self.connector.options.timing.poll }
            }
            PublishOutcome::OtherLastMessage => {
                if let Err(error) = self.look_up_last().await {
                    self.problem = Some(error.to_string());
                }
                self.backoff.pause()
            }
            PublishOutcome::Full => {
                self.problem = Some("the fleet's stream is full; records wait in the ledger".to_owned());
                self.backoff.pause()
            }
            PublishOutcome::Unavailable(why) => {
                self.unavailable_since = self.unavailable_since.or_else(|| Some(Instant::now()));
                self.problem = Some(format!("records wait in the ledger: {why}"));
                self.backoff.pause()
            }
            PublishOutcome::Refused(why) => {
                self.problem = Some(format!("records wait in the ledger: {why}"));
                self.backoff.pause()
            }
        }
    }

    /// Looks up the machine's last message after another one was expected. If it has records of this ledger, the upload
    /// continues after it.
    async fn look_up_last(&mut self) -> Result<(), NatsError> {
        let Some(last) = self.bus.last_batch().await? else {
            self.progress.note_last_message(0, None);
            return Ok(());
        };
        let own = match &last.id {
            Some(id) if id.attempt == self.progress.attempt() && self.is_own(id).await => Some(id.end),
            _ => None,
        };
        tracing::info!(sequence = last.sequence, ?own, "another message was the last one");
        self.progress.note_last_message(last.sequence, own);
        Ok(())
    }

    /// Shows a ledger that has fewer records than were uploaded: its last record with its checkpoint, once.
    async fn show_rollback(&mut self, size: u64) -> Duration {
        let poll = self.connector.options.timing.poll;
        self.problem = Some(format!(
            "{} records were uploaded, but the ledger has {size}: it was rolled back or replaced",
            self.progress.next()
        ));
        let Some(first) = size.checked_sub(1).filter(|_| self.shown_rollback != Some(size)) else {
            return poll;
        };
        let (machine, instance) = (self.connector.enrolment.machine.clone(), self.instance);
        let Ok(Some((batch, bytes))) = self.read(move |source| source.batch(first, &machine, instance)).await
        else {
            return poll;
        };
        // The records were uploaded before, so only the attempt distinguishes the message.
        let id = MessageId { attempt: host::now(), ..batch.message_id() };
        match self.bus.publish_batch(bytes, &id, self.progress.last_sequence()).await {
            PublishOutcome::Stored { sequence } => {
                tracing::warn!(size, "the ledger was rolled back; the server was shown its head");
                self.progress.note_stored(0, sequence, Instant::now());
                self.shown_rollback = Some(size);
                poll
            }
            PublishOutcome::OtherLastMessage => {
                if let Err(error) = self.look_up_last().await {
                    tracing::warn!(%error, "the last message cannot be looked up");
                }
                self.backoff.pause()
            }
            _ => self.backoff.pause(),
        }
    }

    /// Stores an acknowledgement.
    async fn note_cosigned(&mut self, message: &CosignMessage) {
        let now = (host::now(), Instant::now());
        if self.accept_cosigned(message).await && self.progress.note_acknowledged(message.cursor, now) {
            self.store_cursor();
        }
    }

    /// Checks a cosigned checkpoint and stores it. Returns whether its cursor is valid.
    async fn accept_cosigned(&mut self, message: &CosignMessage) -> bool {
        if message.machine != self.connector.enrolment.machine {
            return false;
        }
        let (fleet, note) = (self.connector.fleet.clone(), message.note.clone());
        let stored = tokio::task::spawn_blocking(move || fleet.store_witnessed(&note)).await;
        let witnessed = match stored {
            Ok(Ok(witnessed)) => witnessed,
            Ok(Err(error)) => {
                self.problem = Some(error.to_string());
                return false;
            }
            Err(_) => return false,
        };
        let checkpoint = witnessed.checkpoint;
        let size = checkpoint.size;
        match self.read(move |source| source.contains(&checkpoint)).await {
            Ok(true) => message.cursor <= size,
            Ok(false) => {
                self.problem = Some(format!(
                    "the witness cosigned {size} records that this ledger does not have: it was rolled back or edited"
                ));
                message.cursor <= size
            }
            Err(error) => {
                tracing::warn!(%error, "the ledger cannot be read");
                false
            }
        }
    }

    fn note_resend(&mut self, from: u64) -> bool {
        let followed = self.progress.note_resend(from, (host::now(), Instant::now()));
        if followed {
            tracing::info!(from, "the server asks for records again");
            self.store_cursor();
        }
        followed
    }

    async fn send_status(&mut self) {
        let probe = Arc::clone(&self.connector.options.health);
        let health = tokio::task::spawn_blocking(move || probe()).await.ok().flatten();
        let mut status = MachineStatus {
            machine: self.connector.enrolment.machine.clone(),
            instance: self.instance,
            sent_ms: host::now_ms(),
            version: self.connector.options.version.clone(),
            host: host::host_name(),
            os: host::os_name(),
            ledger_size: self.ledger_size,
            uploaded: self.progress.next(),
            acknowledged: self.progress.acknowledged(),
            mode: None,
            daemon_running: false,
            sandbox_levels: Vec::new(),
            harnesses: Vec::new(),
            bundle: self.duties.policy.borrow_and_update().clone(),
            problems: self.problem.clone().into_iter().collect(),
        };
        add_health(&mut status, health.as_ref());
        let machine = status.machine.clone();
        let sent = match status.encode() {
            Ok(bytes) => self.bus.publish(Subject::Status(&machine), bytes).await,
            Err(error) => Err(NatsError::new(error)),
        };
        if let Err(error) = sent {
            tracing::warn!(%error, "the status was not sent");
        }
        // An acknowledgement that was dropped on the way is looked up.
        if self.progress.acknowledged() < self.progress.next()
            && let Ok(Some(last)) =
                self.bus.last_message(StreamName::Cosign, Subject::Cosign(&self.mailbox)).await
            && let Ok(message) = CosignMessage::decode(&last.payload)
        {
            self.note_cosigned(&message).await;
        }
    }

    async fn is_own(&self, id: &MessageId) -> bool {
        let id = id.clone();
        id.machine == self.connector.enrolment.machine
            && self.read(move |source| source.matches(&id)).await.unwrap_or(false)
    }

    fn store_cursor(&self) {
        if let Err(error) = self.connector.fleet.store_cursor(&self.progress.cursor()) {
            tracing::warn!(%error, "the cursor cannot be stored");
        }
    }

    fn note_problem(&mut self, error: &SourceError) -> Duration {
        self.problem = Some(error.to_string());
        self.backoff.pause()
    }

    /// Reads from the ledger on another thread, so that the connection is served in the meantime.
    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&mut LedgerSource) -> Result<T, SourceError> + Send + 'static,
    ) -> Result<T, SourceError> {
        let source = Arc::clone(&self.source);
        let done = tokio::task::spawn_blocking(move || {
            read(&mut source.lock().unwrap_or_else(PoisonError::into_inner))
        });
        done.await.unwrap_or(Err(SourceError::Empty))
    }
}
