// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The daemon's own agent, as programs use it: sessions, turns, single tools.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use serde_json::{Value, json};
use tenterhook_client::events::ToolArgs;
use tenterhook_client::proto::ErrorCode;
use tenterhook_client::{Client, FiredEvent, GenerateStep, Hook, HookResponse, NewSession};
use tenterhook_model_server::{ConversationScript, ModelServer, ModelTurn};

use crate::context::TestContext;
use crate::daemon::RunningDaemon;
use crate::sdk::{code, run, until};

pub(crate) fn args(value: Value) -> ToolArgs {
    serde_json::from_value(value).unwrap()
}

pub(crate) fn bash(command: &str) -> ToolArgs {
    args(json!({"command": command}))
}

/// A session in the test's project that is limited only by hooks and rules.
pub(crate) fn unrestricted_session(served: &RunningDaemon) -> NewSession {
    NewSession::in_dir(served.test.path("work")).permission_mode("bypassPermissions")
}

/// Like [`unrestricted_session`], with a model that follows a script.
fn scripted_session(served: &RunningDaemon, script: &str) -> NewSession {
    let path = served.test.write("script.yaml", script);
    unrestricted_session(served).model(&json!({"provider": "scripted", "name": "scripted-1", "script": path}))
}

/// Recorded event kinds of a session, oldest first, each with its decision if there is one.
fn recorded_kinds(served: &RunningDaemon, session: &str) -> Vec<String> {
    let leaves = served.test.records().into_iter().filter(|leaf| leaf["harness_session_id"] == session);
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    leaves.map(|leaf| format!("{} {}", word(&leaf["event"]), word(&leaf["verdict"]))).collect()
}

// seed: 003-003
#[test]
fn a_turn_is_streamed_step_by_step_and_every_step_is_judged_and_recorded() {
    let served = RunningDaemon::new();
    let script = "
turns:
  - say: I clear everything.
    call: { Bash: { command: rm -rf / } }
  - say: Then I write.
    call: { Write: { file_path: a.txt, content: hello } }
  - say: Done.
";
    let (steps, session) = run(async {
        let client = served.program("mine");
        let session = client.create_session(scripted_session(&served, script)).await.unwrap();
        let mut steps = Vec::new();
        let mut turn = client.generate_stream(&session, "Go").await.unwrap();
        while let Some(step) = turn.next().await {
            steps.push(match step.unwrap() {
                GenerateStep::Text(text) => format!("text {text}"),
                GenerateStep::Draft(text) => format!("draft {text}"),
                GenerateStep::ToolCall(call) => format!("call {}", call.name),
                GenerateStep::ToolResult { denied, result, .. } => {
                    format!("result denied={denied} success={}", result.success)
                }
                GenerateStep::Done(response) => {
                    assert!(response.usage.total_tokens > 0);
                    format!("done {}", response.text)
                }
                other => format!("{other:?}"),
            });
        }
        client.end_session(&session, "enough").await.unwrap();
        (steps, session)
    });
    insta::assert_snapshot!(steps.join("\n"), @r#"
    Moment(Object {"text": String("Go"), "what": String("prompt")})
    draft I clear everything.
    text I clear everything.
    call Bash
    result denied=true success=false
    draft Then I write.
    text Then I write.
    call Write
    result denied=false success=true
    draft Done.
    text Done.
    done Done.
    "#);
    assert_eq!(std::fs::read_to_string(served.test.path("work").join("a.txt")).unwrap(), "hello");
    insta::assert_snapshot!(recorded_kinds(&served, &session).join("\n"), @"
    session-start none
    prompt none
    tool-selection none
    pre-model none
    post-model none
    pre-tool deny
    tool-selection none
    pre-model none
    post-model none
    pre-tool none
    post-tool none
    tool-selection none
    pre-model none
    post-model none
    stop none
    session-end none
    ");
}

/// A turn of the daemon's agent with a model behind HTTP that calls `Bash` once.
fn turn_with_one_command(
    command: &str,
    hooks: impl IntoIterator<Item = Hook>,
) -> (RunningDaemon, ModelServer) {
    let call = ModelTurn::tool("Bash", json!({"command": command}));
    let model =
        ModelServer::start(ConversationScript::new().turn(call).turn(ModelTurn::text("Done."))).unwrap();
    let variables = [("ANTHROPIC_API_KEY", "sk-x"), ("ANTHROPIC_BASE_URL", &model.url())];
    let served = RunningDaemon::in_home(TestContext::new(), &variables);
    run(async {
        let client = served.program("mine");
        for hook in hooks {
            client.register(hook).await.unwrap();
        }
        let wanted = json!({"provider": "anthropic", "name": "some-model"});
        let session = client.create_session(unrestricted_session(&served).model(&wanted)).await.unwrap();
        assert_eq!(client.generate(&session, "Go").await.unwrap().text, "Done.");
    });
    (served, model)
}

// seed: 003-064
#[test]
fn a_blocked_tool_does_not_run_and_the_model_reads_an_error_with_the_reason() {
    let block = Hook::on("PreToolUse").tool("Bash").run(|_| async { HookResponse::block("no clocks here") });
    let after = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&after);
    let watch = Hook::on("PostToolUse").run(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        async { HookResponse::proceed() }
    });
    let (served, model) = turn_with_one_command("date > ran.txt", [block, watch]);
    assert!(!served.test.path("work").join("ran.txt").exists());
    let results = model.tool_results();
    assert_eq!(results.len(), 1, "{results:?}");
    assert!(results[0].is_error && results[0].contains("no clocks here"), "{results:?}");
    assert_eq!(after.load(Ordering::Relaxed), 0, "there is no result event for hooks");

    // For comparison: without the hook the command runs, and its output is not an error.
    let (served, model) = turn_with_one_command("date > ran.txt; echo done", []);
    assert!(served.test.path("work").join("ran.txt").exists());
    assert!(!model.tool_results()[0].is_error && model.tool_results()[0].contains("done"));
}

// seed: 003-065
#[test]
fn the_agent_runs_the_arguments_that_a_hook_changed_and_reports_those() {
    let change = Hook::on("PreToolUse").tool("Bash").run(|event| async move {
        let command = event.arg("command").unwrap_or_default().replace("asked", "changed");
        HookResponse::modified(json!({"args": {"command": command}}))
    });
    let reported = Arc::new(std::sync::Mutex::new(Vec::new()));
    let heard = Arc::clone(&reported);
    let watch = Hook::on("PostToolUse").tool("Bash").run(move |event| {
        heard.lock().unwrap().push(event.arg("command").unwrap_or_default().to_owned());
        async { HookResponse::proceed() }
    });
    let (served, model) = turn_with_one_command("echo asked | tee out.txt", [change, watch]);
    assert_eq!(std::fs::read_to_string(served.test.path("work/out.txt")).unwrap(), "changed\n");
    assert!(model.tool_results()[0].contains("changed") && !model.tool_results()[0].contains("asked"));
    assert_eq!(*reported.lock().unwrap(), ["echo changed | tee out.txt"]);
}

#[test]
fn a_tool_from_outside_is_judged_like_any_other() {
    let served = RunningDaemon::new();
    run(async {
        let client = served.program("mine");
        let session = client.create_session(unrestricted_session(&served)).await.unwrap();
        let result = client.execute_tool(&session, "Bash", &bash("echo hi; exit 0")).await.unwrap();
        assert_eq!((result.success, result.output.as_str(), result.exit_code), (true, "hi\n", Some(0)));
        let failed = client.execute_tool(&session, "Bash", &bash("exit 3")).await.unwrap();
        assert_eq!((failed.success, failed.exit_code), (false, Some(3)));
        let error = client.execute_tool(&session, "Bash", &bash("rm -rf /")).await.unwrap_err();
        assert_eq!(code(&error), ErrorCode::ErrorBlocked, "{error}");

        let guard = |event: tenterhook_client::HookEvent| async move {
            match event.arg("command") {
                Some("date") => HookResponse::block("no clocks"),
                _ => HookResponse::modified(json!({"args": {"command": "echo changed"}})),
            }
        };
        client.register(Hook::on("PreToolUse").tool("Bash").run(guard)).await.unwrap();
        let changed = client.execute_tool(&session, "Bash", &bash("echo hi")).await.unwrap();
        assert_eq!(changed.output, "changed\n");
        let error = client.execute_tool(&session, "Bash", &bash("date")).await.unwrap_err();
        assert_eq!((code(&error), error.to_string()), (ErrorCode::ErrorBlocked, "no clocks".to_owned()));
    });
}

/// Without this rule, an auto-format hook without a matcher would be called about its own actions again and
/// again.
#[test]
fn a_hook_is_not_called_about_its_own_actions_and_others_are() {
    let served = RunningDaemon::new();
    let (formats, watched) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let session = run(async {
        let client = served.program("formats");
        let (agent, count) = (client.clone(), Arc::clone(&formats));
        let format = Hook::on("PostToolUse").id("format").run(move |event| {
            let (agent, count) = (agent.clone(), Arc::clone(&count));
            async move {
                count.fetch_add(1, Ordering::Relaxed);
                let file = event.arg("file_path").unwrap_or("nothing").to_owned();
                agent.execute_tool(&event.session_id, "Bash", &bash(&format!("touch {file}.done"))).await?;
                Ok::<_, tenterhook_client::Error>(HookResponse::proceed())
            }
        });
        client.register(format).await.unwrap();
        // A second hook also acts, and receives events about the first hook's actions.
        let (agent, count) = (client.clone(), Arc::clone(&watched));
        let other = Hook::on("PostToolUse").id("other").tool("Bash").run(move |event| {
            let (agent, count) = (agent.clone(), Arc::clone(&count));
            async move {
                count.fetch_add(1, Ordering::Relaxed);
                agent.execute_tool(&event.session_id, "Bash", &bash("touch other")).await?;
                Ok::<_, tenterhook_client::Error>(HookResponse::proceed())
            }
        });
        client.register(other).await.unwrap();
        let session = client.create_session(unrestricted_session(&served)).await.unwrap();
        let write = args(json!({"file_path": "a.txt", "content": "x"}));
        assert!(client.execute_tool(&session, "Write", &write).await.unwrap().success);
        session
    });
    assert!(served.test.path("work").join("a.txt.done").exists());
    assert!(served.test.path("work").join("other").exists());
    assert_eq!((formats.load(Ordering::Relaxed), watched.load(Ordering::Relaxed)), (1, 1));
    let skipped: Vec<_> = served
        .test
        .records()
        .iter()
        .filter(|leaf| leaf["harness_session_id"] == *session)
        .flat_map(|leaf| leaf["trace"].as_array().cloned().unwrap_or_default())
        .filter(|step| step["note"] == "the hook made this call itself")
        .map(|step| step["by"].as_str().unwrap_or_default().to_owned())
        .collect();
    // The second hook's actions are recorded before the event that it was called for.
    assert_eq!(skipped, ["hook:format", "hook:other", "hook:format"]);
}

#[test]
fn a_disconnecting_client_ends_the_turn_and_nothing_of_it_is_left() {
    let served = RunningDaemon::new();
    let script = "turns: [{ call: { Bash: { command: 'echo $$ > pid; sleep 300' } } }, { say: Done. }]";
    let pid = run(async {
        let client = served.program("mine");
        let session = client.create_session(scripted_session(&served, script)).await.unwrap();
        let mut turn = client.generate_stream(&session, "Go").await.unwrap();
        while !matches!(turn.next().await, Some(Ok(GenerateStep::ToolCall(_)))) {}
        let file = served.test.path("work").join("pid");
        until("it runs", async || std::fs::read_to_string(&file).is_ok_and(|pid| pid.ends_with('\n'))).await;
        let busy = client.generate(&session, "And?").await.unwrap_err();
        assert_eq!(code(&busy), ErrorCode::ErrorOverloaded);
        drop(turn);
        let pid = std::fs::read_to_string(&file).unwrap().trim().to_owned();
        until("the process has ended", async || !is_running(&pid)).await;
        // The session continues.
        assert!(client.execute_tool(&session, "Bash", &bash("true")).await.unwrap().success);
        // A single tool is stopped when its caller or its session ends.
        let (rm, asks, at) = ("rm -f pid; echo $$ > pid; sleep 300", client.clone(), session.clone());
        let asked = tokio::spawn(async move { asks.execute_tool(&at, "Bash", &bash(rm)).await });
        until("it runs", async || {
            std::fs::read_to_string(&file).is_ok_and(|now| now.ends_with('\n') && now.trim() != pid)
        })
        .await;
        client.end_session(&session, "").await.unwrap();
        assert_eq!(code(&asked.await.unwrap().unwrap_err()), ErrorCode::ErrorCancelled);
        std::fs::read_to_string(&file).unwrap().trim().to_owned()
    });
    run(until("the process has ended", async || !is_running(&pid)));
}

fn is_running(pid: &str) -> bool {
    // A zombie no longer runs, so it is not counted.
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !status.is_empty() && !status.contains(") Z ")
}

#[test]
fn a_failed_tool_is_retried_by_the_program_that_fired_it() {
    let served = RunningDaemon::new();
    run(async {
        let client = served.program("mine");
        let again = |_| async { HookResponse::retry_after(Duration::from_millis(40)) };
        client.register(Hook::on("ToolError").id("again").run(again)).await.unwrap();
        let payload = json!({"tool": "Bash", "args": {"command": "ls"}, "error": "boom", "attempt": 1});
        let fired = client.fire(FiredEvent::new("ToolError", &payload).session("s")).await.unwrap();
        assert_eq!((fired.blocked, fired.retry), (false, Some(Duration::from_millis(40))));

        // The daemon's agent retries the tool.
        let session = client.create_session(unrestricted_session(&served)).await.unwrap();
        let once = "test -e there || { touch there; exit 1; }";
        assert!(client.execute_tool(&session, "Bash", &bash(once)).await.unwrap().success);

        let no = |_| async { HookResponse::block("no") };
        client.register(Hook::on("ToolError").id("no").run(no)).await.unwrap();
        let fired = client.fire(FiredEvent::new("ToolError", &payload).session("s")).await.unwrap();
        assert_eq!((fired.blocked, fired.retry), (true, None), "a block wins over a retry");
    });
}

#[test]
fn a_daemon_that_ends_also_ends_its_sessions_with_a_message() {
    let mut served = RunningDaemon::new();
    let session = run(async {
        let client = served.program("mine");
        let session = client.create_session(unrestricted_session(&served)).await.unwrap();
        let (asks, at): (Client, _) = (client.clone(), session.clone());
        tokio::spawn(async move { asks.execute_tool(&at, "Bash", &bash("echo $$ > pid; sleep 300")).await });
        let file = served.test.path("work").join("pid");
        until("it runs", async || std::fs::read_to_string(&file).is_ok_and(|pid| pid.ends_with('\n'))).await;
        session
    });
    let pid = std::fs::read_to_string(served.test.path("work").join("pid")).unwrap().trim().to_owned();
    served.signal(rustix::process::Signal::TERM);
    assert!(served.wait(), "{}", served.log());
    assert!(!is_running(&pid));
    assert_eq!(recorded_kinds(&served, &session).last().map(String::as_str), Some("session-end none"));
}

#[test]
fn the_daemon_calls_a_model_with_its_own_key_which_no_tool_record_or_log_sees() {
    let key = "sk-not-to-be-seen";
    let look = ModelTurn::tool("Bash", json!({"command": "env > seen; echo looked"}));
    let model =
        ModelServer::start(ConversationScript::new().turn(look).turn(ModelTurn::text("Done."))).unwrap();
    let variables = [("ANTHROPIC_API_KEY", key), ("ANTHROPIC_BASE_URL", &model.url())];
    let served = RunningDaemon::in_home(TestContext::new(), &variables);
    run(async {
        let client = served.program("mine");
        let wanted = json!({"provider": "anthropic", "name": "some-model", "maxTokens": 500});
        let session = client.create_session(unrestricted_session(&served).model(&wanted)).await.unwrap();
        assert_eq!(client.generate(&session, "Look around").await.unwrap().text, "Done.");
    });
    assert!(model.tool_results().iter().any(|result| result.contains("looked")));
    assert_eq!(model.agent_requests()[0]["max_tokens"], 500);
    let seen = std::fs::read_to_string(served.test.path("work/seen")).unwrap();
    assert!(seen.contains("PATH=") && !seen.contains(key), "{seen}");
    assert!(!format!("{:?}", served.test.records()).contains(key) && !served.log().contains(key));
}
