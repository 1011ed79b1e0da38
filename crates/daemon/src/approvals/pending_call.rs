// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Describes a waiting call for users.

use serde_json::json;
use tenterhook_api::Approval;
use tenterhook_event::{HookCall, Outcome, Timestamp};
use tenterhook_home::call_meta;
use tokio::time::Instant;

pub(super) fn describe_call(call: &HookCall, outcome: &Outcome, until: Instant) -> Approval {
    let event = &call.event;
    let left = until.saturating_duration_since(Instant::now());
    let since = call_meta::now_ms();
    let left = u64::try_from(left.as_millis()).unwrap_or(u64::MAX);
    let mut tool = event.tool.clone();
    // A hook or rule may have changed the input that will run.
    if let (Some(tool), Some(input)) = (&mut tool, &outcome.tool_input) {
        tool.args = input.clone();
    }
    let wants = match (&tool, &event.detail.prompt) {
        (Some(tool), _) => tool.gist().into_owned(),
        (None, Some(prompt)) => prompt.clone(),
        (None, None) => event.native_event.clone(),
    };
    let mut approval = Approval {
        id: event.id,
        name: event.id.short_name(),
        digest: String::new(),
        since: Timestamp::from_unix_ms(since),
        until: Timestamp::from_unix_ms(since.saturating_add(left)),
        source: event.source.clone(),
        event: event.native_event.clone(),
        session: event.harness_session_id.clone(),
        cwd: event.cwd.clone(),
        user: event.agent.user.clone(),
        tool: tool.as_ref().map(|tool| tool.name.clone()),
        wants,
        args: tool.map(|tool| tool.args).unwrap_or_default(),
        reasons: outcome.reasons.clone(),
    };
    approval.digest = compute_digest(&approval);
    approval
}

/// Computes a digest of everything that is shown. Approvals name the digest too, because senders choose call ids.
fn compute_digest(approval: &Approval) -> String {
    let Approval { id, source, event, session, cwd, user, tool, wants, args, reasons, .. } = approval;
    let shown = json!([id, source, event, session, cwd, user, tool, wants, args, reasons]);
    tenterhook_home::trust::sha256(shown.to_string().as_bytes())
}

/// Returns the time left to answer, in seconds.
pub(super) fn wait_seconds(approval: &Approval) -> u64 {
    approval.until.unix_ms().saturating_sub(approval.since.unix_ms()) / 1000
}
