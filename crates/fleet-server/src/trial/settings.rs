// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Settings of a trial that stay the same over restarts: ports and the password of the database.

use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::FleetError;
use crate::files::{encode_hex, random_bytes, read_private, write_private};

/// Settings of a trial.
#[derive(Clone, Serialize, Deserialize)]
pub struct TrialSettings {
    /// Port of NATS on loopback.
    pub nats_port: u16,
    /// Port of PostgreSQL on loopback.
    pub postgres_port: u16,
    /// Password of the database user.
    pub(crate) postgres_password: String,
}

impl TrialSettings {
    /// Reads the settings, or chooses free ports and a random password.
    pub(crate) fn open(state: &Path) -> Result<Self, FleetError> {
        let path = state.join("trial.json");
        if let Some(text) = read_private(&path)? {
            let invalid = |error| FleetError::invalid(format!("`{}`: {error}", path.display()));
            return serde_json::from_str(&text).map_err(invalid);
        }
        let [first, second] = free_ports()?;
        let settings = Self {
            nats_port: first,
            postgres_port: second,
            postgres_password: encode_hex(&random_bytes::<24>()?),
        };
        let text = serde_json::to_vec_pretty(&settings).unwrap_or_default();
        write_private(&path, &text)?;
        Ok(settings)
    }

    /// Returns the address of NATS.
    pub fn nats_url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.nats_port)
    }
}

/// Returns two different ports on loopback that are free now.
fn free_ports() -> Result<[u16; 2], FleetError> {
    let fail = |error: std::io::Error| FleetError::internal(format!("no free port on loopback: {error}"));
    let bind = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let (first, second) = (bind().map_err(fail)?, bind().map_err(fail)?);
    let port = |listener: &TcpListener| listener.local_addr().map(|address| address.port());
    Ok([port(&first).map_err(fail)?, port(&second).map_err(fail)?])
}
