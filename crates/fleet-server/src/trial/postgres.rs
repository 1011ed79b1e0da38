// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Creates and starts PostgreSQL for a trial.

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::TrialOptions;
use super::keeper::{KeeperOptions, KeptChild, StopSignal};
use super::settings::TrialSettings;
use crate::error::FleetError;
use crate::files::{create_dir, read_named, write_private};
use crate::store::{DEFAULT_DATABASE_CONNECTIONS, PostgresOptions};

/// How long PostgreSQL has to accept connections: it may have to wait for the end of an earlier one.
const START_TIMEOUT: Duration = Duration::from_mins(1);
/// Users that PostgreSQL runs as if the server runs as root, because `initdb` refuses root.
const UNPRIVILEGED_USERS: &[&str] = &["postgres", "nobody"];
/// Maximum length of the table of users.
const MAX_USER_TABLE_BYTES: u64 = 8 << 20;
/// Name of the database and of its owner.
const DATABASE: &str = "fleet";

pub(super) async fn start(
    options: &TrialOptions<'_>,
    settings: &TrialSettings,
    bin: &Path,
) -> Result<KeptChild, FleetError> {
    let dir = options.state.join("postgres");
    let user = unprivileged_user()?;
    create_dir(&dir, 0o700)?;
    if let Some((name, uid, gid)) = &user {
        own(&dir, *uid, *gid)?;
        check_reachable(&dir, name, *uid, *gid)?;
    }
    let ids = user.as_ref().map(|(_, uid, gid)| (*uid, *gid));
    let data = dir.join("data");
    if !data.join("PG_VERSION").is_file() {
        create_database_files(bin, &dir, settings, ids)?;
    }
    let text = |name: &str, value: &str| [std::ffi::OsString::from("-c"), format!("{name}={value}").into()];
    let mut command = vec![bin.join("postgres").into_os_string(), "-D".into(), data.into_os_string()];
    command.extend(text("listen_addresses", "127.0.0.1"));
    command.extend(text("port", &settings.postgres_port.to_string()));
    command.extend(text("unix_socket_directories", ""));
    let keeper = KeeperOptions {
        signal: StopSignal::Interrupt,
        user: ids,
        log: options.state.join("postgres.log"),
        command,
    };
    let began = Instant::now();
    loop {
        let child = KeptChild::spawn(&options.keeper, "PostgreSQL", keeper.clone())?;
        match wait_until_ready(&child, settings, began).await {
            Ok(()) => return Ok(child),
            // The PostgreSQL of a killed server may still be shutting down and hold the lock.
            Err(error) if began.elapsed() > START_TIMEOUT || !is_locked(&error) => return Err(error),
            Err(_) => tokio::time::sleep(Duration::from_millis(200)).await,
        }
    }
}

fn is_locked(error: &FleetError) -> bool {
    let text = error.to_string();
    text.contains("postmaster.pid") || text.contains("is another postmaster")
}

/// Returns the connection options of the trial's database.
pub fn connection(settings: &TrialSettings) -> PostgresOptions {
    let mut config = tokio_postgres::Config::new();
    config.host("127.0.0.1").port(settings.postgres_port).user(DATABASE).dbname(DATABASE);
    config.password(&settings.postgres_password).connect_timeout(Duration::from_secs(5));
    PostgresOptions { config, ca: None, max_connections: DEFAULT_DATABASE_CONNECTIONS }
}

/// Waits until the database exists and accepts connections.
async fn wait_until_ready(
    child: &KeptChild,
    settings: &TrialSettings,
    began: Instant,
) -> Result<(), FleetError> {
    let mut config = connection(settings).config;
    config.dbname("postgres");
    loop {
        match config.connect(tokio_postgres::NoTls).await {
            Ok((client, connection)) => {
                let driver = tokio::spawn(connection);
                let exists =
                    client.query_opt("select 1 from pg_database where datname = $1", &[&DATABASE]).await?;
                if exists.is_none() {
                    client.batch_execute(&format!("create database {DATABASE}")).await?;
                }
                drop(client);
                // The connection ends when its client is dropped.
                drop(driver.await);
                return Ok(());
            }
            Err(error) if began.elapsed() > START_TIMEOUT => return Err(error.into()),
            Err(_) => {
                child.check_running()?;
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

/// Runs `initdb` in a directory that is renamed when it is complete.
fn create_database_files(
    bin: &Path,
    dir: &Path,
    settings: &TrialSettings,
    user: Option<(u32, u32)>,
) -> Result<(), FleetError> {
    let (new, password) = (dir.join("data.new"), dir.join("password"));
    if new.exists() {
        std::fs::remove_dir_all(&new).map_err(|error| FleetError::file(&new, &error))?;
    }
    write_private(&password, settings.postgres_password.as_bytes())?;
    if let Some((uid, gid)) = user {
        own(&password, uid, gid)?;
    }
    let mut command = Command::new(bin.join("initdb"));
    command.arg("-D").arg(&new).arg("--pwfile").arg(&password);
    command.args(["-U", DATABASE, "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C"]);
    command.env_clear().stdin(Stdio::null()).current_dir("/");
    if let Some((uid, gid)) = user {
        command.uid(uid).gid(gid);
    }
    let output = command.output().map_err(|error| FleetError::file(&bin.join("initdb"), &error))?;
    std::fs::remove_file(&password).map_err(|error| FleetError::file(&password, &error))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(FleetError::unavailable(format!("initdb failed: {}", text.trim().replace('\n', "; "))));
    }
    std::fs::rename(&new, dir.join("data")).map_err(|error| FleetError::file(&new, &error))
}

fn own(path: &Path, uid: u32, gid: u32) -> Result<(), FleetError> {
    std::os::unix::fs::chown(path, Some(uid), Some(gid)).map_err(|error| FleetError::file(path, &error))
}

/// Returns the unprivileged user if this process runs as root.
fn unprivileged_user() -> Result<Option<(String, u32, u32)>, FleetError> {
    if !rustix::process::geteuid().is_root() {
        return Ok(None);
    }
    let path = PathBuf::from("/etc/passwd");
    let table = read_named(&path, MAX_USER_TABLE_BYTES)?;
    let find = |user: &&str| {
        let line = table.lines().find(|line| line.split(':').next() == Some(*user))?;
        let mut fields = line.split(':').skip(2);
        Some(((*user).to_owned(), fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    let found = UNPRIVILEGED_USERS.iter().find_map(find);
    let missing = || {
        FleetError::incompatible(
            "PostgreSQL does not run as root, and there is no user `postgres` or `nobody`",
        )
        .with_hint("run the server as another user")
    };
    found.map(Some).ok_or_else(missing)
}

/// Checks that the unprivileged user can reach a directory.
fn check_reachable(dir: &Path, name: &str, uid: u32, gid: u32) -> Result<(), FleetError> {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "cd \"$0\""]).arg(dir).env_clear().uid(uid).gid(gid);
    command.stdin(Stdio::null()).stderr(Stdio::null()).current_dir("/");
    if command.status().is_ok_and(|status| status.success()) {
        return Ok(());
    }
    let message = format!("PostgreSQL runs as `{name}`, which cannot reach `{}`", dir.display());
    Err(FleetError::invalid(message)
        .with_hint("choose another state directory with `--state`, or run as another user"))
}
