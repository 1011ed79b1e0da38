// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `doctor`: problems are found with a hint, and fixed on request.

use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::context::TestContext;

/// The findings of `doctor` about one subject that report a problem.
fn bad_findings(answer: &Value, about: &str) -> Vec<String> {
    let findings = answer["findings"].as_array().unwrap().iter();
    findings
        .filter(|finding| {
            finding["about"] == about && finding["standing"] != "good" && finding["fixed"] == false
        })
        .map(|finding| finding["says"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_fresh_home_is_not_broken_and_every_finding_has_a_hint() {
    let test = TestContext::new();
    std::fs::remove_dir(test.home()).unwrap();
    let ran = test.run(&["doctor", "--json"]);
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
    let answer = ran.json();
    for finding in answer["findings"].as_array().unwrap() {
        assert!(finding["standing"] == "good" || finding["fix"].is_string(), "{finding}");
    }
    assert!(bad_findings(&answer, "home")[0].contains("nothing was installed"), "{answer}");
}

#[test]
fn permissions_that_are_too_wide_are_found_and_fixed() {
    let test = TestContext::new();
    let open = |mode| {
        std::fs::set_permissions(test.home(), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    open(0o777);
    let ran = test.run(&["doctor", "--json"]);
    assert_eq!(ran.exit, 1);
    assert_eq!(bad_findings(&ran.json(), "permissions").len(), 1, "{}", ran.stdout);
    // The test corrects the permissions itself: `doctor --fix` would also start a daemon.
    open(0o700);
    assert!(bad_findings(&test.run(&["doctor", "--json"]).json(), "permissions").is_empty());
}

#[test]
fn lost_wiring_is_broken_until_it_is_fixed() {
    let test = TestContext::new();
    assert_eq!(test.run(&["install", "claude-code", "--yes"]).exit, 0);
    let name = "Claude Code";
    let wired = test.run(&["doctor", "--json"]).json();
    assert!(bad_findings(&wired, name)[0].contains("none was called yet"), "{wired}");
    test.run_with(&["hook", "claude-code", "PreToolUse"], test.bash("ls").as_bytes());
    test.run(&["ledger", "stats"]);
    assert!(bad_findings(&test.run(&["doctor", "--json"]).json(), name).is_empty(), "the call was seen");

    let settings = test.path("person/.claude/settings.json");
    std::fs::write(&settings, "{}").unwrap();
    let ran = test.run(&["doctor", "--json"]);
    assert_eq!(ran.exit, 1);
    assert!(bad_findings(&ran.json(), name)[0].contains("hooks were changed or removed"), "{}", ran.stdout);
    let mended = test.run(&["doctor", "--fix", "--json"]).json();
    test.run_on_terminal(&["stop"]);
    assert!(bad_findings(&mended, name).is_empty(), "{mended}");
    assert!(std::fs::read_to_string(&settings).unwrap().contains("tenterhook-hook"));
}

#[test]
fn a_version_with_incomplete_hooks_is_named() {
    let test = TestContext::new();
    let program = test.write("codex/bin/codex", "#!/bin/sh\n");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", program.parent().unwrap().display());
    let run = |words: &[&str]| {
        let mut command = test.command(std::path::Path::new(env!("CARGO_BIN_EXE_tenterhook")), words);
        command.env("PATH", &path);
        test.run_command(command, b"").json()
    };
    for (version, is_named) in [("0.150.0", true), ("0.165.0", true), ("0.166.0", false)] {
        let manifest = serde_json::json!({"name": "@openai/codex", "version": version});
        test.write("codex/package.json", &manifest.to_string());
        let says = format!("version {version} does not tell hooks in which directory a command runs");
        let named = |texts: &[String]| texts.iter().any(|text| text.contains(&says));
        let found = bad_findings(&run(&["doctor", "--json"]), "Codex CLI");
        assert_eq!(named(&found), is_named, "{found:?}");
        let detected = run(&["detect", "--json"]);
        let codex = detected["harnesses"].as_array().unwrap().iter().find(|one| one["harness"] == "codex");
        assert_eq!(named(&[codex.unwrap()["notes"].to_string()]), is_named, "{detected:#}");
        let planned = run(&["install", "codex", "--dry-run", "--json"]);
        assert_eq!(named(&[planned.to_string()]), is_named, "{planned:#}");
    }
}

#[test]
fn a_folder_that_llxprt_does_not_trust_is_broken() {
    let test = TestContext::new();
    assert_eq!(test.run(&["install", "llxprt", "--yes"]).exit, 0);
    let settings = test.path("person/.config/llxprt-code/settings.json");
    let text = std::fs::read_to_string(&settings).unwrap();
    std::fs::write(&settings, text.replacen('{', "{\"folderTrust\": true,", 1)).unwrap();
    let trust = |level: &str| {
        let rules = serde_json::json!({ test.path("work").display().to_string(): level });
        test.write("person/.config/llxprt-code/trustedFolders.json", &rules.to_string());
        test.run(&["doctor", "--json"])
    };
    let ran = trust("DO_NOT_TRUST");
    assert_eq!(ran.exit, 1, "{}", ran.stdout);
    assert!(bad_findings(&ran.json(), "LLxprt Code")[0].contains("is not trusted"), "{}", ran.stdout);
    assert_eq!(test.run(&["install", "llxprt", "--yes"]).exit, 1, "install reports it as well");
    let ran = trust("TRUST_FOLDER");
    let still = bad_findings(&ran.json(), "LLxprt Code");
    assert!(!still.iter().any(|says| says.contains("trusted")), "{still:?}");
}

#[test]
fn rules_and_entries_that_cannot_be_used_are_named() {
    let test = TestContext::new();
    test.write("home/policy.yaml", "version: 1\nrules:\n  - id: x\n    verdict: dney\n");
    test.write("home/spool/01J00000000000000000000000.refused", "nonsense");
    let ran = test.run(&["doctor", "--json"]);
    assert_eq!(ran.exit, 1);
    let answer = ran.json();
    assert!(bad_findings(&answer, "policy")[0].contains("policy.yaml:"), "{answer}");
    assert_eq!(bad_findings(&answer, "spool").len(), 1, "{answer}");
}

#[test]
fn an_unreadable_receipt_is_reported() {
    let test = TestContext::new();
    std::fs::create_dir(test.path("person/.claude")).unwrap();
    assert_eq!(test.run(&["install", "claude-code", "--yes"]).exit, 0);
    assert!(bad_findings(&test.run(&["doctor", "--json"]).json(), "receipts").is_empty());
    std::fs::write(test.home().join("install/claude-code.json"), "{\"version\": 1, \"harn").unwrap();
    let ran = test.run(&["doctor", "--json"]);
    assert_eq!(ran.exit, 1);
    let found = bad_findings(&ran.json(), "receipts");
    assert!(found[0].contains("claude-code.json`, so its hooks are not checked"), "{found:?}");
}
