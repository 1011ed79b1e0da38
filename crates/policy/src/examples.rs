// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Checks a rule against its own examples before it becomes active.

use serde_json::json;
use tenterhook_event::{Decision, Event, EventId, EventKind, Timestamp, ToolCall};
use tenterhook_facts::{EvalEnvironment, facts};
use tenterhook_programs::Programs;

use crate::judge::evaluate_alone;
use crate::load::wire::{RuleExample, RuleExamples};
use crate::rule::Rule;
use crate::state::SessionState;

/// Home directory of the machine on which examples are evaluated.
const EXAMPLE_HOME: &str = "/home/user";
const EXAMPLE_PROJECT: &str = "/home/user/project";

/// Describes every example whose result differs from the expected one. An example passes if it gives the expected
/// result with or without the programs that the policy describes, because a description must not disable a rule.
pub(crate) fn find_failures(
    rule: &Rule,
    examples: &RuleExamples,
    programs: Option<&Programs>,
) -> Vec<String> {
    let expected = [
        (Decision::Deny, &examples.deny),
        (Decision::Ask, &examples.ask),
        (Decision::Allow, &examples.allow),
    ];
    let failures = expected.into_iter().flat_map(|(expected, list)| {
        list.iter().filter_map(move |example| {
            let is_good = |decision: Decision| match expected {
                Decision::Allow => matches!(decision, Decision::None | Decision::Allow),
                expected => decision == expected,
            };
            let decision = evaluate_example(rule, example, None);
            let is_good_when_described =
                || programs.is_some() && is_good(evaluate_example(rule, example, programs));
            (!is_good(decision) && !is_good_when_described()).then(|| {
                format!(
                    "the example `{}` should get {expected} but gets {decision}",
                    describe_example(example)
                )
            })
        })
    });
    failures.collect()
}

/// Returns the rule's verdict on an example, without its limit, mode or expiry.
fn evaluate_example(rule: &Rule, example: &RuleExample, programs: Option<&Programs>) -> Decision {
    let (event, mut state) = (example_event(example), SessionState::default());
    let mut around = EvalEnvironment { home: Some(EXAMPLE_HOME), programs, ..EvalEnvironment::default() };
    let groups: Vec<_> = match example {
        RuleExample::Command(_) => Vec::new(),
        RuleExample::Call(call) => {
            state.labels.extend(call.labels.iter().cloned());
            around.user = call.user.as_deref();
            call.groups.iter().map(String::as_str).collect()
        }
    };
    around.groups = &groups;
    evaluate_alone(rule, &event, &facts(&event, &around), &state)
}

fn example_event(example: &RuleExample) -> Event {
    let id = EventId::from_parts(0, 0);
    let new = |source: &str, kind: EventKind| {
        let mut event = Event::new(id, Timestamp::from_unix_ms(0), source, kind, kind.name());
        event.cwd = Some(EXAMPLE_PROJECT.to_owned());
        event.project = Some(EXAMPLE_PROJECT.to_owned());
        event
    };
    match example {
        RuleExample::Command(text) => {
            let mut event = new("claude-code", EventKind::PreTool);
            event.tool = Some(ToolCall::new("Bash", json!({ "command": text })));
            event
        }
        RuleExample::Call(call) => {
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

pub(crate) fn describe_example(example: &RuleExample) -> String {
    match example {
        RuleExample::Command(text) => text.clone(),
        RuleExample::Call(call) => match (&call.tool, &call.prompt) {
            (Some(tool), _) => format!("{tool} {}", call.args),
            (None, Some(prompt)) => prompt.clone(),
            (None, None) => call.event.map_or("an event", EventKind::name).to_owned(),
        },
    }
}
