// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Claude Code's transcripts: `projects/<directory>/<session>.jsonl`, and a directory with the session's name that has one file
//! for each of its subagents.

mod usage;

use std::path::Path;

use serde_json::{Map, Value};

use crate::{Around, Ended, Teller, Transcripts, json_lines, regular};
use tenterhook_harness::payload_keys;

pub(super) const TRANSCRIPTS: Transcripts = Transcripts {
    variables: &["CLAUDE_CONFIG_DIR"],
    places: |ground| {
        let settings = ground.variable_or("CLAUDE_CONFIG_DIR", ".claude");
        settings.map(|directory| directory.join("projects")).into_iter().collect()
    },
    is_one: |path| path.extension().is_some_and(|extension| extension == "jsonl"),
    read,
    usage: Some(usage::USAGE),
};

/// Lines about the client itself, without tool calls.
const BESIDE: &[&str] = &[
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

fn read(path: &Path, teller: &mut Teller<'_>) -> std::io::Result<()> {
    let agent_type = agent_type(path);
    // The directory in which the session began is its project, even if the agent changes directories later.
    let mut project = None;
    let mut begun = false;
    json_lines(path, teller, &mut |line, teller| {
        let kind = line.get("type").and_then(Value::as_str).unwrap_or_default();
        if !matches!(kind, "user" | "assistant") {
            if !BESIDE.contains(&kind) {
                teller.unknown(kind);
            }
            return;
        }
        let mut around = around(&line);
        if project.is_none() {
            project.clone_from(&around.cwd);
        }
        around.project.clone_from(&project);
        if around.agent.is_some() {
            around.agent_type.clone_from(&agent_type);
        }
        if !begun {
            begun = true;
            if around.agent.is_some() { teller.subagent(&around) } else { teller.session(&around) }
        }
        match line.get("message").and_then(|message| message.get("content")) {
            Some(Value::String(text)) => prompt(&line, text, &around, teller),
            Some(Value::Array(blocks)) => {
                for block in blocks.iter().filter_map(Value::as_object) {
                    piece(&line, block, &around, teller);
                }
            }
            _ => {}
        }
    })
}

fn around(line: &Map<String, Value>) -> Around {
    let agent = payload_keys::find_id(line, &["agentId"]);
    let sidechain = line.get("isSidechain").and_then(Value::as_bool).unwrap_or_default();
    let model = payload_keys::find_id(line, &["message.model"]);
    Around {
        ts: payload_keys::find_id(line, &["timestamp"]).and_then(|ts| ts.parse().ok()),
        session: payload_keys::find_id(line, &["sessionId"]),
        turn: payload_keys::find_id(line, &["promptId"]),
        cwd: payload_keys::find_id(line, &["cwd"]),
        // A message of the client itself, such as an error, has no model.
        model: model.filter(|model| !model.starts_with('<')),
        agent: agent.or_else(|| sidechain.then(|| "sidechain".to_owned())),
        ..Around::default()
    }
}

/// One block of a message.
fn piece(line: &Map<String, Value>, block: &Map<String, Value>, around: &Around, teller: &mut Teller<'_>) {
    let text = |key: &'static str| block.get(key).and_then(Value::as_str).unwrap_or_default();
    match text("type") {
        "tool_use" => {
            let args = block.get("input").cloned().unwrap_or_default();
            teller.call(around, text("id"), text("name"), args, None);
        }
        "tool_result" => {
            let failed = block.get("is_error").and_then(Value::as_bool).unwrap_or_default();
            let content = block.get("content").cloned();
            let error = failed.then(|| content.as_ref().map_or_else(String::new, shown));
            teller.result(around, text("tool_use_id"), Ended { error, output: content, duration_ms: None });
        }
        "text" if line.get("type").is_some_and(|kind| kind == "user") => {
            prompt(line, text("text"), around, teller);
        }
        _ => {}
    }
}

/// Text that the user typed; not text that the client inserts, or an agent's prompt for its subagent.
fn prompt(line: &Map<String, Value>, text: &str, around: &Around, teller: &mut Teller<'_>) {
    let is = |key: &str| line.get(key).and_then(Value::as_bool).unwrap_or_default();
    let said = line.get("type").is_some_and(|kind| kind == "user");
    if said && around.agent.is_none() && !is("isMeta") && !is("isCompactSummary") {
        let mark = payload_keys::find_id(line, &["uuid"]).unwrap_or_default();
        teller.prompt(around, &mark, text);
    }
}

fn shown(content: &Value) -> String {
    content.as_str().map_or_else(|| content.to_string(), ToOwned::to_owned)
}

/// Type of a subagent, from a small file next to its transcript.
fn agent_type(path: &Path) -> Option<String> {
    use std::io::Read as _;
    let beside = path.with_extension("meta.json");
    let mut text = String::new();
    regular(&beside).ok()?.take(1 << 16).read_to_string(&mut text).ok()?;
    let meta: Value = serde_json::from_str(&text).ok()?;
    meta.get("agentType")?.as_str().map(ToOwned::to_owned)
}
