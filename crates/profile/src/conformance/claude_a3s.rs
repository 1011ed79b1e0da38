// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs the cases of `claude_a3s.jsonl` that concern several hooks.

use serde_json::{Value, json};
use tenterhook_event::{Decision, Flow};

use super::Case;
use crate::{
    AggregatedResult, ConfiguredHook, HookResult, Profile, ProfileSettings, SettingsLayer, SettingsSource,
    aggregate, effective_result, find_profile, interpret_output, plan_hooks, read_settings,
};

const NOT_RUN: &[(&str, &[&str])] = &[
    (
        "how one hook is spoken to and read (exit codes, text, HTTP, prompts, SDK callbacks): the dialect's",
        &[
            "cc-003-exit2-beats-json-allow",
            "cc-005-exit2-invalid-schema-still-blocks",
            "cc-009-exit0-invalid-schema",
            "cc-013-plain-text-stdout-pretool",
            "cc-015-stdout-brace-unparseable",
            "cc-017-profile-noise-breaks-json",
            "cc-019-timeout-sdk-callback-pretool-blocks",
            "cc-059-permreq-exit2-not-honored",
            "cc-065-stop-prompt-hook-impossible",
            "cc-067-sessionstart-stdout-and-env",
            "cc-073-worktreecreate-path",
            "cc-079-http-2xx-empty",
            "cc-081-http-200-json-deny",
            "cc-083-http-env-unlisted-empty",
            "cc-085-asyncRewake-exit2-wakes",
            "cc-087-prompt-hook-pretool-ends-turn",
            "a3s-203-exit1-open",
            "a3s-205-input-over-1MiB-truncated",
        ],
    ),
    (
        "whether a matcher or an `if` fits is asked of the dialect",
        &[
            "cc-m02-matcher",
            "cc-m04-matcher",
            "cc-m06-matcher",
            "cc-m08-matcher",
            "cc-m10-matcher",
            "cc-m12-matcher",
            "cc-m14-matcher",
            "cc-i01-if",
            "cc-i03-if",
            "cc-i05-if",
            "cc-i07-if",
            "cc-i09-if-or-not-supported",
            "a3s-011-matcher-path",
            "a3s-112-bad-regex-falls-back-to-contains",
        ],
    ),
    (
        "caller behaviour of the harness itself, not of its hook engine",
        &[
            "cc-025-allow-cannot-beat-deny-rule",
            "cc-029-defer-interactive-ignored",
            "cc-041-ask-under-bypass",
            "cc-063-stop-cap-8",
            "a3s-201-untrusted-definition-inert",
        ],
    ),
    (
        "other protocols",
        &[
            "sdk-001-initialize-registration",
            "sdk-003-hook_callback-roundtrip",
            "sdk-005-python-key-rename",
            "sdk-007-cancel",
            "ch-001-file-changed-edit",
            "ch-003-todowrite-full-replace",
            "ahp-002-id-mismatch-is-failure",
        ],
    ),
    (
        "A3S Code, where it left the design of seed 003, which this profile follows: async is honoured, what was \
         said before a skip stands, modifications are applied",
        &[
            "a3s-102-async-ignored-on-gate",
            "a3s-106-skip-drops-modification",
            "a3s-110-pretool-modified-not-applied",
        ],
    ),
];

#[test]
fn every_line_about_several_hooks_holds() {
    super::run("claude_a3s.jsonl", NOT_RUN, |case| {
        if case.0["dialect"].as_str().unwrap().starts_with("a3s") { a3s(case) } else { claude(case) }
    });
}

fn settings(profile: &Profile, layers: &[(SettingsSource, &str, Value)]) -> ProfileSettings {
    let texts: Vec<String> = layers.iter().map(|(.., value)| value.to_string()).collect();
    let layers: Vec<_> = layers
        .iter()
        .zip(&texts)
        .map(|((source, name, _), text)| SettingsLayer { source: *source, name, text })
        .collect();
    read_settings(profile, &layers)
}

/// Returns the result of a hook that printed this output. No dialect reads the output, because this crate does not
/// test dialects.
fn heard(output: &Value) -> HookResult {
    let stdout: Option<Value> = output["stdout"].as_str().and_then(|text| serde_json::from_str(text).ok());
    let blocked = || json!({"decision": "block", "reason": output["stderr"]});
    let code = output["exit_code"].as_i64();
    HookResult {
        success: code == Some(0),
        output: if code == Some(2) { Some(blocked()) } else { stdout },
        error: (output["timed_out"] == true).then(|| "timed out".to_owned()),
        duration_ms: output["duration_ms"].as_u64().unwrap_or(0),
        ..HookResult::default()
    }
}

fn entry(profile: &Profile, case: &Case) -> Option<ConfiguredHook> {
    let groups = case.0["config"].as_array().unwrap();
    let event = case.0["event"].as_str().unwrap();
    let hooks = groups.iter().all(|group| group.get("hooks").is_some());
    let layers = [(SettingsSource::User, "user", json!({"hooks": {event: groups}}))];
    hooks.then(|| settings(profile, &layers).entries.into_iter().next()).flatten()
}

fn claude(case: &Case) {
    let (profile, id, expect) = (find_profile("claude").unwrap(), case.id(), &case.0["expect"]);
    let event = case.0["event"].as_str().unwrap();
    if let Some(runs) = expect.get("runs").or(expect.get("fires")) {
        return runs_as_often(case, profile, event, runs);
    }
    let entry = entry(profile, case);
    let outputs = case.0["outputs"].as_array().unwrap().iter().map(heard);
    let results: Vec<_> = outputs
        .map(|result| match &entry {
            Some(entry) => effective_result(profile, event, entry, result),
            None => result,
        })
        .collect();
    let aggregated = aggregate(profile, event, &results);
    let (decision, flow) = interpret_output(profile, event, &aggregated);
    let nothing = Value::Null;
    let specific = aggregated.final_output.as_ref().map_or(&nothing, |output| &output["hookSpecificOutput"]);
    let last = aggregated.final_output.as_ref().unwrap_or(&nothing);
    for (key, expected) in case.expect() {
        match (key, expected.as_str()) {
            ("decision", Some("stop")) => assert!(matches!(flow, Flow::Stop { .. }), "{id}"),
            ("decision", Some("block")) => assert_eq!(decision, Decision::Deny, "{id}"),
            ("decision", Some(word)) => assert_eq!(decision.as_str(), word, "{id}"),
            ("reason", _) => assert!(says(last, specific, expected), "{id}: {last}"),
            ("stop_reason", Some(text)) => assert_eq!(flow, Flow::Stop { reason: Some(text.into()) }, "{id}"),
            ("tool_runs", _) => assert_eq!(json!(decision != Decision::Deny), *expected, "{id}"),
            ("effective_input", _) => assert_eq!(&specific["updatedInput"], expected, "{id}"),
            // Claude Code uses the hook that finished last. This crate uses the last hook in the configuration.
            ("compat", _) if id.starts_with("cc-033") => {
                assert_eq!(specific["updatedInput"], json!({"command": "B"}), "{id}");
            }
            ("context_set", _) => {
                let all = specific["additionalContext"].as_str().unwrap();
                assert_eq!(json!(all.lines().collect::<Vec<_>>()), *expected, "{id}");
            }
            ("feedback_to_model", _) => assert_eq!(&last["reason"], expected, "{id}"),
            ("model_sees", _) => assert_eq!(&specific["updatedToolOutput"], expected, "{id}"),
            ("model_told_may_retry", _) => assert_eq!(&specific["retry"], expected, "{id}"),
            ("action", _) => assert_eq!(&specific["action"], expected, "{id}"),
            ("screen", _) => assert_eq!(&specific["displayContent"], expected, "{id}"),
            ("original_prompt_in_message", _) => assert_eq!(specific["suppressOriginalPrompt"], true, "{id}"),
            ("terminal_sequence_emitted", _) => assert!(last["terminalSequence"].is_string(), "{id}"),
            ("ran", _) => {
                assert_eq!(aggregated.all_outputs.len(), expected.as_array().unwrap().len(), "{id}");
            }
            // These keys describe how the client reacts later, which is not part of a profile.
            (
                "effect"
                | "placement"
                | "stop_reason_to"
                | "reason_to"
                | "prompt_erased"
                | "tool_undone"
                | "original_output_kept"
                | "dialog_shown"
                | "stored"
                | "deterministic"
                | "error_notice",
                _,
            ) => {}
            _ => panic!("{id}: what is `{key}`?"),
        }
    }
}

fn says(last: &Value, specific: &Value, expected: &Value) -> bool {
    last["reason"] == *expected || specific["permissionDecisionReason"] == *expected
}

/// Checks how many hooks run. Identical hooks in settings run once, but identical hooks of different extensions all
/// run. Some kinds of hooks never run for an event.
fn runs_as_often(case: &Case, profile: &Profile, event: &str, expected: &Value) {
    let groups = case.0["config"].as_array().unwrap();
    let layers: Vec<_> = groups
        .iter()
        .map(|group| {
            let name = group["source"].as_str().unwrap_or("user");
            let source =
                if name.starts_with("plugin") { SettingsSource::Extensions } else { SettingsSource::User };
            (source, name, json!({"hooks": {event: [group]}}))
        })
        .collect();
    let settings = settings(profile, &layers);
    let runs = plan_hooks(profile, &settings, event, &mut |_| None).entries().count();
    match expected {
        Value::Bool(fires) => assert_eq!(runs > 0, *fires, "{}", case.id()),
        count => assert_eq!(json!(runs), *count, "{}", case.id()),
    }
}

fn a3s(case: &Case) {
    let (profile, id) = (find_profile("a3s").unwrap(), case.id());
    let event = case.0["event"].as_str().unwrap();
    let config = case.0["config"].as_array().unwrap().first().cloned().unwrap_or_default();
    if let Some(count) = config.get("registered_same_event").and_then(Value::as_u64) {
        let hooks: Vec<_> =
            (0..=count).map(|at| json!({"event": event, "command": format!("h{at}")})).collect();
        let settings = settings(
            profile,
            &[(SettingsSource::User, "hooks.json", json!({"hooks": {}, "registered": hooks}))],
        );
        assert_eq!(settings.entries.len() as u64, count, "{id}");
        assert_eq!(json!(settings.problems[0].problem.message), case.0["expect"]["register_error"], "{id}");
        return;
    }
    let fields = ["timeout", "failBehavior", "async"];
    let config: serde_json::Map<_, _> =
        fields.iter().filter_map(|key| Some(((*key).to_owned(), config.get(key)?.clone()))).collect();
    let hook = json!({"event": event, "command": "x", "config": config});
    let settings = settings(profile, &[(SettingsSource::User, "hooks.json", json!({"registered": [hook]}))]);
    let outputs = case.0["outputs"].as_array().unwrap().iter();
    let results: Vec<_> = outputs
        .map(|output| {
            let failed = output.get("timed_out").is_some() || output.get("raised").is_some();
            let result = if failed {
                HookResult::failed("timed out")
            } else {
                HookResult::with_output(output.clone())
            };
            effective_result(profile, event, &settings.entries[0], result)
        })
        .collect();
    let aggregated = aggregate(profile, event, &results);
    check_a3s(case, profile, event, &aggregated);
}

fn check_a3s(case: &Case, profile: &Profile, event: &str, aggregated: &AggregatedResult) {
    let id = case.id();
    let nothing = json!({"action": "continue"});
    let last = aggregated.final_output.as_ref().unwrap_or(&nothing);
    for (key, expected) in case.expect() {
        match key {
            "decision" => {
                assert_eq!(&last["action"], expected, "{id}");
                let denied = interpret_output(profile, event, aggregated).0 == Decision::Deny;
                assert_eq!(denied, expected == "block", "{id}");
            }
            "reason" => assert_eq!(&last["reason"], expected, "{id}"),
            "effective_args" => assert_eq!(&last["modified"]["args"], expected, "{id}"),
            "delay_ms" => assert_eq!(&last["delay"], expected, "{id}"),
            "denial" => assert_eq!(last["delay"], expected["retry_after_ms"], "{id}"),
            "warning" => assert_eq!(aggregated.errors.len(), 1, "{id}"),
            "agent_error" | "bounded_by" => {}
            _ => panic!("{id}: what is `{key}`?"),
        }
    }
}
