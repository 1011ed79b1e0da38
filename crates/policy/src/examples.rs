// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A rule is tried on its own examples before it comes into force.

use serde_json::json;
use tenterhook_event::{Decision, Event, EventId, EventKind, Timestamp, ToolCall};
use tenterhook_facts::{Surroundings, facts};
use tenterhook_programs::Programs;

use crate::judge::alone;
use crate::load::wire::{Example, Examples};
use crate::rule::Rule;
use crate::state::SessionState;

/// The machine on which examples are played.
const HOME: &str = "/home/user";
const PROJECT: &str = "/home/user/project";

/// Every example that the rule does not live up to, in words. An example may hold with the programs that the policy
/// describes, or without them: a description must not take a rule out of force.
pub(crate) fn check(rule: &Rule, examples: &Examples, programs: Option<&Programs>) -> Vec<String> {
    let wanted = [
        (Decision::Deny, &examples.deny),
        (Decision::Ask, &examples.ask),
        (Decision::Allow, &examples.allow),
    ];
    let failures = wanted.into_iter().flat_map(|(wanted, list)| {
        list.iter().filter_map(move |example| {
            let is_good = |said: Decision| match wanted {
                Decision::Allow => matches!(said, Decision::None | Decision::Allow),
                wanted => said == wanted,
            };
            let said = decision(rule, example, None);
            let is_good_when_described = || programs.is_some() && is_good(decision(rule, example, programs));
            (!is_good(said) && !is_good_when_described())
                .then(|| format!("the example `{}` should get {wanted} but gets {said}", gist(example)))
        })
    });
    failures.collect()
}

/// What the rule says of it, counted or not, expired or not.
fn decision(rule: &Rule, example: &Example, programs: Option<&Programs>) -> Decision {
    let (event, mut state) = (event(example), SessionState::default());
    let mut around = Surroundings { home: Some(HOME), programs, ..Surroundings::default() };
    let groups: Vec<_> = match example {
        Example::Command(_) => Vec::new(),
        Example::Call(call) => {
            state.labels.extend(call.labels.iter().cloned());
            around.user = call.user.as_deref();
            call.groups.iter().map(String::as_str).collect()
        }
    };
    around.groups = &groups;
    alone(rule, &event, &facts(&event, &around), &state)
}

fn event(example: &Example) -> Event {
    let id = EventId::from_parts(0, 0);
    let new = |source: &str, kind: EventKind| {
        let mut event = Event::new(id, Timestamp::from_unix_ms(0), source, kind, kind.name());
        event.cwd = Some(PROJECT.to_owned());
        event.project = Some(PROJECT.to_owned());
        event
    };
    match example {
        Example::Command(text) => {
            let mut event = new("claude-code", EventKind::PreTool);
            event.tool = Some(ToolCall::new("Bash", json!({ "command": text })));
            event
        }
        Example::Call(call) => {
            let usual = if call.prompt.is_some() { EventKind::Prompt } else { EventKind::PreTool };
            let mut event = new(call.source.as_deref().unwrap_or("claude-code"), call.event.unwrap_or(usual));
            event.tool = call.tool.as_ref().map(|tool| ToolCall::new(tool, call.args.clone()));
            event.detail.prompt.clone_from(&call.prompt);
            event.detail.unhooked_stdin = call.unhooked_stdin;
            if let Some(cwd) = &call.cwd {
                event.cwd = Some(cwd.clone());
            }
            event
        }
    }
}

fn gist(example: &Example) -> String {
    match example {
        Example::Command(text) => text.clone(),
        Example::Call(call) => match (&call.tool, &call.prompt) {
            (Some(tool), _) => format!("{tool} {}", call.args),
            (None, Some(prompt)) => prompt.clone(),
            (None, None) => call.event.map_or("an event", EventKind::name).to_owned(),
        },
    }
}
