// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Budgets through a real daemon: agents report token usage, are warned, and are stopped.

use serde_json::{Value, json};
use tenterhook_client::{Client, FireResult, FiredEvent};

use crate::context::TestContext;
use crate::daemon::RunningDaemon;
use crate::sdk::run;

const POLICY: &str = "version: 1
rules:
  - id: session-budget
    description: A session may cost ten dollars.
    match: {}
    verdict: deny
    limit: {cost: 10.00, warn: 8.00, per: session}
    examples: {deny: [ls], allow: [{event: stop}]}
  - id: daily-budget
    match: {event: prompt}
    verdict: deny
    reason: enough for today
    limit: {cost: 15.00, per: day}
";

fn start_daemon() -> RunningDaemon {
    let test = TestContext::new();
    test.write("home/policy.yaml", POLICY);
    // The user's price file contains a model whose tokens cost one dollar per million.
    test.write("home/prices.yaml", "version: 1\nprices:\n  - {model: 'mine-*', input: 1, output: 1}\n");
    RunningDaemon::in_home(test, &[])
}

fn usage_event(event: &str, session: &str, payload: &Value) -> FiredEvent {
    FiredEvent::new(event, payload).session(session).source("my-agent")
}

async fn start(client: &Client, session: &str) -> FireResult {
    let payload = json!({"prompt": "go", "model": {"name": "mine-1"}, "tools": []});
    client.fire(usage_event("GenerateStart", session, &payload)).await.unwrap()
}

async fn end(client: &Client, session: &str, model: &str, tokens: u64) -> FireResult {
    let usage = json!({"input_tokens": tokens, "output_tokens": 0, "total_tokens": tokens});
    let response = json!({"text": "hm", "toolCalls": [], "usage": usage, "duration": 1});
    let payload = json!({"prompt": "go", "model": {"name": model}, "response": response});
    client.fire(usage_event("GenerateEnd", session, &payload)).await.unwrap()
}

#[test]
fn a_program_that_crosses_its_budget_is_warned_and_then_stopped() {
    let served = start_daemon();
    run(async {
        let client = served.program("my-agent/1.0");
        assert!(!start(&client, "s").await.blocked);
        end(&client, "s", "mine-1", 5_000_000).await;
        assert_eq!(start(&client, "s").await.message, None);
        end(&client, "s", "mine-1", 3_500_000).await;
        let warned = start(&client, "s").await;
        let warning = "this session has cost $8.50 of a budget of $10.00 (rule session-budget)";
        assert_eq!((warned.blocked, warned.message.as_deref()), (false, Some(warning)));
        assert_eq!(warned.context.as_deref(), Some(warning), "the model reads it too");
        assert_eq!(start(&client, "s").await.message, None, "it is reported once");
        end(&client, "s", "mine-1", 2_000_000).await;
        let stopped = start(&client, "s").await;
        let reason = "this session has cost $10.50 of a budget of $10.00";
        assert_eq!((stopped.decision.as_str(), stopped.stop), ("deny", true), "{stopped:?}");
        assert_eq!(stopped.reason.as_deref(), Some(reason));
        let tool = json!({"tool": "Bash", "args": {"command": "ls"}, "context": {}});
        assert!(client.fire(usage_event("PreToolUse", "s", &tool)).await.unwrap().blocked);
        assert!(!start(&client, "other").await.blocked, "another session has its own budget");
    });
    let leaves = served.test.records();
    let rules: Vec<_> = leaves.iter().filter_map(|leaf| leaf["policy_rule_id"].as_str()).collect();
    assert_eq!(rules, ["session-budget", "session-budget"]);
}

#[test]
fn daily_spend_counts_all_sessions_and_outlives_the_daemon() {
    let served = start_daemon();
    run(async {
        let client = served.program("my-agent/1.0");
        for session in ["a", "b"] {
            end(&client, session, "mine-1", 7_600_000).await;
        }
    });
    let served = served.restart();
    run(async {
        let client = served.program("my-agent/1.0");
        let prompt = json!({"prompt": "once more", "context": {}});
        let stopped = client.fire(usage_event("UserPromptSubmit", "c", &prompt)).await.unwrap();
        let reason = "enough for today (today's sessions have cost $15.20 of a budget of $15.00)";
        assert_eq!((stopped.blocked, stopped.stop, stopped.reason.as_deref()), (true, true, Some(reason)));
    });
}

#[test]
fn a_model_without_a_price_is_reported() {
    let served = start_daemon();
    run(async {
        let client = served.program("my-agent/1.0");
        end(&client, "s", "unheard-of", 1200).await;
        let warning = "this session has cost $0.00 of a budget of $10.00, not counting 1200 tokens of models without \
                       a known price (rule session-budget)";
        assert_eq!(start(&client, "s").await.message.as_deref(), Some(warning));
    });
}

#[test]
fn gemini_is_stopped_too_and_the_pieces_of_a_stream_count_once() {
    let served = start_daemon();
    let request = json!({"model": "mine-2", "messages": [{"role": "user", "content": "go"}]});
    let ask = |event: &str, more: Value| {
        let mut payload =
            json!({"session_id": "g", "hook_event_name": event, "cwd": "/", "llm_request": request});
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answer = served.post(&format!("/v1/hooks/gemini/{event}"), &payload);
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.body
    };
    let piece = |finish: Value| {
        let usage =
            json!({"promptTokenCount": 6_000_000, "candidatesTokenCount": 0, "totalTokenCount": 6_000_000});
        let content = json!({"role": "model", "parts": ["hm"]});
        let candidates = json!([{"content": content, "finishReason": finish, "index": 0}]);
        json!({"llm_response": {"candidates": candidates, "usageMetadata": usage}})
    };
    for _ in 0..3 {
        ask("AfterModel", piece(Value::Null));
    }
    ask("AfterModel", piece(json!("STOP")));
    assert!(!ask("BeforeModel", json!({})).contains("budget"), "six dollars, not twenty-four");
    ask("AfterModel", piece(json!("STOP")));
    let answer: Value = serde_json::from_str(&ask("BeforeModel", json!({}))).unwrap();
    assert_eq!(answer["continue"], false, "{answer}");
    assert!(answer["stopReason"].as_str().unwrap().contains("this session has cost $12.00"), "{answer}");
}

#[test]
fn invalid_prices_are_reported_with_their_position() {
    let test = TestContext::new();
    test.write("home/policy.yaml", POLICY);
    test.write("home/prices.yaml", "version: 1\nprices:\n  - {model: mine, input: cheap, output: 1}\n");
    let ran = test.run(&["policy", "check"]);
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(said.contains("prices.yaml:3:"), "{said}");
    assert!(said.contains("this price is not used; the others are"), "{said}");
}
