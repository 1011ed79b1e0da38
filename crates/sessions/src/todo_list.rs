// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The agent's todo list, from its tool calls.
//!
//! Most harnesses send the whole list with every change: `TodoWrite`, `todowrite`, `update_plan` of Codex,
//! `write_todos` of Gemini CLI. Claude Code creates and updates tasks one by one: the result of `TaskCreate` contains
//! the id, and `TaskUpdate` refers to it.

use serde_json::Value;
use tenterhook_api::{SessionTodo, SessionTodos, TodoProgress};
use tenterhook_event::ToolCall;

use tenterhook_records::sanitize;

const MAX_TODOS: usize = 200;
const MAX_TODO_CHARS: usize = 300;

/// One entry of an agent's todo list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TodoEntry {
    pub(super) text: String,
    pub(super) status: String,
    /// Text to show while the todo is in progress.
    pub(super) active_form: Option<String>,
    /// Id of the todo in the harness, if it has one.
    pub(super) id: Option<String>,
    /// Id of the tool call that created the todo, until its result contains the todo's id.
    call: Option<String>,
}

/// The todo list of a session.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct TodoTracker(pub(super) Vec<TodoEntry>);

/// Number of todos by status.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct TodoCounts {
    pub(super) all: usize,
    pub(super) completed: usize,
    pub(super) in_progress: usize,
}

/// State of a call to a todo tool.
pub(super) enum TodoCallPhase<'a> {
    /// The tool is about to run.
    Asked,
    /// The tool ran and returned this result.
    Done(Option<&'a Value>),
    /// The tool did not run, or failed.
    Failed,
}

impl TodoTracker {
    /// Updates the list from a tool call. Returns whether it changed.
    pub(super) fn apply(&mut self, tool: &ToolCall, id: Option<&str>, call: &TodoCallPhase<'_>) -> bool {
        let before = self.0.clone();
        let args = &tool.args;
        let lists = ["todos", "plan", "items", "tasks", "todoList"];
        match (tool.name.as_str(), lists.iter().find_map(|key| args.get(key)?.as_array()), call) {
            (_, Some(_), TodoCallPhase::Failed) => {}
            (_, Some(list), _) => self.0 = list.iter().take(MAX_TODOS).filter_map(parse_todo).collect(),
            ("TaskCreate", None, call) => self.create(args, id, call),
            ("TaskUpdate", None, TodoCallPhase::Asked | TodoCallPhase::Done(_)) => self.update(args),
            _ => {}
        }
        self.0 != before
    }

    fn create(&mut self, args: &Value, call: Option<&str>, how: &TodoCallPhase<'_>) {
        let known = self.0.iter().position(|todo| call.is_some() && todo.call.as_deref() == call);
        let new_id = match how {
            TodoCallPhase::Done(answer) => answer.and_then(|answer| {
                let task = answer.get("task").unwrap_or(answer);
                ["id", "taskId", "task_id"].iter().find_map(|key| id_text(task.get(key)?))
            }),
            TodoCallPhase::Asked => None,
            TodoCallPhase::Failed => {
                if let Some(known) = known {
                    self.0.remove(known);
                }
                return;
            }
        };
        if let Some(known) = known {
            if let Some(todo) = self.0.get_mut(known) {
                todo.id = new_id.or_else(|| todo.id.take());
            }
        } else if self.0.len() < MAX_TODOS {
            // The id is a guess until the result is known: tasks are numbered in the order of creation.
            let id = Some(new_id.unwrap_or_else(|| (self.0.len() + 1).to_string()));
            let call = call.map(ToOwned::to_owned);
            self.0.extend(parse_todo(args).map(|todo| TodoEntry { id, call, ..todo }));
        }
    }

    fn update(&mut self, args: &Value) {
        let id = ["taskId", "task_id", "id"].iter().find_map(|key| id_text(args.get(key)?));
        let status = args.get("status").and_then(Value::as_str);
        if status == Some("deleted") {
            self.0.retain(|todo| todo.id != id);
        } else if let Some(todo) = self.0.iter_mut().find(|todo| id.is_some() && todo.id == id) {
            if let Some(status) = status {
                todo.status = normalize_status(status);
            }
            if let Some(text) = todo_text(args) {
                todo.text = text;
            }
            todo.active_form = active_form_of(args).or_else(|| todo.active_form.take());
        }
    }

    pub(super) fn progress(&self) -> TodoCounts {
        let counted = |word: &str| self.0.iter().filter(|todo| todo.status == word).count();
        TodoCounts { all: self.0.len(), completed: counted("completed"), in_progress: counted("in_progress") }
    }
}

impl TodoTracker {
    /// Converts the items to the API type.
    pub(super) fn items(&self) -> Vec<SessionTodo> {
        let item = |todo: &TodoEntry| {
            let TodoEntry { text, status, active_form, id, call: _ } = todo.clone();
            SessionTodo { text, status, active_form, id }
        };
        self.0.iter().map(item).collect()
    }

    /// Converts the list to the API type.
    pub(super) fn session_todos(&self) -> SessionTodos {
        SessionTodos { progress: self.progress().todo_progress(), items: Some(self.items()) }
    }
}

impl TodoCounts {
    pub(super) fn todo_progress(self) -> TodoProgress {
        let Self { all, completed, in_progress } = self;
        TodoProgress {
            all,
            completed,
            in_progress,
            pending: all.saturating_sub(completed + in_progress),
            progress: format!("{completed}/{all}"),
        }
    }
}

fn parse_todo(item: &Value) -> Option<TodoEntry> {
    let status = match item.get("status") {
        Some(Value::String(status)) => normalize_status(status),
        _ if item.get("done").or_else(|| item.get("completed")).and_then(Value::as_bool) == Some(true) => {
            "completed".to_owned()
        }
        _ => "pending".to_owned(),
    };
    let id = item.get("id").and_then(id_text);
    Some(TodoEntry { text: todo_text(item)?, status, active_form: active_form_of(item), id, call: None })
}

/// Maps the status names of all harnesses to one name each. Unknown names are kept.
fn normalize_status(status: &str) -> String {
    match status {
        "done" | "complete" | "completed" => "completed".to_owned(),
        "in_progress" | "in-progress" | "inProgress" | "active" | "doing" => "in_progress".to_owned(),
        "pending" | "todo" | "not-started" | "not_started" | "open" => "pending".to_owned(),
        "canceled" | "cancelled" => "cancelled".to_owned(),
        other => sanitize(other, MAX_TODO_CHARS),
    }
}

fn todo_text(item: &Value) -> Option<String> {
    let keys = ["content", "step", "text", "subject", "title", "description"];
    let text = keys.iter().find_map(|key| item.get(key)?.as_str()).or(item.as_str())?;
    Some(sanitize(text, MAX_TODO_CHARS))
}

fn active_form_of(item: &Value) -> Option<String> {
    let text = ["activeForm", "active_form"].iter().find_map(|key| item.get(key)?.as_str())?;
    Some(sanitize(text, MAX_TODO_CHARS))
}

fn id_text(value: &Value) -> Option<String> {
    value.as_str().map(ToOwned::to_owned).or_else(|| value.as_u64().map(|number| number.to_string()))
}
