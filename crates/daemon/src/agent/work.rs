// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs a turn or a single tool in a session.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tenterhook_agent::provider::ModelUsage;
use tenterhook_agent::{ActivityObserver, AgentActivity, ToolCallResult, TurnError};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::{AgentCaller, HostedSession, WorkPermit, call_origin};
use crate::daemon::Daemon;
use crate::sdk::{ProgramRefusal, RefusalCode};

/// Maximum number of updates queued for a program that reads a turn slowly.
const MAX_QUEUED_UPDATES: usize = 4096;

tokio::task_local! {
    /// The program that receives updates about the turn of this task.
    static TURN_LISTENER: TurnListener;
}

/// An update about a turn.
pub(crate) enum TurnUpdate {
    /// A step of the turn, or of the named subagent.
    Activity(Option<String>, AgentActivity),
    /// The turn is complete. Last update.
    Done(Value),
    /// The turn ended early. Last update.
    Failed(ProgramRefusal),
}

/// A running turn. Dropping the value cancels the turn.
pub(crate) struct RunningTurn {
    pub(crate) updates: mpsc::Receiver<TurnUpdate>,
    _cancel: CancelOnDrop,
}

struct CancelOnDrop(tenterhook_agent::CancelToken);

#[derive(Clone)]
struct TurnListener {
    updates: mpsc::Sender<TurnUpdate>,
    cancel: tenterhook_agent::CancelToken,
    drafts: bool,
    calls: ToolCalls,
}

/// The tool calls of a turn as the model made them, without those of subagents.
#[derive(Clone, Default)]
struct ToolCalls(Arc<Mutex<Vec<Value>>>);

/// Sends the steps of a turn to its listener.
pub(super) struct TurnObserver;

/// Runs one turn in a session that the caller owns.
pub(crate) async fn generate(
    daemon: &Arc<Daemon>,
    asker: &AgentCaller<'_>,
    id: &str,
    prompt: String,
    drafts: bool,
) -> Result<RunningTurn, ProgramRefusal> {
    let slot = daemon.find_own_session(asker, "generate", id).await?;
    slot.count_prompt(&prompt)?;
    let Ok(turn) = Arc::clone(&slot.turn).try_acquire_owned() else {
        let why = "a turn is already running in this session";
        return Err(ProgramRefusal::new(
            RefusalCode::Overloaded,
            why,
            "wait for it to end, or create another session",
        ));
    };
    let work = slot.begin()?;
    let chain = daemon.hosted.chains.chain_of(asker.handling.as_ref(), &daemon.programs.hooks_of(asker.id));
    let (sender, receiver) = mpsc::channel(MAX_QUEUED_UPDATES);
    let cancel = work.cancel.clone();
    let calls = ToolCalls::default();
    let listener =
        TurnListener { updates: sender.clone(), cancel: cancel.clone(), drafts, calls: calls.clone() };
    let turn_work = run_turn(Arc::clone(&slot), work, prompt, calls);
    let turning = TURN_LISTENER.scope(listener, call_origin::run_caused_by(chain, turn_work));
    tokio::spawn(async move {
        let last = turning.await;
        drop(turn);
        // The receiver is gone if the program disconnected.
        drop(sender.send(last).await);
    });
    Ok(RunningTurn { updates: receiver, _cancel: CancelOnDrop(cancel) })
}

async fn run_turn(
    slot: Arc<HostedSession>,
    work: WorkPermit,
    prompt: String,
    calls: ToolCalls,
) -> TurnUpdate {
    let (began, before) = (Instant::now(), slot.session.usage());
    match slot.session.prompt(&prompt, &work.cancel).await {
        Ok(text) => {
            let duration = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
            let usage = usage_json(slot.session.usage(), before);
            let calls = std::mem::take(&mut *calls.lock());
            TurnUpdate::Done(json!({"text": text, "toolCalls": calls, "usage": usage, "duration": duration}))
        }
        Err(ended) => TurnUpdate::Failed(refusal(ended)),
    }
}

/// Runs one tool in a session that the caller owns. The tool is cancelled if the caller disconnects.
pub(crate) async fn execute(
    daemon: &Arc<Daemon>,
    asker: &AgentCaller<'_>,
    id: &str,
    tool: &str,
    args: Value,
    within: Option<Duration>,
) -> Result<Value, ProgramRefusal> {
    let slot = daemon.find_own_session(asker, "execute", id).await?;
    if !args.is_object() {
        return Err(ProgramRefusal::new(
            RefusalCode::Invalid,
            "`args` is not a JSON object",
            "send the tool's arguments as an object",
        ));
    }
    let work = slot.begin()?;
    let chain = daemon.hosted.chains.chain_of(asker.handling.as_ref(), &daemon.programs.hooks_of(asker.id));
    let running = call_origin::run_caused_by(chain, slot.session.execute_tool(tool, args, &work.cancel));
    let ran = match within {
        None => running.await,
        Some(within) => tokio::time::timeout(within, running).await.map_err(|_| {
            let why = format!("the tool was stopped after {} ms", within.as_millis());
            ProgramRefusal::new(RefusalCode::TimedOut, why, "")
        })?,
    };
    match ran.map_err(refusal)? {
        ToolCallResult { ran: false, output, .. } => {
            Err(ProgramRefusal::new(RefusalCode::Blocked, output, ""))
        }
        result => Ok(result_json(&result)),
    }
}

fn result_json(result: &ToolCallResult) -> Value {
    let ToolCallResult { success, output, exit_code, duration_ms, context, .. } = result;
    let mut shown = json!({"success": success, "output": output, "duration": duration_ms});
    if let Some(fields) = shown.as_object_mut() {
        fields.extend(exit_code.map(|code| ("exitCode".to_owned(), json!(code))));
        fields.extend(context.as_ref().map(|context| ("context".to_owned(), json!(context))));
    }
    shown
}

/// Returns the number of tokens that a turn used, as JSON.
fn usage_json(now: ModelUsage, before: ModelUsage) -> Value {
    let read = now.cache_read.saturating_sub(before.cache_read);
    let write = now.cache_write.saturating_sub(before.cache_write);
    let input = now.input.saturating_sub(before.input) + read + write;
    let output = now.output.saturating_sub(before.output);
    let mut usage = json!({"input_tokens": input, "output_tokens": output, "total_tokens": input + output});
    if let Some(fields) = usage.as_object_mut() {
        let cached = [("cache_read_tokens", read), ("cache_write_tokens", write)];
        fields.extend(cached.into_iter().filter(|(_, n)| *n > 0).map(|(key, n)| (key.to_owned(), json!(n))));
    }
    usage
}

/// Converts work that ended early into a refusal.
pub(super) fn refusal(ended: TurnError) -> ProgramRefusal {
    let message = ended.to_string();
    let (code, hint) = match ended {
        TurnError::Cancelled => (RefusalCode::Cancelled, String::new()),
        TurnError::Blocked { reason } => return ProgramRefusal::new(RefusalCode::Blocked, reason, ""),
        TurnError::Stopped { .. } | TurnError::Deferred { .. } => (RefusalCode::Blocked, String::new()),
        TurnError::TurnLimit(_) => (RefusalCode::Limit, "continue with another prompt".to_owned()),
        TurnError::Unguarded(_) => (RefusalCode::Internal, String::new()),
        TurnError::Model(error) => (RefusalCode::Model, error.hint.unwrap_or_default()),
    };
    ProgramRefusal::new(code, message, &hint)
}

impl ActivityObserver for TurnObserver {
    fn observe(&self, subagent: Option<&str>, moment: AgentActivity) {
        let _ = TURN_LISTENER.try_with(|listener| listener.forward(subagent, moment));
    }
}

impl TurnListener {
    fn forward(&self, subagent: Option<&str>, moment: AgentActivity) {
        let is_draft = matches!(moment, AgentActivity::Delta { .. });
        if is_draft && !self.drafts {
            return;
        }
        if let (None, AgentActivity::Tool { id, tool, args }) = (subagent, &moment) {
            self.calls.lock().push(json!({"id": id, "name": tool, "args": args}));
        }
        let update = TurnUpdate::Activity(subagent.map(ToOwned::to_owned), moment);
        // For a slow reader, drafts are dropped first. If any other update would be lost, the turn is cancelled.
        if self.updates.try_send(update).is_err() && !is_draft {
            self.cancel.cancel();
        }
    }
}

impl ToolCalls {
    fn lock(&self) -> MutexGuard<'_, Vec<Value>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
