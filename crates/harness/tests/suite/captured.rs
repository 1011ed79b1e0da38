// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Decodes every payload that was captured from a real client, and checks the normalized event.

use std::fmt::Write as _;

use serde_json::Value;
use tenterhook_event::{Event, EventKind};

use crate::common::{CapturedPayload, call_meta, captured, harness};

/// Directory, harness, number of payloads.
const CAPTURED: &[(&str, &str, usize)] = &[
    ("claude-code", "claude-code", 60),
    ("codex", "codex", 28),
    ("codex", "codex-desktop", 28),
    ("cursor", "cursor", 21),
    ("gemini", "gemini", 21),
    ("llxprt", "llxprt", 24),
    ("qwen", "qwen", 22),
    ("cline", "cline", 18),
    ("copilot", "copilot", 31),
    ("copilot/PascalCase", "copilot", 29),
    ("opencode", "opencode", 41),
    ("pi", "pi", 31),
];

/// The normalized event on a few lines, with long texts truncated.
fn shown(file: &str, event: &Event) -> String {
    let mut text = format!("{file}\n    {}", event.event);
    let ids = [
        ("session", &event.harness_session_id),
        ("turn", &event.turn_id),
        ("call", &event.tool_use_id),
        ("cwd", &event.cwd),
        ("project", &event.project),
        ("model", &event.agent.model),
        ("agent", &event.agent.id),
        ("type", &event.agent.kind),
        ("parent", &event.agent.parent),
    ];
    for (name, id) in ids {
        if let Some(id) = id {
            let _ = write!(text, " {name}={id}");
        }
    }
    text.push('\n');
    if let Some(tool) = &event.tool {
        let mcp = tool.mcp.as_ref().map(|mcp| format!(" (`{}` of `{}`)", mcp.tool, mcp.server));
        let _ = writeln!(
            text,
            "    {} {}{} {}",
            tool.class.name(),
            tool.name,
            mcp.unwrap_or_default(),
            cut(&tool.args)
        );
    }
    if let Value::Object(detail) = serde_json::to_value(&event.detail).unwrap() {
        for (name, value) in detail {
            let _ = writeln!(text, "    {name}: {}", cut(&value));
        }
    }
    text
}

fn cut(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() > 160 { text.chars().take(160).collect::<String>() + "…" } else { text }
}

fn decode(id: &str, payload: &CapturedPayload) -> Event {
    let call = harness(id).decode(&call_meta(&payload.event), &payload.bytes);
    let call = call.unwrap_or_else(|error| panic!("{id} {}: {error}", payload.file));
    assert_eq!(call.native.unwrap().bytes, payload.bytes, "{id} {}", payload.file);
    call.event
}

// seed: 001-033, 001-043
#[test]
fn every_captured_payload_is_decoded() {
    insta::with_settings!({prepend_module_to_snapshot => false, omit_expression => true}, {
        for (directory, id, count) in CAPTURED {
            let payloads = captured(directory);
            assert_eq!(payloads.len(), *count, "{directory}");
            let mut page = String::new();
            for payload in &payloads {
                let event = decode(id, payload);
                assert_eq!(event.source, *id);
                let wire = serde_json::to_value(&event).unwrap();
                assert_eq!(serde_json::from_value::<Event>(wire).unwrap(), event, "{}", payload.file);
                page += &shown(&payload.file, &event);
            }
            // Where two harnesses send the same payload, one snapshot serves both.
            insta::assert_snapshot!(format!("captured-{}", directory.replace('/', "-")), page);
        }
    });
}

/// Checks for fields that every harness must provide. The snapshots contain their values.
#[test]
fn no_field_of_a_payload_is_missing() {
    for (directory, id, _) in CAPTURED {
        for payload in captured(directory) {
            let event = decode(id, &payload);
            let at = format!("{id} {}", payload.file);
            let text = String::from_utf8_lossy(&payload.bytes).to_lowercase();
            let in_session = text.contains("\"session") || text.contains("rootsessionid");
            assert_eq!(event.harness_session_id.is_some(), in_session, "{at}");
            assert!(event.cwd.is_some(), "{at}");
            // A reply to a permission request does not contain the tool; the preceding request does.
            let replied = payload.event == "permission.replied";
            assert_eq!(event.event.concerns_tool() && !replied, event.tool.is_some(), "{at}");
            let row = harness(id).event(&payload.event).unwrap();
            assert_eq!(event.native_event, row.native, "{at}");
            // An event with an empty prompt is not a prompt, and an event with an empty response is not the end of a
            // turn.
            let empty = |text: &Option<String>| text.as_deref() == Some("");
            let is_empty = match row.kind {
                EventKind::Prompt => empty(&event.detail.prompt),
                EventKind::Stop => empty(&event.detail.response),
                _ => false,
            };
            let expected = if is_empty { EventKind::Other } else { row.kind };
            assert!(event.event == expected || event.agent.parent.is_some() || replied, "{at}");
            let fields: Value = serde_json::from_slice(&payload.bytes).unwrap();
            if let (Some(tool), Value::Object(input)) = (&event.tool, &fields["tool_input"]) {
                assert_eq!(tool.name, fields["tool_name"], "{at}");
                assert_eq!(tool.args.as_object(), Some(input), "{at}");
            }
            if event.event == EventKind::Prompt {
                let asked = fields["prompt"].as_str().or(fields["output"]["parts"][0]["text"].as_str());
                assert_eq!(event.detail.prompt.as_deref(), asked, "{at}");
            }
        }
    }
}
