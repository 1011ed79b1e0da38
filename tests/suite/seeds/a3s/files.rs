// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Seed 003's configuration, payloads and answers, with programs as hooks.

use std::time::Duration;
use tenterhook_test_support::wait_until;

use serde_json::{Value, json};
use tenterhook_engine::load::{self, HookAuditLevel, LoadContext};
use tenterhook_engine::{Engine, FailMode};
use tenterhook_event::Event;
use tenterhook_event::EventKind::{PostModel, PreModel};
use tenterhook_profile::{SettingsLayer, SettingsSource, find_profile, read_settings};

use crate::context::TestContext;
use crate::seeds::{event, fire, fire_profile, json_file, printing_command, write_single_hook};

fn call(command: &str) -> Value {
    json!({
        "eventType": "PreToolUse", "sessionId": "s-1", "timestamp": 0, "metadata": {},
        "tool": "Bash", "args": {"command": command}, "context": {"workingDirectory": "/", "recentTools": []},
    })
}

fn registered(hooks: &[Value]) -> Value {
    json!({"hooks": {"registered": hooks}})
}

fn pre_tool(command: &str) -> Value {
    json!({"event": "PreToolUse", "command": command})
}

/// Result of a call if hooks give these answers.
fn answered(answers: &[Value]) -> Value {
    let hooks: Vec<_> = answers.iter().map(|answer| pre_tool(&printing_command(answer))).collect();
    fire_profile(&TestContext::new(), "a3s", "PreToolUse", &registered(&hooks), &call("ls"))
}

// Seed 003, "Architecture", the example in the diagram.
#[test]
fn register_hook_blocks_rm_rf() {
    let test = TestContext::new();
    let block = printing_command(&json!({"action": "block", "reason": "Dangerous command"}));
    let go = printing_command(&json!({"action": "continue"}));
    let script = test.write(
        "guard.sh",
        &format!(
            "event=$(cat)\ncase $event in *'\"tool\":\"Bash\"'*) case $event in *'rm -rf'*) {block}; exit;; esac;; esac\n{go}\n"
        ),
    );
    let hooks = registered(&[pre_tool(&format!("sh '{}'", script.display()))]);
    let fire = |command: &str| fire_profile(&test, "a3s", "PreToolUse", &hooks, &call(command));
    let blocked = fire("rm -rf /");
    assert_eq!(blocked["finalOutput"], json!({"action": "block", "reason": "Dangerous command"}));
    assert_eq!(blocked["decision"], "deny");
    assert_eq!(fire("ls")["decision"], "none");
}

// Seed 003, "Hook Events".
// seed: 003-004, 003-005, 003-006, 003-007, 003-008, 003-009, 003-010, 003-011, 003-012, 003-013, 003-014
// seed: 003-015, 003-017
#[test]
fn every_event_can_have_a_hook() {
    const EVENTS: [&str; 13] = [
        "SessionStart",
        "SessionEnd",
        "GenerateStart",
        "GenerateEnd",
        "PreToolUse",
        "PostToolUse",
        "ToolError",
        "PermissionRequest",
        "PermissionGranted",
        "PermissionDenied",
        "PreCompact",
        "PostCompact",
        "ContextWarning",
    ];
    let test = TestContext::new();
    for event in EVENTS {
        let got = test.path(&format!("{event}.json"));
        let hook = json!({"event": event, "command": format!("cat > '{}'", got.display())});
        let input = json!({"eventType": event, "sessionId": "s-1", "timestamp": 0, "metadata": {}});
        let answer = fire_profile(&test, "a3s", event, &registered(&[hook]), &input);
        assert_eq!(answer["success"], true, "{event}");
        assert_eq!(json_file(&got), input, "{event}");
    }
    write_single_hook(&test, &json!({"on": EVENTS, "match": "x", "dialect": "a3s", "command": "true"}));
    let ran = test.run(&["check"]);
    assert_eq!(ran.exit, 0, "{}", ran.stdout);
}

/// Standard input of a hook in this dialect.
fn payload(on: &str, source: impl FnOnce(&TestContext)) -> Value {
    let test = TestContext::new();
    let got = test.path("got.json");
    write_single_hook(
        &test,
        &json!({"on": on, "dialect": "a3s", "command": format!("cat > '{}'", got.display())}),
    );
    source(&test);
    json_file(&got)
}

// Seed 003, "Base Event Structure" and "Tool Events".
// seed: 003-018, 003-019, 003-021
#[test]
fn tool_event_payloads() {
    let mut before = payload("PreToolUse", |test| {
        test.run_with(&["hook", "claude-code", "PreToolUse"], test.bash("ls").as_bytes());
    });
    assert!(before["timestamp"].is_u64() && before["metadata"].is_object());
    before["context"]["workingDirectory"].as_str().unwrap();
    for key in ["timestamp", "metadata", "context"] {
        before.as_object_mut().unwrap().remove(key);
    }
    let expected =
        json!({"eventType": "PreToolUse", "sessionId": "s-1", "tool": "Bash", "args": {"command": "ls"}});
    assert_eq!(before, expected);

    let after = payload("PostToolUse", |test| {
        let mut input: Value = serde_json::from_str(&test.bash("ls")).unwrap();
        input["hook_event_name"] = json!("PostToolUse");
        input["tool_response"] = json!({"stdout": "a.txt", "exitCode": 0});
        input["duration_ms"] = json!(7);
        test.run_with(&["hook", "claude-code", "PostToolUse"], input.to_string().as_bytes());
    });
    assert_eq!((&after["eventType"], &after["tool"]), (&json!("PostToolUse"), &json!("Bash")));
    let result = json!({"success": true, "output": "a.txt", "exitCode": 0, "duration": 7});
    assert_eq!(after["result"], result);
}

/// An engine with the hooks of this `tenterhook.yaml`.
fn engine(test: &TestContext, yaml: &Value) -> Engine {
    let (dir, env) = (test.path("work"), std::collections::BTreeMap::new());
    let loaded = load::load_settings(
        "tenterhook.yaml",
        &yaml.to_string(),
        &LoadContext { dir: &dir, home: None, env: &env },
    );
    assert_eq!(loaded.problems, [], "{yaml}");
    Engine::builder().hooks(loaded.hooks).build().unwrap()
}

// Seed 003, "Generation Events".
// seed: 003-022, 003-023
#[tokio::test]
async fn generation_event_payloads() {
    let test = TestContext::new();
    let got = test.path("got.json");
    let command = format!("cat > '{}'", got.display());
    let hook =
        json!({"id": "h", "on": ["GenerateStart", "GenerateEnd"], "dialect": "a3s", "command": command});
    let engine = engine(&test, &json!({"hooks": [hook]}));
    let mut start = event(PreModel);
    start.harness_session_id = Some("s-1".into());
    start.detail.prompt = Some("Do something".into());
    start.detail.model_request =
        Some(json!({"systemPrompt": "be brief", "model": {"name": "m"}, "tools": ["Bash"]}));
    fire(&engine, start.clone()).await;
    let mut seen = json_file(&got);
    seen.as_object_mut().unwrap().remove("metadata");
    let expected = json!({
        "eventType": "GenerateStart", "sessionId": "s-1", "timestamp": 0, "prompt": "Do something",
        "systemPrompt": "be brief", "model": {"name": "m"}, "tools": ["Bash"],
    });
    assert_eq!(seen, expected);

    let response = json!({"text": "done", "toolCalls": [], "usage": {"total_tokens": 3}, "duration": 9});
    let mut end = Event { event: PostModel, ..start };
    end.detail.model_response = Some(response.clone());
    fire(&engine, end).await;
    let seen = json_file(&got);
    assert_eq!((&seen["eventType"], &seen["prompt"]), (&json!("GenerateEnd"), &json!("Do something")));
    let mut told = response;
    // Hooks expect numbers in `usage`, so tokens that the harness did not count are 0.
    told["usage"] = json!({"input_tokens": 0, "output_tokens": 0, "total_tokens": 3});
    assert_eq!(seen["response"], told);
}

// Seed 003, "Hook Response Actions".
// seed: 003-027, 003-028, 003-029, 003-031, 003-058
#[test]
fn hook_response_actions() {
    let go = json!({"action": "continue"});
    assert_eq!(answered(std::slice::from_ref(&go))["finalOutput"], go);
    let modified = json!({"action": "continue", "modified": {"args": {"command": "ls -a"}}});
    assert_eq!(answered(std::slice::from_ref(&modified))["finalOutput"], modified);
    let block = json!({"action": "block", "reason": "no"});
    let answer = answered(std::slice::from_ref(&block));
    assert_eq!((&answer["finalOutput"], &answer["decision"]), (&block, &json!("deny")));
    let retry = json!({"action": "retry", "delay": 20});
    assert_eq!(answered(std::slice::from_ref(&retry))["finalOutput"], retry);
    assert_eq!(
        answered(&[json!({"action": "skip"}), block])["decision"],
        "none",
        "skips the remaining hooks"
    );
}

/// Tenterhook's decision about `ls` if its only hook, in this dialect, is this command.
fn guarded(command: &str, more: &Value) -> Value {
    let test = TestContext::new();
    let mut hook =
        json!({"on": "PreToolUse", "match": {"tool": "Bash"}, "dialect": "a3s", "command": command});
    hook.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    write_single_hook(&test, &hook);
    let ran = test.run_with(&["fire", "--json"], test.bash("ls").as_bytes());
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    ran.json()["outcome"].clone()
}

// Seed 003, "Action Behaviors" and "Migration from Claude Code Hooks": exit codes.
// seed: 003-097
#[test]
fn exit_code_2_is_a_block_and_exit_code_0_with_json_is_a_modification() {
    let blocked = guarded("echo 'not this' >&2; exit 2", &json!({}));
    assert_eq!((&blocked["decision"], &blocked["reasons"][0]["said"]), (&json!("deny"), &json!("not this")));
    assert_eq!(guarded("exit 0", &json!({}))["decision"], "none");
    let modified = json!({"action": "continue", "modified": {"args": {"command": "ls -a"}}});
    assert_eq!(guarded(&printing_command(&modified), &json!({}))["tool_input"], json!({"command": "ls -a"}));
    let blocked = guarded(&printing_command(&json!({"action": "block", "reason": "r"})), &json!({}));
    assert_eq!((&blocked["decision"], &blocked["reasons"][0]["said"]), (&json!("deny"), &json!("r")));
}

// Seed 003, "Hook Execution Flow": "Merge modifications", with programs that return their whole input.
// seed: 003-063
#[test]
fn modifications_of_several_programs_are_merged() {
    let test = TestContext::new();
    let adds = |id: &str, key: &str, value: Value| {
        let mut args = json!({"command": "ls"});
        args[key] = value;
        let answer = printing_command(&json!({"action": "continue", "modified": {"args": args}}));
        json!({"id": id, "on": "PreToolUse", "dialect": "a3s", "command": answer})
    };
    let fire = |hooks: &[Value]| {
        test.write("home/tenterhook.yaml", &json!({"hooks": hooks}).to_string());
        let ran = test.run_with(&["fire", "--json"], test.bash("ls").as_bytes());
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
        ran.json()["outcome"].clone()
    };
    let both = fire(&[adds("a", "timeout", json!(30_000)), adds("b", "description", json!("why"))]);
    assert_eq!(both["tool_input"], json!({"command": "ls", "timeout": 30_000, "description": "why"}));
    let conflict = fire(&[adds("a", "timeout", json!(1)), adds("b", "timeout", json!(2))]);
    assert_eq!(conflict["tool_input"], json!({"command": "ls", "timeout": 2}));
    let note = conflict["trace"][1]["note"].as_str().unwrap();
    assert!(note.contains("`args.timeout` (changed by `a`)"), "{note}");
    let judged = fire(&[adds("a", "command", json!("rm -rf /")), adds("b", "description", json!("why"))]);
    assert_eq!(judged["tool_input"], json!({"command": "rm -rf /", "description": "why"}));
    assert_eq!(judged["decision"], "deny", "the merged call is judged");
}

// Seed 003, "Integration with Agent Loop": `success: result.is_ok()`.
// seed: 003-016
#[test]
fn a_failed_tool_is_a_result_without_success() {
    let failed = |on: Value| {
        let test = TestContext::new();
        let got = test.path("got.json");
        write_single_hook(
            &test,
            &json!({"on": on, "dialect": "a3s", "command": format!("cat > '{}'", got.display())}),
        );
        let mut input: Value = serde_json::from_str(&test.bash("false")).unwrap();
        input["hook_event_name"] = json!("PostToolUseFailure");
        input["error"] = json!("Command failed with exit code 1");
        test.run_with(&["hook", "claude-code", "PostToolUseFailure"], input.to_string().as_bytes());
        json_file(&got)
    };
    let result = failed(json!("PostToolUse"));
    assert_eq!(
        (&result["eventType"], &result["args"]),
        (&json!("PostToolUse"), &json!({"command": "false"}))
    );
    let expected = json!({"success": false, "output": "Command failed with exit code 1", "duration": 0});
    assert_eq!(result["result"], expected);
    let both = failed(json!(["PostToolUse", "ToolError"]));
    assert_eq!(both["eventType"], "ToolError", "a hook for both is called once");
}

// Seed 003, "Action Behaviors": exit codes, under the profile of this design.
#[test]
fn exit_code_2_is_a_block_under_the_profile_too() {
    let test = TestContext::new();
    let hooks = registered(&[pre_tool("echo 'not this' >&2; exit 2")]);
    let answer = fire_profile(&test, "a3s", "PreToolUse", &hooks, &call("ls"));
    assert_eq!(
        (&answer["decision"], &answer["finalOutput"]["reason"]),
        (&json!("deny"), &json!("not this")),
        "{answer}"
    );
}

// Seed 003, "TypeScript SDK": "Register hook with matcher pattern", as a file.
#[test]
fn cannot_write_api_keys_to_env_files() {
    let test = TestContext::new();
    let block =
        printing_command(&json!({"action": "block", "reason": "Cannot write API keys to .env files"}));
    let script = test.write("env.sh", &format!("case $(cat) in *'API_KEY='*) {block};; esac\n"));
    write_single_hook(
        &test,
        &json!({
            "on": "PreToolUse", "match": {"tool": "Write", "path_pattern": "*.env"}, "dialect": "a3s",
            "command": format!("sh '{}'", script.display()),
        }),
    );
    let decision = |path: &str, content: &str| {
        let mut input: Value = serde_json::from_str(&test.bash("")).unwrap();
        input["tool_name"] = json!("Write");
        input["tool_input"] = json!({"file_path": path, "content": content});
        let ran = test.run_with(&["fire", "--json"], input.to_string().as_bytes());
        ran.json()["outcome"]["decision"].clone()
    };
    assert_eq!(decision("/app/prod.env", "API_KEY=1"), "deny");
    assert_eq!(decision("/app/prod.env", "DEBUG=1"), "none");
    assert_eq!(decision("/app/notes.md", "API_KEY=1"), "none");
}

// Seed 003, "Proto Definition", `HookMatcher`: tool, path_pattern, command_pattern.
// seed: 003-054
#[test]
fn hook_matcher_fields_all_have_to_hold() {
    let test = TestContext::new();
    let hook = |matcher: Value| json!({"event": "PreToolUse", "command": format!(": '{matcher}'"), "matcher": matcher});
    let hooks = registered(&[
        hook(json!({"tool": "Bash"})),
        hook(json!({"command_pattern": "^git\\s+push"})),
        hook(json!({"tool": "Write", "command_pattern": "push"})),
        hook(json!({"path_pattern": "*.env"})),
    ]);
    let answer = fire_profile(&test, "a3s", "PreToolUse", &hooks, &call("git  push -f"));
    let matched: Vec<_> =
        answer["plan"].as_array().unwrap().iter().map(|step| step["matched"] == true).collect();
    assert_eq!(matched, [true, true, false, false]);
}

// Seed 003, "Proto Definition", `HookConfig`: `async`, "Fire-and-forget (no response needed)".
// seed: 003-092
#[test]
fn an_async_hook_is_not_waited_for() {
    let test = TestContext::new();
    let done = test.path("done");
    let mut hook = pre_tool(&format!("sleep 1; : > '{}'; exit 2", done.display()));
    hook["config"] = json!({"async": true});
    let answer = fire_profile(&test, "a3s", "PreToolUse", &registered(&[hook]), &call("ls"));
    assert_eq!(answer["decision"], "none");
    assert!(!done.exists());
    wait_until("the hook continues", || done.exists().then_some(()));
}

// Seed 003, "Hook Execution Flow": "Block wins > Retry > Continue", "Merge modifications".
// seed: 003-062
#[test]
fn block_wins_over_retry_over_continue() {
    let change = |args: Value| json!({"action": "continue", "modified": {"args": args}});
    let retry = json!({"action": "retry", "delay": 5});
    let block = json!({"action": "block", "reason": "no"});
    let answer = answered(&[change(json!({"command": "ls", "timeout": 1})), change(json!({"timeout": 2}))]);
    assert_eq!(answer["finalOutput"]["modified"]["args"], json!({"command": "ls", "timeout": 2}));
    assert_eq!(answered(&[change(json!({})), retry.clone()])["finalOutput"]["action"], "retry");
    assert_eq!(answered(&[retry, change(json!({})), block])["finalOutput"]["action"], "block");
}

// Seed 003, "Hook Execution Flow": "Sort by Priority".
// seed: 003-091
#[test]
fn lower_priority_numbers_come_first() {
    let test = TestContext::new();
    let hook = |reason: &str, priority: i32| {
        let mut hook = pre_tool(&printing_command(&json!({"action": "block", "reason": reason})));
        hook["config"] = json!({"priority": priority});
        hook
    };
    let hooks = registered(&[hook("later", 10), hook("earlier", 1)]);
    let answer = fire_profile(&test, "a3s", "PreToolUse", &hooks, &call("ls"));
    assert_eq!(answer["finalOutput"]["reason"], "earlier");
}

// Seed 003, "Timeout Handling".
#[test]
fn a_hook_that_times_out_is_a_continue_with_a_warning() {
    let test = TestContext::new();
    let mut hook = pre_tool("sleep 30");
    hook["config"] = json!({"timeout": 50});
    let change =
        pre_tool(&printing_command(&json!({"action": "continue", "modified": {"args": {"command": "x"}}})));
    let answer = fire_profile(&test, "a3s", "PreToolUse", &registered(&[hook.clone(), change]), &call("ls"));
    assert_eq!(
        (&answer["decision"], &answer["finalOutput"]["modified"]["args"]["command"]),
        (&json!("none"), &json!("x"))
    );
    assert_eq!(answer["errors"][0]["message"], "Hook timed out after 50ms");
    let answer = fire_profile(&test, "a3s", "PreToolUse", &registered(&[hook]), &call("ls"));
    assert_eq!(answer["decision"], "none");
    assert!(answer["finalOutput"]["modified"].is_null(), "the original input");
}

// Seed 003, "Error Handling": `config: { failBehavior: "block" }`.
#[test]
fn fail_behavior_block_blocks_on_error_and_continue_does_not() {
    let test = TestContext::new();
    for (behavior, decision) in [("continue", "none"), ("block", "deny")] {
        let mut hook = pre_tool("exit 1");
        hook["config"] = json!({"failBehavior": behavior});
        let answer = fire_profile(&test, "a3s", "PreToolUse", &registered(&[hook]), &call("ls"));
        assert_eq!(answer["decision"], decision, "{behavior}");
    }
    assert_eq!(guarded("exit 1", &json!({}))["decision"], "none");
    assert_eq!(guarded("exit 1", &json!({"fail": "closed"}))["decision"], "deny");
}

// Seed 003, "Input validation": "All hook responses validated", "must match expected schema".
// seed: 003-078, 003-079
#[test]
fn a_response_that_is_not_valid_does_not_change_anything() {
    for answer in [
        json!({"action": "explode"}),
        json!({"action": "continue", "modified": {"args": "text"}}),
        json!({"acton": "block"}),
    ] {
        let outcome = guarded(&printing_command(&answer), &json!({}));
        assert_eq!(
            (&outcome["decision"], &outcome["tool_input"]),
            (&json!("none"), &Value::Null),
            "{answer}"
        );
        assert_eq!(outcome["trace"][0]["status"], "failed", "{answer}");
    }
}

/// The file in seed 003.
fn default_configuration() -> Value {
    json!({
      "hooks": {
        "enabled": true,
        "maxHooksPerEvent": 10,
        "maxTotalHooks": 50,
        "defaultTimeout": 5000,
        "failBehavior": "continue",
        "auditLevel": "info"
      }
    })
}

// Seed 003, "Default Hook Configuration".
// seed: 003-085, 003-086, 003-087, 003-088, 003-089, 003-090
#[test]
fn default_hook_configuration_equals_the_built_in_defaults() {
    let (dir, env) = (std::path::PathBuf::from("/"), std::collections::BTreeMap::new());
    let around = LoadContext { dir: &dir, home: None, env: &env };
    let loaded = load::load_settings("hooks.json", &default_configuration().to_string(), &around);
    assert_eq!((loaded.problems, loaded.warnings), (vec![], vec![]));
    let named = loaded.defaults;
    assert_eq!(
        named,
        load::HookDefaults { timeout: Some(Duration::from_secs(5)), ..load::HookDefaults::default() }
    );
    assert_eq!((named.limits.max_hooks_per_event, named.limits.max_hooks), (10, 50));
    assert_eq!((named.fail, named.audit, named.enabled), (FailMode::Open, HookAuditLevel::Info, true));

    let text = default_configuration().to_string();
    let settings = |text: &str| {
        read_settings(
            find_profile("a3s").unwrap(),
            &[SettingsLayer { source: SettingsSource::User, name: "hooks.json", text }],
        )
    };
    let (named, without) = (settings(&text), settings("{}"));
    assert_eq!((&named.problems, named.enabled), (&vec![], true));
    assert_eq!((named.limits.per_event, named.limits.total), (Some(10), Some(50)));
    assert_eq!((named.limits, named.enabled), (without.limits, without.enabled));
}

// Seed 003, "Default Hook Configuration": what each key does.
// seed: 003-085, 003-086, 003-087, 003-088, 003-089
#[test]
fn each_key_of_the_configuration_has_an_effect() {
    let with = |key: &str, value: Value, hooks: &[Value]| {
        let mut settings = default_configuration();
        settings["hooks"][key] = value;
        settings["hooks"]["registered"] = json!(hooks);
        fire_profile(&TestContext::new(), "a3s", "PreToolUse", &settings, &call("ls"))
    };
    let block = pre_tool(&printing_command(&json!({"action": "block", "reason": "no"})));
    assert_eq!(with("enabled", json!(true), std::slice::from_ref(&block))["decision"], "deny");
    assert_eq!(with("enabled", json!(false), std::slice::from_ref(&block))["decision"], "none");
    let eleven = vec![pre_tool("true"); 11];
    let count = |answer: Value| answer["trace"].as_array().unwrap().len();
    assert_eq!(count(with("enabled", json!(true), &eleven)), 10);
    assert_eq!(count(with("maxHooksPerEvent", json!(3), &eleven)), 3);
    assert_eq!(count(with("maxTotalHooks", json!(2), &eleven)), 2);
    let slow = with("defaultTimeout", json!(50), &[pre_tool("sleep 30")]);
    assert_eq!(slow["errors"][0]["message"], "Hook timed out after 50ms");
    assert_eq!(with("failBehavior", json!("block"), &[pre_tool("exit 1")])["decision"], "deny");
    assert_eq!(with("failBehavior", json!("continue"), &[pre_tool("exit 1")])["decision"], "none");
}

// Seed 003, "Audit Trail": a hook that ran, blocked or changed something leaves a record.
// seed: 003-083, 003-084
#[test]
fn the_audit_trail_shows_what_each_hook_did() {
    let test = TestContext::new();
    let block = json!({"id": "blocks", "on": "PreToolUse", "match": "Bash", "dialect": "a3s", "command": printing_command(&json!({"action": "block", "reason": "no"}))});
    let change = json!({"id": "changes", "on": "PreToolUse", "match": "Bash", "dialect": "a3s", "command": printing_command(&json!({"action": "continue", "modified": {"args": {"command": "ls -a"}}}))});
    test.write(
        "home/tenterhook.yaml",
        &json!({"hooks": {"auditLevel": "verbose", "list": [block, change]}}).to_string(),
    );
    test.run_with(&["hook", "claude-code", "PreToolUse"], test.bash("ls").as_bytes());
    let leaf = test.decisions().remove(0);
    let trace = leaf["trace"].as_array().unwrap();
    let steps: Vec<_> =
        trace.iter().map(|step| (step["by"].as_str().unwrap(), step["status"].as_str().unwrap())).collect();
    assert_eq!(steps, [("hook:blocks", "ran"), ("hook:changes", "ran")]);
    assert!(trace.iter().all(|step| step["took_us"].as_u64().unwrap() > 0), "{trace:?}");
    assert_eq!((&trace[0]["decision"], &leaf["reason"]), (&json!("deny"), &json!("no")));
    assert_eq!(leaf["stored"]["modifications"][0]["by"], "hook:changes");
}

// Seed 003, "Audit Trail": `setHookAuditLevel`. The tests of program hooks cover what each level records.
// seed: 003-090
#[test]
fn an_audit_level_is_one_of_three() {
    let test = TestContext::new();
    for level in ["off", "info", "verbose"] {
        test.write("home/tenterhook.yaml", &format!("hooks: {{auditLevel: {level}}}\n"));
        let ran = test.run(&["check"]);
        assert_eq!((ran.exit, ran.stdout.contains("auditLevel")), (0, false), "{level}: {}", ran.stdout);
    }
    test.write("home/tenterhook.yaml", "hooks: {auditLevel: loud}\n");
    let ran = test.run(&["check"]);
    assert_eq!(ran.exit, 1);
    assert!(ran.stdout.contains("unknown value `loud`; known: `off`, `info`, `verbose`"), "{}", ran.stdout);
}

// Seed 003, "Per-Hook Configuration".
// seed: 003-092
#[test]
fn per_hook_configuration() {
    let text = registered(&[json!({
        "event": "PreToolUse", "command": "x",
        "config": {"priority": 10, "timeout": 3000, "async": false, "failBehavior": "block"},
    })])
    .to_string();
    let settings = read_settings(
        find_profile("a3s").unwrap(),
        &[SettingsLayer { source: SettingsSource::User, name: "hooks.json", text: &text }],
    );
    assert_eq!(settings.problems, []);
    let entry = &settings.entries[0];
    assert_eq!(
        (entry.priority, entry.timeout, entry.is_async, entry.fail_closed),
        (10, Some(3000.0), false, true)
    );
}

// Seed 003, "Permission Escalation Hook", as a program.
#[test]
fn permission_escalation_hook() {
    let test = TestContext::new();
    let block = printing_command(&json!({"action": "block", "reason": "User denied permission"}));
    write_single_hook(
        &test,
        &json!({"on": "PermissionRequest", "match": {"tool": "Bash"}, "dialect": "a3s", "command": block}),
    );
    let mut input: Value = serde_json::from_str(&test.bash("ls")).unwrap();
    input["hook_event_name"] = json!("PermissionRequest");
    let ran = test.run_with(&["hook", "claude-code", "PermissionRequest"], input.to_string().as_bytes());
    let decision = ran.json()["hookSpecificOutput"]["decision"].clone();
    assert_eq!(decision, json!({"behavior": "deny", "message": "User denied permission"}));
}

// Seed 003, "Post-execution hooks": "PostToolUse hooks are fire-and-forget (don't block)".
// seed: 003-066
#[test]
fn a_block_after_the_tool_has_run_blocks_nothing() {
    let test = TestContext::new();
    let mut hook = pre_tool(&printing_command(&json!({"action": "block", "reason": "too late"})));
    hook["event"] = json!("PostToolUse");
    let answer = fire_profile(&test, "a3s", "PostToolUse", &registered(&[hook]), &call("ls"));
    assert_eq!(answer["decision"], "none");
}
