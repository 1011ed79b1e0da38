// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The agent's own list of what is to do, as its tool calls say it.

use serde::Serialize;
use serde_json::Value;
use tenterhook_event::ToolCall;

use super::clean;

const MOST: usize = 200;
const TEXT: usize = 300;

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Todo {
    pub(super) text: String,
    /// `pending`, `in_progress`, `completed`, or as the harness says it.
    pub(super) status: String,
    /// The harness's id for it, if it is changed by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<String>,
}

/// Brings a list up to date. Most harnesses send the whole list (`todos`, or `plan`); Claude Code's
/// tasks are made and changed one by one.
pub(super) fn apply(todos: &mut Vec<Todo>, tool: &ToolCall) {
    let args = &tool.args;
    if let Some(list) = ["todos", "plan", "items", "tasks"].iter().find_map(|key| args.get(key)?.as_array()) {
        *todos = list.iter().take(MOST).filter_map(read).collect();
        return;
    }
    let id = ["taskId", "task_id", "id"].iter().find_map(|key| word(args.get(key)?));
    match tool.name.as_str() {
        "TaskCreate" if todos.len() < MOST => {
            // The id is only known from the answer; tasks are numbered as they are made.
            let number = id.unwrap_or_else(|| (todos.len() + 1).to_string());
            todos.extend(read(args).map(|todo| Todo { id: Some(number), ..todo }));
        }
        "TaskUpdate" => {
            let status = args.get("status").and_then(Value::as_str);
            if status == Some("deleted") {
                todos.retain(|todo| todo.id != id);
            } else if let Some(todo) = todos.iter_mut().find(|todo| id.is_some() && todo.id == id) {
                if let Some(status) = status {
                    todo.status = clean(status, TEXT);
                }
                if let Some(text) = text(args) {
                    todo.text = text;
                }
            }
        }
        _ => {}
    }
}

fn read(item: &Value) -> Option<Todo> {
    let status = item.get("status").and_then(Value::as_str).unwrap_or("pending");
    Some(Todo { text: text(item)?, status: clean(status, TEXT), id: item.get("id").and_then(word) })
}

fn text(item: &Value) -> Option<String> {
    let keys = ["content", "step", "text", "subject", "title", "description"];
    let text = keys.iter().find_map(|key| item.get(key)?.as_str()).or(item.as_str())?;
    Some(clean(text, TEXT))
}

fn word(value: &Value) -> Option<String> {
    value.as_str().map(ToOwned::to_owned).or_else(|| value.as_u64().map(|number| number.to_string()))
}
