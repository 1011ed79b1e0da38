// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The dialects of LLxprt Code and Gemini CLI. They form one family with three rows in the table of dialects.
//!
//! The original clients do not validate output, so they treat a misspelt deny as an allow. This module treats it as a
//! failure, and the hook's setting `fail: open | closed` decides. With `open`, the effect is the same as in the
//! original client.

mod payload;

use std::time::Duration;

use serde_json::{Map, Value};
use tenterhook_event::{
    Decision, Event, EventKind as Kind, Finding, Flow, MergeMode, Modification, Origin, SelectionMode,
};

use super::fields::FieldReader;
use super::read::{self, OutputFormat};
use super::switches::{self, DialectSwitches};
use super::{HookDialect, HookExit, InterpretedOutput, InvalidOutput, NO_REASON};

pub(super) const SEED: HookDialect = HookDialect {
    name: "llxprt",
    about: "LLxprt Code's hook reference: BeforeTool and similar events in, JSON or exit 2 with text out",
    timeout: Duration::from_mins(1),
    switches: switches::LLXPRT,
    event_name: |event| super::event_name_in(payload::NAMES, event),
    kind: |name| super::event_kind_in(payload::NAMES, name),
    stdin: payload::stdin,
    interpret,
};

pub(super) const LATER: HookDialect = HookDialect {
    name: "llxprt-2026-08",
    about: "LLxprt Code of August 2026: bash, one variable, exit 2 denies even without text",
    switches: switches::LLXPRT_2026_08,
    ..SEED
};

pub(super) const GEMINI: HookDialect = HookDialect {
    name: "gemini",
    about: "Gemini CLI of August 2026: JSON at every exit code, other exit codes deny",
    switches: switches::GEMINI,
    ..SEED
};

const DECISIONS: &[(&str, Decision)] = &[
    ("allow", Decision::Allow),
    ("approve", Decision::Allow),
    ("ask", Decision::Ask),
    ("deny", Decision::Deny),
    ("block", Decision::Deny),
];

const MODES: &[(&str, SelectionMode)] =
    &[("AUTO", SelectionMode::Auto), ("ANY", SelectionMode::Any), ("NONE", SelectionMode::None)];

fn interpret(
    dialect: &HookDialect,
    event: &Event,
    by: Origin,
    exited: &HookExit,
) -> Result<InterpretedOutput, InvalidOutput> {
    let raw = read::read(dialect, exited);
    let heard = match (&raw.output, raw.format) {
        (Some(Value::Object(answer)), OutputFormat::Json) => finding(&dialect.switches, event, &by, answer),
        (Some(other), OutputFormat::Json) => {
            Err(InvalidOutput(format!("the output is {other}, expected an object")))
        }
        (Some(answer), _) => from_text(exited, &by, answer),
        (None, _) if exited.code == Some(0) => Ok(Finding::silent(by.clone())),
        (None, _) => Err(InvalidOutput(exited.describe_exit())),
    };
    if exited.code == Some(2) {
        return Ok(denied(heard.unwrap_or_else(|_| Finding::silent(by)), exited).into());
    }
    heard.map(InterpretedOutput::from)
}

/// Turns the finding into a deny if the exit code is 2. All documentation of the family says that exit code 2 denies,
/// even if the hook prints nothing or prints an allow.
fn denied(said: Finding, exited: &HookExit) -> Finding {
    let reason = said.reason.clone().filter(|_| said.decision == Decision::Deny);
    let reason = reason.unwrap_or_else(|| match read::text(&exited.stderr).as_str() {
        "" => NO_REASON.to_owned(),
        stderr => stderr.to_owned(),
    });
    Finding { decision: Decision::Deny, reason: Some(reason), ..said }
}

/// Returns the finding that the original client derives from plain text. An `allow` here only means that the hook did
/// not object.
fn from_text(exited: &HookExit, by: &Origin, answer: &Value) -> Result<Finding, InvalidOutput> {
    let part = |key: &str| answer.get(key).and_then(Value::as_str).map(ToOwned::to_owned);
    if part("decision").as_deref() == Some("deny") {
        return Ok(Finding::decided(by.clone(), Decision::Deny, part("reason").unwrap_or_default()));
    }
    // After exit code 1 or a signal, the original client continues as after a crash. It cannot distinguish these
    // cases, and neither can this code.
    if exited.code != Some(0) {
        return Err(InvalidOutput(exited.describe_exit()));
    }
    let message = part("systemMessage");
    if message.as_deref().is_some_and(|text| text.starts_with('{')) {
        return Err(InvalidOutput("the output looks like JSON but is invalid".to_owned()));
    }
    Ok(Finding { message, ..Finding::silent(by.clone()) })
}

fn finding(
    switches: &DialectSwitches,
    event: &Event,
    by: &Origin,
    answer: &Map<String, Value>,
) -> Result<Finding, InvalidOutput> {
    let mut fields = FieldReader::new(answer);
    let mut specific = fields.inside("hookSpecificOutput");
    let general = fields.word("decision", DECISIONS);
    let permission = specific.word("permissionDecision", DECISIONS);
    let permission = match (permission, switches.permission_decision && event.event == Kind::PreTool) {
        (Some(_), false) => {
            specific.note("`permissionDecision` is not supported here; use `decision`".to_owned());
            None
        }
        (permission, _) => permission,
    };
    let decision = general.into_iter().chain(permission).max().unwrap_or_default();
    let stop_reason = fields.text("stopReason");
    let permission_reason = specific.text("permissionDecisionReason");
    let mut reason = fields.text("reason").or(permission_reason);
    if decision == Decision::Deny {
        reason = reason.or_else(|| stop_reason.clone()).or_else(|| Some(NO_REASON.to_owned()));
    }
    let go_on = fields.flag("continue");
    let finding = Finding {
        by: by.clone(),
        decision,
        flow: if go_on == Some(false) { Flow::Stop { reason: stop_reason } } else { Flow::Go },
        reason,
        nudge: None,
        modifications: modifications(switches, event.event, &mut specific),
        context: specific.text("additionalContext"),
        message: fields.text("systemMessage"),
        suppress_output: fields.flag("suppressOutput") == Some(true),
    };
    fields.take_over(specific);
    match fields.problem {
        // A deny stays a deny even if other fields are invalid.
        Some(problem) if finding.decision != Decision::Deny => Err(InvalidOutput(problem)),
        _ => Ok(finding),
    }
}

/// Returns the changes that the event allows. The original client merges the tool inputs of sequential hooks key by
/// key, so the change is merged into the requested input in the same way.
fn modifications(
    switches: &DialectSwitches,
    kind: Kind,
    specific: &mut FieldReader<'_>,
) -> Vec<Modification> {
    let object = |map: &Map<String, Value>| Value::Object(map.clone());
    let mut found = Vec::new();
    match kind {
        Kind::PreTool | Kind::PermissionRequest => {
            found.extend(
                specific
                    .object("tool_input")
                    .map(|map| Modification::ToolInput { merge: MergeMode::Shallow, value: object(map) }),
            );
        }
        Kind::PreModel | Kind::PostModel => {
            found.extend(
                specific
                    .object("llm_request")
                    .filter(|_| kind == Kind::PreModel)
                    .map(|map| Modification::ModelRequest { merge: MergeMode::Shallow, value: object(map) }),
            );
            found.extend(
                specific
                    .object("llm_response")
                    .map(|map| Modification::ModelResponse { merge: MergeMode::Replace, value: object(map) }),
            );
        }
        Kind::ToolSelection => {
            let config = specific.object("toolConfig");
            found.extend(config.and_then(|config| tool_selection(switches, config, specific)));
        }
        _ => {}
    }
    found
}

fn tool_selection(
    switches: &DialectSwitches,
    config: &Map<String, Value>,
    specific: &mut FieldReader<'_>,
) -> Option<Modification> {
    let mut fields = FieldReader::new(config);
    let mode = fields.word("mode", MODES);
    let allowed = fields.texts("allowedFunctionNames");
    let readable = fields.problem.is_none();
    specific.take_over(fields);
    let nothing = switches.empty_tool_list_is_none && allowed.as_ref().is_some_and(Vec::is_empty);
    let mode = if nothing { SelectionMode::None } else { mode.unwrap_or(SelectionMode::Auto) };
    readable.then(|| Modification::ToolSelection { mode, allowed: allowed.unwrap_or_default() })
}

#[cfg(test)]
mod tests;
