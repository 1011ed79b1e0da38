// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Applies the events of tool calls: requests, denials and results.

use serde_json::Value;
use tenterhook_api::{
    FileChangeState, OutsideChange, SessionChange, SuggestionProgress, SuggestionResult, ToolCallState,
    ToolGist, ToolProgress,
};
use tenterhook_event::{Decision, Event, EventKind, PathEffect, PathEffectKind, ToolCall, ToolClass};

use super::apply::{ProjectionContext, non_null};
use super::decided_event::DecidedEvent;
use super::file_activity::{LineCounts, TrackedChange, change_kind};
use super::outside_change;
use super::session::{ProjectedSession, SessionBody, count_next_call};
use super::session_update::SessionUpdate;
use super::text_change::{TextChange, text_change};
use super::todo_list::TodoCallPhase;
use super::unfinished_calls::is_failed_result;
use tenterhook_records::sanitize;

const RECENT_TOOLS_KEPT: usize = 10;
const MAX_GIST_CHARS: usize = 300;

impl ProjectedSession {
    /// Applies a pre-tool event: the tool is about to run, or was denied.
    pub(super) fn apply_pre_tool(
        &mut self,
        decided: &DecidedEvent<'_>,
        context: ProjectionContext<'_>,
        mut body: Option<&mut SessionBody>,
        update: &mut SessionUpdate,
    ) {
        let Some(tool) = decided.tool() else { return };
        let denied = decided.is_refused();
        self.tools.count(&tool.name, |counted| {
            counted.calls += 1;
            counted.denied += u64::from(denied);
            counted.asked += u64::from(decided.decision == Decision::Ask);
        });
        if let Some(body) = body.as_deref_mut()
            && let Some((hint, nudged)) = body.next_call(decided, update)
        {
            count_next_call(&mut self.denied, hint, nudged);
        }
        let state = if denied { ToolCallState::Denied } else { ToolCallState::Asked };
        update.push(|| tool_progress(decided, &tool, state));
        if denied {
            return;
        }
        if decided.event.ts >= self.last {
            let over = (self.recent.len() + 1).saturating_sub(RECENT_TOOLS_KEPT);
            self.recent.drain(..over);
            self.recent.push(tool.name.clone());
        }
        let Some(body) = body else { return };
        if tool.class == ToolClass::Todo
            && body.todos.apply(&tool, decided.event.tool_use_id.as_deref(), &TodoCallPhase::Asked)
        {
            update.push(|| SessionChange::Todos(body.todos.session_todos()));
        }
        body.apply_file_touches(decided, &tool, context, FileChangeState::Asked);
        body.pending.push(decided.event, &tool, decided.seq);
    }

    /// Applies a denied permission request for a call that had been let through. The tool does not run, and most
    /// harnesses report no result for it.
    pub(super) fn apply_permission_denied(
        &mut self,
        decided: &DecidedEvent<'_>,
        body: Option<&mut SessionBody>,
        update: &mut SessionUpdate,
    ) {
        let (Some(tool), Some(body)) = (decided.tool(), body) else { return };
        let Some(call) = body.pending.take_refused(decided.event, &tool) else { return };
        self.tools.count(&tool.name, |counted| counted.denied += 1);
        body.files.finish_call(call.seq, FileChangeState::Failed, decided.seq, decided.event.ts);
        update.push(|| tool_progress(decided, &tool, ToolCallState::Denied));
    }

    /// Applies the result of a tool call.
    pub(super) fn apply_tool_result(
        &mut self,
        decided: &DecidedEvent<'_>,
        context: ProjectionContext<'_>,
        body: Option<&mut SessionBody>,
        update: &mut SessionUpdate,
    ) {
        let event = decided.event;
        // Without the body it is unknown whether the call was counted; reloading the session from the ledger
        // counts it.
        let (Some(tool), Some(body)) = (decided.tool(), body) else { return };
        let failed = is_failed_result(event);
        let call = body.pending.take(event, &tool);
        if call.is_none() && event.event == EventKind::PermissionDenied {
            return;
        }
        self.tools.count(&tool.name, |counted| {
            counted.calls += u64::from(call.is_none());
            counted.ok += u64::from(!failed);
            counted.failed += u64::from(failed);
        });
        let state = if failed { FileChangeState::Failed } else { FileChangeState::Done };
        if call.is_none() && !failed {
            body.apply_file_touches(decided, &tool, context, FileChangeState::Done);
        }
        let seq = call.map_or(decided.seq, |call| call.seq);
        body.files.finish_call(seq, state, decided.seq, event.ts);
        body.apply_file_result(seq, decided, &tool, failed);
        let ended = if failed { ToolCallState::Failed } else { ToolCallState::Done };
        update.push(|| tool_progress(decided, &tool, ended));
        if !failed {
            let done: Vec<_> = body.files.changes_of_call(seq).map(|change| change.clone()).collect();
            for change in done.iter().rev() {
                update
                    .push(|| SessionChange::FileChanged(change.file_change(&|path| self.display_path(path))));
            }
        }
        let output = non_null(event.detail.tool_output.as_ref());
        let how = if failed { TodoCallPhase::Failed } else { TodoCallPhase::Done(output) };
        if tool.class == ToolClass::Todo && body.todos.apply(&tool, event.tool_use_id.as_deref(), &how) {
            update.push(|| SessionChange::Todos(body.todos.session_todos()));
        }
        if tool.class == ToolClass::Agent {
            body.apply_agent_result(output, decided, update);
        }
    }
}

/// Whether a path is the working directory or the project, or a parent of one of them.
fn is_working_directory(path: &str, event: &Event) -> bool {
    let path = path.trim_end_matches('/');
    [&event.cwd, &event.project]
        .into_iter()
        .flatten()
        .any(|dir| dir.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}

impl SessionBody {
    /// Compares the call with the agent's last denial that has no result yet. Returns the agent's reaction, and whether
    /// there was a suggestion.
    fn next_call(
        &mut self,
        decided: &DecidedEvent<'_>,
        update: &mut SessionUpdate,
    ) -> Option<(SuggestionResult, bool)> {
        let next = decided.event.tool.as_ref()?;
        let agent = &decided.event.agent.id;
        let open = |denial: &&mut super::denial::TrackedDenial| {
            denial.hint == SuggestionResult::Open && denial.agent == *agent
        };
        let denial = self.denials.iter_mut().rev().find(open)?;
        let passed = !matches!(decided.decision, Decision::Deny | Decision::Ask);
        denial.update_from_next_call(next, passed, decided.gone.is_some());
        let (denied, hint) = (denial.seq, denial.hint);
        update.push(|| SessionChange::Hint(SuggestionProgress { denied, hint }));
        Some((denial.hint, denial.nudge.is_some()))
    }

    /// Applies the file reads, writes and deletions of a call.
    fn apply_file_touches(
        &mut self,
        decided: &DecidedEvent<'_>,
        tool: &ToolCall,
        context: ProjectionContext<'_>,
        state: FileChangeState,
    ) {
        let event = decided.event;
        let named =
            matches!(tool.class, ToolClass::Read | ToolClass::Write | ToolClass::Edit | ToolClass::Patch);
        if matches!(tool.class, ToolClass::Shell | ToolClass::Mcp | ToolClass::Agent | ToolClass::Other) {
            self.commands += 1;
        }
        if !named && !matches!(tool.class, ToolClass::Shell | ToolClass::Mcp | ToolClass::Other) {
            return;
        }
        let Some(touches) = decided.file_touches(context.person) else {
            self.files.left_out += 1;
            return;
        };
        for touch in touches.iter().filter(|touch| !is_alternative_target(touch, &touches)) {
            if touch.kind == PathEffectKind::Reads {
                self.files.record_read(&touch.path);
                continue;
            }
            // A command such as `git reset --hard` writes unknown files below the working directory.
            if touch.kind == PathEffectKind::Writes && is_working_directory(&touch.path, event) {
                self.files.left_out += 1;
                continue;
            }
            if !named && let Some(content) = self.files.content_mut(&touch.path) {
                content.forget();
            }
            let change = TrackedChange {
                seq: decided.seq,
                result: (state == FileChangeState::Done).then_some(decided.seq),
                ts: event.ts,
                path: touch.path.clone(),
                tool: tool.name.clone(),
                how: change_kind(tool.class, touch.kind),
                state,
                lines: text_change(tool, None, &touch.path).line_counts(),
                agent: event.agent.id.clone(),
                call: event.tool_use_id.clone(),
                behind: None,
                gone: decided.gone,
            };
            self.files.record_change(change);
        }
    }

    /// Applies the result of a call to its file: line counts, and whether the file was changed outside the session.
    fn apply_file_result(&mut self, seq: u64, decided: &DecidedEvent<'_>, tool: &ToolCall, failed: bool) {
        if !matches!(tool.class, ToolClass::Read | ToolClass::Write | ToolClass::Edit) {
            return;
        }
        let event = decided.event;
        let mut paths: Vec<String> =
            self.files.changes_of_call(seq).map(|change| change.path.clone()).collect();
        if tool.class == ToolClass::Read || paths.is_empty() {
            paths = tool.paths().into_iter().map(|path| absolute_path(path, event.cwd.as_deref())).collect();
        }
        let output = non_null(event.detail.tool_output.as_ref());
        let [path] = paths.as_slice() else { return };
        if failed {
            if event.detail.error.as_deref().is_some_and(outside_change::is_stale_file_error) {
                self.files.mark_outside_change(path, Some(seq), OutsideChange::Unseen);
            }
            return;
        }
        let whole = outside_change::content_digests(tool, output);
        let commands = self.commands;
        let mut behind =
            self.files.content_mut(path).and_then(|content| content.compare_and_update(&whole, commands));
        if outside_change::is_user_modified(output) {
            behind = behind.max(Some(OutsideChange::Person));
        }
        if let Some(behind) = behind {
            self.files.mark_outside_change(path, Some(seq), behind);
        }
        let shape = text_change(tool, output, path);
        if tool.class != ToolClass::Read
            && output.is_some()
            && !matches!(shape, TextChange::Parts(_) | TextChange::Unknown)
            && let Some(lines @ LineCounts { .. }) = shape.line_counts()
        {
            self.files.set_lines(seq, path, lines);
        }
    }

    /// Applies the result of a subagent tool: sets the token count of the subagent.
    fn apply_agent_result(
        &mut self,
        output: Option<&Value>,
        decided: &DecidedEvent<'_>,
        update: &mut SessionUpdate,
    ) {
        let id = output.and_then(|output| output.get("agentId").or_else(|| output.get("agent_id"))?.as_str());
        let tokens = output.and_then(|output| output.get("totalTokens")?.as_u64());
        let (Some(id), Some(tokens)) = (id, tokens) else { return };
        if let Some(subagent) = self.subagent_mut(id, decided.event.ts) {
            subagent.tokens = Some(tokens);
            update.push(|| SessionChange::Subagent(subagent.clone()));
        }
    }
}

/// Whether a path is the alternative target of a move or copy. `mv a b` writes `b`, or `b/a` if `b` is a
/// directory. Rules need both paths. A list shows only `b`, because the call names only that path.
fn is_alternative_target(touch: &PathEffect, all: &[PathEffect]) -> bool {
    let Some((above, name)) = touch.path.rsplit_once('/').filter(|_| touch.kind == PathEffectKind::Writes)
    else {
        return false;
    };
    all.iter().any(|other| other.kind == PathEffectKind::Writes && other.path == above)
        && all
            .iter()
            .any(|from| from.kind != PathEffectKind::Writes && from.path.rsplit('/').next() == Some(name))
}

fn absolute_path(path: &str, cwd: Option<&str>) -> String {
    match cwd {
        Some(cwd) if !path.starts_with(['/', '~']) => format!("{}/{path}", cwd.trim_end_matches('/')),
        _ => path.to_owned(),
    }
}

/// The change that reports the state of a tool call.
fn tool_progress(decided: &DecidedEvent<'_>, tool: &ToolCall, state: ToolCallState) -> SessionChange {
    let event = decided.event;
    let gist = decided.gone.is_none().then(|| sanitize(&tool.gist(), MAX_GIST_CHARS));
    SessionChange::Tool(ToolProgress {
        tool: ToolGist { name: tool.name.clone(), class: tool.class, gist },
        state,
        tool_use_id: event.tool_use_id.clone(),
        agent: event.agent.id.clone(),
        verdict: decided.decision,
        ran_ms: event.detail.duration_ms,
        gone: decided.gone,
    })
}
