// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs the cases of `llxprt_gemini.jsonl`.

mod not_run;
mod translated;

use serde_json::{Value, json};
use tenterhook_event::{Decision, Flow};

use super::{Case, has};
use crate::output::{BeforeToolOutput, HookOutput};
use crate::{
    AggregatedResult, HookResult, Profile, ProfileSettings, SettingsLayer, SettingsSource, aggregate, bus,
    find_profile, interpret_output, next_input, plan_hooks, process_result, read_settings,
};
use not_run::NOT_RUN;
use translated::translated;

#[test]
fn every_line_holds() {
    super::run("llxprt_gemini.jsonl", NOT_RUN, |case| match case.0["area"].as_str().unwrap() {
        "runner" => chained(case),
        "aggregator" => aggregated(case),
        "planner" => planned(case),
        "registry" => registered(case),
        "config" => configured(case),
        "translator" => translated(case),
        area => panic!("{}: no area `{area}`", case.id()),
    });
}

fn profile(case: &Case) -> &'static Profile {
    let name = case.0["system"].as_str().unwrap();
    find_profile(if name == "llxprt" { "llxprt-2026-08" } else { name }).unwrap()
}

fn event(case: &Case) -> &str {
    case.given("event").as_str().unwrap_or("BeforeTool")
}

fn chained(case: &Case) {
    let input = case.0["given"].get("input").cloned().unwrap_or_else(|| json!({"tool_response": {}}));
    let next = next_input(profile(case), event(case), &input, case.given("first_stdout"));
    for (key, expected) in case.expect() {
        match key {
            "second_input" => assert_eq!(&next, expected, "{}", case.id()),
            "second_input_equals_first" => assert_eq!(next, input, "{}", case.id()),
            _ => panic!("{}: what is `{key}`?", case.id()),
        }
    }
}

fn results(case: &Case) -> Vec<HookResult> {
    let durations = case.given("durations");
    if let Some(outputs) = case.given("outputs").as_array() {
        let said = |(at, output): (usize, &Value)| HookResult {
            duration_ms: durations[at].as_u64().unwrap_or(0),
            ..HookResult::with_output(output.clone())
        };
        return outputs.iter().enumerate().map(said).collect();
    }
    let result = |result: &Value| HookResult {
        success: result["success"].as_bool().unwrap(),
        output: result.get("output").cloned(),
        error: result["error"].as_str().map(str::to_owned),
        duration_ms: result["duration"].as_u64().unwrap_or(0),
        ..HookResult::default()
    };
    case.given("results").as_array().into_iter().flatten().map(result).collect()
}

fn aggregated(case: &Case) {
    let (profile, id) = (profile(case), case.id());
    if let Some(outputs) = case.given("processCommon").as_array() {
        let processed = process_result(
            profile,
            AggregatedResult { all_outputs: outputs.clone(), ..AggregatedResult::empty() },
        );
        assert!(has(&serde_json::to_value(processed).unwrap(), &case.0["expect"]), "{id}");
        return;
    }
    let aggregated = aggregate(profile, event(case), &results(case));
    let nothing = Value::Null;
    let given = case.0["given"].get("output");
    let last = given.unwrap_or_else(|| aggregated.final_output.as_ref().unwrap_or(&nothing));
    let output = HookOutput::new(profile, event(case), last);
    for (key, expected) in case.expect() {
        let actual = match key {
            "success" => json!(aggregated.success),
            "finalOutput" | "final" => last.clone(),
            "allOutputs" => json!(aggregated.all_outputs.len()),
            "errors" if expected.is_number() => json!(aggregated.errors.len()),
            "errors" => json!(aggregated.errors),
            "totalDuration" => json!(aggregated.total_duration),
            "toolConfig" => last["hookSpecificOutput"]["toolConfig"].clone(),
            "isBlockingDecision" | "blocked" => json!(output.is_blocking_decision()),
            "effectiveReason" => json!(output.effective_reason()),
            "blockingError" => {
                let error = output.blocking_error();
                json!({"blocked": error.blocked, "reason": error.reason})
            }
            "additionalContext" => json!(output.additional_context()),
            "modifiedToolInput" => json!(BeforeToolOutput::new(profile, last).modified_tool_input()),
            _ => panic!("{id}: what is `{key}`?"),
        };
        assert!(has(&actual, expected), "{id}: `{key}` is {actual}");
    }
}

/// Settings with the case's hooks for its event. The hooks are in the given groups, or each is in its own group.
fn settings(case: &Case) -> ProfileSettings {
    let hook = |hook: &Value| match hook {
        Value::String(command) => json!({"type": "command", "command": command}),
        Value::Object(fields) => {
            let mut fields = fields.clone();
            fields.entry("type").or_insert(json!("command"));
            fields.into()
        }
        other => panic!("{other}"),
    };
    let as_list = |hooks: &Value| hooks.as_array().into_iter().flatten().map(hook).collect::<Vec<_>>();
    let groups: Vec<Value> = match case.given("groups").as_array() {
        Some(groups) => groups
            .iter()
            .map(|group| {
                let mut group = group.clone();
                group["hooks"] = as_list(&group["hooks"]).into();
                group
            })
            .collect(),
        None => as_list(case.given("hooks")).into_iter().map(|hook| json!({"hooks": [hook]})).collect(),
    };
    let matched = json!({"hooks": {event(case): groups}, "hooksConfig": {"enabled": true}});
    parsed(profile(case), &[(SettingsSource::Project, matched)])
}

fn parsed(profile: &Profile, layers: &[(SettingsSource, Value)]) -> ProfileSettings {
    let texts: Vec<(SettingsSource, String)> =
        layers.iter().map(|(source, value)| (*source, value.to_string())).collect();
    let layers: Vec<_> = texts
        .iter()
        .map(|(source, text)| SettingsLayer { source: *source, name: "settings.json", text })
        .collect();
    read_settings(profile, &layers)
}

fn planned(case: &Case) {
    let (profile, id) = (profile(case), case.id());
    if case.0["given"].get("context").is_some() {
        assert!(!profile.event(event(case)).unwrap().matcher, "{id}: nothing to match against");
        return;
    }
    let settings = settings(case);
    // In these cases, `nomatch` is a matcher that does not match.
    let plan = plan_hooks(profile, &settings, event(case), &mut |entry| match &entry.matcher {
        Some(matcher) if matcher == "nomatch" => Some("it does not fit".to_owned()),
        _ => None,
    });
    let commands: Vec<&str> =
        plan.entries().map(|at| settings.entries[at].command.as_deref().unwrap()).collect();
    for (key, expected) in case.expect() {
        let actual = match key {
            "plan" => {
                if commands.is_empty() {
                    Value::Null
                } else {
                    json!(commands)
                }
            }
            "planned" | "order" => json!(commands),
            "planned_count" => json!(commands.len()),
            "kept_timeout" => {
                json!(settings.entries[plan.entries().next().unwrap()].timeout.map(f64::round))
            }
            "sequential" => json!(plan.sequential),
            _ => panic!("{id}: what is `{key}`?"),
        };
        let same = actual == *expected || actual.as_f64().is_some() && actual.as_f64() == expected.as_f64();
        assert!(same, "{id}: `{key}` is {actual}");
    }
}

fn registered(case: &Case) {
    let (profile, id) = (profile(case), case.id());
    if let Some(sources) = case.given("priority_sources").as_array() {
        let rank = |name: &Value| match name.as_str().unwrap() {
            "project" => SettingsSource::Project.rank(),
            "user" => SettingsSource::User.rank(),
            "system" => SettingsSource::System.rank(),
            _ => SettingsSource::Extensions.rank(),
        };
        let mut sorted = sources.clone();
        sorted.sort_by_key(rank);
        assert_eq!(Value::from(sorted), case.0["expect"]["sorted"], "{id}");
        return;
    }
    let one = json!({"BeforeTool": [{"hooks": [case.given("hook")]}]});
    let hooks = case.0["given"].get("hooks").unwrap_or(&one);
    let disabled =
        json!({"enabled": true, "disabled": case.0["given"].get("disabled").unwrap_or(&json!([]))});
    let settings =
        parsed(profile, &[(SettingsSource::Project, json!({"hooks": hooks, "hooksConfig": disabled}))]);
    for (key, expected) in case.expect() {
        let actual = match key {
            "entries" => json!(settings.entries.len()),
            "throws" => json!(false),
            // The harnesses only warn about event names. This crate checks more, so it may report more.
            "warnings" => {
                let names =
                    |finding: &&crate::SettingsProblem| finding.problem.message.contains("unknown event");
                json!(settings.problems.iter().filter(names).count())
            }
            "accepted" | "registered" => json!(settings.entries.len() == 1),
            "enabled" => json!(settings.entries[0].enabled),
            _ => panic!("{id}: what is `{key}`?"),
        };
        assert_eq!(&actual, expected, "{id}: `{key}`");
    }
}

fn configured(case: &Case) {
    let (profile, id, given) = (profile(case), case.id(), &case.0["given"]);
    if let Some(message) = given.get("bus") {
        let response =
            bus::parse_request(profile, &message.to_string(), &mut || "new".to_owned()).unwrap_err();
        assert!(has(&response.to_message()["payload"], &case.0["expect"]["response"]), "{id}: {response:?}");
        return;
    }
    if let Some(output) = given.get("final") {
        return meant(case, output);
    }
    let hook = |name: &Value| json!({"hooks": [{"type": "command", "command": name}]});
    match id {
        "l-config-237" => {
            let layer = |name: &str| {
                let events = given["settings"][name]["hooks"].as_object().into_iter().flatten();
                let events = events.map(|(event, groups)| {
                    (event.clone(), groups.as_array().unwrap().iter().map(hook).collect())
                });
                json!({"hooks": events.collect::<serde_json::Map<_, _>>(), "hooksConfig": {"enabled": true}})
            };
            let layers = [
                (SettingsSource::System, layer("system")),
                (SettingsSource::Project, layer("workspace")),
                (SettingsSource::User, layer("user")),
            ];
            let settings = parsed(profile, &layers);
            for (event, expected) in case.0["expect"]["merged"].as_object().unwrap() {
                let here = settings.entries.iter().filter(|entry| entry.event == *event);
                assert_eq!(&json!(here.map(|entry| &entry.command).collect::<Vec<_>>()), expected, "{id}");
            }
        }
        "g-config-239" => {
            assert!(parsed(profile, &[(SettingsSource::User, given["settings"].clone())]).enabled);
        }
        "l-config-241" => {
            let mut settings = given["settings"].clone();
            settings["hooks"]["BeforeTool"] = json!([hook(&json!("x")), hook(&json!("y"))]);
            let settings = parsed(profile, &[(SettingsSource::User, settings)]);
            let enabled: Vec<_> = settings.entries.iter().map(|entry| entry.enabled).collect();
            assert_eq!((settings.enabled, enabled), (true, vec![false, true]));
        }
        _ => panic!("{id} is not run"),
    }
}

/// Checks how the harness interprets a final output, except for messages.
fn meant(case: &Case, output: &Value) {
    let (profile, id) = (profile(case), case.id());
    let aggregated = AggregatedResult { final_output: Some(output.clone()), ..AggregatedResult::empty() };
    let (decision, flow) = interpret_output(profile, event(case), &aggregated);
    match id {
        "g-config-287" => assert_eq!(flow, Flow::Stop { reason: Some("halt".into()) }),
        "g-config-289" => assert_eq!((decision, flow), (Decision::Deny, Flow::Go)),
        "g-config-291" => {
            let call = HookOutput::new(profile, event(case), output).tail_tool_call();
            assert!(has(&case.0["expect"]["next_call"], call.unwrap()));
        }
        "g-config-293" => assert_eq!(decision, Decision::None, "it does not bypass the policy"),
        _ => panic!("{id} is not run"),
    }
}
