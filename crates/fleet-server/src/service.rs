// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Puts the server together: database, message bus, ingest and HTTP API.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::action_log::ActionLog;
use crate::alert_watch::run_alert_watch;
use crate::api::{ApiContext, ProxyIdentity, read_ca, router};
use crate::bus::{BusOptions, TenantBus, connect_revoker};
use crate::error::FleetError;
use crate::files::create_dir;
use crate::http_server::serve_http;
use crate::ingest::{IngestContext, run_ingest, wait_for_stop};
use crate::keys::FleetKeys;
use crate::otlp_export::run_otlp_export;
use crate::revocation::{RevocationSender, run_revocations};
use crate::store::{OperatorRole, PostgresOptions, Store, operator_id};
use crate::webhook_delivery::{DeliveredMessages, WebhookTarget, run_deliveries};

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
    /// Whether browsers reach this server over HTTPS.
    pub has_https: bool,
    /// Life of a machine's credentials.
    pub credential_life: Duration,
    /// Where alerts are delivered.
    pub alert_targets: Vec<WebhookTarget>,
    /// Where waiting approvals are announced.
    pub approval_targets: Vec<WebhookTarget>,
    /// URL at which approvers reach the server.
    pub public_url: Option<String>,
    /// A machine without a message for this long raises an alert.
    pub silent_after: Duration,
    /// Maximum number of bytes that a machine may upload in a day.
    pub max_upload_bytes: u64,
    /// Whether the streams of evidence are read again from their start.
    pub replay_streams: bool,
    /// URL of an OpenTelemetry collector that receives decisions.
    pub otlp_endpoint: Option<String>,
}

/// A server that is ready to run.
pub struct FleetService {
    listener: TcpListener,
    state: PathBuf,
    context: Arc<ApiContext>,
    silent_after: Duration,
    max_upload_bytes: u64,
    otlp_endpoint: Option<String>,
    deliveries: Vec<(WebhookTarget, DeliveredMessages)>,
}

impl FleetService {
    /// Connects to the engines, migrates the database, creates the streams and binds the address.
    pub async fn open(options: ServiceOptions) -> Result<Self, FleetError> {
        let store = Store::open(options.postgres).await?;
        let mut buses = Vec::new();
        for tenant in options.keys.tenants() {
            let Some(accounts) = options.keys.accounts(tenant) else { continue };
            let bus = TenantBus::open(tenant, accounts, &options.bus).await?;
            if options.replay_streams {
                bus.replay_evidence().await?;
            }
            buses.push(bus);
        }
        create_dir(&options.state, 0o700)?;
        let actions = ActionLog::open(&options.state.join("ledger"), store.clone())?;
        let listener = TcpListener::bind(options.listen).await;
        let listener = listener.map_err(|error| {
            FleetError::invalid(format!("cannot listen on `{}`: {error}", options.listen))
        })?;
        let urls =
            if options.bus.machine_urls.is_empty() { &options.bus.urls } else { &options.bus.machine_urls };
        let revoker = connect_revoker(&options.keys, &options.bus).await?;
        let revocations =
            RevocationSender::new(revoker, options.keys.clone(), store.clone(), options.credential_life);
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
            has_https: options.has_https,
        };
        let ServiceOptions { silent_after, alert_targets, approval_targets, max_upload_bytes, .. } = options;
        let otlp_endpoint = options.otlp_endpoint;
        let address = listener.local_addr().map_err(|error| FleetError::internal(error.to_string()))?;
        let public_url = options.public_url.unwrap_or_else(|| format!("http://{address}"));
        let approvals = DeliveredMessages::Approvals(public_url.into());
        let deliveries = (alert_targets.into_iter().map(|target| (target, DeliveredMessages::Alerts)))
            .chain(approval_targets.into_iter().map(|target| (target, approvals.clone())))
            .collect();
        Ok(Self {
            listener,
            state: options.state,
            context: Arc::new(context),
            silent_after,
            max_upload_bytes,
            otlp_endpoint,
            deliveries,
        })
    }

    /// Returns the address of the HTTP API.
    pub fn local_address(&self) -> Result<SocketAddr, FleetError> {
        self.listener.local_addr().map_err(|error| FleetError::internal(error.to_string()))
    }

    /// Returns the directory of this copy of the server.
    pub fn state(&self) -> &Path {
        &self.state
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

    /// Creates a one-time link that signs a browser in as the owner of a key. Returns its secret.
    pub async fn create_sign_in_link(&self, tenant: &str, key: &[u8; 32]) -> Result<String, FleetError> {
        let link = self.context.create_sign_in_link(tenant, ("server", &operator_id(key))).await?;
        Ok(link.0)
    }

    /// Runs until `stop` is true, then finishes what has begun.
    pub async fn run(self, stop: watch::Receiver<bool>) -> Result<(), FleetError> {
        let context = &self.context;
        let ingest = IngestContext {
            store: context.store.clone(),
            witness: Arc::new(context.keys.witness().clone()),
            stop: stop.clone(),
            revocations: context.revocations.clone(),
            max_upload_bytes: self.max_upload_bytes,
            has_collector: self.otlp_endpoint.is_some(),
        };
        if let Some(endpoint) = self.otlp_endpoint {
            tokio::spawn(run_otlp_export(context.store.clone(), endpoint, stop.clone()));
        }
        let tenants: Vec<String> = context.keys.tenants().map(ToOwned::to_owned).collect();
        for delivery in self.deliveries {
            tokio::spawn(run_deliveries(context.store.clone(), tenants.clone(), delivery, stop.clone()));
        }
        tokio::spawn(run_revocations(context.revocations.clone(), tenants.clone(), stop.clone()));
        let ingest = tokio::spawn(run_ingest(ingest, context.buses.clone()));
        let watch =
            tokio::spawn(run_alert_watch(context.store.clone(), tenants, self.silent_after, stop.clone()));
        let http = tokio::spawn(serve_http(self.listener, router(self.context.clone()), stop.clone()));
        let mut stop = stop;
        wait_for_stop(&mut stop).await;
        let finish = async {
            for (what, task) in [("ingest", ingest), ("alerts", watch), ("HTTP", http)] {
                if let Err(error) = task.await {
                    tracing::error!(what, %error, "a task failed");
                }
            }
        };
        if tokio::time::timeout(SHUTDOWN_TIMEOUT, finish).await.is_err() {
            tracing::warn!("requests did not finish in time");
        }
        Ok(())
    }
}
