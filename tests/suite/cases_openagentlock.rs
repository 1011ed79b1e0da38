// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The lines of `tests/cases/openagentlock.jsonl`: decisions that OpenAgentLock, another guard for agents, made by its
//! own policies.
//!
//! If a line contains a policy, the policy is imported and applied, and both the decision and the message
//! must be equal. `@baseline` means OpenAgentLock's built-in gates. For these lines our built-in rules must
//! make the same decision, with their own message. Unlike OpenAgentLock's reply, our reply to a denied call
//! has no `continue: false`, because that would keep the model from reading the reason.

mod daemon_down;
mod variants;

use std::path::Path;

use serde_json::{Value, json};
use tenterhook_event::{Event, EventId, EventKind, Timestamp, ToolCall};
use tenterhook_policy_import::{OpenAgentLockMode, import_openagentlock, import_openagentlock_in_mode};

use crate::context::{CommandOutput, TestContext, repository};
use crate::terminal_user::SocketDaemon;

/// Lines that OpenAgentLock denies and our rules do not deny yet. When our rules deny a line, it must be
/// removed from this list.
const NOT_YET_DENIED: &[&str] = &[];

/// Lines that this module runs and whose result differs on purpose.
const INTENDED_DIFFERENCES: &[(&str, &str)] = &[
    ("cc-empty-stdin", "a payload that cannot be read is refused"),
    ("cc-unknown-event", "an unknown event is recorded and goes on: a slip in a file does not stop an agent"),
    ("cu-deny", "a directory inside the project may be deleted"),
];

/// Lines in which no daemon answers. `daemon_down.rs` runs them.
const DAEMON_DOWN_CASES: &[&str] = &["cc-daemon-down", "cc-daemon-http401", "cx-down", "cu-down", "ge-down"];

/// A line of the file.
struct OpenAgentLockCase {
    id: String,
    harness: String,
    event: String,
    stdin: String,
    /// Policy in the line; `None` for OpenAgentLock's built-in policy.
    policy: Option<String>,
    daemon: OpenAgentLockMode,
    /// Files of repositories, by path.
    files: Vec<(String, String)>,
    /// Message if the call is denied; `None` if it proceeds.
    denied: Option<String>,
    /// The gate that decided, if the line names it.
    gate: Option<String>,
}

fn cases() -> Vec<OpenAgentLockCase> {
    let text = std::fs::read_to_string(repository().join("tests/cases/openagentlock.jsonl")).unwrap();
    text.lines().map(|line| OpenAgentLockCase::new(&serde_json::from_str(line).unwrap())).collect()
}

impl OpenAgentLockCase {
    fn new(line: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let said = &line["expected_stdout_or_shape"]["value"];
        let reason = ["stopReason", "agent_message"].iter().find_map(|key| said[*key].as_str());
        let files = line["policy"]["files"].as_object().into_iter().flatten();
        Self {
            id: text(&line["id"]),
            harness: text(&line["harness"]),
            event: text(&line["event"]),
            stdin: text(&line["stdin"]),
            policy: line["policy"]["policy"]
                .as_str()
                .filter(|text| !text.starts_with('@'))
                .map(ToOwned::to_owned),
            daemon: if line["policy"]["daemon_mode"] == "monitor" {
                OpenAgentLockMode::Monitor
            } else {
                OpenAgentLockMode::Firewall
            },
            files: files.map(|(path, content)| (path.clone(), text(content))).collect(),
            denied: (line["expected_exit"] == 2).then(|| reason.unwrap_or_default().to_owned()),
            gate: line["expected_ledger"]["rule_id"].as_str().map(ToOwned::to_owned),
        }
    }

    fn listed(&self, list: &[(&str, &str)]) -> bool {
        list.iter().any(|(id, _)| *id == self.id)
    }

    fn is_run(&self) -> bool {
        !DAEMON_DOWN_CASES.contains(&self.id.as_str()) && !self.listed(INTENDED_DIFFERENCES)
    }

    /// The call as a Tenterhook event, which the harness's codec must produce.
    fn normal(&self) -> Event {
        let fields: Value = serde_json::from_str(&self.stdin).unwrap();
        let mut args = fields["tool_input"].clone();
        let name = fields["tool_name"].as_str().unwrap();
        // For an MCP tool, the server's address is used if the call itself contains no address.
        if name.starts_with("mcp_") && args["url"].is_null() && !args["server_url"].is_null() {
            args["url"] = args["server_url"].clone();
        }
        let (id, ts) = (EventId::from_parts(1, 1), Timestamp::from_unix_ms(1));
        let mut event = Event::new(id, ts, &self.harness, EventKind::PreTool, "PreToolUse");
        event.cwd = fields["cwd"].as_str().or(fields["workspace_roots"][0].as_str()).map(ToOwned::to_owned);
        event.project.clone_from(&event.cwd);
        event.tool = Some(ToolCall::new(name, args));
        event
    }
}

/// Evaluates events with an imported policy alone, or with our built-in rules alone if there is none.
fn evaluate_events(test: &TestContext, policy: Option<&str>, events: &[Event]) -> Vec<Value> {
    let lines: Vec<_> = events.iter().map(|event| serde_json::to_string(event).unwrap()).collect();
    let mut args = vec!["judge", "--jsonl"];
    let path = policy.map(|yaml| test.write("imported.yaml", yaml).to_str().unwrap().to_owned());
    if let Some(path) = &path {
        args.extend(["--no-baseline", "--policy", path]);
    }
    let ran = test.run_with(&args, lines.join("\n").as_bytes());
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
    ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Imports a policy and checks that the import omits no part of it.
fn import_policy(daemon: OpenAgentLockMode, name: &str, text: &str) -> String {
    let imported = import_openagentlock_in_mode(daemon, name, text).unwrap();
    assert_eq!(imported.left_out, [], "{text}");
    imported.yaml
}

#[test]
fn every_line_is_run_or_has_a_reason() {
    let cases = cases();
    let known = |id: &str| cases.iter().any(|case| case.id == id);
    for id in INTENDED_DIFFERENCES.iter().map(|(id, _)| id).chain(DAEMON_DOWN_CASES) {
        assert!(known(id), "no such line: {id}");
    }
    assert!(NOT_YET_DENIED.iter().all(|id| known(id)));
    let run = cases.iter().filter(|case| case.is_run()).count();
    assert_eq!((cases.len(), run, INTENDED_DIFFERENCES.len(), DAEMON_DOWN_CASES.len()), (32, 24, 3, 5));
}

#[test]
fn an_imported_policy_decides_as_the_original_and_in_its_words() {
    for case in cases().iter().filter(|case| case.is_run()) {
        let Some(policy) = &case.policy else { continue };
        let test = TestContext::new();
        let yaml = import_policy(case.daemon, "policy.yaml", policy);
        let ruling = &evaluate_events(&test, Some(&yaml), &[case.normal()])[0];
        // Only the reason is compared, without the suggestion that follows it.
        let reason = case.denied.as_deref().map(|reason| reason.split("\n\n→ ").next().unwrap());
        let expected = if reason.is_some() { "deny" } else { "none" };
        assert_eq!(
            (ruling["verdict"].as_str(), ruling["reason"].as_str()),
            (Some(expected), reason),
            "{}",
            case.id
        );
    }
}

/// The message for a denied call in a harness's own format.
fn deny_message(harness: &str, reply: &Value) -> Option<String> {
    let (said, why) = match harness {
        "cursor" => (&reply["permission"], &reply["agent_message"]),
        "gemini" => (&reply["decision"], &reply["reason"]),
        _ => {
            let specific = &reply["hookSpecificOutput"];
            (&specific["permissionDecision"], &specific["permissionDecisionReason"])
        }
    };
    (said == "deny").then(|| why.as_str().unwrap().to_owned())
}

/// Tests the command-line program without a daemon.
// seed: 001-049, 001-054, 001-058
#[test]
fn the_whole_program_answers_every_harness_with_the_same_decision_and_words() {
    check_answers(|test, case, stdin| test.run_with(&["hook", &case.harness, &case.event], stdin.as_bytes()));
}

/// Tests an installation: the shim that harnesses start, and a daemon.
// seed: 001-004, 001-054, 001-058
#[test]
fn the_installed_hook_and_a_daemon_answer_with_the_same_decision_and_words() {
    let installed = installed_home();
    check_answers(|test, case, stdin| {
        for part in ["home.json", "bin/tenterhook-hook"] {
            std::fs::create_dir_all(test.home().join("bin")).unwrap();
            std::fs::copy(installed.home().join(part), test.home().join(part)).unwrap();
        }
        let guard = SocketDaemon::of(test);
        let program = test.home().join("bin/tenterhook-hook");
        // The full program is absent, so it cannot decide in the daemon's place.
        let ran = test.run_command(test.command(&program, &[&case.harness, &case.event]), stdin.as_bytes());
        guard.terminate();
        ran
    });
}

fn installed_home() -> TestContext {
    let test = TestContext::new();
    let ran = test.run(&["install", "claude-code", "--yes"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    test
}

/// Checks the reply to the harness, and the record.
fn check_answers(hook: impl Fn(&TestContext, &OpenAgentLockCase, &str) -> CommandOutput) {
    // One of our rules denies these lines as well.
    const DENIED_BY_OUR_RULES_TOO: &[&str] = &["ev-path-glob"];
    for case in cases().iter().filter(|case| case.is_run()) {
        let test = TestContext::new();
        // Paths in the lines are replaced with paths in the test's directory.
        let here = |text: &str| text.replace("/tmp/", &format!("{}/", test.path("tree").display()));
        if let Some(policy) = &case.policy {
            test.write("home/policy.yaml", &import_policy(case.daemon, "policy.yaml", policy));
        }
        for (path, text) in &case.files {
            let path = here(path).replace(".agentlock.yaml", ".tenterhook.yaml");
            std::fs::create_dir_all(Path::new(&path).parent().unwrap()).unwrap();
            std::fs::write(&path, import_openagentlock(".agentlock.yaml", text).unwrap().yaml).unwrap();
        }
        let ran = hook(&test, case, &here(&case.stdin));
        let said = if ran.stdout.is_empty() { json!({}) } else { ran.json() };
        let refusal = deny_message(&case.harness, &said);
        let denied = refusal.is_some();
        if NOT_YET_DENIED.contains(&case.id.as_str()) {
            assert!(!denied, "{} is denied now: remove it from the list", case.id);
            continue;
        }
        assert_eq!(
            (ran.exit, denied),
            (0, case.denied.is_some()),
            "{}: {}{}",
            case.id,
            ran.stdout,
            ran.stderr
        );
        if !denied {
            let neutral = if case.harness == "cursor" { "{\"permission\":\"allow\"}\n" } else { "" };
            assert_eq!(ran.stdout, neutral, "{}", case.id);
        }
        let (Some(_), ledger) = (&case.policy, test.decisions()) else { continue };
        let reason = refusal.as_deref().unwrap_or_default();
        let expected = case.denied.as_deref().unwrap_or_default();
        if DENIED_BY_OUR_RULES_TOO.contains(&case.id.as_str()) {
            assert!(reason.contains(expected), "{}: {reason}", case.id);
        } else {
            assert_eq!(reason, expected, "{}", case.id);
        }
        if let Some(gate) = &case.gate {
            let trace = ledger[0]["trace"].as_array().cloned().unwrap_or_default();
            let by: Vec<_> = trace.iter().filter_map(|step| step["by"].as_str()).collect();
            let ours = |by: &&str| by.split('/').next() == Some(&format!("rule:{gate}"));
            let named = if gate == "default" { by.is_empty() } else { by.iter().any(ours) };
            assert!(named, "{}: {by:?} should be {gate}", case.id);
        }
    }
}

#[test]
fn intended_differences_are_as_documented() {
    let cases = cases();
    let case = |id: &str| cases.iter().find(|case| case.id == id).unwrap();
    let test = TestContext::new();
    let empty = test.run_with(&["hook", "claude-code", &case("cc-empty-stdin").event], b"");
    assert_eq!((empty.exit, empty.stderr.as_str()), (2, "tenterhook: the payload is empty\n"));
    let unknown = case("cc-unknown-event");
    let ran = test.run_with(&["hook", "claude-code", &unknown.event], unknown.stdin.as_bytes());
    assert_eq!((ran.exit, ran.stdout.as_str()), (0, ""), "{}", ran.stderr);
    let inside = test.run_with(&["hook", "cursor", "pre-tool-use"], case("cu-deny").stdin.as_bytes());
    assert_eq!(inside.stdout, "{\"permission\":\"allow\"}\n", "{}", inside.stderr);
}
