// SPDX-License-Identifier: Apache-2.0 OR MIT

use serde_json::{Value, json};
use tenterhook_event::{EventId, EventKind, Timestamp};

use super::*;

fn runs(rule: &str, tool: &str, args: Value) -> bool {
    let (id, ts) = (EventId::from_parts(0, 0), Timestamp::from_unix_ms(0));
    let mut event = Event::new(id, ts, "claude-code", EventKind::PreTool, "PreToolUse");
    event.cwd = Some("/repo/sub".into());
    event.project = Some("/repo".into());
    event.tool = Some(ToolCall::new(tool, args));
    permission_rule(rule).unwrap().admits(&event).is_ok()
}

fn on(rule: &str, command: &str) -> bool {
    runs(rule, "Bash", json!({"command": command}))
}

#[test]
fn every_command_in_a_line_is_looked_at() {
    for command in [
        "git push",
        "ls && git push origin",
        "FOO=bar git push",
        "A=1 B=2 git push",
        "echo $(git push)",
        "echo `git push`",
        "a | git push",
        "(git push)",
        "sudo -u me git push",
        "env X=1 git push",
        "timeout 5 git push",
        "find . | xargs git push",
        "if true; then git push; fi",
        "\"git\" 'push'",
        "bash -c 'git push'",
        "eval git push",
        "$G push",
        "git push '",
        "{ git push; }",
        ">log git push",
        "/usr/bin/git push",
        "{git,push}",
        "gi? push",
        "echo $'a\\'' ; git push #'",
        "cat <<E\nit's\nE\ngit push; echo it's",
    ] {
        assert!(on("Bash(git *)", command), "{command}");
        assert!(on("Bash(git push *)", command), "{command}");
        assert!(on("Bash(git:*)", command), "{command}");
    }
    for command in
        ["ls", "echo git push", "echo 'a && git push'", "gitk", "ls; echo \"git push\"", "my-git push"]
    {
        assert!(!on("Bash(git *)", command), "{command}");
    }
    assert!(!on("Bash(git push *)", "git pull"));
    assert!(on("Bash(git push *)", "echo $(date)"), "what `$(…)` becomes is not known");
    assert!(!on("Bash(cat *)", "echo $(date)"), "the programs are");
    assert!(on("Bash(npm run test)", "npm run test") && !on("Bash(npm run test)", "npm run test:x"));
    assert!(on("Bash", "anything") && on("Bash(*)", "anything"));
    assert!(runs("Bash(git *)", "shell", json!({"command": ["bash", "-lc", "git x"]})), "argv");
    assert!(!runs("Bash(git *)", "shell", json!({"command": ["echo", "git x"]})), "argv");
    assert!(runs("Bash(git *)", "run_shell_command", json!({"command": "git x"})), "another harness's shell");
}

#[test]
fn paths_are_compared_as_in_a_gitignore() {
    let edit = |rule, path: &str| runs(rule, "Edit", json!({"file_path": path}));
    for (rule, path, expected) in [
        ("Edit(*.ts)", "/repo/a/b.ts", true),
        ("Edit(*.ts)", "/repo/a/b.tsx", false),
        ("Edit(src/**)", "/repo/sub/src/a/b", true),
        ("Edit(src/**)", "/repo/src/a", true),
        ("Edit(src/**)", "src/../lib/x", false),
        ("Edit(./src/**)", "src/x", true),
        ("Edit(/docs/**)", "/repo/docs/x", true),
        ("Edit(//etc/**)", "/etc/passwd", true),
        ("Edit(//etc/**)", "../../etc/passwd", true),
        ("Edit(node_modules)", "/repo/node_modules/x/y", true),
        ("Edit(.env)", "/repo/x/.env", true),
    ] {
        assert_eq!(edit(rule, path), expected, "{rule} {path}");
    }
    let read = |path: &str| runs("Read(~/.ssh/**)", "Read", json!({"file_path": path}));
    assert!(read("/home/u/.ssh/id") && read("~/.ssh/id") && !read("/repo/x"));
    assert!(runs("Edit(*.ts)", "Write", json!({"file_path": "a.ts"})), "`Edit` is every change to a file");
    let patch = json!({"input": "*** Begin Patch\n*** Update File: src/a.ts\n"});
    assert!(runs("Edit(*.ts)", "apply_patch", patch));
}

#[test]
fn other_tools_are_known_by_name_server_or_domain() {
    assert!(runs("mcp__x__*", "mcp__x__y", json!({})) && !runs("mcp__x__*", "mcp__z__y", json!({})));
    assert!(runs("mcp__x", "mcp__x__y", json!({})) && !runs("mcp__x", "mcp__xx__y", json!({})));
    let fetch = |url: &str| runs("WebFetch(domain:example.com)", "WebFetch", json!({"url": url}));
    assert!(
        fetch("https://example.com/x")
            && fetch("https://u@a.example.com:8080")
            && !fetch("https://badexample.com")
    );
    assert!(!on("Edit", "ls"));
}

#[test]
fn exactly_one_rule_is_read_and_it_is_about_tools() {
    for text in
        ["Edit(*.ts)|Write(*.ts)", "Edit(a) && Write(b)", "Edit|Write", "", "(x)", "Bash(git *", "A,B"]
    {
        assert!(permission_rule(text).is_err(), "{text}");
    }
    assert!(permission_rule("Bash(echo (a) | cat)").is_ok());
    let (id, ts) = (EventId::from_parts(0, 0), Timestamp::from_unix_ms(0));
    let stop = Event::new(id, ts, "claude-code", EventKind::Stop, "Stop");
    assert!(permission_rule("Bash").unwrap().admits(&stop).is_err());
}
