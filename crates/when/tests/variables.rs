// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Checks what a condition can express, and the errors for invalid conditions.

mod common;

use common::{ask, bare, calling, complaint, full};
use serde_json::json;
use tenterhook_event::EventKind;
use tenterhook_when::{VARIABLES, When, WhenError};

#[test]
fn every_field_of_every_variable_can_be_read() {
    for text in [
        r#"event.kind == "pre-tool""#,
        r#"event.native == "PreToolUse""#,
        r#"event.id == "00000000010000000000000007""#,
        r#"event.ts == "2025-11-15T08:00:00.000Z" && event.ts > "2025""#,
        r#"event.source == "claude-code""#,
        r#"event.session == "s-1""#,
        r#"event.turn == "t-1""#,
        "event.cwd.startsWith(event.project)",
        r#"event.project == "/work/app""#,
        r#"tool.name == "Bash""#,
        r#"tool.class == "shell""#,
        r#"tool.args.timeout == 60 && tool.args.deep.er.x && tool.args["timeout"] > 59"#,
        r#"tool.use_id == "u-1""#,
        r#"tool.command == "make deploy""#,
        "tool.paths == [] && tool.urls.size() == 0",
        r#"agent.model == "opus""#,
        r#"agent.user in ["ada", "grace"]"#,
        r#"agent.id == "a-2""#,
        r#"agent.type == "explore""#,
        r#"agent.parent == "a-1""#,
        r#"detail.prompt == "ship it""#,
        r#"detail.response == "done""#,
        r#"detail.cause == "resume""#,
        r#"detail.message == "hello""#,
        r#"detail.error.endsWith("1")"#,
        "detail.stop_hook_active",
        r#"detail.tool_output.lines[1] == "b" && detail.tool_output.code == 0"#,
        "detail.tool_output.ratio < 1.0 && detail.tool_output.none == null",
        r#"detail.model_request.messages.all(m, m.role == "user")"#,
        r#"detail.model_response == "yes""#,
        "detail.duration_ms >= 1500",
    ] {
        assert_eq!(ask(&full(), text), Ok(true), "{text}");
    }
}

#[test]
fn the_table_of_variables_is_what_a_full_event_has() {
    let mcp = calling("mcp__github__create_issue", json!({"url": "https://x.test"}));
    for (variable, fields) in VARIABLES {
        for field in *fields {
            let event = if *field == "mcp" { &mcp } else { &full() };
            let text = format!("has({variable}.{field}) && type({variable}.{field}) != null_type");
            assert_eq!(ask(event, &text), Ok(true), "{text}");
            let whole = format!("\"{field}\" in {variable}");
            assert_eq!(ask(event, &whole), Ok(true), "{whole}");
        }
    }
}

#[test]
fn paths_urls_commands_and_servers_are_found_whatever_the_harness_calls_them() {
    let read = calling("read_files", json!({"files": ["a", {"path": "/etc/passwd"}]}));
    assert_eq!(ask(&read, r#"tool.paths.exists(p, p.startsWith("/etc/"))"#), Ok(true));
    assert_eq!(ask(&read, "has(tool.command)"), Ok(false));
    let fetch = calling("WebFetch", json!({"url": "http://x.test"}));
    assert_eq!(ask(&fetch, r#"tool.urls.all(u, u.startsWith("https:"))"#), Ok(false));
    let argv = calling("shell", json!({"command": ["git", "push"]}));
    assert_eq!(ask(&argv, r#"tool.command == "git push""#), Ok(true));
    let mcp = calling("mcp__github__create_issue", json!({}));
    assert_eq!(ask(&mcp, r#"tool.mcp.server == "github" && tool.mcp.tool == "create_issue""#), Ok(true));
    assert_eq!(ask(&mcp, r#"tool.mcp == {"server": "github", "tool": "create_issue"}"#), Ok(true));
    assert_eq!(ask(&full(), "has(tool.mcp.server)"), Ok(false));
}

#[test]
fn a_missing_field_is_an_error_and_has_asks_for_it_at_any_depth() {
    let prompt = bare(EventKind::Prompt);
    assert_eq!(
        complaint(&prompt, r#"tool.args.command.contains("x")"#),
        "the event has no `tool.args.command` (test with `has(tool.args.command)` first)"
    );
    for text in
        ["tool.class == \"shell\"", "tool.paths.size() == 0", "event.cwd != \"\"", "detail.prompt == \"\""]
    {
        assert!(matches!(ask(&prompt, text), Err(WhenError::Missing(_))), "{text}");
    }
    for text in ["has(tool.args.command)", "has(tool.args.a.b.c.d)", "has(tool.mcp.server)", "has(event.cwd)"]
    {
        assert_eq!(ask(&prompt, text), Ok(false), "{text}");
    }
    assert_eq!(ask(&prompt, r#"has(tool.args.command) && tool.args.command.contains("x")"#), Ok(false));
    assert_eq!(ask(&prompt, "tool == {} && agent == {}"), Ok(true));
    assert_eq!(ask(&full(), "has(tool.args.deep.er.x) && !has(tool.args.deep.er.y)"), Ok(true));
    // A string has no fields, so `has` is false.
    assert_eq!(ask(&full(), "has(tool.args.command.x)"), Ok(false));
}

#[test]
fn whole_values_compare_and_loops_bind_their_own_names() {
    assert_eq!(ask(&full(), r#"tool.args.deep == {"er": {"x": true}}"#), Ok(true));
    assert_eq!(ask(&full(), r#"tool["name"] == "Bash" && "command" in tool.args"#), Ok(true));
    assert_eq!(ask(&full(), r#"["x"].exists(tool, tool == "x") && tool.name == "Bash""#), Ok(true));
    assert_eq!(ask(&full(), r#"["a", "b"].map(x, x + tool.name) == ["aBash", "bBash"]"#), Ok(true));
    assert_eq!(
        ask(&full(), "[1, 2, 3].filter(x, x > 1).size() == 2 && [1, 2].exists_one(x, x == 2)"),
        Ok(true)
    );
    assert_eq!(ask(&full(), "tool.args.all(k, k.size() > 3)"), Ok(true));
}

#[test]
fn texts_are_unicode() {
    let event = calling("Bash", json!({"command": "grüße 🚀 世界", "schlüssel": 1}));
    assert_eq!(ask(&event, r#"tool.command.contains("🚀") && tool.command.size() == 10"#), Ok(true));
    assert_eq!(ask(&event, r#"tool.command.matches("^\\w+ . \\p{Han}+$")"#), Ok(true));
    assert_eq!(ask(&event, r#"tool.args["schlüssel"] == 1"#), Ok(true));
    assert_eq!(
        complaint(&event, r#""🚀🚀" == tol.name"#),
        "column 9: unknown variable `tol`; known: event, tool, agent, detail"
    );
}

#[test]
fn what_is_wrong_is_said_before_any_event_comes() {
    let refused = |text: &str| When::compile(text).expect_err(text).to_string();
    assert_eq!(
        refused("tol.name == 1"),
        "column 1: unknown variable `tol`; known: event, tool, agent, detail"
    );
    assert_eq!(
        refused("true && agent.name == 'x'"),
        "column 9: `agent` has no field `name`; it has model, user, id, type, parent"
    );
    assert_eq!(
        refused("[1].exists(x, y > 1)"),
        "column 15: unknown variable `y`; known: event, tool, agent, detail"
    );
    assert!(
        refused("tool.name.lower() == 'x'").contains("unknown function `lower`; known: contains, startsWith")
    );
    assert_eq!(
        refused("tool.name.matches(tool.class)"),
        "column 18: the pattern of `matches` must be a literal"
    );
    assert_eq!(refused("tool.name.matches('(a')"), "column 18: error: unclosed group");
    assert_eq!(refused("Foo{a: 1} == 1"), "column 4: unknown type `Foo`");
    for text in ["", "tool.name ==", "tool.name = 1", "\"open", "1 +\n* 2", "has(tool)", "a b", "tool.?name"]
    {
        let error = When::compile(text).expect_err(text);
        assert!(matches!(error, WhenError::Syntax { .. }), "{text}: {error}");
        assert_eq!(error.to_string().lines().count(), 1, "{error}");
    }
    assert!(matches!(When::compile("1 +\n* 2"), Err(WhenError::Syntax { line: 2, column: 1, .. })));
}

#[test]
fn an_answer_is_true_or_false() {
    for (text, message) in [
        ("tool.name", "column 5: the condition is a field of the event, never true or false"),
        ("tool.paths", "column 5: the condition is a field of the event, never true or false"),
        ("[true]", "column 1: the condition is a list, never true or false"),
        ("'Bash'", "column 1: the condition is a text, never true or false"),
        ("1 + 1", "column 3: the condition is the result of a calculation, never true or false"),
        ("size(tool.name)", "column 5: the condition is a value, never true or false"),
        ("true ? 1 : 2", "column 6: the condition is a constant, never true or false"),
        ("event", "column 1: the condition is a map, never true or false"),
    ] {
        let error = When::compile(text).expect_err(text).to_string();
        assert!(error.starts_with(message), "{text}: {error}");
    }
    for text in ["has(tool.name)", "tool.args.flag", "true ? 1 : false", "detail.stop_hook_active", "dyn(1)"]
    {
        assert!(When::compile(text).is_ok(), "{text}");
    }
    // If the type is known only during evaluation, the evaluation returns an error.
    assert_eq!(ask(&full(), "dyn(null)"), Err(WhenError::NotBoolean("null_type".to_owned())));
}

#[test]
fn failures_name_types_and_never_the_text_of_the_event() {
    let event = calling("Bash", json!({"command": "SECRET", "n": 1}));
    for (text, message) in [
        ("tool.args.n / 0 == 1", "division by zero"),
        ("tool.args.n % 0 == 1", "division by zero"),
        ("9223372036854775807 + tool.args.n > 0", "`add` overflows"),
        ("9223372036854775807 * 2 > 0", "`mul` overflows"),
        ("tool.command + 1 == ''", "`add` does not take values of these types"),
        ("tool.command - 'x' == ''", "`sub` does not take values of these types"),
        ("tool.command > 1", "found no matching overload for '_>_' applied to '(string, int)'"),
        ("tool.args.n.matches('x')", "a value of type int where string is needed"),
        ("tool.command && true", "found no matching overload for '_&&_' applied to '(string, bool)'"),
        ("[1][tool.args.n] == 1", "an index outside the list"),
        ("int(tool.command) == 1", "`int` failed"),
        ("tool.args.n.exists(x, true)", "a value of type int where iterable is needed"),
        ("tool.args['nix'] == 1", "no such key `nix`"),
    ] {
        assert_eq!(complaint(&event, text), message, "{text}");
    }
}
