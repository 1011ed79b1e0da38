// SPDX-License-Identifier: Apache-2.0 OR MIT

//! One tool call: told, permitted, run, told again.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tenterhook_event::{Decision, EventKind, Outcome};

use crate::permission::{self, Permitted};
use crate::provider::{Block, ToolCall};
use crate::session::Session;
use crate::tell::{Told, go_on};
use crate::tools::{Around, Output, ToolFailed, task};
use crate::watch::Moment;
use crate::{Cancel, Ended};

/// How often a tool is tried at most, however often a hook wants it.
const ATTEMPTS: u32 = 3;
/// However late a hook wants it.
const LATEST: Duration = Duration::from_secs(30);

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Result {
    /// Whether the tool did what it was to.
    pub success: bool,
    /// What the model reads: the output, the failure, or why it did not run.
    pub output: String,
    /// How it ended, if it is a program.
    pub exit_code: Option<i32>,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// Whether it ran at all.
    pub ran: bool,
    /// What hooks want the model to know beside it.
    pub context: Option<String>,
}

/// Takes a call from the model's wish to its result. `available` are the tools the model was offered.
pub(crate) async fn run(
    session: &Session,
    wanted: &ToolCall,
    available: Option<&[String]>,
    cancel: &Cancel,
) -> std::result::Result<Result, Ended> {
    let (id, tool, args) = (wanted.id.clone(), wanted.name.clone(), wanted.args.clone());
    session.watch(Moment::Tool { id, tool, args });
    if let Some(why) = unavailable(session, wanted, available) {
        let done = attempt_failed(session, wanted, &ToolFailed::new(why), 1, Duration::ZERO, cancel).await?;
        return Ok(done.result);
    }

    let asked = json!({"context": session.context()});
    let judged = session.tell(Told::about(EventKind::PreTool, wanted, asked), cancel).await?;
    session.remember(&judged);
    if judged.decision == Decision::Deny {
        return Ok(refused(session, wanted, &judged));
    }
    if judged.decision == Decision::Defer {
        return Err(Ended::Deferred { reason: judged.reason_with_nudge() });
    }
    let mut call = changed(session, wanted.clone(), judged.tool_input.clone());
    match permission::permit(session, &call, &judged, cancel).await? {
        Permitted::Yes(args) => call = changed(session, call, args),
        Permitted::No(why) => {
            let outcome = Outcome { decision: Decision::Deny, ..Outcome::default() };
            return Ok(refused(session, &call, &with_reason(outcome, why)));
        }
    }
    tried(session, &call, cancel).await
}

/// Runs it, and again as often as hooks want it and there are attempts left.
async fn tried(session: &Session, call: &ToolCall, cancel: &Cancel) -> std::result::Result<Result, Ended> {
    for attempt in 1.. {
        let began = Instant::now();
        let ran = cancel.or(perform(session, call, cancel)).await.ok_or(Ended::Cancelled)?;
        let took = began.elapsed();
        session.ran(&call.name);
        match ran {
            Ok(output) => return succeeded(session, call, output, took, cancel).await,
            Err(failed) => {
                let done = attempt_failed(session, call, &failed, attempt, took, cancel).await?;
                let Some(delay) = done.again.filter(|_| attempt < ATTEMPTS) else { return Ok(done.result) };
                let (id, tool) = (call.id.clone(), call.name.clone());
                let delay_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
                session.watch(Moment::Retry { id, tool, attempt, delay_ms });
                cancel.or(tokio::time::sleep(delay)).await.ok_or(Ended::Cancelled)?;
            }
        }
    }
    Err(Ended::Cancelled)
}

async fn perform(
    session: &Session,
    call: &ToolCall,
    cancel: &Cancel,
) -> std::result::Result<Output, ToolFailed> {
    if call.name == task::NAME {
        return Box::pin(task::run(session, &call.args, cancel)).await;
    }
    let around = Around { cwd: session.agent.settings.cwd.clone(), cancel: cancel.clone() };
    match session.agent.tools.find(&call.name) {
        Some(tool) => tool.run(&call.args, &around).await,
        None => Err(ToolFailed::new(format!("there is no tool `{}`", call.name))),
    }
}

async fn succeeded(
    session: &Session,
    call: &ToolCall,
    output: Output,
    took: Duration,
    cancel: &Cancel,
) -> std::result::Result<Result, Ended> {
    let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    let mut result = json!({"success": true, "output": output.text, "duration": duration_ms});
    if let (Some(fields), Some(code)) = (result.as_object_mut(), output.exit_code) {
        fields.insert("exitCode".to_owned(), json!(code));
    }
    let fields = json!({"context": session.context(), "result": result});
    let outcome = session.tell_only(Told::about(EventKind::PostTool, call, fields), cancel).await?;
    let text = outcome.tool_output().map_or(output.text, as_text);
    let result = Result {
        success: true,
        output: text,
        exit_code: output.exit_code,
        duration_ms,
        ran: true,
        context: remarks(&outcome),
    };
    show(session, call, &result, outcome.suppress_output);
    ended(session, call, result, &outcome)
}

/// A tool that failed: what the model reads, and when to try again.
struct Failed {
    result: Result,
    again: Option<Duration>,
}

async fn attempt_failed(
    session: &Session,
    call: &ToolCall,
    failed: &ToolFailed,
    attempt: u32,
    took: Duration,
    cancel: &Cancel,
) -> std::result::Result<Failed, Ended> {
    let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    let fields = json!({
        "context": session.context(), "error": failed.message, "attempt": attempt, "duration": duration_ms,
    });
    let outcome = session.tell_only(Told::about(EventKind::ToolError, call, fields), cancel).await?;
    let result = Result {
        success: false,
        output: outcome.tool_output().map_or_else(|| failed.message.clone(), as_text),
        exit_code: failed.exit_code,
        duration_ms,
        ran: true,
        context: remarks(&outcome),
    };
    show(session, call, &result, outcome.suppress_output);
    let again = outcome.retry_ms.map(|ms| Duration::from_millis(ms).min(LATEST));
    ended(session, call, result, &outcome).map(|result| Failed { result, again })
}

/// The turn may end here; the result is kept all the same: the tool has run.
fn ended(
    session: &Session,
    call: &ToolCall,
    result: Result,
    outcome: &Outcome,
) -> std::result::Result<Result, Ended> {
    go_on(outcome).inspect_err(|_| session.keep_result(call, &result))?;
    Ok(result)
}

fn refused(session: &Session, call: &ToolCall, outcome: &Outcome) -> Result {
    let reason = outcome.reason().unwrap_or_else(|| "a hook said no".to_owned());
    let nudge = outcome.nudges.first().map(|said| said.what.clone());
    let rule = outcome.deciding_rule().map(ToOwned::to_owned);
    let output = outcome.reason_with_nudge().unwrap_or_else(|| reason.clone());
    let (id, tool) = (call.id.clone(), call.name.clone());
    session.watch(Moment::Denied { id, tool, reason, nudge, rule });
    Result { success: false, output, exit_code: None, duration_ms: 0, ran: false, context: None }
}

fn unavailable(session: &Session, call: &ToolCall, available: Option<&[String]>) -> Option<String> {
    let known = session.tool_names();
    if !known.contains(&call.name) {
        return Some(format!("there is no tool `{}`; there are {}", call.name, known.join(", ")));
    }
    let left = available.filter(|names| !names.contains(&call.name))?;
    let left = if left.is_empty() { "none".to_owned() } else { left.join(", ") };
    Some(format!("`{}` may not be called now; what may: {left}", call.name))
}

fn changed(session: &Session, call: ToolCall, args: Option<Value>) -> ToolCall {
    let Some(args) = args.filter(|args| *args != call.args) else { return call };
    let (id, tool) = (call.id.clone(), call.name.clone());
    session.watch(Moment::Rewritten { id, tool, args: args.clone() });
    ToolCall { args, ..call }
}

/// What hooks say about a tool that has run: a refusal comes too late and is a remark.
fn remarks(outcome: &Outcome) -> Option<String> {
    let objection = outcome.reason_with_nudge().filter(|_| outcome.decision == Decision::Deny);
    let parts: Vec<_> = objection.into_iter().chain(outcome.context_text()).collect();
    (!parts.is_empty()).then(|| parts.join("\n"))
}

fn show(session: &Session, call: &ToolCall, result: &Result, suppressed: bool) {
    let output = if suppressed { String::new() } else { result.output.clone() };
    let (id, tool, success) = (call.id.clone(), call.name.clone(), result.success);
    let duration_ms = result.duration_ms;
    session.watch(Moment::Result { id, tool, success, output, duration_ms, suppressed });
}

fn with_reason(mut outcome: Outcome, why: String) -> Outcome {
    outcome.reasons.push(tenterhook_event::Said { by: tenterhook_event::Origin::Engine, what: why });
    outcome
}

fn as_text(value: &Value) -> String {
    let inner = value.get("output").filter(|inner| inner.is_string()).unwrap_or(value);
    inner.as_str().map_or_else(|| inner.to_string(), ToOwned::to_owned)
}

impl Result {
    /// As the model reads it.
    pub(crate) fn block(&self, id: &str) -> Block {
        Block::ToolResult { id: id.to_owned(), content: self.output.clone(), is_error: !self.success }
    }
}
