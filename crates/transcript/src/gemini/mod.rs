// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Gemini CLI's transcripts: `tmp/<project>/chats/session-….jsonl`. Transcripts of subagents are in a directory named
//! after the session's id. Older versions write one JSON document, `session-….json`, and rewrite it with every
//! message.

use std::io::Read as _;
use std::path::Path;

use serde_json::{Map, Value};

use crate::{
    EventContext, RecordedToolResult, TranscriptReader, Transcripts, UnreadPart, open_regular_file,
    read_json_lines,
};
use tenterhook_harness::{MAX_PAYLOAD_BYTES, payload_keys};

pub(super) const TRANSCRIPTS: Transcripts = Transcripts {
    variables: &["GEMINI_CLI_HOME"],
    directories: |machine| {
        let home = machine.variable("GEMINI_CLI_HOME").or_else(|| machine.home.map(Path::to_owned));
        home.map(|home| home.join(".gemini/tmp")).into_iter().collect()
    },
    is_transcript: |path| {
        let chats = path.iter().nth(1).is_some_and(|name| name == "chats");
        let extension = path.extension().and_then(|extension| extension.to_str());
        chats && matches!(extension, Some("json" | "jsonl"))
    },
    read,
    usage: None,
};

/// Types of messages without tool calls.
const IGNORED_TYPES: &[&str] = &["error", "info", "warning"];

fn read(path: &Path, reader: &mut TranscriptReader<'_>) -> std::io::Result<()> {
    let mut known = EventContext { project: read_project_root(path), ..EventContext::default() };
    known.cwd.clone_from(&known.project);
    let parent = parent_session(path);
    if path.extension().is_some_and(|extension| extension == "jsonl") {
        return read_json_lines(path, reader, &mut |line, reader| {
            if line.contains_key("sessionId") {
                emit_start(&line, parent.as_deref(), &mut known, reader);
            } else if let Some(set) = line.get("$set").and_then(Value::as_object) {
                read_messages(set, &mut known, reader);
            } else if line.contains_key("type") {
                read_message(&line, &mut known, reader);
            } else if !line.contains_key("$rewindTo") {
                reader.report_unknown(line.keys().next().map_or("", String::as_str));
            }
        });
    }
    let limit = u64::try_from(MAX_PAYLOAD_BYTES).unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    let file = open_regular_file(path)?;
    reader.report_progress(file.metadata()?.len());
    if file.take(limit + 1).read_to_end(&mut bytes)? > MAX_PAYLOAD_BYTES {
        reader.report_unread(UnreadPart::TooLong);
        return Ok(());
    }
    match serde_json::from_slice::<Value>(&bytes) {
        Ok(Value::Object(whole)) => {
            emit_start(&whole, parent.as_deref(), &mut known, reader);
            read_messages(&whole, &mut known, reader);
        }
        _ => reader.report_unread(UnreadPart::Broken),
    }
    Ok(())
}

fn emit_start(
    head: &Map<String, Value>,
    parent: Option<&str>,
    known: &mut EventContext,
    reader: &mut TranscriptReader<'_>,
) {
    known.ts = payload_keys::find_id(head, &["startTime"]).and_then(|ts| ts.parse().ok());
    known.session = payload_keys::find_id(head, &["sessionId"]);
    if let (Some(parent), true) = (parent, head.get("kind").is_some_and(|kind| kind == "subagent")) {
        known.agent = known.session.replace(parent.to_owned());
        reader.emit_subagent_start(known);
    } else {
        reader.emit_session_start(known);
    }
}

fn read_messages(holder: &Map<String, Value>, known: &mut EventContext, reader: &mut TranscriptReader<'_>) {
    let list = holder.get("messages").and_then(Value::as_array);
    for one in list.into_iter().flatten().filter_map(Value::as_object) {
        read_message(one, known, reader);
    }
}

fn read_message(one: &Map<String, Value>, known: &mut EventContext, reader: &mut TranscriptReader<'_>) {
    let text = |key: &'static str| one.get(key).and_then(Value::as_str).unwrap_or_default();
    known.ts = text("timestamp").parse().ok();
    match text("type") {
        "user" => {
            let text_content = message_text(one.get("content"));
            // The client itself writes the first message, which describes the environment.
            if !text_content.is_empty()
                && !text_content.starts_with("<session_context>")
                && known.agent.is_none()
            {
                reader.emit_prompt(known, text("id"), &text_content);
            }
        }
        "gemini" => {
            known.model = payload_keys::find_id(one, &["model"]).or_else(|| known.model.take());
            let calls = one.get("toolCalls").and_then(Value::as_array).into_iter().flatten();
            for call in calls.filter_map(Value::as_object) {
                read_tool_call(call, known, reader);
            }
        }
        kind if IGNORED_TYPES.contains(&kind) => {}
        kind => reader.report_unknown(kind),
    }
}

/// Reads a call and its result, which are in the same message. The client writes a message again when it changes.
fn read_tool_call(call: &Map<String, Value>, known: &EventContext, reader: &mut TranscriptReader<'_>) {
    let text = |key: &'static str| call.get(key).and_then(Value::as_str).unwrap_or_default();
    let args = call.get("args").cloned().unwrap_or_default();
    reader.emit_call(known, text("id"), text("name"), args, None);
    let context = EventContext { ts: text("timestamp").parse().ok().or(known.ts), ..known.clone() };
    let output = call.get("result").cloned();
    let response = |key: &'static str| {
        let first = output.as_ref()?.get(0)?.get("functionResponse")?.get("response")?;
        Some(first.get(key)?.as_str().map_or_else(|| first.to_string(), ToOwned::to_owned))
    };
    let error = match text("status") {
        "success" => response("output").filter(|output| output.contains("\nExit Code: ")),
        "error" | "cancelled" => Some(response("error").unwrap_or_else(|| text("status").to_owned())),
        // The call has not ended yet.
        _ => return,
    };
    reader.emit_result(&context, text("id"), RecordedToolResult { error, output, duration_ms: None });
}

/// Text of a message: a string in older versions, a list of parts in newer versions.
fn message_text(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(pieces)) => {
            let texts: Vec<_> = pieces.iter().filter_map(|piece| piece.get("text")?.as_str()).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

/// Directory of the project, from a file next to the chats.
fn read_project_root(path: &Path) -> Option<String> {
    let mut above = path.ancestors();
    let chats = above.find(|directory| directory.file_name().is_some_and(|name| name == "chats"))?;
    let mut text = String::new();
    open_regular_file(&chats.parent()?.join(".project_root"))
        .ok()?
        .take(1 << 16)
        .read_to_string(&mut text)
        .ok()?;
    Some(text.trim().to_owned()).filter(|root| !root.is_empty())
}

/// Session that a subagent belongs to: the name of the directory that contains the subagent's transcript.
fn parent_session(path: &Path) -> Option<String> {
    let directory = path.parent()?.file_name()?.to_str()?;
    (directory != "chats").then(|| directory.to_owned())
}
