// SPDX-License-Identifier: Apache-2.0 OR MIT

use proptest::prelude::*;
use serde_json::{Value, json};
use tenterhook_event::{EventId, EventKind, MergeMode, Origin, Timestamp, ToolCall};

use super::*;

fn event(args: Value) -> Event {
    let (id, ts) = (EventId::from_parts(0, 0), Timestamp::from_unix_ms(0));
    let mut event = Event::new(id, ts, "test", EventKind::PreTool, "PreToolUse");
    event.tool = Some(ToolCall::new("Bash", args));
    event
}

fn finding(name: &str, decision: Decision) -> Finding {
    Finding {
        reason: Some(format!("{name} says {decision}")),
        nudge: Some(format!("{name} nudges")),
        ..Finding::decided(Origin::hook(name), decision, "")
    }
}

#[test]
fn without_findings_there_is_no_decision() {
    assert_eq!(fold(&event(json!({})), &[]), Outcome::default());
}

#[test]
fn the_strictest_decision_counts_with_all_its_reasons_and_only_its_own() {
    let findings = [
        finding("a", Decision::Allow),
        finding("b", Decision::Deny),
        finding("c", Decision::Ask),
        finding("d", Decision::Deny),
    ];
    let outcome = fold(&event(json!({})), &findings);
    assert_eq!(outcome.decision, Decision::Deny);
    assert_eq!(outcome.reason().as_deref(), Some("b says deny\nd says deny"));
    assert_eq!(outcome.nudges.len(), 2);
}

#[test]
fn later_writes_win_and_merges_build_on_what_came_before() {
    let change = |name: &str, merge, value| Finding {
        modifications: vec![Modification::ToolInput { merge, value }],
        ..Finding::silent(Origin::hook(name))
    };
    let findings = [
        change("first", MergeMode::Shallow, json!({"timeout": 5, "command": "ls -l"})),
        change("second", MergeMode::Shallow, json!({"command": "ls -a"})),
    ];
    let outcome = fold(&event(json!({"command": "ls", "cwd": "/"})), &findings);
    assert_eq!(outcome.tool_input, Some(json!({"command": "ls -a", "cwd": "/", "timeout": 5})));
    assert_eq!(outcome.modifications.len(), 2);

    let same = [change("same", MergeMode::Replace, json!({"command": "ls"}))];
    assert_eq!(fold(&event(json!({"command": "ls"})), &same).tool_input, None, "no change is no change");
}

#[test]
fn flow_is_folded_apart_from_the_decision() {
    let stop = |reason: Option<&str>| Finding {
        flow: Flow::Stop { reason: reason.map(ToOwned::to_owned) },
        ..Finding::silent(Origin::hook("s"))
    };
    let outcome = fold(&event(json!({})), &[stop(None), stop(Some("enough"))]);
    assert_eq!(outcome.decision, Decision::None);
    assert_eq!(outcome.flow, Flow::Stop { reason: Some("enough".into()) });
}

#[test]
fn strengthening_never_weakens() {
    let denied = fold(&event(json!({})), &[finding("a", Decision::Deny)]);
    let after = strengthen(denied.clone(), finding("b", Decision::Allow));
    assert_eq!(after.decision, Decision::Deny);
    assert_eq!(after.reasons, denied.reasons);
}

fn any_finding() -> impl Strategy<Value = Finding> {
    let decision = prop_oneof![
        Just(Decision::None),
        Just(Decision::Allow),
        Just(Decision::Defer),
        Just(Decision::Ask),
        Just(Decision::Deny)
    ];
    let change = proptest::option::of((any::<bool>(), "[a-c]", any::<u8>()));
    (decision, any::<bool>(), "[a-z]{0,3}", change).prop_map(|(decision, stop, text, change)| Finding {
        decision,
        flow: if stop { Flow::Stop { reason: Some(text.clone()) } } else { Flow::Go },
        reason: Some(text.clone()),
        context: Some(text),
        modifications: change
            .into_iter()
            .map(|(shallow, key, value)| Modification::ToolInput {
                merge: if shallow { MergeMode::Shallow } else { MergeMode::Replace },
                value: json!({key: value}),
            })
            .collect(),
        ..Finding::silent(Origin::hook("h"))
    })
}

proptest! {
    #[test]
    fn no_finding_can_weaken_the_others(
        findings in proptest::collection::vec(any_finding(), 0..8),
        more in any_finding(),
    ) {
        let event = event(json!({"a": 0}));
        let before = fold(&event, &findings);
        let after = fold(&event, &[findings.clone(), vec![more]].concat());
        prop_assert!(after.decision >= before.decision);
        prop_assert!(before.flow == Flow::Go || after.flow != Flow::Go);
        prop_assert!(after.context.len() >= before.context.len());
    }

    #[test]
    fn the_decision_does_not_depend_on_the_order(
        mut findings in proptest::collection::vec(any_finding(), 0..8),
    ) {
        let event = event(json!({"a": 0}));
        let before = fold(&event, &findings);
        findings.reverse();
        let after = fold(&event, &findings);
        prop_assert_eq!(before.decision, after.decision);
        prop_assert_eq!(before.flow == Flow::Go, after.flow == Flow::Go);
    }
}
