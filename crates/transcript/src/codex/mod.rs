// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Codex's transcripts: `sessions/<year>/<month>/<day>/rollout-….jsonl`, one file per agent. A subagent's file names
//! the session it belongs to.

mod usage;

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::{EventContext, RecordedToolResult, TranscriptReader, Transcripts, UnreadPart, read_json_lines};
use tenterhook_harness::payload_keys;

pub(super) const TRANSCRIPTS: Transcripts = Transcripts {
    variables: &["CODEX_HOME"],
    directories: |machine| {
        let home = machine.variable_or("CODEX_HOME", ".codex");
        let below = |home: std::path::PathBuf| [home.join("sessions"), home.join("archived_sessions")];
        home.map(below).into_iter().flatten().collect()
    },
    is_transcript: |path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("rollout-") && path.extension().is_some_and(|extension| extension == "jsonl")
    },
    read,
    usage: Some(usage::USAGE),
};

/// Types of lines that are about the client itself or repeat the conversation.
const IGNORED_TYPES: &[&str] = &["compacted", "event_msg", "token_usage_record", "world_state"];

/// Types of conversation items that contain no calls to local tools.
const IGNORED_ITEM_TYPES: &[&str] = &["ghost_snapshot", "message", "reasoning", "web_search_call"];

fn read(path: &Path, reader: &mut TranscriptReader<'_>) -> std::io::Result<()> {
    let mut known = EventContext::default();
    read_json_lines(path, reader, &mut |line, reader| {
        known.ts = payload_keys::find_id(&line, &["timestamp"]).and_then(|ts| ts.parse().ok());
        let empty = Map::new();
        let payload = line.get("payload").and_then(Value::as_object).unwrap_or(&empty);
        match line.get("type").and_then(Value::as_str).unwrap_or_default() {
            "session_meta" => {
                read_session_start(payload, &mut known);
                if known.agent.is_some() {
                    reader.emit_subagent_start(&known);
                } else {
                    reader.emit_session_start(&known);
                }
            }
            "turn_context" => {
                for (place, now) in
                    [("turn_id", &mut known.turn), ("cwd", &mut known.cwd), ("model", &mut known.model)]
                {
                    if let Some(value) = payload.get(place).and_then(Value::as_str) {
                        *now = Some(value.to_owned());
                    }
                }
            }
            "response_item" => read_item(payload, &known, reader),
            kind if IGNORED_TYPES.contains(&kind) => {}
            kind => reader.report_unknown(kind),
        }
    })
}

fn read_session_start(payload: &Map<String, Value>, known: &mut EventContext) {
    let id = payload_keys::find_id(payload, &["id"]);
    known.session = payload_keys::find_id(payload, &["session_id", "id"]);
    known.cwd = payload_keys::find_id(payload, &["cwd"]);
    known.project.clone_from(&known.cwd);
    known.agent_parent = payload_keys::find_id(
        payload,
        &["parent_thread_id", "source.subagent.thread_spawn.parent_thread_id"],
    );
    if known.agent_parent.is_some() {
        known.agent = id;
        known.agent_type = payload_keys::find_id(
            payload,
            &["source.subagent.thread_spawn.agent_role", "agent_role", "agent_nickname"],
        );
    }
}

/// Reads one item of the conversation.
fn read_item(payload: &Map<String, Value>, known: &EventContext, reader: &mut TranscriptReader<'_>) {
    let text = |key: &'static str| payload.get(key).and_then(Value::as_str).unwrap_or_default();
    let call_id = if text("call_id").is_empty() { text("id") } else { text("call_id") };
    match text("type") {
        "message" if text("role") == "user" => prompt(payload, known, reader),
        "function_call" => match serde_json::from_str(text("arguments")) {
            // Tools are grouped in namespaces. The name of an MCP tool consists of its namespace and its own name.
            Ok(args) if text("namespace").starts_with("mcp__") => {
                let name = format!("{}__{}", text("namespace").trim_end_matches('_'), text("name"));
                reader.emit_call(known, call_id, &name, args, None);
            }
            Ok(args) => reader.emit_call(known, call_id, text("name"), args, None),
            Err(_) => reader.report_unread(UnreadPart::Partial),
        },
        "custom_tool_call" => {
            // The input is a single string. For `apply_patch`, this string is the patch.
            let key = if text("name") == "apply_patch" { "patch" } else { "input" };
            reader.emit_call(known, call_id, text("name"), json!({key: text("input")}), None);
        }
        "local_shell_call" => {
            let args = payload.get("action").cloned().unwrap_or_default();
            reader.emit_call(known, call_id, "local_shell", args, None);
        }
        "function_call_output" | "custom_tool_call_output" => {
            let output = payload.get("output").cloned().unwrap_or_default();
            let error = error_of_output(&output);
            reader.emit_result(
                known,
                call_id,
                RecordedToolResult { error, output: Some(output), duration_ms: None },
            );
        }
        kind if IGNORED_ITEM_TYPES.contains(&kind) => {}
        kind => reader.report_unknown(&format!("response_item/{kind}")),
    }
}

/// Emits text that the user typed. Text that the client adds in the user's name has a different origin, or begins
/// with a tag.
fn prompt(payload: &Map<String, Value>, known: &EventContext, reader: &mut TranscriptReader<'_>) {
    let pieces = payload.get("content").and_then(Value::as_array).into_iter().flatten();
    let texts: Vec<_> = pieces.filter_map(|piece| piece.get("text")?.as_str()).collect();
    let text = texts.join("\n");
    let origin = payload_keys::find_id(
        payload,
        &["internal_chat_message_metadata_passthrough.content_item_metadata.0.provenance.type"],
    );
    let typed = origin.map_or_else(|| !text.starts_with('<'), |origin| origin == "user");
    if typed && known.agent.is_none() {
        let mark = payload_keys::find_id(payload, &["id"]).unwrap_or_else(|| text.clone());
        reader.emit_prompt(known, &mark, &text);
    }
}

/// Returns the error of a call. Older versions write the exit code into a JSON string, newer versions into the text
/// for the model.
fn error_of_output(output: &Value) -> Option<String> {
    if output.get("success").and_then(Value::as_bool) == Some(false) {
        return Some(output.get("content").and_then(Value::as_str).unwrap_or_default().to_owned());
    }
    let text = output.as_str()?;
    if let Ok(Value::Object(value)) = serde_json::from_str::<Value>(text) {
        let code =
            value.get("metadata").and_then(|metadata| metadata.get("exit_code")).and_then(Value::as_i64);
        return code.filter(|code| *code != 0).map(|_| text.to_owned());
    }
    let code = text.lines().take(6).find_map(|line| line.strip_prefix("Process exited with code "));
    let refused =
        text.lines().next().is_some_and(|line| line.contains(" failed: ") || line.contains(" failed for "));
    (code.is_some_and(|code| code.trim() != "0") || refused).then(|| text.to_owned())
}
