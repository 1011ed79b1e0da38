// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Copilot CLI's transcripts: `session-state/<session>/events.jsonl`. Older versions write `<session>.jsonl`. The
//! lines of a subagent contain the subagent's id.

use std::path::Path;

use serde_json::{Map, Value};
use tenterhook_event::McpToolId;

use crate::{EventContext, RecordedToolResult, TranscriptReader, Transcripts, read_json_lines};
use tenterhook_harness::payload_keys;

pub(super) const TRANSCRIPTS: Transcripts = Transcripts {
    variables: &["COPILOT_HOME"],
    directories: |machine| {
        let home = machine.variable_or("COPILOT_HOME", ".copilot");
        home.map(|home| home.join("session-state")).into_iter().collect()
    },
    is_transcript: |path| {
        let own = path.iter().count() == 2 && path.file_name().is_some_and(|name| name == "events.jsonl");
        own || path.iter().count() == 1 && path.extension().is_some_and(|extension| extension == "jsonl")
    },
    read,
    usage: None,
};

/// Types of lines that contain no tool calls. Only the first word of a type is compared.
const IGNORED_TYPES: &[&str] = &[
    "abort",
    "assistant",
    "command",
    "hook",
    "permission",
    "session",
    "skill",
    "subagent",
    "system",
    "user",
];

fn read(path: &Path, reader: &mut TranscriptReader<'_>) -> std::io::Result<()> {
    let mut known = EventContext::default();
    read_json_lines(path, reader, &mut |line, reader| {
        let empty = Map::new();
        let data = line.get("data").and_then(Value::as_object).unwrap_or(&empty);
        let agent = payload_keys::find_id(&line, &["agentId"]);
        known.ts = payload_keys::find_id(&line, &["timestamp"]).and_then(|ts| ts.parse().ok());
        let model = payload_keys::find_id(data, &["model", "selectedModel"]).or_else(|| known.model.clone());
        let context =
            EventContext { agent, model, turn: payload_keys::find_id(data, &["turnId"]), ..known.clone() };
        let text = |key: &'static str| data.get(key).and_then(Value::as_str).unwrap_or_default();
        match line.get("type").and_then(Value::as_str).unwrap_or_default() {
            "session.start" => {
                known.session = payload_keys::find_id(data, &["sessionId"]);
                known.cwd = payload_keys::find_id(data, &["context.cwd"]);
                known.project = payload_keys::find_id(data, &["context.gitRoot", "context.cwd"]);
                known.model = payload_keys::find_id(data, &["selectedModel"]);
                reader.emit_session_start(&known);
            }
            "session.model_change" if context.agent.is_none() => {
                known.model = payload_keys::find_id(data, &["newModel"]).or_else(|| known.model.take());
            }
            "user.message" if context.agent.is_none() => {
                let mark = payload_keys::find_id(&line, &["id"]).unwrap_or_default();
                reader.emit_prompt(&context, &mark, text("content"));
            }
            "subagent.started" => {
                let agent_type = payload_keys::find_id(data, &["agentType", "agentName"]);
                reader.emit_subagent_start(&EventContext { agent_type, ..context });
            }
            "tool.execution_start" => {
                let server = payload_keys::find_id(data, &["mcpServerName"])
                    .zip(payload_keys::find_id(data, &["mcpToolName"]));
                let server = server.map(|(server, tool)| McpToolId::new(server, tool));
                let args = data.get("arguments").cloned().unwrap_or_default();
                reader.emit_call(&context, text("toolCallId"), text("toolName"), args, server);
            }
            "tool.execution_complete" => reader.emit_result(&context, text("toolCallId"), tool_result(data)),
            kind if kind.split('.').next().is_some_and(|first| IGNORED_TYPES.contains(&first)) => {}
            "tool.user_requested" | "tool.execution_partial_result" | "tool.execution_progress" => {}
            kind => reader.report_unknown(kind),
        }
    })
}

fn tool_result(data: &Map<String, Value>) -> RecordedToolResult {
    let output = data.get("result").cloned();
    let exit = data.get("shellExecution").and_then(|shell| shell.get("exitCode")).and_then(Value::as_i64);
    let failed = data.get("success").and_then(Value::as_bool) == Some(false);
    let error = (failed || exit.is_some_and(|code| code != 0)).then(|| {
        payload_keys::find_text(data, &["error.message", "error", "result.content"]).unwrap_or_default()
    });
    RecordedToolResult { error, output, duration_ms: None }
}
