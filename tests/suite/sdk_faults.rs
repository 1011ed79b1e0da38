// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Programs that crash or hang, or whose answers are repeated, late or invalid. No answer is matched to the wrong
//! call, no state is left behind, and the outcome follows the hook's `failBehavior`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::json;
use tenterhook_client::proto::{
    ErrorCode, FailBehavior, HookAction, HookConfig, HookEventKind, HookResponse, RegisterHookRequest,
};
use tenterhook_client::{FiredEvent, Hook, HookEvent};

use crate::daemon::RunningDaemon;
use crate::sdk::{RawClient, answer, fire, run, shell, until};

/// Makes an answer invalid.
type InvalidateAnswer = fn(HookResponse) -> HookResponse;

fn hook_request(fail: FailBehavior, timeout_ms: i32) -> RegisterHookRequest {
    let config = HookConfig { timeout_ms, fail_behavior: fail.into(), ..HookConfig::default() };
    RegisterHookRequest { event_type: "PreToolUse".into(), config: Some(config), ..Default::default() }
}

#[test]
fn two_thousand_events_in_flight_over_one_stream_are_not_confused() {
    let served = RunningDaemon::new();
    run(async {
        let client = served.program("p");
        // No hook answers before all hooks were called.
        let gate = Arc::new(tokio::sync::Semaphore::new(0));
        let (waiting, asked) = (Arc::clone(&gate), Arc::new(AtomicU32::new(0)));
        let counting = Arc::clone(&asked);
        let hook = Hook::on("PreToolUse").timeout(Duration::from_secs(40)).run(move |event: HookEvent| {
            let waiting = Arc::clone(&waiting);
            counting.fetch_add(1, Ordering::SeqCst);
            async move {
                waiting.acquire().await.unwrap().forget();
                let command = format!("{} && true", event.arg("command").unwrap());
                tenterhook_client::HookResponse::modified(json!({"args": {"command": command}}))
            }
        });
        client.register(hook).await.unwrap();
        let agent = served.program("agent");
        let calls: Vec<_> = (0..2000)
            .map(|number| {
                let agent = agent.clone();
                tokio::spawn(async move { agent.fire(shell(&format!("echo {number}"))).await.unwrap() })
            })
            .collect();
        until("all calls wait", async || asked.load(Ordering::SeqCst) == 2000).await;
        gate.add_permits(2000);
        for (number, fired) in join_all(calls).await.into_iter().enumerate() {
            let modified = fired.unwrap().modified.unwrap();
            assert_eq!(modified["args"]["command"], format!("echo {number} && true"));
        }
    });
}

#[test]
fn fifty_hooks_of_five_programs_answer_each_its_own() {
    let served = RunningDaemon::new();
    run(async {
        let events = ["PreToolUse", "PostToolUse", "PermissionRequest", "Stop", "UserPromptSubmit"];
        let programs: Vec<_> = (0..5).map(|number| served.program(&format!("p{number}"))).collect();
        for (number, program) in programs.iter().enumerate() {
            for event in events {
                for place in 0..2 {
                    let id = format!("{event}-{number}-{place}");
                    let said = id.clone();
                    let hook = Hook::on(event).id(id).run(move |event: HookEvent| {
                        let said = said.clone();
                        async move {
                            assert_eq!(event.hook_id, said);
                            tenterhook_client::HookResponse::block(said)
                        }
                    });
                    program.register(hook).await.unwrap();
                }
            }
        }
        let agent = served.program("agent");
        let fired = join_all((0..100).map(|_| agent.fire(shell("ls")))).await;
        for fired in fired {
            let fired = fired.unwrap();
            let mut reasons: Vec<_> = fired.reason.as_deref().unwrap().lines().collect();
            reasons.sort_unstable();
            let mut expected: Vec<_> =
                (0..10).map(|hook| format!("PreToolUse-{}-{}", hook / 2, hook % 2)).collect();
            expected.sort();
            assert_eq!(reasons, expected);
        }
    });
}

// seed: 003-073
#[test]
fn a_program_that_hangs_fails_as_configured_and_delays_no_other() {
    let served = RunningDaemon::new();
    run(async {
        let client = served.program("hangs");
        for (fail, blocked) in [(FailBehavior::FailContinue, false), (FailBehavior::FailBlock, true)] {
            let mut raw = RawClient::open(&client).await;
            let id = raw.register(hook_request(fail, 300)).await;
            let fired = fire(&client, "ls").await;
            assert_eq!(fired.blocked, blocked, "{fired:?}");
            assert_eq!(fired.outcome["trace"][0]["status"], "timed-out", "{fired:?}");
            let asked = raw.next_of(HookEventKind::HookEvent).await;
            assert!(asked.timeout_ms > 0 && asked.timeout_ms <= 300 && asked.deadline > 0, "{asked:?}");
            let cancelled = raw.next_of(HookEventKind::HookCancel).await;
            assert_eq!(
                (cancelled.call_id, cancelled.error.clone().unwrap().code()),
                (asked.call_id, ErrorCode::ErrorTimedOut)
            );
            // The answer is sent twice, and both times too late.
            for expected in [ErrorCode::ErrorTimedOut, ErrorCode::ErrorTimedOut] {
                raw.answers
                    .send(HookResponse { action: HookAction::Block.into(), ..answer(&asked) })
                    .await
                    .unwrap();
                let refused = raw.next_of(HookEventKind::HookRefused).await;
                assert_eq!(refused.error.unwrap().code(), expected);
            }
            raw.rpc
                .unregister_hook(tenterhook_client::proto::UnregisterHookRequest { hook_id: id })
                .await
                .unwrap();
        }
    });
}

// seed: 003-078, 003-079
#[test]
fn nonsense_is_a_failure_and_is_reported_to_the_program() {
    let served = RunningDaemon::new();
    run(async {
        let client = served.program("nonsense");
        let mut raw = RawClient::open(&client).await;
        raw.register(hook_request(FailBehavior::FailBlock, 20_000)).await;
        let agent = served.program("agent");
        let garbage: [(&str, InvalidateAnswer); 6] = [
            ("not a JSON object", |answer| HookResponse { modified: Some(b"\xff\xfe{".to_vec()), ..answer }),
            ("unknown field", |answer| HookResponse { modified: Some(b"{\"x\":1}".to_vec()), ..answer }),
            ("must be an object", |answer| HookResponse {
                modified: Some(b"{\"args\":[]}".to_vec()),
                ..answer
            }),
            ("unknown action 77", |answer| HookResponse { action: 77, ..answer }),
            ("cannot be less than 0", |answer| HookResponse {
                action: HookAction::Retry.into(),
                retry_delay_ms: Some(-5),
                ..answer
            }),
            ("names another hook or event", |answer| HookResponse { hook_id: "other".into(), ..answer }),
        ];
        for (why, spoil) in garbage {
            let fired = tokio::spawn({
                let agent = agent.clone();
                async move { agent.fire(shell("ls")).await.unwrap() }
            });
            let asked = raw.next_of(HookEventKind::HookEvent).await;
            raw.answers.send(spoil(answer(&asked))).await.unwrap();
            let fired = fired.await.unwrap();
            let note = fired.outcome["trace"][0]["note"].as_str().unwrap_or_default().to_owned();
            assert!(fired.blocked && note.contains(why), "{why}: {fired:?}");
        }
        // An answer to an unknown call is rejected. Of two answers to the same call, the first applies.
        raw.answers.send(HookResponse { call_id: u64::MAX, ..HookResponse::default() }).await.unwrap();
        let fired = tokio::spawn(async move { agent.fire(shell("ls")).await.unwrap() });
        let asked = raw.next_of(HookEventKind::HookEvent).await;
        raw.answers.send(answer(&asked)).await.unwrap();
        raw.answers.send(HookResponse { action: HookAction::Block.into(), ..answer(&asked) }).await.unwrap();
        assert!(!fired.await.unwrap().blocked);
        let twice = async {
            loop {
                let refused = raw.next_of(HookEventKind::HookRefused).await;
                if refused.call_id == asked.call_id {
                    return refused.error.unwrap().code();
                }
            }
        };
        assert_eq!(twice.await, ErrorCode::ErrorUnknownCall);
    });
}

#[test]
fn a_program_that_crashes_fails_its_hooks_and_they_come_back_with_it() {
    let served = RunningDaemon::new();
    run(async {
        let agent = served.program("agent");
        let id = "fedcba9876543210fedcba9876543210";
        let address = || tenterhook_client::Address::Unix(served.socket());
        let started = || tenterhook_client::Client::builder(address()).id(id).build().unwrap();
        let hook = || {
            let fail = tenterhook_client::FailBehavior::Block;
            Hook::on("PreToolUse")
                .id("h")
                .fail(fail)
                .run(|_| async { tenterhook_client::HookResponse::proceed() })
        };
        let first = started();
        first.register(hook()).await.unwrap();
        assert!(!fire(&agent, "ls").await.blocked);
        drop(first);
        until("the disconnection is noticed", async || {
            agent.list_hooks(true).await.unwrap().iter().all(|hook| !hook.connected)
        })
        .await;
        tokio::time::sleep(Duration::from_millis(600)).await;
        let fired = fire(&agent, "ls").await;
        assert!(fired.blocked, "{fired:?}");
        assert!(fired.reason.unwrap().contains("the client is not connected"));
        // The program is started again with the same id. Its hook still exists and gets its function by registering
        // again.
        let second = started();
        second.register(hook()).await.unwrap();
        assert!(!fire(&agent, "ls").await.blocked);
    });
    assert_eq!(served.changes("hook replaced").len(), 1);
    crate::daemon::until("it is recorded", || (served.changes("hook failed").len() == 1).then_some(()));
}

#[test]
fn a_program_that_does_not_come_back_loses_its_hooks_and_a_record_is_written() {
    let served = RunningDaemon::new();
    run(async {
        let client = served.program("p");
        client.register(Hook::on("PreToolUse").id("h").linger(Duration::from_millis(700))).await.unwrap();
        drop(client);
        let agent = served.program("agent");
        until("the hook is removed", async || agent.list_hooks(true).await.unwrap().is_empty()).await;
    });
    crate::daemon::until("it is recorded", || (!served.changes("hook gone").is_empty()).then_some(()));
    let gone = &served.changes("hook gone")[0]["detail"];
    assert_eq!((&gone["hook"], &gone["why"]), (&json!("h"), &json!("its program did not reconnect")));
}

// seed: 003-071
#[test]
fn after_a_daemon_s_end_hooks_are_registered_with_the_next_automatically() {
    let served = RunningDaemon::new();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let client = served.program("p");
    runtime.block_on(async {
        client
            .register(
                Hook::on("PreToolUse")
                    .id("h")
                    .run(|_| async { tenterhook_client::HookResponse::block("still here") }),
            )
            .await
            .unwrap();
        assert_eq!(fire(&client, "ls").await.reason.as_deref(), Some("still here"));
    });
    let served = served.restart();
    runtime.block_on(async {
        until("the hook is registered again", async || match client.fire(shell("ls")).await {
            Ok(fired) => fired.reason.as_deref() == Some("still here"),
            Err(_) => false,
        })
        .await;
    });
    assert_eq!(served.changes("hook registered").len(), 2);
}

#[test]
fn a_newer_stream_takes_over_and_an_abandoned_call_is_cancelled() {
    let served = RunningDaemon::new();
    run(async {
        let client = served.program("p");
        let mut first = RawClient::open(&client).await;
        first.register(hook_request(FailBehavior::FailContinue, 20_000)).await;
        let mut second = RawClient::open(&client).await;
        let ended = loop {
            match first.events.message().await {
                Ok(Some(_)) => {}
                other => break other,
            }
        };
        assert_eq!(ended.unwrap_err().code(), tonic::Code::Aborted);
        let agent = served.program("agent");
        let call = tokio::spawn(async move {
            agent.fire(FiredEvent::new("PreToolUse", &json!({"tool": "Read", "args": {}}))).await
        });
        let asked = second.next_of(HookEventKind::HookEvent).await;
        call.abort();
        let cancelled = second.next_of(HookEventKind::HookCancel).await;
        assert_eq!(
            (cancelled.call_id, cancelled.error.unwrap().code()),
            (asked.call_id, ErrorCode::ErrorCancelled)
        );
    });
}
