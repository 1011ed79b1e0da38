// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::collections::BTreeMap;
use std::sync::Mutex;

use serde_json::{Value, json};
use tenterhook_event::{EventId, EventKind, Outcome, Status, Timestamp, ToolCall};
use tenterhook_harness::dialect::Matcher;

use super::*;
use crate::{Engine, Fail, Limits, Runner};

fn hook(id: &str, client: &Arc<Client>, fail: Fail) -> Hook {
    let runner = Runner::Sdk(Function { client: Arc::clone(client), beside: Arc::new(Nothing) });
    let blank = Hook::on(id, EventKind::PreTool).fail(fail).timeout(Duration::from_secs(5));
    Hook { runner, ..blank.run(|_| async { crate::say::nothing() }) }
}

fn engine(hooks: Vec<Hook>) -> Arc<Engine> {
    Arc::new(Engine::builder().hooks(hooks).build().unwrap())
}

fn call(number: u64) -> Call {
    let mut event = Event::new(
        EventId::from_parts(number, 1),
        Timestamp::from_unix_ms(number),
        "test",
        EventKind::PreTool,
        "PreToolUse",
    );
    event.tool = Some(ToolCall::new("Bash", json!({"command": format!("echo {number}")})));
    Call { event, native: None }
}

fn fire(engine: &Arc<Engine>, number: u64) -> tokio::task::JoinHandle<Outcome> {
    let engine = Arc::clone(engine);
    tokio::spawn(async move { engine.fire(&call(number)).await })
}

async fn asked(stream: &mut Attached) -> Question {
    match stream.messages.recv().await {
        Some(Sent::Asked(question)) => question,
        other => panic!("no question but {other:?}"),
    }
}

fn reply(question: &Question, action: Action) -> Reply {
    let reason = Some("because".to_owned());
    let said = Ok(Answer { action, reason, modified: None, delay: None });
    Reply {
        call_id: Some(question.call_id),
        hook: question.hook.to_string(),
        event_id: question.event_id.to_string(),
        said,
    }
}

fn changing(question: &Question, modified: Value) -> Reply {
    let Value::Object(modified) = modified else { panic!() };
    let said = Ok(Answer { action: Action::Continue, reason: None, modified: Some(modified), delay: None });
    Reply { said, ..reply(question, Action::Continue) }
}

fn note(outcome: &Outcome) -> &str {
    outcome.trace[0].note.as_deref().unwrap_or_default()
}

#[tokio::test]
async fn two_thousand_questions_in_any_order_are_not_confused() {
    let client = Client::new("c");
    let engine = engine(vec![hook("h", &client, Fail::Closed)]);
    let mut stream = client.attach();
    let calls: BTreeMap<u64, _> = (0..2000).map(|number| (number, fire(&engine, number))).collect();
    let mut questions = Vec::new();
    for _ in 0..2000 {
        questions.push(asked(&mut stream).await);
    }
    assert_eq!(client.under_way(), 2000);
    // The last that was asked is answered first; each with its own command.
    for question in questions.iter().rev() {
        let event: Value = serde_json::from_slice(&question.payload).unwrap();
        let command = format!("{}; true", event["args"]["command"].as_str().unwrap());
        client.answer(changing(question, json!({"args": {"command": command}}))).unwrap();
    }
    for (number, outcome) in calls {
        let outcome = outcome.await.unwrap();
        assert_eq!(outcome.tool_input, Some(json!({"command": format!("echo {number}; true")})));
    }
    assert_eq!(client.under_way(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_hangs_fails_its_hook_as_configured_and_hears_of_it() {
    for (fail, decision) in [(Fail::Open, Decision::None), (Fail::Closed, Decision::Deny)] {
        let client = Client::new("c");
        let engine = engine(vec![hook("h", &client, fail)]);
        let mut stream = client.attach();
        let outcome = fire(&engine, 1).await.unwrap();
        assert_eq!((outcome.decision, outcome.trace[0].status), (decision, Status::TimedOut));
        let question = asked(&mut stream).await;
        let Some(Sent::Cancelled { call_id, why: Why::TimedOut, .. }) = stream.messages.recv().await else {
            panic!()
        };
        assert_eq!(call_id, question.call_id);
        assert_eq!(client.answer(reply(&question, Action::Block)), Err(Unwanted::TooLate));
        assert_eq!(client.under_way(), 0);
    }
}

#[tokio::test]
async fn the_first_answer_counts_and_nonsense_is_said_to_be() {
    let client = Client::new("c");
    let engine = engine(vec![hook("h", &client, Fail::Open)]);
    let mut stream = client.attach();
    let outcome = fire(&engine, 1);
    let question = asked(&mut stream).await;
    let invented = Reply { call_id: Some(question.call_id + 1_000_000), ..reply(&question, Action::Block) };
    assert_eq!(client.answer(invented), Err(Unwanted::Unknown));
    assert_eq!(client.answer(reply(&question, Action::Continue)), Ok(()));
    assert_eq!(client.answer(reply(&question, Action::Block)), Err(Unwanted::Twice));
    assert_eq!(outcome.await.unwrap().decision, Decision::None);

    let outcome = fire(&engine, 2);
    let question = asked(&mut stream).await;
    let other = Reply { hook: "other".to_owned(), ..reply(&question, Action::Continue) };
    assert_eq!(client.answer(other), Err(Unwanted::Mismatch));
    let outcome = outcome.await.unwrap();
    assert_eq!(outcome.trace[0].status, Status::Failed);
    assert!(note(&outcome).contains("for another hook or event"), "{}", note(&outcome));
}

#[tokio::test]
async fn an_answer_that_does_not_fit_the_event_is_a_failure_and_the_client_is_told() {
    let client = Client::new("c");
    let engine = engine(vec![hook("h", &client, Fail::Closed)]);
    let mut stream = client.attach();
    for (modified, why) in [
        (json!({"args": "ls"}), "`modified.args` should be an object"),
        (json!({"command": "ls"}), "`modified.command` means nothing here; known: `args`"),
    ] {
        let outcome = fire(&engine, 1);
        let question = asked(&mut stream).await;
        client.answer(changing(&question, modified)).unwrap();
        let outcome = outcome.await.unwrap();
        assert_eq!((outcome.decision, outcome.tool_input.clone()), (Decision::Deny, None));
        assert!(note(&outcome).starts_with(why), "{}", note(&outcome));
        let Some(Sent::Refused { call_id, why: told }) = stream.messages.recv().await else { panic!() };
        assert_eq!(call_id, question.call_id);
        assert!(told.starts_with(why), "{told}");
    }
    let outcome = fire(&engine, 2);
    let question = asked(&mut stream).await;
    let thrown =
        Reply { said: Err(FunctionError("it threw: boom".to_owned())), ..reply(&question, Action::Continue) };
    client.answer(thrown).unwrap();
    assert_eq!(note(&outcome.await.unwrap()), "it threw: boom");
}

#[tokio::test(start_paused = true)]
async fn what_waits_for_a_client_that_comes_back_is_asked_again() {
    let client = Client::new("c");
    let engine = engine(vec![hook("h", &client, Fail::Open)]);
    let mut first = client.attach();
    let outcome = fire(&engine, 1);
    let question = asked(&mut first).await;
    assert!(client.detach(first.number));
    let meanwhile = fire(&engine, 2);
    tokio::time::sleep(GRACE / 2).await;
    let mut second = client.attach();
    assert!(!client.detach(first.number), "an older stream is nobody's any more");
    for (expected, call) in [(question.event_id, outcome), (EventId::from_parts(2, 1), meanwhile)] {
        let again = asked(&mut second).await;
        assert!(again.redelivered);
        assert_eq!(again.event_id, expected);
        client.answer(reply(&again, Action::Block)).unwrap();
        assert_eq!(call.await.unwrap().decision, Decision::Deny);
    }
}

#[tokio::test(start_paused = true)]
async fn the_hooks_of_a_client_that_stays_away_fail_and_nobody_waits_for_it() {
    let client = Client::new("c");
    let engine = engine(vec![hook("h", &client, Fail::Closed)]);
    let outcome = fire(&engine, 1).await.unwrap();
    assert_eq!((outcome.decision, note(&outcome)), (Decision::Deny, "its program is not connected"));
    let stream = client.attach();
    let waiting = fire(&engine, 2);
    tokio::task::yield_now().await;
    client.detach(stream.number);
    let began = Instant::now();
    let outcome = waiting.await.unwrap();
    assert_eq!((outcome.decision, note(&outcome)), (Decision::Deny, "its program went away"));
    assert_eq!(began.elapsed().as_millis(), GRACE.as_millis());
    let began = Instant::now();
    assert_eq!(fire(&engine, 3).await.unwrap().decision, Decision::Deny);
    assert_eq!(began.elapsed(), Duration::ZERO);
    assert_eq!(client.under_way(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_fails_alone() {
    let (deaf, well) = (Client::new("deaf"), Client::new("well"));
    let engine = engine(vec![hook("deaf", &deaf, Fail::Open), hook("well", &well, Fail::Open)]);
    let _never_read = deaf.attach();
    let mut stream = well.attach();
    let answering = Arc::clone(&well);
    tokio::spawn(async move {
        loop {
            let question = asked(&mut stream).await;
            answering.answer(reply(&question, Action::Block)).unwrap();
        }
    });
    let mut calls = Vec::new();
    for number in 0..MOST as u64 + 500 {
        calls.push(fire(&engine, number));
        tokio::task::yield_now().await;
    }
    let mut notes = BTreeMap::new();
    for call in calls {
        let outcome = call.await.unwrap();
        assert_eq!(outcome.decision, Decision::Deny, "the other hook is heard");
        *notes.entry(note(&outcome).to_owned()).or_insert(0) += 1;
    }
    assert_eq!(notes.get("too many questions wait for its program"), Some(&500), "{notes:?}");
    assert_eq!(notes.get("no answer within 5s"), Some(&MOST), "{notes:?}");
    assert_eq!((deaf.under_way(), well.under_way()), (0, 0));
}

#[tokio::test]
async fn a_newer_stream_takes_over_and_the_older_one_ends() {
    let client = Client::new("c");
    let mut first = client.attach();
    let second = client.attach();
    assert!(first.messages.recv().await.is_none());
    assert!(client.is_there());
    assert_eq!(client.away_for(), None);
    assert!(client.detach(second.number));
    assert!(!client.is_there() && client.away_for().is_some());
}

#[tokio::test]
async fn observers_hear_later_what_happened_while_they_were_away() {
    let client = Client::new("c");
    let watching = Hook { observes: true, ..hook("h", &client, Fail::Closed) };
    let engine = engine(vec![watching]);
    for number in 0..KEPT as u64 + 3 {
        let outcome = fire(&engine, number).await.unwrap();
        assert_eq!((outcome.decision, outcome.trace[0].status), (Decision::None, Status::Detached));
    }
    let mut stream = client.attach();
    assert_eq!(stream.missed, 3);
    for number in 0..KEPT as u64 {
        let question = asked(&mut stream).await;
        assert_eq!((question.event_id, question.until), (EventId::from_parts(number, 1), None));
        assert!(question.redelivered);
    }
    fire(&engine, 9_999).await.unwrap();
    let question = asked(&mut stream).await;
    assert!(!question.redelivered);
    assert_eq!(client.answer(reply(&question, Action::Block)), Err(Unwanted::Unknown));
}

#[tokio::test(start_paused = true)]
async fn retry_is_asked_again_with_its_number_and_gives_up() {
    let client = Client::new("c");
    let engine = engine(vec![hook("h", &client, Fail::Open)]);
    let mut stream = client.attach();
    let outcome = fire(&engine, 1);
    let mut attempts = Vec::new();
    for _ in 0..Limits::default().retry_attempts {
        let question = asked(&mut stream).await;
        attempts.push(question.attempt);
        client.answer(reply(&question, Action::Retry)).unwrap();
    }
    let outcome = outcome.await.unwrap();
    assert_eq!((attempts, outcome.decision), (vec![1, 2, 3], Decision::Deny));
    assert!(outcome.reason().unwrap().contains("tried again in 1000 ms"), "{outcome:?}");
}

#[tokio::test]
async fn whoever_goes_away_takes_the_question_back() {
    let client = Client::new("c");
    let engine = engine(vec![hook("h", &client, Fail::Open)]);
    let mut stream = client.attach();
    let abandoned = fire(&engine, 1);
    let question = asked(&mut stream).await;
    abandoned.abort();
    let Some(Sent::Cancelled { call_id, why: Why::Gone, .. }) = stream.messages.recv().await else {
        panic!()
    };
    assert_eq!((call_id, client.under_way()), (question.call_id, 0));

    let waiting = fire(&engine, 2);
    asked(&mut stream).await;
    client.forget("h");
    assert_eq!(waiting.await.unwrap().trace[0].status, Status::Failed);
    assert!(matches!(stream.messages.recv().await, Some(Sent::Cancelled { why: Why::Unregistered, .. })));
}

struct Book(Mutex<Vec<(What, Option<String>)>>);

impl Beside for Book {
    fn wants(&self, _what: What) -> bool {
        true
    }

    fn note<'a>(&'a self, note: Note<'a>) -> BoxFuture<'a, ()> {
        self.0.lock().unwrap().push((note.what, note.why.map(ToOwned::to_owned)));
        Box::pin(std::future::ready(()))
    }
}

#[tokio::test]
async fn what_becomes_of_a_hook_is_written_down() {
    let (client, book) = (Client::new("c"), Arc::new(Book(Mutex::default())));
    let beside: Arc<dyn Beside> = book.clone();
    let runner = Runner::Sdk(Function { client: Arc::clone(&client), beside });
    let engine = engine(vec![Hook { runner, matcher: Matcher::all(), ..hook("h", &client, Fail::Open) }]);
    let mut stream = client.attach();
    for step in ["block", "modify", "fail"] {
        let outcome = fire(&engine, 1);
        let question = asked(&mut stream).await;
        let answer = match step {
            "block" => reply(&question, Action::Block),
            "modify" => changing(&question, json!({"args": {"command": "ls"}})),
            _ => Reply { said: Err(FunctionError("boom".to_owned())), ..reply(&question, Action::Skip) },
        };
        client.answer(answer).unwrap();
        outcome.await.unwrap();
    }
    let because = || Some("because".to_owned());
    let expected = [
        (What::Started, None),
        (What::Completed, because()),
        (What::Blocked, because()),
        (What::Started, None),
        (What::Completed, None),
        (What::Modified, None),
        (What::Started, None),
        (What::Failed, Some("boom".to_owned())),
    ];
    assert_eq!(*book.0.lock().unwrap(), expected);
}

/// An answer of a client that knows neither `call_id` nor `event_id`.
fn unnumbered(hook: &str, action: Action) -> Reply {
    let said = Ok(Answer { action, reason: Some("because".to_owned()), modified: None, delay: None });
    Reply { call_id: None, hook: hook.to_owned(), event_id: String::new(), said }
}

#[tokio::test]
async fn an_answer_without_call_id_is_for_the_only_open_question_of_its_hook() {
    let client = Client::new("c");
    let engine = engine(vec![hook("one", &client, Fail::Open), hook("two", &client, Fail::Open)]);
    let mut stream = client.attach();
    let outcome = fire(&engine, 1);
    let questions = [asked(&mut stream).await, asked(&mut stream).await];
    assert_eq!(client.answer(unnumbered("three", Action::Block)), Err(Unwanted::Unknown));
    for question in &questions {
        assert_eq!(client.answer(unnumbered(&question.hook, Action::Block)), Ok(()));
    }
    assert_eq!(outcome.await.unwrap().decision, Decision::Deny);
    assert_eq!(client.answer(unnumbered("one", Action::Block)), Err(Unwanted::Unknown));
}

#[tokio::test]
async fn an_ambiguous_answer_fails_the_hook_as_configured_and_afterwards_it_is_asked_in_turn() {
    for (fail, decision) in [(Fail::Open, Decision::None), (Fail::Closed, Decision::Deny)] {
        let client = Client::new("c");
        let engine = engine(vec![hook("h", &client, fail)]);
        let mut stream = client.attach();
        let outcomes = [fire(&engine, 1), fire(&engine, 2)];
        for _ in &outcomes {
            asked(&mut stream).await;
        }
        assert_eq!(client.answer(unnumbered("h", Action::Continue)), Err(Unwanted::Ambiguous));
        for outcome in outcomes {
            let outcome = outcome.await.unwrap();
            assert_eq!((outcome.decision, outcome.trace[0].status), (decision, Status::Failed));
            assert!(note(&outcome).contains("no `call_id`"), "{outcome:?}");
        }

        let mut stream = client.attach();
        let outcomes = [fire(&engine, 3), fire(&engine, 4)];
        for _ in &outcomes {
            asked(&mut stream).await;
            assert_eq!(client.under_way(), 1, "one question at a time");
            assert_eq!(client.answer(unnumbered("h", Action::Block)), Ok(()));
        }
        for outcome in outcomes {
            assert_eq!(outcome.await.unwrap().decision, Decision::Deny);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_late_answer_without_call_id_does_not_count_for_the_next_question() {
    let client = Client::new("c");
    let engine = engine(vec![hook("h", &client, Fail::Closed)]);
    let mut stream = client.attach();
    assert_eq!(fire(&engine, 1).await.unwrap().trace[0].status, Status::TimedOut);
    asked(&mut stream).await;
    assert!(matches!(stream.messages.recv().await, Some(Sent::Cancelled { .. })));
    let second = fire(&engine, 2);
    asked(&mut stream).await;
    // It may be the answer to either question.
    assert_eq!(client.answer(unnumbered("h", Action::Continue)), Err(Unwanted::Ambiguous));
    assert_eq!(second.await.unwrap().decision, Decision::Deny);

    let mut stream = client.attach();
    assert_eq!(fire(&engine, 3).await.unwrap().trace[0].status, Status::TimedOut);
    asked(&mut stream).await;
    assert_eq!(client.answer(unnumbered("h", Action::Continue)), Err(Unwanted::TooLate), "nothing is open");
    assert!(matches!(stream.messages.recv().await, Some(Sent::Cancelled { .. })));
    let fourth = fire(&engine, 4);
    asked(&mut stream).await;
    assert_eq!(client.answer(unnumbered("h", Action::Block)), Ok(()), "the late answer has come");
    assert!(fourth.await.unwrap().reason().unwrap().contains("because"));
}

#[tokio::test]
async fn a_failed_tool_is_a_result_without_success_to_hooks_for_results() {
    let client = Client::new("c");
    let engine = engine(vec![
        Hook { on: vec![EventKind::PostTool], ..hook("results", &client, Fail::Open) },
        Hook { on: vec![EventKind::ToolError], ..hook("errors", &client, Fail::Open) },
        Hook::on("closure", EventKind::PostTool).run(|_| async { crate::say::deny("not for it") }),
    ]);
    let mut stream = client.attach();
    let mut failed = call(1);
    failed.event.event = EventKind::ToolError;
    failed.event.detail.error = Some("exit code 1".to_owned());
    let firing = tokio::spawn({
        let engine = Arc::clone(&engine);
        async move { engine.fire(&failed).await }
    });
    let (results, errors) = (asked(&mut stream).await, asked(&mut stream).await);
    assert_eq!((&*results.event_type, &*errors.event_type), ("PostToolUse", "ToolError"));
    let payload: Value = serde_json::from_slice(&results.payload).unwrap();
    assert_eq!(payload["eventType"], "PostToolUse");
    let expected = json!({"success": false, "output": "exit code 1", "duration": 0});
    assert_eq!((&payload["tool"], &payload["result"]), (&json!("Bash"), &expected));
    client.answer(changing(&results, json!({"result": {"output": "short"}}))).unwrap();
    client.answer(reply(&errors, Action::Continue)).unwrap();
    let outcome = firing.await.unwrap();
    assert_eq!(outcome.tool_output(), Some(&json!("short")));
    assert_eq!(outcome.trace.len(), 2);
}

#[tokio::test]
async fn hooks_of_programs_merge_what_each_of_them_changed() {
    let client = Client::new("c");
    let engine = engine(vec![hook("a", &client, Fail::Open), hook("b", &client, Fail::Open)]);
    let mut stream = client.attach();
    let outcome = fire(&engine, 1);
    for (key, value) in [("timeout", json!(30_000)), ("description", json!("why"))] {
        let question = asked(&mut stream).await;
        let mut args: Value = serde_json::from_slice(&question.payload).unwrap();
        let mut args = args["args"].take();
        args[key] = value;
        client.answer(changing(&question, json!({"args": args}))).unwrap();
    }
    let outcome = outcome.await.unwrap();
    let expected = json!({"command": "echo 1", "timeout": 30_000, "description": "why"});
    assert_eq!(outcome.tool_input, Some(expected));
    assert!(outcome.trace.iter().all(|step| step.note.is_none()), "{outcome:?}");
}
