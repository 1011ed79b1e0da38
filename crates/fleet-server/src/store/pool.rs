// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Connections to PostgreSQL.

use std::path::PathBuf;
use std::time::Duration;

use deadpool_postgres::{Hook, HookError, Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use tokio_postgres::config::SslMode;
use tokio_postgres::{Client, Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::migrate::{MIGRATIONS, migrate};
use crate::error::FleetError;
use crate::trial::MIN_POSTGRES_VERSION;

/// Default of `PostgresOptions::max_connections`.
pub const DEFAULT_DATABASE_CONNECTIONS: usize = 16;
/// Limits of every connection of the pool: a statement, the wait for a lock, and a transaction whose server is stuck.
const SESSION_LIMITS: &str = "set statement_timeout = '30s'; set lock_timeout = '10s'; \
                              set idle_in_transaction_session_timeout = '60s'";
/// How long a request waits for a connection.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(10);

/// Time without traffic after which a connection to PostgreSQL is probed, time between two probes, and their number.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(10);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
const KEEPALIVE_RETRIES: u32 = 3;
/// Time after which a connection is closed whose data is not confirmed.
const UNANSWERED_TIMEOUT: Duration = Duration::from_secs(20);
/// The same for PostgreSQL's side of the connection that holds leases: until PostgreSQL notices that a server is
/// unreachable, no other copy gets its partitions.
const LEASE_SESSION_SETTINGS: &str = "set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; \
                                      set tcp_keepalives_count = 3; set tcp_user_timeout = '20s'";

/// How the server reaches PostgreSQL.
#[derive(Clone)]
pub struct PostgresOptions {
    /// Address, database, user and password.
    pub config: Config,
    /// Certificate authority of PostgreSQL. If it is given, TLS is required.
    pub ca: Option<PathBuf>,
    /// Maximum number of connections of one server, besides the one that holds its locks.
    pub max_connections: usize,
}

/// The database of a fleet.
#[derive(Clone)]
pub struct Store {
    pool: Pool,
    options: PostgresOptions,
}

impl PostgresOptions {
    /// Parses a URL such as `postgres://fleet@db.example/fleet?sslmode=require`.
    pub fn parse(url: &str, password: Option<&str>, ca: Option<PathBuf>) -> Result<Self, FleetError> {
        let invalid = |error| FleetError::invalid(format!("invalid address of PostgreSQL: {error}"));
        let mut config: Config = url.parse().map_err(invalid)?;
        if let Some(password) = password {
            config.password(password);
        }
        if ca.is_some() {
            config.ssl_mode(SslMode::Require);
        } else if config.get_ssl_mode() == SslMode::Require {
            return Err(FleetError::invalid("`sslmode=require` needs a certificate authority")
                .with_hint("name its file with `--postgres-ca`"));
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(Duration::from_secs(5));
        }
        config.application_name("tenterhook-fleet");
        // A database that a network does not reach any more is noticed in seconds, not after the kernel's default of
        // hours for idle and a quarter of an hour for busy connections.
        config.keepalives_idle(KEEPALIVE_IDLE).keepalives_interval(KEEPALIVE_INTERVAL);
        config.keepalives_retries(KEEPALIVE_RETRIES).tcp_user_timeout(UNANSWERED_TIMEOUT);
        Ok(Self { config, ca, max_connections: DEFAULT_DATABASE_CONNECTIONS })
    }

    fn tls(&self) -> Result<Option<MakeRustlsConnect>, FleetError> {
        let Some(ca) = &self.ca else { return Ok(None) };
        let invalid = |why: String| FleetError::invalid(format!("`{}`: {why}", ca.display()));
        let mut roots = rustls::RootCertStore::empty();
        for certificate in CertificateDer::pem_file_iter(ca).map_err(|error| invalid(error.to_string()))? {
            let certificate = certificate.map_err(|error| invalid(error.to_string()))?;
            roots.add(certificate).map_err(|error| invalid(error.to_string()))?;
        }
        let provider = std::sync::Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| invalid(error.to_string()))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Some(MakeRustlsConnect::new(config)))
    }

    /// Opens a connection outside the pool.
    async fn connect(&self) -> Result<Client, FleetError> {
        let report = |result: Result<(), tokio_postgres::Error>| {
            if let Err(error) = result {
                tracing::warn!(%error, "connection to PostgreSQL");
            }
        };
        if let Some(tls) = self.tls()? {
            let (client, connection) = self.config.connect(tls).await?;
            tokio::spawn(async move { report(connection.await) });
            Ok(client)
        } else {
            let (client, connection) = self.config.connect(NoTls).await?;
            tokio::spawn(async move { report(connection.await) });
            Ok(client)
        }
    }
}

impl Store {
    /// Connects, checks the version of PostgreSQL and migrates the database.
    pub async fn open(options: PostgresOptions) -> Result<Self, FleetError> {
        let mut client = options.connect().await?;
        let version: String = client.query_one("show server_version_num", &[]).await?.get(0);
        let major = version.parse::<u32>().unwrap_or(0) / 10_000;
        if major < MIN_POSTGRES_VERSION {
            let message =
                format!("PostgreSQL {major} is too old: {MIN_POSTGRES_VERSION} or newer is required");
            return Err(FleetError::incompatible(message));
        }
        migrate(&mut client, MIGRATIONS).await?;
        let settings = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = match options.tls()? {
            Some(tls) => Manager::from_config(options.config.clone(), tls, settings),
            None => Manager::from_config(options.config.clone(), NoTls, settings),
        };
        let pool = Pool::builder(manager)
            .max_size(options.max_connections.max(1))
            .post_create(Hook::async_fn(|client, _| {
                Box::pin(
                    async move { client.batch_execute(SESSION_LIMITS).await.map_err(HookError::Backend) },
                )
            }))
            .wait_timeout(Some(CONNECTION_TIMEOUT))
            .create_timeout(Some(CONNECTION_TIMEOUT))
            .recycle_timeout(Some(CONNECTION_TIMEOUT))
            .runtime(Runtime::Tokio1)
            .build()
            .map_err(|error| FleetError::internal(error.to_string()))?;
        Ok(Self { pool, options })
    }

    /// Takes a connection from the pool.
    pub(crate) async fn client(&self) -> Result<Object, FleetError> {
        Ok(self.pool.get().await?)
    }

    /// Opens a connection of its own, for locks that belong to a session.
    pub(crate) async fn dedicated_client(&self) -> Result<Client, FleetError> {
        let client = self.options.connect().await?;
        client.batch_execute(LEASE_SESSION_SETTINGS).await?;
        Ok(client)
    }
}
