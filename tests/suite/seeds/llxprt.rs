// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Seed 002: the API reference of LLxprt Code's hooks.

use std::time::Duration;

use serde_json::{Value, json};
use tenterhook_harness::dialect;
use tenterhook_profile::output::{
    AfterModelOutput, BeforeModelOutput, BeforeToolOutput, BeforeToolSelectionOutput, HookOutput,
};
use tenterhook_profile::{Profile, find_profile};

use super::{fire_profile, json_file, printing_command};
use crate::context::TestContext;

fn llxprt() -> &'static Profile {
    find_profile("llxprt").unwrap()
}

/// Settings in which each of these command lines is a separate hook, in one group.
fn settings(event: &str, lines: &[String]) -> Value {
    let hooks: Vec<_> = lines.iter().map(|line| json!({"type": "command", "command": line})).collect();
    json!({"hooks": {event: [{"hooks": hooks}]}})
}

/// The result of an event if hooks give these answers.
fn answered(event: &str, answers: &[Value]) -> Value {
    let test = TestContext::new();
    let lines: Vec<_> = answers.iter().map(printing_command).collect();
    let input =
        json!({"cwd": test.path("work"), "tool_name": "write_file", "tool_input": {}, "llm_request": {}});
    fire_profile(&test, "llxprt", event, &settings(event, &lines), &input)
}

// Seed 002, "Example Configuration".
// seed: 002-001, 002-002, 002-004, 002-005, 002-006, 002-008
#[test]
fn example_configuration() {
    let example = json!({
      "hooks": {
        "BeforeTool": [
          {
            "matcher": "write_*",
            "sequential": false,
            "hooks": [{"type": "command", "command": "~/.llxprt/hooks/security.sh", "timeout": 5000}]
          }
        ],
        "AfterTool": [
          {
            "hooks": [{"type": "command", "command": "~/.llxprt/hooks/audit.sh"}]
          }
        ]
      }
    });
    let test = TestContext::new();
    for name in ["security.sh", "audit.sh"] {
        let path = test.write(&format!("person/.llxprt/hooks/{name}"), "#!/bin/sh\ncat >> \"$0.got\"\n");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(path, mode).unwrap();
    }
    let fire = |event: &str, tool: &str| {
        let input = json!({"tool_name": tool, "tool_input": {}, "tool_response": {}});
        let answer = fire_profile(&test, "llxprt", event, &example, &input);
        let planned = answer["plan"].as_array().unwrap().iter().filter(|step| step["matched"] == true);
        let planned: Vec<String> = planned.map(|step| step["hook"].as_str().unwrap().to_owned()).collect();
        assert_eq!((&answer["success"], &answer["sequential"]), (&json!(true), &json!(false)), "{answer}");
        planned
    };
    assert_eq!(fire("BeforeTool", "write_file"), ["~/.llxprt/hooks/security.sh"]);
    assert_eq!(fire("BeforeTool", "read_file"), [""; 0]);
    assert_eq!(fire("AfterTool", "read_file"), ["~/.llxprt/hooks/audit.sh"]);
    let got =
        |name: &str| json_file(&test.path(&format!("person/.llxprt/hooks/{name}.got")))["tool_name"].clone();
    assert_eq!((got("security.sh"), got("audit.sh")), (json!("write_file"), json!("read_file")));
}

// Seed 002, "HookConfig": timeouts are in milliseconds; the default is 60 seconds.
// seed: 002-007
#[test]
fn hook_config_timeouts_are_in_milliseconds() {
    assert_eq!(dialect::find("llxprt").unwrap().timeout, Duration::from_mins(1));
    let test = TestContext::new();
    let mut settings = settings("BeforeTool", &["sleep 30".to_owned()]);
    settings["hooks"]["BeforeTool"][0]["hooks"][0]["timeout"] = json!(50);
    let answer = fire_profile(&test, "llxprt", "BeforeTool", &settings, &json!({"tool_name": "x"}));
    assert_eq!(answer["errors"][0]["message"], "Hook timed out after 50ms");
}

// Seed 002, "HookDefinition": `sequential`.
// seed: 002-003
#[test]
fn hook_definition_sequential_hooks_see_what_the_one_before_changed() {
    let test = TestContext::new();
    let change = printing_command(&json!({"hookSpecificOutput": {"tool_input": {"path": "/safe"}}}));
    let keep = format!("cat > '{}'", test.path("second.json").display());
    let mut settings = settings("BeforeTool", &[change, keep]);
    let input = json!({"tool_name": "write_file", "tool_input": {"path": "/etc"}});
    for (sequential, path) in [(false, "/etc"), (true, "/safe")] {
        settings["hooks"]["BeforeTool"][0]["sequential"] = json!(sequential);
        fire_profile(&test, "llxprt", "BeforeTool", &settings, &input);
        assert_eq!(json_file(&test.path("second.json"))["tool_input"]["path"], path);
    }
}

// Seed 002, "Input Interfaces".
// seed: 002-009, 002-010, 002-011, 002-012, 002-013, 002-014, 002-015, 002-016, 002-017, 002-018, 002-019
// seed: 002-020, 002-021, 002-022, 002-023, 002-024, 002-025, 002-026, 002-027, 002-028, 002-029, 002-030
// seed: 002-031, 002-032, 002-033, 002-034, 002-035, 002-036, 002-037, 002-038, 002-039
#[test]
fn every_input_reaches_the_hook_as_it_is() {
    // The seed's own example.
    let before_tool = json!({
      "session_id": "abc123",
      "hook_event_name": "BeforeTool",
      "cwd": "/home/user/project",
      "timestamp": "2025-02-18T16:30:00.000Z",
      "transcript_path": "",
      "tool_name": "write_file",
      "tool_input": {
        "path": "/home/user/project/file.txt",
        "content": "Hello, world!"
      }
    });
    let request = json!({
        "model": "m", "contents": [{"role": "user", "parts": ["hi", {"text": "there"}]}],
        "systemInstruction": {"role": "system", "parts": ["be brief"]},
        "generationConfig": {"temperature": 0.5, "maxOutputTokens": 9, "stopSequences": ["END"]},
    });
    let response =
        json!({"candidates": [{"content": {"role": "model", "parts": ["ok"]}, "finishReason": "STOP"}]});
    for (event, fields) in [
        ("BeforeTool", json!({})),
        ("AfterTool", json!({"tool_response": {"output": "done"}})),
        ("BeforeModel", json!({"llm_request": request})),
        ("AfterModel", json!({"llm_request": request, "llm_response": response})),
        ("BeforeToolSelection", json!({"llm_request": request})),
        ("SessionStart", json!({"source": "startup"})),
        ("SessionStart", json!({"source": "resume"})),
        ("SessionStart", json!({"source": "clear"})),
        ("SessionStart", json!({"source": "compress"})),
        ("SessionEnd", json!({"reason": "exit"})),
        ("SessionEnd", json!({"reason": "clear"})),
        ("SessionEnd", json!({"reason": "logout"})),
        ("SessionEnd", json!({"reason": "prompt_input_exit"})),
        ("SessionEnd", json!({"reason": "other"})),
        ("BeforeAgent", json!({"prompt": "go"})),
        ("AfterAgent", json!({"prompt": "go", "prompt_response": "done", "stop_hook_active": false})),
        ("PreCompress", json!({"trigger": "auto"})),
        ("Notification", json!({"message": "m"})),
    ] {
        let test = TestContext::new();
        let mut input = before_tool.clone();
        input["hook_event_name"] = json!(event);
        input.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let got = test.path("got.json");
        let settings = settings(event, &[format!("cat > '{}'", got.display())]);
        fire_profile(&test, "llxprt", event, &settings, &input);
        assert_eq!(json_file(&got), input, "{event}");
    }
}

// Seed 002, "Base HookInput" and "BeforeToolInput", for a hook that is called about another agent's event.
// seed: 002-020, 002-021, 002-022, 002-023, 002-024, 002-025
#[test]
fn a_hook_written_for_llxprt_gets_its_input_from_any_agent() {
    let test = TestContext::new();
    let got = test.path("got.json");
    super::write_single_hook(
        &test,
        &json!({"on": "BeforeTool", "match": "Bash", "dialect": "llxprt", "command": format!("cat > '{}'", got.display())}),
    );
    let ran = test.run_with(&["hook", "claude-code", "PreToolUse"], test.bash("ls").as_bytes());
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let mut input = json_file(&got);
    let timestamp = input["timestamp"].take();
    assert!(timestamp.as_str().unwrap().ends_with('Z'), "ISO 8601: {timestamp}");
    assert_eq!(
        input,
        json!({
            "session_id": "s-1",
            "transcript_path": "",
            "cwd": test.path("work"),
            "hook_event_name": "BeforeTool",
            "timestamp": null,
            "tool_name": "Bash",
            "tool_input": {"command": "ls"},
        })
    );
}

// Seed 002, "BeforeToolOutput", "Example - Block".
// seed: 002-045, 002-049
#[test]
fn before_tool_output_example_block() {
    let example = json!({"decision": "deny", "reason": "Writing to /etc is prohibited"});
    let answer = answered("BeforeTool", &[example]);
    assert_eq!(answer["decision"], "deny");
    assert_eq!(answer["finalOutput"]["reason"], "Writing to /etc is prohibited");
}

// Seed 002, "BeforeToolOutput", "Example - Modify Input".
// seed: 002-046, 002-048, 002-050, 002-079
#[test]
fn before_tool_output_example_modify_input() {
    let changed = json!({"path": "/safe/path/file.txt", "content": "Modified content"});
    let example = json!({"decision": "allow", "hookSpecificOutput": {"tool_input": changed}});
    let answer = answered("BeforeTool", std::slice::from_ref(&example));
    let output = &answer["finalOutput"];
    assert_eq!(output["decision"], "allow");
    assert_eq!(output["hookSpecificOutput"]["tool_input"], changed);
    let modified = BeforeToolOutput::new(llxprt(), output).modified_tool_input().cloned();
    assert_eq!(modified, changed.as_object().cloned(), "getModifiedToolInput()");
}

// Seed 002, "BeforeToolOutput": the fields for compatibility.
// seed: 002-047
#[test]
fn before_tool_output_permission_decision_counts_too() {
    let specific =
        json!({"hookEventName": "BeforeTool", "permissionDecision": "deny", "permissionDecisionReason": "r"});
    let answer = answered("BeforeTool", &[json!({"hookSpecificOutput": specific})]);
    assert_eq!(answer["decision"], "deny");
    assert_eq!(HookOutput::new(llxprt(), "BeforeTool", &answer["finalOutput"]).effective_reason(), "r");
}

// Seed 002, "AfterToolOutput".
// seed: 002-051
#[test]
fn after_tool_output_adds_context() {
    let specific = json!({"hookEventName": "AfterTool", "additionalContext": "and mind the gap"});
    let answer = answered("AfterTool", &[json!({"hookSpecificOutput": specific})]);
    let context = HookOutput::new(llxprt(), "AfterTool", &answer["finalOutput"]).additional_context();
    assert_eq!(context.as_deref(), Some("and mind the gap"));
}

// Seed 002, "BeforeModelOutput".
// seed: 002-052, 002-053, 002-057, 002-058, 002-059, 002-080
#[test]
fn before_model_output_merges_a_request_or_replaces_the_call() {
    let specific = json!({"hookEventName": "BeforeModel", "llm_request": {"model": "small", "generationConfig": {"temperature": 0}}});
    let answer = answered("BeforeModel", &[json!({"hookSpecificOutput": specific})]);
    let output = BeforeModelOutput::new(llxprt(), &answer["finalOutput"]);
    assert_eq!(output.synthetic_response(), None);
    let contents = json!([{"role": "user", "parts": [{"text": "hi"}]}]);
    let merged = output.apply_llm_request_modifications(&json!({"model": "big", "contents": contents}));
    assert_eq!(
        (&merged["model"], &merged["contents"]),
        (&json!("small"), &contents),
        "merged with the original"
    );
    let original = json!({"model": "big", "contents": contents, "config": {"temperature": 0.9, "topP": 0.5}});
    let partial = |request: &Value| {
        let specific = json!({"hookEventName": "BeforeModel", "llm_request": request});
        let answer = answered("BeforeModel", &[json!({"hookSpecificOutput": specific})]);
        let output = BeforeModelOutput::new(llxprt(), &answer["finalOutput"]);
        output.apply_llm_request_modifications(&original)["config"].clone()
    };
    assert_eq!(
        partial(&json!({"generationConfig": {"stopSequences": ["END"]}})),
        json!({"temperature": 0.9, "topP": 0.5, "stopSequences": ["END"]})
    );
    assert_eq!(
        partial(&json!({"generationConfig": {"temperature": 0.1}})),
        json!({"temperature": 0.1, "topP": 0.5})
    );
    let instruction = json!({"role": "system", "parts": [{"text": "be brief"}]});
    assert_eq!(
        partial(&json!({"systemInstruction": instruction})),
        json!({"temperature": 0.9, "topP": 0.5, "systemInstruction": instruction})
    );

    let response = json!({"candidates": [{"content": {"role": "model", "parts": ["from the cache"]}}]});
    let specific = json!({"hookEventName": "BeforeModel", "llm_response": response});
    let answer = answered("BeforeModel", &[json!({"hookSpecificOutput": specific})]);
    let synthetic = BeforeModelOutput::new(llxprt(), &answer["finalOutput"]).synthetic_response().unwrap();
    assert!(synthetic.to_string().contains("from the cache"), "{synthetic}");
}

// Seed 002, "AfterModelOutput".
// seed: 002-054, 002-082
#[test]
fn after_model_output_replaces_the_response() {
    let response = json!({"candidates": [{"content": {"role": "model", "parts": ["redacted"]}}]});
    let specific = json!({"hookEventName": "AfterModel", "llm_response": response});
    let answer = answered("AfterModel", &[json!({"hookSpecificOutput": specific})]);
    let modified = AfterModelOutput::new(llxprt(), &answer["finalOutput"]).modified_response().unwrap();
    assert!(modified.to_string().contains("redacted"), "{modified}");
}

// Seed 002, "BeforeToolSelectionOutput", "Example - Restrict Tools".
// seed: 002-055, 002-056, 002-081
#[test]
fn before_tool_selection_output_example_restrict_tools() {
    let example = json!({
      "hookSpecificOutput": {
        "toolConfig": {
          "mode": "AUTO",
          "allowedFunctionNames": ["read_file", "list_directory", "glob"]
        }
      }
    });
    let answer = answered("BeforeToolSelection", &[example]);
    let config = &answer["finalOutput"]["hookSpecificOutput"]["toolConfig"];
    let sorted = json!(["glob", "list_directory", "read_file"]);
    assert_eq!(config, &json!({"mode": "AUTO", "allowedFunctionNames": sorted}));
    let output = BeforeToolSelectionOutput::new(llxprt(), &answer["finalOutput"]);
    let applied = output.apply_tool_config_modifications(&json!({"tools": [{"name": "write_file"}]}));
    assert!(applied.to_string().contains("list_directory"), "{applied}");
    assert_eq!(applied["tools"], json!([{"name": "write_file"}]), "the rest is kept");
    let config = json!({"functionCallingConfig": {"mode": "ANY"}, "retrievalConfig": {"languageCode": "en"}});
    let applied = output.apply_tool_config_modifications(&json!({"toolConfig": config}));
    assert_eq!(applied["toolConfig"]["retrievalConfig"], json!({"languageCode": "en"}), "other keys as well");
    assert_eq!(applied["toolConfig"]["functionCallingConfig"]["mode"], "AUTO");
}

// Seed 002, "AggregatedHookResult".
// seed: 002-064, 002-065, 002-066, 002-067, 002-068
#[test]
fn aggregated_hook_result_has_success_outputs_errors_and_duration() {
    let test = TestContext::new();
    let output = json!({"decision": "allow", "reason": "fine"});
    let mut settings = settings("BeforeTool", &[printing_command(&output), "sleep 30".to_owned()]);
    let input = json!({"tool_name": "x"});
    settings["hooks"]["BeforeTool"][0]["hooks"][1]["timeout"] = json!(100);
    let answer = fire_profile(&test, "llxprt", "BeforeTool", &settings, &input);
    assert_eq!(answer["success"], false, "true if all hooks succeeded");
    assert_eq!(answer["allOutputs"], json!([output]));
    assert_eq!(answer["errors"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&answer["finalOutput"]["decision"], &answer["finalOutput"]["reason"]),
        (&json!("allow"), &json!("fine"))
    );
    assert!(answer["totalDuration"].as_u64().unwrap() >= 100);

    settings["hooks"]["BeforeTool"][0]["hooks"].as_array_mut().unwrap().pop();
    assert_eq!(fire_profile(&test, "llxprt", "BeforeTool", &settings, &input)["success"], true);
}

// Seed 002, "ProcessedHookResult", from "Base HookOutput".
// seed: 002-040, 002-041, 002-042, 002-043, 002-069, 002-070
#[test]
fn processed_hook_result_reads_the_common_fields() {
    let output =
        json!({"continue": false, "stopReason": "enough", "suppressOutput": true, "systemMessage": "hello"});
    let answer = answered("BeforeTool", std::slice::from_ref(&output));
    let mut processed = answer["processed"].clone();
    assert_eq!(processed["aggregated"]["allOutputs"], json!([output]));
    processed.as_object_mut().unwrap().remove("aggregated");
    let expected =
        json!({"shouldStop": true, "stopReason": "enough", "systemMessage": "hello", "suppressOutput": true});
    assert_eq!(processed, expected);
    assert_eq!(answer["flow"], json!({"stop": {"reason": "enough"}}));
    let several = [json!({"systemMessage": "m1"}), json!({"systemMessage": "m2", "suppressOutput": true})];
    let several = answered("BeforeTool", &several)["processed"].clone();
    assert_eq!((&several["systemMessage"], &several["suppressOutput"]), (&json!("m1\nm2"), &json!(true)));
    let quiet = answered("BeforeTool", &[json!({"decision": "allow"})])["processed"].clone();
    assert_eq!((&quiet["shouldStop"], &quiet["suppressOutput"]), (&json!(false), &json!(false)));
    assert_eq!((&quiet["stopReason"], &quiet["systemMessage"]), (&Value::Null, &Value::Null));
}

// Seed 002, "Exit Codes".
// seed: 002-060, 002-061, 002-062
#[test]
fn exit_codes() {
    for (code, decision) in [(0, "allow"), (1, "allow"), (2, "deny")] {
        let test = TestContext::new();
        let line = format!("echo 'what it says' >&2; echo 'what it says'; exit {code}");
        let answer = fire_profile(
            &test,
            "llxprt",
            "BeforeTool",
            &settings("BeforeTool", &[line]),
            &json!({"tool_name": "x"}),
        );
        let output = &answer["finalOutput"];
        assert_eq!(output["decision"], decision, "exit {code}: {output}");
        let text = if code == 2 { &output["reason"] } else { &output["systemMessage"] };
        assert!(text.as_str().unwrap().ends_with("what it says"), "exit {code}: {output}");
        assert_eq!(text.as_str().unwrap().starts_with("Warning"), code == 1, "exit {code}: {output}");
        assert_eq!(answer["trace"][0]["exitCode"], code);
    }
}

// Seed 002, "Environment Variables".
// seed: 002-071, 002-072
#[test]
fn environment_variables() {
    let test = TestContext::new();
    let lines = ["env > ../env".to_owned(), "echo $LLXPRT_PROJECT_DIR > ../expanded".to_owned()];
    let work = test.path("work");
    let input = json!({"cwd": work, "tool_name": "x"});
    fire_profile(&test, "llxprt", "BeforeTool", &settings("BeforeTool", &lines), &input);
    let env = std::fs::read_to_string(test.path("env")).unwrap();
    for name in ["LLXPRT_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"] {
        assert!(env.lines().any(|line| line == format!("{name}={}", work.display())), "{name}: {env}");
    }
    let expanded = std::fs::read_to_string(test.path("expanded")).unwrap();
    assert_eq!(expanded.trim(), work.to_str().unwrap());
}

// Seed 002, "MessageBus Contracts".
// seed: 002-073, 002-074, 002-075, 002-076
#[test]
fn message_bus_contracts() {
    let test = TestContext::new();
    let deny = printing_command(&json!({"decision": "deny", "reason": "no"}));
    let path = test.write("settings.json", &settings("BeforeTool", &[deny]).to_string());
    let request = |id: &str, event: &str| {
        let input = json!({
            "session_id": "s", "transcript_path": "", "cwd": "/", "hook_event_name": event,
            "timestamp": "2025-02-18T16:30:00.000Z", "tool_name": "write_file", "tool_input": {},
        });
        let payload = json!({"correlationId": id, "eventName": event, "input": input});
        json!({"type": "HOOK_EXECUTION_REQUEST", "payload": payload}).to_string()
    };
    let requests = format!("{}\n{}\n", request("c-1", "BeforeTool"), request("c-2", "NoSuchEvent"));
    let ran = test.run_with(&["bus", "--settings", path.to_str().unwrap()], requests.as_bytes());
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let mut responses: Vec<Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    responses.sort_by_key(|response| response["payload"]["correlationId"].to_string());
    let [done, refused] = responses.as_slice() else { panic!("{}", ran.stdout) };
    for (response, id, success) in [(done, "c-1", true), (refused, "c-2", false)] {
        assert_eq!(response["type"], "HOOK_EXECUTION_RESPONSE");
        assert_eq!(
            (&response["payload"]["correlationId"], &response["payload"]["success"]),
            (&json!(id), &json!(success))
        );
    }
    let output = &done["payload"]["output"];
    assert_eq!((&output["success"], &output["finalOutput"]["decision"]), (&json!(true), &json!("deny")));
    assert!(done["payload"]["error"].is_null() && refused["payload"]["output"].is_null());
    assert!(
        refused["payload"]["error"]["code"].is_string() && refused["payload"]["error"]["message"].is_string()
    );
}

// Seed 002, "DefaultHookOutput".
// seed: 002-077, 002-078
#[test]
fn default_hook_output_has_the_methods_of_its_class() {
    let value = json!({"decision": "block", "reason": "r", "continue": false, "hookSpecificOutput": {"additionalContext": "c"}});
    let output = HookOutput::new(llxprt(), "AfterTool", &value);
    assert!(output.is_blocking_decision() && output.should_stop_execution());
    assert_eq!(
        (output.effective_reason().as_str(), output.additional_context().as_deref()),
        ("r", Some("c"))
    );
    let error = output.blocking_error();
    assert_eq!((error.blocked, error.reason.as_str()), (true, "r"));
    let value = json!({"decision": "approve"});
    let output = HookOutput::new(llxprt(), "AfterTool", &value);
    assert!(!output.is_blocking_decision() && !output.should_stop_execution());
    assert_eq!((output.blocking_error().blocked, output.additional_context()), (false, None));
}

// Seed 002, "OR Decision Logic (BeforeTool, AfterTool)".
// seed: 002-044, 002-083, 002-084, 002-085, 002-086
#[test]
fn or_decision_logic() {
    for event in ["BeforeTool", "AfterTool"] {
        for word in ["deny", "block"] {
            let answer = answered(
                event,
                &[
                    json!({"decision": "allow", "reason": "one", "systemMessage": "first"}),
                    json!({"decision": word, "reason": "two", "systemMessage": "second", "suppressOutput": true}),
                    json!({"decision": "approve"}),
                ],
            );
            let output = &answer["finalOutput"];
            assert!(HookOutput::new(llxprt(), event, output).is_blocking_decision(), "{output}");
            assert_eq!(
                (&output["reason"], &output["systemMessage"]),
                (&json!("one\ntwo"), &json!("first\nsecond"))
            );
            assert_eq!(output["suppressOutput"], true, "any true wins");
            assert_eq!(answer["decision"], "deny");
        }
        let output = answered(event, &[json!({"systemMessage": "hello"})])["finalOutput"].clone();
        assert_eq!(output["decision"], "allow", "the default without a block");
    }
}

// Seed 002, "Field Replacement (BeforeModel, AfterModel)".
// seed: 002-087, 002-091
#[test]
fn field_replacement() {
    let output =
        |decision: &str, specific: Value| json!({"decision": decision, "hookSpecificOutput": specific});
    for event in ["BeforeModel", "AfterModel"] {
        let first = output("allow", json!({"llm_request": {"model": "a"}, "kept": 1}));
        let second = output("deny", json!({"llm_request": {"model": "b"}}));
        let answer = answered(event, &[first, second]);
        assert_eq!(answer["finalOutput"]["decision"], "deny");
        assert_eq!(
            answer["finalOutput"]["hookSpecificOutput"],
            json!({"llm_request": {"model": "b"}, "kept": 1})
        );
    }
}

// Seed 002, "Tool Selection (BeforeToolSelection)".
// seed: 002-088, 002-089, 002-090
#[test]
fn tool_selection() {
    let select = |mode: &str, names: &[&str]| json!({"hookSpecificOutput": {"toolConfig": {"mode": mode, "allowedFunctionNames": names}}});
    let config = |answers: &[Value]| {
        answered("BeforeToolSelection", answers)["finalOutput"]["hookSpecificOutput"]["toolConfig"].clone()
    };
    let union = config(&[select("AUTO", &["read_file", "glob"]), select("AUTO", &["ls", "glob"])]);
    assert_eq!(
        union,
        json!({"mode": "AUTO", "allowedFunctionNames": ["glob", "ls", "read_file"]}),
        "united and sorted"
    );
    let any = config(&[select("AUTO", &["b"]), select("ANY", &["a"])]);
    assert_eq!(any["mode"], "ANY");
    let none = config(&[select("ANY", &["b"]), select("NONE", &["a"]), select("AUTO", &["c"])]);
    assert_eq!(none["mode"], "NONE");
}
