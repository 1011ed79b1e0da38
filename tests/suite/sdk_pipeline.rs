// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Hooks of programs in the pipeline of a real daemon.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use serde_json::{Value, json};
use tenterhook_client::proto::ErrorCode;
use tenterhook_client::{AuditLevel, Error, FiredEvent, Hook, HookEvent, HookResponse};

use crate::daemon::RunningDaemon;
use crate::sdk::{code, fire, run, until};

fn args(modified: Option<Value>) -> Value {
    modified.unwrap_or_default()["args"].clone()
}

// seed: 003-001, 003-008, 003-029, 003-081, 003-083
#[test]
fn a_program_s_hook_guards_every_agent_and_is_recorded() {
    let served = RunningDaemon::new();
    run(async {
        let client = served.program("my-guard/1.0");
        let id = client
            .register_hook("PreToolUse", |event: HookEvent| async move {
                match event.arg("command") {
                    Some(command) if command.contains("mkfs.") => HookResponse::block("no new file systems"),
                    _ => HookResponse::proceed(),
                }
            })
            .await
            .unwrap();
        // Another agent makes the call, through its own hook interface.
        let answer = tokio::task::block_in_place(|| served.bash("mkfs.ext4 image"));
        assert!(
            answer.body.contains("\"deny\"") && answer.body.contains("no new file systems"),
            "{answer:?}"
        );
        assert_eq!(tokio::task::block_in_place(|| served.bash("ls")).body, "");
        let fired = fire(&client, "mkfs.ext4 image").await;
        assert!(fired.blocked && fired.decision == "deny", "{fired:?}");
        assert_eq!(fired.outcome["trace"][0]["by"], format!("hook:{id}"));

        let listed = client.list_hooks(false).await.unwrap();
        assert_eq!((listed.len(), listed[0].hook_id.as_str(), listed[0].own), (1, id.as_str(), true));
        assert_eq!((listed[0].client_name.as_str(), listed[0].connected), ("my-guard/1.0", true));
        assert_eq!(served.program("other").list_hooks(false).await.unwrap().len(), 0);
        client.unregister_hook(&id).await.unwrap();
        assert!(!fire(&client, "mkfs.ext4 other").await.reason.unwrap_or_default().contains("no new file"));
    });
    let registered = &served.changes("hook registered")[0]["detail"];
    assert_eq!((&registered["client"], &registered["event"]), (&json!("my-guard/1.0"), &json!("PreToolUse")));
    assert_eq!(registered["authority"]["via"], "socket");
    assert_eq!(served.changes("hook unregistered").len(), 1);
    crate::daemon::until("the notes are written", || {
        (served.changes("hook blocked").len() == 2).then_some(())
    });
    let blocked = served.changes("hook blocked");
    assert_eq!((blocked.len(), &blocked[0]["detail"]["why"]), (2, &json!("no new file systems")));
}

// seed: 003-084, 003-091
#[test]
fn changed_arguments_are_judged_and_later_hooks_win() {
    let served = RunningDaemon::new();
    run(async {
        let client = served.program("p");
        let adds = |key: &'static str, value: Value| {
            move |event: HookEvent| {
                let mut args = event.payload["args"].clone();
                args[key] = value.clone();
                async move { HookResponse::modified(json!({"args": args})) }
            }
        };
        client
            .register(Hook::on("PreToolUse").priority(5).run(adds("timeout", json!(30_000))))
            .await
            .unwrap();
        let fired = fire(&client, "ls").await;
        assert_eq!(args(fired.modified), json!({"command": "ls", "timeout": 30_000}));
        client
            .register(
                Hook::on("PreToolUse").id("late").priority(9).run(adds("command", json!("sudo rm -rf /"))),
            )
            .await
            .unwrap();
        let fired = fire(&client, "ls").await;
        assert!(fired.blocked, "the rules judge the changed call: {fired:?}");
        client
            .register(Hook::on("PreToolUse").id("late").priority(9).run(adds("command", json!("pwd"))))
            .await
            .unwrap();
        assert_eq!(args(fire(&client, "ls").await.modified)["command"], "pwd");
        assert_eq!(client.list_hooks(false).await.unwrap().len(), 2, "the same id is the same hook");
    });
    assert_eq!(served.changes("hook replaced").len(), 1);
    crate::daemon::until("the notes are written", || {
        (served.changes("hook modified").len() == 5).then_some(())
    });
}

#[test]
fn retry_calls_again_and_skip_skips_later_hooks_but_no_rule() {
    let served = RunningDaemon::new();
    run(async {
        let client = served.program("p");
        let asked = Arc::new(AtomicU32::new(0));
        let counting = Arc::clone(&asked);
        let busy = Hook::on("PreToolUse").id("busy").run(move |event: HookEvent| {
            let times = counting.fetch_add(1, Ordering::SeqCst) + 1;
            async move {
                assert_eq!(event.attempt, i32::try_from(times).unwrap());
                if times < 3 {
                    HookResponse::retry_after(Duration::from_millis(20))
                } else {
                    HookResponse::proceed()
                }
            }
        });
        client.register(busy).await.unwrap();
        assert!(!fire(&client, "ls").await.blocked);
        assert_eq!(asked.load(Ordering::SeqCst), 3);
        client.unregister_hook("busy").await.unwrap();

        let skip = |event: HookEvent| async move {
            if event.arg("command") == Some("ls") { HookResponse::skip() } else { HookResponse::proceed() }
        };
        client.register(Hook::on("PreToolUse").priority(1).run(skip)).await.unwrap();
        client
            .register(Hook::on("PreToolUse").priority(2).run(|_| async { HookResponse::block("late") }))
            .await
            .unwrap();
        assert!(!fire(&client, "ls").await.blocked);
        assert_eq!(fire(&client, "pwd").await.reason.as_deref(), Some("late"));
        let rule = |event: HookEvent| async move {
            let _ = event;
            HookResponse::skip()
        };
        client.register(Hook::on("PreToolUse").priority(0).run(rule)).await.unwrap();
        assert!(fire(&client, "sudo rm -rf /").await.blocked, "a rule is never skipped");
    });
}

// seed: 003-054
#[test]
fn matchers_select_and_an_invalid_one_is_refused() {
    let served = RunningDaemon::new();
    run(async {
        let client = served.program("p");
        let env =
            Hook::on("PreToolUse").tool("Write").path("*.env").run(|_| async { HookResponse::block("env") });
        client.register(env).await.unwrap();
        let push =
            Hook::on("PreToolUse").command("^git\\s+push").run(|_| async { HookResponse::block("push") });
        client.register(push).await.unwrap();
        let write = |path: &str| {
            FiredEvent::new(
                "PreToolUse",
                &json!({"tool": "Write", "args": {"file_path": path, "content": "x"}}),
            )
        };
        for (event, expected) in [
            (write("/w/a/b/.env"), Some("env")),
            (write("/w/a/b/env.rs"), None),
            (crate::sdk::shell("git push"), Some("push")),
            (crate::sdk::shell("git status"), None),
        ] {
            assert_eq!(client.fire(event).await.unwrap().reason.as_deref(), expected);
        }
        for (hook, expected) in [
            (Hook::on("PreToolUse").command("(x"), ErrorCode::ErrorInvalid),
            (Hook::on("PreToolUze"), ErrorCode::ErrorInvalid),
            (Hook::on("PreToolUse").timeout(Duration::from_mins(1)), ErrorCode::ErrorInvalid),
            (Hook::on("PreToolUse").id("a b"), ErrorCode::ErrorInvalid),
        ] {
            let error = client.register(hook).await.unwrap_err();
            assert_eq!(code(&error), expected, "{error}");
        }
        assert_eq!(code(&client.unregister_hook("nobody").await.unwrap_err()), ErrorCode::ErrorNotFound);
        let other = served.program("other");
        client.register(Hook::on("Stop").id("mine")).await.unwrap();
        assert_eq!(
            code(&other.register(Hook::on("Stop").id("mine")).await.unwrap_err()),
            ErrorCode::ErrorAlreadyExists
        );
        assert_eq!(code(&other.unregister_hook("mine").await.unwrap_err()), ErrorCode::ErrorNotFound);
    });
}

// seed: 003-075, 003-076
#[test]
fn ten_hooks_per_event_and_fifty_in_all_unless_configured() {
    let served = RunningDaemon::new();
    run(async {
        let client = served.program("p");
        let events = ["SessionStart", "SessionEnd", "GenerateStart", "GenerateEnd", "PreToolUse"];
        for event in events {
            for _ in 0..10 {
                client.register(Hook::on(event)).await.unwrap();
            }
            let error = client.register(Hook::on(event)).await.unwrap_err();
            assert_eq!(code(&error), ErrorCode::ErrorLimit);
            let limit = if event == "PreToolUse" {
                "maxTotalHooks 50 exceeded"
            } else {
                "maxHooksPerEvent 10 exceeded"
            };
            assert!(error.to_string().contains(limit), "{error}");
        }
        assert_eq!(client.list_hooks(false).await.unwrap().len(), 50);
        let fired = fire(&client, "ls").await;
        assert_eq!(
            fired.outcome["trace"].as_array().unwrap().iter().filter(|step| step["status"] == "ran").count(),
            10
        );
        client.close().await;
    });
    // After the client has disconnected, the daemon removes its hooks and records each removal.
    let all_removed = || Some(served.changes("hook unregistered").len()).filter(|count| *count >= 50);
    assert_eq!(crate::terminal_user::until("every hook is removed", all_removed), 50);
}

// seed: 003-004, 003-005, 003-006, 003-007, 003-008, 003-009, 003-010, 003-011, 003-012, 003-013, 003-014
// seed: 003-015, 003-016, 003-017, 003-018, 003-019, 003-020, 003-021, 003-022, 003-023, 003-056
#[test]
fn every_event_of_the_design_reaches_its_hook_with_what_it_carries() {
    let served = RunningDaemon::new();
    let call = json!({"tool": "Read", "args": {"file_path": "/w/x"}, "context": {"workingDirectory": "/w"}});
    let with = |more: Value| {
        let mut call = call.clone();
        call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        call
    };
    let usage = json!({"input_tokens": 5, "output_tokens": 7, "total_tokens": 12});
    let response = json!({"text": "hi", "toolCalls": [{"id": "1", "name": "Read", "args": {}}], "usage": usage, "duration": 3});
    let events = [
        ("SessionStart", json!({"source": "startup"})),
        ("SessionEnd", json!({"reason": "exit"})),
        ("GenerateStart", json!({"prompt": "p", "model": {"name": "m"}, "tools": ["Read"]})),
        ("GenerateEnd", json!({"prompt": "p", "model": {"name": "m"}, "response": response})),
        ("PreToolUse", call.clone()),
        ("PostToolUse", with(json!({"result": {"success": true, "output": "o", "duration": 3}}))),
        ("ToolError", with(json!({"error": "boom", "attempt": 2}))),
        ("PermissionRequest", with(json!({"reason": "r"}))),
        ("PermissionGranted", call.clone()),
        ("PermissionDenied", with(json!({"reason": "r"}))),
        ("PreCompact", json!({"trigger": "auto", "usage": usage})),
        ("PostCompact", json!({"trigger": "auto", "summary": "s"})),
        ("ContextWarning", json!({"usage": usage, "maxTokens": 100, "threshold": 0.8})),
        ("UserPromptSubmit", json!({"prompt": "p"})),
        ("Stop", json!({"stopHookActive": false})),
    ];
    run(async {
        let client = served.program("p");
        let (send, mut seen) = tokio::sync::mpsc::unbounded_channel();
        for (name, _) in &events {
            let send = send.clone();
            let hook = Hook::on(*name).run(move |event: HookEvent| {
                send.send(event).unwrap();
                async { HookResponse::proceed() }
            });
            client.register(hook).await.unwrap();
        }
        for (name, payload) in &events {
            let fired =
                client.fire(FiredEvent::new(*name, payload).session("s").source("my-agent")).await.unwrap();
            let mut event = seen.recv().await.unwrap();
            if *name == "ToolError" {
                let mut result = seen.recv().await.unwrap();
                if event.event_type != *name {
                    std::mem::swap(&mut event, &mut result);
                }
                assert_eq!((result.event_type.as_str(), &result.event_id), ("PostToolUse", &fired.event_id));
                let expected = json!({"success": false, "output": "boom", "duration": 0});
                assert_eq!(result.payload["result"], expected, "a failed tool is also a result");
            }
            assert_eq!((event.event_type.as_str(), event.session_id.as_str()), (*name, "s"));
            assert_eq!(event.event_id, fired.event_id);
            for (key, value) in payload.as_object().unwrap().iter().filter(|(key, _)| *key != "context") {
                assert_eq!(&event.payload[key], value, "{name}.{key}");
            }
        }
        let context = client.fire(crate::sdk::shell("ls").session("s")).await.unwrap();
        let event = seen.recv().await.unwrap();
        assert_eq!(event.event_id, context.event_id);
        let around = event.as_type::<tenterhook_client::events::PreToolUse>().unwrap().context;
        assert_eq!((around.recent_tools, around.token_usage.total_tokens), (vec!["Read".to_owned()], 12));
        for (name, payload) in
            [("PreToolUse", json!({})), ("Nothing", json!({})), ("GenerateEnd", json!({"prompt": 1}))]
        {
            let error = client.fire(FiredEvent::new(name, &payload)).await.unwrap_err();
            assert_eq!(code(&error), ErrorCode::ErrorInvalid, "{error}");
        }
    });
}

// seed: 003-080, 003-082
#[test]
fn records_follow_the_audit_level_and_raising_it_needs_no_proof() {
    let served = RunningDaemon::new();
    run(async {
        let client = served.program("p");
        client.register_hook("PreToolUse", |_| async { HookResponse::proceed() }).await.unwrap();
        fire(&client, "ls").await;
        assert_eq!(client.set_audit_level(AuditLevel::Verbose, None).await.unwrap(), AuditLevel::Info);
        fire(&client, "ls").await;
        until("the notes are written", async || !served.changes("hook completed").is_empty()).await;
        let error = client.set_audit_level(AuditLevel::Off, None).await.unwrap_err();
        assert_eq!(code(&error), ErrorCode::ErrorRefused, "{error}");
        assert_eq!(client.set_audit_level(AuditLevel::Verbose, None).await.unwrap(), AuditLevel::Verbose);
    });
    assert_eq!((served.changes("hook started").len(), served.changes("hook completed").len()), (1, 1));
    assert_eq!(
        served.changes("hook audit level")[0]["detail"]["hooks"],
        json!({"from": "info", "to": "verbose"})
    );
    assert_eq!(served.changes("refused")[0]["detail"]["action"], "ledger level");
}

#[test]
fn a_temporary_hook_is_removed_and_an_observer_delays_nothing() {
    let served = RunningDaemon::new();
    run(async {
        let client = served.program("p");
        let (send, mut seen) = tokio::sync::mpsc::unbounded_channel();
        let slow = Hook::on("PreToolUse").observing().run(move |event: HookEvent| {
            let send = send.clone();
            async move {
                tokio::time::sleep(Duration::from_millis(300)).await;
                send.send(event.timeout).unwrap();
                HookResponse::block("nobody listens")
            }
        });
        client.register(slow).await.unwrap();
        let hook = Hook::on("PreToolUse").run(|_| async { HookResponse::block("for now") });
        let temporary = client.temporary_hook(hook.clone()).await.unwrap();
        assert_eq!(fire(&client, "ls").await.reason.as_deref(), Some("for now"));
        temporary.end().await.unwrap();
        assert!(!fire(&client, "ls").await.blocked);
        assert_eq!((seen.recv().await.unwrap(), seen.recv().await.unwrap()), (None, None));
        drop(client.temporary_hook(hook).await.unwrap());
        until("the hook is removed", async || client.list_hooks(false).await.unwrap().len() == 1).await;
    });
}

#[test]
fn watchers_receive_decisions() {
    let served = RunningDaemon::new();
    run(async {
        let client = served.program("p");
        let mut news = client.watch(&["decided"]).await.unwrap();
        let fired = fire(&client, "sudo rm -rf /").await;
        let (kind, data) = news.next().await.unwrap().unwrap();
        assert_eq!(
            (kind.as_str(), &data["verdict"], &data["id"]),
            ("decided", &json!("deny"), &json!(fired.event_id))
        );
        assert_eq!(data["harness"], "my-agent");
    });
}

#[test]
fn over_tcp_the_token_is_required_and_everything_works() {
    let served = RunningDaemon::new();
    run(async {
        let client = served.far_program();
        client.register_hook("PreToolUse", |_| async { HookResponse::block("far") }).await.unwrap();
        assert_eq!(fire(&client, "ls").await.reason.as_deref(), Some("far"));
        let address = tenterhook_client::Address::Tcp { address: served.address, token: "0".repeat(64) };
        let stranger = tenterhook_client::Client::new(address).unwrap();
        for error in
            [stranger.ready().await.unwrap_err(), stranger.fire(crate::sdk::shell("ls")).await.unwrap_err()]
        {
            assert!(matches!(error, Error::Status { code: tonic::Code::Unauthenticated, .. }), "{error:?}");
        }
        let short =
            tenterhook_client::Client::builder(tenterhook_client::Address::Unix(served.socket())).id("short");
        let error = short.build().unwrap().ready().await.unwrap_err();
        assert!(error.to_string().contains("tenterhook-client-id"), "{error}");
    });
    assert_eq!(served.changes("hook registered")[0]["detail"]["authority"]["via"], "tcp");
}

#[test]
fn a_harness_s_own_payload_gets_its_own_reply() {
    let served = RunningDaemon::new();
    run(async {
        let client = served.program("bridge");
        let request = |command: &str| tenterhook_client::proto::FireRequest {
            event_type: "PreToolUse".into(),
            source: "claude-code".into(),
            native: true,
            payload: served.test.bash(command).into_bytes(),
            ..Default::default()
        };
        let reply = client.rpc().fire(request("sudo rm -rf /")).await.unwrap().into_inner().reply.unwrap();
        let reply: Value = serde_json::from_slice(&reply.stdout).unwrap();
        assert_eq!(reply["hookSpecificOutput"]["permissionDecision"], "deny");
        let reply = client.rpc().fire(request("ls")).await.unwrap().into_inner().reply.unwrap();
        assert_eq!((reply.stdout.as_slice(), reply.exit_code), (&b""[..], 0));
    });
}

#[test]
fn health_and_reflection_list_the_services() {
    use tonic_health::pb::{
        HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
    };
    use tonic_reflection::pb::v1::ServerReflectionRequest;
    use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
    use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
    use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;

    let served = RunningDaemon::new();
    run(async {
        let client = served.program("p");
        let (channel, origin) =
            (client.channel(), "http://localhost".parse::<tonic::codegen::http::Uri>().unwrap());
        let mut health = HealthClient::with_origin(channel.clone(), origin.clone());
        for service in ["", "tenterhook.v1.HookService"] {
            let asked = HealthCheckRequest { service: service.to_owned() };
            let status = health.check(asked).await.unwrap().into_inner().status();
            assert_eq!(status, ServingStatus::Serving, "{service}");
        }
        let mut reflection = ServerReflectionClient::with_origin(channel, origin);
        let asked = ServerReflectionRequest {
            host: String::new(),
            message_request: Some(MessageRequest::ListServices(String::new())),
        };
        let asked = futures_util::stream::iter([asked]);
        let mut told = reflection.server_reflection_info(asked).await.unwrap().into_inner();
        let Some(MessageResponse::ListServicesResponse(list)) =
            told.message().await.unwrap().unwrap().message_response
        else {
            panic!()
        };
        let names: Vec<_> = list.service.iter().map(|service| service.name.as_str()).collect();
        assert!(
            names.contains(&"tenterhook.v1.HookService") && names.contains(&"grpc.health.v1.Health"),
            "{names:?}"
        );
    });
}
