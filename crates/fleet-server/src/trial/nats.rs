// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Starts NATS for a trial.

use std::path::Path;
use std::time::{Duration, Instant};

use super::TrialOptions;
use super::keeper::{KeeperOptions, KeptChild, StopSignal};
use super::settings::TrialSettings;
use crate::error::FleetError;
use crate::files::{create_dir, write_private};

/// How long NATS has to accept connections.
const START_TIMEOUT: Duration = Duration::from_secs(30);

pub(super) fn start(
    options: &TrialOptions<'_>,
    settings: &TrialSettings,
    program: &Path,
) -> Result<KeptChild, FleetError> {
    let dir = options.state.join("nats");
    create_dir(&dir, 0o700)?;
    let config = dir.join("nats.conf");
    let text = format!(
        "server_name: trial\nlisten: \"127.0.0.1:{port}\"\njetstream {{ store_dir: {store}, sync_interval: always, max_file_store: 16GB }}\n{accounts}",
        port = settings.nats_port,
        store = quote(&dir.join("store").display().to_string()),
        accounts = options.keys.nats_accounts_config()?,
    );
    write_private(&config, text.as_bytes())?;
    let command = vec![program.as_os_str().to_owned(), "-c".into(), config.into_os_string()];
    let keeper = KeeperOptions { signal: StopSignal::Terminate, user: None, log: dir.join("log"), command };
    KeptChild::spawn(&options.keeper, "nats-server", keeper)
}

/// Quotes a string for NATS' configuration format.
fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

pub(super) async fn wait_until_ready(child: &KeptChild, settings: &TrialSettings) -> Result<(), FleetError> {
    let began = Instant::now();
    loop {
        if tokio::net::TcpStream::connect(("127.0.0.1", settings.nats_port)).await.is_ok() {
            return Ok(());
        }
        child.check_running()?;
        if began.elapsed() > START_TIMEOUT {
            return Err(FleetError::unavailable("nats-server does not accept connections"));
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
