// SPDX-License-Identifier: Apache-2.0 OR MIT

//! pi's transcripts: `sessions/--<directory>--/<time>_<session>.jsonl`. The entries form a tree of branches.
//! Everything in all branches has happened, so all entries are read in file order.

use std::path::Path;

use serde_json::{Map, Value};
use tenterhook_harness::payload_keys;

use crate::{EventContext, RecordedToolResult, TranscriptReader, Transcripts, read_json_lines};

pub(super) const TRANSCRIPTS: Transcripts = Transcripts {
    variables: &["PI_CODING_AGENT_DIR", "PI_CODING_AGENT_SESSION_DIR"],
    directories: |machine| {
        let own = machine.variable("PI_CODING_AGENT_SESSION_DIR");
        let usual = || Some(machine.variable_or("PI_CODING_AGENT_DIR", ".pi/agent")?.join("sessions"));
        own.or_else(usual).into_iter().collect()
    },
    is_transcript: |path| {
        path.iter().count() <= 2 && path.extension().is_some_and(|extension| extension == "jsonl")
    },
    read,
    usage: None,
};

/// Types of entries without tool calls.
const IGNORED_TYPES: &[&str] = &[
    "branch_summary",
    "compaction",
    "context_edit",
    "custom",
    "custom_message",
    "label",
    "session_info",
    "thinking_level_change",
    "usage",
];

fn read(path: &Path, reader: &mut TranscriptReader<'_>) -> std::io::Result<()> {
    let mut known = EventContext::default();
    read_json_lines(path, reader, &mut |entry, reader| {
        known.ts = payload_keys::find_id(&entry, &["timestamp"]).and_then(|ts| ts.parse().ok());
        match entry.get("type").and_then(Value::as_str).unwrap_or_default() {
            "session" => {
                known.session = payload_keys::find_id(&entry, &["id"]);
                known.cwd = payload_keys::find_id(&entry, &["cwd"]);
                known.project.clone_from(&known.cwd);
                reader.emit_session_start(&known);
            }
            "model_change" => {
                known.model = payload_keys::find_id(&entry, &["modelId"]).or_else(|| known.model.take());
            }
            "message" => {
                let mark = payload_keys::find_id(&entry, &["id"]).unwrap_or_default();
                if let Some(message) = entry.get("message").and_then(Value::as_object) {
                    read_message(message, &mark, &known, reader);
                }
            }
            kind if IGNORED_TYPES.contains(&kind) => {}
            kind => reader.report_unknown(kind),
        }
    })
}

fn read_message(
    message: &Map<String, Value>,
    mark: &str,
    known: &EventContext,
    reader: &mut TranscriptReader<'_>,
) {
    let context = EventContext {
        model: payload_keys::find_id(message, &["model"]).or_else(|| known.model.clone()),
        ..known.clone()
    };
    match message.get("role").and_then(Value::as_str).unwrap_or_default() {
        "user" => reader.emit_prompt(&context, mark, &content_text(message)),
        "assistant" => {
            let parts = message.get("content").and_then(Value::as_array).into_iter().flatten();
            let calls = parts.filter(|part| part.get("type").and_then(Value::as_str) == Some("toolCall"));
            for call in calls.filter_map(Value::as_object) {
                report_call(call, &context, reader);
            }
        }
        "toolResult" => {
            // Reads the calls that a `codemode` script made.
            let nested = payload_keys::find_value(message, &["nestedCalls.calls"]).and_then(Value::as_array);
            for call in nested.into_iter().flatten().filter_map(Value::as_object) {
                report_call(call, &context, reader);
                let failed = payload_keys::find_text(call, &["status"]).is_some_and(|status| status != "ok");
                let error = failed.then(|| payload_keys::find_text(call, &["error"]).unwrap_or_default());
                let duration_ms = call.get("durationMs").and_then(Value::as_u64);
                let id = payload_keys::find_text(call, &["id"]).unwrap_or_default();
                reader.emit_result(&context, &id, RecordedToolResult { error, output: None, duration_ms });
            }
            let failed = message.get("isError").and_then(Value::as_bool) == Some(true);
            let ended = RecordedToolResult {
                error: failed.then(|| content_text(message)),
                output: message.get("content").cloned(),
                duration_ms: message.get("durationMs").and_then(Value::as_u64),
            };
            reader.emit_result(
                &context,
                &payload_keys::find_text(message, &["toolCallId"]).unwrap_or_default(),
                ended,
            );
        }
        // Ignores system prompts, the user's commands, summaries and messages from extensions.
        _ => {}
    }
}

fn report_call(call: &Map<String, Value>, context: &EventContext, reader: &mut TranscriptReader<'_>) {
    let text = |key: &'static str| call.get(key).and_then(Value::as_str).unwrap_or_default();
    let args = call.get("arguments").cloned().unwrap_or_default();
    reader.emit_call(context, text("id"), text("name"), args, None);
}

/// Text of a message, whose content is a string or a list of parts.
fn content_text(message: &Map<String, Value>) -> String {
    match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}
