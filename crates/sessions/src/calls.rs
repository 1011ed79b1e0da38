// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tool calls: which wait for their result, and how many of each tool there were.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{DefaultHasher, Hasher as _};

use serde_json::Value;
use tenterhook_api::ToolCounts;
use tenterhook_event::{Event, EventKind, ToolCall};

/// How many calls may wait for their results.
const WAITING: usize = 64;
/// How many tools are counted by name.
const TOOLS: usize = 64;
/// Under which name the others are counted.
const OTHERS: &str = "…";

/// The tools of a session.
#[derive(Debug, Default)]
pub(super) struct Tools(pub(super) BTreeMap<String, ToolCounts>);

/// Calls that have no result yet.
#[derive(Debug, Default)]
pub(super) struct Waiting(VecDeque<Call>);

/// A call that was let through.
#[derive(Debug, Clone)]
pub(super) struct Call {
    /// Its leaf.
    pub(super) seq: u64,
    id: Option<String>,
    tool: String,
    args: u64,
}

impl Tools {
    pub(super) fn count(&mut self, name: &str, change: impl FnOnce(&mut ToolCounts)) {
        let known = self.0.contains_key(name) || self.0.len() < TOOLS;
        change(self.0.entry(if known { name } else { OTHERS }.to_owned()).or_default());
    }

    /// All tools together.
    pub(super) fn all(&self) -> ToolCounts {
        let mut all = ToolCounts::default();
        for counted in self.0.values() {
            all.calls += counted.calls;
            all.ok += counted.ok;
            all.failed += counted.failed;
            all.denied += counted.denied;
            all.asked += counted.asked;
        }
        all
    }
}

impl Waiting {
    pub(super) fn push(&mut self, event: &Event, tool: &ToolCall, seq: u64) {
        if self.0.len() >= WAITING {
            self.0.pop_front();
        }
        let id = event.tool_use_id.clone();
        self.0.push_back(Call { seq, id, tool: tool.name.clone(), args: digest(&tool.args) });
    }

    /// The call that permission was refused for: by its id, else the latest with this tool and these arguments.
    pub(super) fn take_refused(&mut self, event: &Event, tool: &ToolCall) -> Option<Call> {
        let at = if let Some(id) = &event.tool_use_id {
            self.0.iter().position(|call| call.id.as_ref() == Some(id))
        } else {
            let args = digest(&tool.args);
            self.0.iter().rposition(|call| call.tool == tool.name && call.args == args)
        };
        self.0.remove(at?)
    }

    /// The call that a result belongs to: by its id, else by its arguments, else the oldest of the tool.
    pub(super) fn take(&mut self, event: &Event, tool: &ToolCall) -> Option<Call> {
        let at = if let Some(id) = &event.tool_use_id {
            self.0.iter().position(|call| call.id.as_ref() == Some(id))
        } else {
            let args = digest(&tool.args);
            let exact = self.0.iter().position(|call| call.tool == tool.name && call.args == args);
            exact.or_else(|| self.0.iter().position(|call| call.tool == tool.name))
        };
        self.0.remove(at?)
    }
}

fn digest(args: &Value) -> u64 {
    let mut writer = HashWriter(DefaultHasher::new());
    let _ = serde_json::to_writer(&mut writer, args);
    writer.0.finish()
}

/// Hashes what is written to it.
struct HashWriter(DefaultHasher);

impl std::io::Write for HashWriter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Whether a result is one of a failure.
pub(super) fn failed(event: &Event) -> bool {
    if matches!(event.event, EventKind::ToolError | EventKind::PermissionDenied) {
        return true;
    }
    let Some(output) = &event.detail.tool_output else { return event.detail.error.is_some() };
    if let Some(text) = output.as_str() {
        // Codex says it in words.
        let code =
            text.strip_prefix("Exit code: ").and_then(|rest| rest.lines().next()?.trim().parse::<i64>().ok());
        return code.is_some_and(|code| code != 0) || event.detail.error.is_some();
    }
    let is = |keys: &[&str], value: bool| {
        keys.iter().any(|key| output.get(key).and_then(Value::as_bool) == Some(value))
    };
    let code = ["exitCode", "exit_code"].iter().find_map(|key| output.get(key)?.as_i64());
    let error = output.get("error").is_some_and(|error| !error.is_null() && error != false);
    event.detail.error.is_some()
        || error
        || is(&["is_error", "isError", "interrupted"], true)
        || is(&["success"], false)
        || code.is_some_and(|code| code != 0)
}
