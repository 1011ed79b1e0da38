// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Encodes an outcome for VS Code's built-in agent.

use serde_json::json;
use tenterhook_event::{EventKind, HookCall, Outcome};

use crate::claude_code::wire::{ClaudeHookOutput, HookSpecificOutput};
use crate::outcome_encoding::ExpressibleOutcome;
use crate::{EventRow, HookReply, claude_code};

pub(super) fn encode(row: &EventRow, call: &HookCall, outcome: &Outcome) -> HookReply {
    let mut answer = ExpressibleOutcome::new(row, call, outcome);
    let denied = answer.is_denied(row);
    let mut output = ClaudeHookOutput::default();
    match row.kind {
        // For these events, a deny is written to `hookSpecificOutput`.
        EventKind::Stop | EventKind::SubagentStop if denied && answer.stop.is_none() => {
            let mut specific = HookSpecificOutput::default();
            specific.other.insert("decision".to_owned(), json!("block"));
            specific.other.insert("reason".to_owned(), json!(answer.reason_text()));
            output = ClaudeHookOutput::specific(row, specific);
        }
        // The only way to deny a prompt is to end the turn.
        EventKind::Prompt if denied && answer.stop.is_none() => answer.stop = Some(answer.reason_text()),
        EventKind::Stop | EventKind::SubagentStop | EventKind::Prompt => {}
        _ => return claude_code::encode(row, call, outcome),
    }
    if let Some(reason) = answer.stop.take() {
        output.go_on = Some(false);
        output.stop_reason = Some(reason);
    }
    output.system_message = answer.message.take();
    answer.into_reply(&output)
}
