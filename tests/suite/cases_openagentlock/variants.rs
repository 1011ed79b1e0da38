// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Cases that the case file does not cover: every construct of a policy, once matching and once not matching.

use serde_json::{Value, json};
use tenterhook_event::{Event, EventId, EventKind, Timestamp, ToolCall};
use tenterhook_policy_import::OpenAgentLockMode;

use super::{evaluate_events, import_policy};
use crate::context::TestContext;

const HOSTS: &str = r#"
version: 1
mode: enforce
gates:
  - id: net.egress
    match:
      any_of:
        - {tool: WebFetch}
        - {tool: Bash, command_regex: "\\b(curl|wget)\\b"}
        - {tool_prefix: "mcp_", any_url_regex: ["^https?://"]}
    evaluate: [{kind: host-allowlist, list: "__INLINE__:docs.example.org,API.example.org", on_hit: allow, on_miss: deny}]
"#;

const PACKAGES: &str = r#"
version: 1
mode: enforce
gates:
  - id: sc.pkg
    match: {tool: Bash, command_regex: "^(pip|npm|mypm) "}
    evaluate:
      - {kind: typosquat, reference: "__INLINE__:requests,numpy,flask", action_on_near_miss: deny, nudge: "check the spelling"}
      - {kind: allowlist, list: "__INLINE__:requests,numpy,flask", on_hit: allow, on_miss: deny}
  - {id: later, match: {tool: Bash, command_regex: "install"}, evaluate: [{kind: always, action: deny}]}
"#;

fn call(tool: &str, args: Value) -> Event {
    let (id, ts) = (EventId::from_parts(1, 1), Timestamp::from_unix_ms(1));
    let mut event = Event::new(id, ts, "claude-code", EventKind::PreTool, "PreToolUse");
    event.cwd = Some("/srv/app".to_owned());
    event.project = Some("/srv/app".to_owned());
    event.tool = Some(ToolCall::new(tool, args));
    event
}

fn bash(command: &str) -> Event {
    call("Bash", json!({"command": command}))
}

/// Result of an imported policy for each call: the reason of a deny, or `None`.
fn deny_reasons(policy: &str, events: &[Event]) -> Vec<Option<String>> {
    let yaml = import_policy(OpenAgentLockMode::Firewall, "policy.yaml", policy);
    let rulings = evaluate_events(&TestContext::new(), Some(&yaml), events);
    let said = rulings.into_iter().map(|ruling| match ruling["verdict"].as_str().unwrap() {
        "deny" => Some(ruling["reason"].as_str().unwrap().to_owned()),
        "none" => None,
        other => panic!("{other}: {ruling}"),
    });
    said.collect()
}

fn check(policy: &str, expected: &[(Event, Option<&str>)]) {
    let events: Vec<_> = expected.iter().map(|(event, _)| event.clone()).collect();
    for ((event, expected), said) in expected.iter().zip(deny_reasons(policy, &events)) {
        assert_eq!(said.as_deref(), *expected, "{:?}", event.tool);
    }
}

#[test]
fn hosts_on_the_list_pass_and_no_disguise_helps_the_others() {
    const NO: Option<&str> = Some("matched rule net.egress (deny)");
    let fetch = |url: &str| call("WebFetch", json!({"url": url}));
    check(
        HOSTS,
        &[
            (fetch("https://docs.example.org/a"), None),
            (fetch("https://API.EXAMPLE.org:8443/a?b"), None),
            (fetch("https://evil.example.net/"), NO),
            (fetch("https://docs.example.org.evil.net/"), NO),
            // The original mistakes the name before the `@` for the host.
            (fetch("https://docs.example.org@evil.example.net/"), NO),
            (bash("curl -s https://docs.example.org/x"), None),
            (bash("wget https://evil.example.net/x"), NO),
            // The original checks only the first address.
            (bash("curl https://docs.example.org/x https://evil.example.net/y"), NO),
            (bash("echo https://evil.example.net"), None),
            (bash("curl --help"), None),
            (call("mcp__web__get", json!({"url": "https://evil.example.net/"})), NO),
            (call("mcp_web_get", json!({"url": "https://docs.example.org/"})), None),
            (call("mcp__web__get", json!({"url": "ftp://evil.example.net/"})), None),
        ],
    );
}

#[test]
fn packages_on_the_list_pass_and_what_is_nearly_one_does_not() {
    const NO: Option<&str> = Some("matched rule sc.pkg (deny)");
    check(
        PACKAGES,
        &[
            (bash("pip install flask"), None),
            (bash("pip install --upgrade flask==2.0"), None),
            (bash("npm install requests@1"), None),
            (bash("pip install flsk"), NO),
            (bash("pip install numpyy"), NO),
            (bash("npm install leftpadx"), NO),
            // The original checks only the first name.
            (bash("pip install flask evil"), NO),
            (bash("pip install flask && pip install evil"), NO),
            // Tenterhook does not know this package manager.
            (bash("mypm install flask"), None),
            (bash("mypm install evil"), NO),
            (bash("mypm -q add --now \"flask>=2\""), None),
            (bash("mypm install flask-evil"), NO),
            (bash("mypm x;mypm -i flask/../evil"), NO),
            // A command without a package name is left to the next gate.
            (bash("pip install"), Some("matched rule later (deny)")),
            (bash("yarn install"), Some("matched rule later (deny)")),
        ],
    );
}

#[test]
fn paths_commands_and_tools_are_matched_as_in_the_original() {
    let policy = r#"
version: 1
mode: enforce
gates:
  - {id: off, disabled: false, match: {tool: Nothing}, evaluate: [{kind: always, action: deny}]}
  - {id: env, match: {any_path_regex: ["(^|/)\\.env(\\..+)?$"]}, evaluate: [{kind: always, action: deny}]}
  - {id: keys, match: {tool: Read, path_glob: "**/keys/*.pem"}, evaluate: [{kind: always, action: deny}]}
  - {id: drop, match: {tool_prefix: "mcp_", any_command_regex: ["(?i)drop table", "truncate"]}, evaluate: [{kind: always, action: deny}]}
  - {id: quiet, match: {tool: Bash, command_regex: "^make "}, evaluate: [{kind: always, action: allow}]}
  - {id: loud, match: {tool: Bash, any_command_regex: ["^make clean", "^shutdown$"]}, evaluate: [{kind: always, action: deny}]}
"#;
    let deny = |gate: &str| Some(format!("matched rule {gate} (deny)"));
    let (env, keys, drop, loud) = (deny("env"), deny("keys"), deny("drop"), deny("loud"));
    check(
        policy,
        &[
            (call("Read", json!({"file_path": "/srv/app/.env"})), env.as_deref()),
            (call("mcp__fs__read", json!({"path": "/srv/app/.env.local"})), env.as_deref()),
            (call("Write", json!({"file_path": "/srv/app/env.txt", "content": ".env"})), None),
            (call("Read", json!({"file_path": "/srv/keys/a.pem"})), keys.as_deref()),
            (call("Read", json!({"file_path": "/srv/keys/deep/a.pem"})), None),
            (call("Write", json!({"file_path": "/srv/keys/a.pem", "content": ""})), None),
            (call("mcp__db__run", json!({"command": "DROP TABLE x"})), drop.as_deref()),
            (bash("truncate x"), None),
            (bash("make clean"), None),
            (bash("shutdown"), loud.as_deref()),
            (bash("echo shutdown"), None),
        ],
    );
}

// seed: 001-057
#[test]
fn a_daemon_in_monitor_mode_denies_and_suggests_nothing() {
    let policy = "version: 1\nmode: enforce\ngates:\n  - {id: t.foo, match: {tool: Bash, command_regex: \"^foo \"}, \
                  evaluate: [{kind: always, action: deny, nudge: \"run bar\"}]}\n";
    let test = TestContext::new();
    test.write("home/policy.yaml", &import_policy(OpenAgentLockMode::Monitor, "policy.yaml", policy));
    let ran = test.run_with(&["hook", "claude-code", "pre-tool-use"], test.bash("foo --now").as_bytes());
    assert_eq!((ran.exit, ran.stdout.as_str()), (0, ""), "{}", ran.stderr);
    let leaf = &test.decisions()[0];
    assert_eq!((&leaf["verdict"], &leaf["nudge"]), (&json!("none"), &Value::Null));
    let step = &leaf["trace"][0];
    assert_eq!(
        (&step["by"], &step["status"], &step["decision"]),
        (&json!("rule:t.foo"), &json!("monitored"), &json!("deny"))
    );
}

#[test]
fn a_monitor_gate_is_escalated_with_its_suggestion() {
    let policy = "version: 1\nmode: enforce\ngates:\n  - {id: t.foo, mode: monitor, match: {tool: Bash, command_regex: \
                  \"^foo \"}, evaluate: [{kind: always, action: deny, nudge: \"run bar\"}]}\n";
    let test = TestContext::new();
    test.write("home/policy.yaml", &import_policy(OpenAgentLockMode::Firewall, "policy.yaml", policy));
    let ran = test.run_with(&["hook", "claude-code", "pre-tool-use"], test.bash("foo --now").as_bytes());
    assert_eq!(
        ran.json()["hookSpecificOutput"]["permissionDecisionReason"],
        "monitor match escalated by daemon firewall mode (rule t.foo)\n\n→ Suggested: run bar"
    );
}
