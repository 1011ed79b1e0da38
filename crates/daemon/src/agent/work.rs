// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Work for a session: a turn, or a single tool.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tenterhook_agent::provider::Usage;
use tenterhook_agent::{Ended, Moment, ToolResult, Watch};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::{Asker, Slot, Work, behalf};
use crate::daemon::Daemon;
use crate::sdk::{Code, Refusal};

/// How far behind a program may be that listens to a turn.
const BEHIND: usize = 4096;

tokio::task_local! {
    /// Who listens to the turn that this task runs.
    static LISTENER: Listener;
}

/// Something that whoever listens to a turn is told.
pub(crate) enum Told {
    /// Something happened, perhaps in a subagent.
    Moment(Option<String>, Moment),
    /// The turn is over; the last thing.
    Done(Value),
    /// It ended otherwise; the last thing.
    Failed(Refusal),
}

/// A turn under way. Dropping it cancels it.
pub(crate) struct Turn {
    pub(crate) told: mpsc::Receiver<Told>,
    _cancel: Stops,
}

struct Stops(tenterhook_agent::Cancel);

#[derive(Clone)]
struct Listener {
    told: mpsc::Sender<Told>,
    cancel: tenterhook_agent::Cancel,
    drafts: bool,
    calls: ToolCalls,
}

/// The tool calls of a turn, as the model made them; those of subagents are not among them.
#[derive(Clone, Default)]
struct ToolCalls(Arc<Mutex<Vec<Value>>>);

/// Tells whoever listens to the turn in which something happens.
pub(super) struct Audience;

/// One turn of a session of whoever asks.
pub(crate) async fn generate(
    daemon: &Arc<Daemon>,
    asker: &Asker<'_>,
    id: &str,
    prompt: String,
    drafts: bool,
) -> Result<Turn, Refusal> {
    let slot = daemon.own_session(asker, "generate", id).await?;
    slot.take_prompt(&prompt)?;
    let Ok(turn) = Arc::clone(&slot.turn).try_acquire_owned() else {
        let why = "a turn is under way in this session";
        return Err(Refusal::new(Code::Overloaded, why, "wait for its end, or create another session"));
    };
    let work = slot.begin()?;
    let chain = daemon.hosted.chains.of(asker.handling.as_ref(), &daemon.programs.of(asker.id));
    let (told, hears) = mpsc::channel(BEHIND);
    let cancel = work.cancel.clone();
    let calls = ToolCalls::default();
    let listener = Listener { told: told.clone(), cancel: cancel.clone(), drafts, calls: calls.clone() };
    let turn_work = take_turn(Arc::clone(&slot), work, prompt, calls);
    let turning = LISTENER.scope(listener, behalf::on(chain, turn_work));
    tokio::spawn(async move {
        let last = turning.await;
        drop(turn);
        // Whoever has hung up hears nothing.
        drop(told.send(last).await);
    });
    Ok(Turn { told: hears, _cancel: Stops(cancel) })
}

async fn take_turn(slot: Arc<Slot>, work: Work, prompt: String, calls: ToolCalls) -> Told {
    let (began, before) = (Instant::now(), slot.session.usage());
    match slot.session.prompt(&prompt, &work.cancel).await {
        Ok(text) => {
            let duration = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
            let usage = usage(slot.session.usage(), before);
            let calls = std::mem::take(&mut *calls.lock());
            Told::Done(json!({"text": text, "toolCalls": calls, "usage": usage, "duration": duration}))
        }
        Err(ended) => Told::Failed(refusal(ended)),
    }
}

/// One tool in a session of whoever asks. Whoever hangs up ends it.
pub(crate) async fn execute(
    daemon: &Arc<Daemon>,
    asker: &Asker<'_>,
    id: &str,
    tool: &str,
    args: Value,
    within: Option<Duration>,
) -> Result<Value, Refusal> {
    let slot = daemon.own_session(asker, "execute", id).await?;
    if !args.is_object() {
        return Err(Refusal::new(Code::Invalid, "`args` is no JSON object", "send the tool's arguments"));
    }
    let work = slot.begin()?;
    let chain = daemon.hosted.chains.of(asker.handling.as_ref(), &daemon.programs.of(asker.id));
    let running = behalf::on(chain, slot.session.execute_tool(tool, args, &work.cancel));
    let ran = match within {
        None => running.await,
        Some(within) => tokio::time::timeout(within, running).await.map_err(|_| {
            let why = format!("it took longer than {} ms, and was ended", within.as_millis());
            Refusal::new(Code::TimedOut, why, "")
        })?,
    };
    match ran.map_err(refusal)? {
        ToolResult { ran: false, output, .. } => Err(Refusal::new(Code::Blocked, output, "")),
        result => Ok(shown(&result)),
    }
}

fn shown(result: &ToolResult) -> Value {
    let ToolResult { success, output, exit_code, duration_ms, context, .. } = result;
    let mut shown = json!({"success": success, "output": output, "duration": duration_ms});
    if let Some(fields) = shown.as_object_mut() {
        fields.extend(exit_code.map(|code| ("exitCode".to_owned(), json!(code))));
        fields.extend(context.as_ref().map(|context| ("context".to_owned(), json!(context))));
    }
    shown
}

/// What a turn cost.
fn usage(now: Usage, before: Usage) -> Value {
    let read = now.cache_read.saturating_sub(before.cache_read);
    let write = now.cache_write.saturating_sub(before.cache_write);
    let input = now.input.saturating_sub(before.input) + read + write;
    let output = now.output.saturating_sub(before.output);
    let mut said = json!({"input_tokens": input, "output_tokens": output, "total_tokens": input + output});
    if let Some(fields) = said.as_object_mut() {
        let cached = [("cache_read_tokens", read), ("cache_write_tokens", write)];
        fields.extend(cached.into_iter().filter(|(_, n)| *n > 0).map(|(key, n)| (key.to_owned(), json!(n))));
    }
    said
}

/// Why something did not come to its end.
pub(super) fn refusal(ended: Ended) -> Refusal {
    let message = ended.to_string();
    let (code, hint) = match ended {
        Ended::Cancelled => (Code::Cancelled, String::new()),
        Ended::Blocked { reason } => return Refusal::new(Code::Blocked, reason, ""),
        Ended::Stopped { .. } | Ended::Deferred { .. } => (Code::Blocked, String::new()),
        Ended::TurnLimit(_) => (Code::Limit, "go on with another prompt".to_owned()),
        Ended::Unguarded(_) => (Code::Internal, String::new()),
        Ended::Model(error) => (Code::Model, error.hint.unwrap_or_default()),
    };
    Refusal::new(code, message, &hint)
}

impl Watch for Audience {
    fn see(&self, subagent: Option<&str>, moment: Moment) {
        let _ = LISTENER.try_with(|listener| listener.hear(subagent, moment));
    }
}

impl Listener {
    fn hear(&self, subagent: Option<&str>, moment: Moment) {
        let is_draft = matches!(moment, Moment::Delta { .. });
        if is_draft && !self.drafts {
            return;
        }
        if let (None, Moment::Tool { id, tool, args }) = (subagent, &moment) {
            self.calls.lock().push(json!({"id": id, "name": tool, "args": args}));
        }
        let told = Told::Moment(subagent.map(ToOwned::to_owned), moment);
        // Whoever does not keep up misses drafts first; then the turn is not for anybody.
        if self.told.try_send(told).is_err() && !is_draft {
            self.cancel.cancel();
        }
    }
}

impl ToolCalls {
    fn lock(&self) -> MutexGuard<'_, Vec<Value>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Stops {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
