// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Claude Code's dialect. Hooks written for Claude Code run unchanged with every harness.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tenterhook_event::{Decision, Event, EventKind, Finding, Flow, MergeMode, Modification, Origin};

use super::{EngineControl, HookDialect, HookExit, InterpretedOutput, InvalidOutput, switches};
use crate::claude_code::HARNESS;
use crate::claude_code::wire::{
    BlockDecision, ClaudeHookOutput, HookSpecificOutput, PermissionBehavior, PermissionDecision,
};

pub(super) const DIALECT: HookDialect = HookDialect {
    name: "claude",
    about: "Claude Code's command hooks: its payload in, its JSON and exit codes out",
    timeout: Duration::from_mins(1),
    switches: switches::CLAUDE,
    event_name: native_name,
    kind: |name| HARNESS.events.iter().find(|row| row.native == name).map(|row| row.kind),
    stdin,
    interpret,
};

/// Default time limit of a background hook (`asyncTimeout`). The client's documentation names no number.
const DEFAULT_DETACHED_TIMEOUT: Duration = Duration::from_secs(15);
/// Maximum value of `asyncTimeout`.
const MAX_DETACHED_TIMEOUT: Duration = Duration::from_mins(10);

/// Maximum length of the first line of output. A longer line cannot be `{"async": true}`, so it is not parsed again
/// after every read.
const MAX_DETACH_LINE_BYTES: usize = 4096;

/// Returns the time limit of the background hook if the first line of output says that the hook continues in the
/// background.
pub(super) fn detaches(stdout: &[u8]) -> Option<Duration> {
    let line = stdout.trim_ascii_start().split(|byte| *byte == b'\n').next()?.trim_ascii();
    if line.len() > MAX_DETACH_LINE_BYTES || !line.ends_with(b"}") {
        return None;
    }
    serde_json::from_slice(line).ok().and_then(|output: ClaudeHookOutput| detached_timeout(&output))
}

fn detached_timeout(output: &ClaudeHookOutput) -> Option<Duration> {
    let limit = output
        .async_timeout
        .map_or(DEFAULT_DETACHED_TIMEOUT, Duration::from_millis)
        .min(MAX_DETACHED_TIMEOUT);
    (output.detached == Some(true)).then_some(limit)
}

fn stdin(event: &Event) -> Vec<u8> {
    serde_json::to_vec(&Value::Object(payload(event))).unwrap_or_default()
}

fn payload(event: &Event) -> Map<String, Value> {
    let detail = &event.detail;
    let fields = [
        ("session_id", event.harness_session_id.as_ref().map(|id| json!(id))),
        ("transcript_path", Some(json!(""))),
        ("cwd", event.cwd.as_ref().map(|cwd| json!(cwd))),
        ("hook_event_name", Some(json!(native_name(event)))),
        ("tool_name", event.tool.as_ref().map(|tool| json!(tool.name))),
        ("tool_input", event.tool.as_ref().map(|tool| tool.args.clone())),
        ("tool_use_id", event.tool_use_id.as_ref().map(|id| json!(id))),
        ("tool_response", detail.tool_output.clone()),
        ("prompt", detail.prompt.as_ref().map(|text| json!(text))),
        ("last_assistant_message", detail.response.as_ref().map(|text| json!(text))),
        ("stop_hook_active", detail.stop_hook_active.map(|active| json!(active))),
        ("message", detail.message.as_ref().map(|text| json!(text))),
        ("error", detail.error.as_ref().map(|text| json!(text))),
        (cause_field(event.event), detail.cause.as_ref().map(|cause| json!(cause))),
        ("agent_id", event.agent.id.as_ref().map(|id| json!(id))),
        ("agent_type", event.agent.kind.as_ref().map(|kind| json!(kind))),
    ];
    fields.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}

fn cause_field(kind: EventKind) -> &'static str {
    match kind {
        EventKind::SessionStart => "source",
        EventKind::PreCompact | EventKind::PostCompact => "trigger",
        EventKind::Notification => "notification_type",
        _ => "reason",
    }
}

/// Returns Claude Code's name for the event. The event may come from any harness.
fn native_name(event: &Event) -> &str {
    if event.source == HARNESS.id || event.event == EventKind::Other {
        return &event.native_event;
    }
    HARNESS.event(event.event.name()).map_or(&event.native_event, |row| row.native)
}

fn interpret(
    _: &HookDialect,
    event: &Event,
    by: Origin,
    exited: &HookExit,
) -> Result<InterpretedOutput, InvalidOutput> {
    let stdout = String::from_utf8_lossy(&exited.stdout);
    let stdout = stdout.trim();
    // JSON is read for every exit code. Output that does not look like a JSON object is plain text.
    let json = stdout.starts_with('{') && stdout.ends_with('}');
    let output = json.then(|| serde_json::from_str::<ClaudeHookOutput>(stdout));
    let finding = match (exited.code, output) {
        // Exit code 2 also denies for `PermissionRequest`, although the client ignores it there: the deny of a guard
        // must not be lost.
        (Some(2), output) => {
            let output = output.and_then(Result::ok).unwrap_or_default();
            let said = finding(event, by.clone(), output).unwrap_or_else(|_| Finding::silent(by));
            let reason = said.reason.clone().filter(|_| said.decision == Decision::Deny);
            Finding {
                decision: Decision::Deny,
                reason: reason.or_else(|| Some(exited.stderr_reason())),
                ..said
            }
        }
        (_, Some(Ok(output))) => match detached_timeout(&output) {
            Some(limit) => {
                return Ok(InterpretedOutput {
                    finding: Finding::silent(by),
                    control: EngineControl::Detach { limit },
                });
            }
            None => finding(event, by, output)?,
        },
        (_, Some(Err(error))) => {
            return Err(InvalidOutput(format!("invalid Claude Code hook output: {error}")));
        }
        (Some(0), None) => Finding { context: plain_context(event.event, stdout), ..Finding::silent(by) },
        (_, None) => return Err(InvalidOutput(exited.describe_exit())),
    };
    Ok(finding.into())
}

/// Returns plain text as context, for those events where the text reaches the model.
fn plain_context(kind: EventKind, stdout: &str) -> Option<String> {
    let heard = matches!(kind, EventKind::Prompt | EventKind::SessionStart) && !stdout.is_empty();
    heard.then(|| stdout.to_owned())
}

fn finding(event: &Event, by: Origin, output: ClaudeHookOutput) -> Result<Finding, InvalidOutput> {
    let specific = output.hook_specific_output.unwrap_or_default();
    let expected = native_name(event);
    match &specific.hook_event_name {
        Some(name) if name != expected => {
            return Err(InvalidOutput(format!("`hookEventName` is `{name}`, but this is `{expected}`")));
        }
        None if specific != HookSpecificOutput::default() => {
            return Err(InvalidOutput("`hookSpecificOutput` requires `hookEventName`".to_owned()));
        }
        _ => {}
    }
    let mut modifications = Vec::new();
    let mut changed = specific.updated_input;
    let mut reason = specific.permission_decision_reason.or(output.reason);
    let general = output.decision.map_or(Decision::None, |verdict| match verdict {
        BlockDecision::Approve => Decision::Allow,
        BlockDecision::Block => Decision::Deny,
    });
    let permission = specific.permission_decision.map_or(Decision::None, |decision| match decision {
        PermissionDecision::Allow => Decision::Allow,
        PermissionDecision::Deny => Decision::Deny,
        PermissionDecision::Ask => Decision::Ask,
        PermissionDecision::Defer => Decision::Defer,
    });
    let asked = match specific.decision {
        Some(PermissionBehavior::Allow { updated_input }) => {
            changed = updated_input.or(changed);
            Decision::Allow
        }
        Some(PermissionBehavior::Deny { message, .. }) => {
            reason = message.or(reason);
            Decision::Deny
        }
        None => Decision::None,
    };
    modifications.extend(changed.map(|value| Modification::ToolInput { merge: MergeMode::Replace, value }));
    let output_change = specific.updated_tool_output.or(specific.updated_mcp_tool_output);
    modifications.extend(output_change.map(|value| Modification::ToolOutput { value }));
    Ok(Finding {
        by,
        decision: general.max(permission).max(asked),
        flow: if output.go_on == Some(false) { Flow::Stop { reason: output.stop_reason } } else { Flow::Go },
        reason,
        nudge: None,
        modifications,
        context: specific.additional_context,
        message: output.system_message,
        suppress_output: output.suppress_output == Some(true),
    })
}

#[cfg(test)]
mod tests;
