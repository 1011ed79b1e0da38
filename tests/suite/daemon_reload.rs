// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Files change while agents work. The next event uses either all new files or all old files, never a mixture.

use serde_json::{Value, json};

use crate::context::TestContext;
use crate::daemon::{RunningDaemon, until};

const RULE: &str = "version: 1\nrules:\n  - id: no-make\n    verdict: deny\n    match: {shell: {program: [make]}}\n    reason: not here\n";

fn denies(served: &RunningDaemon) -> bool {
    served.bash("make all").body.contains("not here")
}

#[test]
fn a_new_rule_is_in_force_without_a_restart() {
    let served = RunningDaemon::new();
    assert!(!denies(&served));
    let before = served.json("/v1/health")["generation"].clone();
    served.test.write("home/policy.yaml", RULE);
    until("the rule is in force", || denies(&served).then_some(()));
    let after = served.json("/v1/health")["generation"].clone();
    assert_ne!(before, after);
    let leaf = &served.json("/v1/ledger?verdict=deny")["leaves"][0]["leaf"];
    assert_eq!(leaf["generation"], after, "the record names the deciding rule");
}

#[test]
fn links_that_are_turned_and_directories_that_are_moved_are_noticed() {
    let test = TestContext::new();
    let other = RULE.replace("not here", "not there");
    test.write("first/policy.yaml", "version: 1\nrules: []\n");
    test.write("second/policy.yaml", RULE);
    test.write("third/policy.yaml", &other);
    let turn = |target: &str| {
        std::os::unix::fs::symlink(test.path(target), test.path("turned")).unwrap();
        std::fs::rename(test.path("turned"), test.path("rules")).unwrap();
    };
    turn("first");
    std::fs::create_dir_all(test.home()).unwrap();
    std::os::unix::fs::symlink(test.path("rules/policy.yaml"), test.home().join("policy.yaml")).unwrap();
    let served = RunningDaemon::in_home(test, &[]);
    let says = |what: &str| served.bash("make all").body.contains(what);
    // `crates/file-watch` tests that the kernel reports these changes.
    let soon = |what: &str| until(what, || says(what).then_some(()));
    assert!(!says("not here"));
    let path = |name: &str| served.test.path(name);
    std::os::unix::fs::symlink(path("second"), path("turned")).unwrap();
    std::fs::rename(path("turned"), path("rules")).unwrap();
    soon("not here");
    std::fs::rename(path("second"), path("away")).unwrap();
    std::fs::rename(path("third"), path("second")).unwrap();
    soon("not there");
    std::fs::write(path("new.yaml"), RULE).unwrap();
    std::fs::rename(path("new.yaml"), path("second/policy.yaml")).unwrap();
    soon("not here");
    std::fs::write(path("second/policy.yaml"), &other).unwrap();
    soon("not there");
}

#[test]
fn a_broken_file_keeps_the_old_rules_and_is_reported() {
    let test = TestContext::new();
    test.write("home/policy.yaml", RULE);
    let served = RunningDaemon::in_home(test, &[]);
    assert!(denies(&served));
    served.test.write("home/policy.yaml", "rules: [\n");
    let stale = |answer: &Value| answer["stale"][0]["message"].is_string();
    until("health reports it", || stale(&served.json("/v1/health")).then_some(()));
    assert!(denies(&served), "the old rule is still in force");
    let policy = served.json("/v1/policy");
    assert!(stale(&policy), "{policy}");
    let shown = policy["rules"].as_array().unwrap().iter().any(|rule| rule["id"] == "no-make");
    assert!(shown, "the shown policy is the active one");
    let status = served.test.run(&["status"]);
    assert!(status.stdout.contains("cannot be read; the previous version is active"), "{}", status.stdout);
    assert!(served.get("/v1/metrics").body.contains("tenterhook_stale_files 1\n"));
    assert!(served.log().contains("its previous content is still in force"), "{}", served.log());
    served.test.write("home/policy.yaml", "version: 1\nrules: []\n");
    until("it is fixed", || (!stale(&served.json("/v1/health"))).then_some(()));
    assert!(!denies(&served));
}

#[test]
fn a_rule_that_cannot_be_used_is_refused_alone() {
    let served = RunningDaemon::new();
    served.test.write("home/policy.yaml", &format!("{RULE}  - id: broken\n    verdict: dney\n"));
    until("the valid rule is in force", || denies(&served).then_some(()));
    let health = served.json("/v1/health");
    assert_eq!(health["stale"], json!([]));
    assert_eq!(health["problems"][0]["about"], "rule `broken`", "{health}");
}

#[test]
fn a_hangup_reads_the_files_again() {
    let served = RunningDaemon::new();
    served.test.write("home/policy.yaml", RULE);
    served.signal(rustix::process::Signal::HUP);
    until("the rule is in force", || denies(&served).then_some(()));
}

#[test]
fn a_call_under_way_is_answered_before_the_end() {
    let test = TestContext::new();
    let hook = "hooks:\n  - id: slow\n    on: pre-tool\n    match: Bash\n    command: 'touch began; sleep 2; echo \"{}\"'\n    timeout: 20s\n";
    test.write("home/tenterhook.yaml", hook);
    let mut served = RunningDaemon::in_home(test, &[]);
    let (over_http, over_socket) = std::thread::scope(|scope| {
        let http = scope.spawn(|| served.bash("sudo rm -rf /"));
        let socket = scope.spawn(|| served.hook(&served.test.bash("sudo rm -rf /")));
        until("the hook runs", || served.test.path("work/began").exists().then_some(()));
        until("both are under way", || {
            served.get("/v1/metrics").body.contains("tenterhook_in_flight 2\n").then_some(())
        });
        served.signal(rustix::process::Signal::TERM);
        (http.join().unwrap(), socket.join().unwrap())
    });
    assert!(over_http.body.contains("deny"), "{over_http:?}");
    assert!(over_socket.contains("TH1 reply") && over_socket.contains("deny"), "{over_socket}");
    assert!(served.wait(), "{}", served.log());
    assert_eq!(served.test.decisions().len(), 2, "both are recorded");
    assert!(!served.socket().exists());
}

#[test]
fn settings_say_how_it_is_run_and_the_command_line_comes_first() {
    let test = TestContext::new();
    test.write("home/tenterhook.yaml", "daemon: {listen: none, durability: relaxt}\nhooks: []\n");
    let served = RunningDaemon::in_home(test, &[]);
    let health = served.json("/v1/health");
    assert_eq!(health["listen"], served.address.to_string(), "set on the command line");
    let problem = &health["problems"][0];
    assert_eq!((&problem["about"], &problem["line"]), (&json!("daemon `durability`"), &json!(1)), "{health}");
    let check = served.test.run(&["check"]);
    assert!(check.stdout.contains("did you mean `relaxed`"), "{}", check.stdout);
}
