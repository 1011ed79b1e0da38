// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The road of one call, seen from outside.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::{BoxFuture, Engine, Fail, Judge, Judgement, RecordError, Recorder, RegisterError};
use serde_json::{Value, json};
use tenterhook_event::{
    Call, Decided, Decision, Event, EventId, EventKind, Finding, Merge, Modification, Origin, Outcome,
    Status, Timestamp, ToolCall,
};

fn call(command: &str) -> Call {
    let (id, ts) = (EventId::from_parts(0, 0), Timestamp::from_unix_ms(0));
    let mut event = Event::new(id, ts, "test", EventKind::PreTool, "PreToolUse");
    event.tool = Some(ToolCall::new("Bash", json!({"command": command})));
    Call { event, native: None }
}

fn command_of(event: &Event) -> String {
    event.tool.as_ref().map(|tool| tool.gist().into_owned()).unwrap_or_default()
}

/// Denies every command with `danger` in it, and wants to rewrite everything it sees.
struct Wary;

impl Judge for Wary {
    fn judge(&self, event: &Event) -> Judgement {
        let mut finding = Finding::silent(Origin::rule("wary"));
        if command_of(event).contains("danger") {
            finding = Finding::decided(Origin::rule("wary"), Decision::Deny, "dangerous");
        }
        Judgement { findings: vec![finding], steps: Vec::new() }
    }
}

fn rewrite(command: &str) -> Finding {
    let value = json!({"command": command});
    let modifications = vec![Modification::ToolInput { merge: Merge::Shallow, value }];
    Finding { modifications, ..Finding::silent(Origin::Engine) }
}

#[tokio::test]
async fn what_is_judged_is_what_runs() {
    let engine = Engine::builder().judge(Wary).on(EventKind::PreTool).id("bad");
    let engine = engine.run(|_| async { rewrite("danger") }).build().unwrap();
    let outcome = engine.fire(&call("harmless")).await;
    assert_eq!(outcome.decision, Decision::Deny, "the rewritten command is judged");
    assert_eq!(outcome.tool_input, Some(json!({"command": "danger"})), "and both inputs are known");

    let engine = Engine::builder().judge(Wary).on(EventKind::PreTool);
    let engine = engine.run(|_| async { rewrite("harmless") }).build().unwrap();
    let outcome = engine.fire(&call("danger")).await;
    assert_eq!(outcome.decision, Decision::Deny, "what was asked is judged too: the stricter result stands");
}

#[tokio::test]
async fn the_outcome_does_not_depend_on_who_finishes_first() {
    let fire = async |first_ms: u64, second_ms: u64| {
        let sleepy = |ms: u64, text: &'static str| {
            move |_| async move {
                tokio::time::sleep(Duration::from_millis(ms)).await;
                Finding { context: Some(text.to_owned()), ..rewrite(text) }
            }
        };
        let engine = Engine::builder().on(EventKind::PreTool).priority(1).run(sleepy(first_ms, "first"));
        let engine =
            engine.on(EventKind::PreTool).priority(2).run(sleepy(second_ms, "second")).build().unwrap();
        let mut outcome = engine.fire(&call("x")).await;
        outcome.trace.iter_mut().for_each(|step| step.took_us = 0);
        outcome
    };
    let outcome = fire(30, 0).await;
    assert_eq!(outcome, fire(0, 30).await);
    assert_eq!(outcome.tool_input, Some(json!({"command": "second"})), "the later priority wins");
}

#[tokio::test]
async fn a_hook_that_hangs_or_panics_fails_as_configured() {
    let broken = |fail: Fail, panics: bool| {
        let builder = Engine::builder().on(EventKind::PreTool).id("broken").fail(fail);
        let builder = builder.timeout(Duration::from_millis(20)).run(move |_| async move {
            assert!(!panics, "on purpose");
            std::future::pending::<()>().await;
            Finding::silent(Origin::Engine)
        });
        builder.build().unwrap()
    };
    for panics in [false, true] {
        let open = broken(Fail::Open, panics).fire(&call("x")).await;
        assert_eq!(open.decision, Decision::None);
        let closed = broken(Fail::Closed, panics).fire(&call("x")).await;
        assert_eq!(closed.decision, Decision::Deny);
        let expected = if panics { Status::Failed } else { Status::TimedOut };
        assert_eq!(closed.trace.first().map(|step| step.status), Some(expected), "and the trace says so");
    }
}

#[tokio::test]
async fn a_matcher_keeps_a_hook_from_other_tools_and_other_events() {
    let deny = |_| async { Finding::decided(Origin::Engine, Decision::Deny, "no") };
    let engine = Engine::builder().on(EventKind::PreTool).matching("Write|Edit").run(deny).build().unwrap();
    assert_eq!(engine.fire(&call("x")).await.decision, Decision::None);
    let mut edit = call("x");
    edit.event.tool = Some(ToolCall::new("Edit", Value::Null));
    assert_eq!(engine.fire(&edit).await.decision, Decision::Deny);
    edit.event.event = EventKind::PostTool;
    assert_eq!(engine.fire(&edit).await.decision, Decision::None);
}

#[test]
fn limits_and_double_ids_are_refused() {
    let silent = |_| async { Finding::silent(Origin::Engine) };
    let twice =
        Engine::builder().on(EventKind::Stop).id("a").run(silent).on(EventKind::Prompt).id("a").run(silent);
    assert_eq!(twice.build().err(), Some(RegisterError::Duplicate("a".into())));
    let mut many = Engine::builder();
    for number in 0..11 {
        many = many.on(EventKind::Stop).id(&number.to_string()).run(silent);
    }
    assert_eq!(many.build().err(), Some(RegisterError::TooManyOn("10".into(), EventKind::Stop)));
}

/// Keeps what it is given, or refuses.
#[derive(Clone, Default)]
struct Memory {
    kept: Arc<Mutex<Vec<Outcome>>>,
    broken: bool,
}

impl Recorder for Memory {
    fn record<'a>(&'a self, decided: Decided<'a>) -> BoxFuture<'a, Result<(), RecordError>> {
        self.kept.lock().unwrap().push(decided.outcome.clone());
        let result = if self.broken { Err(RecordError("no space left on device".into())) } else { Ok(()) };
        Box::pin(std::future::ready(result))
    }
}

#[tokio::test]
async fn what_is_recorded_is_what_is_answered() {
    let memory = Memory::default();
    let engine = Engine::builder().judge(Wary).recorder(memory.clone()).build().unwrap();
    let outcome = engine.fire(&call("danger")).await;
    assert_eq!(*memory.kept.lock().unwrap(), [outcome]);
}

#[tokio::test]
async fn a_decision_that_cannot_be_recorded_is_not_taken() {
    let memory = Memory { broken: true, ..Memory::default() };
    let engine = Engine::builder().recorder(memory).build().unwrap();
    let outcome = engine.fire(&call("ls")).await;
    assert_eq!(outcome.decision, Decision::Deny);
    assert!(outcome.reason().unwrap().contains("no space left on device"));

    let mut after = call("ls");
    after.event.event = EventKind::PostTool;
    let outcome = engine.fire(&after).await;
    assert_eq!(outcome.decision, Decision::None, "what has happened cannot be prevented");
    assert!(outcome.message_text().is_some(), "but it is said");
}
