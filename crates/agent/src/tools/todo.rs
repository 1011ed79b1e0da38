// SPDX-License-Identifier: Apache-2.0 OR MIT

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::{AgentTool, ToolContext, ToolFailure, ToolOutput, tool_spec};
use crate::provider::ToolSpec;

const TODO_STATUSES: &[&str] = &["pending", "in_progress", "completed"];

/// The `TodoWrite` tool: records the todo list. Nothing is stored, because observers read the list from the call.
pub(super) struct TodoTool;

impl AgentTool for TodoTool {
    fn spec(&self) -> ToolSpec {
        let about = "Records the todo list. Pass the complete list with every call.";
        let item = json!({
            "type": "object",
            "properties": {"content": {"type": "string"}, "status": {"type": "string", "enum": TODO_STATUSES}},
            "required": ["content", "status"],
        });
        tool_spec("TodoWrite", about, &json!({"todos": {"type": "array", "items": item}}), &["todos"])
    }

    fn run<'a>(
        &'a self,
        args: &'a Value,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolFailure>> {
        Box::pin(std::future::ready(run(args)))
    }
}

fn run(args: &Value) -> Result<ToolOutput, ToolFailure> {
    let todos = args.get("todos").and_then(Value::as_array);
    let todos = todos.ok_or_else(|| ToolFailure::new("`todos` must be a list"))?;
    let mut done = 0;
    for todo in todos {
        let part = |key: &str| todo.get(key).and_then(Value::as_str);
        match (part("content"), part("status")) {
            (Some(_), Some(status)) if TODO_STATUSES.contains(&status) => {
                done += usize::from(status == "completed");
            }
            _ => {
                let known = TODO_STATUSES.join("`, `");
                return Err(ToolFailure::new(format!(
                    "{todo} must have `content` and `status` (one of `{known}`)"
                )));
            }
        }
    }
    Ok(ToolOutput::text(format!("recorded: {done} of {} done", todos.len())))
}
