// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a sandbox refuses is recorded with the rule's suggestion, and `--learn` proposes a profile.

use serde_json::Value;

use super::{Sandbox, start_daemon};
use crate::terminal_user::until;

fn refusals(sandbox: &Sandbox, count: usize) -> Vec<Value> {
    until("the refusals are recorded", || {
        let records = sandbox.test.records().into_iter();
        let found: Vec<_> = records.filter(|leaf| leaf["tool"]["name"] == "SandboxRefusal").collect();
        (found.len() >= count).then_some(found)
    })
}

#[test]
fn refused_writes_are_recorded_with_the_rule_and_its_suggestion() {
    for with_daemon in [true, false] {
        for sandbox in Sandbox::all() {
            let rule = "version: 1\nrules:\n  - id: no-plans\n    verdict: deny\n    match: { effect: { does: [write], path: [\"plans/**\"] } }\n    reason: plans are written by people\n    nudge: write to notes\n";
            sandbox.test.write("home/policy.yaml", rule);
            sandbox.test.write("work/plans/a", "x\n");
            sandbox.give_away(sandbox.test.path("."));
            let daemon = with_daemon.then(|| start_daemon(&sandbox));
            if daemon.is_none() {
                sandbox.forget_keys();
            }
            let ran = sandbox.run("echo y >plans/a; echo y >new; mkdir -p sub/dir; echo y >~/outside; python3 -c \"import os; os.open('plans/b', os.O_CREAT | os.O_WRONLY)\"");
            assert!(ran.stderr.contains("Read-only file system"), "{}", ran.stderr);
            assert!(
                ran.stderr.contains("the sandbox refused 3 accesses, for example: write `"),
                "{}",
                ran.stderr
            );
            let records = refusals(&sandbox, 3);
            assert_eq!(records.len(), 3, "{records:#?}");
            for leaf in &records {
                assert_eq!(leaf["agent"]["sandbox"], "namespaces-landlock", "{leaf}");
                assert_eq!(leaf["event"], "tool-error");
            }
            let of = |name: &str| {
                let path = |leaf: &&Value| leaf["stored"]["args"]["path"].as_str().unwrap().ends_with(name);
                records.iter().find(path).unwrap_or_else(|| panic!("{name}: {records:#?}"))
            };
            let plan = of("plans/a");
            assert_eq!(plan["stored"]["args"]["rule"], "no-plans", "{plan}");
            assert_eq!(plan["stored"]["args"]["suggestion"], "write to notes", "{plan}");
            assert_eq!(plan["stored"]["detail"]["error"], "plans are written by people", "{plan}");
            let outside = &of("outside")["stored"];
            assert_eq!(outside["args"].get("rule"), None, "{outside}");
            assert_eq!(outside["detail"]["error"], "the path is read-only in the sandbox");
        }
    }
}

#[test]
fn a_run_in_which_nothing_was_refused_says_nothing() {
    for sandbox in Sandbox::all() {
        let ran = sandbox.run("echo x >a; mkdir b; mv a b; rm -r b; cat ~/.bashrc >/dev/null; echo x >/tmp/a; test -w /etc; git status -s >/dev/null");
        assert!(!ran.stderr.contains("refused"), "{}", ran.stderr);
    }
}

#[test]
fn learn_proposes_a_profile_and_nothing_that_a_rule_protects() {
    for sandbox in Sandbox::all() {
        sandbox.plain("mkdir -p ~/.cache ~/.config");
        let script =
            "mkdir -p ~/.config/tool/sub; echo x >~/.toolrc; echo x >>~/.bashrc; cat ~/.ssh/id_ed25519; true";
        let ran = sandbox.run_with(&["--learn"], &["/bin/sh", "-c", script]);
        assert!(ran.stderr.contains("+  - ~/.config/tool"), "{}", ran.stderr);
        assert!(ran.stderr.contains("+  - ~/.toolrc"), "{}", ran.stderr);
        assert!(ran.stderr.contains("not proposed, because a rule protects it:\n"), "{}", ran.stderr);
        assert!(ran.stderr.contains("~/.bashrc ("), "{}", ran.stderr);
        assert!(ran.stderr.contains("~/.ssh/id_ed25519 ("), "{}", ran.stderr);
        assert!(!sandbox.test.path("person/.toolrc").exists(), "nothing is allowed meanwhile");

        // The proposal is a valid profile with which the run works.
        let lines = ran.stderr.lines().filter(|line| {
            line.starts_with('+') || line.starts_with(" version") || line.starts_with(" includes")
        });
        let text = lines.filter_map(|line| line.get(1..)).collect::<Vec<_>>().join("\n");
        sandbox.test.write("home/sandbox/default-learned.yaml", &text);
        sandbox.test.write("person/.toolrc", "");
        sandbox.give_away(sandbox.test.path("."));
        let script = "mkdir -p ~/.config/tool/sub && echo x >~/.toolrc && echo worked";
        let ran = sandbox.run_with(&["--profile", "default-learned"], &["/bin/sh", "-c", script]);
        assert_eq!(ran.stdout, "worked\n", "{text}\n{}", ran.stderr);
    }
}

#[test]
fn new_files_with_which_editors_start_programs_are_moved_aside() {
    for sandbox in Sandbox::all() {
        sandbox.test.write("work/.vscode/tasks.json", "{}\n");
        sandbox.test.write("work/.mcp.json", "{\"mcpServers\": {\"mine\": {}}}\n");
        sandbox.give_away(sandbox.test.path("work"));
        let ran = sandbox.run(
            "echo '{\"mcpServers\": {\"mine\": {}, \"evil\": {}}}' >.mcp.json; echo x >.envrc; echo y >.vscode/tasks.json; echo z >.vscode/settings.json",
        );
        let servers = std::fs::read_to_string(sandbox.test.path("work/.mcp.json")).unwrap();
        assert!(servers.contains("mine") && !servers.contains("evil"), "{servers}{}", ran.stderr);
        assert!(
            !sandbox.test.path("work/.envrc").exists()
                && !sandbox.test.path("work/.vscode/settings.json").exists()
        );
        assert!(
            ran.stderr.contains("NOT UNDONE after the run: `[DIR]/work/.vscode/tasks.json`"),
            "{}",
            ran.stderr
        );
    }
}
