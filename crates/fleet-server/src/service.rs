// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Puts the server together: database, message bus, ingest and HTTP API.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::action_log::ActionLog;
use crate::alert_delivery::{AlertTarget, run_alert_delivery};
use crate::alert_watch::run_alert_watch;
use crate::api::{ApiContext, ProxyIdentity, read_ca, router};
use crate::bus::{BusOptions, TenantBus, connect_revoker};
use crate::error::FleetError;
use crate::files::create_dir;
use crate::ingest::{IngestContext, run_ingest, wait_for_stop};
use crate::keys::FleetKeys;
use crate::revocation::{RevocationSender, run_revocations};
use crate::store::{OperatorRole, PostgresOptions, Store};

/// How long requests and groups of batches have to finish when the server stops.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

/// Options of the server.
pub struct ServiceOptions {
    /// Directory of this copy of the server: the ledger of its actions.
    pub state: PathBuf,
    /// Address of the HTTP API.
    pub listen: SocketAddr,
    /// Keys of the fleet.
    pub keys: Arc<FleetKeys>,
    /// How to reach NATS.
    pub bus: BusOptions,
    /// How to reach PostgreSQL.
    pub postgres: PostgresOptions,
    /// Users that a reverse proxy has verified.
    pub proxy: Option<ProxyIdentity>,
    /// Life of a machine's credentials.
    pub credential_life: Duration,
    /// Where alerts are delivered.
    pub alert_targets: Vec<AlertTarget>,
    /// A machine without a message for this long raises an alert.
    pub silent_after: Duration,
}

/// A server that is ready to run.
pub struct FleetService {
    listener: TcpListener,
    context: Arc<ApiContext>,
    silent_after: Duration,
    alert_targets: Vec<AlertTarget>,
}

impl FleetService {
    /// Connects to the engines, migrates the database, creates the streams and binds the address.
    pub async fn open(options: ServiceOptions) -> Result<Self, FleetError> {
        let store = Store::open(options.postgres).await?;
        let mut buses = Vec::new();
        for tenant in options.keys.tenants() {
            let Some(accounts) = options.keys.accounts(tenant) else { continue };
            buses.push(TenantBus::open(tenant, accounts, &options.bus).await?);
        }
        create_dir(&options.state, 0o700)?;
        let actions = ActionLog::open(&options.state.join("ledger"), store.clone())?;
        let listener = TcpListener::bind(options.listen).await;
        let listener = listener.map_err(|error| {
            FleetError::invalid(format!("cannot listen on `{}`: {error}", options.listen))
        })?;
        let urls =
            if options.bus.machine_urls.is_empty() { &options.bus.urls } else { &options.bus.machine_urls };
        let revocations = RevocationSender {
            client: connect_revoker(&options.keys, &options.bus).await?,
            keys: options.keys.clone(),
            store: store.clone(),
            credential_life: options.credential_life,
        };
        let context = ApiContext {
            revocations,
            store,
            keys: options.keys,
            actions,
            buses,
            machine_urls: urls.clone(),
            nats_ca: read_ca(options.bus.ca.as_ref())?,
            credential_life: options.credential_life,
            proxy: options.proxy,
        };
        let (silent_after, alert_targets) = (options.silent_after, options.alert_targets);
        Ok(Self { listener, context: Arc::new(context), silent_after, alert_targets })
    }

    /// Returns the address of the HTTP API.
    pub fn local_address(&self) -> Result<SocketAddr, FleetError> {
        self.listener.local_addr().map_err(|error| FleetError::internal(error.to_string()))
    }

    /// Returns the name of the fleet, which signed requests are bound to.
    pub fn fleet(&self) -> String {
        self.context.fleet()
    }

    /// Whether a tenant has an administrator.
    pub async fn has_admin(&self, tenant: &str) -> Result<bool, FleetError> {
        self.context.store.has_admin(tenant).await
    }

    /// Adds an administrator's key at start: the first key of a tenant, which no operator can add over the API.
    pub async fn add_first_admin(&self, tenant: &str, name: &str, key: &[u8; 32]) -> Result<(), FleetError> {
        let detail = serde_json::json!({ "name": name, "role": OperatorRole::Admin, "public_key": key });
        self.context.actions.record(tenant, "server", "key-add", detail).await?;
        self.context.store.add_operator((tenant, name, OperatorRole::Admin), key, "server").await.map(drop)
    }

    /// Runs until `stop` is true, then finishes what has begun.
    pub async fn run(self, stop: watch::Receiver<bool>) -> Result<(), FleetError> {
        let context = &self.context;
        let ingest = IngestContext {
            store: context.store.clone(),
            witness: Arc::new(context.keys.witness().clone()),
            stop: stop.clone(),
        };
        let tenants: Vec<String> = context.keys.tenants().map(ToOwned::to_owned).collect();
        for target in self.alert_targets {
            tokio::spawn(run_alert_delivery(context.store.clone(), tenants.clone(), target, stop.clone()));
        }
        tokio::spawn(run_revocations(context.revocations.clone(), tenants.clone(), stop.clone()));
        let ingest = tokio::spawn(run_ingest(ingest, context.buses.clone()));
        let watch =
            tokio::spawn(run_alert_watch(context.store.clone(), tenants, self.silent_after, stop.clone()));
        let app = router(self.context.clone()).into_make_service_with_connect_info::<SocketAddr>();
        let mut http_stop = stop.clone();
        let http = tokio::spawn(async move {
            let stopped = async move { wait_for_stop(&mut http_stop).await };
            axum::serve(self.listener, app).with_graceful_shutdown(stopped).await
        });
        let mut stop = stop;
        wait_for_stop(&mut stop).await;
        let finish = async {
            for (what, task) in [("ingest", ingest), ("alerts", watch)] {
                if let Err(error) = task.await {
                    tracing::error!(what, %error, "a task failed");
                }
            }
            match http.await {
                Ok(Ok(())) => {}
                other => tracing::error!(?other, "the HTTP API failed"),
            }
        };
        if tokio::time::timeout(SHUTDOWN_TIMEOUT, finish).await.is_err() {
            tracing::warn!("requests did not finish in time");
        }
        Ok(())
    }
}
