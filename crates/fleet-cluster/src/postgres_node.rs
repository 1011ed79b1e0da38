// SPDX-License-Identifier: Apache-2.0 OR MIT

//! PostgreSQL of the cluster, and queries for checks.

use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::Signal;
use tokio_postgres::{Config, NoTls, SimpleQueryMessage};

use crate::cluster_process::{ClusterProcess, ProcessCommand};
use crate::error::ClusterError;
use crate::wait_for;

/// Name of the database and of its owner.
const DATABASE_NAME: &str = "fleet";
/// Password of the owner: the database accepts connections from this computer, and lives as long as the cluster.
const DATABASE_PASSWORD: &str = "cluster";
/// User that PostgreSQL runs as if the cluster runs as root, because it refuses root.
const DATABASE_USER: &str = "postgres";
/// How long a query may take.
const QUERY_TIMEOUT: Duration = Duration::from_mins(1);

/// PostgreSQL of the cluster.
#[derive(Debug)]
pub(crate) struct PostgresNode {
    pub(crate) process: ClusterProcess,
    pub(crate) address: SocketAddr,
    pub(crate) password_file: PathBuf,
    namespace: Option<String>,
    bin: PathBuf,
}

/// A row of a result, as text.
pub(crate) type TextRow = Vec<Option<String>>;

impl PostgresNode {
    /// Creates the database's files.
    pub(crate) fn create(
        dir: &Path,
        bin: &Path,
        address: SocketAddr,
        namespace: Option<String>,
    ) -> Result<Self, ClusterError> {
        let dir = dir.join("postgres");
        let file = |error| ClusterError::file(&dir, error);
        std::fs::create_dir_all(&dir).map_err(file)?;
        let user = unprivileged_user()?;
        if let Some((user, group)) = user {
            chown(&dir, Some(user), Some(group)).map_err(file)?;
        }
        let password_file = dir.with_file_name("db-password");
        std::fs::write(&password_file, DATABASE_PASSWORD).map_err(file)?;
        let private = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(&password_file, private.clone()).map_err(file)?;
        let init_password = dir.join("password");
        std::fs::write(&init_password, DATABASE_PASSWORD).map_err(file)?;
        std::fs::set_permissions(&init_password, private).map_err(file)?;
        if let Some((user, group)) = user {
            chown(&init_password, Some(user), Some(group)).map_err(file)?;
        }
        let data = dir.join("data");
        ProcessCommand::new(&bin.join("initdb"), &dir)
            .args([
                std::ffi::OsStr::new("-D"),
                data.as_os_str(),
                "--pwfile".as_ref(),
                init_password.as_os_str(),
            ])
            .args(["-U", DATABASE_NAME, "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C"])
            .user(user)
            .run("initdb")?;
        if !address.ip().is_loopback() {
            let access = data.join("pg_hba.conf");
            let text = format!("host all all {}/16 scram-sha-256\n", address.ip());
            std::fs::write(&access, text).map_err(|error| ClusterError::file(&access, error))?;
        }
        let option = |name: &str, value: &str| ["-c".to_owned(), format!("{name}={value}")];
        let command = ProcessCommand::new(&bin.join("postgres"), &dir)
            .args([std::ffi::OsStr::new("-D"), data.as_os_str()])
            .args(option("listen_addresses", &address.ip().to_string()))
            .args(option("port", &address.port().to_string()))
            .args(option("unix_socket_directories", ""))
            .user(user)
            .namespace(namespace.clone())
            .stop_signal(Signal::INT);
        let process = ClusterProcess::new("postgres", command, &dir.with_file_name("postgres.log"));
        Ok(Self { process, address, password_file, namespace, bin: bin.to_owned() })
    }

    /// Returns the URL for the fleet server.
    pub(crate) fn url(&self) -> String {
        format!("postgres://{DATABASE_NAME}@{}/{DATABASE_NAME}", self.address)
    }

    /// Waits until the server accepts connections, and creates the database if it does not exist.
    pub(crate) fn wait_until_ready(&mut self, limit: Duration) -> Result<(), ClusterError> {
        wait_for("PostgreSQL accepts connections", limit, || {
            self.process.check_running()?;
            Ok(self.query_in("postgres", "select 1").ok())
        })?;
        let found = self
            .query_in("postgres", &format!("select 1 from pg_database where datname = '{DATABASE_NAME}'"))?;
        if found.is_empty() {
            self.query_in("postgres", &format!("create database {DATABASE_NAME}"))?;
        }
        Ok(())
    }

    /// Queries the fleet's database.
    pub(crate) fn query(&self, sql: &str) -> Result<Vec<TextRow>, ClusterError> {
        self.query_in(DATABASE_NAME, sql)
    }

    fn query_in(&self, database: &str, sql: &str) -> Result<Vec<TextRow>, ClusterError> {
        match &self.namespace {
            Some(namespace) => self.query_with_psql(namespace, database, sql),
            None => self.query_directly(database, sql),
        }
    }

    fn query_directly(&self, database: &str, sql: &str) -> Result<Vec<TextRow>, ClusterError> {
        let mut config = Config::new();
        config.host(self.address.ip().to_string()).port(self.address.port()).dbname(database);
        config.user(DATABASE_NAME).password(DATABASE_PASSWORD).connect_timeout(Duration::from_secs(5));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| ClusterError::process("postgres", error.to_string()))?;
        let late = |_| ClusterError::Timeout { what: sql.to_owned(), waited: QUERY_TIMEOUT };
        let work = async {
            let (client, connection) = config.connect(NoTls).await?;
            let driver = tokio::spawn(connection);
            let messages = client.simple_query(sql).await?;
            driver.abort();
            let row = |message: &SimpleQueryMessage| match message {
                SimpleQueryMessage::Row(row) => {
                    Some((0..row.len()).map(|at| row.get(at).map(ToOwned::to_owned)).collect())
                }
                _ => None,
            };
            Ok(messages.iter().filter_map(row).collect())
        };
        runtime.block_on(async { tokio::time::timeout(QUERY_TIMEOUT, work).await }).map_err(late)?
    }

    /// Queries with `psql`, which can run in the network namespace of the server.
    fn query_with_psql(
        &self,
        namespace: &str,
        database: &str,
        sql: &str,
    ) -> Result<Vec<TextRow>, ClusterError> {
        let (host, port) = (self.address.ip().to_string(), self.address.port().to_string());
        let command = ProcessCommand::new(&self.bin.join("psql"), Path::new("/"))
            .args([
                "-X",
                "-A",
                "-t",
                "-F",
                "\t",
                "-h",
                &host,
                "-p",
                &port,
                "-U",
                DATABASE_NAME,
                "-d",
                database,
            ])
            .args(["-c", sql])
            .env("PGPASSWORD", DATABASE_PASSWORD)
            .env("PGCONNECT_TIMEOUT", "5")
            .namespace(Some(namespace.to_owned()));
        let text = command.run("psql")?;
        let cell = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        Ok(text.lines().map(|line| line.split('\t').map(cell).collect()).collect())
    }
}

/// Returns the unprivileged user if this process runs as root.
fn unprivileged_user() -> Result<Option<(u32, u32)>, ClusterError> {
    if !rustix::process::geteuid().is_root() {
        return Ok(None);
    }
    let path = Path::new("/etc/passwd");
    let table = std::fs::read_to_string(path).map_err(|error| ClusterError::file(path, error))?;
    let find = |line: &str| {
        let mut fields = line.split(':');
        (fields.next() == Some(DATABASE_USER)).then_some(())?;
        Some((fields.nth(1)?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    let missing = || ClusterError::Missing(vec![format!("PostgreSQL needs the user `{DATABASE_USER}`")]);
    table.lines().find_map(find).map(Some).ok_or_else(missing)
}

/// Returns the address of a server.
pub(crate) fn socket_address(ip: IpAddr, port: u16) -> SocketAddr {
    SocketAddr::new(ip, port)
}
