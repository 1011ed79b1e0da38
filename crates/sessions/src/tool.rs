// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tool calls of a session: what they were asked to do, and what came of them.

use serde_json::Value;
use tenterhook_api::{
    FileChangeState, OutsideChange, SessionChange, SuggestionProgress, SuggestionResult, ToolCallState,
    ToolGist, ToolProgress,
};
use tenterhook_event::{Decision, Event, EventKind, ToolCall, ToolClass, Touch, Touches};

use super::apply::{Around, some};
use super::behind;
use super::calls::failed;
use super::files::{Change, Lines, change_kind};
use super::happened::DecidedEvent;
use super::session::{Body, Session, count_next_call};
use super::session_update::SessionUpdate;
use super::shape::{Shape, shape};
use super::todo::Call;
use tenterhook_records::sanitize;

const RECENT: usize = 10;
const GIST: usize = 300;

impl Session {
    /// A tool is about to run, or was denied.
    pub(super) fn asked(
        &mut self,
        happened: &DecidedEvent<'_>,
        around: Around<'_>,
        mut body: Option<&mut Body>,
        told: &mut SessionUpdate,
    ) {
        let Some(tool) = happened.tool() else { return };
        let denied = happened.is_refused();
        self.tools.count(&tool.name, |counted| {
            counted.calls += 1;
            counted.denied += u64::from(denied);
            counted.asked += u64::from(happened.decision == Decision::Ask);
        });
        if let Some(body) = body.as_deref_mut()
            && let Some((hint, nudged)) = body.next_call(happened, told)
        {
            count_next_call(&mut self.denied, hint, nudged);
        }
        let state = if denied { ToolCallState::Denied } else { ToolCallState::Asked };
        told.tell(|| progress(happened, &tool, state));
        if denied {
            return;
        }
        if happened.event.ts >= self.last {
            let over = (self.recent.len() + 1).saturating_sub(RECENT);
            self.recent.drain(..over);
            self.recent.push(tool.name.clone());
        }
        let Some(body) = body else { return };
        if tool.class == ToolClass::Todo
            && body.todos.apply(&tool, happened.event.tool_use_id.as_deref(), &Call::Asked)
        {
            told.tell(|| SessionChange::Todos(body.todos.session_todos()));
        }
        body.files_of(happened, &tool, around, FileChangeState::Asked);
        body.waiting.push(happened.event, &tool, happened.seq);
    }

    /// Permission was refused for a call that had been let through: the tool does not run, and most harnesses report
    /// no result for it.
    pub(super) fn permission_refused(
        &mut self,
        happened: &DecidedEvent<'_>,
        body: Option<&mut Body>,
        told: &mut SessionUpdate,
    ) {
        let (Some(tool), Some(body)) = (happened.tool(), body) else { return };
        let Some(call) = body.waiting.take_refused(happened.event, &tool) else { return };
        self.tools.count(&tool.name, |counted| counted.denied += 1);
        body.files.settle(call.seq, FileChangeState::Failed, happened.seq, happened.event.ts);
        told.tell(|| progress(happened, &tool, ToolCallState::Denied));
    }

    /// A tool has run, or failed.
    pub(super) fn result(
        &mut self,
        happened: &DecidedEvent<'_>,
        around: Around<'_>,
        body: Option<&mut Body>,
        told: &mut SessionUpdate,
    ) {
        let event = happened.event;
        // Without the body nobody knows whether the call was counted: it comes back and knows.
        let (Some(tool), Some(body)) = (happened.tool(), body) else { return };
        let failed = failed(event);
        let call = body.waiting.take(event, &tool);
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
            body.files_of(happened, &tool, around, FileChangeState::Done);
        }
        let seq = call.map_or(happened.seq, |call| call.seq);
        body.files.settle(seq, state, happened.seq, event.ts);
        body.compare(seq, happened, &tool, failed);
        let ended = if failed { ToolCallState::Failed } else { ToolCallState::Done };
        told.tell(|| progress(happened, &tool, ended));
        if !failed {
            let done: Vec<_> = body.files.of_call(seq).map(|change| change.clone()).collect();
            for change in done.iter().rev() {
                told.tell(|| SessionChange::FileChanged(change.file_change(&|path| self.shown(path))));
            }
        }
        let output = some(event.detail.tool_output.as_ref());
        let how = if failed { Call::Failed } else { Call::Done(output) };
        if tool.class == ToolClass::Todo && body.todos.apply(&tool, event.tool_use_id.as_deref(), &how) {
            told.tell(|| SessionChange::Todos(body.todos.session_todos()));
        }
        if tool.class == ToolClass::Agent {
            body.agent_done(output, happened, told);
        }
    }
}

/// Whether a path is the directory that the agent works in, or one above it.
fn is_working_directory(path: &str, event: &Event) -> bool {
    let path = path.trim_end_matches('/');
    [&event.cwd, &event.project]
        .into_iter()
        .flatten()
        .any(|dir| dir.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}

impl Body {
    /// The next call of an agent that was denied something. Says what it made of the hint, and whether there was one.
    fn next_call(
        &mut self,
        happened: &DecidedEvent<'_>,
        told: &mut SessionUpdate,
    ) -> Option<(SuggestionResult, bool)> {
        let next = happened.event.tool.as_ref()?;
        let agent = &happened.event.agent.id;
        let open = |denial: &&mut super::denial::Denial| {
            denial.hint == SuggestionResult::Open && denial.agent == *agent
        };
        let denial = self.denials.iter_mut().rev().find(open)?;
        let passed = !matches!(happened.decision, Decision::Deny | Decision::Ask);
        denial.hear(next, passed, happened.gone.is_some());
        let (denied, hint) = (denial.seq, denial.hint);
        told.tell(|| SessionChange::Hint(SuggestionProgress { denied, hint }));
        Some((denial.hint, denial.nudge.is_some()))
    }

    /// What a call does to files.
    fn files_of(
        &mut self,
        happened: &DecidedEvent<'_>,
        tool: &ToolCall,
        around: Around<'_>,
        state: FileChangeState,
    ) {
        let event = happened.event;
        let named =
            matches!(tool.class, ToolClass::Read | ToolClass::Write | ToolClass::Edit | ToolClass::Patch);
        if matches!(tool.class, ToolClass::Shell | ToolClass::Mcp | ToolClass::Agent | ToolClass::Other) {
            self.commands += 1;
        }
        if !named && !matches!(tool.class, ToolClass::Shell | ToolClass::Mcp | ToolClass::Other) {
            return;
        }
        let Some(touches) = happened.touches(around.person) else {
            self.files.left_out += 1;
            return;
        };
        for touch in touches.iter().filter(|touch| !is_guess(touch, &touches)) {
            if touch.how == Touches::Reads {
                self.files.read(&touch.path);
                continue;
            }
            // `git reset --hard` writes somewhere below the working directory, and nobody knows where.
            if touch.how == Touches::Writes && is_working_directory(&touch.path, event) {
                self.files.left_out += 1;
                continue;
            }
            if !named && let Some(content) = self.files.content(&touch.path) {
                content.forget();
            }
            let change = Change {
                seq: happened.seq,
                result: (state == FileChangeState::Done).then_some(happened.seq),
                ts: event.ts,
                path: touch.path.clone(),
                tool: tool.name.clone(),
                how: change_kind(tool.class, touch.how),
                state,
                lines: shape(tool, None, &touch.path).lines(),
                agent: event.agent.id.clone(),
                call: event.tool_use_id.clone(),
                behind: None,
                gone: happened.gone,
            };
            self.files.changed(change);
        }
    }

    /// What a result says about the files of its call: how many lines, and whether they were as the agent knew them.
    fn compare(&mut self, seq: u64, happened: &DecidedEvent<'_>, tool: &ToolCall, failed: bool) {
        if !matches!(tool.class, ToolClass::Read | ToolClass::Write | ToolClass::Edit) {
            return;
        }
        let event = happened.event;
        let mut paths: Vec<String> = self.files.of_call(seq).map(|change| change.path.clone()).collect();
        if tool.class == ToolClass::Read || paths.is_empty() {
            paths = tool.paths().into_iter().map(|path| absolute(path, event.cwd.as_deref())).collect();
        }
        let output = some(event.detail.tool_output.as_ref());
        let [path] = paths.as_slice() else { return };
        if failed {
            if event.detail.error.as_deref().is_some_and(behind::refused) {
                self.files.mark(path, Some(seq), OutsideChange::Unseen);
            }
            return;
        }
        let whole = behind::whole(tool, output);
        let commands = self.commands;
        let mut behind = self.files.content(path).and_then(|content| content.found(&whole, commands));
        if behind::by_person(output) {
            behind = behind.max(Some(OutsideChange::Person));
        }
        if let Some(behind) = behind {
            self.files.mark(path, Some(seq), behind);
        }
        let shape = shape(tool, output, path);
        if tool.class != ToolClass::Read
            && output.is_some()
            && !matches!(shape, Shape::Parts(_) | Shape::Unknown)
            && let Some(lines @ Lines { .. }) = shape.lines()
        {
            self.files.set_lines(seq, path, lines);
        }
    }

    /// What the result of an agent's tool tells about the agent.
    fn agent_done(&mut self, output: Option<&Value>, happened: &DecidedEvent<'_>, told: &mut SessionUpdate) {
        let id = output.and_then(|output| output.get("agentId").or_else(|| output.get("agent_id"))?.as_str());
        let tokens = output.and_then(|output| output.get("totalTokens")?.as_u64());
        let (Some(id), Some(tokens)) = (id, tokens) else { return };
        if let Some(child) = self.child(id, happened.event.ts) {
            child.tokens = Some(tokens);
            told.tell(|| SessionChange::Subagent(child.clone()));
        }
    }
}

/// `mv a b` may write `b`, or `b/a` if that is a directory: rules have to know of both, a list only of what
/// the call names.
fn is_guess(touch: &Touch, all: &[Touch]) -> bool {
    let Some((above, name)) = touch.path.rsplit_once('/').filter(|_| touch.how == Touches::Writes) else {
        return false;
    };
    all.iter().any(|other| other.how == Touches::Writes && other.path == above)
        && all.iter().any(|from| from.how != Touches::Writes && from.path.rsplit('/').next() == Some(name))
}

fn absolute(path: &str, cwd: Option<&str>) -> String {
    match cwd {
        Some(cwd) if !path.starts_with(['/', '~']) => format!("{}/{path}", cwd.trim_end_matches('/')),
        _ => path.to_owned(),
    }
}

/// State of a call.
fn progress(happened: &DecidedEvent<'_>, tool: &ToolCall, state: ToolCallState) -> SessionChange {
    let event = happened.event;
    let gist = happened.gone.is_none().then(|| sanitize(&tool.gist(), GIST));
    SessionChange::Tool(ToolProgress {
        tool: ToolGist { name: tool.name.clone(), class: tool.class, gist },
        state,
        tool_use_id: event.tool_use_id.clone(),
        agent: event.agent.id.clone(),
        verdict: happened.decision,
        ran_ms: event.detail.duration_ms,
        gone: happened.gone,
    })
}
