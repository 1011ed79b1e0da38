// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Recognises that several events belong to one tool call. A gate is an event for which a deny prevents a tool from
//! running.

use std::path::{Path, PathBuf};

use tenterhook_event::{Event, EventKind, ToolCall, ToolClass, ToolCommand};

/// Returns a key that is equal for all gates of one tool call, so that one decision answers all of them. For example,
/// Cursor reports a command as `preToolUse` and again as `beforeShellExecution`, but only `preToolUse` contains the
/// tool's id. The key contains what the call would do, so a different call never has the same key.
pub fn same_call_key(event: &Event) -> Option<String> {
    if !matches!(event.event, EventKind::PreTool | EventKind::PermissionRequest) {
        return None;
    }
    let tool = event.tool.as_ref()?;
    let session = event.harness_session_id.as_deref()?;
    let turn = event.turn_id.as_deref().unwrap_or_default();
    let parts =
        serde_json::json!([event.source, session, turn, tool.class.name(), what(tool, event.cwd.as_deref())]);
    Some(parts.to_string())
}

/// Returns what the call would do. Uses only fields that every gate provides.
fn what(tool: &ToolCall, cwd: Option<&str>) -> serde_json::Value {
    match tool.class {
        ToolClass::Shell => {
            let commands = tool.commands();
            let commands: serde_json::Value = commands
                .iter()
                .map(|command| match command {
                    ToolCommand::Text(text) => serde_json::json!(text),
                    ToolCommand::Argv(words) => serde_json::json!(words),
                })
                .collect();
            serde_json::json!([commands, places(tool, cwd)])
        }
        ToolClass::Read => serde_json::json!(tool.paths()),
        ToolClass::Mcp => {
            let name = tool.mcp.as_ref().map_or(tool.name.as_str(), |mcp| mcp.tool.as_str());
            let mut args = tool.args.clone();
            // The URL is removed, because possibly only one of the gates knows it.
            if let Some(args) = args.as_object_mut() {
                args.remove("url");
            }
            serde_json::json!([name, args])
        }
        _ => serde_json::json!([tool.name, tool.args]),
    }
}

/// Returns the directories in which a command runs. One gate sends them in the tool's arguments, another in separate
/// fields.
fn places(tool: &ToolCall, cwd: Option<&str>) -> Vec<Option<PathBuf>> {
    let named = tool.working_directories();
    if named.is_empty() {
        return vec![cwd.map(PathBuf::from)];
    }
    named.into_iter().map(|text| Some(Path::new(cwd.unwrap_or_default()).join(text?))).collect()
}
