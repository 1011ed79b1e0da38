// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads a hook's output exactly as the original client does.
//!
//! Profiles (crate `tenterhook-profile`), which reproduce the clients' behaviour, use this module. The engine uses
//! the stricter [`HookDialect::interpret`](super::HookDialect::interpret).

use serde_json::{Value, json};

use super::switches::{ExitTwo, JsonValues, OtherExit, PlainText};
use super::{HookDialect, HookExit};
use crate::claude_code::wire::ClaudeHookOutput;

/// Result of one hook, in the original client's format.
#[derive(Debug, Clone, PartialEq)]
pub struct RawHookResult {
    /// Whether the exit code was 0.
    pub success: bool,
    /// Exit code as the original client reports it.
    pub exit_code: Option<i32>,
    /// Output without validation, as the original client passes it on.
    pub output: Option<Value>,
    /// Format from which `output` was read.
    pub format: OutputFormat,
}

/// Format of a hook's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputFormat {
    /// Standard output was a JSON object.
    Json,
    /// Plain text output.
    Text,
    /// Standard output was empty.
    None,
}

/// Reads a hook's output for one native event, as the original client does.
pub fn read_at(dialect: &HookDialect, event: &str, exited: &HookExit) -> RawHookResult {
    let mut raw = read(dialect, exited);
    let switches = &dialect.switches;
    if switches.strict_shape && raw.output.as_ref().is_some_and(|output| !claude_reads(output, event)) {
        raw.output = None;
    }
    if exited.code == Some(2) && !switches.exit_two_ignored_at.contains(&event) {
        let reason = || exited.stderr_reason();
        raw.output = match (switches.exit_two, raw.output) {
            (ExitTwo::AsPrinted, output) => output,
            (ExitTwo::Blocks, Some(output)) if blocks(&output) => Some(output),
            (ExitTwo::Blocks, _) => Some(json!({"decision": "block", "reason": reason()})),
            (ExitTwo::BlocksByAction, _) => Some(json!({"action": "block", "reason": reason()})),
        };
    }
    raw
}

/// Returns whether Claude Code accepts the output: all known fields have valid values, and event-specific fields name
/// this event.
fn claude_reads(output: &Value, event: &str) -> bool {
    let Ok(output) = serde_json::from_value::<ClaudeHookOutput>(output.clone()) else { return false };
    output.hook_specific_output.is_none_or(|specific| specific.hook_event_name.as_deref() == Some(event))
}

/// Returns whether the output is a block with a reason. Standard error is then not needed as the reason.
fn blocks(output: &Value) -> bool {
    let said = |decision: &str, word: &str, reason: &str| {
        output.pointer(decision).and_then(Value::as_str) == Some(word) && output.pointer(reason).is_some()
    };
    said("/decision", "block", "/reason")
        || said(
            "/hookSpecificOutput/permissionDecision",
            "deny",
            "/hookSpecificOutput/permissionDecisionReason",
        )
}

/// Reads a hook's output by the rules that the original client applies to all events.
pub fn read(dialect: &HookDialect, exited: &HookExit) -> RawHookResult {
    let (output, format) = answer(dialect, exited);
    RawHookResult {
        success: exited.code == Some(0),
        exit_code: exited.code.or(dialect.switches.signal_reported_as),
        output,
        format,
    }
}

fn answer(dialect: &HookDialect, exited: &HookExit) -> (Option<Value>, OutputFormat) {
    let switches = &dialect.switches;
    let (stdout, stderr) = (text(&exited.stdout), text(&exited.stderr));
    let code = exited.code.unwrap_or(switches.signal_read_as);
    let hears_stdout = exited.code == Some(0) || switches.json_on_nonzero_exit;
    let (said, may_be_json) = if hears_stdout && !stdout.is_empty() {
        (stdout.as_str(), true)
    } else if hears_stdout && switches.stderr_when_stdout_blank {
        (stderr.as_str(), true)
    } else if exited.code == Some(0) {
        ("", false)
    } else {
        (stderr.as_str(), false)
    };
    if said.is_empty() {
        let reason = switches.exit_two_without_stderr.filter(|_| exited.code == Some(2));
        return match (switches.plain_text, reason) {
            (PlainText::Answer, Some(reason)) => {
                (Some(json!({"decision": "deny", "reason": reason})), OutputFormat::Text)
            }
            _ => (None, OutputFormat::None),
        };
    }
    if let Some(value) = may_be_json.then(|| decode(said, switches.json_values)).flatten() {
        return if counts(&value, switches.json_values) {
            (Some(value), OutputFormat::Json)
        } else {
            (None, OutputFormat::None)
        };
    }
    match switches.plain_text {
        PlainText::Answer => (Some(from_text(said, code, switches.other_exit_with_text)), OutputFormat::Text),
        PlainText::NoAnswer => (None, OutputFormat::Text),
    }
}

/// Returns the parsed value if the text is JSON.
fn decode(text: &str, values: JsonValues) -> Option<Value> {
    if values == JsonValues::Object {
        let looks_it = text.starts_with('{') && text.ends_with('}');
        return looks_it.then(|| serde_json::from_str(text).ok()).flatten();
    }
    match serde_json::from_str(text).ok()? {
        Value::String(inner) => serde_json::from_str(&inner).ok(),
        value => Some(value),
    }
}

fn counts(value: &Value, values: JsonValues) -> bool {
    match values {
        JsonValues::Truthy => truthy(value),
        JsonValues::NotNull => !value.is_null(),
        JsonValues::Object | JsonValues::Containers => value.is_object() || value.is_array(),
    }
}

fn truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}

fn from_text(said: &str, code: i32, other: OtherExit) -> Value {
    match (code, other) {
        (0, _) => json!({"decision": "allow", "systemMessage": said}),
        (2, _) => json!({"decision": "deny", "reason": said}),
        (code, OtherExit::Denies) if code != 1 => json!({"decision": "deny", "reason": said}),
        _ => json!({"decision": "allow", "systemMessage": format!("Warning: {said}")}),
    }
}

/// Returns the bytes as text, trimmed by JavaScript's rules. So output is considered empty exactly if the client
/// considers it empty.
pub(super) fn text(bytes: &[u8]) -> String {
    let space = |letter: char| (letter.is_whitespace() && letter != '\u{85}') || letter == '\u{feff}';
    String::from_utf8_lossy(bytes).trim_matches(space).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::find;

    fn raw(dialect: &str, code: Option<i32>, stdout: &str, stderr: &str) -> RawHookResult {
        let exited = HookExit { code, stdout: stdout.into(), stderr: stderr.into() };
        read(find(dialect).unwrap(), &exited)
    }

    #[test]
    fn exit_2_blocks_in_claude_code_whatever_is_printed_but_not_at_every_event() {
        let claude = find("claude").unwrap();
        let at = |event: &str, stdout: &str| {
            let exited = HookExit { code: Some(2), stdout: stdout.into(), stderr: b"no".to_vec() };
            read_at(claude, event, &exited).output
        };
        let allow =
            json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}});
        let blocked = Some(json!({"decision": "block", "reason": "no"}));
        assert_eq!(at("PreToolUse", &allow.to_string()), blocked);
        assert_eq!(at("PreToolUse", ""), blocked);
        assert_eq!(at("PermissionRequest", ""), None);
        let own = json!({"decision": "block", "reason": "its own"});
        assert_eq!(at("Stop", &own.to_string()), Some(own));
    }

    #[test]
    fn an_answer_that_claude_code_would_drop_is_dropped() {
        let claude = find("claude").unwrap();
        let heard = |output: &Value| {
            let exited = HookExit { code: Some(0), stdout: output.to_string().into(), stderr: Vec::new() };
            read_at(claude, "PreToolUse", &exited).output.is_some()
        };
        let specific = |name: Value, word: &str| json!({"hookSpecificOutput": {"hookEventName": name, "permissionDecision": word}});
        assert!(heard(&specific(json!("PreToolUse"), "deny")));
        assert!(!heard(&specific(json!("PostToolUse"), "deny")), "about another event");
        assert!(!heard(&specific(Value::Null, "deny")), "about no event");
        assert!(!heard(&specific(json!("PreToolUse"), "block")), "no such word");
    }

    #[test]
    fn which_json_values_are_an_answer_differs() {
        for (stdout, seed, later, gemini) in [
            ("42", true, true, false),
            ("0", false, true, false),
            ("false", false, true, false),
            ("null", false, false, false),
            ("[]", true, true, true),
            ("{}", true, true, true),
            ("\"\\\"\\\"\"", false, true, false),
        ] {
            let answers = |dialect| raw(dialect, Some(0), stdout, "").output.is_some();
            assert_eq!(answers("llxprt"), seed, "{stdout}");
            assert_eq!(answers("llxprt-2026-08"), later, "{stdout}");
            assert_eq!(answers("gemini"), gemini, "{stdout}");
        }
    }

    #[test]
    fn a_json_text_that_holds_no_json_is_plain_text_quotes_and_all() {
        let read = raw("gemini", Some(0), "\"hello\"\n", "");
        assert_eq!(read.output, Some(json!({"decision": "allow", "systemMessage": "\"hello\""})));
        assert_eq!(read.format, OutputFormat::Text);
    }

    #[test]
    fn exit_2_with_nothing_said_denies_only_where_the_row_has_a_reason() {
        assert_eq!(raw("llxprt", Some(2), "text", " \n").output, None);
        assert_eq!(raw("gemini", Some(2), "", "").output, None);
        let denied = raw("llxprt-2026-08", Some(2), "text", "").output.unwrap();
        assert_eq!(denied["decision"], "deny");
    }

    #[test]
    fn a_signal_is_a_warning_in_llxprt_and_plain_text_in_gemini() {
        let read = raw("llxprt", None, "partial", "died");
        assert_eq!((read.success, read.exit_code), (false, Some(0)));
        assert_eq!(read.output.unwrap()["systemMessage"], "Warning: died");
        assert_eq!(raw("gemini", None, "", "died").output.unwrap()["systemMessage"], "died");
        assert_eq!(raw("claude", None, "", "died").exit_code, None);
    }

    #[test]
    fn claude_s_standard_error_is_never_json() {
        let read = raw("claude", Some(1), "", "{\"decision\":\"block\"}");
        assert_eq!((read.output, read.format), (None, OutputFormat::Text));
        assert_eq!(raw("claude", Some(1), "{\"decision\":\"block\"}", "").format, OutputFormat::Json);
    }
}
