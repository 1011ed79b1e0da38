// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The rules evaluate every path and line that a patch tool writes.

use serde_json::{Value, json};

use super::native_payloads::{home_with_project, project, verdict};

const HOOKS_OFF_SETTINGS: &str = r#"{"hooksConfig":{"enabled":false},"hooks":{"BeforeTool":[]}}"#;

fn diff(name: &str, line: &str) -> String {
    format!("--- /dev/null\n+++ b/{name}\n@@ -0,0 +1,1 @@\n+{line}\n")
}

fn marked(name: &str, line: &str) -> String {
    format!("*** Begin Patch\n*** Add File: {name}\n+{line}\n*** End Patch\n")
}

#[test]
fn a_patch_does_not_switch_the_guard_off_for_the_next_session() {
    let test = home_with_project();
    let settings = project(&test).join(".llxprt/settings.json");
    let written = verdict(
        &test,
        "llxprt",
        "write_file",
        &json!({"file_path": settings, "content": HOOKS_OFF_SETTINGS}),
    );
    assert_eq!(written, "deny");
    let notes = project(&test).join("notes.txt");
    for patch in [
        diff(".llxprt/settings.json", HOOKS_OFF_SETTINGS),
        diff("notes.txt", HOOKS_OFF_SETTINGS),
        diff("x/y", "z"),
    ] {
        for key in ["absolute_path", "file_path"] {
            let args = json!({key: settings, "patch_content": patch});
            assert_eq!(verdict(&test, "llxprt", "apply_patch", &args), "deny", "{args}");
        }
    }
    let both =
        json!({"absolute_path": notes, "file_path": settings, "patch_content": diff("notes.txt", "x")});
    assert_eq!(verdict(&test, "llxprt", "apply_patch", &both), "deny");
    for patch in [
        diff(".llxprt/settings.json", HOOKS_OFF_SETTINGS),
        marked(".llxprt/settings.json", HOOKS_OFF_SETTINGS),
    ] {
        for key in ["patch_content", "patch", "diff", "input", "changes"] {
            let args = json!({"absolute_path": notes, key: patch});
            assert_eq!(verdict(&test, "llxprt", "apply_patch", &args), "deny", "{key}");
        }
    }
    let fine = json!({"absolute_path": notes, "patch_content": diff("notes.txt", "x")});
    assert_eq!(verdict(&test, "llxprt", "apply_patch", &fine), "none");
}

#[test]
fn a_patch_that_writes_a_git_hook_gets_the_verdict_of_writing_it() {
    let test = home_with_project();
    let hook = project(&test).join(".git/hooks/pre-commit");
    let written = verdict(&test, "llxprt", "write_file", &json!({"file_path": hook, "content": "x"}));
    assert!(["ask", "deny"].contains(&written.as_str()), "{written}");
    let patches = [diff(".git/hooks/pre-commit", "x"), marked(".git/hooks/pre-commit", "x")];
    for patch in &patches {
        for (harness, tool, args) in [
            ("llxprt", "apply_patch", json!({"absolute_path": hook, "patch_content": patch})),
            ("codex", "apply_patch", json!({"command": patch})),
            ("codex", "apply_patch", json!({"input": patch})),
            ("opencode", "patch", json!({"patchText": patch})),
            ("opencode", "apply_patch", json!({"patchText": patch})),
            ("claude-code", "mcp__editor__apply_diff", json!({"target": "x", "unified": patch})),
        ] {
            assert_eq!(verdict(&test, harness, tool, &args), written, "{harness} {tool} {args}");
        }
    }
}

#[test]
fn a_secret_in_a_patch_is_seen() {
    let test = home_with_project();
    test.write(
        "home/policy.yaml",
        "version: 1\nrules:\n  - {id: no-secrets, match: {secret: '*'}, verdict: deny}\n",
    );
    let key = ["AK", "IAIOSFODNN7", "EXAMPLX"].concat();
    let args = json!({"absolute_path": project(&test).join("a.txt"), "patch_content": diff("a.txt", &key)});
    assert_eq!(verdict(&test, "llxprt", "apply_patch", &args), "deny");
}

#[test]
fn an_edit_with_an_unknown_target_is_not_allowed() {
    let test = home_with_project();
    let args: [(&str, &str, Value); 6] = [
        ("llxprt", "apply_patch", json!({"patch_content": "@@ -1 +1 @@\n-a\n+b\n"})),
        ("llxprt", "apply_patch", json!({"what": "ever"})),
        ("gemini", "write_file", json!({"content": "x"})),
        ("opencode", "edit", json!({"oldString": "a", "newString": "b"})),
        ("claude-code", "mcp__files__edit_file", json!({"where": 7})),
        ("codex", "apply_patch", json!({"command": "no patch at all"})),
    ];
    for (harness, tool, args) in args {
        let said = verdict(&test, harness, tool, &args);
        assert!(["ask", "deny"].contains(&said.as_str()), "{harness} {tool}: {said}");
    }
    let issue = json!({"title": "x", "body": "y"});
    assert_eq!(verdict(&test, "claude-code", "mcp__github__create_issue", &issue), "none");
}

#[test]
fn the_output_path_of_a_tool_counts_as_written() {
    let test = home_with_project();
    let keys = test.path("person/.ssh/authorized_keys");
    for (tool, args) in [
        ("generate_image", json!({"prompt": "p", "output_path": keys})),
        ("generate_image", json!({"prompt": "p", "outputFile": keys})),
        ("mcp__files__copy_file", json!({"source": "a", "destination": keys})),
        ("mcp__files__download", json!({"url": "https://example.com/x", "dest": keys})),
        ("ast_edit", json!({"file_path": keys, "old_string": "a", "new_string": "b", "force": true})),
    ] {
        assert_eq!(verdict(&test, "llxprt", tool, &args), "deny", "{tool} {args}");
    }
}
