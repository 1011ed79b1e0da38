// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A CI runner joins with a token for runners, uploads everything at the end of its job, and is gone.

use serde_json::Value;
use tenterhook_fleet_protocol::MachineCredentials;
use tenterhook_test_support::wait_until;

use crate::connector::TestHome;
use crate::machine::{Machine, block_on};
use crate::trial::Trial;

#[test]
fn a_ci_runner_uploads_everything_before_it_ends_and_is_not_reported_as_silent() {
    let Some(trial) = Trial::start(&["default"], &["--silent-after", "3s"]) else { return };
    let created =
        trial.json(&["token", "create", "--ci", "--uses", "2", "--expires", "1h", "--label", "job=build"]);
    let token = created["token"].as_str().unwrap();
    let runner = TestHome::new();
    let not_joined = runner.run(&["finish"]);
    assert!(!not_joined.status.success(), "{not_joined:?}");
    let joined = runner.run(&["join", "--ephemeral", &trial.url(), token, "--json"]);
    assert!(joined.status.success(), "{}", String::from_utf8_lossy(&joined.stderr));
    let joined: Value = serde_json::from_slice(&joined.stdout).unwrap();
    let id = joined["machine"].as_str().unwrap().to_owned();
    let credentials: MachineCredentials = runner.fleet().credentials().unwrap().unwrap().credentials;
    assert_eq!(credentials.expires - credentials.issued, 3600, "credentials of a runner live an hour");
    runner.append(40, "a");
    // No daemon runs here, so the last step uploads by itself.
    let finished = runner.run(&["finish", "--json"]);
    assert!(finished.status.success(), "{}", String::from_utf8_lossy(&finished.stderr));
    let size = runner.reader().size().unwrap();
    let row = trial.wait_for_records("default", &id, size);
    assert_eq!((row["ci"].as_bool(), &row["labels"]["job"]), (Some(true), &"build".into()));
    assert!(row["left"].is_string(), "{row}");
    // A second runner ends without notice, and a machine that is not a runner is silent too.
    let runner = block_on(Machine::join(&trial.url(), token, 7)).id.to_string();
    let machine = block_on(Machine::join(&trial.url(), &trial.token("default", 1), 8)).id.to_string();
    trial.wait_for_alert(&machine, "machine-silent");
    let alerts = trial.json(&["alerts", "--all"]);
    let about: Vec<&str> =
        alerts["alerts"].as_array().unwrap().iter().map(|alert| alert["machine"].as_str().unwrap()).collect();
    assert_eq!(about, [machine.as_str()]);
    // After a while, the runner counts as one that has left.
    trial.query(&format!("update machines set last_seen = now() - interval '3 hours' where id = '{runner}'"));
    wait_until("the runner has left", || {
        let row = trial.json(&["machines", &runner])["machines"][0].clone();
        row["left"].is_string().then_some(())
    });
    let other = TestHome::new();
    other.append(1, "a");
    other.join(&trial);
    let refused = other.run(&["finish"]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("not a CI runner"), "{refused:?}");
}
