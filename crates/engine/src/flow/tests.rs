// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tests the pipeline of one call through the public API.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tenterhook_event::{
    DecidedCall, Decision, Event, EventId, EventKind, Finding, HookCall, Origin, Outcome, Timestamp,
    ToolCall, TraceEntry, TraceStatus,
};

use crate::{
    BlockingRecorder, BoxFuture, ConditionError, Engine, FailMode, Generation, Hook, HookCondition,
    HookLimits, Judge, RecordError, Recorder, RegisterError, RuleJudgement, response,
};

fn call(command: &str) -> HookCall {
    let (id, ts) = (EventId::from_parts(0, 0), Timestamp::from_unix_ms(0));
    let mut event = Event::new(id, ts, "test", EventKind::PreTool, "PreToolUse");
    event.tool = Some(ToolCall::new("Bash", json!({"command": command})));
    HookCall { event, native: None }
}

fn command_of(event: &Event) -> String {
    event.tool.as_ref().map(|tool| tool.gist().into_owned()).unwrap_or_default()
}

/// Denies every command that contains `danger`.
struct DenyDanger;

impl Judge for DenyDanger {
    fn judge(&self, event: &Event) -> RuleJudgement {
        let mut finding = Finding::silent(Origin::rule("wary"));
        if command_of(event).contains("danger") {
            finding = Finding::decided(Origin::rule("wary"), Decision::Deny, "dangerous");
        }
        RuleJudgement { findings: vec![finding], ..RuleJudgement::default() }
    }
}

fn rewrite(command: &str) -> response::ResponseBuilder {
    response::none().merge_tool_input(json!({"command": command}))
}

#[tokio::test]
async fn what_is_judged_is_what_runs() {
    let engine = Engine::builder().judge(DenyDanger).on(EventKind::PreTool).id("bad");
    let engine = engine.run(|_| async { rewrite("danger") }).build().unwrap();
    let outcome = engine.fire(&call("harmless")).await;
    assert_eq!(outcome.decision, Decision::Deny, "the rewritten command is judged");
    assert_eq!(outcome.tool_input, Some(json!({"command": "danger"})), "and both inputs are known");

    let engine = Engine::builder().judge(DenyDanger).on(EventKind::PreTool);
    let engine = engine.run(|_| async { rewrite("harmless") }).build().unwrap();
    let outcome = engine.fire(&call("danger")).await;
    assert_eq!(outcome.decision, Decision::Deny, "what was asked is judged too: the stricter result stands");
}

#[tokio::test]
async fn answers_from_outside_count_like_a_hook_s_and_what_they_change_is_judged() {
    let by = Origin::hook("callback:x");
    let answer = |finding: Finding| {
        let (status, note) = (TraceStatus::Ran, None);
        let step =
            TraceEntry { by: finding.by.clone(), status, decision: finding.decision, took_us: 7, note };
        vec![(finding, step)]
    };
    let generation =
        Generation::new("g".into(), Vec::new(), HookLimits::default(), Arc::new(DenyDanger)).unwrap();
    let fire = async |command: &str, finding: Finding| {
        let call = call(command);
        let finished = super::run_hooks(&generation, &call).await;
        let evaluated = super::evaluate(&generation, &call, answer(finding), finished);
        evaluated.record(&generation, &crate::NoRecorder, &call).await
    };
    let denied = fire("harmless", Finding::decided(by.clone(), Decision::Deny, "mine")).await;
    assert_eq!((denied.decision, denied.reason().as_deref()), (Decision::Deny, Some("mine")));
    assert_eq!(denied.trace.first().map(|step| (&step.by, step.took_us)), Some((&by, 7)));
    let changed = Finding { by: by.clone(), ..crate::InterpretedOutput::from(rewrite("danger")).finding };
    let outcome = fire("harmless", changed).await;
    assert_eq!(outcome.decision, Decision::Deny, "the rule sees what would run");
    assert_eq!(outcome.tool_input, Some(json!({"command": "danger"})));
    let allowed = Finding::decided(by, Decision::Allow, "fine");
    assert_eq!(fire("danger", allowed).await.decision, Decision::Deny, "a hook cannot override a rule");
}

#[tokio::test(start_paused = true)]
async fn the_outcome_does_not_depend_on_who_finishes_first() {
    let fire = async |first_ms: u64, second_ms: u64| {
        let sleepy = |ms: u64, text: &'static str| {
            move |_| async move {
                tokio::time::sleep(Duration::from_millis(ms)).await;
                rewrite(text).context(text)
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

#[tokio::test(start_paused = true)]
async fn a_hook_that_hangs_or_panics_fails_as_configured() {
    let broken = |fail: FailMode, panics: bool| {
        let builder = Engine::builder().on(EventKind::PreTool).id("broken").fail(fail);
        let builder = builder.timeout(Duration::from_millis(20)).run(move |_| async move {
            assert!(!panics, "on purpose");
            std::future::pending::<()>().await;
            response::none()
        });
        builder.build().unwrap()
    };
    for panics in [false, true] {
        let open = broken(FailMode::Open, panics).fire(&call("x")).await;
        assert_eq!(open.decision, Decision::None);
        let closed = broken(FailMode::Closed, panics).fire(&call("x")).await;
        assert_eq!(closed.decision, Decision::Deny);
        let expected = if panics { TraceStatus::Failed } else { TraceStatus::TimedOut };
        assert_eq!(closed.trace.first().map(|step| step.status), Some(expected), "and the trace shows it");
    }
}

#[tokio::test]
async fn a_matcher_keeps_a_hook_from_other_tools_and_other_events() {
    let deny = |_| async { response::deny("no") };
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
    let silent = |_| async { response::none() };
    let twice =
        Engine::builder().on(EventKind::Stop).id("a").run(silent).on(EventKind::Prompt).id("a").run(silent);
    assert_eq!(twice.build().err(), Some(RegisterError::Duplicate("a".into())));
    let mut many = Engine::builder();
    for number in 0..11 {
        many = many.on(EventKind::Stop).id(&number.to_string()).run(silent);
    }
    let error = many.build().err().unwrap();
    assert_eq!(error.to_string(), "cannot add hook `10` on stop: maxHooksPerEvent 10 exceeded");
    let limits = HookLimits { max_hooks: 1, ..HookLimits::default() };
    let two =
        Engine::builder().limits(limits).on(EventKind::Stop).run(silent).on(EventKind::Prompt).run(silent);
    let error = two.build().err().unwrap();
    assert_eq!(error.to_string(), "cannot add hook `prompt-2`: maxTotalHooks 1 exceeded");
}

#[tokio::test]
async fn hooks_come_and_go_between_events_and_every_change_has_a_name_of_its_own() {
    let engine = Engine::builder().named("g").build().unwrap();
    let deny = Hook::on("no", EventKind::PreTool).run(|_| async { response::deny("no") });
    engine.register(deny.clone()).unwrap();
    assert_eq!(engine.register(deny).err(), Some(RegisterError::Duplicate("no".into())));
    assert_eq!(engine.fire(&call("x")).await.decision, Decision::Deny);
    engine.disable("no").unwrap();
    assert_eq!(engine.fire(&call("x")).await.decision, Decision::None);
    assert_eq!(engine.list().len(), 1, "it is still there");
    engine.enable("no").unwrap();
    assert_eq!(engine.fire(&call("x")).await.decision, Decision::Deny);
    engine.unregister("no").unwrap();
    assert_eq!(engine.fire(&call("x")).await.decision, Decision::None);
    assert_eq!(engine.unregister("no").err(), Some(RegisterError::Unknown("no".into())));
    assert!(engine.generation().name().starts_with("g+"), "{}", engine.generation().name());
}

#[tokio::test]
async fn a_chain_passes_on_what_each_hook_changed_and_the_others_see_what_was_asked() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let look = |name: &'static str, to: &'static str| {
        let seen = Arc::clone(&seen);
        move |event: Arc<Event>| {
            seen.lock().unwrap().push((name, command_of(&event)));
            async move { rewrite(to) }
        }
    };
    let engine = Engine::builder().on(EventKind::PreTool).chain("c").run(look("first", "one"));
    let engine = engine.on(EventKind::PreTool).chain("c").run(look("second", "two"));
    let engine = engine.on(EventKind::PreTool).run(look("beside", "three")).build().unwrap();
    let outcome = engine.fire(&call("asked")).await;
    let mut seen = seen.lock().unwrap().clone();
    seen.sort_unstable();
    let expected = [("beside", "asked"), ("first", "asked"), ("second", "one")]
        .map(|(who, what)| (who, what.to_owned()));
    assert_eq!(seen, expected);
    assert_eq!(outcome.tool_input, Some(json!({"command": "three"})), "the last in order wins");
}

#[tokio::test]
async fn skip_ignores_later_hooks_but_never_a_rule_or_earlier_findings() {
    let engine =
        Engine::builder().judge(DenyDanger).on(EventKind::PreTool).run(|_| async { rewrite("danger") });
    let engine = engine.on(EventKind::PreTool).run(|_| async { response::skip().context("skipping") });
    let engine =
        engine.on(EventKind::PreTool).id("late").run(|_| async { response::allow("late") }).build().unwrap();
    let outcome = engine.fire(&call("x")).await;
    assert_eq!(outcome.decision, Decision::Deny, "the rule saw the rewritten command");
    assert_eq!(outcome.tool_input, Some(json!({"command": "danger"})), "what was said before stands");
    assert_eq!(outcome.context_text().as_deref(), Some("skipping"));
    let late = outcome.trace.iter().find(|step| step.by == Origin::hook("late")).unwrap();
    assert_eq!(late.status, TraceStatus::Skipped);
}

#[tokio::test(start_paused = true)]
async fn retry_asks_again_and_then_takes_the_answer() {
    let asked = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&asked);
    let engine = Engine::builder().on(EventKind::PreTool).run(move |_| {
        let attempt = count.fetch_add(1, Ordering::Relaxed);
        async move {
            if attempt < 2 {
                response::retry(Duration::from_millis(5))
            } else {
                response::none().context("ok")
            }
        }
    });
    let outcome = engine.build().unwrap().fire(&call("x")).await;
    assert_eq!((outcome.decision, outcome.context_text().as_deref()), (Decision::None, Some("ok")));
    assert_eq!(asked.load(Ordering::Relaxed), 3);
}

#[tokio::test(start_paused = true)]
async fn a_retry_in_a_chain_does_not_unsay_an_earlier_deny() {
    let (denied, asked) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let engine = Engine::builder().on(EventKind::PreTool).chain("c").run(move |_| {
        let first = denied.fetch_add(1, Ordering::Relaxed) == 0;
        async move { if first { response::deny("no") } else { response::none() } }
    });
    let engine = engine.on(EventKind::PreTool).chain("c").run(move |_| {
        let first = asked.fetch_add(1, Ordering::Relaxed) == 0;
        async move { if first { response::retry(Duration::from_millis(5)) } else { response::none() } }
    });
    let outcome = engine.build().unwrap().fire(&call("x")).await;
    assert_eq!(outcome.decision, Decision::Deny);
}

#[tokio::test(start_paused = true)]
async fn all_hooks_of_a_call_together_have_a_deadline() {
    let slow = |_| async {
        tokio::time::sleep(Duration::from_millis(80)).await;
        response::none()
    };
    let limits = HookLimits { call_timeout: Duration::from_millis(100), ..HookLimits::default() };
    let mut engine = Engine::builder().limits(limits);
    for _ in 0..4 {
        engine = engine.on(EventKind::PreTool).chain("c").fail(FailMode::Closed).run(slow);
    }
    let started = tokio::time::Instant::now();
    let outcome = engine.build().unwrap().fire(&call("x")).await;
    assert_eq!(started.elapsed().as_millis(), 100);
    assert_eq!(outcome.decision, Decision::Deny, "the hooks that were cut off had to answer");
}

#[tokio::test(start_paused = true)]
async fn endless_retries_become_a_deny_with_the_reason() {
    let engine =
        Engine::builder().on(EventKind::PreTool).run(|_| async { response::retry(Duration::from_millis(5)) });
    let outcome = engine.build().unwrap().fire(&call("x")).await;
    assert_eq!(outcome.decision, Decision::Deny);
    assert!(outcome.reason().unwrap().contains("try again in 5 ms"), "{:?}", outcome.reason());

    let patient =
        Engine::builder().on(EventKind::PreTool).run(|_| async { response::retry(Duration::from_mins(5)) });
    let started = tokio::time::Instant::now();
    let outcome = patient.build().unwrap().fire(&call("x")).await;
    assert_eq!(outcome.decision, Decision::Deny);
    assert_eq!(started.elapsed(), Duration::ZERO, "a delay beyond the deadline is not waited for");
}

#[tokio::test]
async fn a_retry_after_a_failed_tool_is_passed_to_the_caller() {
    let asked = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&asked);
    let engine = Engine::builder().on(EventKind::ToolError).run(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        async { response::retry(Duration::from_millis(70)) }
    });
    let mut call = call("ls");
    call.event.event = EventKind::ToolError;
    let outcome = engine.build().unwrap().fire(&call).await;
    assert_eq!((outcome.decision, outcome.retry_ms), (Decision::None, Some(70)));
    assert_eq!(asked.load(Ordering::Relaxed), 1, "the tool is tried again, not the hook");
}

#[tokio::test(start_paused = true)]
async fn an_observer_never_delays_and_never_decides() {
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    let engine = Engine::builder().on(EventKind::PreTool).fail(FailMode::Closed).observing().run(move |_| {
        let sender = sender.clone();
        async move {
            tokio::time::sleep(Duration::from_millis(50)).await;
            sender.send(()).unwrap();
            response::deny("too late")
        }
    });
    let started = tokio::time::Instant::now();
    let outcome = engine.build().unwrap().fire(&call("x")).await;
    assert_eq!(outcome.decision, Decision::None);
    assert_eq!(started.elapsed(), Duration::ZERO);
    assert_eq!(outcome.trace.first().map(|step| step.status), Some(TraceStatus::Detached));
    receiver.recv().await.unwrap();
}

#[derive(Debug)]
struct FixedCondition(Result<bool, String>);

impl HookCondition for FixedCondition {
    fn holds(&self, _event: &Event) -> Result<bool, ConditionError> {
        self.0.clone().map_err(|why| ConditionError(why.into()))
    }

    fn text(&self) -> &'static str {
        "only"
    }
}

#[tokio::test]
async fn a_condition_decides_whether_a_hook_runs_and_its_error_is_the_hook_s_failure() {
    let fire = async |condition: Result<bool, String>, fail: FailMode| {
        let engine = Engine::builder().on(EventKind::PreTool).fail(fail).when(FixedCondition(condition));
        engine.run(|_| async { response::ask("sure?") }).build().unwrap().fire(&call("x")).await.decision
    };
    assert_eq!(fire(Ok(true), FailMode::Open).await, Decision::Ask);
    assert_eq!(fire(Ok(false), FailMode::Closed).await, Decision::None);
    assert_eq!(fire(Err("no such field".into()), FailMode::Open).await, Decision::None);
    assert_eq!(fire(Err("no such field".into()), FailMode::Closed).await, Decision::Deny);
}

/// Observes each command that it evaluates.
struct ObservingJudge;

impl Judge for ObservingJudge {
    fn judge(&self, event: &Event) -> RuleJudgement {
        let observed = json!({"links": {command_of(event): "/etc"}});
        RuleJudgement { observed: Some(observed), ..RuleJudgement::default() }
    }
}

#[tokio::test]
async fn what_was_observed_of_both_inputs_is_recorded() {
    let memory = MemoryRecorder::default();
    let engine = Engine::builder().judge(ObservingJudge).recorder(memory.clone()).on(EventKind::PreTool);
    let engine = engine.run(|_| async { rewrite("changed") }).build().unwrap();
    engine.fire(&call("asked")).await;
    let both = json!({"links": {"asked": "/etc", "changed": "/etc"}});
    assert_eq!(*memory.observed.lock().unwrap(), [Some(both)]);
}

/// Keeps all outcomes in memory, or fails.
#[derive(Clone, Default)]
struct MemoryRecorder {
    outcomes: Arc<Mutex<Vec<Outcome>>>,
    observed: Arc<Mutex<Vec<Option<Value>>>>,
    broken: bool,
}

impl Recorder for MemoryRecorder {
    fn record<'a>(&'a self, decided: DecidedCall<'a>) -> BoxFuture<'a, Result<(), RecordError>> {
        self.outcomes.lock().unwrap().push(decided.outcome.clone());
        self.observed.lock().unwrap().push(decided.facts);
        let result = if self.broken { Err(RecordError("no space left on device".into())) } else { Ok(()) };
        Box::pin(std::future::ready(result))
    }
}

#[tokio::test]
async fn what_is_recorded_is_what_is_answered() {
    let memory = MemoryRecorder::default();
    let engine = Engine::builder().judge(DenyDanger).recorder(memory.clone()).build().unwrap();
    let outcome = engine.fire(&call("danger")).await;
    assert_eq!(*memory.outcomes.lock().unwrap(), [outcome]);
}

#[tokio::test]
async fn a_decision_that_cannot_be_recorded_is_not_taken() {
    let memory = MemoryRecorder { broken: true, ..MemoryRecorder::default() };
    let engine = Engine::builder().recorder(memory).build().unwrap();
    let outcome = engine.fire(&call("ls")).await;
    assert_eq!(outcome.decision, Decision::Deny);
    assert!(outcome.reason().unwrap().contains("no space left on device"));

    let mut after = call("ls");
    after.event.event = EventKind::PostTool;
    let outcome = engine.fire(&after).await;
    assert_eq!(outcome.decision, Decision::None, "what has happened cannot be prevented");
    assert!(outcome.message_text().is_some(), "but the user is told");
}

/// Returns the answer that the property test's hook with this number gives.
fn numbered_response(number: u8) -> response::ResponseBuilder {
    match number % 7 {
        0 => response::none(),
        1 => response::allow("a"),
        2 => response::ask("b"),
        3 => response::deny("c").nudge("d"),
        4 => rewrite(&format!("e{number}")),
        5 => response::none().context(format!("f{number}")).stop(format!("g{number}")),
        _ => response::skip(),
    }
}

/// Fires an event with hooks that answer after these delays in milliseconds, on a paused clock.
fn fire_delayed(hooks: &[(u8, i32, bool)], delays: &[u64]) -> Outcome {
    let mut builder = Engine::builder();
    for (at, (number, priority, chained)) in hooks.iter().copied().enumerate() {
        let delay = Duration::from_millis(delays.get(at).copied().unwrap_or(0));
        let hook = builder.on(EventKind::PreTool).priority(priority);
        let hook = if chained { hook.chain("c") } else { hook };
        builder = hook.run(move |_| async move {
            tokio::time::sleep(delay).await;
            numbered_response(number)
        });
    }
    let engine = builder.build().unwrap();
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let mut outcome = runtime.block_on(engine.fire(&call("x")));
    outcome.trace.iter_mut().for_each(|step| step.took_us = 0);
    outcome
}

proptest::proptest! {
    #[test]
    fn no_order_of_finishing_changes_the_outcome(
        hooks in proptest::collection::vec((0..7u8, -1..2i32, proptest::bool::weighted(0.3)), 1..6),
        delays in proptest::collection::vec(0..50u64, 6),
        others in proptest::collection::vec(0..50u64, 6),
    ) {
        proptest::prop_assert_eq!(fire_delayed(&hooks, &delays), fire_delayed(&hooks, &others));
    }
}

#[test]
fn a_call_can_be_fired_on_any_thread() {
    fn on_any_thread(_: impl Send) {}
    let engine = Engine::builder().build().unwrap();
    let call = call("x");
    on_any_thread(engine.fire(&call));
}

#[tokio::test]
async fn a_hook_is_skipped_in_its_own_call_and_the_trace_shows_it() {
    let engine = Engine::builder().judge(DenyDanger).on(EventKind::PreTool).id("own");
    let engine = engine.run(|_| async { response::deny("no") }).on(EventKind::PreTool).id("other");
    let engine = engine.run(|_| async { response::none().context("heard") }).build().unwrap();
    let generation = Generation::clone(&engine.generation()).skipping_hooks(&["own".into()]);
    let outcome = crate::flow::fire(&generation, &crate::NoRecorder, &call("x")).await;
    assert_eq!(outcome.decision, Decision::None);
    assert_eq!(outcome.context_text().as_deref(), Some("heard"));
    let own = outcome.trace.iter().find(|step| step.by == Origin::Hook("own".into())).unwrap();
    assert_eq!(
        (own.status, own.note.as_deref()),
        (TraceStatus::Skipped, Some("the hook made this call itself"))
    );
    let outcome = crate::flow::fire(&generation, &crate::NoRecorder, &call("danger")).await;
    assert_eq!(outcome.decision, Decision::Deny, "rules are never passed over");
}

#[tokio::test]
async fn the_merged_input_is_judged_and_a_conflict_is_in_the_trace() {
    let change = |id: &str, key: &'static str, value: &'static str| {
        Hook::on(id, EventKind::PreTool).run(move |event| async move {
            let mut args = event.tool.as_ref().unwrap().args.clone();
            args[key] = json!(value);
            response::none().tool_input(args)
        })
    };
    let hooks = [change("bad", "command", "danger"), change("other", "description", "why")];
    let engine = Engine::builder().judge(DenyDanger).hooks(hooks).build().unwrap();
    let outcome = engine.fire(&call("harmless")).await;
    assert_eq!(outcome.tool_input, Some(json!({"command": "danger", "description": "why"})));
    assert_eq!(
        outcome.decision,
        Decision::Deny,
        "what one hook changed is judged beside the change of another"
    );

    let hooks = [change("a", "timeout", "1"), change("b", "timeout", "2")];
    let outcome = Engine::builder().hooks(hooks).build().unwrap().fire(&call("x")).await;
    assert_eq!(outcome.tool_input.unwrap()["timeout"], "2");
    let note = outcome.trace[1].note.as_deref();
    assert_eq!(note, Some("conflict: `args.timeout` (changed by `a`); the value of this hook is used"));
}

/// Counts records on the calling thread, or fails to record.
struct CountingRecorder(Arc<AtomicU32>, bool);

impl Recorder for CountingRecorder {
    fn record<'a>(&'a self, decided: DecidedCall<'a>) -> BoxFuture<'a, Result<(), RecordError>> {
        Box::pin(std::future::ready(self.record_now(&decided)))
    }

    fn blocking(&self) -> Option<&dyn BlockingRecorder> {
        Some(self)
    }
}

impl BlockingRecorder for CountingRecorder {
    fn record_now(&self, _decided: &DecidedCall<'_>) -> Result<(), RecordError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        if self.1 { Ok(()) } else { Err(RecordError("disk full".to_owned())) }
    }
}

#[test]
fn a_call_without_hooks_is_decided_and_recorded_without_a_runtime() {
    let recorded = Arc::new(AtomicU32::new(0));
    let builder = |records| {
        Engine::builder().judge(DenyDanger).recorder(CountingRecorder(Arc::clone(&recorded), records))
    };
    let engine = builder(true).build().unwrap();
    assert_eq!(engine.fire_now(&call("danger")).unwrap().decision, Decision::Deny);
    assert_eq!(engine.fire_now(&call("harmless")).unwrap().decision, Decision::None);
    assert_eq!(recorded.load(Ordering::Relaxed), 2);
    let full = builder(false).build().unwrap().fire_now(&call("harmless")).unwrap();
    assert_eq!(full.decision, Decision::Deny, "a decision that leaves no record is not taken");

    let engine = builder(true).on(EventKind::PreTool).run(|_| async { response::none() }).build().unwrap();
    assert!(engine.fire_now(&call("danger")).is_none(), "a hook has to run");
    assert_eq!(recorded.load(Ordering::Relaxed), 3, "and nothing is recorded");
}
