// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Formats a session of the reference agent while it runs, as text or JSON. The caller prints the text.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use tenterhook_agent::{ActivityObserver, AgentActivity as Step};
use tenterhook_event::ToolCall;

use tenterhook_terminal_text::{BAD, BOLD, DIM, GOOD, WARN, fit, tame, wrap};

/// Prints a text. The agent continues if it cannot be printed.
pub type PrintFn = Box<dyn Fn(&str) + Send + Sync>;

/// Maximum width of the text.
const MAX_COLUMNS: usize = 110;
/// Maximum number of output lines shown.
const MAX_OUTPUT_LINES: usize = 6;

/// Prints one JSON document per line.
pub struct JsonTranscript {
    print: PrintFn,
}

impl JsonTranscript {
    /// Creates a transcript that is printed with a function.
    pub fn new(print: PrintFn) -> Self {
        Self { print }
    }
}

impl ActivityObserver for JsonTranscript {
    fn observe(&self, subagent: Option<&str>, step: Step) {
        // Deltas are not printed, because hooks may still change or block the rest of the reply.
        if matches!(step, Step::Delta { .. }) {
            return;
        }
        let mut line = json!(step);
        if let (Some(fields), Some(subagent)) = (line.as_object_mut(), subagent) {
            fields.insert("subagent".to_owned(), json!(subagent));
        }
        (self.print)(&format!("{line}\n"));
    }
}

/// Prints the session as text for users.
pub struct TextTranscript {
    print: PrintFn,
    width: usize,
    /// The agent's working directory with a trailing slash; paths below it are shown relative to it.
    cwd_prefix: String,
    /// Held while text is written, so that parallel writers do not interleave.
    writing: Mutex<()>,
    /// Whether text was written before. Parts are separated by an empty line.
    begun: AtomicBool,
}

impl TextTranscript {
    /// Creates a transcript that is printed with a function, for a terminal of this width.
    pub fn new(print: PrintFn, width: usize, cwd: &Path) -> Self {
        let (width, cwd_prefix) = (width.min(MAX_COLUMNS), format!("{}/", cwd.display()));
        Self { print, width, cwd_prefix, writing: Mutex::default(), begun: AtomicBool::new(false) }
    }

    fn write(&self, indent: &str, text: &str) {
        let _writing = self.writing.lock();
        let mut whole = String::new();
        for line in text.lines() {
            whole += &format!("{indent}{line}\n");
        }
        (self.print)(&whole);
    }

    /// Writes a marker and wrapped text, aligned after the marker.
    fn write_marked(&self, indent: &str, mark: &str, text: &str) {
        let room = self.width.saturating_sub(indent.len() + 2);
        let mut out = String::new();
        for paragraph in text.lines() {
            for line in wrap(&tame(paragraph), room) {
                let lead = if out.is_empty() { mark } else { " " };
                out += &format!("{lead} {line}\n");
            }
        }
        self.write(indent, &out);
    }

    fn write_output(&self, indent: &str, text: &str) {
        let text = text.replace(&self.cwd_prefix, "");
        let mut lines = text.lines();
        let room = self.width.saturating_sub(indent.len() + 4);
        for line in lines.by_ref().take(MAX_OUTPUT_LINES) {
            let line: String = tame(line).chars().take(room).collect();
            self.write(indent, &format!("{DIM}  │ {line}{DIM:#}"));
        }
        let more = lines.count();
        if more > 0 {
            self.write(indent, &format!("{DIM}  │ … lines not shown: {more}{DIM:#}"));
        }
    }

    /// Summarizes a call in one line.
    fn gist(&self, tool: &str, args: &Value) -> String {
        let word = |key: &&str| args.get(key).and_then(Value::as_str).map(ToOwned::to_owned);
        let gist = ["pattern", "description"].iter().find_map(word).filter(|_| args.get("command").is_none());
        let gist = gist.unwrap_or_else(|| ToolCall::new(tool, args.clone()).gist().into_owned());
        let gist = gist.replace(&self.cwd_prefix, "");
        let room = self.width.saturating_sub(tool.len() + 8);
        fit(&tame(&gist), room).trim_end().to_owned()
    }

    /// Writes a to-do list with the status of each item.
    fn write_todos(&self, indent: &str, todos: &[Value]) {
        for todo in todos {
            let part = |key: &str| todo.get(key).and_then(Value::as_str).unwrap_or_default();
            let (style, mark) = match part("status") {
                "completed" => (GOOD, "✓"),
                "in_progress" => (WARN, "▸"),
                _ => (DIM, "·"),
            };
            self.write(indent, &format!("    {style}{mark}{style:#} {}", tame(part("content"))));
        }
    }
}

impl ActivityObserver for TextTranscript {
    fn observe(&self, subagent: Option<&str>, step: Step) {
        let indent = if subagent.is_some() { "    " } else { "" };
        let gap = matches!(step, Step::Said { .. } | Step::Prompt { .. } | Step::Compacted { .. });
        if gap && subagent.is_none() && self.begun.swap(true, Ordering::Relaxed) {
            (self.print)("\n");
        }
        match step {
            Step::SessionStart { session, model } => {
                self.begun.store(true, Ordering::Relaxed);
                self.write(indent, &format!("{DIM}session {session}, model {model}{DIM:#}"));
            }
            Step::Prompt { text } => self.write_marked(indent, &format!("{BOLD}>{BOLD:#}"), &text),
            Step::Said { text, replaced } => {
                self.write_marked(indent, "●", &text);
                if replaced {
                    self.write(indent, &format!("{WARN}  (a hook replaced the model's reply){WARN:#}"));
                }
            }
            Step::Tool { tool, args, .. } => {
                let gist = self.gist(&tool, &args);
                match args.get("todos").and_then(Value::as_array) {
                    Some(todos) => {
                        self.write(indent, &format!("  {BOLD}{}{BOLD:#}", tame(&tool)));
                        self.write_todos(indent, todos);
                    }
                    None => self.write(indent, &format!("  {BOLD}{}{BOLD:#} {gist}", tame(&tool))),
                }
            }
            Step::Rewritten { tool, args, .. } => {
                let gist = self.gist(&tool, &args);
                self.write(indent, &format!("  {WARN}↳ runs instead:{WARN:#} {gist}"));
            }
            Step::Denied { reason, nudge, rule, .. } => {
                let rule = rule.map(|rule| format!(" {DIM}[{}]{DIM:#}", tame(&rule))).unwrap_or_default();
                self.write(indent, &format!("  {BAD}✗ denied{BAD:#}{rule}"));
                self.write_marked(&format!("{indent}  "), " ", &reason);
                if let Some(nudge) = nudge {
                    self.write_marked(&format!("{indent}    "), &format!("{GOOD}→{GOOD:#}"), &nudge);
                }
            }
            Step::Result { suppressed: true, .. } => {
                self.write(indent, &format!("{DIM}  │ (a hook suppressed the output){DIM:#}"));
            }
            // The to-do list and the subagent's text were already shown.
            Step::Result { tool, success: true, .. } if tool == "TodoWrite" || tool == "Task" => {}
            Step::Result { output, success, .. } => {
                if !success {
                    self.write(indent, &format!("  {WARN}! failed{WARN:#}"));
                }
                self.write_output(indent, &output);
            }
            Step::Retry { attempt, delay_ms, .. } => {
                self.write(
                    indent,
                    &format!("  {WARN}↻ retrying in {delay_ms} ms (attempt {attempt} failed){WARN:#}"),
                );
            }
            Step::Message { text } => self.write_marked(indent, &format!("{WARN}!{WARN:#}"), &text),
            Step::Notification { text } => self.write_marked(indent, &format!("{DIM}i{DIM:#}"), &text),
            Step::ContextWarning { tokens, window } => {
                self.write(
                    indent,
                    &format!("{WARN}! the context is nearly full: {tokens} of {window} tokens{WARN:#}"),
                );
            }
            Step::Compacted { before, after, summary } => {
                self.write(indent, &format!("{WARN}≡{WARN:#} compacted: {before} to {after} tokens"));
                self.write_marked(&format!("{indent}  "), " ", &summary);
            }
            Step::SubagentStart { kind, task } => {
                self.write(indent, &format!("{BOLD}┌ {}{BOLD:#} {}", tame(&kind), tame(&task)));
            }
            Step::SubagentStop { kind } => self.write(indent, &format!("{BOLD}└ {}{BOLD:#}", tame(&kind))),
            Step::NotFinished { reason } => {
                self.write_marked(indent, &format!("{WARN}↻{WARN:#}"), &format!("not finished: {reason}"));
            }
            Step::SessionEnd { usage, cost, .. } => {
                let cost = cost.map(|cost| format!(", ${cost:.4}")).unwrap_or_default();
                let used = usage.total();
                self.write(indent, &format!("\n{DIM}session ended: {used} tokens{cost}{DIM:#}"));
            }
            Step::Delta { .. } => {}
        }
    }
}
