// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::*;
use crate::find_profile;
use serde_json::json;

fn request() -> Value {
    json!({"model": "m", "contents": [
        {"role": "user", "parts": [{"text": "read it"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "read", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "read"}}, {"text": "and?"}]},
    ], "config": {"temperature": 1, "tools": ["t"], "stopSequences": ["x"]}})
}

#[test]
fn a_request_there_and_back_keeps_the_tool_history_in_gemini_only() {
    let there_and_back = |name| {
        let profile = find_profile(name).unwrap();
        from_hook_request(profile, &to_hook_request(profile, &request()), Some(&request()))
    };
    assert_eq!(there_and_back("gemini")["contents"][1], request()["contents"][1]);
    assert_eq!(
        there_and_back("gemini")["contents"][2]["parts"][1],
        json!({"functionResponse": {"name": "read"}})
    );
    let rebuilt = json!([
        {"role": "user", "parts": [{"text": "read it"}]}, {"role": "user", "parts": [{"text": "and?"}]},
    ]);
    assert_eq!(there_and_back("llxprt-2026-08")["contents"], rebuilt);
}

#[test]
fn a_hook_sees_text_and_four_settings() {
    let seen = to_hook_request(find_profile("gemini").unwrap(), &request());
    let expected = json!({"model": "m", "config": {"temperature": 1}, "messages": [
        {"role": "user", "content": "read it"}, {"role": "user", "content": "and?"}]});
    assert_eq!(seen, expected);
}

#[test]
fn the_shape_of_seed_002_is_given_and_taken() {
    let profile = find_profile("llxprt").unwrap();
    let seen = to_hook_request(profile, &request());
    assert_eq!(seen["contents"][0], json!({"role": "user", "parts": [{"text": "read it"}]}));
    assert_eq!(seen["generationConfig"], json!({"temperature": 1, "stopSequences": ["x"]}));
    let hook = json!({"contents": [{"role": "user", "parts": ["a", {"text": "b"}]}], "generationConfig": {"topK": 3}});
    let taken = from_hook_request(profile, &hook, Some(&request()));
    assert_eq!(taken["contents"], json!([{"role": "user", "parts": [{"text": "ab"}]}]));
    assert_eq!(
        taken["config"],
        json!({"temperature": 1, "topK": 3, "tools": ["t"], "stopSequences": ["x"]}),
        "merged with the original"
    );
}

// seed: 002-057, 002-058, 002-059
#[test]
fn a_partial_request_is_merged_in_the_seed_s_profile_and_replaces_four_keys_in_the_programs() {
    let base = json!({"model": "m", "contents": [], "config": {"temperature": 0.9, "topP": 0.5, "seed": 3}});
    let config = |name, hook: &Value| {
        from_hook_request(find_profile(name).unwrap(), hook, Some(&base))["config"].clone()
    };
    let instruction = json!({"systemInstruction": {"role": "system", "parts": ["be", {"text": " brief"}]}});
    let as_content = json!({"role": "system", "parts": [{"text": "be"}, {"text": " brief"}]});
    let expected = json!({"temperature": 0.9, "topP": 0.5, "seed": 3, "systemInstruction": as_content});
    assert_eq!(config("llxprt", &instruction), expected);
    for (generation, expected) in [
        (
            json!({"stopSequences": ["END"]}),
            json!({"temperature": 0.9, "topP": 0.5, "seed": 3, "stopSequences": ["END"]}),
        ),
        (json!({"temperature": 0.1}), json!({"temperature": 0.1, "topP": 0.5, "seed": 3})),
        (
            json!({"maxOutputTokens": 5}),
            json!({"temperature": 0.9, "topP": 0.5, "maxOutputTokens": 5, "seed": 3}),
        ),
        (json!({"tools": ["mine"]}), json!({"temperature": 0.9, "topP": 0.5, "seed": 3})),
    ] {
        assert_eq!(config("llxprt", &json!({"generationConfig": generation})), expected, "{generation}");
    }
    for name in ["llxprt-2026-08", "gemini"] {
        assert_eq!(config(name, &instruction), base["config"], "{name}: dropped");
        let given = json!({"config": {"temperature": 0.1, "stopSequences": ["END"]}});
        assert_eq!(config(name, &given), json!({"temperature": 0.1, "seed": 3}), "{name}");
    }
}

#[test]
fn a_hook_of_the_seed_sees_the_system_instruction() {
    let mut given = request();
    given["config"]["systemInstruction"] = json!("be brief");
    let seen = to_hook_request(find_profile("llxprt").unwrap(), &given);
    assert_eq!(seen["systemInstruction"], json!({"role": "system", "parts": [{"text": "be brief"}]}));
    assert_eq!(to_hook_request(find_profile("gemini").unwrap(), &given).get("systemInstruction"), None);
}

#[test]
fn without_messages_the_contents_stay() {
    for name in ["llxprt", "llxprt-2026-08", "gemini"] {
        let changed =
            from_hook_request(find_profile(name).unwrap(), &json!({"model": "other"}), Some(&request()));
        let mut expected = request();
        expected["model"] = json!("other");
        assert_eq!(changed, expected, "{name}");
    }
}

#[test]
fn without_any_model_each_profile_has_its_own_fallback() {
    let model = |name| from_hook_request(find_profile(name).unwrap(), &json!({}), None)["model"].clone();
    assert_eq!([model("llxprt-2026-08"), model("gemini")], [json!("gemini-2.5-flash"), json!("")]);
}

#[test]
fn gemini_keeps_entries_the_hook_says_nothing_about() {
    let base = json!({"model": "m", "contents": ["one", {"text": "bare"}, {"role": "user", "parts": [{"text": "two"}]}]});
    let hook = json!({"messages": [{"role": "user", "content": "ONE"}]});
    let contents = from_hook_request(find_profile("gemini").unwrap(), &hook, Some(&base))["contents"].clone();
    let expected = json!([
        {"role": "user", "parts": [{"text": "ONE"}]}, {"role": "user", "parts": [{"text": "bare"}]},
        {"role": "user", "parts": [{"text": "two"}]},
    ]);
    assert_eq!(contents, expected);
}

#[test]
fn what_is_blocked_is_not_told_in_a_rating() {
    let response = json!({"candidates": [{"content": {"parts": []}, "safetyRatings": [
        {"category": "C", "probability": "LOW", "blocked": true}]}]});
    let seen = to_hook_response(&response);
    let expected = json!({"candidates": [{"content": {"role": "model", "parts": []},
        "safetyRatings": [{"category": "C", "probability": "LOW"}]}]});
    assert_eq!(seen, expected);
}
