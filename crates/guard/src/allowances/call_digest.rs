// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Identifies a call by its content, so that a later call with the same content is recognised.

use serde_json::{Value, json};
use tenterhook_event::{Event, EventKind, ToolCall, ToolClass, ToolCommand};
use tenterhook_home::trust::sha256;

/// Arguments of shell tools that do not change what runs. Models word them differently when they repeat a call, and
/// only some events of one call contain them.
const UNCHANGING_SHELL_ARGUMENTS: &[&str] = &[
    "description",
    "justification",
    "explanation",
    "timeout",
    "timeout_ms",
    "yield_time_ms",
    "max_output_tokens",
];

/// Returns the digest of a call: its harness, account, directory, tool and arguments. The digest does not cover the
/// session, because a user may repeat the call in a new one. Returns `None` for events that cannot be stopped.
pub(crate) fn call_digest(event: &Event) -> Option<String> {
    let content = match event.event {
        EventKind::PreTool | EventKind::PermissionRequest => tool_content(event.tool.as_ref()?),
        EventKind::Prompt => json!(["prompt", event.detail.prompt.as_ref()?]),
        _ => return None,
    };
    let parts = json!([event.source, event.agent.user, event.cwd, content]);
    Some(sha256(parts.to_string().as_bytes()))
}

fn tool_content(tool: &ToolCall) -> Value {
    if tool.class != ToolClass::Shell {
        return json!([tool.name, tool.args]);
    }
    let mut args = tool.args.clone();
    if let Some(args) = args.as_object_mut() {
        args.retain(|name, _| !UNCHANGING_SHELL_ARGUMENTS.contains(&name.as_str()));
    }
    let commands: Value = tool
        .commands()
        .iter()
        .map(|command| match command {
            ToolCommand::Text(text) => json!(text),
            ToolCommand::Argv(words) => json!(words),
        })
        .collect();
    json!([tool.name, commands, args])
}

#[cfg(test)]
mod tests {
    use tenterhook_event::{EventId, Timestamp};

    use super::*;

    fn shell(args: Value) -> Event {
        let (id, ts) = (EventId::from_parts(1, 2), Timestamp::from_unix_ms(1));
        let mut event = Event::new(id, ts, "codex", EventKind::PreTool, "PreToolUse");
        event.cwd = Some("/w".to_owned());
        event.tool = Some(ToolCall::new("Bash", args));
        event
    }

    #[test]
    fn a_repeated_call_has_the_same_digest_whatever_its_description() {
        let first = call_digest(&shell(json!({"command": "make", "description": "Builds"})));
        assert!(first.is_some());
        assert_eq!(first, call_digest(&shell(json!({"command": "make", "timeout": 9}))));
        let mut gate = shell(json!({"command": "make"}));
        (gate.event, gate.native_event) = (EventKind::PermissionRequest, "PermissionRequest".to_owned());
        gate.harness_session_id = Some("another".to_owned());
        assert_eq!(first, call_digest(&gate));
    }

    #[test]
    fn every_other_difference_changes_the_digest() {
        let call = || shell(json!({"command": "make"}));
        let first = call_digest(&call());
        let mut others =
            vec![shell(json!({"command": "make "})), shell(json!({"command": "make", "sandbox": false}))];
        others.extend([call(), call(), call(), call()]);
        others[2].cwd = Some("/w/x".to_owned());
        others[3].source = "claude-code".to_owned();
        others[4].agent.user = Some("root".to_owned());
        others[5].tool = Some(ToolCall::new("PowerShell", json!({"command": "make"})));
        for other in &others {
            assert_ne!(first, call_digest(other), "{other:?}");
        }
        let mut after = call();
        after.event = EventKind::PostTool;
        assert_eq!(call_digest(&after), None);
    }
}
