// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Builds the payload that each harness sends for a tool call, in a project below the user's home directory.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::context::{CommandOutput, TestContext};

/// The harnesses whose payloads this module builds.
pub(super) const HARNESSES: [&str; 9] =
    ["claude-code", "codex", "gemini", "llxprt", "qwen", "opencode", "copilot", "cline", "cursor"];

/// A home directory with a project and a directory beside it.
pub(super) fn home_with_project() -> TestContext {
    let test = TestContext::new();
    test.write("person/precious/thesis.txt", "years of work");
    test.write("person/project/.git/HEAD", "ref: refs/heads/main\n");
    test
}

pub(super) fn project(test: &TestContext) -> PathBuf {
    test.path("person/project")
}

/// The harness's name for its shell tool.
pub(super) fn shell_tool(harness: &str) -> &'static str {
    match harness {
        "opencode" | "copilot" => "bash",
        "gemini" | "llxprt" | "qwen" => "run_shell_command",
        "cline" => "run_commands",
        "cursor" => "Shell",
        _ => "Bash",
    }
}

/// The name of the event before a tool call, and its native payload.
pub(super) fn payload(test: &TestContext, harness: &str, tool: &str, args: &Value) -> (&'static str, Value) {
    let cwd = project(test);
    match harness {
        "opencode" => (
            "tool.execute.before",
            json!({
                "hook": "tool.execute.before",
                "input": {"tool": tool, "sessionID": "ses_1", "callID": "call_1"},
                "output": {"args": args}, "directory": cwd, "worktree": cwd,
            }),
        ),
        "copilot" => (
            "preToolUse",
            json!({"sessionId": "s", "timestamp": 1, "cwd": cwd, "toolName": tool, "toolArgs": args}),
        ),
        "cline" => (
            "PreToolUse",
            json!({
                "taskId": "t", "sessionContext": {"rootSessionId": "s"}, "workspaceRoots": [cwd],
                "workspaceInfo": {"rootPath": cwd}, "hookName": "tool_call",
                "tool_call": {"id": "c", "name": tool, "input": args},
            }),
        ),
        "cursor" => (
            "preToolUse",
            json!({
                "conversation_id": "s", "generation_id": "g", "hook_event_name": "preToolUse",
                "workspace_roots": [cwd], "cwd": cwd, "tool_name": tool, "tool_input": args, "tool_use_id": "c",
            }),
        ),
        "gemini" | "llxprt" => (
            "BeforeTool",
            json!({
                "session_id": "s", "cwd": cwd, "timestamp": "2026-11-16T02:14:56.194Z", "transcript_path": "",
                "hook_event_name": "BeforeTool", "tool_name": tool, "tool_input": args,
            }),
        ),
        _ => (
            "PreToolUse",
            json!({
                "session_id": "s", "cwd": cwd, "hook_event_name": "PreToolUse", "tool_name": tool,
                "tool_input": args, "tool_use_id": "c",
            }),
        ),
    }
}

/// Sends a payload through the program, as the harness does.
pub(super) fn send(test: &TestContext, harness: &str, event: &str, payload: &Value) -> CommandOutput {
    test.run_with(&["hook", harness, event], payload.to_string().as_bytes())
}

/// Sends a tool call and returns the recorded verdict.
pub(super) fn verdict(test: &TestContext, harness: &str, tool: &str, args: &Value) -> String {
    let (event, payload) = payload(test, harness, tool, args);
    verdict_on(test, harness, event, &payload)
}

/// Sends a payload and returns the recorded verdict.
pub(super) fn verdict_on(test: &TestContext, harness: &str, event: &str, payload: &Value) -> String {
    let before = test.decisions().len();
    let ran = send(test, harness, event, payload);
    let ledger = test.decisions();
    assert_eq!(ledger.len(), before + 1, "{harness}: {}{}", ran.stdout, ran.stderr);
    ledger.last().unwrap()["verdict"].as_str().unwrap_or_default().to_owned()
}
