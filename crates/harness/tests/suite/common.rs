// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Shared test data: payloads, call metadata and outcomes.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tenterhook_event::{
    Attributed, Decision, EventId, EventKind, Flow, HookCall, MergeMode, Modification, Origin, Outcome,
    SelectionMode, Timestamp,
};
use tenterhook_harness::{CallMeta, EventRow, Harness, ToolLocation, find_harness};

/// A payload captured from a real client, or written according to its documentation.
pub(crate) struct CapturedPayload {
    /// Path below `tests/fixtures/<harness>`.
    pub(crate) file: String,
    /// Event name, from the file name.
    pub(crate) event: String,
    pub(crate) bytes: Vec<u8>,
}

pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures")
}

pub(crate) fn harness(id: &str) -> &'static Harness {
    find_harness(id).unwrap()
}

/// Every payload of one directory. Some files also contain a note about the payload's origin; their payload is under
/// the key `stdin`.
pub(crate) fn captured(directory: &str) -> Vec<CapturedPayload> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(fixtures().join(directory)).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap().to_str().unwrap().to_owned();
        // These files describe the hook's environment and are not payloads.
        if path.is_dir() || file.starts_with('_') || file.starts_with("statusLine") {
            continue;
        }
        let mut bytes = std::fs::read(&path).unwrap();
        let whole: Value = serde_json::from_slice(&bytes).unwrap();
        let mut event = file.split('.').next().unwrap().to_owned();
        if let Some(stdin) = whole.get("stdin") {
            bytes = serde_json::to_vec(stdin).unwrap();
        }
        // The file contains the arguments of a plugin's hook. The directory is added, as Tenterhook's plugin does.
        if let Some(hook) = whole.get("hook") {
            let on_bus = whole["input"]["event"]["type"].as_str();
            on_bus.or(hook.as_str()).unwrap().clone_into(&mut event);
            let mut payload = whole.clone();
            payload["directory"] = json!("/home/dev/project");
            bytes = serde_json::to_vec(&payload).unwrap();
        }
        all.push(CapturedPayload { file, event, bytes });
    }
    all.sort_by(|one, other| one.file.cmp(&other.file));
    all
}

pub(crate) fn call_meta(event: &str) -> CallMeta {
    CallMeta::new(
        EventId::from_parts(1_700_000_000_000, 7),
        Timestamp::from_unix_ms(1_700_000_000_000),
        event,
    )
}

pub(crate) fn decoded(harness: &Harness, event: &str, payload: &Value) -> HookCall {
    harness.decode(&call_meta(event), payload.to_string().as_bytes()).unwrap()
}

/// A call of the event, with a command if it concerns a tool.
pub(crate) fn sample(harness: &Harness, row: &EventRow) -> HookCall {
    decoded(harness, row.native, &payload(harness, row))
}

fn payload(harness: &Harness, row: &EventRow) -> Value {
    let command = json!({"command": "make"});
    let mut payload = match harness.id {
        "cline" => {
            let call = json!({"id": "c", "name": "run_commands", "input": {"commands": ["make"]}});
            let place = if row.kind == EventKind::PostTool { "tool_result" } else { "tool_call" };
            let mut payload = json!({"hookName": row.native, "taskId": "s", "workspaceRoots": ["/w"]});
            if row.kind.concerns_tool() {
                payload[place] = call;
            }
            return payload;
        }
        "copilot" => json!({
            "hookName": row.native, "sessionId": "s", "cwd": "/w", "toolName": "bash", "toolArgs": command,
            "toolResult": {"resultType": "success", "textResultForLlm": "made"}, "prompt": "do it",
        }),
        "opencode" => json!({
            "hook": row.native, "directory": "/w",
            "input": {"tool": "bash", "sessionID": "s", "callID": "c"},
            "output": {"args": command, "output": "made", "temperature": 1},
        }),
        _ => json!({
            "hook_event_name": row.native, "session_id": "s", "conversation_id": "s", "cwd": "/w",
            "tool_name": "Bash", "tool_input": command, "tool_response": {"stdout": "made"},
            "tool_output": "{\"stdout\":\"made\"}", "command": "make", "file_path": "/w/a", "edits": [],
            "prompt": "do it", "submitted_prompt": "do it", "status": "completed", "generation_id": "g",
            "llm_request": {"model": "m", "messages": [{"role": "user", "content": "hi"}]},
            "llm_response": {"text": "hello"},
        }),
    };
    if matches!(harness.id, "gemini" | "llxprt" | "qwen") {
        payload["tool_name"] = json!("run_shell_command");
    }
    if row.tool == ToolLocation::Mcp {
        payload["tool_name"] = json!("query");
    }
    if !row.kind.concerns_tool() {
        payload.as_object_mut().unwrap().retain(|name, _| name != "tool_name" && name != "toolName");
        if let Some(Value::Object(input)) = payload.get_mut("input") {
            input.remove("tool");
        }
    }
    payload
}

pub(crate) fn attributed<T>(what: T) -> Attributed<T> {
    Attributed { by: Origin::rule("r"), value: what }
}

pub(crate) fn decided(decision: Decision) -> Outcome {
    Outcome { decision, reasons: vec![attributed("because".to_owned())], ..Outcome::default() }
}

pub(crate) fn denied() -> Outcome {
    Outcome { nudges: vec![attributed("do otherwise".to_owned())], ..decided(Decision::Deny) }
}

pub(crate) fn stopped() -> Outcome {
    Outcome { flow: Flow::Stop { reason: Some("enough".to_owned()) }, ..Outcome::default() }
}

pub(crate) fn rewritten() -> Outcome {
    let value = json!({"command": "ls"});
    Outcome {
        modifications: vec![attributed(Modification::ToolInput {
            merge: MergeMode::Replace,
            value: value.clone(),
        })],
        tool_input: Some(value),
        ..Outcome::default()
    }
}

pub(crate) fn changed(what: Modification) -> Outcome {
    Outcome { modifications: vec![attributed(what)], ..Outcome::default() }
}

/// Outcomes with a single part, and some with several.
pub(crate) fn outcomes() -> Vec<(&'static str, Outcome)> {
    let context = vec![attributed("for the model".to_owned())];
    let messages = vec![attributed("for the user".to_owned())];
    vec![
        ("none", Outcome::default()),
        ("allow", decided(Decision::Allow)),
        ("defer", decided(Decision::Defer)),
        ("ask", decided(Decision::Ask)),
        ("deny", denied()),
        ("deny, no reason", Outcome { decision: Decision::Deny, ..Outcome::default() }),
        ("deny, context", Outcome { context: context.clone(), ..denied() }),
        ("stop", stopped()),
        ("deny, stop", Outcome { flow: stopped().flow, ..denied() }),
        ("rewrite", rewritten()),
        ("allow, rewrite", Outcome { decision: Decision::Allow, ..rewritten() }),
        ("deny, rewrite", Outcome { decision: Decision::Deny, ..rewritten() }),
        ("output", changed(Modification::ToolOutput { value: json!("other output") })),
        ("context", Outcome { context, ..Outcome::default() }),
        ("message", Outcome { messages, ..Outcome::default() }),
        (
            "request",
            changed(Modification::ModelRequest {
                merge: MergeMode::Shallow,
                value: json!({"model": "small"}),
            }),
        ),
        (
            "response",
            changed(Modification::ModelResponse { merge: MergeMode::Replace, value: json!({"text": "no"}) }),
        ),
        (
            "selection",
            changed(Modification::ToolSelection {
                mode: SelectionMode::Any,
                allowed: vec!["read_file".into()],
            }),
        ),
    ]
}

/// Whether an outcome has a part that only some kinds of events support.
pub(crate) fn concerns(outcome: &str, kind: EventKind) -> bool {
    match outcome {
        "rewrite" | "allow, rewrite" | "deny, rewrite" => {
            matches!(kind, EventKind::PreTool | EventKind::PermissionRequest)
        }
        "output" => kind == EventKind::PostTool,
        "request" => kind == EventKind::PreModel,
        "response" => matches!(kind, EventKind::PreModel | EventKind::PostModel),
        "selection" => kind == EventKind::ToolSelection,
        _ => true,
    }
}
