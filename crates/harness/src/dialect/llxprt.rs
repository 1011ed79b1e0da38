// SPDX-License-Identifier: Apache-2.0 OR MIT

//! LLxprt Code's and Gemini CLI's dialects: one family, three rows.
//!
//! The originals never validate an answer, so a misspelt deny is an allow. Here it is a failure,
//! and `fail: open | closed` says what that means; with `open` the effect is the original's.

mod payload;

use std::time::Duration;

use serde_json::{Map, Value};
use tenterhook_event::{
    Decision, Event, EventKind as Kind, Finding, Flow, Merge, Modification, Origin, SelectionMode,
};

use super::fields::Fields;
use super::read::{self, Format};
use super::switches::{self, Switches};
use super::{Dialect, Exited, Heard, Misheard, NO_REASON};

pub(super) const SEED: Dialect = Dialect {
    name: "llxprt",
    about: "as LLxprt Code's hook reference says: BeforeTool and its kin in, JSON or exit 2 with a text out",
    timeout: Duration::from_mins(1),
    switches: switches::LLXPRT,
    event_name: |event| super::name_in(payload::NAMES, event),
    kind: |name| super::kind_in(payload::NAMES, name),
    stdin: payload::stdin,
    hear,
};

pub(super) const LATER: Dialect = Dialect {
    name: "llxprt-2026-08",
    about: "as LLxprt Code of August 2026: bash, one variable, exit 2 denies even in silence",
    switches: switches::LLXPRT_2026_08,
    ..SEED
};

pub(super) const GEMINI: Dialect = Dialect {
    name: "gemini",
    about: "as Gemini CLI of August 2026: JSON at every exit code, other exit codes deny",
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

fn hear(dialect: &Dialect, event: &Event, by: Origin, exited: &Exited) -> Result<Heard, Misheard> {
    let raw = read::read(dialect, exited);
    let heard = match (&raw.output, raw.format) {
        (Some(Value::Object(answer)), Format::Json) => finding(&dialect.switches, event, &by, answer),
        (Some(other), Format::Json) => Err(Misheard(format!("the answer is {other}, not an object"))),
        (Some(answer), _) => from_text(exited, &by, answer),
        (None, _) if exited.code == Some(0) => Ok(Finding::silent(by.clone())),
        (None, _) => Err(Misheard(exited.how())),
    };
    if exited.code == Some(2) {
        return Ok(denied(heard.unwrap_or_else(|_| Finding::silent(by)), exited).into());
    }
    heard.map(Heard::from)
}

/// Exit 2 is "no" in every document of the family: not even silence or an allow beside it is heard
/// as anything else.
fn denied(said: Finding, exited: &Exited) -> Finding {
    let reason = said.reason.clone().filter(|_| said.decision == Decision::Deny);
    let reason = reason.unwrap_or_else(|| match read::text(&exited.stderr).as_str() {
        "" => NO_REASON.to_owned(),
        stderr => stderr.to_owned(),
    });
    Finding { decision: Decision::Deny, reason: Some(reason), ..said }
}

/// An answer the original made up from plain text. Its `allow` only means that nobody objected.
fn from_text(exited: &Exited, by: &Origin, answer: &Value) -> Result<Finding, Misheard> {
    let part = |key: &str| answer.get(key).and_then(Value::as_str).map(ToOwned::to_owned);
    if part("decision").as_deref() == Some("deny") {
        return Ok(Finding::decided(by.clone(), Decision::Deny, part("reason").unwrap_or_default()));
    }
    // The original goes on after exit 1 and after a signal as it does after a crash: it cannot tell
    // them apart, and neither can we.
    if exited.code != Some(0) {
        return Err(Misheard(exited.how()));
    }
    let message = part("systemMessage");
    if message.as_deref().is_some_and(|text| text.starts_with('{')) {
        return Err(Misheard("the answer looks like JSON and is not".to_owned()));
    }
    Ok(Finding { message, ..Finding::silent(by.clone()) })
}

fn finding(
    switches: &Switches,
    event: &Event,
    by: &Origin,
    answer: &Map<String, Value>,
) -> Result<Finding, Misheard> {
    let mut fields = Fields::new(answer);
    let mut specific = fields.inside("hookSpecificOutput");
    let general = fields.word("decision", DECISIONS);
    let permission = specific.word("permissionDecision", DECISIONS);
    let permission = match (permission, switches.permission_decision && event.event == Kind::PreTool) {
        (Some(_), false) => {
            specific.note("`permissionDecision` is not read here; say `decision`".to_owned());
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
        // What denies is not lost because of something else it got wrong.
        Some(problem) if finding.decision != Decision::Deny => Err(Misheard(problem)),
        _ => Ok(finding),
    }
}

/// What the event lets a hook change. Between the original's sequential hooks an input is merged
/// key by key, so that is how it meets what was asked for here.
fn modifications(switches: &Switches, kind: Kind, specific: &mut Fields<'_>) -> Vec<Modification> {
    let object = |map: &Map<String, Value>| Value::Object(map.clone());
    let mut found = Vec::new();
    match kind {
        Kind::PreTool | Kind::PermissionRequest => {
            found.extend(
                specific
                    .object("tool_input")
                    .map(|map| Modification::ToolInput { merge: Merge::Shallow, value: object(map) }),
            );
        }
        Kind::PreModel | Kind::PostModel => {
            found.extend(
                specific
                    .object("llm_request")
                    .filter(|_| kind == Kind::PreModel)
                    .map(|map| Modification::ModelRequest { merge: Merge::Shallow, value: object(map) }),
            );
            found.extend(
                specific
                    .object("llm_response")
                    .map(|map| Modification::ModelResponse { merge: Merge::Replace, value: object(map) }),
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
    switches: &Switches,
    config: &Map<String, Value>,
    specific: &mut Fields<'_>,
) -> Option<Modification> {
    let mut fields = Fields::new(config);
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
