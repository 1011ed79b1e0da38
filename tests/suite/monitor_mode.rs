// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Monitor mode for a limited time.

use std::time::Duration;

use serde_json::{Value, json};
use tenterhook_home::{Home, ModeSetting, call_meta};

use crate::context::TestContext;
use crate::terminal_user::{SocketDaemon, until};

const RULES: &str = "version: 1\nrules:\n  - {id: no-make, match: {shell: {program: make}}, verdict: deny}\n";

fn verdict(test: &TestContext) -> String {
    let reply = test.run_with(&["hook", "claude-code", "pre-tool-use"], test.bash("make").as_bytes());
    let reply: Value = serde_json::from_str(&reply.stdout).unwrap_or_default();
    reply["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or("none").to_owned()
}

fn home() -> TestContext {
    let test = TestContext::new();
    test.write("home/policy.yaml", RULES);
    test
}

#[test]
fn monitor_mode_ends_by_itself_while_the_daemon_runs() {
    let test = home();
    let guard = SocketDaemon::of(&test);
    assert_eq!(verdict(&test), "deny");
    let ran = test.run_on_terminal(&["mode", "monitor", "--for", "6s"]);
    assert!(ran.exit == 0 && ran.stdout.contains("monitor until "), "{}{}", ran.stdout, ran.stderr);
    let leaf = test.last_change();
    assert_eq!((&leaf["what"], &leaf["detail"]["for_s"]), (&json!("mode monitor"), &json!(6)));
    assert_eq!(verdict(&test), "none");
    let status = test.run(&["status"]).stdout;
    assert!(status.contains("monitor mode until "), "{status}");
    let start = json!({"session_id": "s", "cwd": test.path("work"), "hook_event_name": "SessionStart", "source": "startup"});
    let started = guard.hook("claude-code", "session-start", &start);
    assert!(started.to_string().contains("monitor mode until "), "{started}");
    until("the rules are enforced again", || (verdict(&test) == "deny").then_some(()));
    until("the end is recorded", || (test.last_change()["what"] == "mode enforce").then_some(()));
    assert_eq!(test.last_change()["detail"]["why"], "the time of monitor mode is over");
    assert_eq!(
        test.run(&["mode", "--json"]).json(),
        json!({"mode": "enforce", "changed": false, "until": null})
    );
}

#[test]
fn monitor_mode_ends_by_itself_without_a_daemon() {
    let test = home();
    let ran = test.run_on_terminal(&["mode", "monitor", "--for", "4s"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    assert_eq!(verdict(&test), "none");
    until("the rules are enforced again", || (verdict(&test) == "deny").then_some(()));
    assert_eq!(test.run(&["mode"]).stdout.lines().next(), Some("enforce: verdicts of rules are enforced"));
}

#[test]
fn a_time_limit_that_ended_before_the_daemon_started_is_recorded_by_it() {
    let test = home();
    let home = Home::in_dir(test.home());
    ModeSetting::write_monitor_for(&home, Duration::from_secs(1), call_meta::now()).unwrap();
    until("the time is over", || {
        ModeSetting::read_stored(&home).unwrap().is_over(call_meta::now_ms()).then_some(())
    });
    let guard = SocketDaemon::of(&test);
    assert_eq!(verdict(&test), "deny");
    until("the end is recorded", || {
        test.records().iter().any(|record| record["what"] == "mode enforce").then_some(())
    });
    drop(guard);
}

#[test]
fn only_monitor_mode_has_a_time_limit() {
    let test = home();
    for (args, why) in [
        (&["mode", "enforce", "--for", "15m"][..], "`--for` needs `monitor`"),
        (&["mode", "--for", "15m"], "`--for` needs `monitor`"),
        (&["mode", "monitor", "--for", "soon"], "invalid duration"),
    ] {
        let ran = test.run(args);
        assert!(ran.exit != 0 && ran.stderr.contains(why), "{args:?}: {}", ran.stderr);
    }
    let ran = test.run_on_terminal(&["mode", "monitor", "--for", "30d"]);
    assert!(ran.exit != 0 && ran.stderr.contains("seven days"), "{}", ran.stderr);
    assert_eq!(verdict(&test), "deny");
}

#[test]
fn same_user_a_guarded_agent_cannot_set_monitor_mode_for_a_time() {
    let test = home();
    assert_eq!(verdict(&test), "deny");
    let ran = test.run(&["mode", "monitor", "--for", "15m"]);
    assert!(ran.exit == 1 && ran.stderr.contains("a guarded agent"), "{}", ran.stderr);
    assert_eq!(verdict(&test), "deny");
}
