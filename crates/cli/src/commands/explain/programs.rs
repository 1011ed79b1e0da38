// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Lists and calls hooks of programs that are connected to the daemon. Only the daemon knows and calls such hooks.

use serde_json::{Value, json};
use tenterhook_event::{Attributed, Decision, Event, Origin, Outcome};
use tenterhook_home::Home;
use tenterhook_records::recorded::JsonField as _;

use super::HookNote;
use crate::ask;
use crate::error::CommandError;

/// Hook of a connected program, as listed by the daemon.
pub(in crate::commands) struct ListedProgramHook {
    pub(in crate::commands) id: String,
    pub(in crate::commands) program: String,
    pub(in crate::commands) on: Vec<String>,
    pub(in crate::commands) enabled: bool,
}

/// Lists the hooks of connected programs; `None` if no daemon is running.
pub(in crate::commands) fn list_program_hooks(
    home: &Home,
) -> Result<Option<Vec<ListedProgramHook>>, CommandError> {
    let Some(answer) = ask::get(home, "/v1/hooks")? else { return Ok(None) };
    let hooks = answer.field("hooks").as_array().map(Vec::as_slice).unwrap_or_default();
    let hook = |hook: &Value| {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let runs = hook.field("runs");
        (runs.field("type") == "sdk").then(|| ListedProgramHook {
            id: text(hook.field("id")),
            program: text(runs.field("client")),
            on: hook.field("on").as_array().into_iter().flatten().map(text).collect(),
            enabled: hook.field("enabled").as_bool().unwrap_or(true),
        })
    };
    Ok(Some(hooks.iter().filter_map(hook).collect()))
}

/// Calls every hook of a connected program with an event, through the daemon. Nothing is recorded. Stricter decisions
/// replace the one in the outcome.
pub(super) fn ask_all(
    home: &Home,
    hooks: &[ListedProgramHook],
    event: &Event,
    outcome: &mut Outcome,
) -> Vec<HookNote> {
    hooks.iter().map(|hook| ask_one(home, hook, event, outcome)).collect()
}

fn ask_one(home: &Home, hook: &ListedProgramHook, event: &Event, outcome: &mut Outcome) -> HookNote {
    let note = |why_not: Option<String>, result: String| HookNote {
        id: hook.id.clone(),
        program: Some(hook.program.clone()),
        why_not,
        result,
    };
    if !hook.enabled {
        return note(Some("disabled".to_owned()), String::new());
    }
    let path = format!("/v1/hooks/{}/test", hook.id);
    let answer = match ask::request(home, "POST", &path, Some(&json!({"event": event}))) {
        Ok(Some(answer)) => answer,
        Ok(None) => return note(Some("the daemon stopped".to_owned()), String::new()),
        Err(error) => return note(Some(error.message), String::new()),
    };
    if answer.field("applies") != true {
        let why = answer.field("why").as_str().unwrap_or("does not apply").to_owned();
        return note(Some(why), String::new());
    }
    let tested: Outcome = serde_json::from_value(answer.field("outcome").clone()).unwrap_or_default();
    let result = match tested.decision {
        Decision::None => "no match".to_owned(),
        decision => decision.label().to_owned(),
    };
    apply_stricter(outcome, tested, &hook.id);
    note(None, result)
}

/// Replaces the decision in the outcome by a stricter one.
fn apply_stricter(outcome: &mut Outcome, tested: Outcome, id: &str) {
    if tested.decision <= outcome.decision {
        return;
    }
    outcome.decision = tested.decision;
    outcome.reasons = tested.reasons;
    outcome.nudges = tested.nudges;
    if outcome.reasons.is_empty() {
        outcome.reasons.push(Attributed { by: Origin::hook(id), value: String::new() });
    }
}
