// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Hooks that seed 003 registers through an SDK. The tests register them in an engine.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tenterhook_engine::{Engine, FailMode, Hook, HookLimits, RegisterError, response};
use tenterhook_event::EventKind::{PostModel, PostTool, PreTool};
use tenterhook_event::{Decision, Event, TraceStatus};

use super::{bash, decision, generated, matching, silent, tokens, with, write};
use crate::seeds::{Notes, argument, fire, tool, tool_name};

// Seed 003, "TypeScript SDK": "Block dangerous bash commands"; "Python SDK": `validate_bash`.
// seed: 003-059
#[tokio::test]
async fn block_dangerous_bash_commands() {
    let engine = with([Hook::on("security", PreTool).run(|event| async move {
        let command = argument(&event, "command");
        if tool_name(&event) == "Bash" && (command.contains("rm -rf /") || command.contains(":(){ :|:& };:"))
        {
            return response::deny("Dangerous command blocked by security policy");
        }
        response::none()
    })]);
    for command in ["rm -rf /", "echo; :(){ :|:& };:"] {
        let outcome = fire(&engine, bash(command)).await;
        assert_eq!(
            outcome.reason().as_deref(),
            Some("Dangerous command blocked by security policy"),
            "{command}"
        );
        assert_eq!(outcome.decision, Decision::Deny);
    }
    assert_eq!(decision(&engine, bash("rm -rf build")).await, Decision::None);
    assert_eq!(decision(&engine, write("/x", "rm -rf /")).await, Decision::None);
}

// Seed 003, "TypeScript SDK": "Register hook with matcher pattern".
#[tokio::test]
async fn cannot_write_api_keys_to_env_files() {
    let guard = Hook::on("env", PreTool).run(|event| async move {
        if argument(&event, "content").contains("API_KEY=") {
            return response::deny("Cannot write API keys to .env files");
        }
        response::none()
    });
    let engine = with([matching(json!({"tool": "Write", "pathPattern": "*.env"}), guard)]);
    for path in ["/app/.env", "prod.env", "deep/down/.env"] {
        assert_eq!(decision(&engine, write(path, "API_KEY=1")).await, Decision::Deny, "{path}");
        assert_eq!(decision(&engine, write(path, "DEBUG=1")).await, Decision::None, "{path}");
    }
    for path in ["/app/env.rs", "/app/.envrc"] {
        assert_eq!(fire(&engine, write(path, "API_KEY=1")).await.trace.len(), 0, "{path}");
    }
    let edit = tool(PreTool, "Edit", json!({"file_path": "/.env", "content": "API_KEY=1"}));
    assert_eq!(fire(&engine, edit).await.trace.len(), 0, "only for Write");
}

// Seed 003, "TypeScript SDK": "Modify tool inputs".
// seed: 003-028
#[tokio::test]
async fn add_a_timeout_to_all_bash_commands() {
    let hook = Hook::on("timeout", PreTool).run(|event| async move {
        let mut args = event.tool.as_ref().unwrap().args.clone();
        args["timeout"] = json!(30_000);
        response::none().tool_input(args)
    });
    let engine = with([matching(json!({"tool": "Bash"}), hook)]);
    let outcome = fire(&engine, bash("sleep 99")).await;
    assert_eq!(outcome.tool_input, Some(json!({"command": "sleep 99", "timeout": 30_000})));
    assert_eq!(outcome.decision, Decision::None);
    assert_eq!(fire(&engine, write("/a", "b")).await.tool_input, None);
}

// Seed 003, "TypeScript SDK": "Multiple hooks for same event (run in parallel)"; "Python SDK": `log_generation`.
// seed: 003-025, 003-038
#[tokio::test]
async fn multiple_hooks_for_the_same_event_run_in_parallel() {
    let logged = Notes::new();
    let together = Arc::new(tokio::sync::Barrier::new(2));
    let hook = |id: &str| {
        let (log, together, id) = (logged.clone(), Arc::clone(&together), id.to_owned());
        Hook::on(&id.clone(), PostModel).run(move |event| {
            let (log, together, id) = (log.clone(), Arc::clone(&together), id.clone());
            async move {
                // No hook finishes before the others have started.
                together.wait().await;
                log.add(format!("{id} {} {}", event.harness_session_id.as_deref().unwrap(), tokens(&event)));
                response::none()
            }
        })
    };
    let engine = with([hook("metrics"), hook("print")]);
    let outcome = fire(&engine, generated(42)).await;
    let statuses: Vec<_> = outcome.trace.iter().map(|step| step.status).collect();
    assert_eq!(statuses, [TraceStatus::Ran, TraceStatus::Ran]);
    let mut logged = logged.all();
    logged.sort();
    assert_eq!(logged, ["metrics s-1 42", "print s-1 42"]);
}

// Seed 003, "TypeScript SDK": "Unregister hooks", "List registered hooks".
// seed: 003-059
#[tokio::test]
async fn unregister_and_list_hooks() {
    let engine = with([]);
    let id = engine.register(Hook::on("no", PreTool).run(|_| async { response::deny("no") })).unwrap();
    engine.register(silent("quiet")).unwrap();
    let listed = |engine: &Engine| engine.list().iter().map(|hook| hook.id.to_string()).collect::<Vec<_>>();
    assert_eq!(listed(&engine), ["no", "quiet"]);
    assert_eq!(decision(&engine, bash("ls")).await, Decision::Deny);
    engine.unregister(&id).unwrap();
    assert_eq!(listed(&engine), ["quiet"]);
    assert_eq!(decision(&engine, bash("ls")).await, Decision::None);
    assert_eq!(engine.unregister(&id), Err(RegisterError::Unknown("no".into())));
}

// Seed 003, "Python SDK": `matcher={"tool": "Write", "path_pattern": "*.py"}`.
#[tokio::test]
async fn runs_only_for_write_operations_on_py_files() {
    let engine = with([matching(json!({"tool": "Write", "path_pattern": "*.py"}), silent("format_python"))]);
    for (event, runs) in [(write("/a/b.py", ""), 1), (write("/a/b.pyc", ""), 0), (bash("python b.py"), 0)] {
        assert_eq!(fire(&engine, event).await.trace.len(), runs);
    }
}

// Seed 003, "Python SDK": "Context manager for temporary hooks".
#[tokio::test]
async fn a_temporary_hook_is_active_only_within_its_block() {
    let engine = with([]);
    {
        let id = engine
            .register(Hook::on("temporary", PreTool).run(|_| async { response::deny("not now") }))
            .unwrap();
        assert_eq!(decision(&engine, bash("ls")).await, Decision::Deny);
        engine.unregister(&id).unwrap();
    }
    assert_eq!(decision(&engine, bash("ls")).await, Decision::None);
    assert_eq!(engine.list().len(), 0);
}

// Seed 003, "Hook Engine (Rust)", `aggregate_responses`; "Hook Execution Flow", "Aggregate Responses".
// seed: 003-062, 003-063
#[tokio::test]
async fn block_wins_over_continue_and_modifications_are_merged() {
    // Like `{...event.args, key: value}`, the hook returns all arguments, as an SDK hook does in `modified.args`.
    let change = |id: &str, key: &'static str, value: Value| {
        Hook::on(id, PreTool).run(move |event| {
            let mut args = event.tool.as_ref().unwrap().args.clone();
            args[key] = value.clone();
            async move { response::none().tool_input(args) }
        })
    };
    let timeout = |id: &str, value: u32| change(id, "timeout", json!(value));
    let engine = with([timeout("a", 30_000), change("b", "description", json!("why"))]);
    let outcome = fire(&engine, bash("ls")).await;
    let merged = json!({"command": "ls", "timeout": 30_000, "description": "why"});
    assert_eq!(outcome.tool_input, Some(merged));
    assert!(outcome.trace.iter().all(|step| step.note.is_none()), "{:?}", outcome.trace);

    let engine = with([timeout("a", 1), timeout("b", 2)]);
    let outcome = fire(&engine, bash("ls")).await;
    assert_eq!(outcome.tool_input, Some(json!({"command": "ls", "timeout": 2})), "the later hook wins");
    assert!(outcome.trace[1].note.as_ref().unwrap().contains("`args.timeout` (changed by `a`)"));

    engine.register(Hook::on("c", PreTool).run(|_| async { response::deny("blocked") })).unwrap();
    engine.register(Hook::on("d", PreTool).run(|_| async { response::allow("fine") })).unwrap();
    let outcome = fire(&engine, bash("ls")).await;
    assert_eq!((outcome.decision, outcome.reason().as_deref()), (Decision::Deny, Some("blocked")));
}

// Seed 003, "Hook Execution Flow": "Block wins > Retry > Continue".
#[tokio::test]
async fn block_wins_over_retry_and_retry_over_continue() {
    let retry = || Hook::on("retry", PreTool).run(|_| async { response::retry(Duration::from_millis(1)) });
    let engine = with([silent("continue"), retry()]);
    let outcome = fire(&engine, bash("ls")).await;
    assert_eq!(outcome.decision, Decision::Deny, "it stayed at `retry`");
    assert!(outcome.reason().unwrap().contains("try again in 1 ms"), "{outcome:?}");

    let engine = with([retry(), Hook::on("block", PreTool).run(|_| async { response::deny("blocked") })]);
    let outcome = fire(&engine, bash("ls")).await;
    assert_eq!(outcome.decision, Decision::Deny);
    assert!(outcome.reason().unwrap().contains("blocked"), "{outcome:?}");
}

// Seed 003, "Action Behaviors": "Retry the operation after delay".
// seed: 003-030
#[tokio::test]
async fn retry_asks_again_after_the_delay() {
    let asked: Notes<Instant> = Notes::new();
    let note = asked.clone();
    let engine = with([Hook::on("rate-limit", PreTool).run(move |_| {
        note.add(Instant::now());
        let first = note.all().len() == 1;
        async move { if first { response::retry(Duration::from_millis(50)) } else { response::none() } }
    })]);
    assert_eq!(decision(&engine, bash("ls")).await, Decision::None);
    let asked = asked.all();
    assert_eq!(asked.len(), 2);
    assert!(asked[1] - asked[0] >= Duration::from_millis(50));
}

// Seed 003, "Action Behaviors": "Skip remaining hooks, continue execution".
// seed: 003-031
#[tokio::test]
async fn skip_passes_over_the_remaining_hooks() {
    let block =
        |id: &str, priority| Hook::on(id, PreTool).priority(priority).run(|_| async { response::deny("no") });
    let skip = Hook::on("skip", PreTool).priority(2).run(|_| async { response::skip() });
    let engine = with([skip.clone(), block("after", 3)]);
    let outcome = fire(&engine, bash("ls")).await;
    assert_eq!((outcome.decision, outcome.trace[1].status), (Decision::None, TraceStatus::Skipped));
    let engine = with([skip, block("before", 1)]);
    assert_eq!(decision(&engine, bash("ls")).await, Decision::Deny, "earlier answers count");
}

// Seed 003, "Integration with Agent Loop": what a loop around the engine needs. `tests/suite/sdk_agent.rs` runs the
// real one.
#[tokio::test]
async fn the_agent_loop_uses_modified_args_and_stops_at_a_block() {
    async fn execute_tool(engine: &Engine, asked: Event, ran: &Notes<Value>) -> Result<(), String> {
        let outcome = fire(engine, asked.clone()).await;
        if outcome.decision == Decision::Deny {
            return Err(format!("{} blocked: {}", tool_name(&asked), outcome.reason().unwrap_or_default()));
        }
        let args = outcome.tool_input.unwrap_or_else(|| asked.tool.unwrap().args);
        ran.add(args.clone());
        let after = fire(engine, tool(PostTool, "Bash", args)).await;
        assert_eq!(after.trace.len(), 1, "PostToolUse hooks get their event");
        Ok(())
    }
    let (ran, after) = (Notes::new(), Notes::new());
    let seen = after.clone();
    let engine = Engine::builder()
        .on(PreTool)
        .run(|event| async move {
            match argument(&event, "command").as_str() {
                "rm" => response::deny("no"),
                "ls" => response::none().tool_input(json!({"command": "ls -a"})),
                _ => response::none(),
            }
        })
        .on(PostTool)
        .run(move |event| {
            seen.add(argument(&event, "command"));
            // Fire and forget: its answer has no effect.
            async { response::none() }
        })
        .build()
        .unwrap();
    assert_eq!(execute_tool(&engine, bash("rm"), &ran).await, Err("Bash blocked: no".into()));
    assert_eq!(execute_tool(&engine, bash("ls"), &ran).await, Ok(()));
    assert_eq!(execute_tool(&engine, bash("pwd"), &ran).await, Ok(()));
    assert_eq!(ran.all(), [json!({"command": "ls -a"}), json!({"command": "pwd"})]);
    assert_eq!(after.all(), ["ls -a", "pwd"]);
}

// Seed 003, "Hook Execution Flow": "Sort by Priority", "Execute in Parallel".
// seed: 000-063, 003-091
#[tokio::test]
async fn lower_priority_numbers_come_first_regardless_of_speed() {
    let hook = |id: &'static str, priority, ms| {
        Hook::on(id, PreTool).priority(priority).run(move |_| async move {
            tokio::time::sleep(Duration::from_millis(ms)).await;
            response::none().context(id).merge_tool_input(json!({"last": id}))
        })
    };
    let engine = with([hook("third", 10, 0), hook("first", -1, 60), hook("second", 0, 30)]);
    let outcome = fire(&engine, bash("ls")).await;
    assert_eq!(outcome.context_text().as_deref(), Some("first\nsecond\nthird"));
    assert_eq!(outcome.tool_input.unwrap()["last"], "third");
}

// Seed 003, "Timeout Handling".
// seed: 003-067, 003-069
#[tokio::test]
async fn a_timeout_is_treated_as_continue() {
    let slow = |id: &str| {
        Hook::on(id, PreTool).timeout(Duration::from_millis(30)).run(|_| async {
            tokio::time::sleep(Duration::from_secs(30)).await;
            response::deny("too late").tool_input(json!({}))
        })
    };
    let quick = Hook::on("quick", PreTool).run(|_| async { response::none().context("in time") });
    let engine = with([slow("slow"), quick]);
    let outcome = fire(&engine, bash("ls")).await;
    assert_eq!((outcome.decision, outcome.context_text().as_deref()), (Decision::None, Some("in time")));
    assert_eq!(outcome.trace[0].status, TraceStatus::TimedOut, "the warning");

    let engine = with([slow("one"), slow("two")]);
    let outcome = fire(&engine, bash("ls")).await;
    assert_eq!((outcome.decision, outcome.tool_input), (Decision::None, None), "the original input");
}

// Seed 003, "Error Handling".
// seed: 003-072, 003-073
#[tokio::test]
async fn errors_do_not_block_unless_fail_behavior_is_block() {
    let raises = || Hook::on("raises", PreTool);
    let broken = |event: Arc<Event>| async move {
        assert!(event.tool.is_none(), "an error in the hook");
        response::none()
    };
    let engine = with([raises().run(broken)]);
    let outcome = fire(&engine, bash("ls")).await;
    assert_eq!((outcome.decision, outcome.trace[0].status), (Decision::None, TraceStatus::Failed));
    let engine = with([raises().fail(FailMode::Closed).run(broken)]);
    let outcome = fire(&engine, bash("ls")).await;
    assert_eq!((outcome.decision, outcome.trace[0].status), (Decision::Deny, TraceStatus::Failed));
}

// Seed 003, "Hook Isolation": "Rate limiting".
// seed: 003-075, 003-076, 003-077
#[tokio::test]
async fn at_most_10_hooks_an_event_50_in_all_and_5_seconds_each() {
    assert_eq!(silent("x").timeout, Duration::from_secs(5));
    let engine = with((0..10).map(|at| silent(&format!("h{at}"))));
    let error = engine.register(silent("eleventh")).unwrap_err();
    assert_eq!(error, RegisterError::TooManyOn { id: "eleventh".into(), kind: PreTool, limit: 10 });
    let other = Hook::on("other", PostTool).run(|_| async { response::none() });
    assert!(engine.register(other).is_ok(), "another event has its own limit");

    let kinds = tenterhook_event::EventKind::ALL.iter().cycle().take(51).enumerate();
    let many = kinds.map(|(at, kind)| Hook::on(&format!("h{at}"), *kind).run(|_| async { response::none() }));
    let limits = HookLimits { max_hooks_per_event: 1000, ..HookLimits::default() };
    let error = Engine::builder().limits(limits).hooks(many).build().err();
    assert_eq!(error, Some(RegisterError::TooMany { id: "h50".into(), limit: 50 }));
}

// Seed 003, "Per-Hook Configuration".
// seed: 003-092
#[tokio::test]
async fn per_hook_configuration() {
    let hook = Hook::on("configured", PreTool)
        .priority(10)
        .timeout(Duration::from_secs(3))
        .fail(FailMode::Closed)
        .run(|_| async { response::none() });
    let engine = with([hook, silent("default")]);
    let listed = engine.list();
    let ids: Vec<_> = listed.iter().map(|hook| hook.id.as_ref()).collect();
    assert_eq!(ids, ["default", "configured"], "lower is earlier");
    let hook = &listed[1];
    assert_eq!(
        (hook.priority, hook.timeout, hook.observes, hook.fail),
        (10, Duration::from_secs(3), false, FailMode::Closed)
    );
}
