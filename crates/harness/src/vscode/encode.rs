// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Outcome → what VS Code's own agent reads.

use serde_json::json;
use tenterhook_event::{Call, EventKind, Outcome};

use crate::answer::Answer;
use crate::claude_code::wire::{HookOutput, Specific};
use crate::{EventRow, Reply, claude_code};

pub(super) fn encode(row: &EventRow, call: &Call, outcome: &Outcome) -> Reply {
    let mut answer = Answer::new(row, call, outcome);
    let denied = answer.denied(row);
    let mut output = HookOutput::default();
    match row.kind {
        // Its "no" is beside what only this event has.
        EventKind::Stop | EventKind::SubagentStop if denied && answer.stop.is_none() => {
            let mut specific = Specific::default();
            specific.other.insert("decision".to_owned(), json!("block"));
            specific.other.insert("reason".to_owned(), json!(answer.why()));
            output = HookOutput::specific(row, specific);
        }
        // It knows no "no" here but the end of the turn.
        EventKind::Prompt if denied && answer.stop.is_none() => answer.stop = Some(answer.why()),
        EventKind::Stop | EventKind::SubagentStop | EventKind::Prompt => {}
        _ => return claude_code::encode(row, call, outcome),
    }
    if let Some(reason) = answer.stop.take() {
        output.go_on = Some(false);
        output.stop_reason = Some(reason);
    }
    output.system_message = answer.message.take();
    answer.say(&output)
}
