// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Checks that the OpenAPI document matches the daemon: every reply in these tests is compared with its schema.

use serde_json::{Value, json};

use crate::context::TestContext;
use crate::daemon::{RunningDaemon, until};

/// Returns why a value does not match a schema, for the parts of JSON Schema that the document uses.
fn schema_violation(document: &Value, schema: &Value, value: &Value, at: &str) -> Option<String> {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = document.pointer(reference.strip_prefix('#').unwrap()).unwrap();
        if let Some(why) = schema_violation(document, target, value, at) {
            return Some(why);
        }
    }
    let list = |key: &str| schema[key].as_array().map(Vec::as_slice).unwrap_or_default();
    if let Some(why) = list("allOf").iter().find_map(|part| schema_violation(document, part, value, at)) {
        return Some(why);
    }
    for key in ["anyOf", "oneOf"] {
        let misfits: Vec<_> =
            list(key).iter().map(|part| schema_violation(document, part, value, at)).collect();
        if !misfits.is_empty() && misfits.iter().all(Option::is_some) {
            return Some(format!("{at} fits none of {key}: {misfits:?}"));
        }
    }
    let is = |kind: &Value| match kind.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("{other}"),
    };
    let kinds = match &schema["type"] {
        kind @ Value::String(_) => std::slice::from_ref(kind),
        kinds => kinds.as_array().map(Vec::as_slice).unwrap_or_default(),
    };
    if !kinds.is_empty() && !kinds.iter().any(is) {
        return Some(format!("{at} is none of {kinds:?}: {value}"));
    }
    let words = [list("enum"), schema.get("const").map(std::slice::from_ref).unwrap_or_default()].concat();
    if !words.is_empty() && !words.contains(value) {
        return Some(format!("{at}: {value} is none of {words:?}"));
    }
    let items = value.as_array().into_iter().flatten().enumerate();
    let mut items = items.map(|(place, item)| (&schema["items"], item, format!("{at}[{place}]")));
    if let Some(why) = items.find_map(|(schema, item, at)| schema_violation(document, schema, item, &at)) {
        return Some(why);
    }
    let fields = value.as_object()?;
    if let Some(name) = list("required").iter().find(|name| !fields.contains_key(name.as_str().unwrap())) {
        return Some(format!("{at} has no {name}: {value}"));
    }
    fields.iter().find_map(|(name, value)| {
        let known = &schema["properties"][name];
        let known = if known.is_null() { &schema["additionalProperties"] } else { known };
        if *known == false {
            return Some(format!("{at} must not have `{name}`"));
        }
        schema_violation(document, known, value, &format!("{at}.{name}"))
    })
}

/// Fields that the document does not describe.
fn undocumented_fields<'a>(document: &'a Value, mut schema: &'a Value, value: &'a Value) -> Vec<&'a str> {
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
fn the_served_document_is_the_checked_in_one() {
    let served = RunningDaemon::new();
    let checked_in = crate::context::repository().join("docs/reference/openapi.json");
    let checked_in: Value = serde_json::from_str(&std::fs::read_to_string(checked_in).unwrap()).unwrap();
    assert_eq!(served.json("/v1/openapi.json"), checked_in);
}

#[test]
fn every_operation_of_the_document_is_there() {
    let served = RunningDaemon::new();
    let document = served.json("/v1/openapi.json");
    for (path, operations) in document["paths"].as_object().unwrap() {
        let parts = path.split('/').map(|part| if part.starts_with('{') { "x" } else { part });
        let path = parts.collect::<Vec<_>>().join("/");
        for method in operations.as_object().unwrap().keys() {
            // Streams are skipped because they never end.
            if operations[method]["responses"]["200"]["content"]["text/event-stream"].is_object() {
                continue;
            }
            let answer = served.request(&method.to_uppercase(), &path, &[], b"");
            let missing = answer.status == 405 || answer.status == 404 && answer.message() == "unknown path";
            assert!(!missing, "{method} {path}: {answer:?}");
        }
    }
}

#[test]
fn replies_match_the_document() {
    let test = TestContext::new();
    test.write("home/policy.yaml", "version: 1\nrules:\n  - id: broken\n");
    test.write("home/tenterhook.yaml", "hooks:\n  - id: look\n    on: stop\n    command: 'true'\n");
    let served = RunningDaemon::in_home(test, &[]);
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
        ("/v1/policy/validate", "post", served.request("POST", "/v1/policy/validate", &[], b"rules: 7")),
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
        assert_eq!(schema_violation(&document, schema, &value, path), None);
        assert_eq!(undocumented_fields(&document, schema, &value), [""; 0], "{path}");
    }
}
