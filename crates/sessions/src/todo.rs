// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The agent's own list of what is to do, as its tool calls say it.
//!
//! Most harnesses send the whole list with every change: `TodoWrite`, `todowrite`, `update_plan` of Codex,
//! `write_todos` of Gemini CLI. Claude Code's tasks are made and changed one by one: `TaskCreate` gets its id
//! only with its answer, `TaskUpdate` names it.

use serde_json::Value;
use tenterhook_api::{SessionTodos, TodoItem, TodoProgress};
use tenterhook_event::ToolCall;

use tenterhook_records::sanitize;

const MOST: usize = 200;
const TEXT: usize = 300;

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Todo {
    pub(super) text: String,
    pub(super) status: String,
    /// How it is called while it is being done.
    pub(super) active_form: Option<String>,
    /// The harness's id for it, if it is changed by one.
    pub(super) id: Option<String>,
    /// The call that made it, until its answer tells the id.
    call: Option<String>,
}

/// The list.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Todos(pub(super) Vec<Todo>);

/// How far a list has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Progress {
    pub(super) all: usize,
    pub(super) completed: usize,
    pub(super) under_way: usize,
}

/// What a call of a to-do tool has come to.
pub(super) enum Call<'a> {
    /// It is about to run.
    Asked,
    /// It ran, and answered.
    Done(Option<&'a Value>),
    /// It did not run, or failed.
    Failed,
}

impl Todos {
    /// Brings the list up to date. Says whether it changed.
    pub(super) fn apply(&mut self, tool: &ToolCall, id: Option<&str>, call: &Call<'_>) -> bool {
        let before = self.0.clone();
        let args = &tool.args;
        let lists = ["todos", "plan", "items", "tasks", "todoList"];
        match (tool.name.as_str(), lists.iter().find_map(|key| args.get(key)?.as_array()), call) {
            (_, Some(_), Call::Failed) => {}
            (_, Some(list), _) => self.0 = list.iter().take(MOST).filter_map(read).collect(),
            ("TaskCreate", None, call) => self.create(args, id, call),
            ("TaskUpdate", None, Call::Asked | Call::Done(_)) => self.update(args),
            _ => {}
        }
        self.0 != before
    }

    fn create(&mut self, args: &Value, call: Option<&str>, how: &Call<'_>) {
        let known = self.0.iter().position(|todo| call.is_some() && todo.call.as_deref() == call);
        let told = match how {
            Call::Done(answer) => answer.and_then(|answer| {
                let task = answer.get("task").unwrap_or(answer);
                ["id", "taskId", "task_id"].iter().find_map(|key| word(task.get(key)?))
            }),
            Call::Asked => None,
            Call::Failed => {
                if let Some(known) = known {
                    self.0.remove(known);
                }
                return;
            }
        };
        if let Some(known) = known {
            if let Some(todo) = self.0.get_mut(known) {
                todo.id = told.or_else(|| todo.id.take());
            }
        } else if self.0.len() < MOST {
            // Until the answer tells: tasks are numbered as they are made.
            let id = Some(told.unwrap_or_else(|| (self.0.len() + 1).to_string()));
            let call = call.map(ToOwned::to_owned);
            self.0.extend(read(args).map(|todo| Todo { id, call, ..todo }));
        }
    }

    fn update(&mut self, args: &Value) {
        let id = ["taskId", "task_id", "id"].iter().find_map(|key| word(args.get(key)?));
        let status = args.get("status").and_then(Value::as_str);
        if status == Some("deleted") {
            self.0.retain(|todo| todo.id != id);
        } else if let Some(todo) = self.0.iter_mut().find(|todo| id.is_some() && todo.id == id) {
            if let Some(status) = status {
                todo.status = state(status);
            }
            if let Some(text) = text(args) {
                todo.text = text;
            }
            todo.active_form = active(args).or_else(|| todo.active_form.take());
        }
    }

    pub(super) fn progress(&self) -> Progress {
        let counted = |word: &str| self.0.iter().filter(|todo| todo.status == word).count();
        Progress { all: self.0.len(), completed: counted("completed"), under_way: counted("in_progress") }
    }
}

impl Todos {
    /// The items, as the API describes them.
    pub(super) fn items(&self) -> Vec<TodoItem> {
        let item = |todo: &Todo| {
            let Todo { text, status, active_form, id, call: _ } = todo.clone();
            TodoItem { text, status, active_form, id }
        };
        self.0.iter().map(item).collect()
    }

    /// The list, as the API describes it.
    pub(super) fn session_todos(&self) -> SessionTodos {
        SessionTodos { progress: self.progress().todo_progress(), items: Some(self.items()) }
    }
}

impl Progress {
    pub(super) fn todo_progress(self) -> TodoProgress {
        let Self { all, completed, under_way } = self;
        TodoProgress {
            all,
            completed,
            in_progress: under_way,
            pending: all.saturating_sub(completed + under_way),
            progress: format!("{completed}/{all}"),
        }
    }
}

fn read(item: &Value) -> Option<Todo> {
    let status = match item.get("status") {
        Some(Value::String(status)) => state(status),
        _ if item.get("done").or_else(|| item.get("completed")).and_then(Value::as_bool) == Some(true) => {
            "completed".to_owned()
        }
        _ => "pending".to_owned(),
    };
    let id = item.get("id").and_then(word);
    Some(Todo { text: text(item)?, status, active_form: active(item), id, call: None })
}

/// One word for each state, however a harness spells it; a word that is not known stays as it is.
fn state(status: &str) -> String {
    match status {
        "done" | "complete" | "completed" => "completed".to_owned(),
        "in_progress" | "in-progress" | "inProgress" | "active" | "doing" => "in_progress".to_owned(),
        "pending" | "todo" | "not-started" | "not_started" | "open" => "pending".to_owned(),
        "canceled" | "cancelled" => "cancelled".to_owned(),
        other => sanitize(other, TEXT),
    }
}

fn text(item: &Value) -> Option<String> {
    let keys = ["content", "step", "text", "subject", "title", "description"];
    let text = keys.iter().find_map(|key| item.get(key)?.as_str()).or(item.as_str())?;
    Some(sanitize(text, TEXT))
}

fn active(item: &Value) -> Option<String> {
    let text = ["activeForm", "active_form"].iter().find_map(|key| item.get(key)?.as_str())?;
    Some(sanitize(text, TEXT))
}

fn word(value: &Value) -> Option<String> {
    value.as_str().map(ToOwned::to_owned).or_else(|| value.as_u64().map(|number| number.to_string()))
}
