// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::collections::BTreeMap;

use serde_json::Value;
use tenterhook_event::Decision;

use super::line::verdict;
use super::{at, counts, list, moment, number, some, text};

/// A session, as a list shows it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Session {
    /// `harness:id`.
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
    /// Done, and all.
    pub(crate) todos: (u64, u64),
    pub(crate) changed: u64,
    pub(crate) calls: u64,
    pub(crate) denied: u64,
    /// Dollars, where a price is known.
    pub(crate) cost: Option<f64>,
    /// Answers of models without a price.
    pub(crate) unpriced: u64,
    /// Tokens: what goes in, what comes out, what the context holds, what it may hold.
    pub(crate) tokens: [Option<u64>; 4],
}

/// All about one session.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Detail {
    pub(crate) session: Session,
    pub(crate) todos: Vec<(Mark, String)>,
    pub(crate) files: Vec<File>,
    pub(crate) tools: Vec<Tool>,
    pub(crate) denials: Vec<Denial>,
    pub(crate) agents: Vec<String>,
    pub(crate) labels: Vec<String>,
}

/// How far a to-do is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Open,
    Active,
    Done,
}

/// A file that was changed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct File {
    /// Written, edited or deleted: `W`, `E`, `D`.
    pub(crate) badge: char,
    pub(crate) path: String,
    pub(crate) times: u64,
    /// Lines that came and went.
    pub(crate) lines: (u64, u64),
}

/// A tool, and how its calls went.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tool {
    pub(crate) name: String,
    pub(crate) calls: u64,
    pub(crate) failed: u64,
    pub(crate) denied: u64,
    pub(crate) asked: u64,
}

/// Something that was denied.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Denial {
    pub(crate) seq: u64,
    pub(crate) ts: u64,
    pub(crate) what: String,
    pub(crate) rule: String,
}

/// One step of a session.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Step {
    pub(crate) seq: u64,
    pub(crate) ts: u64,
    pub(crate) verdict: Decision,
    pub(crate) event: String,
    pub(crate) tool: String,
    pub(crate) what: String,
    pub(crate) rule: String,
}

impl Session {
    /// All of a list.
    pub(crate) fn all(answer: &Value) -> Vec<Self> {
        list(answer, "sessions").iter().map(Self::read).collect()
    }

    pub(crate) fn read(value: &Value) -> Self {
        let (harness, id) = (text(value, "harness"), text(value, "id"));
        let (todos, usage, files) = (at(value, "todos"), at(value, "usage"), at(value, "files"));
        let titles = ["title", "last_prompt"];
        let count = |key| at(usage, key).as_u64();
        Self {
            key: format!("{harness}:{id}"),
            state: text(value, "state"),
            title: titles.iter().find_map(|key| some(value, key)).unwrap_or_default(),
            model: text(value, "model"),
            cwd: some(value, "project").unwrap_or_else(|| text(value, "cwd")),
            started: moment(value, "started"),
            last: moment(value, "last"),
            events: number(value, "events"),
            prompts: number(value, "prompts"),
            subagents: number(value, "subagents"),
            todos: (number(todos, "completed"), number(todos, "all")),
            changed: number(files, "changed"),
            calls: counts(at(value, "tools")).iter().map(|(_, count)| count).sum(),
            denied: number(at(value, "denied"), "all"),
            cost: at(usage, "cost_usd").as_f64(),
            unpriced: number(usage, "unpriced"),
            tokens: ["input_tokens", "output_tokens", "context_tokens", "context_limit"].map(count),
            harness,
            id,
        }
    }

    pub(crate) fn fits(&self, words: &[String]) -> bool {
        let parts = [&self.harness, &self.id, &self.state, &self.title, &self.model, &self.cwd];
        let sought = parts.map(String::as_str).join(" ").to_lowercase();
        words.iter().all(|word| sought.contains(word))
    }
}

impl Detail {
    pub(crate) fn read(value: &Value) -> Self {
        let results = at(value, "tool_results").as_object();
        let tools = counts(at(value, "tools")).into_iter().map(|(name, calls)| {
            let result = results.and_then(|results| results.get(&name)).unwrap_or(&Value::Null);
            let count = |key| number(result, key);
            Tool { calls, failed: count("failed"), denied: count("denied"), asked: count("asked"), name }
        });
        let agent = |agent: &Value| {
            let over = if at(agent, "ended").is_null() { "at work" } else { "ended" };
            format!("{} {} ({over})", text(agent, "type"), text(agent, "id")).trim().to_owned()
        };
        Self {
            session: Session::read(value),
            todos: list(value, "todo_items").iter().map(todo).collect(),
            files: File::all(value),
            tools: tools.collect(),
            denials: list(value, "denials").iter().map(Denial::read).collect(),
            agents: list(value, "agents").iter().map(agent).collect(),
            labels: list(value, "labels").iter().filter_map(Value::as_str).map(crate::plain::line).collect(),
        }
    }
}

fn todo(item: &Value) -> (Mark, String) {
    match at(item, "status").as_str() {
        Some("completed") => (Mark::Done, text(item, "text")),
        Some("in_progress") => {
            (Mark::Active, some(item, "active_form").unwrap_or_else(|| text(item, "text")))
        }
        _ => (Mark::Open, text(item, "text")),
    }
}

impl File {
    /// The files that were changed, each once; its badge is that of the last change.
    fn all(value: &Value) -> Vec<Self> {
        let how = |change: &Value| -> Option<(String, String)> {
            Some((at(change, "path").as_str()?.to_owned(), at(change, "how").as_str()?.to_owned()))
        };
        let last: BTreeMap<String, String> = list(value, "changes").iter().filter_map(how).collect();
        let read = |file: &Value| {
            let how = at(file, "path").as_str().and_then(|path| last.get(path));
            let badge = match how.map(String::as_str) {
                Some("write") => 'W',
                Some("delete") => 'D',
                _ => 'E',
            };
            let lines = (number(file, "added"), number(file, "removed"));
            Self { badge, path: text(file, "shown"), times: number(file, "changes"), lines }
        };
        list(value, "changed_files").iter().map(read).collect()
    }
}

impl Denial {
    fn read(denial: &Value) -> Self {
        let what = [text(denial, "tool"), text(denial, "gist")].join(" ").trim().to_owned();
        Self { seq: number(denial, "seq"), ts: moment(denial, "ts"), what, rule: text(denial, "rule") }
    }
}

impl Step {
    /// The steps of a timeline, the latest first.
    pub(crate) fn all(answer: &Value) -> Vec<Self> {
        list(answer, "steps").iter().rev().map(Self::read).collect()
    }

    fn read(step: &Value) -> Self {
        let tool = at(step, "tool");
        Self {
            seq: number(step, "seq"),
            ts: moment(step, "ts"),
            verdict: verdict(step),
            event: text(step, "event"),
            tool: text(tool, "name"),
            what: some(tool, "gist").or_else(|| some(step, "said")).unwrap_or_default(),
            rule: text(step, "rule"),
        }
    }
}
