// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `rules`: packs and rules are listed, turned on and off, added and written.

use std::process::Command;

use serde_json::{Value, json};

use crate::context::{CommandOutput, TestContext};

const PACK: &str = "version: 1\nrules:\n  - {id: no-docker, description: no containers, match: {shell: {program: docker}}, verdict: deny, reason: no}\n";
const WEAKENING_PACK: &str =
    "version: 1\nrules:\n  - {id: free-make, match: {shell: {program: make}}, verdict: allow}\n";

fn verdict(test: &TestContext, command: &str) -> Value {
    test.run(&["policy", "explain", "--json", "--shell", command]).json()["verdict"].clone()
}

fn said(ran: &CommandOutput, exit: i32, part: &str) {
    assert_eq!(ran.exit, exit, "{}{}", ran.stdout, ran.stderr);
    assert!(
        format!("{}{}", ran.stdout, ran.stderr).contains(part),
        "`{part}` is not in\n{}{}",
        ran.stdout,
        ran.stderr
    );
}

#[test]
fn rules_are_listed_shown_and_found() {
    let test = TestContext::new();
    said(&test.run(&["rules", "list"]), 0, "● deny  recursive-delete ");
    let rules = test.run(&["rules", "list", "--pack", "destructive", "--json"]).json();
    let rules = rules.as_array().unwrap();
    assert!(
        !rules.is_empty() && rules.iter().all(|rule| rule["pack"] == "destructive" && rule["on"] == true)
    );
    said(&test.run(&["rules", "list", "--pack", "nothing"]), 2, "unknown rule pack `nothing`");
    said(&test.run(&["rules", "show", "recursive-delete"]), 0, "  - id: recursive-delete\n");
    said(&test.run(&["rules", "search", "RMTREE"]), 0, "recursive-delete");
    said(&test.run(&["rules", "search", "no such words"]), 1, "tenterhook rules new");
}

#[test]
fn a_rule_is_turned_off_and_on_and_weakening_is_reported() {
    let test = TestContext::new();
    test.write("home/policy.yaml", PACK);
    said(&test.run_on_terminal(&["rules", "disable", "no-docker"]), 0, "This weakens your protection.");
    assert_eq!(verdict(&test, "docker ps"), "none");
    assert_eq!(test.run_with(&["fire"], test.bash("docker ps").as_bytes()).stdout, "");
    said(&test.run(&["policy", "show"]), 0, "  off\n");
    said(&test.run(&["rules", "disable", "no-docker"]), 0, "no changes");
    let ran = test.run(&["rules", "enable", "no-docker"]);
    said(&ran, 0, "enabled");
    assert!(!ran.stdout.contains("weakens"), "{}", ran.stdout);
    assert_eq!(verdict(&test, "docker ps"), "deny");

    let on = |pack: &str| {
        let rules = test.run(&["rules", "list", "--pack", pack, "--json"]).json();
        rules.as_array().unwrap().iter().map(|rule| rule["on"].as_bool().unwrap()).collect::<Vec<_>>()
    };
    let matched = || {
        let rules = test.run(&["policy", "explain", "--json", "--shell", "rm -rf /"]).json()["rules"].clone();
        rules.as_array().unwrap().iter().any(|rule| rule["rule"] == "recursive-delete")
    };
    assert!(matched());
    said(&test.run_on_terminal(&["rules", "disable", "destructive"]), 0, "rule pack `destructive` disabled");
    assert!(
        on("destructive").iter().all(|on| !on) && on("remote-code").iter().all(|on| *on),
        "other packs stay"
    );
    assert!(!matched());
    said(&test.run(&["rules", "enable", "destructive"]), 0, "enabled");
    assert!(matched());
    said(&test.run(&["rules", "disable", "nothing"]), 2, "unknown rule pack or rule `nothing`");
}

#[test]
fn a_locked_rule_stays() {
    let test = TestContext::new();
    test.write_system(&PACK.replace("verdict:", "locked: true, verdict:"));
    said(&test.run(&["rules", "disable", "no-docker"]), 2, "is locked and cannot be disabled");
    test.write("home/packs.yaml", "disabled: [no-docker]\n");
    assert_eq!(verdict(&test, "docker ps"), "deny", "not by editing the file either");
}

#[test]
fn an_unreadable_list_turns_nothing_off() {
    let test = TestContext::new();
    test.write("home/packs.yaml", "disabled: [recursive-delete\n");
    assert_eq!(verdict(&test, "rm -rf /"), "deny");
    said(&test.run(&["policy", "check"]), 1, "packs.yaml");
    said(&test.run(&["rules", "disable", "remote-code"]), 1, "fix or remove the file");
}

#[test]
fn a_pack_is_added_pinned_and_refused_when_it_changes() {
    let test = TestContext::new();
    test.write("elsewhere/secret.yaml", PACK);
    test.write("work/ours/a.yaml", PACK);
    test.write("work/ours/notes.txt", "x");
    std::os::unix::fs::symlink(test.path("elsewhere/secret.yaml"), test.path("work/ours/link.yaml")).unwrap();
    said(&test.run(&["rules", "add", "ours"]), 2, "standard input is not a terminal");
    assert_eq!(verdict(&test, "docker ps"), "none");
    let ran = test.run(&["rules", "add", "ours", "--yes"]);
    said(&ran, 0, "deny  no-docker");
    said(&ran, 0, "rule pack `ours` added and enabled: 1 rule");
    assert_eq!(verdict(&test, "docker ps"), "deny");
    let names: Vec<_> = std::fs::read_dir(test.home().join("packs/ours"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["a.yaml"], "no links, nothing else");
    said(&test.run(&["rules", "add", "ours", "--yes"]), 2, "a rule pack `ours` already exists");

    test.write("home/packs/ours/a.yaml", WEAKENING_PACK);
    test.write("home/packs/ours/b.yaml", WEAKENING_PACK);
    assert_eq!(verdict(&test, "make x"), "none", "an unpinned pack is not used");
    let ran = test.run(&["policy", "check"]);
    said(&ran, 1, "a.yaml: this file was changed since the pack was added; it is not used");
    said(&ran, 1, "b.yaml: this file was not there when the pack was added; it is not used");

    test.write("work/ours/a.yaml", WEAKENING_PACK);
    let ran = test.run_on_terminal(&["rules", "update", "ours"]);
    said(&ran, 0, "~ a.yaml changed");
    said(&ran, 0, "These weaken your protection: rule `free-make` is an exception");
    assert_eq!(verdict(&test, "make x"), "allow");
    said(&test.run(&["policy", "check"]), 0, "valid");
    said(&test.run(&["rules", "update", "ours"]), 0, "no changes");
    said(&test.run_on_terminal(&["rules", "remove", "ours"]), 0, "This weakens your protection");
    assert_eq!(verdict(&test, "make x"), "none");
    assert!(!test.home().join("packs/ours").exists());
    said(&test.run(&["rules", "remove", "ours"]), 2, "`ours` is not an added rule pack");
}

#[test]
fn a_pack_comes_from_a_repository_with_its_commit() {
    let test = TestContext::new();
    test.write("repo/a.yaml", PACK);
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        command
            .current_dir(test.path("repo"))
            .args(["-c", "user.name=x", "-c", "user.email=x@x.example"])
            .args(args);
        let output = command.env("HOME", test.path("person")).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-qm", "x"]);
    let url = format!("file://{}", test.path("repo").display());
    let mut command = test.command(
        std::path::Path::new(env!("CARGO_BIN_EXE_tenterhook")),
        &["rules", "add", &url, "--name", "theirs", "--yes", "--json"],
    );
    command.env("PATH", std::env::var_os("PATH").unwrap());
    let answer = test.run_command(command, b"").json();
    assert_eq!(answer["commit"], json!(git(&["rev-parse", "HEAD"])));
    assert_eq!(answer["files"]["a.yaml"].as_str().unwrap().len(), 64);
    assert_eq!(verdict(&test, "docker ps"), "deny");
}

#[test]
fn a_rule_is_written_from_a_template_and_can_be_used_at_once() {
    let test = TestContext::new();
    said(&test.run(&["rules", "new", "first", "--print"]), 0, "  - id: first\n");
    assert!(!test.home().join("policy.yaml").exists());
    said(&test.run(&["rules", "new", "first"]), 0, "rule `first` added to");
    said(&test.run(&["rules", "new", "second"]), 0, "rule `second` added to");
    said(&test.run(&["policy", "check"]), 0, "valid");
    assert_eq!(verdict(&test, "example-program deploy"), "deny");
    said(&test.run(&["rules", "new", "first"]), 2, "rule `first` already exists");
    said(&test.run(&["rules", "new", "Not An Id"]), 2, "invalid id");
    test.write(
        "home/policy.yaml",
        "rules: [{id: a, match: {shell: {program: x}}, verdict: deny}]\nversion: 1\n",
    );
    said(&test.run(&["rules", "new", "third"]), 1, "--print");
}
