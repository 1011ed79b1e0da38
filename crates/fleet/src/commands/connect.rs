// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::io::Read as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use tenterhook_daemon_control::ask;
use tenterhook_error::Failure;
use tenterhook_fleet_machine::{
    ConnectorError, ConnectorOptions, ConnectorTiming, DaemonCall, DaemonRequest,
};
use tenterhook_home::Home;
use tokio::sync::watch;

use super::machine_home::state_failure;

/// Time limit for a request to the daemon. It may replay the calls of several days.
const REQUEST_TIMEOUT: Duration = Duration::from_mins(5);
/// Time limit for the daemon's report about itself.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(5);

/// Upload records of this machine; the daemon runs this command
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// State directory of the machine
    #[arg(long, value_name = "DIR")]
    state: PathBuf,
    /// Directory of the daemon's socket, if it is outside the state directory
    #[arg(long, value_name = "DIR")]
    run_dir: Option<PathBuf>,
    /// Time that new records wait for others to share a message
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 10_000)]
    batch_age_ms: u64,
}

/// Returns a function that sends requests to the daemon.
fn daemon_call(home: Home) -> DaemonCall {
    Arc::new(move |DaemonRequest { path, body }| {
        let method = if body.is_some() { "POST" } else { "GET" };
        ask::request_status(&home, method, &path, body.as_ref(), REQUEST_TIMEOUT).ok().flatten()
    })
}

pub(super) fn run(args: Args) -> Result<ExitCode, Failure> {
    let log = tracing_subscriber::fmt().with_writer(std::io::stderr).with_max_level(tracing::Level::INFO);
    // Fails if a subscriber is set already, which a command never does.
    drop(log.with_ansi(false).try_init());
    let (stop_sender, stop) = watch::channel(false);
    // The daemon holds the other end of standard input. It is closed when the daemon ends, even if it is killed.
    std::thread::Builder::new().name("daemon-watch".into()).spawn(move || {
        let (mut input, mut buffer) = (std::io::stdin().lock(), [0; 64]);
        while input.read(&mut buffer).is_ok_and(|read| read > 0) {}
        stop_sender.send_replace(true);
    })?;
    let Args { state, run_dir, batch_age_ms } = args;
    let home = Home { config: state.clone(), state: state.clone(), organisation: None, machine_run: run_dir };
    let batch_age = Duration::from_millis(batch_age_ms);
    let timing = ConnectorTiming {
        batch_age,
        poll: batch_age.min(ConnectorTiming::default().poll),
        ..ConnectorTiming::default()
    };
    let asked = home.clone();
    let health = Arc::new(move || {
        ask::request_within(&asked, "GET", "/v1/health", None, HEALTH_TIMEOUT).ok().flatten()
    });
    let daemon = daemon_call(home);
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let options = ConnectorOptions { state, version, health, daemon, timing };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(tenterhook_fleet_machine::run(options, stop));
    // A request to a server that does not answer is not waited for.
    runtime.shutdown_background();
    ended.map_err(|error| match error {
        ConnectorError::State(error) => state_failure(&error),
    })?;
    Ok(ExitCode::SUCCESS)
}
