// SPDX-License-Identifier: Apache-2.0 OR MIT

use serde_json::{Value, json};
use tenterhook_event::{Decision, EventKind as Kind, Origin, ToolCall};

use super::{Elsewhere, each, event, load, run};
use crate::dialect::{HookDialect, HookExit, OutputFormat, find, read};

const RUNNING: Elsewhere = &[
    ("g-runner-037", "engine: the deadline"),
    ("g-runner-047", "engine: a hook's own `env` is set last"),
    ("g-runner-049", "engine: trust"),
    ("l-runner-051", "engine: trust"),
    ("g-runner-053", "profile: a chain goes on"),
    ("g-runner-055", "profile: what the next of a chain sees"),
    ("g-runner-057", "profile: what the next of a chain sees"),
    ("g-runner-059", "profile: what the next of a chain sees"),
    ("g-runner-061", "profile: what the next of a chain sees"),
    ("g-runner-063", "profile: a chain goes on"),
    ("g-runner-065", "profile: what the next of a chain sees"),
    ("g-runner-067", "profile: order of results"),
    ("g-runner-069", "no such hooks here: `runtime` is a JavaScript function"),
    ("g-runner-295", "engine: returns at the hook's end, on purpose"),
    ("l-runner-297", "engine: returns at the hook's end, on purpose"),
];

const PLANNING: Elsewhere = &[
    ("l-planner-147", "profile: the plan"),
    ("l-planner-189", "profile: the same hook twice"),
    ("l-planner-191", "profile: the same hook twice"),
    ("l-planner-193", "profile: the same hook twice"),
    ("l-planner-195", "profile: the same hook twice"),
    ("g-planner-197", "profile: the same hook twice"),
    ("g-planner-199", "profile: sequential groups"),
    ("g-planner-201", "profile: sequential groups"),
];

/// Returns the dialect for which a case was measured: LLxprt Code of 2026-08 or Gemini CLI.
fn measured(case: &Value) -> &'static HookDialect {
    find(if case["system"] == "llxprt" { "llxprt-2026-08" } else { "gemini" }).unwrap()
}

fn area(name: &str) -> Vec<Value> {
    load("llxprt_gemini.jsonl").into_iter().filter(|case| case["area"] == name).collect()
}

fn check_runner(dialect: &HookDialect, case: &Value) {
    let given = &case["given"];
    let text = |key: &str| given[key].as_str().map(ToOwned::to_owned);
    let mut event = event("x", Kind::PreTool, "BeforeTool");
    (event.cwd, event.harness_session_id) = (text("cwd"), text("session_id"));
    let exited = HookExit {
        code: given["exit"].as_i64().map(|code| i32::try_from(code).unwrap()),
        stdout: text("stdout").unwrap_or_default().into(),
        stderr: text("stderr").unwrap_or_default().into(),
    };
    let raw = read(dialect, &exited);
    let decision = raw.output.as_ref().and_then(|output| output["decision"].as_str());
    let blocked = matches!(decision, Some("deny" | "block"));
    if blocked {
        let heard = dialect.interpret(&event, Origin::hook("h"), &exited).unwrap();
        assert_eq!(heard.finding.decision, Decision::Deny, "{}: we are never laxer", case["id"]);
    }
    let env = dialect.env(&event);
    let is_set =
        |name: &str, value: &Value| env.iter().any(|(known, set)| *known == name && json!(set) == *value);
    let expanded = text("command").map(|command| dialect.expand(&command, &event, None));
    each(case, &case["expect"], |key, expected| match key {
        "success" => json!(raw.success) == *expected,
        "exitCode" => json!(raw.exit_code) == *expected,
        "output" => raw.output.clone().unwrap_or_default() == *expected,
        "outputFormat" => (raw.format == OutputFormat::Json) == (expected == "json"),
        "blocked" => json!(blocked) == *expected,
        "tool_runs" => json!(!blocked) == *expected,
        "effective_timeout_ms" => json!(u64::try_from(dialect.timeout.as_millis()).unwrap()) == *expected,
        "shell_argv" => {
            let argv = dialect.shell().iter().map(|word| (*word).to_owned()).chain(expanded.clone());
            json!(argv.collect::<Vec<_>>()) == *expected
        }
        "command_after_expansion" => json!(expanded) == *expected,
        // The expanded command already shows this result, so only the expected value is checked.
        "injected_command_runs" => expected == false,
        "env" | "env_set" => {
            // The plans directory is left out, because only the client knows it.
            let wanted = expected.as_object().unwrap().iter().filter(|(name, _)| *name != "GEMINI_PLANS_DIR");
            wanted.into_iter().all(|(name, value)| is_set(name, value))
        }
        "env_not_set" => {
            let names = expected.as_array().unwrap();
            names.iter().all(|name| env.iter().all(|(known, _)| json!(known) != *name))
        }
        _ => false,
    });
}

#[test]
fn one_hook_s_result_is_read_as_the_originals_read_it() {
    run(&area("runner"), RUNNING, |case| check_runner(measured(case), case));
}

#[test]
fn the_seed_s_row_reads_the_same_but_where_it_is_known_to_differ() {
    let cases: Vec<_> = area("runner").into_iter().filter(|case| case["system"] == "llxprt").collect();
    let differs: Elsewhere = &[
        ("l-runner-015", "the seed's version did not block on exit 2 without a text"),
        ("l-runner-045", "the seed has three variables"),
        ("l-runner-051", "engine: trust"),
        ("l-runner-297", "engine: returns at the hook's end, on purpose"),
    ];
    run(&cases, differs, |case| check_runner(find("llxprt").unwrap(), case));
}

#[test]
fn matchers_hit_what_they_hit_in_the_originals() {
    run(&area("planner"), PLANNING, |case| {
        let given = &case["given"];
        let name = given["event"].as_str().unwrap();
        let kind = match name {
            "BeforeTool" => Kind::PreTool,
            "BeforeAgent" => Kind::Prompt,
            "BeforeModel" => Kind::PreModel,
            "SessionStart" => Kind::SessionStart,
            "SessionEnd" => Kind::SessionEnd,
            "PreCompress" => Kind::PreCompact,
            "Notification" => Kind::Notification,
            other => panic!("{other}"),
        };
        let mut event = event("x", kind, name);
        event.tool = given["toolName"].as_str().map(|name| ToolCall::new(name, json!({})));
        event.detail.cause = given["trigger"].as_str().map(ToOwned::to_owned);
        for dialect in ["llxprt", "llxprt-2026-08", "gemini"] {
            let (matcher, _) = find(dialect).unwrap().matcher(given["matcher"].as_str());
            let admits = matcher.admits(&event).is_ok();
            each(case, &case["expect"], |key, expected| match key {
                "match" => json!(admits) == *expected,
                "plan" => !admits,
                "why" => true,
                _ => false,
            });
        }
    });
}
