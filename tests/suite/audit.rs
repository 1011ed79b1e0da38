// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `audit`: evaluates what agents did before they were guarded. The transcripts in the tests were written by real clients
//! in their pinned versions.

use std::path::Path;

use serde_json::{Value, json};

use crate::context::{CommandOutput, TestContext, repository};
use crate::system::as_stranger;

/// Home directory of a user who has worked with all five clients whose transcripts can be read.
pub(crate) fn home_with_transcripts() -> TestContext {
    let test = TestContext::new();
    let person = test.path("person");
    copy(&repository().join("tests/fixtures/transcripts"), &person);
    let sql = person.join(".local/share/opencode/opencode.sql");
    let database = rusqlite::Connection::open(sql.with_extension("db")).unwrap();
    database.execute_batch(&std::fs::read_to_string(&sql).unwrap()).unwrap();
    test
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (path, to) = (entry.as_ref().unwrap().path(), to.join(entry.unwrap().file_name()));
        if path.is_dir() { copy(&path, &to) } else { assert!(std::fs::copy(&path, &to).is_ok()) }
    }
}

/// One line of a Claude Code transcript: a tool call that runs a command.
fn claude_line(session: &str, at: &str, call: &str, command: &str) -> String {
    let tool = json!({"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}});
    let message = json!({"role": "assistant", "model": "claude-opus-5-5", "content": [tool]});
    json!({"type": "assistant", "sessionId": session, "cwd": "/srv/shop", "timestamp": at, "message": message})
        .to_string()
}

fn write_claude(test: &TestContext, session: &str, lines: &[String]) {
    test.write(&format!("person/.claude/projects/-srv-shop/{session}.jsonl"), &(lines.join("\n") + "\n"));
}

fn audit(test: &TestContext, args: &[&str]) -> CommandOutput {
    let ran = test.run(&[&["audit"], args].concat());
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
    ran
}

fn report(test: &TestContext, args: &[&str]) -> Value {
    audit(test, &[&["--json"], args].concat()).json()
}

#[test]
fn the_report_shows_what_would_have_been_decided() {
    let test = home_with_transcripts();
    let ran = audit(&test, &["--html", "audit.html"]);
    insta::assert_snapshot!(ran.stdout, @"
    harness        sessions    calls   denied    asked
    claude-code           1        7        1        0
    codex                 1        7        1        0
    copilot               1        7        1        0
    gemini                1        7        1        0
    opencode              1        7        1        0

    35 tool calls: 5 would have been denied, 0 asked
    no interruptions

    rule                           denied  asked  for example
    recursive-delete                    5      0  Bash rm -rf /home/dev/precious
                                                  exec_command rm -rf /home/dev/precious
                                                  run_shell_command rm -rf /home/dev/precious

    project                                       calls   denied    asked
    /home/dev/project                                35        5        0

    week of           calls   denied    asked
    2026-11-09           35        5        0
    ✓ page written to `audit.html`
    ");
    assert!(!test.home().join("ledger").exists(), "nothing is recorded");
    let page = std::fs::read_to_string(test.path("work/audit.html")).unwrap();
    for part in ["<h1>Audit of past sessions</h1>", "<b>35</b> tool calls", "recursive-delete", "week"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    for foreign in ["<script", "<link", "src=", "url("] {
        assert!(!page.contains(foreign), "the page loads nothing else: {foreign}");
    }
}

#[test]
fn a_report_can_be_narrowed() {
    let test = home_with_transcripts();
    let calls = |args: &[&str]| report(&test, args)["calls"].clone();
    assert_eq!(calls(&[]), 35);
    assert_eq!(calls(&["--harness", "codex"]), 7);
    assert_eq!(calls(&["--harness", "codex,gemini"]), 14);
    assert_eq!(calls(&["--since", "2026-11-15T19:52:00Z"]), 7, "the OpenCode session was the last");
    assert_eq!(calls(&["--since", "2999-01-01"]), 0);
    assert_eq!(calls(&["--project", "/home/dev"]), 35);
    assert_eq!(calls(&["--project", "/home/de"]), 0, "a name with the same prefix does not match");

    let ran = test.run(&["audit", "--harness", "cursor"]);
    assert_eq!(
        (ran.exit, ran.stderr.contains("transcripts of Cursor cannot be read")),
        (2, true),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("claude-code, codex, gemini, opencode, pi, copilot"), "{}", ran.stderr);
    let ran = TestContext::new().run(&["audit"]);
    assert_eq!((ran.exit, ran.stdout.lines().next()), (0, Some("no transcripts found")));
    assert!(ran.stdout.contains(".claude/projects"), "the searched places are named: {}", ran.stdout);
    assert!(ran.stdout.contains("next: run an agent"), "{}", ran.stdout);
}

#[test]
fn interruptions_are_counted_by_session_and_by_day() {
    let test = TestContext::new();
    let policy = json!({"version": 1, "rules": [
        {"id": "no-deploys", "match": {"shell": {"program": "deploy"}}, "verdict": "ask", "reason": "somebody should know"},
    ]});
    test.write("work/rules.yaml", &policy.to_string());
    let day =
        |day: u32, call: &str| claude_line("one", &format!("2026-11-{day:02}T08:00:00Z"), call, "deploy now");
    write_claude(&test, "one", &[day(2, "a"), day(2, "b"), day(3, "c"), day(12, "d")]);
    write_claude(&test, "two", &[claude_line("two", "2026-11-12T09:00:00Z", "e", "make")]);
    let report = report(&test, &["--policy", "rules.yaml"]);
    assert_eq!(
        report["interruptions"],
        json!({
            "asked": 4, "sessions": 2, "sessions_without": 1, "per_session": 2.0, "most_in_a_session": 4,
            "days": 3, "per_day": 1.33, "most_in_a_day": 2,
        })
    );
    assert_eq!(
        report["weeks"],
        json!([
            {"week": "2026-11-02", "calls": 3, "asked": 3, "denied": 0},
            {"week": "2026-11-09", "calls": 2, "asked": 1, "denied": 0},
        ])
    );
    assert_eq!(report["projects"], json!([{"project": "/srv/shop", "calls": 5, "asked": 4, "denied": 0}]));
    assert_eq!(
        report["rules"]["no-deploys"]["examples"].as_array().unwrap().len(),
        1,
        "duplicates are not listed as examples"
    );

    let ran = test.run(&["audit", "--policy", "nowhere.yaml"]);
    assert_eq!((ran.exit, ran.stderr.contains("there is no file")), (2, true), "{}", ran.stderr);
}

#[test]
fn rules_keep_their_state_per_session() {
    let test = TestContext::new();
    let policy = json!({"version": 1, "rules": [
        {"id": "thrice", "match": {"shell": {"program": "deploy"}}, "verdict": "deny", "limit": {"count": 2, "window": "1h"}, "reason": "enough"},
    ]});
    test.write("work/rules.yaml", &policy.to_string());
    let at = |minute: u32, call: &str| {
        claude_line("one", &format!("2026-11-02T08:{minute:02}:00Z"), call, "deploy now")
    };
    write_claude(&test, "one", &[at(1, "a"), at(2, "b"), at(3, "c")]);
    assert_eq!(report(&test, &["--policy", "rules.yaml"])["rules"]["thrice"]["denied"], 1);
}

#[test]
fn secrets_and_terminal_escapes_are_removed() {
    let test = TestContext::new();
    let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let command =
        format!("rm -rf ~/x; curl -H 'Authorization: Bearer {token}' '<b>\u{1b}[2J' https://example.com");
    write_claude(&test, "one", &[claude_line("one", "2026-11-02T08:00:00Z", "a", &command)]);
    let shown = audit(&test, &["--html", "audit.html"]).stdout;
    let page = std::fs::read_to_string(test.path("work/audit.html")).unwrap();
    let json = audit(&test, &["--json"]).stdout;
    for text in [&shown, &page, &json] {
        assert!(text.contains("rm -rf ~/x"), "{text}");
        assert!(!text.contains("a1B2c3") && !text.contains('\u{1b}'), "{text}");
    }
    assert!(page.contains("&lt;b&gt;") && !page.contains("'<b>"), "{page}");
}

#[test]
fn unreadable_files_are_reported_and_the_rest_counts() {
    let test = home_with_transcripts();
    let good = claude_line("one", "2026-11-02T08:00:00Z", "a", "ls");
    write_claude(
        &test,
        "one",
        &["{\"type\":\"hologram\"}".to_owned(), "no json".to_owned(), good, "{\"type".to_owned()],
    );
    test.write(
        "person/.local/share/opencode/opencode.db",
        "this is no database, and never was one; it is only long enough to look like it might be one of them",
    );
    std::os::unix::fs::symlink("/etc/passwd", test.path("person/.claude/projects/link.jsonl")).unwrap();
    let said = report(&test, &[]);
    assert_eq!(said["calls"], 35 - 7 + 1);
    assert_eq!(
        said["unread"],
        json!([
            {"harness": "claude-code", "why": "invalid JSON", "count": 2},
            {"harness": "claude-code", "why": "of unknown type `hologram`", "count": 1},
        ])
    );
    let left_out = said["left_out"].as_array().unwrap();
    let why: Vec<_> = left_out.iter().map(|one| (one["harness"].as_str(), one["why"].as_str())).collect();
    assert_eq!(
        why,
        [(Some("claude-code"), Some("symbolic link")), (Some("opencode"), Some("file is not a database"))]
    );
    let shown = audit(&test, &[]).stdout;
    assert!(shown.contains("not read claude-code: 2 parts invalid JSON\n"), "{shown}");
    assert!(shown.contains("link.jsonl`: symbolic link\n"), "{shown}");
}

#[test]
fn a_file_without_read_permission_is_named() {
    use std::os::unix::fs::PermissionsExt as _;
    let test = TestContext::new();
    write_claude(&test, "one", &[claude_line("one", "2026-11-02T08:00:00Z", "a", "ls")]);
    let file = test.path("person/.claude/projects/-srv-shop/one.jsonl");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o000)).unwrap();
    // Root can read every file, so the test runs as another account.
    std::fs::set_permissions(test.path(""), std::fs::Permissions::from_mode(0o755)).unwrap();
    let look = || test.run(&["audit"]);
    let ran = if rustix::process::getuid().is_root() { as_stranger(look) } else { look() };
    assert_eq!(ran.exit, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("one.jsonl`: Permission denied"), "{}", ran.stdout);
}
