// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tool calls without a result yet, and counts per tool.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{DefaultHasher, Hasher as _};

use serde_json::Value;
use tenterhook_api::ToolCounts;
use tenterhook_event::{Event, EventKind, ToolCall};

/// Maximum number of calls without a result; the oldest is dropped.
const MAX_PENDING_CALLS: usize = 64;
/// Maximum number of tools that are counted by name.
const MAX_COUNTED_TOOLS: usize = 64;
/// Name under which further tools are counted.
const OTHER_TOOLS: &str = "…";

/// Counts per tool of a session.
#[derive(Debug, Default)]
pub(super) struct ToolStats(pub(super) BTreeMap<String, ToolCounts>);

/// Calls without a result yet.
#[derive(Debug, Default)]
pub(super) struct UnfinishedCalls(VecDeque<UnfinishedCall>);

/// A call that was let through and has no result yet.
#[derive(Debug, Clone)]
pub(super) struct UnfinishedCall {
    /// Sequence number of the call.
    pub(super) seq: u64,
    id: Option<String>,
    tool: String,
    args: u64,
}

impl ToolStats {
    pub(super) fn count(&mut self, name: &str, change: impl FnOnce(&mut ToolCounts)) {
        let known = self.0.contains_key(name) || self.0.len() < MAX_COUNTED_TOOLS;
        change(self.0.entry(if known { name } else { OTHER_TOOLS }.to_owned()).or_default());
    }

    /// Sum over all tools.
    pub(super) fn total(&self) -> ToolCounts {
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

impl UnfinishedCalls {
    pub(super) fn push(&mut self, event: &Event, tool: &ToolCall, seq: u64) {
        if self.0.len() >= MAX_PENDING_CALLS {
            self.0.pop_front();
        }
        let id = event.tool_use_id.clone();
        self.0.push_back(UnfinishedCall { seq, id, tool: tool.name.clone(), args: digest(&tool.args) });
    }

    /// Takes the call for which permission was denied. Finds it by id, or else takes the latest call with
    /// this tool and these arguments.
    pub(super) fn take_refused(&mut self, event: &Event, tool: &ToolCall) -> Option<UnfinishedCall> {
        let at = if let Some(id) = &event.tool_use_id {
            self.0.iter().position(|call| call.id.as_ref() == Some(id))
        } else {
            let args = digest(&tool.args);
            self.0.iter().rposition(|call| call.tool == tool.name && call.args == args)
        };
        self.0.remove(at?)
    }

    /// Takes the call that a result belongs to. Finds it by id, or else by arguments, or else takes the
    /// oldest call of the tool.
    pub(super) fn take(&mut self, event: &Event, tool: &ToolCall) -> Option<UnfinishedCall> {
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

/// A writer that hashes its input.
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

/// Whether an event reports a failed tool call.
pub(super) fn is_failed_result(event: &Event) -> bool {
    if matches!(event.event, EventKind::ToolError | EventKind::PermissionDenied) {
        return true;
    }
    let Some(output) = &event.detail.tool_output else { return event.detail.error.is_some() };
    if let Some(text) = output.as_str() {
        // Codex reports the exit code as text.
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
