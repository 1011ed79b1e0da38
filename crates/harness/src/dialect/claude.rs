// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Claude Code's dialect: hooks written for Claude Code run unchanged, whatever the harness.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tenterhook_event::{Decision, Event, EventKind, Finding, Flow, Merge, Modification, Origin};

use super::{Control, Dialect, Exited, Heard, Misheard, switches};
use crate::claude_code::HARNESS;
use crate::claude_code::wire::{Behavior, HookOutput, PermissionDecision, Specific, Verdict};

pub(super) const DIALECT: Dialect = Dialect {
    name: "claude",
    about: "as Claude Code speaks to command hooks: its payload in, its JSON and exit codes out",
    timeout: Duration::from_mins(1),
    switches: switches::CLAUDE,
    event_name: native_name,
    kind: |name| HARNESS.events.iter().find(|row| row.native == name).map(|row| row.kind),
    stdin,
    hear,
};

/// How long a hook that went into the background may go on when it does not say (`asyncTimeout`).
/// The client's documents name no number.
const DETACHED: Duration = Duration::from_secs(15);
/// However long it asks for.
const DETACHED_AT_MOST: Duration = Duration::from_mins(10);

/// Longer first lines are answers, not `{"async": true}`; they are not read again and again.
const DETACHING_LINE: usize = 4096;

/// Whether the first line a hook printed says that it goes on in the background, and for how long
/// it may.
pub(super) fn detaches(stdout: &[u8]) -> Option<Duration> {
    let line = stdout.trim_ascii_start().split(|byte| *byte == b'\n').next()?.trim_ascii();
    if line.len() > DETACHING_LINE || !line.ends_with(b"}") {
        return None;
    }
    serde_json::from_slice(line).ok().and_then(|output: HookOutput| background(&output))
}

fn background(output: &HookOutput) -> Option<Duration> {
    let limit = output.async_timeout.map_or(DETACHED, Duration::from_millis).min(DETACHED_AT_MOST);
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

/// The client's name for the event, whichever harness it came from.
fn native_name(event: &Event) -> &str {
    if event.source == HARNESS.id || event.event == EventKind::Other {
        return &event.native_event;
    }
    HARNESS.event(event.event.name()).map_or(&event.native_event, |row| row.native)
}

fn hear(_: &Dialect, event: &Event, by: Origin, exited: &Exited) -> Result<Heard, Misheard> {
    let stdout = String::from_utf8_lossy(&exited.stdout);
    let stdout = stdout.trim();
    // JSON is read at every exit code; anything that does not look like one object is text.
    let json = stdout.starts_with('{') && stdout.ends_with('}');
    let output = json.then(|| serde_json::from_str::<HookOutput>(stdout));
    let finding = match (exited.code, output) {
        // At `PermissionRequest` too, where the client does not listen to exit 2: a guard that
        // says no is not to be talked over.
        (Some(2), output) => {
            let output = output.and_then(Result::ok).unwrap_or_default();
            let said = finding(event, by.clone(), output).unwrap_or_else(|_| Finding::silent(by));
            let reason = said.reason.clone().filter(|_| said.decision == Decision::Deny);
            Finding { decision: Decision::Deny, reason: reason.or_else(|| Some(exited.complaint())), ..said }
        }
        (_, Some(Ok(output))) => match background(&output) {
            Some(limit) => {
                return Ok(Heard { finding: Finding::silent(by), control: Control::Detach { limit } });
            }
            None => finding(event, by, output)?,
        },
        (_, Some(Err(error))) => {
            return Err(Misheard(format!("the answer is not a Claude Code hook output: {error}")));
        }
        (Some(0), None) => Finding { context: plain_context(event.event, stdout), ..Finding::silent(by) },
        (_, None) => return Err(Misheard(exited.how())),
    };
    Ok(finding.into())
}

/// Plain text reaches the model at these events only.
fn plain_context(kind: EventKind, stdout: &str) -> Option<String> {
    let heard = matches!(kind, EventKind::Prompt | EventKind::SessionStart) && !stdout.is_empty();
    heard.then(|| stdout.to_owned())
}

fn finding(event: &Event, by: Origin, output: HookOutput) -> Result<Finding, Misheard> {
    let specific = output.hook_specific_output.unwrap_or_default();
    let expected = native_name(event);
    match &specific.hook_event_name {
        Some(name) if name != expected => {
            return Err(Misheard(format!("`hookEventName` is `{name}`, but this is `{expected}`")));
        }
        None if specific != Specific::default() => {
            return Err(Misheard("`hookSpecificOutput` without `hookEventName` means nothing".to_owned()));
        }
        _ => {}
    }
    let mut modifications = Vec::new();
    let mut changed = specific.updated_input;
    let mut reason = specific.permission_decision_reason.or(output.reason);
    let general = output.decision.map_or(Decision::None, |verdict| match verdict {
        Verdict::Approve => Decision::Allow,
        Verdict::Block => Decision::Deny,
    });
    let permission = specific.permission_decision.map_or(Decision::None, |decision| match decision {
        PermissionDecision::Allow => Decision::Allow,
        PermissionDecision::Deny => Decision::Deny,
        PermissionDecision::Ask => Decision::Ask,
        PermissionDecision::Defer => Decision::Defer,
    });
    let asked = match specific.decision {
        Some(Behavior::Allow { updated_input }) => {
            changed = updated_input.or(changed);
            Decision::Allow
        }
        Some(Behavior::Deny { message, .. }) => {
            reason = message.or(reason);
            Decision::Deny
        }
        None => Decision::None,
    };
    modifications.extend(changed.map(|value| Modification::ToolInput { merge: Merge::Replace, value }));
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
