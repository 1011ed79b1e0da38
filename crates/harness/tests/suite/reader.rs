// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The effect that a hook's reply has before a tool runs, as measured on each client.

use serde_json::Value;
use tenterhook_harness::HookReply;

/// What happens to the tool.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ToolFate {
    /// The tool runs, with this input if it was changed.
    Runs(Option<Value>),
    /// The tool runs because the reply was invalid and was dropped.
    Fails(&'static str),
    /// The tool does not run, and the model reads this reason.
    Blocked(String),
    /// The client asks the user.
    Asked,
    /// The client waits forever.
    Hangs,
}
use ToolFate::{Asked, Blocked, Fails, Hangs, Runs};

fn text(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.trim().is_empty()).map(ToOwned::to_owned)
}

fn non_null(value: &Value) -> Option<Value> {
    (!value.is_null()).then(|| value.clone())
}

fn has_only_keys(value: &Value, known: &[&str]) -> bool {
    value.as_object().is_none_or(|fields| fields.keys().all(|key| known.contains(&key.as_str())))
}

/// Effect in Claude Code 2.1.325.
pub(crate) fn claude(reply: &HookReply) -> ToolFate {
    let json: Value = serde_json::from_str(&reply.stdout).unwrap_or_default();
    let specific = &json["hookSpecificOutput"];
    let reason = text(&specific["permissionDecisionReason"]).unwrap_or_default();
    match specific["permissionDecision"].as_str() {
        _ if !specific.is_null() && specific["hookEventName"] != "PreToolUse" => Fails("the event's name"),
        Some("deny") => Blocked(reason),
        Some("ask") => Asked,
        _ if reply.exit == 2 => Blocked(reply.stderr.trim().to_owned()),
        _ => Runs(non_null(&specific["updatedInput"])),
    }
}

/// Effect in Codex 0.166.0, for `PreToolUse`.
pub(crate) fn codex(reply: &HookReply) -> ToolFate {
    match reply.exit {
        0 => {}
        2 if !reply.stderr.trim().is_empty() => return Blocked(reply.stderr.trim().to_owned()),
        _ => return Fails("the exit code"),
    }
    if reply.stdout.trim().is_empty() {
        return Runs(None);
    }
    let Ok(json) = serde_json::from_str::<Value>(&reply.stdout) else { return Fails("no JSON") };
    let top = [
        "continue",
        "stopReason",
        "suppressOutput",
        "systemMessage",
        "decision",
        "reason",
        "hookSpecificOutput",
    ];
    let nested = [
        "hookEventName",
        "permissionDecision",
        "permissionDecisionReason",
        "updatedInput",
        "additionalContext",
    ];
    let specific = &json["hookSpecificOutput"];
    if !has_only_keys(&json, &top) || !has_only_keys(specific, &nested) {
        return Fails("an unknown field");
    }
    if !specific.is_null() && specific["hookEventName"].is_null() {
        return Fails("no event's name");
    }
    if json["continue"] == false || json["suppressOutput"] == true {
        return Fails("unsupported");
    }
    if json["decision"] == "block" {
        return text(&json["reason"]).map_or(Fails("no reason"), Blocked);
    }
    match specific["permissionDecision"].as_str() {
        Some("deny") => text(&specific["permissionDecisionReason"]).map_or(Fails("no reason"), Blocked),
        Some("allow") if !specific["updatedInput"].is_null() => Runs(non_null(&specific["updatedInput"])),
        Some(_) => Fails("unsupported"),
        None if !specific["updatedInput"].is_null() => Fails("updatedInput without allow"),
        None => Runs(None),
    }
}

/// Effect in Gemini CLI 0.61.0, for `BeforeTool`.
pub(crate) fn gemini(reply: &HookReply) -> ToolFate {
    let said = if reply.stdout.trim().is_empty() { &reply.stderr } else { &reply.stdout };
    let Ok(json) = serde_json::from_str::<Value>(said) else {
        return match reply.exit {
            0 | 1 => Runs(None),
            _ if said.trim().is_empty() => Runs(None),
            _ => Blocked(said.trim().to_owned()),
        };
    };
    match json["decision"].as_str() {
        Some("deny" | "block") => Blocked(text(&json["reason"]).unwrap_or("No reason provided".to_owned())),
        _ if json["continue"] == false => Blocked(text(&json["stopReason"]).unwrap_or_default()),
        Some("ask") => Hangs,
        _ => Runs(non_null(&json["hookSpecificOutput"]["tool_input"])),
    }
}

/// Effect in LLxprt Code of August 2026, for `BeforeTool`.
pub(crate) fn llxprt(reply: &HookReply) -> ToolFate {
    let json = match reply.exit {
        0 => serde_json::from_str::<Value>(&reply.stdout).unwrap_or_default(),
        2 => return Blocked(reply.stderr.trim().to_owned()),
        _ => return Runs(None),
    };
    let reason = text(&json["stopReason"]).or(text(&json["reason"])).unwrap_or_default();
    match json["decision"].as_str() {
        Some("deny" | "block") => Blocked(reason),
        _ if json["continue"] == false => Blocked(reason),
        // `ask` is treated as `allow`.
        _ => Runs(non_null(&json["hookSpecificOutput"]["tool_input"])),
    }
}

/// Effect in Qwen Code 0.24.4, for `PreToolUse`. With `rival`, another hook that is configured earlier prints
/// `permissionDecision: "allow"`.
pub(crate) fn qwen(reply: &HookReply, rival: bool) -> ToolFate {
    let rival = rival.then_some("allow");
    match reply.exit {
        0 => {}
        2 if !reply.stderr.trim().is_empty() && rival.is_none() => {
            return Blocked(reply.stderr.trim().to_owned());
        }
        _ => return Runs(None),
    }
    let json: Value = serde_json::from_str(&reply.stdout).unwrap_or_default();
    let specific = &json["hookSpecificOutput"];
    let reason = text(&specific["permissionDecisionReason"]).or(text(&json["reason"])).unwrap_or_default();
    match specific["permissionDecision"].as_str().or(rival) {
        Some("deny" | "ask") => Blocked(reason),
        None if matches!(json["decision"].as_str(), Some("deny" | "block")) || json["continue"] == false => {
            Blocked(reason)
        }
        // An `allow` from any hook takes precedence, and `updatedInput` is ignored.
        _ => Runs(None),
    }
}

/// Effect in Cursor according to its documentation. `asks` means that Cursor enforces `ask` for the event.
pub(crate) fn cursor(reply: &HookReply, asks: bool) -> ToolFate {
    if reply.exit == 2 {
        return Blocked(reply.stderr.trim().to_owned());
    }
    let Ok(json) = serde_json::from_str::<Value>(&reply.stdout) else { return Fails("no JSON") };
    let reason = text(&json["agent_message"]).or(text(&json["user_message"])).unwrap_or_default();
    match json["permission"].as_str() {
        Some("deny") => Blocked(reason),
        Some("ask") if asks => Asked,
        Some("allow" | "ask") => Runs(non_null(&json["updated_input"])),
        _ => Fails("no permission"),
    }
}

/// Effect in Cline 3.0.65, for `PreToolUse`. Exit codes and unknown fields are ignored. A harmless replacement
/// command is run here as the client would run it.
pub(crate) fn cline(reply: &HookReply) -> ToolFate {
    let json: Value = serde_json::from_str(&reply.stdout).unwrap_or_default();
    if json["cancel"] == true {
        return Blocked(text(&json["errorMessage"]).unwrap_or_default());
    }
    let input = &json["overrideInput"];
    match input["commands"][0].as_str().filter(|command| command.starts_with("printf '%s\\n' '")) {
        Some(command) => {
            let ran = std::process::Command::new("/bin/sh").arg("-c").arg(command).output().unwrap();
            let said = String::from_utf8(ran.stdout).unwrap();
            Blocked(said.strip_suffix('\n').unwrap_or(&said).to_owned())
        }
        None => Runs(non_null(input)),
    }
}

/// Effect in Copilot CLI 1.0.102, for `preToolUse`.
pub(crate) fn copilot(reply: &HookReply) -> ToolFate {
    if reply.exit != 0 {
        return Blocked(format!("hook exited with code {}", reply.exit));
    }
    let json: Value = serde_json::from_str(&reply.stdout).unwrap_or_default();
    let reason = text(&json["permissionDecisionReason"]).unwrap_or_default();
    match json["permissionDecision"].as_str() {
        Some("deny") => Blocked(reason),
        Some("ask") => Asked,
        _ => Runs(non_null(&json["modifiedArgs"])),
    }
}

/// Effect in Tenterhook's plugins for OpenCode and pi.
pub(crate) fn plugin(reply: &HookReply) -> ToolFate {
    let json: Value = serde_json::from_str(&reply.stdout).unwrap_or_default();
    match json["decision"].as_str() {
        Some("deny") => Blocked(text(&json["reason"]).unwrap_or_default()),
        _ => Runs(non_null(&json["args"])),
    }
}
