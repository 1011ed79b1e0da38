// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What one command hook would print that says all they said.

use serde_json::Value;

use crate::aggregate::Aggregated;
use crate::switches::{Profile, Strategy};

/// What a command hook leaves behind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reply {
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// The exit code.
    pub exit: u8,
}

/// The final output as JSON, with exit code 0 also for an objection: every harness reads that, while
/// exit codes mean different things to each. Nothing to say is nothing printed.
pub fn reply(profile: &Profile, event: &str, aggregated: &Aggregated) -> Reply {
    let row = profile.event(event);
    let says = |output: &&Value| match row.map(|row| row.merge) {
        // No modification, no objection: silence is as good and cannot be mistaken.
        Some(Strategy::Actions) => {
            output.get("action").is_none_or(|action| action != "continue" || output.get("modified").is_some())
        }
        _ => output.as_object().is_none_or(|fields| !fields.is_empty()),
    };
    let stdout = aggregated.final_output.as_ref().filter(says).map(Value::to_string).unwrap_or_default();
    Reply { stdout, ..Reply::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::HookResult;
    use crate::{aggregate, find};
    use serde_json::json;

    fn replied(name: &str, event: &str, outputs: &[Value]) -> Reply {
        let profile = find(name).unwrap();
        let results: Vec<_> = outputs.iter().cloned().map(HookResult::said).collect();
        reply(profile, event, &aggregate(profile, event, &results))
    }

    #[test]
    fn an_objection_is_json_on_standard_output() {
        let reply = replied("llxprt", "BeforeTool", &[json!({"decision": "deny", "reason": "no"})]);
        let said: Value = serde_json::from_str(&reply.stdout).unwrap();
        assert_eq!(
            said,
            json!({"continue": true, "suppressOutput": false, "decision": "deny", "reason": "no"})
        );
        assert_eq!((reply.stderr.as_str(), reply.exit), ("", 0));
    }

    #[test]
    fn nothing_to_say_is_nothing_printed() {
        assert_eq!(replied("llxprt", "BeforeTool", &[]), Reply::default());
        assert_eq!(replied("claude", "PreToolUse", &[json!({})]), Reply::default());
        assert_eq!(replied("a3s", "PreToolUse", &[json!({"action": "continue"})]), Reply::default());
    }
}
