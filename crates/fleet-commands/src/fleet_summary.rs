// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What `status` and `doctor` show about the fleet of this machine.

use serde_json::{Value, json};
use tenterhook_command::terminal::{WARN, tame};
use tenterhook_fleet_state::{ConnectorState, FleetDir, FleetOverview, FleetStateError};
use tenterhook_home::Home;
use tenterhook_home::call_meta::now_ms;
use tenterhook_ledger::Reader;

/// Number of records that may wait before `doctor` warns.
const MAX_USUAL_LAG: u64 = 10_000;

/// Result of the checks of `doctor`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FleetHealth {
    /// Nothing is wrong.
    Good(String),
    /// Something is wrong, with a suggestion.
    Warning(String, &'static str),
}

/// Reads the state of the fleet; `None` if the machine is not part of one.
fn read_overview(home: &Home) -> Result<Option<FleetOverview>, FleetStateError> {
    let dir = FleetDir::of_state(&home.state);
    if !dir.is_enrolled() {
        return Ok(None);
    }
    let size = Reader::open(&home.ledger()).and_then(|reader| reader.size()).unwrap_or_default();
    dir.overview(size)
}

/// Returns the lines of `status`; empty if the machine is not part of a fleet.
pub fn fleet_text(home: &Home) -> String {
    let overview = match read_overview(home) {
        Ok(None) => return String::new(),
        Ok(Some(overview)) => overview,
        Err(error) => {
            return format!(
                "{WARN}warning{WARN:#}: the fleet's files cannot be read: {}\n",
                tame(&error.to_string())
            );
        }
    };
    let mut text = format!("  fleet       {}\n", tame(&overview.line(now_ms() / 1000)));
    for extra in overview.connector.iter().flat_map(|report| &report.collects) {
        text += &format!("  collected   also {}\n", tame(extra));
    }
    for problem in overview.problems() {
        text += &format!("{WARN}warning{WARN:#}: fleet: {}\n", tame(&problem));
    }
    text
}

/// Returns the value of `status --json`; `null` if the machine is not part of a fleet.
pub fn fleet_json(home: &Home) -> Value {
    match read_overview(home) {
        Ok(overview) => {
            let problems = overview.as_ref().map(FleetOverview::problems);
            let mut value = json!(overview);
            if let Some(fields) = value.as_object_mut() {
                fields.insert("problems".to_owned(), json!(problems));
            }
            value
        }
        Err(error) => json!({ "error": error.to_string() }),
    }
}

/// Checks the fleet for `doctor`; `None` if the machine is not part of one.
pub fn fleet_health(home: &Home) -> Option<FleetHealth> {
    let overview = match read_overview(home) {
        Ok(overview) => overview?,
        Err(error) => {
            return Some(FleetHealth::Warning(
                error.to_string(),
                "`tenterhook fleet leave`, then join again",
            ));
        }
    };
    if let Some(problem) = overview.problems().into_iter().next() {
        return Some(FleetHealth::Warning(
            problem,
            "`tenterhook fleet status` and `tenterhook ledger verify --witness`",
        ));
    }
    let line = overview.line(now_ms() / 1000);
    let advice = match overview.connector.as_ref().map(|report| report.state) {
        Some(ConnectorState::Connected) if overview.lag() <= MAX_USUAL_LAG => {
            return Some(FleetHealth::Good(line));
        }
        Some(ConnectorState::Connected) => "`tenterhook fleet status` shows whether the upload proceeds",
        Some(ConnectorState::Refused) => "ask your fleet's operators, or join again with a new token",
        Some(ConnectorState::Away) => "check the network; records wait in the ledger",
        None => "`tenterhook start`: the daemon runs the connector",
    };
    Some(FleetHealth::Warning(line, advice))
}
