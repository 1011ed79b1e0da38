// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The result of one hook as its dialect reads it, and the part of the result that takes effect.

use serde_json::{Value, json};

use crate::settings::ConfiguredHook;
use crate::switches::{MergeStrategy, Profile};

/// Result of one hook.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HookResult {
    /// Whether the hook succeeded.
    pub success: bool,
    /// Parsed output of the hook.
    pub output: Option<Value>,
    /// Reason why the hook could not be run, or did not answer.
    pub error: Option<String>,
    /// Exit code of a command hook.
    pub exit_code: Option<i32>,
    /// Content of standard output.
    pub stdout: String,
    /// Content of standard error.
    pub stderr: String,
    /// Duration of the hook.
    pub duration_ms: u64,
}

/// Returns the part of a result that takes effect. The output of an asynchronous hook is dropped. A failure becomes
/// an objection if both the entry and the event are set to fail closed.
pub fn effective_result(
    profile: &Profile,
    event: &str,
    entry: &ConfiguredHook,
    result: HookResult,
) -> HookResult {
    if entry.is_async {
        return HookResult { output: None, ..result };
    }
    let Some(row) = profile.event(event) else { return result };
    let failed = !result.success && result.output.is_none();
    if !(failed && entry.fail_closed && row.fail_closed) {
        return result;
    }
    let what = entry.label();
    let how = result.error.as_deref().map_or_else(String::new, |error| format!(": {error}"));
    let output = match row.merge {
        MergeStrategy::Actions => json!({
            "action": "block",
            "reason": format!("hook `{what}` failed{how}; blocking because `failBehavior` is `block`"),
        }),
        _ => json!({
            "decision": "block",
            "reason": format!("hook `{what}` failed{how}; blocking because onFailure is \"block\""),
        }),
    };
    HookResult { output: Some(output), ..result }
}

impl HookResult {
    /// Creates the result of a successful hook with this output.
    pub fn with_output(output: Value) -> Self {
        Self { success: true, output: Some(output), exit_code: Some(0), ..Self::default() }
    }

    /// Creates the result of a failed hook.
    pub fn failed(error: impl Into<String>) -> Self {
        Self { error: Some(error.into()), ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SettingsLayer, SettingsSource, find_profile, read_settings};

    fn entry(name: &str, text: &str) -> (&'static Profile, ConfiguredHook) {
        let profile = find_profile(name).unwrap();
        let settings =
            read_settings(profile, &[SettingsLayer { source: SettingsSource::User, name: "s", text }]);
        (profile, settings.entries[0].clone())
    }

    #[test]
    fn a_failure_objects_where_the_entry_asks_for_it_and_the_event_honours_it() {
        let text = |event: &str| {
            format!(
                r#"{{"hooks": {{"{event}": [{{"hooks": [{{"type": "command", "command": "x", "onFailure": "block"}}]}}]}}}}"#
            )
        };
        let output = |event: &str| {
            let (profile, entry) = entry("claude", &text(event));
            effective_result(profile, event, &entry, HookResult::failed("timed out")).output
        };
        let reason = "hook `x` failed: timed out; blocking because onFailure is \"block\"";
        assert_eq!(output("PreToolUse"), Some(json!({"decision": "block", "reason": reason})));
        assert_eq!(output("Stop"), None);
    }

    #[test]
    fn a_word_counts_even_from_a_hook_that_failed() {
        let text = r#"{"registered": [{"event": "PreToolUse", "command": "x", "config": {"failBehavior": "block"}}]}"#;
        let (profile, entry) = entry("a3s", text);
        let go =
            HookResult { output: Some(json!({"action": "continue"})), ..HookResult::failed("exit code 1") };
        assert_eq!(effective_result(profile, "PreToolUse", &entry, go.clone()), go);
        let failed = effective_result(profile, "PreToolUse", &entry, HookResult::failed("gone"));
        assert_eq!(failed.output.unwrap()["action"], "block");
    }

    #[test]
    fn nobody_waits_for_an_async_hook_so_it_decides_nothing() {
        let text = r#"{"registered": [{"event": "PreToolUse", "command": "x", "config": {"async": true}}]}"#;
        let (profile, entry) = entry("a3s", text);
        let late = HookResult::with_output(json!({"action": "block"}));
        assert_eq!(effective_result(profile, "PreToolUse", &entry, late).output, None);
    }
}
