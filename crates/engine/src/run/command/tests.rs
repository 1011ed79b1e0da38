// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tests hooks that misbehave. Each test names the misbehaviour.

use std::time::Instant as Clock;
use tenterhook_test_support::assert_no_hang;

use serde_json::json;
use tenterhook_event::{Decision, Event, EventId, EventKind, Timestamp, ToolCall};
use tenterhook_harness::dialect;

use super::*;

/// Time limit of hooks that do not end by themselves.
const SHORT_TIMEOUT: Duration = Duration::from_millis(300);
/// Time limit of hooks that end by themselves. If a test reaches this limit, a hook hangs.
const LONG_TIMEOUT: Duration = Duration::from_mins(4);

fn hook(line: CommandLine) -> CommandHook {
    let dialect = dialect::find("claude").unwrap();
    CommandHook {
        line,
        dialect,
        env: Vec::new(),
        home: None,
        dir: std::env::temp_dir(),
        max_output_bytes: 1024 * 1024,
    }
}

fn call(payload: usize) -> HookCall {
    let (id, ts) = (EventId::from_parts(0, 0), Timestamp::from_unix_ms(0));
    let mut event = Event::new(id, ts, "claude-code", EventKind::PreTool, "PreToolUse");
    event.tool = Some(ToolCall::new("Bash", json!({"command": "x".repeat(payload)})));
    HookCall { event, native: None }
}

/// Runs a hook that answers. The hook may take as long as it needs on a busy machine, but has to end well before its
/// deadline.
async fn run_shell(text: &str, payload: usize) -> Result<InterpretedOutput, RunFailure> {
    let started = Clock::now();
    let command = hook(CommandLine::Shell(text.to_owned()));
    let result = run(&command, &call(payload), Origin::hook("h"), LONG_TIMEOUT).await;
    assert_no_hang(started, "the answer was not read before the deadline");
    result
}

/// Runs a hook that does not end by itself.
async fn run_endless(text: &str) -> Result<InterpretedOutput, RunFailure> {
    let command = hook(CommandLine::Shell(text.to_owned()));
    run(&command, &call(0), Origin::hook("h"), SHORT_TIMEOUT).await
}

fn failure_text(result: Result<InterpretedOutput, RunFailure>) -> String {
    match result {
        Ok(answer) => format!("{answer:?}"),
        Err(RunFailure::TimedOut) => "timed out".to_owned(),
        Err(RunFailure::Failed(why) | RunFailure::Unreachable(why)) => why,
    }
}

/// Whether a process with this marker in its command line is alive.
fn is_alive(marker: &str) -> bool {
    let found = std::process::Command::new("pgrep").args(["-f", marker]).output().unwrap();
    found.status.success()
}

/// Asserts that the process with this marker in its command line has ended.
///
/// A killed process can be listed until the kernel has run it once more, so the check is repeated. The markers are
/// commands that run for at least 31 seconds, so a process that was not killed runs longer than `DEATH_TIMEOUT`.
fn assert_process_ended(marker: &str) {
    const DEATH_TIMEOUT: Duration = Duration::from_secs(15);
    let started = Clock::now();
    while is_alive(marker) {
        assert!(started.elapsed() < DEATH_TIMEOUT, "process `{marker}` was left behind");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[tokio::test]
async fn a_hook_that_ignores_sigterm_is_killed_at_its_deadline() {
    let result = run_endless("trap '' TERM; while :; do sleep 31.4151; done").await;
    assert_eq!(failure_text(result), "timed out");
    assert_process_ended("sleep 31.4151");
}

#[tokio::test]
async fn a_grandchild_that_keeps_the_pipe_open_does_not_hold_the_call() {
    let result = run_shell("sleep 31.4152 & echo '{\"decision\":\"block\",\"reason\":\"r\"}'", 0).await;
    assert_eq!(result.ok().map(|answer| answer.finding.decision), Some(Decision::Deny));
    assert_process_ended("sleep 31.4152");
}

#[tokio::test]
async fn endless_output_is_cut_and_the_hook_is_killed() {
    let result = run_endless("yes 31.4153").await;
    assert_eq!(failure_text(result), "timed out");
    assert_process_ended("yes 31.4153");
}

#[tokio::test]
async fn the_answer_of_a_hook_that_never_reads_its_input_counts() {
    let result = run_shell("echo no >&2; exit 2", 4 * 1024 * 1024).await;
    assert_eq!(result.ok().and_then(|answer| answer.finding.reason).as_deref(), Some("no"));
}

#[tokio::test]
async fn a_hook_that_reads_a_large_input_gets_all_of_it() {
    let result = run_shell("wc -c >&2; exit 2", 4 * 1024 * 1024).await;
    let counted: usize = result.ok().and_then(|answer| answer.finding.reason).unwrap().parse().unwrap();
    assert!(counted > 4 * 1024 * 1024, "{counted}");
}

#[tokio::test]
async fn invalid_utf8_is_text_and_no_verdict() {
    let result = run_shell("printf '\\377\\376'", 0).await;
    assert_eq!(result.ok().map(|answer| answer.finding.decision), Some(Decision::None));
}

#[tokio::test]
async fn a_missing_program_is_a_failure_with_a_clear_message() {
    let command = hook(CommandLine::Exec(vec!["/no/such/program".into()]));
    let result = run(&command, &call(0), Origin::hook("h"), SHORT_TIMEOUT).await;
    assert_eq!(failure_text(result), "program `/no/such/program` does not exist");
}

#[tokio::test]
async fn a_script_that_is_not_there_is_a_failure_and_never_a_deny() {
    // Both interpreters exit with code 2 if the script is missing, which would mean deny.
    for words in [["python3", "/no/such/guard.py"], ["sh", "/no/such/guard.sh"]] {
        let command = hook(CommandLine::Exec(words.map(ToOwned::to_owned).to_vec()));
        let result = run(&command, &call(0), Origin::hook("h"), SHORT_TIMEOUT).await;
        assert_eq!(failure_text(result), format!("script `{}` does not exist", words[1]));
        let result = run_shell(&words.join(" "), 0).await;
        assert_eq!(failure_text(result), format!("script `{}` does not exist", words[1]));
    }
}

#[tokio::test]
async fn an_exit_code_of_two_blocks_for_any_script_name() {
    let dir = tempfile::tempdir().unwrap();
    let script = dir.path().join("g.sh").display().to_string();
    std::fs::write(&script, "echo no >&2; exit 2").unwrap();
    let command = hook(CommandLine::Exec(vec!["sh".into(), script]));
    let result = run(&command, &call(0), Origin::hook("h"), SHORT_TIMEOUT).await;
    assert_eq!(result.ok().map(|answer| answer.finding.decision), Some(Decision::Deny));
}

#[tokio::test]
async fn exec_form_has_no_shell_in_between() {
    let words = ["/bin/echo", "$HOME", "`id`"].map(ToOwned::to_owned).to_vec();
    let mut call = call(0);
    call.event.event = EventKind::Prompt;
    let result = run(&hook(CommandLine::Exec(words)), &call, Origin::hook("h"), SHORT_TIMEOUT).await;
    assert_eq!(result.ok().and_then(|answer| answer.finding.context).as_deref(), Some("$HOME `id`"));
}

// seed: 000-054
#[tokio::test]
async fn an_async_hook_runs_in_the_background_and_is_ended_at_its_time_limit() {
    let text = "echo '{\"async\": true, \"asyncTimeout\": 1000}'; sleep 31.4154";
    let result = run_shell(text, 0).await;
    let limit = Duration::from_secs(1);
    assert_eq!(result.ok().map(|answer| answer.control), Some(EngineControl::Detach { limit }));
    assert!(is_alive("sleep 31.4154"), "it continues");
    for _ in 0..200 {
        tokio::time::sleep(Duration::from_millis(50)).await;
        if !is_alive("sleep 31.4154") {
            return;
        }
    }
    panic!("it was not ended");
}

#[tokio::test]
async fn an_observer_gets_its_whole_input_and_is_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let seen = dir.path().join("seen");
    let go_on = dir.path().join("go-on");
    let wait = format!("until [ -e {} ]; do sleep 0.01; done", go_on.display());
    let line = CommandLine::Shell(format!("{wait}; wc -c > {}", seen.display()));
    observe(&hook(line), &call(1024 * 1024), LONG_TIMEOUT).unwrap();
    assert!(!seen.exists(), "the observer waits for the caller, and not the caller for it");
    std::fs::write(go_on, "").unwrap();
    for _ in 0..200 {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let counted = std::fs::read_to_string(&seen).unwrap_or_default();
        if let Ok(counted) = counted.trim().parse::<usize>() {
            assert!(counted > 1024 * 1024, "{counted}");
            return;
        }
    }
    panic!("it never ran");
}
