// SPDX-License-Identifier: Apache-2.0 OR MIT

use proptest::prelude::*;
use tenterhook_event::{Decision, EventId, EventKind, Finding, Timestamp, ToolCall, TraceEntry, TraceStatus};

use super::*;

fn event(args: Value) -> Event {
    let (id, ts) = (EventId::from_parts(0, 0), Timestamp::from_unix_ms(0));
    let mut event = Event::new(id, ts, "test", EventKind::PreTool, "PreToolUse");
    event.tool = Some(ToolCall::new("Bash", args));
    event
}

fn run(index: usize, id: &str, modification: Modification) -> HookRun {
    let by = Origin::hook(id);
    let step = TraceEntry {
        by: by.clone(),
        status: TraceStatus::Ran,
        decision: Decision::None,
        took_us: 0,
        note: None,
    };
    let finding = Finding { modifications: vec![modification], ..Finding::silent(by) };
    HookRun { index, answer: finding.into(), step, given: None }
}

fn replace(value: Value) -> Modification {
    Modification::ToolInput { merge: MergeMode::Replace, value }
}

/// Returns the input after all runs, and the note of each run.
fn merge_all(asked: &Value, mut runs: Vec<HookRun>) -> (Value, Vec<Option<String>>) {
    merge_modifications(&event(asked.clone()), &mut runs);
    let mut input = asked.clone();
    for modification in runs.iter().flat_map(|run| &run.answer.finding.modifications) {
        let Modification::ToolInput { merge, value } = modification else { panic!("{modification:?}") };
        merge.apply(&mut input, value);
    }
    (input, runs.into_iter().map(|run| run.step.note).collect())
}

fn merge_two(asked: &Value, one: Value, two: Value) -> (Value, Option<String>) {
    let (input, notes) = merge_all(asked, vec![run(0, "one", replace(one)), run(1, "two", replace(two))]);
    (input, notes.into_iter().nth(1).flatten())
}

#[test]
fn each_hook_counts_by_what_it_changed() {
    let asked = json!({"command": "ls", "env": {"A": 1, "B": 2}, "list": [1], "old": true});
    for (one, two, expected) in [
        (
            json!({"command": "ls", "env": {"A": 1, "B": 2}, "list": [1], "old": true, "timeout": 5}),
            json!({"command": "ls", "env": {"A": 1, "B": 2}, "list": [1], "old": true, "description": "why"}),
            json!({"command": "ls", "env": {"A": 1, "B": 2}, "list": [1], "old": true, "timeout": 5, "description": "why"}),
        ),
        (
            json!({"command": "ls", "env": {"A": 9, "B": 2}, "list": [1], "old": true}),
            json!({"command": "ls", "env": {"A": 1, "C": 3}, "list": [2], "old": true}),
            json!({"command": "ls", "env": {"A": 9, "C": 3}, "list": [2], "old": true}),
        ),
        (
            json!({"command": "ls", "env": {"A": 1, "B": 2}, "list": [1]}),
            json!({"command": "ls -a", "env": {"A": 1, "B": 2}, "list": [1], "old": true}),
            json!({"command": "ls -a", "env": {"A": 1, "B": 2}, "list": [1]}),
        ),
        // Setting a value to null is different from removing its key.
        (
            json!({"command": "ls", "env": {"A": 1, "B": 2}, "list": [1], "old": null}),
            asked.clone(),
            json!({"command": "ls", "env": {"A": 1, "B": 2}, "list": [1], "old": null}),
        ),
    ] {
        assert_eq!(merge_two(&asked, one.clone(), two.clone()), (expected, None), "{one} {two}");
    }
}

#[test]
fn a_conflict_goes_to_the_later_hook_and_is_named() {
    let asked = json!({"command": "ls", "env": {"A": 1}});
    let place = |two: Value| {
        let one = json!({"command": "ls", "env": {"A": 2}, "timeout": 1});
        merge_two(&asked, one, two)
    };
    let (input, note) = place(json!({"command": "ls", "env": {"A": 3}, "timeout": 1}));
    assert_eq!(
        input,
        json!({"command": "ls", "env": {"A": 3}, "timeout": 1}),
        "the same value is no conflict"
    );
    let expected = "conflict: `args.env.A` (changed by `one`); the value of this hook is used";
    assert_eq!(note.as_deref(), Some(expected));
    let (input, note) = place(json!({"command": "ls"}));
    assert_eq!(input, json!({"command": "ls", "timeout": 1}), "a removal is a change too");
    assert!(note.unwrap().contains("`args.env` (changed by `one`)"));
    let (input, note) = merge_two(&json!({"x": 1}), json!("one"), json!("two"));
    assert_eq!(input, json!("two"));
    assert!(note.unwrap().contains("`args` (changed by `one`)"));
    let (input, note) = merge_two(&json!({"x": 1}), json!({"x": {"a": 1}}), json!({"x": {"b": 2}}));
    assert_eq!((input, note), (json!({"x": {"a": 1, "b": 2}}), None), "objects are merged");
}

#[test]
fn a_conflict_names_the_hook_that_changed_the_place_last() {
    let asked = json!({"command": "ls"});
    let add = |index, id: &str, key: &str, value: i32| {
        run(index, id, replace(json!({"command": "ls", key: value})))
    };
    let runs = vec![add(0, "a", "x", 1), add(1, "b", "y", 1), add(2, "c", "x", 2), add(3, "d", "x", 3)];
    let (input, notes) = merge_all(&asked, runs);
    assert_eq!(input, json!({"command": "ls", "x": 3, "y": 1}));
    assert_eq!((&notes[0], &notes[1]), (&None, &None));
    assert!(notes[2].as_ref().unwrap().contains("`args.x` (changed by `a`)"), "{notes:?}");
    assert!(notes[3].as_ref().unwrap().contains("`args.x` (changed by `c`)"), "{notes:?}");
}

#[test]
fn a_hook_that_saw_the_earlier_change_does_not_conflict_with_it() {
    let asked = json!({"command": "ls"});
    let first = run(0, "first", replace(json!({"command": "ls", "timeout": 5})));
    let mut second = run(1, "second", replace(json!({"command": "ls", "timeout": 9})));
    second.given = Some(Box::new(event(json!({"command": "ls", "timeout": 5}))));
    let mut third = run(2, "third", replace(json!({"command": "ls"})));
    third.given = Some(Box::new(event(json!({"command": "ls", "timeout": 9}))));
    assert_eq!(merge_all(&asked, vec![first, second, third]), (asked, vec![None, None, None]));
}

#[test]
fn a_single_modification_stays_as_it_was_sent() {
    let mut runs = vec![run(0, "one", replace(json!({"timeout": 5})))];
    merge_modifications(&event(json!({"command": "ls"})), &mut runs);
    assert_eq!(runs[0].answer.finding.modifications, [replace(json!({"timeout": 5}))]);
}

#[test]
fn repeated_output_does_not_undo_a_redaction() {
    let mut post = event(json!({}));
    post.detail.tool_output = Some(json!("token=abc"));
    let output =
        |index, id: &str, value: &str| run(index, id, Modification::ToolOutput { value: json!(value) });
    let mut runs = vec![output(0, "redact", "token=***"), output(1, "other", "token=abc")];
    merge_modifications(&post, &mut runs);
    let last = &runs[1].answer.finding.modifications[0];
    assert_eq!(*last, Modification::ToolOutput { value: json!("token=***") });
    assert_eq!(runs[1].step.note, None);
}

#[test]
fn requests_to_the_model_are_merged_key_by_key() {
    let mut generate = event(json!({}));
    generate.detail.model_request =
        Some(json!({"prompt": "p", "model": "big", "contents": [], "tools": ["a", "b"]}));
    let change = |index, id: &str, value: Value| {
        run(index, id, Modification::ModelRequest { merge: MergeMode::Shallow, value })
    };
    let mut runs = vec![
        change(0, "one", json!({"model": {"name": "small"}, "tools": ["a"]})),
        change(1, "two", json!({"model": {"name": "big", "temperature": 0}, "tools": ["a", "b"]})),
    ];
    merge_modifications(&generate, &mut runs);
    let Modification::ModelRequest { merge, value } = &runs[1].answer.finding.modifications[0] else {
        panic!()
    };
    let expected = json!({"model": {"name": "small", "temperature": 0}, "tools": ["a"]});
    assert_eq!((*merge, value), (MergeMode::Shallow, &expected), "and keys that no hook named are left out");
    assert_eq!(runs[1].step.note, None);
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![Just(json!(1)), Just(json!(2)), Just(Value::Null), Just(json!([1]))];
    leaf.prop_recursive(3, 16, 3, |inner| {
        proptest::collection::btree_map("[ab]", inner, 0..3)
            .prop_map(|fields| Value::Object(fields.into_iter().collect()))
    })
}

proptest! {
    #[test]
    fn the_last_hook_gets_what_it_changed_and_an_idle_hook_changes_nothing(
        asked in any_value(), one in any_value(), two in any_value(),
    ) {
        let both = vec![run(0, "one", replace(one.clone())), run(1, "two", replace(two.clone()))];
        let (input, _) = merge_all(&asked, both);
        let idle_last = vec![run(0, "one", replace(one.clone())), run(1, "idle", replace(asked.clone()))];
        prop_assert_eq!(merge_all(&asked, idle_last).0, one);
        let idle_first = vec![run(0, "idle", replace(asked.clone())), run(1, "two", replace(two.clone()))];
        prop_assert_eq!(merge_all(&asked, idle_first).0, two.clone());
        if let (Value::Object(asked), Value::Object(two), Value::Object(input)) = (&asked, &two, &input) {
            for (key, value) in two.iter().filter(|(key, value)| asked.get(*key) != Some(*value) && !value.is_object()) {
                prop_assert_eq!(input.get(key), Some(value));
            }
        }
    }
}
