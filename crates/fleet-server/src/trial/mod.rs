// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A trial: NATS and PostgreSQL as children of the server, with generated credentials, on loopback.

mod engines;
mod keeper;
mod nats;
mod postgres;
mod settings;

use std::path::{Path, PathBuf};
use std::time::Duration;

pub use engines::{EngineSearch, MIN_NATS_VERSION, MIN_POSTGRES_VERSION, check_nats_version};
pub use keeper::{KeeperOptions, StopSignal, keep_child};
pub use postgres::connection as trial_database;
pub use settings::TrialSettings;

use crate::error::FleetError;
use crate::keys::FleetKeys;
use keeper::KeptChild;

/// How often the engines are checked.
const SUPERVISE_INTERVAL: Duration = Duration::from_millis(500);

/// The running engines of a trial. Dropping it ends them.
pub struct TrialEngines {
    /// Settings of the engines: ports and passwords.
    pub settings: TrialSettings,
    engines: [KeptChild; 2],
}

/// Options of a trial.
pub struct TrialOptions<'a> {
    /// State directory of the server.
    pub state: &'a Path,
    /// Where the engines are searched.
    pub search: &'a EngineSearch,
    /// The program that keeps a child: this program, with its hidden command.
    pub keeper: PathBuf,
    /// Keys of the fleet.
    pub keys: &'a FleetKeys,
}

impl TrialEngines {
    /// Starts both engines and waits until they accept connections.
    pub async fn start(options: &TrialOptions<'_>) -> Result<Self, FleetError> {
        let (nats, postgres) = (options.search.find_nats_server(), options.search.find_postgres());
        let (nats, postgres) = match (nats, postgres) {
            (Ok(nats), Ok(postgres)) => (nats, postgres),
            (Err(first), Err(second)) => return Err(engines::join_missing(&first, &second)),
            (Err(error), _) | (_, Err(error)) => return Err(error),
        };
        let settings = TrialSettings::open(options.state)?;
        let nats_child = nats::start(options, &settings, &nats)?;
        let postgres_child = postgres::start(options, &settings, &postgres).await?;
        nats::wait_until_ready(&nats_child, &settings).await?;
        Ok(Self { settings, engines: [nats_child, postgres_child] })
    }

    /// Starts an engine again when it ends. Never returns.
    pub async fn supervise(&self) {
        loop {
            tokio::time::sleep(SUPERVISE_INTERVAL).await;
            for engine in &self.engines {
                if let Err(error) = engine.restart_if_ended() {
                    tracing::error!(%error, "an engine cannot be started");
                }
            }
        }
    }
}
