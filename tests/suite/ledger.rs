// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The records that the program writes, and its behaviour when it cannot write them.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};

use crate::context::{CommandOutput, TestContext};

fn hook(test: &TestContext, command: &str) -> CommandOutput {
    test.run_with(&["hook", "claude-code", "pre-tool-use"], test.bash(command).as_bytes())
}

fn verify(test: &TestContext) -> Value {
    let ran = test.run(&["ledger", "verify", "--json"]);
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
    ran.json()
}

/// A token that the detectors know, assembled here so that secret scanners do not find it in this repository.
fn sample_secret() -> String {
    format!("{}{}", "AKIA", "Q3EGRZ7LWQ2NFKXT")
}

fn files_below(dir: &Path) -> Vec<std::path::PathBuf> {
    let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
    entries
        .map(|entry| entry.unwrap().path())
        .flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] })
        .collect()
}

fn file_contains(path: &Path, text: &str) -> bool {
    std::fs::read(path).unwrap().windows(text.len()).any(|part| part == text.as_bytes())
}

// seed: 001-045, 001-046
#[test]
fn a_decision_is_a_signed_record_with_its_payload_beside_it() {
    let test = TestContext::new();
    hook(&test, "rm -rf /");
    let leaves = test.records();
    let kinds: Vec<_> = leaves.iter().map(|leaf| leaf["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["start", "change", "decision"]);
    assert_eq!((&leaves[1]["what"], &leaves[1]["detail"]["hooks"]), (&json!("generation"), &json!(0)));
    let leaf = &leaves[2];
    assert_eq!((&leaf["verdict"], &leaf["origin"]), (&json!("deny"), &json!("spool")));
    assert_eq!(leaf["generation"], leaves[1]["detail"]["generation"]);
    assert_eq!(leaf["agent"]["user"], tenterhook_home::env::current_user());
    assert!(leaf["tool"].get("args").is_none(), "arguments are payload");
    assert_eq!(leaf["stored"], json!({"args": {"command": "rm -rf /"}}));
    let answer = verify(&test);
    assert_eq!((&answer["size"], &answer["unpublished"]), (&json!(3), &json!(0)), "the last record too");
    for (name, mode) in [("ledger.db", 0o600), ("key", 0o600), ("redaction.key", 0o600), ("key.pub", 0o644)] {
        let file = std::fs::metadata(test.home().join("ledger").join(name)).unwrap();
        assert_eq!(file.permissions().mode() & 0o777, mode, "{name}");
    }
}

#[test]
fn a_generation_is_recorded_once() {
    let test = TestContext::new();
    let generations = || test.records().into_iter().filter(|leaf| leaf["what"] == "generation").count();
    hook(&test, "ls");
    hook(&test, "ls");
    assert_eq!(generations(), 1);
    test.write("home/tenterhook.yaml", "hooks:\n  - {id: a, on: stop, command: 'true'}\n");
    hook(&test, "ls");
    assert_eq!(generations(), 2);
    std::fs::remove_file(test.home().join("tenterhook.yaml")).unwrap();
    hook(&test, "ls");
    assert_eq!(generations(), 2, "it was recorded before");
    assert_eq!(test.decisions().len(), 4);
}

#[test]
fn hooks_that_run_at_the_same_time_are_all_recorded_once() {
    let test = TestContext::new();
    let program = Path::new(env!("CARGO_BIN_EXE_tenterhook"));
    std::thread::scope(|scope| {
        for number in 0..20 {
            let test = &test;
            scope.spawn(move || {
                let command = test.command(program, &["hook", "claude-code", "pre-tool-use"]);
                let ran = test.run_command(command, test.bash(&format!("echo {number}")).as_bytes());
                assert_eq!((ran.exit, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
            });
        }
    });
    // Hooks that waited too long for the ledger wrote their decision to the spool. This command imports the spool.
    test.run(&["ledger", "checkpoint"]);
    let mut commands: Vec<_> = test
        .decisions()
        .iter()
        .map(|leaf| leaf["tool"]["args"]["command"].as_str().unwrap().to_owned())
        .collect();
    commands.sort();
    let mut expected: Vec<_> = (0..20).map(|number| format!("echo {number}")).collect();
    expected.sort();
    assert_eq!(commands, expected);
    assert!(files_below(&test.home().join("spool")).is_empty());
    verify(&test);
}

#[test]
fn while_another_process_writes_decisions_are_spooled_and_imported_once() {
    let test = TestContext::new();
    hook(&test, "ls");
    assert_eq!(test.decisions().len(), 1);
    let keeper = std::fs::File::open(test.home().join("ledger/lock")).unwrap();
    keeper.lock().unwrap();
    let ran = hook(&test, &format!("rm -rf / # {}", sample_secret()));
    assert_eq!(ran.json()["hookSpecificOutput"]["permissionDecision"], "deny");
    assert_eq!(ran.stderr, "", "a busy ledger is not a problem");
    assert_eq!(test.decisions().len(), 1);
    let spooled = files_below(&test.home().join("spool"));
    let decisions: Vec<_> = spooled.iter().filter(|path| file_contains(path, "decision")).collect();
    assert_eq!(decisions.len(), 1);
    assert_eq!(std::fs::metadata(decisions[0]).unwrap().permissions().mode() & 0o777, 0o600);
    let id = decisions[0].file_stem().unwrap().to_str().unwrap().to_owned();
    let copy = std::fs::read(decisions[0]).unwrap();
    assert!(
        !file_contains(decisions[0], &sample_secret()) && file_contains(decisions[0], "[[redacted:"),
        "secrets are out of the spool"
    );

    keeper.unlock().unwrap();
    hook(&test, "ls");
    let ledger = test.decisions();
    assert_eq!(ledger.len(), 3);
    assert_eq!((&ledger[1]["id"], &ledger[1]["origin"]), (&json!(id), &json!("spool")));
    let moment = |key: &str| ledger[1][key].as_str().unwrap().to_owned();
    assert!(moment("ts") < moment("recorded"), "both times are there");
    assert!(files_below(&test.home().join("spool")).is_empty());

    // The state after a crash between writing the record and removing the spool file.
    std::fs::write(test.home().join(format!("spool/{id}.json")), copy).unwrap();
    hook(&test, "ls");
    assert_eq!(test.decisions().len(), 4, "it is not recorded twice");
    assert!(files_below(&test.home().join("spool")).is_empty());
    verify(&test);
}

#[test]
fn nonsense_in_the_spool_blocks_no_call_and_is_reported() {
    let test = TestContext::new();
    test.write("home/spool/01ARZ3NDEKTSV4RRFFQ69G5FAV.json", "{\"spool\":1");
    std::os::unix::fs::symlink("/etc/passwd", test.home().join("spool/link.json")).unwrap();
    hook(&test, "ls");
    assert_eq!(test.decisions().len(), 1);
    let stats = test.run(&["ledger", "stats", "--json"]).json();
    assert_eq!(stats["spool"], json!({"waiting": 0, "refused": 2}));
}

#[test]
fn secrets_are_nowhere_on_the_disk() {
    let test = TestContext::new();
    let secret = sample_secret();
    hook(&test, &format!("aws configure set aws_access_key_id {secret}"));
    hook(&test, &format!("echo {secret}"));
    let prompt =
        json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": format!("use {secret}")});
    test.run_with(&["hook", "claude-code", "user-prompt-submit"], prompt.to_string().as_bytes());
    for path in files_below(&test.home()) {
        assert!(!file_contains(&path, &secret), "{}", path.display());
    }
    let ledger = test.decisions();
    let marks: Vec<_> = ledger.iter().map(|leaf| leaf["stored"].to_string()).collect();
    let mark = |text: &str| text.split_once("[[redacted:").unwrap().1.split_once("]]").unwrap().0.to_owned();
    assert_eq!(mark(&marks[0]), mark(&marks[1]), "equal secrets can be recognised");
    assert_eq!(mark(&marks[0]), mark(&marks[2]));
    assert_eq!(ledger[0]["payload"]["redacted"], 1);
    verify(&test);
}

/// Whether the tests run as root, which can write to every file regardless of its mode.
fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|it| std::os::unix::fs::MetadataExt::uid(&it) == 0)
}

#[test]
fn a_call_that_cannot_be_recorded_is_denied_at_the_gate() {
    let test = TestContext::new();
    hook(&test, "ls");
    // A file in place of each directory prevents writing, even for root.
    std::fs::remove_dir_all(test.home().join("ledger")).unwrap();
    std::fs::remove_dir_all(test.home().join("spool")).unwrap();
    test.write("home/ledger", "in the way");
    test.write("home/spool", "in the way");
    let ran = hook(&test, "ls");
    let said = ran.json()["hookSpecificOutput"].clone();
    assert_eq!(said["permissionDecision"], "deny", "{}", ran.stdout);
    assert!(
        said["permissionDecisionReason"].as_str().unwrap().contains("the spool cannot be written"),
        "{said}"
    );
    if is_root() {
        return;
    }
    let other = TestContext::new();
    std::fs::set_permissions(other.home(), std::fs::Permissions::from_mode(0o500)).unwrap();
    let said = hook(&other, "ls").json()["hookSpecificOutput"].clone();
    std::fs::set_permissions(other.home(), std::fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(said["permissionDecision"], "deny");
}

#[test]
fn a_damaged_ledger_loses_no_decision_and_is_reported() {
    let test = TestContext::new();
    hook(&test, "ls");
    assert_eq!(test.decisions().len(), 1);
    // The journal is damaged too, because SQLite would use it to repair the database.
    for name in ["ledger.db", "ledger.db-wal"] {
        let nonsense = "no database at all, but long enough to be looked at";
        std::fs::write(test.home().join("ledger").join(name), nonsense).unwrap();
    }
    let ran = hook(&test, "rm -rf /");
    assert_eq!(ran.json()["hookSpecificOutput"]["permissionDecision"], "deny");
    let spooled = files_below(&test.home().join("spool"));
    assert!(spooled.iter().any(|path| file_contains(path, "recursive-delete")));
    assert_eq!(test.run(&["ledger", "verify"]).exit, 2);
}

#[test]
fn a_change_of_protection_is_recorded_before_it_is_made() {
    let test = TestContext::new();
    test.write(
        "work/.tenterhook.yaml",
        "version: 1\nrules:\n  - {id: a, match: {shell: {program: make}}, verdict: allow}\n",
    );
    test.write(
        "pack/p.yaml",
        "version: 1\nrules:\n  - {id: b, match: {shell: {program: make}}, verdict: deny}\n",
    );
    let pack = test.path("pack");
    for args in [
        vec!["install", "claude-code", "--yes"],
        vec!["policy", "trust", "--yes"],
        vec!["policy", "untrust"],
        vec!["rules", "enable", "cloud"],
        vec!["rules", "disable", "cloud"],
        vec!["rules", "add", pack.to_str().unwrap(), "--name", "ours", "--yes"],
        vec!["rules", "remove", "ours"],
        vec!["uninstall", "claude-code", "--yes"],
        vec!["uninstall", "claude-code", "--yes"],
    ] {
        let loosens = !matches!(args[..2], ["install", _] | [_, "untrust" | "enable" | "add"]);
        let ran = if loosens { test.run_on_terminal(&args) } else { test.run(&args) };
        assert_eq!(ran.exit, 0, "{args:?}: {}{}", ran.stdout, ran.stderr);
    }
    let leaves = test.records();
    let changes: Vec<_> = leaves.iter().filter_map(|leaf| leaf["what"].as_str()).collect();
    assert_eq!(
        changes,
        [
            "install",
            "policy trust",
            "policy untrust",
            "rules enable",
            "rules disable",
            "rules add",
            "rules remove",
            "uninstall"
        ]
    );
    let trusted = leaves.iter().find(|leaf| leaf["what"] == "policy trust").unwrap();
    assert_eq!(trusted["origin"], "cli");
    assert_eq!(trusted["detail"]["sha256"].as_str().unwrap().len(), 64);

    std::fs::remove_dir_all(test.home().join("ledger")).unwrap();
    test.write("home/ledger", "in the way");
    test.write("home/spool", "in the way");
    let ran = test.run(&["rules", "enable", "cloud"]);
    assert_eq!(ran.exit, 1);
    assert!(ran.stderr.contains("is not done, because it cannot be recorded"), "{}", ran.stderr);
    let list = std::fs::read_to_string(test.home().join("packs.yaml")).unwrap_or_default();
    assert!(!list.contains("cloud"), "{list}");
}
