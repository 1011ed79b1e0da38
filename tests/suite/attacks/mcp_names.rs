// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A rule on an MCP server or tool matches every client's spelling of the name.

use serde_json::{Value, json};

use super::native_payloads::{home_with_project, payload, verdict, verdict_on};
use crate::context::TestContext;

fn rule(test: &TestContext, server: &str, tool: &str, verdict: &str) {
    let rule =
        format!("{{id: x, match: {{mcp: {{server: {server:?}, tool: {tool:?}}}}}, verdict: {verdict}}}");
    test.write("home/policy.yaml", &format!("version: 1\nrules:\n  - {rule}\n"));
}

/// How clients spell the name of a server's tool `erase`: server, harness, spelling, and further fields of the payload.
fn names() -> Vec<(&'static str, &'static str, &'static str, Value)> {
    let named = |server: &str| json!({"mcp_context": {"server_name": server}});
    vec![
        ("records", "claude-code", "mcp__records__erase", json!({})),
        ("my-rec_ords", "claude-code", "mcp__my-rec_ords__erase", json!({})),
        ("my.server", "claude-code", "mcp__my_server__erase", json!({})),
        ("brave-search", "codex", "mcp__brave_search__erase", json!({})),
        ("my-rec_ords", "codex", "mcp__my_rec_ords__erase", json!({})),
        ("google_drive", "opencode", "google_drive_erase", json!({})),
        ("my-rec_ords", "opencode", "my-rec_ords_erase", json!({})),
        ("records", "gemini", "mcp_records_erase", named("records")),
        ("my-rec_ords", "gemini", "mcp_my-rec_ords_erase", named("my-rec_ords")),
        ("my_records", "gemini", "mcp_my_records_erase", json!({})),
        ("records", "llxprt", "mcp__records__erase", named("records")),
        ("records", "llxprt", "records__erase", named("records")),
        ("records", "llxprt", "records__erase", json!({})),
        ("my-rec_ords", "llxprt", "my-rec_ords__erase", named("my-rec_ords")),
        ("my-rec_ords", "qwen", "mcp__my-rec_ords__erase", json!({})),
        ("my__server", "qwen", "mcp__my__server__erase", json!({})),
        ("my-rec_ords", "copilot", "my-rec_ords-erase", json!({})),
        ("brave-search", "copilot", "brave-search/erase", json!({})),
        ("my__server", "cline", "my__server__erase", json!({})),
    ]
}

fn verdict_of(test: &TestContext, harness: &str, name: &str, more: &Value) -> String {
    let (event, mut payload) = payload(test, harness, name, &json!({"record": "seven"}));
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    verdict_on(test, harness, event, &payload)
}

#[test]
fn a_denied_tool_of_a_server_does_not_run_under_any_spelling() {
    let test = home_with_project();
    for (server, harness, name, more) in names() {
        for tool in ["erase", "Erase", "er*"] {
            rule(&test, server, tool, "deny");
            assert_eq!(verdict_of(&test, harness, name, &more), "deny", "{server} {harness} {name} {tool}");
        }
        rule(&test, server, "note", "deny");
        // The built-in rules ask about a tool that erases.
        assert_eq!(verdict_of(&test, harness, name, &more), "ask", "{server} {harness} {name}");
    }
}

/// Settings in which each client has two servers.
fn settings(test: &TestContext) {
    let servers = r#"{"google": {"command": "x"}, "google_drive": {"command": "x"}}"#;
    test.write("person/.config/opencode/opencode.json", &format!("{{\"mcp\": {servers}}}"));
    test.write("person/.codex/config.toml", "[mcp_servers.brave-search]\ncommand = 'x'\n");
    test.write("person/.gemini/settings.json", &format!("{{\"mcpServers\": {servers}}}"));
}

#[test]
fn server_names_in_a_clients_settings_decide_where_a_name_is_split() {
    let test = home_with_project();
    settings(&test);
    for (server, harness, name, more) in names() {
        rule(&test, server, "erase", "deny");
        let said = verdict_of(&test, harness, name, &more);
        assert!(["ask", "deny"].contains(&said.as_str()), "{server} {harness} {name}: {said}");
    }
    // In Codex only one server matches this spelling; in OpenCode two servers could be meant.
    rule(&test, "brave-search", "web", "allow");
    assert_eq!(verdict(&test, "codex", "mcp__brave_search__web", &json!({})), "allow");
    rule(&test, "google_drive", "read", "allow");
    assert_eq!(verdict(&test, "opencode", "google_drive_read", &json!({})), "none");
    test.write("person/.config/opencode/opencode.json", r#"{"mcp": {"google_drive": {}}}"#);
    assert_eq!(verdict(&test, "opencode", "google_drive_read", &json!({})), "allow");
    // Without the client's settings it is ambiguous where the server's name ends.
    std::fs::remove_file(test.path("person/.config/opencode/opencode.json")).unwrap();
    assert_eq!(verdict(&test, "opencode", "google_drive_read", &json!({})), "none");
}

#[test]
fn a_call_without_a_daemon_knows_the_servers_from_the_snapshot() {
    let test = home_with_project();
    rule(&test, "google_drive", "read", "allow");
    test.write("person/.config/opencode/opencode.json", r#"{"mcp": {"google_drive": {}}}"#);
    assert_eq!(test.run(&["install", "opencode", "--yes"]).exit, 0);
    std::fs::remove_file(test.path("person/.config/opencode/opencode.json")).unwrap();
    let (event, sent) = payload(&test, "opencode", "google_drive_read", &json!({}));
    let args = ["hook", "--fallback", "a test", "opencode", event];
    let ran = test.run_with(&args, sent.to_string().as_bytes());
    let leaf = test.decisions().pop().unwrap();
    assert_eq!(leaf["facts"]["rules"], "the snapshot", "{} {}", ran.stderr, leaf);
    assert_eq!(leaf["verdict"], "allow");
}

#[test]
fn a_rule_on_a_server_that_no_client_has_is_reported() {
    let test = home_with_project();
    settings(&test);
    rule(&test, "brave_search", "erase", "deny");
    assert!(!test.run(&["check"]).stdout.contains("MCP server"));
    rule(&test, "recrods", "erase", "deny");
    let said = test.run(&["check"]).stdout;
    assert!(said.contains("unknown MCP server `recrods`: no installed client has it"), "{said}");
    assert!(said.contains("configured servers: brave-search, google, google_drive"), "{said}");
    let said = test.run(&["doctor"]).stdout;
    assert!(said.contains("unknown MCP server `recrods`: no installed client has it"), "{said}");
    rule(&test, "rec*", "erase", "deny");
    assert!(!test.run(&["check"]).stdout.contains("MCP server"), "a pattern may be about servers to come");
}
