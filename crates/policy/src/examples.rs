// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A rule is tried on its own examples before it comes into force.

use serde_json::json;
use tenterhook_event::{Decision, Event, EventId, EventKind, Timestamp, ToolCall};

use crate::facts::{Surroundings, facts};
use crate::judge::finding;
use crate::load::wire::{Example, Examples};
use crate::rule::Rule;

/// The machine on which examples are played.
const HOME: &str = "/home/user";
const PROJECT: &str = "/home/user/project";

/// Every example that the rule does not live up to, in words.
pub(crate) fn check(rule: &Rule, examples: &Examples) -> Vec<String> {
    let wanted = [
        (Decision::Deny, &examples.deny),
        (Decision::Ask, &examples.ask),
        (Decision::Allow, &examples.allow),
    ];
    let failures = wanted.into_iter().flat_map(|(wanted, list)| {
        list.iter().filter_map(move |example| {
            let said = decision(rule, example);
            let good = match wanted {
                Decision::Allow => matches!(said, Decision::None | Decision::Allow),
                wanted => said == wanted,
            };
            (!good).then(|| format!("the example `{}` should get {wanted} but gets {said}", gist(example)))
        })
    });
    failures.collect()
}

fn decision(rule: &Rule, example: &Example) -> Decision {
    let event = event(example);
    let facts = facts(&event, &Surroundings { home: Some(HOME) });
    finding(rule, &event, &facts).map_or(Decision::None, |(finding, _)| finding.decision)
}

fn event(example: &Example) -> Event {
    let (kind, tool) = match example {
        Example::Command(text) => (EventKind::PreTool, ToolCall::new("Bash", json!({ "command": text }))),
        Example::Call(call) => {
            (call.event.unwrap_or(EventKind::PreTool), ToolCall::new(&call.tool, call.args.clone()))
        }
    };
    let id = EventId::from_parts(0, 0);
    let mut event = Event::new(id, Timestamp::from_unix_ms(0), "claude-code", kind, kind.name());
    event.cwd = Some(PROJECT.to_owned());
    event.project = Some(PROJECT.to_owned());
    event.tool = Some(tool);
    event
}

fn gist(example: &Example) -> String {
    match example {
        Example::Command(text) => text.clone(),
        Example::Call(call) => format!("{} {}", call.tool, call.args),
    }
}
