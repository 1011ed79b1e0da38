// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Symbolic links on a real disk: the rules evaluate their targets, the targets are recorded, and a later evaluation
//! of the same record uses the recorded targets.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::context::TestContext;

/// A project with symbolic links, in a home directory that contains an SSH key.
fn project_with_links() -> TestContext {
    let test = TestContext::new();
    test.write("person/.ssh/id_rsa", "a key");
    test.write("work/builds/7/log", "fine");
    let link = |says: &str, name: &str| symlink(says, test.path("work").join(name)).unwrap();
    link("../person/.ssh/id_rsa", "key");
    link(test.path("person/.ssh").to_str().unwrap(), "keys");
    link("builds/7", "current");
    link("loop", "loop");
    link("/etc", "conf");
    test
}

fn judge(test: &TestContext, command: &str) -> Value {
    test.run(&["judge", "--json", "--shell", command]).json()["verdict"].clone()
}

fn hook(test: &TestContext, payload: &str) -> Value {
    test.run_with(&["hook", "claude-code", "pre-tool-use"], payload.as_bytes());
    test.decisions().pop().unwrap()
}

#[test]
fn a_link_is_judged_by_its_target() {
    let test = project_with_links();
    for command in [
        "cat key",
        "cat keys/id_rsa",
        "cat keys/../.ssh/id_rsa",
        "cd keys && cat id_rsa",
        "echo x >> conf/passwd",
        "cp evil conf/sudoers.d/new",
        "rm -rf conf/ssh",
    ] {
        assert_ne!(judge(&test, command), "none", "{command}");
    }
    for command in
        ["cat current/log", "rm -rf current/tmp", "rm key keys conf", "cat loop", "cat loop/x", "ls -l key"]
    {
        assert_eq!(judge(&test, command), "none", "{command}");
    }
}

#[test]
fn a_project_reached_through_a_link_is_the_same_project() {
    let test = project_with_links();
    symlink(test.path("work"), test.path("person/project")).unwrap();
    let by_link = test.path("person/project");
    let inside = |command: &str, cwd: &std::path::Path| {
        let cwd = cwd.to_str().unwrap();
        test.run(&["judge", "--json", "--shell", command, "--cwd", cwd]).json()["verdict"].clone()
    };
    let real = test.path("work").join("builds");
    for command in ["rm -rf builds", "rm -rf current/tmp", &format!("rm -rf {}", real.display())] {
        assert_eq!(inside(command, &by_link), "none", "{command}");
    }
    let named = format!("rm -rf {}", by_link.join("builds").display());
    assert_eq!(inside(&named, &test.path("work")), "none", "{named}");
    assert_ne!(inside("cat key", &by_link), "none");
    assert_ne!(inside("rm -rf .", &by_link), "none");
}

#[test]
fn link_targets_are_recorded_and_used_when_judging_again() {
    let test = project_with_links();
    let payload = json!({
        "session_id": "s", "cwd": test.path("work"), "hook_event_name": "PreToolUse", "tool_name": "Read",
        "tool_input": {"file_path": test.path("work/keys/id_rsa")}, "tool_use_id": "t",
    });
    let leaf = hook(&test, &payload.to_string());
    assert_eq!(leaf["verdict"], "deny");
    let (link, leads) = (test.path("work/keys"), test.path("person/.ssh"));
    assert_eq!(leaf["facts"]["links"], json!({link.to_str().unwrap(): leads}));
    assert!(leaf["facts"]["fallback"].is_string(), "other observations are listed too: {}", leaf["facts"]);
    let other = hook(&test, &test.bash("cat builds/7/log"));
    assert!(other["facts"].get("links").is_none(), "no link was observed: {}", other["facts"]);

    // The link is gone; the recorded target still explains the decision.
    std::fs::remove_file(&link).unwrap();
    let id = leaf["id"].as_str().unwrap();
    let again = test.run(&["explain", id, "--json"]).json();
    let denies = again["rules"].as_array().unwrap().iter().any(|rule| rule["counts"] == true);
    assert!(denies, "{again}");
    let text = test.run(&["explain", id, "--all"]).stdout;
    assert!(text.contains("[DIR]/work/keys → [DIR]/person/.ssh"), "{text}");
    assert_eq!(judge(&test, "cat keys/id_rsa"), "none", "a new call is judged by the current links");
}

#[test]
fn policy_explain_shows_the_links() {
    let test = project_with_links();
    let text = test.run(&["policy", "explain", "--shell", "cat key"]).stdout;
    assert!(
        text.contains("Links at the time of the decision\n  [DIR]/work/key → ../person/.ssh/id_rsa\n"),
        "{text}"
    );
    let facts = test.run(&["policy", "explain", "--json", "--shell", "cat key"]).json()["facts"].take();
    assert_eq!(facts["links"], json!({"links": {"[DIR]/work/key": "../person/.ssh/id_rsa"}}));
    let text = test.run(&["policy", "explain", "--shell", "cat builds/7/log"]).stdout;
    assert!(!text.contains("Links"), "{text}");
}

#[test]
fn commands_that_do_not_run_here_are_judged_by_their_text() {
    let test = project_with_links();
    test.write("work/do.sh", "cat key\n");
    let ran = test.run(&["scan", "do.sh"]);
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
}
