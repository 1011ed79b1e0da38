// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs one tool call: fires the pre-tool event, checks permission, runs the tool with retries, and fires the
//! post-tool event.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tenterhook_event::{Decision, EventKind, Outcome};

use crate::activity::AgentActivity;
use crate::event_draft::{EventDraft, check_flow};
use crate::permission::{self, PermissionResult};
use crate::provider::{ContentBlock, ModelToolCall};
use crate::session::AgentSession;
use crate::tools::{ToolContext, ToolFailure, ToolOutput, task};
use crate::{CancelToken, TurnError};

/// Maximum number of attempts for one tool call, even if a hook asks for more.
const MAX_TOOL_ATTEMPTS: u32 = 3;
/// Maximum delay before a retry, even if a hook asks for a longer delay.
const MAX_RETRY_DELAY: Duration = Duration::from_secs(30);

/// Result of a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCallResult {
    /// Whether the tool ran and succeeded.
    pub success: bool,
    /// Text for the model: the output, the error, or the reason why the tool did not run.
    pub output: String,
    /// Exit code, if the tool ran a program.
    pub exit_code: Option<i32>,
    /// Run time in milliseconds.
    pub duration_ms: u64,
    /// Whether the tool ran at all.
    pub ran: bool,
    /// Additional context from hooks, for the model.
    pub context: Option<String>,
}

/// Runs a tool call from the model's request to its result. `available` lists the tools that the model was offered.
pub(crate) async fn run_tool_call(
    session: &AgentSession,
    wanted: &ModelToolCall,
    available: Option<&[String]>,
    cancel: &CancelToken,
) -> Result<ToolCallResult, TurnError> {
    let (id, tool, args) = (wanted.id.clone(), wanted.name.clone(), wanted.args.clone());
    session.report(AgentActivity::Tool { id, tool, args });
    if let Some(why) = unavailable_reason(session, wanted, available) {
        let done = report_failure(session, wanted, &ToolFailure::new(why), 1, Duration::ZERO, cancel).await?;
        return Ok(done.result);
    }

    let asked = json!({"context": session.context_json()});
    let judged = session.fire(EventDraft::about(EventKind::PreTool, wanted, asked), cancel).await?;
    session.queue_context(&judged);
    if judged.decision == Decision::Deny {
        return Ok(denied_result(session, wanted, &judged));
    }
    if judged.decision == Decision::Defer {
        return Err(TurnError::Deferred { reason: judged.reason_with_nudge() });
    }
    let mut call = with_new_args(session, wanted.clone(), judged.tool_input.clone());
    match permission::request_permission(session, &call, &judged, cancel).await? {
        PermissionResult::Yes(args) => call = with_new_args(session, call, args),
        PermissionResult::No(why) => {
            let outcome = Outcome { decision: Decision::Deny, ..Outcome::default() };
            return Ok(denied_result(session, &call, &with_reason(outcome, why)));
        }
    }
    run_with_retries(session, &call, cancel).await
}

/// Runs the tool. Runs it again as long as hooks ask for a retry and attempts are left.
async fn run_with_retries(
    session: &AgentSession,
    call: &ModelToolCall,
    cancel: &CancelToken,
) -> Result<ToolCallResult, TurnError> {
    for attempt in 1.. {
        let began = Instant::now();
        let ran = cancel.or(run_once(session, call, cancel)).await.ok_or(TurnError::Cancelled)?;
        let took = began.elapsed();
        session.record_tool_run(&call.name);
        match ran {
            Ok(output) => return report_success(session, call, output, took, cancel).await,
            Err(failed) => {
                let done = report_failure(session, call, &failed, attempt, took, cancel).await?;
                let Some(delay) = done.retry_delay.filter(|_| attempt < MAX_TOOL_ATTEMPTS) else {
                    return Ok(done.result);
                };
                let (id, tool) = (call.id.clone(), call.name.clone());
                let delay_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
                session.report(AgentActivity::Retry { id, tool, attempt, delay_ms });
                cancel.or(tokio::time::sleep(delay)).await.ok_or(TurnError::Cancelled)?;
            }
        }
    }
    Err(TurnError::Cancelled)
}

async fn run_once(
    session: &AgentSession,
    call: &ModelToolCall,
    cancel: &CancelToken,
) -> Result<ToolOutput, ToolFailure> {
    if call.name == task::TASK_TOOL {
        return Box::pin(task::run_task(session, &call.args, cancel)).await;
    }
    let around = ToolContext { cwd: session.agent.settings.cwd.clone(), cancel: cancel.clone() };
    match session.agent.tools.find(&call.name) {
        Some(tool) => tool.run(&call.args, &around).await,
        None => Err(ToolFailure::new(format!("unknown tool `{}`", call.name))),
    }
}

async fn report_success(
    session: &AgentSession,
    call: &ModelToolCall,
    output: ToolOutput,
    took: Duration,
    cancel: &CancelToken,
) -> Result<ToolCallResult, TurnError> {
    let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    let mut result = json!({"success": true, "output": output.text, "duration": duration_ms});
    if let (Some(fields), Some(code)) = (result.as_object_mut(), output.exit_code) {
        fields.insert("exitCode".to_owned(), json!(code));
    }
    let fields = json!({"context": session.context_json(), "result": result});
    let outcome =
        session.fire_unchecked(EventDraft::about(EventKind::PostTool, call, fields), cancel).await?;
    let text = outcome.tool_output().map_or(output.text, as_text);
    let result = ToolCallResult {
        success: true,
        output: text,
        exit_code: output.exit_code,
        duration_ms,
        ran: true,
        context: post_run_context(&outcome),
    };
    report_result(session, call, &result, outcome.suppress_output);
    check_flow_after_tool(session, call, result, &outcome)
}

/// A failed attempt: the result for the model, and the delay before the retry if a hook asked for one.
struct FailedAttempt {
    result: ToolCallResult,
    retry_delay: Option<Duration>,
}

async fn report_failure(
    session: &AgentSession,
    call: &ModelToolCall,
    failed: &ToolFailure,
    attempt: u32,
    took: Duration,
    cancel: &CancelToken,
) -> Result<FailedAttempt, TurnError> {
    let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    let fields = json!({
        "context": session.context_json(), "error": failed.message, "attempt": attempt, "duration": duration_ms,
    });
    let outcome =
        session.fire_unchecked(EventDraft::about(EventKind::ToolError, call, fields), cancel).await?;
    let result = ToolCallResult {
        success: false,
        output: outcome.tool_output().map_or_else(|| failed.message.clone(), as_text),
        exit_code: failed.exit_code,
        duration_ms,
        ran: true,
        context: post_run_context(&outcome),
    };
    report_result(session, call, &result, outcome.suppress_output);
    let retry_delay = outcome.retry_ms.map(|ms| Duration::from_millis(ms).min(MAX_RETRY_DELAY));
    check_flow_after_tool(session, call, result, &outcome).map(|result| FailedAttempt { result, retry_delay })
}

/// Ends the turn if a hook stopped it. The result is stored first, because the tool has already run.
fn check_flow_after_tool(
    session: &AgentSession,
    call: &ModelToolCall,
    result: ToolCallResult,
    outcome: &Outcome,
) -> Result<ToolCallResult, TurnError> {
    check_flow(outcome).inspect_err(|_| session.push_tool_result(call, &result))?;
    Ok(result)
}

fn denied_result(session: &AgentSession, call: &ModelToolCall, outcome: &Outcome) -> ToolCallResult {
    let reason = outcome.reason().unwrap_or_else(|| "denied by a hook".to_owned());
    let nudge = outcome.nudges.first().map(|nudge| nudge.value.clone());
    let rule = outcome.deciding_rule().map(ToOwned::to_owned);
    let output = outcome.reason_with_nudge().unwrap_or_else(|| reason.clone());
    let (id, tool) = (call.id.clone(), call.name.clone());
    session.report(AgentActivity::Denied { id, tool, reason, nudge, rule });
    ToolCallResult { success: false, output, exit_code: None, duration_ms: 0, ran: false, context: None }
}

fn unavailable_reason(
    session: &AgentSession,
    call: &ModelToolCall,
    available: Option<&[String]>,
) -> Option<String> {
    let known = session.tool_names();
    if !known.contains(&call.name) {
        return Some(format!("unknown tool `{}`; available tools: {}", call.name, known.join(", ")));
    }
    let left = available.filter(|names| !names.contains(&call.name))?;
    let left = if left.is_empty() { "none".to_owned() } else { left.join(", ") };
    Some(format!("tool `{}` may not be called now; allowed tools: {left}", call.name))
}

fn with_new_args(session: &AgentSession, call: ModelToolCall, args: Option<Value>) -> ModelToolCall {
    let Some(args) = args.filter(|args| *args != call.args) else { return call };
    let (id, tool) = (call.id.clone(), call.name.clone());
    session.report(AgentActivity::Rewritten { id, tool, args: args.clone() });
    ModelToolCall { args, ..call }
}

/// Returns the context for the model after a tool has run. A deny comes too late to prevent the call, so its reason
/// is added to the context.
fn post_run_context(outcome: &Outcome) -> Option<String> {
    let objection = outcome.reason_with_nudge().filter(|_| outcome.decision == Decision::Deny);
    let parts: Vec<_> = objection.into_iter().chain(outcome.context_text()).collect();
    (!parts.is_empty()).then(|| parts.join("\n"))
}

fn report_result(session: &AgentSession, call: &ModelToolCall, result: &ToolCallResult, suppressed: bool) {
    let output = if suppressed { String::new() } else { result.output.clone() };
    let (id, tool, success) = (call.id.clone(), call.name.clone(), result.success);
    let duration_ms = result.duration_ms;
    session.report(AgentActivity::Result { id, tool, success, output, duration_ms, suppressed });
}

fn with_reason(mut outcome: Outcome, why: String) -> Outcome {
    outcome.reasons.push(tenterhook_event::Attributed { by: tenterhook_event::Origin::Engine, value: why });
    outcome
}

fn as_text(value: &Value) -> String {
    let inner = value.get("output").filter(|inner| inner.is_string()).unwrap_or(value);
    inner.as_str().map_or_else(|| inner.to_string(), ToOwned::to_owned)
}

impl ToolCallResult {
    /// Converts the result to a content block of the conversation.
    pub(crate) fn block(&self, id: &str) -> ContentBlock {
        ContentBlock::ToolResult { id: id.to_owned(), content: self.output.clone(), is_error: !self.success }
    }
}
