// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The connector: a loop that connects to the message bus, uploads records and stores what the fleet acknowledges.

mod session;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tenterhook_fleet_protocol::NkeyPair;
use tenterhook_fleet_state::{
    ConnectorReport, ConnectorState, FleetDir, FleetEnrolment, FleetStateError, StoredCredentials,
};
use tokio::sync::watch;

use self::session::{BusSessionEnd, Session};
use crate::backoff::Backoff;
use crate::bus::{Bus, NatsError};
use crate::daemon_call::DaemonCall;
use crate::enrol::{EnrolError, renew};
use crate::host;
use crate::server_client::ServerError;

/// Pauses after a failed connection.
const RECONNECT_PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_mins(2));
/// Minimum and maximum time between two checks whether the credentials must be renewed.
const RENEWAL_CHECK: (Duration, Duration) = (Duration::from_secs(2), Duration::from_mins(1));
/// Pause after the server refused this machine.
const REFUSED_PAUSE: Duration = Duration::from_mins(5);

/// Returns the daemon's report about itself, if it runs. It may block.
pub type HealthProbe = Arc<dyn Fn() -> Option<Value> + Send + Sync>;

/// What the connector works on.
#[derive(Clone)]
pub struct ConnectorOptions {
    /// The state directory.
    pub state: PathBuf,
    /// Version of Tenterhook.
    pub version: String,
    /// Asks the daemon.
    pub health: HealthProbe,
    /// Sends requests to the daemon.
    pub daemon: DaemonCall,
    /// Intervals of the connector.
    pub timing: ConnectorTiming,
}

/// Intervals of the connector.
#[derive(Debug, Clone, Copy)]
pub struct ConnectorTiming {
    /// Time that new records wait for others to share a batch. A full batch is sent at once.
    pub batch_age: Duration,
    /// Interval at which the ledger is checked for new records.
    pub poll: Duration,
    /// Interval of status reports.
    pub status: Duration,
}

/// Error that ends the connector.
#[derive(Debug, thiserror::Error)]
pub enum ConnectorError {
    /// The files about the fleet cannot be read or written.
    #[error(transparent)]
    State(#[from] FleetStateError),
}

impl Default for ConnectorTiming {
    fn default() -> Self {
        Self {
            batch_age: Duration::from_secs(10),
            poll: Duration::from_secs(1),
            status: Duration::from_mins(5),
        }
    }
}

/// State that outlives a connection.
struct Connector {
    options: ConnectorOptions,
    fleet: FleetDir,
    enrolment: FleetEnrolment,
    key: Arc<NkeyPair>,
    credentials: StoredCredentials,
    /// What was stored last, so that only changes are written.
    report: Option<ConnectorReport>,
}

/// Runs the connector until `stop` is true or its sender is dropped.
pub async fn run(options: ConnectorOptions, mut stop: watch::Receiver<bool>) -> Result<(), ConnectorError> {
    let fleet = FleetDir::of_state(&options.state);
    let _lock = fleet.lock()?;
    let enrolment = fleet.enrolment()?.ok_or(FleetStateError::NotEnrolled)?;
    let key = Arc::new(fleet.machine_key()?);
    let credentials = match fleet.credentials() {
        // Another version wrote them. The key is enough to get new ones.
        Err(error @ FleetStateError::Form { .. }) => {
            let (fleet, enrolment, key) = (fleet.clone(), enrolment.clone(), Arc::clone(&key));
            let renewed = tokio::task::spawn_blocking(move || renew(&fleet, &enrolment, &key)).await;
            renewed.ok().and_then(Result::ok).ok_or(error)?
        }
        credentials => credentials?.ok_or(FleetStateError::NotEnrolled)?,
    };
    let mut connector = Connector { options, fleet, enrolment, key, credentials, report: None };
    tokio::select! {
        () = connector.run_sessions() => {}
        // An error means that the sender was dropped, which stops the connector too.
        _ = stop.wait_for(|stop| *stop) => tracing::info!("the connector ends"),
    }
    Ok(())
}

impl Connector {
    async fn run_sessions(&mut self) {
        let mut backoff = Backoff::new(RECONNECT_PAUSES.0, RECONNECT_PAUSES.1);
        loop {
            if self.must_renew() {
                self.renew().await;
            }
            let pause = match self.connect().await {
                Ok(bus) => {
                    backoff.reset();
                    tracing::info!("connected to the message bus");
                    match Session::run(self, bus).await {
                        BusSessionEnd::Renewed => continue,
                        BusSessionEnd::Lost(why) => {
                            self.note_state(ConnectorState::Away, vec![why]);
                            backoff.pause()
                        }
                    }
                }
                Err(error) => {
                    self.note_state(ConnectorState::Away, vec![error.to_string()]);
                    backoff.pause()
                }
            };
            tokio::time::sleep(pause).await;
        }
    }

    async fn connect(&mut self) -> Result<Bus, NatsError> {
        let connected = self.try_connect().await;
        if connected.as_ref().is_err_and(|error| error.is_authorization) {
            // The server's keys may have changed, or the credentials expired by its clock.
            self.renew().await;
        }
        connected
    }

    async fn try_connect(&self) -> Result<Bus, NatsError> {
        let credentials = &self.credentials.credentials;
        let ca = credentials.nats_ca.as_ref().map(|pem| self.fleet.store_nats_ca(pem)).transpose();
        let ca = ca.map_err(NatsError::new)?;
        let login = (credentials.user_jwt.clone(), Arc::clone(&self.key));
        Bus::connect(&credentials.nats, ca, &self.enrolment.machine, login).await
    }

    /// Whether half of the credentials' life has passed. A clock that was set back counts as well.
    fn must_renew(&self) -> bool {
        let (now, StoredCredentials { received, credentials }) = (host::now(), &self.credentials);
        now >= credentials.renew_at(*received) || now.saturating_add(60) < *received
    }

    /// Returns the time until the credentials are checked again. It is short, because the clock may be set and the machine
    /// may sleep.
    fn time_to_renewal(&self) -> Duration {
        let StoredCredentials { received, credentials } = &self.credentials;
        let left = credentials.renew_at(*received).saturating_sub(host::now());
        Duration::from_secs(left).clamp(RENEWAL_CHECK.0, RENEWAL_CHECK.1)
    }

    /// Asks for new credentials. Returns whether there are some.
    async fn renew(&mut self) -> bool {
        let (fleet, enrolment, key) = (self.fleet.clone(), self.enrolment.clone(), Arc::clone(&self.key));
        let renewed = tokio::task::spawn_blocking(move || renew(&fleet, &enrolment, &key)).await;
        match renewed {
            Ok(Ok(credentials)) => {
                tracing::info!("new credentials");
                self.credentials = credentials;
                true
            }
            Ok(Err(error)) => {
                let state = match &error {
                    EnrolError::Server(ServerError::Refused { .. }) => ConnectorState::Refused,
                    _ => ConnectorState::Away,
                };
                self.note_state(state, vec![format!("the credentials were not renewed: {error}")]);
                if state == ConnectorState::Refused {
                    tokio::time::sleep(REFUSED_PAUSE).await;
                }
                false
            }
            Err(error) => {
                tracing::warn!(%error, "the renewal was interrupted");
                false
            }
        }
    }

    /// Stores the state of the connection for `status`, if it changed.
    fn note_state(&mut self, state: ConnectorState, problems: Vec<String>) {
        let credentials = &self.credentials.credentials;
        let since = match &self.report {
            Some(report) if report.state == state => report.since,
            _ => host::now(),
        };
        let report = ConnectorReport {
            state,
            since,
            pid: std::process::id(),
            ring: Some(credentials.ring.to_string()),
            collects: credentials.collects.clone(),
            problems,
            bundle: None,
        };
        if self.report.as_ref() == Some(&report) {
            return;
        }
        for problem in &report.problems {
            tracing::warn!(%problem, ?state, "a problem of the connector");
        }
        if let Err(error) = self.fleet.store_connector_report(&report) {
            tracing::warn!(%error, "the state of the connector cannot be stored");
        }
        self.report = Some(report);
    }
}
