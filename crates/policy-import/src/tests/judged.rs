// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Verdicts of imported rules.

use serde_json::{Value, json};
use tenterhook_event::{Decision, Event, EventId, EventKind, Timestamp, ToolCall};

use crate::{import_claude_permissions, import_openagentlock};
use tenterhook_policy::{EvalEnvironment, RuleSet, RuleSource, SessionState, SourceLayer, facts, judge};

/// Returns the strictest verdict of the rules of a file on a call.
fn decision(yaml: &str, source: &str, tool: &str, args: Value) -> Decision {
    let loaded =
        RuleSet::load(&[RuleSource { name: "x.yaml", text: yaml, layer: SourceLayer::User, trusted: true }]);
    assert_eq!(loaded.problems, []);
    let (id, ts) = (EventId::from_parts(0, 0), Timestamp::from_unix_ms(0));
    let mut event = Event::new(id, ts, source, EventKind::PreTool, "PreToolUse");
    event.cwd = Some("/home/ada/engine".into());
    event.project.clone_from(&event.cwd);
    event.tool = Some(ToolCall::new(tool, args));
    let around = EvalEnvironment { home: Some("/home/ada"), ..EvalEnvironment::default() };
    let judged = judge(&event, &facts(&event, &around), &SessionState::default(), &loaded.rules);
    judged.findings.iter().map(|finding| finding.decision).max().unwrap_or_default()
}

fn permissions() -> String {
    let settings = json!({"permissions": {
        "allow": ["Bash(git status)", "Bash(npm run test:*)", "Edit(/src/**)", "WebFetch(domain:docs.rs)", "mcp__gh__get_*"],
        "ask": ["Bash(git push:*)", "Agent(Explore)"],
        "deny": ["Read(./.env)", "Edit(*.lock)", "WebFetch(domain:evil.org)", "mcp__gh__delete_repo"],
    }});
    let imported = import_claude_permissions("settings.json", &settings.to_string()).unwrap();
    assert_eq!(imported.left_out, []);
    imported.yaml
}

#[test]
fn permissions_that_restrict_cannot_be_evaded() {
    let yaml = permissions();
    let bash = |command: &str| decision(&yaml, "codex", "Bash", json!({ "command": command }));
    for command in ["git push", "cd x && sudo git push origin", "bash -c 'git -C x push'", "echo $(git push)"]
    {
        assert_eq!(bash(command), Decision::Ask, "{command}");
    }
    for command in
        ["cat .env", "cp ./.env /tmp/x", "sh -c 'cat < .env'", "rm Cargo.lock", "curl https://a.evil.org/"]
    {
        assert_eq!(bash(command), Decision::Deny, "{command}");
    }
    for command in
        ["git status", "echo git push", "cat .env.example", "cat Cargo.lock", "curl https://evil.org.uk/"]
    {
        assert_eq!(bash(command), Decision::None, "{command}");
    }
    let on = |tool: &str, args: Value| decision(&yaml, "claude-code", tool, args);
    assert_eq!(on("Read", json!({"file_path": "/home/ada/engine/.env"})), Decision::Deny);
    assert_eq!(
        on("Write", json!({"file_path": "/home/ada/engine/a/yarn.lock", "content": ""})),
        Decision::Deny
    );
    assert_eq!(on("mcp__gh__delete_repo", json!({})), Decision::Deny);
    assert_eq!(on("Agent", json!({"subagent_type": "Explore"})), Decision::Ask);
    assert_eq!(on("Agent", json!({"subagent_type": "Plan"})), Decision::None);
    assert_eq!(on("Agent", json!({})), Decision::None);
}

#[test]
fn permissions_that_allow_cover_nothing_else() {
    let yaml = permissions();
    let on = |tool: &str, args: Value| decision(&yaml, "claude-code", tool, args);
    let bash = |command: &str| on("Bash", json!({ "command": command }));
    for command in ["git status", "npm run test", "npm run test -- --watch"] {
        assert_eq!(bash(command), Decision::Allow, "{command}");
    }
    for command in [
        "git status --short",
        "git status; rm x",
        "npm run test && rm x",
        "npm run tests",
        "npm run test\nrm x",
    ] {
        assert_eq!(bash(command), Decision::None, "{command}");
    }
    assert_eq!(decision(&yaml, "codex", "Bash", json!({"command": "git status"})), Decision::None);
    let edit = |path: &str| on("Edit", json!({"file_path": path, "old_string": "a", "new_string": "b"}));
    assert_eq!(edit("/home/ada/engine/src/a.rs"), Decision::Allow);
    assert_eq!(edit("/home/ada/engine/src/../build.rs"), Decision::None);
    assert_eq!(on("WebFetch", json!({"url": "https://docs.rs/x"})), Decision::Allow);
    assert_eq!(on("WebFetch", json!({"url": "https://docs.rs@evil.net/x"})), Decision::None);
    assert_eq!(on("mcp__gh__get_issue", json!({})), Decision::Allow);
}

#[test]
fn a_gate_that_allows_exempts_only_what_it_covers_from_later_gates() {
    let text = r#"
version: 1
mode: enforce
gates:
  - {id: ours, match: {tool_prefix: "mcp_", any_path_regex: ["^/home/ada/engine/"]}, evaluate: [{kind: always, action: allow}]}
  - {id: none, match: {tool_prefix: "mcp_"}, evaluate: [{kind: always, action: deny}]}
"#;
    let yaml = import_openagentlock("policy.yaml", text).unwrap().yaml;
    let read = |args: Value| decision(&yaml, "cursor", "mcp__fs__read", args);
    assert_eq!(read(json!({"path": "/home/ada/engine/x"})), Decision::None);
    assert_eq!(read(json!({"path": "/etc/passwd"})), Decision::Deny);
    assert_eq!(read(json!({"file_path": "/etc/passwd", "path": "/home/ada/engine/x"})), Decision::Deny);
    assert_eq!(read(json!({"path": "/home/ada/engine/../../../etc/passwd"})), Decision::Deny);
}
