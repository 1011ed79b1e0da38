// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Asks only once about a call that reaches several gates. A gate is an event that can stop a call. Qwen Code
//! sends `PermissionRequest` and then `PreToolUse`; Codex sends them in the opposite order.
//!
//! An approval at one gate covers each other gate of the same call once, for a short time. If the same call reaches
//! the gate of the approval again, the user is asked again, so one approval cannot let a call run twice.

use std::time::Duration;

use tenterhook_event::{EventId, HookCall, Origin, SessionCheck};
use tenterhook_harness::same_call_key;
use tokio::time::Instant;

/// Maximum time between two gates of one call.
const MAX_BETWEEN_GATES: Duration = Duration::from_mins(1);
/// Maximum number of approved calls remembered; the oldest are dropped first.
const MAX_REMEMBERED: usize = 256;

/// Calls that a user approved at one of their gates.
#[derive(Debug, Default)]
pub(super) struct ApprovedGates(Vec<ApprovedCall>);

#[derive(Debug)]
struct ApprovedCall {
    /// The call, as described by [`same_call_key`].
    text: String,
    tool_use_id: Option<String>,
    origins_that_ask: Vec<Origin>,
    /// The event at which the call was approved, and the time of the approval.
    of: EventId,
    at: Instant,
    /// Gates at which the approval was already used.
    used: Vec<String>,
}

impl ApprovedGates {
    /// Remembers a call that was approved at one gate.
    pub(super) fn add(&mut self, call: &HookCall, origins_that_ask: Vec<Origin>) {
        let Some(text) = own_call(call) else { return };
        self.forget(Instant::now());
        let beyond = (self.0.len() + 1).saturating_sub(MAX_REMEMBERED);
        self.0.drain(..beyond);
        self.0.push(ApprovedCall {
            text,
            tool_use_id: call.event.tool_use_id.clone(),
            origins_that_ask,
            of: call.event.id,
            at: Instant::now(),
            used: vec![call.event.native_event.clone()],
        });
    }

    /// Uses an approval of the same call given at another gate. Returns the approved event.
    pub(super) fn take(&mut self, call: &HookCall, origins_that_ask: &[Origin]) -> Option<EventId> {
        self.forget(Instant::now());
        let text = own_call(call)?;
        let gate = &call.event.native_event;
        let is_covered = |known: &&mut ApprovedCall| {
            let ids = (&known.tool_use_id, &call.event.tool_use_id);
            known.text == text
                && !matches!(ids, (Some(one), Some(other)) if one != other)
                && !known.used.contains(gate)
                && !origins_that_ask.is_empty()
                && origins_that_ask.iter().all(|asker| known.origins_that_ask.contains(asker))
        };
        let known = self.0.iter_mut().rev().find(is_covered)?;
        known.used.push(gate.clone());
        Some(known.of)
    }

    fn forget(&mut self, now: Instant) {
        self.0.retain(|known| now.saturating_duration_since(known.at) < MAX_BETWEEN_GATES);
    }
}

/// Returns the call's key, unless another process is using its session id.
fn own_call(call: &HookCall) -> Option<String> {
    (call.event.session_check != Some(SessionCheck::Unverified)).then(|| same_call_key(&call.event)).flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tenterhook_event::{Event, EventKind, Timestamp, ToolCall};

    use super::*;

    fn call(kind: EventKind, native: &str, command: &str) -> HookCall {
        let (id, ts) = (EventId::from_parts(1, 2), Timestamp::from_unix_ms(1));
        let mut event = Event::new(id, ts, "qwen", kind, native);
        event.harness_session_id = Some("s".to_owned());
        event.tool = Some(ToolCall::new("run_shell_command", json!({"command": command})));
        HookCall { event, native: None }
    }

    fn permission(command: &str) -> HookCall {
        call(EventKind::PermissionRequest, "PermissionRequest", command)
    }

    fn tool(command: &str) -> HookCall {
        call(EventKind::PreTool, "PreToolUse", command)
    }

    fn rules(ids: &[&str]) -> Vec<Origin> {
        ids.iter().map(|id| Origin::rule(id)).collect()
    }

    #[test]
    fn an_approval_covers_the_other_gate_of_the_same_call_once() {
        let mut gates = ApprovedGates::default();
        gates.add(&permission("rm a"), rules(&["a"]));
        assert_eq!(gates.take(&tool("rm b"), &rules(&["a"])), None, "another call");
        assert_eq!(gates.take(&tool("rm a"), &rules(&["a", "b"])), None, "one more asks");
        assert_eq!(gates.take(&permission("rm a"), &rules(&["a"])), None, "the same gate is another call");
        let mut foreign = tool("rm a");
        foreign.event.session_check = Some(SessionCheck::Unverified);
        assert_eq!(gates.take(&foreign, &rules(&["a"])), None, "another process names the session");
        assert!(gates.take(&tool("rm a"), &rules(&["a"])).is_some());
        assert_eq!(gates.take(&tool("rm a"), &rules(&["a"])), None, "the next call");
    }

    #[test]
    fn calls_with_different_numbers_are_different() {
        let mut gates = ApprovedGates::default();
        let numbered = |mut call: HookCall, id: &str| {
            call.event.tool_use_id = Some(id.to_owned());
            call
        };
        gates.add(&numbered(permission("rm a"), "1"), rules(&["a"]));
        assert_eq!(gates.take(&numbered(tool("rm a"), "2"), &rules(&["a"])), None);
        assert!(gates.take(&numbered(tool("rm a"), "1"), &rules(&["a"])).is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn an_approval_covers_other_gates_for_a_minute() {
        let mut gates = ApprovedGates::default();
        gates.add(&permission("rm a"), rules(&["a"]));
        tokio::time::advance(MAX_BETWEEN_GATES).await;
        assert_eq!(gates.take(&tool("rm a"), &rules(&["a"])), None);
        for _ in 0..=MAX_REMEMBERED {
            gates.add(&permission("rm a"), rules(&["a"]));
        }
        assert_eq!(gates.0.len(), MAX_REMEMBERED);
    }
}
