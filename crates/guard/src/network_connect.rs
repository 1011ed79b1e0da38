// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Connections of sandboxed runs: an address that is not public needs a rule that allows it.

use serde_json::Value;
use tenterhook_event::{Decision, Event, EventKind, Finding, NETWORK_CONNECT, Origin};

/// Value of the argument `address` for addresses of the public internet.
const PUBLIC_ADDRESS: &str = "public";

/// Returns a deny if the event is a connection to an address that is not public, and no rule allows it. The proxy sets
/// the argument `address` from the address that it would connect to.
pub(crate) fn refuse_inner_address(event: &Event, findings: &[Finding]) -> Option<Finding> {
    let tool = event.tool.as_ref().filter(|tool| tool.name == NETWORK_CONNECT)?;
    let text = |key: &str| tool.args.get(key).and_then(Value::as_str);
    let class = text("address").filter(|class| *class != PUBLIC_ADDRESS)?;
    let is_allowed = findings.iter().any(|finding| finding.decision == Decision::Allow);
    if event.event != EventKind::PreTool || is_allowed {
        return None;
    }
    let host = text("host").unwrap_or("?");
    let reason = match text("resolved_from") {
        Some(name) => format!("`{name}` resolves to `{host}`, which is not a public address ({class})."),
        None => format!("`{host}` is not a public address ({class})."),
    };
    let mut finding = Finding::decided(Origin::Engine, Decision::Deny, reason);
    finding.nudge = Some(format!("use a public host, or ask the user to allow the host `{host}` in a rule"));
    Some(finding)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tenterhook_event::{EventId, Timestamp, ToolCall};

    use super::*;

    fn event(kind: EventKind, args: Value) -> Event {
        let mut event =
            Event::new(EventId::from_parts(1, 1), Timestamp::from_unix_ms(1), "run", kind, "connect");
        event.tool = Some(ToolCall::new(NETWORK_CONNECT, args));
        event
    }

    #[test]
    fn only_a_rule_that_allows_opens_an_inner_address() {
        let inner = json!({"host": "10.0.0.1", "address": "private", "resolved_from": "a.example"});
        let denied = refuse_inner_address(&event(EventKind::PreTool, inner.clone()), &[]).unwrap();
        assert_eq!(denied.decision, Decision::Deny);
        assert!(denied.reason.unwrap().contains("`a.example` resolves to `10.0.0.1`"));
        let by = |decision| [Finding::decided(Origin::Engine, decision, "x")];
        assert!(
            refuse_inner_address(&event(EventKind::PreTool, inner.clone()), &by(Decision::Ask)).is_some()
        );
        assert_eq!(
            refuse_inner_address(&event(EventKind::PreTool, inner.clone()), &by(Decision::Allow)),
            None
        );
        assert_eq!(
            refuse_inner_address(&event(EventKind::PostTool, inner), &[]),
            None,
            "the end of a connection"
        );
        for args in [json!({"host": "8.8.8.8", "address": "public"}), json!({"host": "a.example"})] {
            assert_eq!(refuse_inner_address(&event(EventKind::PreTool, args), &[]), None);
        }
    }
}
