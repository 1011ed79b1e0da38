// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The output of a single command hook that is equivalent to an aggregate.

use serde_json::Value;

use crate::aggregate::AggregatedResult;
use crate::switches::{MergeStrategy, Profile};

/// Exit status and output of a command hook.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandReply {
    /// Content of standard output.
    pub stdout: String,
    /// Content of standard error.
    pub stderr: String,
    /// Exit code of the hook.
    pub exit: u8,
}

/// Formats the final output as JSON. The exit code is 0 even for an objection: every harness reads JSON, while the
/// meaning of exit codes differs. If the output is empty, nothing is printed.
pub fn format_reply(profile: &Profile, event: &str, aggregated: &AggregatedResult) -> CommandReply {
    let row = profile.event(event);
    let has_content = |output: &&Value| match row.map(|row| row.merge) {
        // For a `continue` without a modification, an empty output is equivalent and unambiguous.
        Some(MergeStrategy::Actions) => {
            output.get("action").is_none_or(|action| action != "continue" || output.get("modified").is_some())
        }
        _ => output.as_object().is_none_or(|fields| !fields.is_empty()),
    };
    let stdout =
        aggregated.final_output.as_ref().filter(has_content).map(Value::to_string).unwrap_or_default();
    CommandReply { stdout, ..CommandReply::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::HookResult;
    use crate::{aggregate, find_profile};
    use serde_json::json;

    fn replied(name: &str, event: &str, outputs: &[Value]) -> CommandReply {
        let profile = find_profile(name).unwrap();
        let results: Vec<_> = outputs.iter().cloned().map(HookResult::with_output).collect();
        format_reply(profile, event, &aggregate(profile, event, &results))
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
        assert_eq!(replied("llxprt", "BeforeTool", &[]), CommandReply::default());
        assert_eq!(replied("claude", "PreToolUse", &[json!({})]), CommandReply::default());
        assert_eq!(replied("a3s", "PreToolUse", &[json!({"action": "continue"})]), CommandReply::default());
    }
}
