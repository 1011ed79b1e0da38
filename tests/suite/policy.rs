// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `policy`: the layers, how they are combined, and which layer takes precedence.

use serde_json::{Value, json};

use crate::context::{CommandOutput, TestContext};

/// A rule about one program.
fn rule(id: &str, program: &str, verdict: &str, more: &str) -> String {
    format!(
        "version: 1\nrules:\n  - id: {id}\n    match: {{shell: {{program: {program}}}}}\n    verdict: {verdict}\n    reason: because of {id}\n{more}"
    )
}

fn verdict(test: &TestContext, command: &str) -> Value {
    test.run(&["policy", "explain", "--json", "--shell", command]).json()
}

fn assert_fails(ran: &CommandOutput, exit: i32, part: &str) {
    assert_eq!(ran.exit, exit, "{}{}", ran.stdout, ran.stderr);
    assert!(
        format!("{}{}", ran.stdout, ran.stderr).contains(part),
        "`{part}` is not in\n{}{}",
        ran.stdout,
        ran.stderr
    );
}

#[test]
fn check_reports_the_position() {
    let test = TestContext::new();
    let file = test.write("work/p.yaml", &rule("x", "docker", "dney", ""));
    let ran = test.run(&["policy", "check", file.to_str().unwrap()]);
    assert_eq!(ran.exit, 1);
    let lines: Vec<_> = ran.stdout.lines().collect();
    assert!(lines[0].starts_with("problem [DIR]/work/p.yaml:5:14: rule `x`: "), "{}", ran.stdout);
    assert_eq!(
        &lines[1..4],
        [
            "      4 │     match: {shell: {program: docker}}",
            "      5 │     verdict: dney",
            "        │              ^"
        ]
    );
    test.write("work/p.yaml", &rule("x", "docker", "deny", ""));
    let ran = test.run(&["policy", "check", "p.yaml"]);
    assert_eq!((ran.stdout.as_str(), ran.exit), ("✓ 1 rule valid\n", 0));
    assert_fails(&test.run(&["policy", "check", "none.yaml"]), 2, "there is no file `none.yaml`");
}

#[test]
fn every_layer_is_loaded_and_shown() {
    let test = TestContext::new();
    test.write_system(&rule("org", "aws", "deny", "    locked: true\n"));
    test.write("home/policy.yaml", &rule("mine", "docker", "ask", "    expires: 2020-01-01\n"));
    test.write("work/.tenterhook.yaml", &rule("project", "make", "deny", ""));
    assert_eq!(verdict(&test, "aws s3 ls")["rule"], "org");
    assert_eq!(verdict(&test, "docker ps")["verdict"], "none", "it is expired");
    assert_eq!(verdict(&test, "make x")["rule"], "project");
    let ran = test.run_with(&["fire"], test.bash("make x").as_bytes());
    assert_eq!(ran.json()["hookSpecificOutput"]["permissionDecision"], "deny");

    let ran = test.run(&["policy", "show"]);
    for part in [
        "organisation [DIR]/system/policy.yaml\n",
        ":3  locked\n",
        "user [DIR]/home/policy.yaml\n",
        ":3  expired\n",
        "project [DIR]/work/.tenterhook.yaml not trusted: only its denies and asks count\n",
    ] {
        assert!(ran.stdout.contains(part), "`{part}` is not in\n{}", ran.stdout);
    }
    let answer = test.run(&["policy", "show", "org", "--json"]).json();
    assert_eq!(
        (&answer["locked"], &answer["layer"], &answer["line"]),
        (&json!(true), &json!("organisation"), &json!(3))
    );
    assert!(
        test.run(&["policy", "show", "project"]).stdout.contains("│   - id: project"),
        "its own text is shown"
    );
    assert_fails(&test.run(&["policy", "show", "nothing"]), 2, "unknown rule `nothing`");
}

#[test]
fn a_project_weakens_nothing_until_it_is_trusted_and_not_after_a_change() {
    let test = TestContext::new();
    let text = rule("ok", "make", "allow", "");
    test.write("work/.tenterhook.yaml", &text);
    assert_eq!(verdict(&test, "make x")["verdict"], "none");
    assert_fails(&test.run(&["policy", "check"]), 1, "tenterhook rules trust");

    assert_fails(&test.run(&["policy", "trust", "--yes"]), 1, "needs confirmation");
    assert_eq!(verdict(&test, "make x")["verdict"], "none");
    let ran = test.run_on_terminal(&["policy", "trust"]);
    assert!(ran.stdout.contains("│   - id: ok") && ran.stdout.contains("✓ trusted"), "{}", ran.stdout);
    assert_eq!(verdict(&test, "make x")["verdict"], "allow");
    assert_eq!(test.run(&["policy", "trust", "--list", "--json"]).json()[0]["standing"], "trusted");

    test.write("work/.tenterhook.yaml", &(text.clone() + "# changed\n"));
    assert_eq!(verdict(&test, "make x")["verdict"], "none", "another text is not trusted");
    assert_fails(&test.run(&["policy", "check"]), 1, "THIS FILE WAS CHANGED");
    assert_fails(&test.run(&["policy", "show"]), 0, "changed since it was trusted");
    test.write("work/.tenterhook.yaml", &text);
    assert_eq!(verdict(&test, "make x")["verdict"], "allow");

    assert_eq!(test.run(&["policy", "untrust", "."]).exit, 0);
    assert_eq!(verdict(&test, "make x")["verdict"], "none");
    assert_fails(&test.run(&["policy", "untrust", "."]), 2, "is not trusted");
}

#[test]
fn a_project_s_rules_apply_in_its_directories_and_not_beside_it() {
    let test = TestContext::new();
    test.write("work/p/.tenterhook.yaml", &rule("project", "make", "deny", ""));
    test.write("work/p/.git/HEAD", "");
    std::fs::create_dir_all(test.path("work/p/a/b")).unwrap();
    let said = |dir: &str| {
        let payload = test
            .bash("make x")
            .replace(test.path("work").to_str().unwrap(), test.path(dir).to_str().unwrap());
        let ran = test.run_with(&["fire", "--json"], payload.as_bytes());
        ran.json()["outcome"]["decision"].clone()
    };
    assert_eq!(
        (said("work/p"), said("work/p/a/b"), said("work")),
        (json!("deny"), json!("deny"), json!("none"))
    );
}

#[test]
fn explain_shows_what_matched_and_with_all_what_did_not() {
    let test = TestContext::new();
    let ran = test.run(&["policy", "explain", "--shell", "rm -rf /"]);
    assert!(ran.stdout.starts_with("  denied: blocked\n"), "{}", ran.stdout);
    for part in ["● deny  recursive-delete", "baseline rules/destructive.yaml:", "\nFacts\n", "program=rm"]
    {
        assert!(ran.stdout.contains(part), "`{part}` is not in\n{}", ran.stdout);
    }
    assert!(!ran.stdout.contains("○"), "{}", ran.stdout);
    assert!(
        test.run(&["policy", "explain", "--all", "--shell", "rm -rf /"])
            .stdout
            .contains("○ deny  remote-code")
    );
    let ran = test.run_with(
        &["policy", "explain", "--harness", "claude-code", "--json"],
        test.bash("rm -rf /").as_bytes(),
    );
    assert_eq!(ran.json()["verdict"], "deny");
    assert_fails(&test.run_with(&["policy", "explain"], b"{}"), 2, "not an event in Tenterhook's format");
}

#[test]
fn test_cases_are_run_and_failures_show_what_happened() {
    let test = TestContext::new();
    test.write("work/p.yaml", &rule("no-deploy", "make", "deny", "    nudge: ask the release team\n"));
    let good = "cases:\n  - {command: make deploy, expect: deny, rule: no-deploy, nudge: release team}\n  - {command: ls, expect: none}\n  \
                - {name: a file, tool: Read, args: {file_path: /home/user/.ssh/id_rsa}, expect: deny}\n";
    test.write("work/good.yaml", good);
    let ran = test.run(&["policy", "test", "good.yaml", "--policy", "p.yaml"]);
    assert_eq!((ran.stdout.as_str(), ran.exit), ("✓ 3 cases passed\n", 0));

    let bad = "cases:\n  - {command: make deploy, expect: ask, reason: nonsense}\n  - {command: ls, expcet: none}\n  - {expect: none}\n";
    test.write("work/bad.yaml", bad);
    let ran = test.run(&["policy", "test", "bad.yaml", "--policy", "p.yaml"]);
    assert_eq!(ran.exit, 1);
    for part in [
        "✗ make deploy bad.yaml:2\n    expected ask, but got deny by `no-deploy`\n    expected `nonsense` in the reason, but it is `because of no-deploy`\n",
        "✗ case bad.yaml:3\n",
        "use exactly one of `command`, `tool` (with `args`) and `event`",
        "3 of 3 cases failed",
    ] {
        assert!(ran.stdout.contains(part), "`{part}` is not in\n{}", ran.stdout);
    }
    let xml = test.run(&["policy", "test", "bad.yaml", "good.yaml", "--policy", "p.yaml", "--junit"]).stdout;
    assert!(xml.contains("tests=\"6\" failures=\"3\""), "{xml}");
    assert_fails(&test.run(&["policy", "test", "p.yaml"]), 2, "`cases` is missing or not a list");
}

#[test]
fn an_imported_policy_works_and_omissions_are_reported() {
    let test = TestContext::new();
    let settings = r#"{"permissions": {"deny": ["Bash(terraform destroy:*)"], "defaultMode": "plan"}}"#;
    test.write("work/settings.json", settings);
    let import = ["policy", "import", "--from", "claude-permissions", "settings.json"];
    let ran = test.run(&[&import[..], &["--output", "rules.yaml"]].concat());
    assert_eq!((ran.stdout.as_str(), ran.exit), ("", 0));
    assert!(
        ran.stderr.contains("defaultMode") && ran.stderr.contains("1 rule imported, 1 left out"),
        "{}",
        ran.stderr
    );
    assert_eq!(test.run(&["policy", "check", "rules.yaml"]).exit, 0);
    let judged = test.run(&[
        "judge",
        "--policy",
        "rules.yaml",
        "--no-baseline",
        "--json",
        "--shell",
        "terraform destroy -auto-approve",
    ]);
    assert_eq!(judged.json()["verdict"], "deny");
    assert_fails(
        &test.run(&[&import[..], &["--output", "rules.yaml"]].concat()),
        1,
        "choose a file that does not exist yet",
    );
    assert_eq!(test.run(&[&import[..], &["--strict"]].concat()).exit, 1);
    assert_eq!(test.run(&[&import[..], &["--json"]].concat()).json()["carried"], 1);
}
