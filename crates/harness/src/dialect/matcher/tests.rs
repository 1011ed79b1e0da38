// SPDX-License-Identifier: Apache-2.0 OR MIT

use serde_json::{Value, json};
use tenterhook_event::{EventId, Timestamp, ToolCall};

use super::*;
use crate::dialect::find;

fn event(kind: Kind) -> Event {
    let (id, ts) = (EventId::from_parts(0, 0), Timestamp::from_unix_ms(0));
    Event::new(id, ts, "x", kind, "x")
}

fn call(tool: &str, args: Value) -> Event {
    let mut event = event(Kind::PreTool);
    event.cwd = Some("/w".into());
    event.tool = Some(ToolCall::new(tool, args));
    event
}

fn caused(kind: Kind, cause: &str) -> Event {
    let mut event = event(kind);
    event.detail.cause = Some(cause.to_owned());
    event
}

fn admits(dialect: &str, matcher: &str, event: &Event) -> bool {
    find(dialect).unwrap().matcher(Some(matcher)).0.admits(event).is_ok()
}

fn tool(dialect: &str, matcher: &str, name: &str) -> bool {
    admits(dialect, matcher, &call(name, json!({})))
}

#[test]
fn claude_s_matchers_hit_what_was_measured() {
    for matcher in ["Bash", "Write|Bash", "Bash,Write", ".*", "*", "", "^Ba.*", "Write, Bash"] {
        assert!(tool("claude", matcher, "Bash"), "{matcher}");
    }
    for matcher in ["bash", "Bas", "Bash(touch *)", "mcp__memory", "^$"] {
        assert!(!tool("claude", matcher, "Bash"), "{matcher}");
    }
}

#[test]
fn claude_matches_each_event_by_its_own_field() {
    assert!(admits("claude", "startup|resume", &caused(Kind::SessionStart, "resume")));
    assert!(!admits("claude", "startup", &caused(Kind::SessionStart, "resume")));
    assert!(!admits("claude", "manual", &caused(Kind::PreCompact, "auto")));
    assert!(!admits("claude", "idle_prompt", &caused(Kind::Notification, "permission_prompt")));
    let mut agent = event(Kind::SubagentStop);
    agent.agent.kind = Some("Explore".into());
    assert!(admits("claude", "Explore", &agent) && !admits("claude", "Plan", &agent));
    for kind in [Kind::Stop, Kind::Prompt, Kind::Other] {
        assert!(admits("claude", "whatever", &event(kind)), "{kind} takes no matcher");
    }
    assert!(admits("claude", "startup", &event(Kind::SessionStart)), "nothing to compare with");
}

#[test]
fn llxprt_s_matchers_are_expressions_on_tools_and_texts_elsewhere() {
    for dialect in ["llxprt", "llxprt-2026-08", "gemini"] {
        assert!(tool(dialect, " write_* ", "overwrite"));
        assert!(tool(dialect, "^(?!read_)", "write_file") && !tool(dialect, "^(?!read_)", "read_file"));
        assert!(!admits(dialect, "startup|resume", &caused(Kind::SessionStart, "startup")));
        assert!(admits(dialect, "bogus", &caused(Kind::Notification, "ToolPermission")));
    }
    let (matcher, warning) = find("gemini").unwrap().matcher(Some("[broken"));
    assert_eq!(
        warning.as_deref(),
        Some("invalid regular expression `[broken` (a `[` without its `]`): only that exact name matches")
    );
    assert!(matcher.admits(&call("[broken", json!({}))).is_ok());
    assert_eq!(
        matcher.admits(&call("broken", json!({}))).unwrap_err().to_string(),
        "the tool is `broken`, not `[broken`"
    );
}

#[test]
fn our_own_matchers_take_names_globs_classes_and_expressions() {
    for (matcher, hit, miss) in [
        ("Write|Edit", "Edit", "MultiEdit"),
        ("mcp__*", "mcp__a__b", "Bash"),
        ("class:shell", "run_shell_command", "Read"),
        ("class:shell | Read", "Read", "Write"),
        ("/^(Multi)?Edit$/", "MultiEdit", "NotebookEdit"),
    ] {
        assert!(tool("native", matcher, hit), "{matcher} {hit}");
        assert!(!tool("native", matcher, miss), "{matcher} {miss}");
    }
    assert!(admits("native", "*", &event(Kind::Stop)) && !admits("native", "Bash", &event(Kind::Stop)));
    for broken in ["class:shel", "/(/", "a[b", "A||B"] {
        let (matcher, warning) = find("native").unwrap().matcher(Some(broken));
        assert!(warning.is_some() && matcher.admits(&call("Bash", json!({}))).is_ok(), "{broken}");
    }
}

#[test]
fn a_matcher_that_takes_too_long_lets_the_hook_run_and_is_reported() {
    let (matcher, warning) = find("claude").unwrap().matcher(Some("^(?:(?:a|b|ab)(?!z))*(?<=z)"));
    assert_eq!(warning, None);
    let note = matcher.evaluate(&call(&"ab".repeat(64), json!({}))).unwrap();
    assert!(note.unwrap().contains("takes too long"));
}

#[test]
fn every_field_of_an_a3s_matcher_has_to_hold() {
    let admits = |matcher: Value, event: &Event| {
        let matcher: A3sMatcher = serde_json::from_value(matcher).unwrap();
        EventMatcher::a3s(&matcher).unwrap().admits(event).is_ok()
    };
    let write = call("Write", json!({"file_path": "a/b/.env"}));
    assert!(admits(json!({"tool": "Write", "pathPattern": "*.env"}), &write));
    assert!(admits(json!({"path_pattern": "a/**"}), &write), "from where the agent works");
    assert!(!admits(json!({"path_pattern": "b/**"}), &write));
    assert!(!admits(json!({"tool": "Edit", "path_pattern": "*.env"}), &write));
    let bash = call("Bash", json!({"command": "rm -rf /"}));
    assert!(admits(json!({"command_pattern": r"rm\s+-rf"}), &bash));
    assert!(!admits(json!({"commandPattern": "mkfs"}), &bash));
    assert!(!admits(json!({"path_pattern": "*"}), &bash), "it names no path");
    assert!(admits(json!({}), &event(Kind::Stop)) && !admits(json!({"tool": "Bash"}), &event(Kind::Stop)));
}

#[test]
fn an_a3s_matcher_that_cannot_be_read_is_refused() {
    for matcher in
        [json!({"command_pattern": "(x"}), json!({"path_pattern": "a[b"}), json!({"path_pattern": "{a"})]
    {
        let matcher: A3sMatcher = serde_json::from_value(matcher).unwrap();
        assert!(EventMatcher::a3s(&matcher).is_err(), "{matcher}");
    }
    assert!(serde_json::from_value::<A3sMatcher>(json!({"tol": "Bash"})).is_err());
}

#[test]
fn a_regular_expression_without_its_slashes_is_pointed_out() {
    for text in ["Ba.*", "^Bash$", "mcp__(a|b)", "Bash("] {
        let (_, warning) = crate::dialect::NATIVE.matcher(Some(text));
        assert!(warning.is_some_and(|warning| warning.contains(&format!("/{text}/"))), "{text}");
    }
    for text in ["Bash", "Write|Edit", "mcp__*", "/Ba.*/", "class:shell", "*"] {
        assert_eq!(crate::dialect::NATIVE.matcher(Some(text)).1, None, "{text}");
    }
}
