// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Arguments of calls: the working directory, the changed files, and the server of an MCP tool.

use std::collections::BTreeMap;

use serde_json::Value;
use tenterhook_event::{McpServers, McpToolId};

use super::*;

fn call(source: &str, tool: &str, args: Value) -> Event {
    Event { source: source.to_owned(), ..event(ToolCall::new(tool, args)) }
}

fn strictest(event: &Event, rules: &RuleSet) -> Decision {
    let judgement = judge(event, &facts(event, &HOME), &SessionState::default(), rules);
    judgement.findings.iter().map(|finding| finding.decision).max().unwrap_or(Decision::None)
}

fn baseline(event: &Event) -> Decision {
    strictest(event, &BASELINE.rules)
}

#[test]
fn a_command_is_judged_where_its_arguments_say_it_runs() {
    let delete = |source: &str, tool: &str, key: &str, value: Value| {
        let event = call(source, tool, json!({"command": "rm -rf precious", key: value}));
        assert_ne!(
            baseline(&call(source, tool, json!({"command": "rm -rf precious"}))),
            Decision::Deny,
            "{tool}"
        );
        baseline(&event)
    };
    for (source, tool, key) in [
        ("opencode", "bash", "workdir"),
        ("gemini", "run_shell_command", "dir_path"),
        ("qwen", "run_shell_command", "directory"),
        ("llxprt", "run_shell_command", "dir_path"),
        ("llxprt", "run_shell_command", "directory"),
        ("codex", "exec_command", "workdir"),
        ("cursor", "Shell", "working_directory"),
        ("claude-code", "Bash", "cwd"),
        ("claude-code", "mcp__term__run", "workingDirectory"),
    ] {
        for text in ["/home/user", "..", "~", "$HOME", "${HOME}/", "/"] {
            assert_eq!(
                delete(source, tool, key, json!(text)),
                Decision::Deny,
                "{source} {tool} {key}: {text}"
            );
        }
        for unknown in [json!("$ELSEWHERE"), json!("`pwd`"), json!("~root"), json!(7), json!({"a": 1})] {
            assert!(
                delete(source, tool, key, unknown.clone()) >= Decision::Ask,
                "{source} {tool} {key}: {unknown}"
            );
        }
        for fine in ["src", "./", "/home/user/project/web"] {
            assert!(delete(source, tool, key, json!(fine)) < Decision::Ask, "{source} {tool} {key}: {fine}");
        }
    }
}

#[test]
fn an_unknown_directory_leaves_harmless_commands_alone() {
    let list = call("opencode", "bash", json!({"command": "ls -la", "workdir": "$ELSEWHERE"}));
    assert_eq!(baseline(&list), Decision::None);
    assert!(facts(&list, &HOME).unparsed);
}

#[test]
fn a_directory_that_the_harness_may_ignore_does_not_hide_where_the_agent_works() {
    let away = json!({"command": "rm -rf ../precious", "cwd": "/tmp/a/b"});
    assert_eq!(baseline(&call("claude-code", "Bash", away.clone())), Decision::Deny);
    let both = json!({"command": "rm -rf ../precious", "dir_path": "/tmp/a/b", "directory": "."});
    assert_eq!(baseline(&call("llxprt", "run_shell_command", both)), Decision::Deny);
    let known = json!({"command": "rm -rf ../scratch", "workdir": "/tmp/a/b"});
    assert!(baseline(&call("opencode", "bash", known)) < Decision::Deny, "the harness runs it there");
}

#[test]
fn paths_of_foreign_tools_start_from_their_working_directory() {
    let write = json!({"cwd": "~/.ssh", "path": "authorized_keys", "content": "x"});
    assert_eq!(baseline(&call("claude-code", "mcp__files__write_file", write)), Decision::Deny);
    let named = json!({"directory": "/home/user/.ssh", "filename": "authorized_keys", "content": "x"});
    assert_eq!(baseline(&call("claude-code", "mcp__files__write_file", named)), Decision::Deny);
}

const HOOK: &str = "--- /dev/null\n+++ b/.git/hooks/pre-commit\n@@ -0,0 +1,1 @@\n+x\n";
const CODEX: &str = "*** Begin Patch\n*** Add File: .git/hooks/pre-commit\n+x\n*** End Patch\n";

#[test]
fn a_patch_is_judged_by_its_path_and_by_every_name_in_it() {
    let hook = "/home/user/project/.git/hooks/pre-commit";
    let write = baseline(&call("llxprt", "write_file", json!({"file_path": hook, "content": "x\n"})));
    assert!(write >= Decision::Ask);
    let harmless = "--- /dev/null\n+++ b/notes.txt\n@@ -0,0 +1,1 @@\n+x\n";
    for key in ["absolute_path", "file_path", "path", "target_file", "output_path", "destination"] {
        let args = json!({key: hook, "patch_content": harmless});
        assert_eq!(baseline(&call("llxprt", "apply_patch", args)), write, "{key}");
    }
    let both = json!({"absolute_path": hook, "file_path": "/home/user/project/notes.txt", "patch_content": harmless});
    assert_eq!(baseline(&call("llxprt", "apply_patch", both)), write);
    for patch in [HOOK, CODEX] {
        for key in ["patch_content", "patch", "input", "patchText", "diff", "changes"] {
            let args = json!({"absolute_path": "/home/user/project/notes.txt", key: patch});
            assert_eq!(baseline(&call("llxprt", "apply_patch", args.clone())), write, "{key}");
            assert_eq!(baseline(&call("claude-code", "mcp__edit__apply_diff", args)), write, "{key}");
        }
    }
    let fine = json!({"absolute_path": "/home/user/project/notes.txt", "patch_content": harmless});
    assert_eq!(baseline(&call("llxprt", "apply_patch", fine)), Decision::None);
}

#[test]
fn an_edit_without_a_target_is_not_understood() {
    for (tool, args) in [
        ("apply_patch", json!({"patch_content": "@@ -1 +1 @@\n-a\n+b\n"})),
        ("apply_patch", json!({"anything": "else"})),
        ("write_file", json!({"content": "x"})),
        ("replace", json!({"old_string": "a", "new_string": "b"})),
        ("applyPatch", json!({"spec": 1})),
        ("edit_file", json!({"where": "x"})),
        ("mcp__files__write_file", json!({"where": "x", "what": "y"})),
        ("str_replace", json!({"a": "b"})),
    ] {
        let event = call("llxprt", tool, args);
        assert!(facts(&event, &HOME).unparsed, "{tool}");
        assert!(baseline(&event) >= Decision::Ask, "{tool}");
    }
    for (tool, args) in [
        ("mcp__github__create_issue", json!({"title": "x"})),
        ("mcp__db__update", json!({"sql": "x"})),
        ("save_memory", json!({"fact": "x"})),
        ("todo_write", json!({"todos": []})),
    ] {
        let event = call("llxprt", tool, args);
        assert!(!facts(&event, &HOME).unparsed, "{tool}");
        assert_eq!(baseline(&event), Decision::None, "{tool}");
    }
}

#[test]
fn a_place_for_results_is_written() {
    let image = json!({"prompt": "p", "output_path": "/home/user/.ssh/authorized_keys"});
    assert_eq!(baseline(&call("llxprt", "generate_image", image)), Decision::Deny);
    let copy = json!({"source": "a", "destination": "/home/user/.ssh/authorized_keys"});
    assert_eq!(baseline(&call("claude-code", "mcp__files__copy_file", copy)), Decision::Deny);
}

fn servers(source: &str, names: &[&str]) -> McpServers {
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    McpServers(BTreeMap::from([(source.to_owned(), names)]))
}

fn by_servers(event: &Event, rules: &RuleSet, servers: Option<&McpServers>) -> Decision {
    let facts = facts(event, &EvalEnvironment { servers, ..HOME });
    let judgement = judge(event, &facts, &SessionState::default(), rules);
    judgement.findings.iter().map(|finding| finding.decision).max().unwrap_or(Decision::None)
}

fn mcp_call(source: &str, mcp: McpToolId) -> Event {
    let tool = ToolCall { mcp: Some(mcp), ..ToolCall::new("mcp__x__y", json!({})) };
    Event { source: source.to_owned(), ..event(tool) }
}

#[test]
fn a_rule_on_a_server_matches_however_the_name_is_spelled_or_split() {
    let deny = |server: &str, tool: &str| {
        let mcp = format!("match: {{mcp: {{server: {server:?}, tool: {tool:?}}}}}");
        load_valid(&format!("version: 1\nrules:\n  - {{id: x, {mcp}, verdict: deny}}\n"))
    };
    let codex = mcp_call("codex", McpToolId::from_tool_name("mcp__brave_search__erase").unwrap());
    let opencode = mcp_call("opencode", McpToolId::split("google_drive_erase", "_").unwrap());
    let mixed = mcp_call("opencode", McpToolId::split("my-rec_ords_erase", "_").unwrap());
    let copilot = mcp_call("copilot", McpToolId::split_last("my-rec_ords-erase", "-").unwrap());
    for (event, server) in [
        (&codex, "brave-search"),
        (&codex, "Brave.Search"),
        (&codex, "brave-*"),
        (&opencode, "google_drive"),
        (&opencode, "google-drive"),
        (&mixed, "my-rec_ords"),
        (&copilot, "my-rec_ords"),
    ] {
        assert_eq!(by_servers(event, &deny(server, "erase"), None), Decision::Deny, "{server}");
        assert_eq!(by_servers(event, &deny(server, "note"), None), Decision::None, "{server}");
        let own = servers(&event.source, &[server.trim_end_matches('*')]);
        let known = by_servers(event, &deny(server, "erase"), Some(&own));
        assert_eq!(known, Decision::Deny, "{server} known");
    }
    // If a rule names a server that is not in the settings, the verdict is only `ask`.
    let google = servers("opencode", &["google"]);
    assert_eq!(by_servers(&opencode, &deny("google_drive", "erase"), Some(&google)), Decision::Ask);
    let drive = servers("opencode", &["google_drive"]);
    assert_eq!(by_servers(&opencode, &deny("google", "*"), Some(&drive)), Decision::Ask);
    assert_eq!(by_servers(&opencode, &deny("goo?le", "*"), Some(&drive)), Decision::None);
}

#[test]
fn a_rule_that_allows_a_server_needs_it_to_be_certain() {
    let allow = load_valid(
        "version: 1\nrules:\n  - {id: x, match: {mcp: {server: google_drive, tool: read}}, verdict: allow}\n",
    );
    let event = mcp_call("opencode", McpToolId::split("google_drive_read", "_").unwrap());
    assert_eq!(by_servers(&event, &allow, None), Decision::None);
    let drive = servers("opencode", &["google_drive"]);
    assert_eq!(by_servers(&event, &allow, Some(&drive)), Decision::Allow);
    let both = servers("opencode", &["google_drive", "google"]);
    assert_eq!(by_servers(&event, &allow, Some(&both)), Decision::None);
    let alike = servers("opencode", &["google_drive", "google-drive"]);
    assert_eq!(by_servers(&event, &allow, Some(&alike)), Decision::None);
    let but = load_valid(
        "version: 1\nrules:\n  - {id: x, match: {mcp: {server: ['*', '!google_drive']}}, verdict: deny}\n",
    );
    assert_eq!(by_servers(&event, &but, Some(&drive)), Decision::None, "the exception is certain");
    assert_eq!(by_servers(&event, &but, None), Decision::Deny, "it is not");
}

#[test]
fn a_server_that_the_harness_does_not_name_is_asked_about() {
    let deny = load_valid(
        "version: 1\nrules:\n  - {id: x, match: {mcp: {server: records, tool: erase}}, verdict: deny}\n",
    );
    let event = |tool: &str| mcp_call("cursor", McpToolId::new("", tool));
    assert_eq!(by_servers(&event("erase"), &deny, None), Decision::Ask);
    assert_eq!(by_servers(&event("note"), &deny, None), Decision::None);
    assert_eq!(by_servers(&event("erase"), &deny, Some(&servers("cursor", &["records"]))), Decision::Ask);
    assert_eq!(by_servers(&event("erase"), &deny, Some(&servers("cursor", &["other"]))), Decision::None);
}

#[test]
fn a_tool_whose_long_name_the_harness_has_cut_is_asked_about() {
    let long = "erase_everything_that_was_ever_recorded_in_the_archive";
    let deny = |tool: &str| {
        let mcp = format!("match: {{mcp: {{server: records, tool: {tool:?}}}}}");
        load_valid(&format!("version: 1\nrules:\n  - {{id: x, {mcp}, verdict: deny}}\n"))
    };
    let name = format!("mcp__records__erase_ever{}", "0123456789abcdef0123456789abcdef01234567");
    let cut = call("codex", &name, json!({}));
    assert_eq!(by_servers(&cut, &deny(long), None), Decision::Ask);
    assert_eq!(by_servers(&cut, &deny("*archive"), None), Decision::Ask);
    assert_eq!(by_servers(&cut, &deny("note"), None), Decision::None);
    let whole = call("codex", "mcp__records__note", json!({}));
    assert_eq!(by_servers(&whole, &deny("*archive"), None), Decision::None);
}
