// SPDX-License-Identifier: Apache-2.0 OR MIT

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::{Around, Output, Tool, ToolFailed, spec};
use crate::provider::ToolSpec;

const STATES: &[&str] = &["pending", "in_progress", "completed"];

/// Keeps the list of what is to do. The list is in the call itself: whoever looks on reads it there.
pub(super) struct TodoWrite;

impl Tool for TodoWrite {
    fn spec(&self) -> ToolSpec {
        let about = "Writes down what is to do and how far it is: the whole list, every time.";
        let item = json!({
            "type": "object",
            "properties": {"content": {"type": "string"}, "status": {"type": "string", "enum": STATES}},
            "required": ["content", "status"],
        });
        spec("TodoWrite", about, &json!({"todos": {"type": "array", "items": item}}), &["todos"])
    }

    fn run<'a>(&'a self, args: &'a Value, _: &'a Around) -> BoxFuture<'a, Result<Output, ToolFailed>> {
        Box::pin(std::future::ready(run(args)))
    }
}

fn run(args: &Value) -> Result<Output, ToolFailed> {
    let todos = args.get("todos").and_then(Value::as_array);
    let todos = todos.ok_or_else(|| ToolFailed::new("`todos` should be a list"))?;
    let mut done = 0;
    for todo in todos {
        let part = |key: &str| todo.get(key).and_then(Value::as_str);
        match (part("content"), part("status")) {
            (Some(_), Some(status)) if STATES.contains(&status) => done += usize::from(status == "completed"),
            _ => {
                let known = STATES.join("`, `");
                return Err(ToolFailed::new(format!(
                    "{todo} should have `content` and `status` (`{known}`)"
                )));
            }
        }
    }
    Ok(Output::text(format!("noted: {done} of {} done", todos.len())))
}
