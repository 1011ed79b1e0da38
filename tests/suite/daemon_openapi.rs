// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The document says what the daemon does: every answer here is held against its schema.

use serde_json::{Value, json};

use crate::context::TestContext;
use crate::daemon::{Served, until};

/// What of JSON Schema the document uses.
fn fits(document: &Value, schema: &Value, value: &Value, at: &str) {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = document.pointer(reference.strip_prefix('#').unwrap()).unwrap();
        fits(document, target, value, at);
    }
    for part in schema["allOf"].as_array().into_iter().flatten() {
        fits(document, part, value, at);
    }
    let is = |kind: &str| match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("{other}"),
    };
    match &schema["type"] {
        Value::String(kind) => assert!(is(kind), "{at} is no {kind}: {value}"),
        Value::Array(kinds) => {
            assert!(
                kinds.iter().any(|kind| is(kind.as_str().unwrap())),
                "{at} is none of {kinds:?}: {value}"
            );
        }
        _ => {}
    }
    if let Some(words) = schema["enum"].as_array() {
        assert!(words.contains(value), "{at}: {value} is none of {words:?}");
    }
    let Some(fields) = value.as_object() else {
        for (place, item) in value.as_array().into_iter().flatten().enumerate() {
            fits(document, &schema["items"], item, &format!("{at}[{place}]"));
        }
        return;
    };
    for name in schema["required"].as_array().into_iter().flatten() {
        assert!(fields.contains_key(name.as_str().unwrap()), "{at} has no {name}: {value}");
    }
    for (name, value) in fields {
        let known = &schema["properties"][name];
        let known = if known.is_null() { &schema["additionalProperties"] } else { known };
        if !known.is_null() {
            fits(document, known, value, &format!("{at}.{name}"));
        }
    }
}

/// Fields that the document does not know.
fn unknown<'a>(document: &'a Value, mut schema: &'a Value, value: &'a Value) -> Vec<&'a str> {
    while let Some(reference) = schema["$ref"].as_str() {
        schema = document.pointer(reference.strip_prefix('#').unwrap()).unwrap();
    }
    if schema["allOf"].is_array() || schema["properties"].is_null() {
        return Vec::new();
    }
    let fields = value.as_object().unwrap().keys().map(String::as_str);
    fields.filter(|name| schema["properties"][name].is_null()).collect()
}

#[test]
fn what_is_served_is_what_is_checked_in() {
    let served = Served::new();
    let checked_in = crate::context::repository().join("docs/reference/openapi.json");
    let checked_in: Value = serde_json::from_str(&std::fs::read_to_string(checked_in).unwrap()).unwrap();
    assert_eq!(served.json("/v1/openapi.json"), checked_in);
}

#[test]
fn every_operation_of_the_document_is_there() {
    let served = Served::new();
    for (path, operations) in tenterhook_daemon::openapi()["paths"].as_object().unwrap() {
        let parts = path.split('/').map(|part| if part.starts_with('{') { "x" } else { part });
        let path = parts.collect::<Vec<_>>().join("/");
        for method in operations.as_object().unwrap().keys() {
            // A stream never ends.
            if operations[method]["responses"]["200"]["content"]["text/event-stream"].is_object() {
                continue;
            }
            let answer = served.ask(&method.to_uppercase(), &path, &[], b"");
            let missing =
                answer.status == 405 || answer.status == 404 && answer.message() == "there is no such path";
            assert!(!missing, "{method} {path}: {answer:?}");
        }
    }
}

#[test]
fn answers_look_as_the_document_says() {
    let test = TestContext::new();
    test.write("home/policy.yaml", "version: 1\nrules:\n  - id: broken\n");
    test.write("home/tenterhook.yaml", "hooks:\n  - id: look\n    on: stop\n    command: 'true'\n");
    let served = Served::in_home(test, &[]);
    let document = served.json("/v1/openapi.json");
    served.call("SessionStart", &json!({"source": "startup", "model": "m"}));
    served.call("UserPromptSubmit", &json!({"prompt": "x"}));
    served.bash("cat a > b");
    served.bash("sudo rm -rf /");
    served.call("SubagentStart", &json!({"agent_id": "a-1", "agent_type": "helper"}));
    let todos = json!({"todos": [{"content": "x", "status": "pending"}]});
    served.call("PreToolUse", &json!({"tool_name": "TodoWrite", "tool_input": todos, "tool_use_id": "t"}));
    served.post("/v1/ledger/verify", &json!({}));
    until("the check ends", || (served.json("/v1/ledger/verify")["running"] == false).then_some(()));
    let event = served.post("/v1/policy/explain", &json!({"command": "ls"})).json()["event"].clone();
    let paths = [
        ("/v1/health", "/v1/health"),
        ("/v1/hooks", "/v1/hooks"),
        ("/v1/sessions", "/v1/sessions"),
        ("/v1/sessions/{id}", "/v1/sessions/s-1"),
        ("/v1/sessions/{id}/files", "/v1/sessions/s-1/files"),
        ("/v1/sessions/{id}/diff", "/v1/sessions/s-1/diff?path=b"),
        ("/v1/sessions/{id}/todos", "/v1/sessions/s-1/todos"),
        ("/v1/sessions/{id}/timeline", "/v1/sessions/s-1/timeline"),
        ("/v1/ledger", "/v1/ledger"),
        ("/v1/ledger/{seq}", "/v1/ledger/1"),
        ("/v1/ledger/stats", "/v1/ledger/stats"),
        ("/v1/ledger/checkpoint", "/v1/ledger/checkpoint"),
        ("/v1/ledger/verify", "/v1/ledger/verify"),
        ("/v1/ledger/key", "/v1/ledger/key"),
        ("/v1/policy", "/v1/policy"),
        ("/v1/mode", "/v1/mode"),
        ("/v1/authority", "/v1/authority?action=stop"),
        ("/v1/hooks/analytics", "/v1/hooks/analytics"),
        ("/v1/kits", "/v1/kits"),
        ("/v1/packs", "/v1/packs"),
        ("/v1/templates", "/v1/templates"),
        ("/v1/harnesses", "/v1/harnesses"),
    ];
    let asked = paths.map(|(path, asked)| (path, "get", served.get(asked)));
    let posted = [
        ("/v1/events", "post", served.post("/v1/events", &event)),
        ("/v1/policy/explain", "post", served.post("/v1/policy/explain", &json!({"command": "rm -rf /"}))),
        ("/v1/policy/validate", "post", served.ask("POST", "/v1/policy/validate", &[], b"rules: 7")),
        ("/v1/ledger/checkpoint", "post", served.post("/v1/ledger/checkpoint", &json!({}))),
        (
            "/v1/policy/backtest",
            "post",
            served.post("/v1/policy/backtest", &json!({"text": "version: 1\nrules: []\n"})),
        ),
        ("/v1/hooks/{id}/enable", "post", served.post("/v1/hooks/look/enable", &json!({}))),
        (
            "/v1/hooks/{id}/test",
            "post",
            served.post("/v1/hooks/look/test", &json!({"sample": {"event": "stop"}})),
        ),
        ("/v1/kits/validate", "post", served.post("/v1/kits/validate", &json!({"files": {}}))),
        ("/v1/policy/draft", "post", served.post("/v1/policy/draft", &json!({"template": "env-files"}))),
    ];
    for (path, method, answer) in asked.into_iter().chain(posted) {
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        let schema =
            &document["paths"][path][method]["responses"]["200"]["content"]["application/json"]["schema"];
        assert!(schema.is_object(), "{path}");
        let value = answer.json();
        fits(&document, schema, &value, path);
        assert_eq!(unknown(&document, schema, &value), [""; 0], "{path}");
    }
}
