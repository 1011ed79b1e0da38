// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `doctor --posture`: credential files, agents without a guard, and rules that are off.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};

use crate::context::TestContext;

fn posture(test: &TestContext) -> (i32, Value) {
    let ran = test.run(&["doctor", "--posture", "--json"]);
    (ran.exit, ran.json())
}

fn find<'r>(report: &'r Value, subject: &str) -> Option<&'r Value> {
    report["findings"].as_array().unwrap().iter().find(|finding| finding["subject"] == subject)
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_machine_without_agents_and_credentials_is_closed() {
    let test = TestContext::new();
    let (exit, report) = posture(&test);
    assert_eq!((exit, &report["closed"]), (0, &json!(true)), "{report}");
    assert_eq!(find(&report, "credentials").unwrap()["state"], "no known credential file found");
    assert_eq!(find(&report, "agents").unwrap()["level"], "good");
    assert_eq!(find(&report, "rules").unwrap()["level"], "good");
    let ran = test.run(&["doctor", "--posture"]);
    assert!(ran.stdout.ends_with("✓ nothing is open\n"), "{}", ran.stdout);
}

#[test]
fn credential_files_are_found_by_name_and_never_opened() {
    let test = TestContext::new();
    let key = test.write("person/.ssh/id_ed25519", "secret");
    test.write("person/.ssh/id_ed25519.pub", "public");
    test.write("person/.aws/credentials", "secret");
    test.write("work/.env", "A=1");
    test.write("work/.env.example", "A=");
    test.write("work/credentials.json", "secret");
    // A file without any permission is reported like the others, so its content is not needed.
    set_mode(&test.path("person/.aws/credentials"), 0o000);
    for name in ["person", "person/.ssh"] {
        set_mode(&test.path(name), 0o755);
    }
    set_mode(test.path("person").parent().unwrap(), 0o755);
    set_mode(&key, 0o644);
    let (exit, report) = posture(&test);
    assert_eq!(find(&report, "credentials").unwrap()["state"], "3 files guarded by rules", "{report}");
    let open = find(&report, "./credentials.json").unwrap();
    assert_eq!((&open["topic"], &open["level"]), (&json!("credentials"), &json!("open")));
    let warning = find(&report, "~/.ssh/id_ed25519").unwrap();
    assert_eq!(
        (&warning["level"], &warning["state"]),
        (&json!("warning"), &json!("other accounts may read it (mode 644)"))
    );
    assert_eq!(warning["fix"], "chmod 600 [DIR]/person/.ssh/id_ed25519");
    assert!(find(&report, "./.env.example").is_none() && find(&report, "~/.ssh/id_ed25519.pub").is_none());
    assert_eq!((exit, &report["closed"]), (1, &json!(false)));
    assert!(
        report["findings"]
            .as_array()
            .unwrap()
            .iter()
            .all(|finding| finding["level"] == "good" || finding["fix"].is_string())
    );
}

#[test]
fn agents_without_a_guard_and_rules_that_are_off_are_open() {
    let test = TestContext::new();
    test.write("person/.aws/credentials", "secret");
    test.write("person/.claude/settings.json", "{}\n");
    let (exit, report) = posture(&test);
    let agent = find(&report, "Claude Code").unwrap();
    assert_eq!(
        (exit, &agent["level"], &agent["fix"]),
        (1, &json!("open"), &json!("`tenterhook install claude-code`"))
    );

    let ran = test.run(&["install", "claude-code", "--yes"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let (exit, report) = posture(&test);
    assert_eq!((exit, &find(&report, "Claude Code").unwrap()["level"]), (0, &json!("good")), "{report}");

    test.write("home/packs.yaml", "disabled: [credential-read, git-strict]\n");
    test.write("home/policy.yaml", "version: 1\nrules:\n  - {id: watch-make, mode: monitor, match: {shell: {program: make}}, verdict: deny, reason: x}\n");
    let (exit, report) = posture(&test);
    let rule = find(&report, "rule `credential-read`").unwrap();
    assert_eq!((exit, &rule["fix"]), (1, &json!("`tenterhook rules enable credential-read`")), "{report}");
    assert_eq!(find(&report, "rule pack `git-strict`").unwrap()["level"], "open");
    assert_eq!(find(&report, "rule `watch-make`").unwrap()["level"], "warning");
    assert_eq!(
        find(&report, "~/.aws/credentials").unwrap()["state"],
        "agents may read it: no active rule stops that"
    );
    let ran = test.run(&["doctor", "--posture"]);
    assert!(ran.stdout.contains("  → `tenterhook rules enable credential-read`\n"), "{}", ran.stdout);
}
