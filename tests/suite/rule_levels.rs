// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `tenterhook rules level`, `rules from` and `rules suggest`.

use std::path::Path;

use serde_json::{Value, json};

use crate::context::TestContext;
use crate::terminal_user::SocketDaemon;

fn call(test: &TestContext, event: &str, payload: &str) -> String {
    let reply = test.run_with(&["hook", "claude-code", event], payload.as_bytes());
    assert_eq!(reply.exit, 0, "{}", reply.stderr);
    let reply: Value = serde_json::from_str(&reply.stdout).unwrap_or_default();
    reply["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or("none").to_owned()
}

fn bash(test: &TestContext, command: &str) -> String {
    call(test, "pre-tool-use", &test.bash(command))
}

fn raise(test: &TestContext, level: &str) {
    let ran = test.run(&["rules", "level", level]);
    assert_eq!((ran.exit, ran.stdout), (0, format!("✓ level: {level}\n")), "{}", ran.stderr);
}

#[test]
fn a_level_changes_what_is_asked_with_and_without_a_daemon() {
    for has_daemon in [false, true] {
        let test = TestContext::new();
        let guard = has_daemon.then(|| SocketDaemon::of(&test));
        let verdicts = |test: &TestContext| {
            ["make", "docker run --privileged x", "aws s3 mb s3://b", "rm -rf ~"]
                .map(|command| bash(test, command))
        };
        assert_eq!(verdicts(&test), ["none", "deny", "none", "deny"]);
        raise(&test, "strict");
        // The daemon writes the ledger, so the command records the change through the spool.
        crate::terminal_user::until("the change is recorded", || {
            let changes = test.records();
            let changed = changes.iter().find(|record| record["what"] == "rules level")?;
            assert_eq!(changed["detail"], json!({"from": "standard", "to": "strict"}));
            Some(())
        });
        crate::terminal_user::until("the level applies", || {
            (bash(&test, "aws s3 mb s3://b") == "ask").then_some(())
        });
        assert_eq!(verdicts(&test), ["none", "deny", "ask", "deny"]);
        raise(&test, "paranoid");
        crate::terminal_user::until("the level applies", || (bash(&test, "make") == "ask").then_some(()));
        assert_eq!(verdicts(&test), ["ask", "deny", "ask", "deny"]);
        assert_eq!(bash(&test, "ls -la"), "none");
        assert_eq!(test.run(&["rules", "disable", "paranoid"]).exit, 1, "a guarded agent");
        let ran = test.run_on_terminal(&["rules", "disable", "paranoid"]);
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
        crate::terminal_user::until("the choice applies", || (bash(&test, "make") == "none").then_some(()));
        drop(guard);
    }
}

/// Work that cannot be saved is asked about, except in the level `relaxed`.
#[test]
fn a_relaxed_level_saves_and_never_asks_about_the_listed_rules() {
    for has_daemon in [false, true] {
        let test = TestContext::new();
        test.write("home/tenterhook.yaml", "undo: {max_mb: 1}\n");
        test.write("work/big.bin", &"x".repeat(3 << 20));
        for arguments in [&["init", "-q"][..], &["add", "-A"]] {
            let ran = test.run_command(test.command(Path::new("git"), arguments), b"");
            assert_eq!(ran.exit, 0, "{}", ran.stderr);
        }
        test.write("work/new.bin", &"y".repeat(3 << 20));
        let guard = has_daemon.then(|| SocketDaemon::of(&test));
        assert_eq!(bash(&test, "git clean -fd"), "ask");
        let ran = test.run_on_terminal(&["rules", "level", "relaxed"]);
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
        crate::terminal_user::until("the level applies", || {
            (bash(&test, "git clean -fd") == "none").then_some(())
        });
        assert_eq!(bash(&test, "git push --force origin x"), "ask", "other rules still ask");
        assert_eq!(bash(&test, "rm -rf ~"), "deny");
        raise(&test, "standard");
        crate::terminal_user::until("the level applies", || {
            (bash(&test, "git clean -fd") == "ask").then_some(())
        });
        drop(guard);
    }
}

#[test]
fn same_user_a_guarded_agent_cannot_lower_the_level() {
    let test = TestContext::new();
    raise(&test, "strict");
    assert_eq!(bash(&test, "ls"), "none");
    for level in ["standard", "relaxed"] {
        let ran = test.run(&["rules", "level", level]);
        assert!(ran.exit == 1 && ran.stderr.contains("a guarded agent"), "{}", ran.stderr);
    }
    assert_eq!(test.run(&["rules", "level", "--json"]).json()["level"], "strict");
    assert_eq!(bash(&test, "tenterhook rules level relaxed"), "deny");
    let ran = test.run_on_terminal(&["rules", "level", "relaxed"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    assert_eq!(test.last_change()["detail"]["authority"]["proof"], "tty");
    let listed = test.run(&["rules", "level"]).stdout;
    assert!(listed.contains("● relaxed") && listed.contains("○ paranoid"), "{listed}");
    assert_eq!(test.run(&["rules", "level", "loose"]).exit, 2);
}

/// The digest covers every rule and the settings that change verdicts.
#[test]
fn the_standard_level_is_exactly_no_level() {
    let digest = |test: &TestContext| {
        let home = tenterhook_home::Home::in_dir(test.home());
        let env = tenterhook_home::Env::default();
        let sources = tenterhook_home::Sources::collect(&home, &env, &tenterhook_home::WorkDirs::default());
        sources.load().rules.digest()
    };
    let test = TestContext::new();
    let before = digest(&test);
    raise(&test, "strict");
    assert_ne!(digest(&test), before);
    assert_eq!(test.run_on_terminal(&["rules", "level", "standard"]).exit, 0);
    assert_eq!(digest(&test), before);
    let list = std::fs::read_to_string(test.home().join("packs.yaml")).unwrap();
    assert!(!list.contains("level"), "{list}");
}

#[test]
fn a_rule_is_drafted_from_a_command_and_from_a_record() {
    let test = TestContext::new();
    let drafted = test.run(&["rules", "from", "git push --force origin main", "--json"]).json();
    assert_eq!(drafted["id"], "deny-git-push");
    assert_eq!(
        drafted["rule"]["match"],
        json!({"shell": {"program": ["git"], "words": ["push", "origin", "main"], "option": ["force"]}})
    );
    assert_eq!(drafted["rule"]["examples"]["deny"], json!(["git push --force origin main"]));
    assert!(!test.home().join("policy.yaml").exists(), "nothing is written without --add");

    let ran = test.run(&["rules", "from", "acme deploy prod", "--verdict", "ask", "--add"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    assert_eq!(bash(&test, "sudo acme deploy prod"), "ask");
    assert_eq!(bash(&test, "acme status"), "none");
    let ran = test.run(&["rules", "from", "acme deploy prod", "--verdict", "ask", "--add"]);
    assert!(ran.exit != 0 && ran.stderr.contains("already exists"), "{}", ran.stderr);

    let drafted = test.run(&["rules", "from", "last", "--add", "--json"]).json();
    assert_eq!(drafted["rule"]["match"]["shell"]["words"], json!(["status"]), "{drafted}");
    assert_eq!(bash(&test, "acme status"), "deny");
    assert_eq!(test.run(&["check"]).exit, 0);
    let ran = test.run(&["rules", "from", "99999"]);
    assert!(ran.exit != 0 && ran.stderr.contains("no record `99999`"), "{}", ran.stderr);
    // A call of a tool is matched by its file.
    let write = json!({"session_id": "s-1", "cwd": test.path("work"), "hook_event_name": "PreToolUse",
        "tool_name": "Write", "tool_input": {"file_path": test.path("work/a.txt"), "content": "x"}, "tool_use_id": "t"});
    assert_eq!(call(&test, "pre-tool-use", &write.to_string()), "none");
    let drafted = test.run(&["rules", "from", "last", "--json"]).json();
    assert_eq!(drafted["rule"]["match"]["tool"], "Write", "{drafted}");
}

#[test]
fn calls_that_users_approve_again_and_again_are_suggested() {
    let test = TestContext::new();
    test.write(
        "home/policy.yaml",
        "version: 1\nrules:\n  - {id: ask-make, match: {shell: {program: make}}, verdict: ask}\n",
    );
    for number in 0..4 {
        let payload = test.bash("make all").replace("t-1", &format!("t-{number}"));
        assert_eq!(call(&test, "pre-tool-use", &payload), "ask");
        let after = payload.replace("PreToolUse", "PostToolUse");
        assert_eq!(call(&test, "post-tool-use", &after), "none");
        // A call that did not run was refused.
        let refused = test.bash("make install").replace("t-1", &format!("u-{number}"));
        assert_eq!(call(&test, "pre-tool-use", &refused), "ask");
    }
    let found = test.run(&["rules", "suggest", "--json"]).json();
    let found = found["suggestions"].as_array().unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((&found[0]["approved"], &found[0]["rule"]), (&json!(4), &json!("ask-make")));
    let text = test.run(&["rules", "suggest"]).stdout;
    assert!(text.starts_with("approved 4 times: make all\n"), "{text}");
    let command = found[0]["command"].as_str().unwrap();
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    let ran = test.run_on_terminal(&words);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    assert_eq!(bash(&test, "make all"), "allow");
    assert_eq!(test.run(&["rules", "suggest"]).stdout, "no suggestions: no call was approved often enough\n");
}
