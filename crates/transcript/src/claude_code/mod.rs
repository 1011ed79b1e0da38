// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Claude Code's transcripts: `projects/<directory>/<session>.jsonl`. A directory with the session's name contains
//! one file per subagent.

mod usage;

use std::path::Path;

use serde_json::{Map, Value};

use crate::{
    EventContext, RecordedToolResult, TranscriptReader, Transcripts, open_regular_file, read_json_lines,
};
use tenterhook_harness::payload_keys;

pub(super) const TRANSCRIPTS: Transcripts = Transcripts {
    variables: &["CLAUDE_CONFIG_DIR"],
    directories: |machine| {
        let settings = machine.variable_or("CLAUDE_CONFIG_DIR", ".claude");
        settings.map(|directory| directory.join("projects")).into_iter().collect()
    },
    is_transcript: |path| path.extension().is_some_and(|extension| extension == "jsonl"),
    read,
    usage: Some(usage::USAGE),
};

/// Types of lines that are about the client itself and contain no tool calls.
const IGNORED_TYPES: &[&str] = &[
    "agent-name",
    "agent-setting",
    "ai-title",
    "api-request",
    "api-request-blob",
    "api-request-shape",
    "atis-latch",
    "attachment",
    "attribution-snapshot",
    "cost-state",
    "custom-title",
    "file-history-snapshot",
    "last-prompt",
    "mode",
    "permission-mode",
    "pr-link",
    "progress",
    "queue-operation",
    "summary",
    "system",
    "tag",
    "task-summary",
    "tools-used",
    "worktree-state",
];

fn read(path: &Path, reader: &mut TranscriptReader<'_>) -> std::io::Result<()> {
    let agent_type = read_agent_type(path);
    // The directory in which the session began is its project, even if the agent changes directories later.
    let mut project = None;
    let mut begun = false;
    read_json_lines(path, reader, &mut |line, reader| {
        let kind = line.get("type").and_then(Value::as_str).unwrap_or_default();
        if !matches!(kind, "user" | "assistant") {
            if !IGNORED_TYPES.contains(&kind) {
                reader.report_unknown(kind);
            }
            return;
        }
        let mut context = context_of_line(&line);
        if project.is_none() {
            project.clone_from(&context.cwd);
        }
        context.project.clone_from(&project);
        if context.agent.is_some() {
            context.agent_type.clone_from(&agent_type);
        }
        if !begun {
            begun = true;
            if context.agent.is_some() {
                reader.emit_subagent_start(&context);
            } else {
                reader.emit_session_start(&context);
            }
        }
        match line.get("message").and_then(|message| message.get("content")) {
            Some(Value::String(text)) => emit_user_prompt(&line, text, &context, reader),
            Some(Value::Array(blocks)) => {
                for block in blocks.iter().filter_map(Value::as_object) {
                    read_block(&line, block, &context, reader);
                }
            }
            _ => {}
        }
    })
}

fn context_of_line(line: &Map<String, Value>) -> EventContext {
    let agent = payload_keys::find_id(line, &["agentId"]);
    let sidechain = line.get("isSidechain").and_then(Value::as_bool).unwrap_or_default();
    let model = payload_keys::find_id(line, &["message.model"]);
    EventContext {
        ts: payload_keys::find_id(line, &["timestamp"]).and_then(|ts| ts.parse().ok()),
        session: payload_keys::find_id(line, &["sessionId"]),
        turn: payload_keys::find_id(line, &["promptId"]),
        cwd: payload_keys::find_id(line, &["cwd"]),
        // A message from the client itself, such as an error, has a placeholder such as `<synthetic>` as its model.
        model: model.filter(|model| !model.starts_with('<')),
        agent: agent.or_else(|| sidechain.then(|| "sidechain".to_owned())),
        ..EventContext::default()
    }
}

/// Reads one block of a message.
fn read_block(
    line: &Map<String, Value>,
    block: &Map<String, Value>,
    context: &EventContext,
    reader: &mut TranscriptReader<'_>,
) {
    let text = |key: &'static str| block.get(key).and_then(Value::as_str).unwrap_or_default();
    match text("type") {
        "tool_use" => {
            let args = block.get("input").cloned().unwrap_or_default();
            reader.emit_call(context, text("id"), text("name"), args, None);
        }
        "tool_result" => {
            let failed = block.get("is_error").and_then(Value::as_bool).unwrap_or_default();
            let content = block.get("content").cloned();
            let error = failed.then(|| content.as_ref().map_or_else(String::new, content_text));
            reader.emit_result(
                context,
                text("tool_use_id"),
                RecordedToolResult { error, output: content, duration_ms: None },
            );
        }
        "text" if line.get("type").is_some_and(|kind| kind == "user") => {
            emit_user_prompt(line, text("text"), context, reader);
        }
        _ => {}
    }
}

/// Emits text that the user typed. Text that the client inserts, and an agent's prompt for its subagent, are ignored.
fn emit_user_prompt(
    line: &Map<String, Value>,
    text: &str,
    context: &EventContext,
    reader: &mut TranscriptReader<'_>,
) {
    let is = |key: &str| line.get(key).and_then(Value::as_bool).unwrap_or_default();
    let is_user = line.get("type").is_some_and(|kind| kind == "user");
    if is_user && context.agent.is_none() && !is("isMeta") && !is("isCompactSummary") {
        let mark = payload_keys::find_id(line, &["uuid"]).unwrap_or_default();
        reader.emit_prompt(context, &mark, text);
    }
}

fn content_text(content: &Value) -> String {
    content.as_str().map_or_else(|| content.to_string(), ToOwned::to_owned)
}

/// Type of a subagent, from a small file next to its transcript.
fn read_agent_type(path: &Path) -> Option<String> {
    use std::io::Read as _;
    let metadata_file = path.with_extension("meta.json");
    let mut text = String::new();
    open_regular_file(&metadata_file).ok()?.take(1 << 16).read_to_string(&mut text).ok()?;
    let meta: Value = serde_json::from_str(&text).ok()?;
    meta.get("agentType")?.as_str().map(ToOwned::to_owned)
}
