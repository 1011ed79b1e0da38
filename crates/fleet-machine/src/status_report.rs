// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Builds the status that a machine reports, from the daemon's own report.

use serde_json::Value;
use tenterhook_fleet_protocol::{HarnessReport, MachineStatus};

/// Maximum number of problems and harnesses in a status.
const MAX_STATUS_ROWS: usize = 64;
/// Maximum length of a text in a status.
const MAX_STATUS_CHARS: usize = 300;

/// Adds what the daemon reports about itself: mode, sandboxes of running sessions, and coverage of each harness. `None`
/// means that no daemon answers.
pub(crate) fn add_health(status: &mut MachineStatus, health: Option<&Value>) {
    let Some(health) = health else { return };
    status.daemon_running = true;
    status.mode = health.get("mode").and_then(Value::as_str).map(shorten);
    let rows =
        |key: &str| health.get(key).and_then(Value::as_array).into_iter().flatten().take(MAX_STATUS_ROWS);
    let text = |row: &Value, key: &str| row.get(key).and_then(Value::as_str).map(shorten);
    status.sandbox_levels = rows("runs").filter_map(|run| text(run, "level")).collect();
    let mut harnesses: Vec<HarnessReport> = Vec::new();
    let lost: Vec<String> = rows("unwired").filter_map(|row| text(row, "harness")).collect();
    let names = |key: &'static str| rows(key).filter_map(|row| row.as_str().map(shorten));
    let listed =
        names("guarded").map(|name| (name, true)).chain(names("unguarded").map(|name| (name, false)));
    for (harness, guarded) in listed {
        let state = match (guarded, lost.contains(&harness)) {
            (_, true) => "hooks-removed",
            (true, false) => "guarded",
            (false, false) => "unguarded",
        };
        harnesses.push(HarnessReport {
            guarded: guarded && state == "guarded",
            state: state.to_owned(),
            harness,
        });
    }
    for harness in lost {
        if !harnesses.iter().any(|row| row.harness == harness) {
            harnesses.push(HarnessReport { harness, state: "hooks-removed".to_owned(), guarded: false });
        }
    }
    status.harnesses = harnesses;
    for (key, what) in
        [("problems", "is not active"), ("stale", "cannot be read; the previous version is active")]
    {
        for row in rows(key) {
            let (source, message) =
                (text(row, "source").unwrap_or_default(), text(row, "message").unwrap_or_default());
            status.problems.push(format!("{source} {what}: {message}"));
        }
    }
    status.problems.truncate(MAX_STATUS_ROWS);
}

fn shorten(text: &str) -> String {
    text.chars().take(MAX_STATUS_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tenterhook_fleet_protocol::{FleetMessage, InstanceId, MachineId, NkeyKind, NkeyPair};

    use super::*;

    fn status() -> MachineStatus {
        MachineStatus {
            machine: MachineId::of_key(&NkeyPair::from_seed(NkeyKind::User, &[1; 32]).public()),
            instance: InstanceId([0; 16]),
            sent_ms: 1,
            version: "1".into(),
            host: "h".into(),
            os: "linux".into(),
            ledger_size: 1,
            uploaded: 1,
            acknowledged: 1,
            mode: None,
            daemon_running: false,
            sandbox_levels: vec![],
            harnesses: vec![],
            bundle: None,
            problems: vec![],
        }
    }

    #[test]
    fn the_coverage_of_each_harness_is_reported() {
        let health = json!({
            "mode": "enforce", "guarded": ["claude-code", "codex"], "unguarded": ["gemini"],
            "unwired": [{"harness": "codex", "settings": "x"}, {"harness": "qwen", "settings": "y"}],
            "runs": [{"level": "full", "command": "claude"}],
            "problems": [{"source": "policy.yaml", "message": "unknown key"}],
        });
        let mut status = status();
        add_health(&mut status, Some(&health));
        let rows: Vec<_> = status
            .harnesses
            .iter()
            .map(|row| (row.harness.as_str(), row.state.as_str(), row.guarded))
            .collect();
        assert_eq!(
            rows,
            [
                ("claude-code", "guarded", true),
                ("codex", "hooks-removed", false),
                ("gemini", "unguarded", false),
                ("qwen", "hooks-removed", false)
            ]
        );
        assert_eq!(
            (status.mode.as_deref(), status.sandbox_levels.as_slice()),
            (Some("enforce"), &["full".to_owned()][..])
        );
        assert_eq!(status.problems, ["policy.yaml is not active: unknown key"]);
    }

    #[test]
    fn a_long_report_still_fits_into_a_message() {
        let text = "x".repeat(100_000);
        let rows: Vec<_> = (0..10_000).map(|_| json!({"source": text, "message": text})).take(200).collect();
        let mut status = status();
        add_health(&mut status, Some(&json!({ "problems": rows, "mode": text })));
        assert!(status.encode().is_ok());
        assert_eq!(status.problems.len(), MAX_STATUS_ROWS);
    }
}
