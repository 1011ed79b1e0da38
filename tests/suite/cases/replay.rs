// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs whole groups of cases again, with a program that has the output and exit code of the case.

use serde_json::{Value, json};

use super::{case, cases, command, fire, fire_file};
use crate::context::TestContext;

/// A command with the output and exit code of a case.
fn command_with_output(output: &Value, code: &Value) -> String {
    let text = |key: &str| output[key].as_str().unwrap_or_default().replace('\'', r"'\''");
    format!("printf %s '{}'; printf %s '{}' >&2; exit {code}", text("stdout"), text("stderr"))
}

#[test]
fn output_of_a_program_is_read_as_llxprt_and_gemini_read_it() {
    let told = cases().into_iter().filter(|case| case["given"]["exit"].is_u64());
    let mut count = 0;
    for case in told.filter(|case| case["area"] == "runner") {
        let (given, expect) = (&case["given"], &case["expect"]);
        let profile = if case["system"] == "llxprt" { "llxprt-2026-08" } else { "gemini" };
        let hook = command(&command_with_output(given, &given["exit"]));
        let event = given["event"].as_str().unwrap();
        let answer = fire(&TestContext::new(), profile, event, &json!([{"hooks": [hook]}])).json();
        let step = &answer["trace"][0];
        assert_eq!(
            (&step["success"], &step["output"]),
            (&expect["success"], &expect["output"]),
            "{}",
            case["id"]
        );
        assert_eq!(step["exitCode"], given["exit"], "{}", case["id"]);
        if let Some(blocked) = expect["blocked"].as_bool() {
            assert_eq!(answer["decision"] == "deny", blocked, "{}", case["id"]);
        }
        count += 1;
    }
    assert!(count > 10, "{count} cases");
}

/// Cases of Claude Code that end in an exit code and a decision.
fn decided_by_programs() -> Vec<Value> {
    let has_code = |case: &Value| {
        let outputs = case["outputs"].as_array().into_iter().flatten();
        outputs.clone().count() > 0 && outputs.clone().all(|output| output["exit_code"].is_u64())
    };
    let told = cases().into_iter().filter(|case| case["dialect"] == "claude-command" && has_code(case));
    told.filter(|case| case["expect"]["decision"].is_string()).collect()
}

fn decides_as_claude_code(case: &Value) {
    let event = case["event"].as_str().unwrap();
    let outputs = case["outputs"].as_array().unwrap().iter();
    let hook = |(at, output): (usize, &Value)| {
        command(&format!(": {at}; {}", command_with_output(output, &output["exit_code"])))
    };
    let hooks: Vec<_> = outputs.enumerate().map(hook).collect();
    let settings = json!({"hooks": {event: [{"hooks": hooks}]}});
    let answer = fire_file(&TestContext::new(), "claude", event, &settings, &case["input"]).json();
    let decided = match case["expect"]["decision"].as_str().unwrap() {
        "stop" => answer["flow"]["stop"].is_object(),
        "block" => answer["decision"] == "deny",
        word => answer["decision"] == word,
    };
    assert!(decided, "{}: {} and {}", case["id"], answer["decision"], answer["flow"]);
}

const EXIT_TWO: &[&str] =
    &["cc-003-exit2-beats-json-allow", "cc-057-posttoolbatch-exit2-stops", "cc-071-precompact-block"];
const INVALID: &str = "cc-009-exit0-invalid-schema";

#[test]
fn output_of_programs_decides_as_in_claude_code() {
    // Text that the client adds does not come from hooks.
    let client = ["cc-025-allow-cannot-beat-deny-rule", "cc-029-defer-interactive-ignored"];
    let mut count = 0;
    for case in decided_by_programs() {
        let id = case["id"].as_str().unwrap();
        if !client.contains(&id) && !EXIT_TWO.contains(&id) && id != INVALID {
            decides_as_claude_code(&case);
            count += 1;
        }
    }
    assert!(count > 10, "{count} cases");
}

#[test]
fn exit_code_2_blocks_as_in_claude_code() {
    for id in EXIT_TWO {
        decides_as_claude_code(&case(id));
    }
}

#[test]
fn an_answer_of_another_shape_is_dropped_as_in_claude_code() {
    decides_as_claude_code(&case(INVALID));
}
