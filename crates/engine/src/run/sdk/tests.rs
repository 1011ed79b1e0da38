// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::collections::BTreeMap;
use std::sync::Mutex;

use serde_json::{Value, json};
use tenterhook_event::{EventId, EventKind, Outcome, Timestamp, ToolCall, TraceStatus};
use tenterhook_harness::dialect::EventMatcher;

use super::*;
use crate::{Engine, FailMode, HookBackend, HookLimits};

fn hook(id: &str, client: &Arc<SdkClient>, fail: FailMode) -> Hook {
    let runner = HookBackend::Sdk(SdkHook { client: Arc::clone(client), context: Arc::new(NoHookContext) });
    let blank = Hook::on(id, EventKind::PreTool).fail(fail).timeout(Duration::from_secs(5));
    Hook { runner, ..blank.run(|_| async { crate::response::none() }) }
}

fn engine(hooks: Vec<Hook>) -> Arc<Engine> {
    Arc::new(Engine::builder().hooks(hooks).build().unwrap())
}

fn hook_call(number: u64) -> HookCall {
    let mut event = Event::new(
        EventId::from_parts(number, 1),
        Timestamp::from_unix_ms(number),
        "test",
        EventKind::PreTool,
        "PreToolUse",
    );
    event.tool = Some(ToolCall::new("Bash", json!({"command": format!("echo {number}")})));
    HookCall { event, native: None }
}

fn fire(engine: &Arc<Engine>, number: u64) -> tokio::task::JoinHandle<Outcome> {
    let engine = Arc::clone(engine);
    tokio::spawn(async move { engine.fire(&hook_call(number)).await })
}

async fn next_call(stream: &mut SdkStream) -> SdkCall {
    match stream.messages.recv().await {
        Some(SdkMessage::Call(call)) => call,
        other => panic!("expected a call, got {other:?}"),
    }
}

fn reply(call: &SdkCall, action: A3sAction) -> SdkReply {
    let reason = Some("because".to_owned());
    let answer = Ok(A3sAnswer { action, reason, modified: None, delay: None });
    SdkReply {
        call_id: Some(call.call_id),
        hook: call.hook.to_string(),
        event_id: call.event_id.to_string(),
        answer,
    }
}

fn changing(call: &SdkCall, modified: Value) -> SdkReply {
    let Value::Object(modified) = modified else { panic!() };
    let answer =
        Ok(A3sAnswer { action: A3sAction::Continue, reason: None, modified: Some(modified), delay: None });
    SdkReply { answer, ..reply(call, A3sAction::Continue) }
}

fn note(outcome: &Outcome) -> &str {
    outcome.trace[0].note.as_deref().unwrap_or_default()
}

#[tokio::test]
async fn two_thousand_questions_in_any_order_are_not_confused() {
    let client = SdkClient::new("c");
    let engine = engine(vec![hook("h", &client, FailMode::Closed)]);
    let mut stream = client.open_stream();
    let calls: BTreeMap<u64, _> = (0..2000).map(|number| (number, fire(&engine, number))).collect();
    let mut calls_received = Vec::new();
    for _ in 0..2000 {
        calls_received.push(next_call(&mut stream).await);
    }
    assert_eq!(client.pending_calls(), 2000);
    // Answers the calls in reverse order. Each answer repeats the command of its call.
    for call in calls_received.iter().rev() {
        let event: Value = serde_json::from_slice(&call.payload).unwrap();
        let command = format!("{}; true", event["args"]["command"].as_str().unwrap());
        client.accept_reply(changing(call, json!({"args": {"command": command}}))).unwrap();
    }
    for (number, outcome) in calls {
        let outcome = outcome.await.unwrap();
        assert_eq!(outcome.tool_input, Some(json!({"command": format!("echo {number}; true")})));
    }
    assert_eq!(client.pending_calls(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_hangs_fails_its_hook_as_configured_and_is_notified() {
    for (fail, decision) in [(FailMode::Open, Decision::None), (FailMode::Closed, Decision::Deny)] {
        let client = SdkClient::new("c");
        let engine = engine(vec![hook("h", &client, fail)]);
        let mut stream = client.open_stream();
        let outcome = fire(&engine, 1).await.unwrap();
        assert_eq!((outcome.decision, outcome.trace[0].status), (decision, TraceStatus::TimedOut));
        let call = next_call(&mut stream).await;
        let Some(SdkMessage::Cancelled { call_id, reason: CancelReason::TimedOut, .. }) =
            stream.messages.recv().await
        else {
            panic!()
        };
        assert_eq!(call_id, call.call_id);
        assert_eq!(client.accept_reply(reply(&call, A3sAction::Block)), Err(RejectedReply::TooLate));
        assert_eq!(client.pending_calls(), 0);
    }
}

#[tokio::test]
async fn the_first_answer_counts_and_nonsense_is_reported() {
    let client = SdkClient::new("c");
    let engine = engine(vec![hook("h", &client, FailMode::Open)]);
    let mut stream = client.open_stream();
    let outcome = fire(&engine, 1);
    let call = next_call(&mut stream).await;
    let invented = SdkReply { call_id: Some(call.call_id + 1_000_000), ..reply(&call, A3sAction::Block) };
    assert_eq!(client.accept_reply(invented), Err(RejectedReply::UnknownCall));
    assert_eq!(client.accept_reply(reply(&call, A3sAction::Continue)), Ok(()));
    assert_eq!(client.accept_reply(reply(&call, A3sAction::Block)), Err(RejectedReply::AlreadyAnswered));
    assert_eq!(outcome.await.unwrap().decision, Decision::None);

    let outcome = fire(&engine, 2);
    let call = next_call(&mut stream).await;
    let other = SdkReply { hook: "other".to_owned(), ..reply(&call, A3sAction::Continue) };
    assert_eq!(client.accept_reply(other), Err(RejectedReply::Mismatch));
    let outcome = outcome.await.unwrap();
    assert_eq!(outcome.trace[0].status, TraceStatus::Failed);
    assert!(note(&outcome).contains("names another hook or event"), "{}", note(&outcome));
}

#[tokio::test]
async fn an_answer_that_does_not_fit_the_event_is_a_failure_and_is_reported_to_the_client() {
    let client = SdkClient::new("c");
    let engine = engine(vec![hook("h", &client, FailMode::Closed)]);
    let mut stream = client.open_stream();
    for (modified, why) in [
        (json!({"args": "ls"}), "`modified.args` must be an object"),
        (json!({"command": "ls"}), "unknown field `modified.command`; known: `args`"),
    ] {
        let outcome = fire(&engine, 1);
        let call = next_call(&mut stream).await;
        client.accept_reply(changing(&call, modified)).unwrap();
        let outcome = outcome.await.unwrap();
        assert_eq!((outcome.decision, outcome.tool_input.clone()), (Decision::Deny, None));
        assert!(note(&outcome).starts_with(why), "{}", note(&outcome));
        let Some(SdkMessage::Refused { call_id, why: reported }) = stream.messages.recv().await else {
            panic!()
        };
        assert_eq!(call_id, call.call_id);
        assert!(reported.starts_with(why), "{reported}");
    }
    let outcome = fire(&engine, 2);
    let call = next_call(&mut stream).await;
    let thrown = SdkReply {
        answer: Err(HandlerError("it threw: boom".to_owned())),
        ..reply(&call, A3sAction::Continue)
    };
    client.accept_reply(thrown).unwrap();
    assert_eq!(note(&outcome.await.unwrap()), "it threw: boom");
}

#[tokio::test(start_paused = true)]
async fn what_waits_for_a_client_that_comes_back_is_asked_again() {
    let client = SdkClient::new("c");
    let engine = engine(vec![hook("h", &client, FailMode::Open)]);
    let mut first = client.open_stream();
    let outcome = fire(&engine, 1);
    let call = next_call(&mut first).await;
    assert!(client.close_stream(first.number));
    let meanwhile = fire(&engine, 2);
    tokio::time::sleep(RECONNECT_GRACE / 2).await;
    let mut second = client.open_stream();
    assert!(!client.close_stream(first.number), "an older stream is no longer current");
    for (expected, outcome) in [(call.event_id, outcome), (EventId::from_parts(2, 1), meanwhile)] {
        let again = next_call(&mut second).await;
        assert!(again.redelivered);
        assert_eq!(again.event_id, expected);
        client.accept_reply(reply(&again, A3sAction::Block)).unwrap();
        assert_eq!(outcome.await.unwrap().decision, Decision::Deny);
    }
}

#[tokio::test(start_paused = true)]
async fn the_hooks_of_an_absent_client_fail_without_waiting() {
    let client = SdkClient::new("c");
    let engine = engine(vec![hook("h", &client, FailMode::Closed)]);
    let outcome = fire(&engine, 1).await.unwrap();
    assert_eq!((outcome.decision, note(&outcome)), (Decision::Deny, "the client is not connected"));
    let stream = client.open_stream();
    let waiting = fire(&engine, 2);
    tokio::task::yield_now().await;
    client.close_stream(stream.number);
    let began = Instant::now();
    let outcome = waiting.await.unwrap();
    assert_eq!((outcome.decision, note(&outcome)), (Decision::Deny, "the client disconnected"));
    assert_eq!(began.elapsed().as_millis(), RECONNECT_GRACE.as_millis());
    let began = Instant::now();
    assert_eq!(fire(&engine, 3).await.unwrap().decision, Decision::Deny);
    assert_eq!(began.elapsed(), Duration::ZERO);
    assert_eq!(client.pending_calls(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_fails_alone() {
    let (deaf, well) = (SdkClient::new("deaf"), SdkClient::new("well"));
    let engine = engine(vec![hook("deaf", &deaf, FailMode::Open), hook("well", &well, FailMode::Open)]);
    let _never_read = deaf.open_stream();
    let mut stream = well.open_stream();
    let answering = Arc::clone(&well);
    tokio::spawn(async move {
        loop {
            let call = next_call(&mut stream).await;
            answering.accept_reply(reply(&call, A3sAction::Block)).unwrap();
        }
    });
    let mut calls = Vec::new();
    for number in 0..MAX_PENDING_CALLS as u64 + 500 {
        calls.push(fire(&engine, number));
        tokio::task::yield_now().await;
    }
    let mut notes = BTreeMap::new();
    for call in calls {
        let outcome = call.await.unwrap();
        assert_eq!(outcome.decision, Decision::Deny, "the answer of the other hook counts");
        *notes.entry(note(&outcome).to_owned()).or_insert(0) += 1;
    }
    assert_eq!(notes.get("too many calls wait for the client"), Some(&500), "{notes:?}");
    assert_eq!(notes.get("no answer within 5s"), Some(&MAX_PENDING_CALLS), "{notes:?}");
    assert_eq!((deaf.pending_calls(), well.pending_calls()), (0, 0));
}

#[tokio::test]
async fn a_newer_stream_takes_over_and_the_older_one_ends() {
    let client = SdkClient::new("c");
    let mut first = client.open_stream();
    let second = client.open_stream();
    assert!(first.messages.recv().await.is_none());
    assert!(client.is_connected());
    assert_eq!(client.disconnected_for(), None);
    assert!(client.close_stream(second.number));
    assert!(!client.is_connected() && client.disconnected_for().is_some());
}

#[tokio::test]
async fn observers_receive_missed_events_later() {
    let client = SdkClient::new("c");
    let watching = Hook { observes: true, ..hook("h", &client, FailMode::Closed) };
    let engine = engine(vec![watching]);
    for number in 0..MAX_QUEUED_EVENTS as u64 + 3 {
        let outcome = fire(&engine, number).await.unwrap();
        assert_eq!((outcome.decision, outcome.trace[0].status), (Decision::None, TraceStatus::Detached));
    }
    let mut stream = client.open_stream();
    assert_eq!(stream.missed, 3);
    for number in 0..MAX_QUEUED_EVENTS as u64 {
        let call = next_call(&mut stream).await;
        assert_eq!((call.event_id, call.deadline), (EventId::from_parts(number, 1), None));
        assert!(call.redelivered);
    }
    fire(&engine, 9_999).await.unwrap();
    let call = next_call(&mut stream).await;
    assert!(!call.redelivered);
    assert_eq!(client.accept_reply(reply(&call, A3sAction::Block)), Err(RejectedReply::UnknownCall));
}

#[tokio::test(start_paused = true)]
async fn retry_is_asked_again_with_its_number_and_gives_up() {
    let client = SdkClient::new("c");
    let engine = engine(vec![hook("h", &client, FailMode::Open)]);
    let mut stream = client.open_stream();
    let outcome = fire(&engine, 1);
    let mut attempts = Vec::new();
    for _ in 0..HookLimits::default().retry_attempts {
        let call = next_call(&mut stream).await;
        attempts.push(call.attempt);
        client.accept_reply(reply(&call, A3sAction::Retry)).unwrap();
    }
    let outcome = outcome.await.unwrap();
    assert_eq!((attempts, outcome.decision), (vec![1, 2, 3], Decision::Deny));
    assert!(outcome.reason().unwrap().contains("try again in 1000 ms"), "{outcome:?}");
}

#[tokio::test]
async fn a_caller_that_goes_away_cancels_its_call() {
    let client = SdkClient::new("c");
    let engine = engine(vec![hook("h", &client, FailMode::Open)]);
    let mut stream = client.open_stream();
    let abandoned = fire(&engine, 1);
    let call = next_call(&mut stream).await;
    abandoned.abort();
    let Some(SdkMessage::Cancelled { call_id, reason: CancelReason::CallerGone, .. }) =
        stream.messages.recv().await
    else {
        panic!()
    };
    assert_eq!((call_id, client.pending_calls()), (call.call_id, 0));

    let waiting = fire(&engine, 2);
    next_call(&mut stream).await;
    client.remove_hook("h");
    assert_eq!(waiting.await.unwrap().trace[0].status, TraceStatus::Failed);
    assert!(matches!(
        stream.messages.recv().await,
        Some(SdkMessage::Cancelled { reason: CancelReason::Unregistered, .. })
    ));
}

struct NoteLog(Mutex<Vec<(HookAuditKind, Option<String>)>>);

impl HookContext for NoteLog {
    fn records(&self, _kind: HookAuditKind) -> bool {
        true
    }

    fn record_note<'a>(&'a self, note: HookAuditNote<'a>) -> BoxFuture<'a, ()> {
        self.0.lock().unwrap().push((note.kind, note.reason.map(ToOwned::to_owned)));
        Box::pin(std::future::ready(()))
    }
}

#[tokio::test]
async fn what_becomes_of_a_hook_is_written_down() {
    let (client, log) = (SdkClient::new("c"), Arc::new(NoteLog(Mutex::default())));
    let context: Arc<dyn HookContext> = log.clone();
    let runner = HookBackend::Sdk(SdkHook { client: Arc::clone(&client), context });
    let engine =
        engine(vec![Hook { runner, matcher: EventMatcher::all(), ..hook("h", &client, FailMode::Open) }]);
    let mut stream = client.open_stream();
    for step in ["block", "modify", "fail"] {
        let outcome = fire(&engine, 1);
        let call = next_call(&mut stream).await;
        let answer = match step {
            "block" => reply(&call, A3sAction::Block),
            "modify" => changing(&call, json!({"args": {"command": "ls"}})),
            _ => SdkReply { answer: Err(HandlerError("boom".to_owned())), ..reply(&call, A3sAction::Skip) },
        };
        client.accept_reply(answer).unwrap();
        outcome.await.unwrap();
    }
    let because = || Some("because".to_owned());
    let expected = [
        (HookAuditKind::Started, None),
        (HookAuditKind::Completed, because()),
        (HookAuditKind::Blocked, because()),
        (HookAuditKind::Started, None),
        (HookAuditKind::Completed, None),
        (HookAuditKind::Modified, None),
        (HookAuditKind::Started, None),
        (HookAuditKind::Failed, Some("boom".to_owned())),
    ];
    assert_eq!(*log.0.lock().unwrap(), expected);
}

/// Returns an answer of a client that knows neither `call_id` nor `event_id`.
fn unnumbered(hook: &str, action: A3sAction) -> SdkReply {
    let answer = Ok(A3sAnswer { action, reason: Some("because".to_owned()), modified: None, delay: None });
    SdkReply { call_id: None, hook: hook.to_owned(), event_id: String::new(), answer }
}

#[tokio::test]
async fn an_answer_without_call_id_is_for_the_only_open_question_of_its_hook() {
    let client = SdkClient::new("c");
    let engine = engine(vec![hook("one", &client, FailMode::Open), hook("two", &client, FailMode::Open)]);
    let mut stream = client.open_stream();
    let outcome = fire(&engine, 1);
    let calls_received = [next_call(&mut stream).await, next_call(&mut stream).await];
    assert_eq!(client.accept_reply(unnumbered("three", A3sAction::Block)), Err(RejectedReply::UnknownCall));
    for call in &calls_received {
        assert_eq!(client.accept_reply(unnumbered(&call.hook, A3sAction::Block)), Ok(()));
    }
    assert_eq!(outcome.await.unwrap().decision, Decision::Deny);
    assert_eq!(client.accept_reply(unnumbered("one", A3sAction::Block)), Err(RejectedReply::UnknownCall));
}

#[tokio::test]
async fn an_ambiguous_answer_fails_the_hook_as_configured_and_afterwards_it_is_asked_in_turn() {
    for (fail, decision) in [(FailMode::Open, Decision::None), (FailMode::Closed, Decision::Deny)] {
        let client = SdkClient::new("c");
        let engine = engine(vec![hook("h", &client, fail)]);
        let mut stream = client.open_stream();
        let outcomes = [fire(&engine, 1), fire(&engine, 2)];
        for _ in &outcomes {
            next_call(&mut stream).await;
        }
        assert_eq!(client.accept_reply(unnumbered("h", A3sAction::Continue)), Err(RejectedReply::Ambiguous));
        for outcome in outcomes {
            let outcome = outcome.await.unwrap();
            assert_eq!((outcome.decision, outcome.trace[0].status), (decision, TraceStatus::Failed));
            assert!(note(&outcome).contains("no `call_id`"), "{outcome:?}");
        }

        let mut stream = client.open_stream();
        let outcomes = [fire(&engine, 3), fire(&engine, 4)];
        for _ in &outcomes {
            next_call(&mut stream).await;
            assert_eq!(client.pending_calls(), 1, "one call at a time");
            assert_eq!(client.accept_reply(unnumbered("h", A3sAction::Block)), Ok(()));
        }
        for outcome in outcomes {
            assert_eq!(outcome.await.unwrap().decision, Decision::Deny);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_late_answer_without_call_id_does_not_count_for_the_next_question() {
    let client = SdkClient::new("c");
    let engine = engine(vec![hook("h", &client, FailMode::Closed)]);
    let mut stream = client.open_stream();
    assert_eq!(fire(&engine, 1).await.unwrap().trace[0].status, TraceStatus::TimedOut);
    next_call(&mut stream).await;
    assert!(matches!(stream.messages.recv().await, Some(SdkMessage::Cancelled { .. })));
    let second = fire(&engine, 2);
    next_call(&mut stream).await;
    // The answer may belong to either call.
    assert_eq!(client.accept_reply(unnumbered("h", A3sAction::Continue)), Err(RejectedReply::Ambiguous));
    assert_eq!(second.await.unwrap().decision, Decision::Deny);

    let mut stream = client.open_stream();
    assert_eq!(fire(&engine, 3).await.unwrap().trace[0].status, TraceStatus::TimedOut);
    next_call(&mut stream).await;
    assert_eq!(
        client.accept_reply(unnumbered("h", A3sAction::Continue)),
        Err(RejectedReply::TooLate),
        "nothing is open"
    );
    assert!(matches!(stream.messages.recv().await, Some(SdkMessage::Cancelled { .. })));
    let fourth = fire(&engine, 4);
    next_call(&mut stream).await;
    assert_eq!(client.accept_reply(unnumbered("h", A3sAction::Block)), Ok(()), "the late answer has come");
    assert!(fourth.await.unwrap().reason().unwrap().contains("because"));
}

#[tokio::test]
async fn a_failed_tool_is_a_result_without_success_to_hooks_for_results() {
    let client = SdkClient::new("c");
    let engine = engine(vec![
        Hook { on: vec![EventKind::PostTool], ..hook("results", &client, FailMode::Open) },
        Hook { on: vec![EventKind::ToolError], ..hook("errors", &client, FailMode::Open) },
        Hook::on("closure", EventKind::PostTool).run(|_| async { crate::response::deny("not for it") }),
    ]);
    let mut stream = client.open_stream();
    let mut failed = hook_call(1);
    failed.event.event = EventKind::ToolError;
    failed.event.detail.error = Some("exit code 1".to_owned());
    let firing = tokio::spawn({
        let engine = Arc::clone(&engine);
        async move { engine.fire(&failed).await }
    });
    let (results, errors) = (next_call(&mut stream).await, next_call(&mut stream).await);
    assert_eq!((&*results.event_type, &*errors.event_type), ("PostToolUse", "ToolError"));
    let payload: Value = serde_json::from_slice(&results.payload).unwrap();
    assert_eq!(payload["eventType"], "PostToolUse");
    let expected = json!({"success": false, "output": "exit code 1", "duration": 0});
    assert_eq!((&payload["tool"], &payload["result"]), (&json!("Bash"), &expected));
    client.accept_reply(changing(&results, json!({"result": {"output": "short"}}))).unwrap();
    client.accept_reply(reply(&errors, A3sAction::Continue)).unwrap();
    let outcome = firing.await.unwrap();
    assert_eq!(outcome.tool_output(), Some(&json!("short")));
    assert_eq!(outcome.trace.len(), 2);
}

#[tokio::test]
async fn hooks_of_programs_merge_what_each_of_them_changed() {
    let client = SdkClient::new("c");
    let engine = engine(vec![hook("a", &client, FailMode::Open), hook("b", &client, FailMode::Open)]);
    let mut stream = client.open_stream();
    let outcome = fire(&engine, 1);
    for (key, value) in [("timeout", json!(30_000)), ("description", json!("why"))] {
        let call = next_call(&mut stream).await;
        let mut args: Value = serde_json::from_slice(&call.payload).unwrap();
        let mut args = args["args"].take();
        args[key] = value;
        client.accept_reply(changing(&call, json!({"args": args}))).unwrap();
    }
    let outcome = outcome.await.unwrap();
    let expected = json!({"command": "echo 1", "timeout": 30_000, "description": "why"});
    assert_eq!(outcome.tool_input, Some(expected));
    assert!(outcome.trace.iter().all(|step| step.note.is_none()), "{outcome:?}");
}
