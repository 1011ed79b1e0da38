// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::collections::BTreeMap;

use serde_json::Value;
use tenterhook_event::Decision;

use super::decision_row::parse_verdict;
use super::{array_field, field, number_field, optional_text, sorted_counts, text_field, time_ms};

/// Reason of a snapshot that a restore took of what it replaced.
const RESTORE_REASON: &str = "restore";

/// A session as a row of the list.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct SessionRow {
    /// The session's key, as `harness:id`.
    pub(crate) key: String,
    pub(crate) harness: String,
    pub(crate) id: String,
    pub(crate) state: String,
    pub(crate) title: String,
    pub(crate) model: String,
    pub(crate) cwd: String,
    pub(crate) started: u64,
    pub(crate) last: u64,
    pub(crate) events: u64,
    pub(crate) prompts: u64,
    pub(crate) subagents: u64,
    /// Number of completed todos, and of all todos.
    pub(crate) todos: (u64, u64),
    pub(crate) changed: u64,
    pub(crate) calls: u64,
    pub(crate) denied: u64,
    /// Cost in US dollars, if known.
    pub(crate) cost: Option<f64>,
    /// Number of replies from models without a known price.
    pub(crate) unpriced: u64,
    /// Numbers of tokens: input, output, context, context limit.
    pub(crate) tokens: [Option<u64>; 4],
}

/// Details of a session.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct SessionDetail {
    pub(crate) session: SessionRow,
    pub(crate) todos: Vec<(TodoMark, String)>,
    pub(crate) files: Vec<FileRow>,
    pub(crate) tools: Vec<ToolUseRow>,
    pub(crate) denials: Vec<DenialRow>,
    pub(crate) agents: Vec<String>,
    pub(crate) labels: Vec<String>,
    /// Calls that can be undone, newest first: the rules that matched, and the id of the snapshot.
    pub(crate) snapshots: Vec<(String, String)>,
}

/// Status of a todo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TodoMark {
    Open,
    Active,
    Done,
}

/// A changed file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FileRow {
    /// The last change: `W` written, `E` edited, `D` deleted.
    pub(crate) badge: char,
    pub(crate) path: String,
    pub(crate) times: u64,
    /// Numbers of lines added and removed.
    pub(crate) lines: (u64, u64),
}

/// How often a tool was used.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ToolUseRow {
    pub(crate) name: String,
    pub(crate) calls: u64,
    pub(crate) failed: u64,
    pub(crate) denied: u64,
    pub(crate) asked: u64,
}

/// A denied call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DenialRow {
    pub(crate) seq: u64,
    pub(crate) ts: u64,
    pub(crate) what: String,
    pub(crate) rule: String,
}

/// A step of a session's timeline.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TimelineRow {
    pub(crate) seq: u64,
    pub(crate) ts: u64,
    pub(crate) verdict: Decision,
    pub(crate) event: String,
    pub(crate) tool: String,
    pub(crate) what: String,
    pub(crate) rule: String,
}

impl SessionRow {
    /// Parses a list of sessions.
    pub(crate) fn parse_list(answer: &Value) -> Vec<Self> {
        array_field(answer, "sessions").iter().map(Self::parse).collect()
    }

    pub(crate) fn parse(value: &Value) -> Self {
        let (harness, id) = (text_field(value, "harness"), text_field(value, "id"));
        let (todos, usage, files) = (field(value, "todos"), field(value, "usage"), field(value, "files"));
        let titles = ["title", "last_prompt"];
        let count = |key| field(usage, key).as_u64();
        Self {
            key: format!("{harness}:{id}"),
            state: text_field(value, "state"),
            title: titles.iter().find_map(|key| optional_text(value, key)).unwrap_or_default(),
            model: text_field(value, "model"),
            cwd: optional_text(value, "project").unwrap_or_else(|| text_field(value, "cwd")),
            started: time_ms(value, "started"),
            last: time_ms(value, "last"),
            events: number_field(value, "events"),
            prompts: number_field(value, "prompts"),
            subagents: number_field(value, "subagents"),
            todos: (number_field(todos, "completed"), number_field(todos, "all")),
            changed: number_field(files, "changed"),
            calls: sorted_counts(field(value, "tools")).iter().map(|(_, count)| count).sum(),
            denied: number_field(field(value, "denied"), "all"),
            cost: field(usage, "cost_usd").as_f64(),
            unpriced: number_field(usage, "unpriced"),
            tokens: ["input_tokens", "output_tokens", "context_tokens", "context_limit"].map(count),
            harness,
            id,
        }
    }

    pub(crate) fn matches(&self, words: &[String]) -> bool {
        let parts = [&self.harness, &self.id, &self.state, &self.title, &self.model, &self.cwd];
        let search_text = parts.map(String::as_str).join(" ").to_lowercase();
        words.iter().all(|word| search_text.contains(word))
    }
}

impl SessionDetail {
    /// Returns the ids of the snapshots of calls, newest first, without those that a restore took.
    pub(crate) fn undoable(&self) -> impl Iterator<Item = &str> {
        let of_calls = self.snapshots.iter().filter(|(reason, _)| reason != RESTORE_REASON);
        of_calls.map(|(_, id)| id.as_str())
    }

    pub(crate) fn parse(value: &Value) -> Self {
        let results = field(value, "tool_results").as_object();
        let tools = sorted_counts(field(value, "tools")).into_iter().map(|(name, calls)| {
            let result = results.and_then(|results| results.get(&name)).unwrap_or(&Value::Null);
            let count = |key| number_field(result, key);
            ToolUseRow {
                calls,
                failed: count("failed"),
                denied: count("denied"),
                asked: count("asked"),
                name,
            }
        });
        let agent = |agent: &Value| {
            let over = if field(agent, "ended").is_null() { "running" } else { "ended" };
            format!("{} {} ({over})", text_field(agent, "type"), text_field(agent, "id")).trim().to_owned()
        };
        Self {
            session: SessionRow::parse(value),
            todos: array_field(value, "todo_items").iter().map(parse_todo).collect(),
            files: FileRow::parse_list(value),
            tools: tools.collect(),
            denials: array_field(value, "denials").iter().map(DenialRow::parse).collect(),
            agents: array_field(value, "agents").iter().map(agent).collect(),
            labels: array_field(value, "labels")
                .iter()
                .filter_map(Value::as_str)
                .map(crate::plain::single_line)
                .collect(),
            snapshots: array_field(value, "snapshots")
                .iter()
                .map(|snapshot| (text_field(snapshot, "reason"), text_field(snapshot, "id")))
                .collect(),
        }
    }
}

fn parse_todo(item: &Value) -> (TodoMark, String) {
    match field(item, "status").as_str() {
        Some("completed") => (TodoMark::Done, text_field(item, "text")),
        Some("in_progress") => {
            (TodoMark::Active, optional_text(item, "active_form").unwrap_or_else(|| text_field(item, "text")))
        }
        _ => (TodoMark::Open, text_field(item, "text")),
    }
}

impl FileRow {
    /// Parses the changed files. A file's badge shows its last change.
    fn parse_list(value: &Value) -> Vec<Self> {
        let how = |change: &Value| -> Option<(String, String)> {
            Some((field(change, "path").as_str()?.to_owned(), field(change, "how").as_str()?.to_owned()))
        };
        let last: BTreeMap<String, String> = array_field(value, "changes").iter().filter_map(how).collect();
        let read = |file: &Value| {
            let how = field(file, "path").as_str().and_then(|path| last.get(path));
            let badge = match how.map(String::as_str) {
                Some("write") => 'W',
                Some("delete") => 'D',
                _ => 'E',
            };
            let lines = (number_field(file, "added"), number_field(file, "removed"));
            Self { badge, path: text_field(file, "shown"), times: number_field(file, "changes"), lines }
        };
        array_field(value, "changed_files").iter().map(read).collect()
    }
}

impl DenialRow {
    fn parse(denial: &Value) -> Self {
        let what = [text_field(denial, "tool"), text_field(denial, "gist")].join(" ").trim().to_owned();
        Self {
            seq: number_field(denial, "seq"),
            ts: time_ms(denial, "ts"),
            what,
            rule: text_field(denial, "rule"),
        }
    }
}

impl TimelineRow {
    /// Parses the steps of a timeline, latest first.
    pub(crate) fn parse_list(answer: &Value) -> Vec<Self> {
        array_field(answer, "steps").iter().rev().map(Self::parse).collect()
    }

    fn parse(step: &Value) -> Self {
        let tool = field(step, "tool");
        Self {
            seq: number_field(step, "seq"),
            ts: time_ms(step, "ts"),
            verdict: parse_verdict(step),
            event: text_field(step, "event"),
            tool: text_field(tool, "name"),
            what: optional_text(tool, "gist").or_else(|| optional_text(step, "said")).unwrap_or_default(),
            rule: text_field(step, "rule"),
        }
    }
}
