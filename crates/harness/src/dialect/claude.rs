// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Claude Code's dialect: hooks written for Claude Code run unchanged, whatever the harness.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tenterhook_event::{Call, Decision, Event, EventKind, Finding, Flow, Merge, Modification, Origin};

use super::{Dialect, Exited, Heard, Misheard};
use crate::claude_code::HARNESS;
use crate::claude_code::wire::{Behavior, HookOutput, PermissionDecision, Specific, Verdict};

pub(super) const DIALECT: Dialect = Dialect {
    name: "claude",
    about: "as Claude Code speaks to command hooks: its payload in, its JSON and exit codes out",
    timeout: Duration::from_mins(1),
    stdin,
    env,
    hear,
};

/// The client's own payload when it is the one speaking, else the same fields from the normal form.
fn stdin(call: &Call) -> Vec<u8> {
    match &call.native {
        Some(native) if call.event.source == HARNESS.id => native.bytes.clone(),
        _ => serde_json::to_vec(&Value::Object(payload(&call.event))).unwrap_or_default(),
    }
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

fn env(event: &Event) -> Vec<(&'static str, String)> {
    let project = event.project.as_ref().or(event.cwd.as_ref());
    project.map(|project| ("CLAUDE_PROJECT_DIR", project.clone())).into_iter().collect()
}

fn hear(event: &Event, by: Origin, exited: &Exited) -> Result<Heard, Misheard> {
    listen(event, by, exited).map(Heard::from)
}

fn listen(event: &Event, by: Origin, exited: &Exited) -> Result<Finding, Misheard> {
    let stdout = String::from_utf8_lossy(&exited.stdout);
    let stdout = stdout.trim();
    // JSON is read at every exit code; anything that does not look like one object is text.
    let json = stdout.starts_with('{') && stdout.ends_with('}');
    let output = json.then(|| serde_json::from_str::<HookOutput>(stdout));
    match (exited.code, output) {
        (Some(2), output) => {
            let output = output.and_then(Result::ok).unwrap_or_default();
            let said = finding(event, by.clone(), output).unwrap_or_else(|_| Finding::silent(by));
            let reason = said.reason.clone().filter(|_| said.decision == Decision::Deny);
            Ok(Finding {
                decision: Decision::Deny,
                reason: reason.or_else(|| Some(exited.complaint())),
                ..said
            })
        }
        (_, Some(Ok(output))) => finding(event, by, output),
        (_, Some(Err(error))) => {
            Err(Misheard(format!("the answer is not a Claude Code hook output: {error}")))
        }
        (Some(0), None) => Ok(Finding { context: plain_context(event.event, stdout), ..Finding::silent(by) }),
        (_, None) => Err(Misheard(exited.how())),
    }
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
mod tests {
    use super::*;
    use tenterhook_event::{EventId, Timestamp, ToolCall};

    fn event(kind: EventKind, native: &str) -> Event {
        let (id, ts) = (EventId::from_parts(0, 0), Timestamp::from_unix_ms(0));
        Event::new(id, ts, "claude-code", kind, native)
    }

    fn heard(code: i32, stdout: &str, stderr: &str) -> Result<Finding, Misheard> {
        let exited = Exited { code: Some(code), stdout: stdout.into(), stderr: stderr.into() };
        hear(&event(EventKind::PreTool, "PreToolUse"), Origin::hook("h"), &exited).map(|heard| heard.finding)
    }

    fn deny(name: &str) -> String {
        json!({"hookSpecificOutput": {"hookEventName": name, "permissionDecision": "deny",
            "permissionDecisionReason": "no"}})
        .to_string()
    }

    #[test]
    fn exit_2_denies_whatever_the_json_says() {
        let finding = heard(2, &json!({"decision": "approve"}).to_string(), "stop\n").unwrap();
        assert_eq!((finding.decision, finding.reason.as_deref()), (Decision::Deny, Some("stop")));
        let finding = heard(2, &deny("PreToolUse"), "ignored").unwrap();
        assert_eq!(finding.reason.as_deref(), Some("no"));
    }

    #[test]
    fn json_decides_at_any_other_exit_code() {
        for code in [0, 1, 3] {
            assert_eq!(heard(code, &deny("PreToolUse"), "").unwrap().decision, Decision::Deny);
        }
        assert!(heard(1, "", "crash").is_err(), "a plain failure is for `fail:` to decide");
    }

    #[test]
    fn a_shape_the_client_would_drop_is_a_failure() {
        for stdout in [
            deny("PostToolUse"),
            json!({"hookSpecificOutput": {"permissionDecision": "deny"}}).to_string(),
            json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "DENY"}})
                .to_string(),
            "{bad}".to_owned(),
        ] {
            assert!(heard(0, &stdout, "").is_err(), "{stdout}");
        }
        let noise = format!("log line\n{}", deny("PreToolUse"));
        assert_eq!(
            heard(0, &noise, "").unwrap().decision,
            Decision::None,
            "text, not JSON, as in the client"
        );
    }

    #[test]
    fn all_that_a_hook_can_say_is_heard() {
        let finding = heard(
            0,
            &json!({"continue": false, "stopReason": "enough", "systemMessage": "m", "suppressOutput": true,
                "hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow",
                    "updatedInput": {"command": "ls"}, "additionalContext": "c"}})
            .to_string(),
            "",
        )
        .unwrap();
        let expected = Finding {
            decision: Decision::Allow,
            flow: Flow::Stop { reason: Some("enough".into()) },
            modifications: vec![Modification::ToolInput {
                merge: Merge::Replace,
                value: json!({"command": "ls"}),
            }],
            context: Some("c".into()),
            message: Some("m".into()),
            suppress_output: true,
            ..Finding::silent(Origin::hook("h"))
        };
        assert_eq!(finding, expected);
    }

    #[test]
    fn plain_text_reaches_the_model_at_prompts_only() {
        let exited = Exited { code: Some(0), stdout: b"it is noon\n".to_vec(), stderr: Vec::new() };
        let context =
            |kind, native| hear(&event(kind, native), Origin::Engine, &exited).unwrap().finding.context;
        assert_eq!(context(EventKind::Prompt, "UserPromptSubmit").as_deref(), Some("it is noon"));
        assert_eq!(context(EventKind::PreTool, "PreToolUse"), None);
    }

    #[test]
    fn another_harness_s_event_reaches_a_claude_hook_in_claude_s_words() {
        let mut event = event(EventKind::PreTool, "BeforeTool");
        event.source = "gemini".into();
        event.tool = Some(ToolCall::new("run_shell_command", json!({"command": "ls"})));
        let stdin: Value = serde_json::from_slice(&stdin(&Call { event, native: None })).unwrap();
        assert_eq!(stdin["hook_event_name"], "PreToolUse");
        assert_eq!(stdin["tool_input"], json!({"command": "ls"}));
    }
}
