// SPDX-License-Identifier: Apache-2.0 OR MIT

//! How far records were uploaded, and what the connector is doing.

use serde::{Deserialize, Serialize};
use tenterhook_fleet_protocol::{BundleReport, MachineId};

use crate::fleet_dir::{CURSOR_FILE, FleetDir, FleetEnrolment, FleetStateError, REPORT_FILE};

/// How far records were uploaded. The server's cursor decides; this is what the machine knows about it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UploadCursor {
    /// Number of records that are stored on the message bus.
    pub uploaded: u64,
    /// Number of records that the server stored and acknowledged.
    pub acknowledged: u64,
    /// Time of the last acknowledgement, in Unix seconds; zero if there is none.
    pub acknowledged_at: u64,
}

/// State of the connection to the fleet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConnectorState {
    /// Connected to the message bus.
    Connected,
    /// The message bus or the fleet server is not reachable.
    Away,
    /// The fleet server refused this machine.
    Refused,
}

/// What the connector last wrote about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectorReport {
    /// State of the connection.
    pub state: ConnectorState,
    /// Time since which the connection has this state, in Unix seconds.
    pub since: u64,
    /// Process id of the connector.
    pub pid: u32,
    /// Ring of the machine.
    #[serde(default)]
    pub ring: Option<String>,
    /// What the organisation collects beyond the envelopes of records.
    #[serde(default)]
    pub collects: Vec<String>,
    /// Problems that a user should know.
    #[serde(default)]
    pub problems: Vec<String>,
    /// State of the policy bundle.
    #[serde(default)]
    pub bundle: Option<BundleReport>,
}

/// What a machine knows about its fleet, for `status`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FleetOverview {
    /// URL of the fleet server.
    pub server: String,
    /// Name of the tenant.
    pub tenant: String,
    /// Id of the machine.
    pub machine: MachineId,
    /// What the connector last wrote about itself.
    pub connector: Option<ConnectorReport>,
    /// How far records were uploaded.
    pub cursor: UploadCursor,
    /// Number of records in the ledger.
    pub ledger_size: u64,
    /// Number of records in the last cosigned checkpoint.
    pub cosigned_size: Option<u64>,
    /// Time of the last cosignature, in Unix seconds.
    pub cosigned_at: Option<u64>,
}

/// Records that would be removed, but that the fleet has not acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("records {first} to {last} were not uploaded to the fleet yet")]
pub struct NotUploaded {
    /// Number of the first of these records.
    pub first: u64,
    /// Number of the last of these records.
    pub last: u64,
}

impl FleetDir {
    /// Reads how far records were uploaded.
    pub fn cursor(&self) -> Result<UploadCursor, FleetStateError> {
        Ok(self.read_json(CURSOR_FILE)?.unwrap_or_default())
    }

    /// Stores how far records were uploaded.
    pub fn store_cursor(&self, cursor: &UploadCursor) -> Result<(), FleetStateError> {
        self.write_json(CURSOR_FILE, cursor)
    }

    /// Reads what the connector last wrote about itself.
    pub fn connector_report(&self) -> Result<Option<ConnectorReport>, FleetStateError> {
        self.read_json(REPORT_FILE)
    }

    /// Stores what the connector is doing.
    pub fn store_connector_report(&self, report: &ConnectorReport) -> Result<(), FleetStateError> {
        self.write_json(REPORT_FILE, report)
    }

    /// Returns the number of records that may be removed: all that the fleet acknowledged. `None` if the machine is
    /// not part of a fleet, so that any record may be removed. If the files cannot be read, no record may.
    pub fn removable_records(&self) -> Option<u64> {
        self.is_enrolled().then(|| self.cursor().map_or(0, |cursor| cursor.acknowledged))
    }

    /// Fails if a record up to this one was not uploaded.
    pub fn check_removable(&self, last: u64) -> Result<(), NotUploaded> {
        match self.removable_records() {
            Some(first) if last >= first => Err(NotUploaded { first, last }),
            _ => Ok(()),
        }
    }

    /// Returns what the machine knows about its fleet; `None` if it is not part of one.
    pub fn overview(&self, ledger_size: u64) -> Result<Option<FleetOverview>, FleetStateError> {
        let Some(FleetEnrolment { server, tenant, machine, .. }) = self.enrolment()? else { return Ok(None) };
        let cosigned = self.witnessed_checkpoint().ok().flatten();
        Ok(Some(FleetOverview {
            server,
            tenant,
            machine,
            connector: self.connector_report()?,
            cursor: self.cursor()?,
            ledger_size,
            cosigned_size: cosigned.as_ref().map(|cosigned| cosigned.checkpoint.size),
            cosigned_at: cosigned.map(|cosigned| cosigned.time),
        }))
    }
}

impl FleetOverview {
    /// Returns the number of records that the fleet has not acknowledged.
    pub fn lag(&self) -> u64 {
        self.ledger_size.saturating_sub(self.cursor.acknowledged)
    }

    /// Describes the state in one line, at this Unix time.
    pub fn line(&self, now: u64) -> String {
        let ring = self.connector.as_ref().and_then(|report| report.ring.as_deref());
        let ring = ring.map(|ring| format!(", ring {ring}")).unwrap_or_default();
        let lag = match self.lag() {
            0 => "all records acknowledged".to_owned(),
            lag => format!("{lag} records not acknowledged yet"),
        };
        let cosigned = match self.cosigned_at {
            Some(time) => format!("cosigned {} s ago", now.saturating_sub(time)),
            None => "not cosigned yet".to_owned(),
        };
        let state = match self.connector.as_ref().map(|report| report.state) {
            Some(ConnectorState::Connected) => "connected",
            Some(ConnectorState::Away) => "away",
            Some(ConnectorState::Refused) => "refused",
            None => "not started",
        };
        format!("{} ({state}{ring}), {lag}, {cosigned}", self.server)
    }

    /// Returns the problems that a user should know.
    pub fn problems(&self) -> Vec<String> {
        let mut problems = self.connector.as_ref().map(|report| report.problems.clone()).unwrap_or_default();
        if self.cosigned_size.is_some_and(|size| size > self.ledger_size) {
            problems.push(
                "the fleet's witness has seen more records than the ledger has: the ledger was rolled back"
                    .to_owned(),
            );
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet_dir::tests::enrol;

    #[test]
    fn only_acknowledged_records_may_be_removed_while_the_machine_is_in_a_fleet() {
        let state = tempfile::tempdir().unwrap();
        let dir = FleetDir::of_state(state.path());
        assert_eq!((dir.removable_records(), dir.check_removable(u64::MAX)), (None, Ok(())));
        enrol(&dir, "w");
        assert_eq!(dir.check_removable(0), Err(NotUploaded { first: 0, last: 0 }));
        dir.store_cursor(&UploadCursor { uploaded: 20, acknowledged: 10, acknowledged_at: 1 }).unwrap();
        assert_eq!(dir.check_removable(9), Ok(()));
        let refused = dir.check_removable(10).unwrap_err();
        assert_eq!(refused.to_string(), "records 10 to 10 were not uploaded to the fleet yet");
        std::fs::write(dir.file(CURSOR_FILE), "{").unwrap();
        assert_eq!(dir.removable_records(), Some(0), "an unreadable file keeps all records");
        dir.remove_enrolment().unwrap();
        assert_eq!(dir.check_removable(10), Ok(()));
    }

    #[test]
    fn the_overview_names_server_ring_and_lag() {
        let state = tempfile::tempdir().unwrap();
        let dir = FleetDir::of_state(state.path());
        assert_eq!(dir.overview(5).unwrap(), None);
        enrol(&dir, "w");
        dir.store_cursor(&UploadCursor { uploaded: 4, acknowledged: 3, acknowledged_at: 1 }).unwrap();
        let overview = dir.overview(5).unwrap().unwrap();
        assert_eq!(overview.lag(), 2);
        assert_eq!(
            overview.line(100),
            "https://fleet.example (not started), 2 records not acknowledged yet, not cosigned yet"
        );
    }
}
