// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A3S hooks: seed 003's events in, an action out.

mod payload;

use std::time::Duration;

use serde_json::{Map, Value};
use tenterhook_event::{Decision, Event, EventKind as Kind, Finding, Merge, Modification, Origin};

use super::fields::Fields;
use super::{Control, Dialect, Exited, Heard, Misheard, NO_REASON, switches};

pub(super) const DIALECT: Dialect = Dialect {
    name: "a3s",
    about: "as the A3S hook design says: an event with `eventType` in, `{\"action\": …}` out, exit 2 blocks",
    timeout: Duration::from_secs(5),
    switches: switches::A3S,
    event_name: |event| super::name_in(payload::NAMES, event),
    kind: |name| super::kind_in(payload::NAMES, name),
    stdin: payload::stdin,
    hear,
};

/// How much later a retry is when the hook does not say: what A3S Code settled on.
const RETRY: Duration = Duration::from_secs(1);

#[derive(Clone, Copy)]
enum Action {
    Continue,
    Block,
    Retry,
    Skip,
}

const ACTIONS: &[(&str, Action)] = &[
    ("continue", Action::Continue),
    ("block", Action::Block),
    ("retry", Action::Retry),
    ("skip", Action::Skip),
];

fn hear(dialect: &Dialect, event: &Event, by: Origin, exited: &Exited) -> Result<Heard, Misheard> {
    match exited.code {
        Some(2) => return Ok(blocked(event, by, exited.complaint()).into()),
        Some(0) => {}
        _ => return Err(Misheard(exited.how())),
    }
    if exited.stdout.trim_ascii().is_empty() {
        return Ok(Finding::silent(by).into());
    }
    let answer: Map<String, Value> = serde_json::from_slice(&exited.stdout)
        .map_err(|error| Misheard(format!("the answer is not what `dialect: a3s` reads: {error}")))?;
    let mut fields = Fields::new(&answer);
    let action = fields.word("action", ACTIONS);
    let (reason, modified) = (fields.text("reason"), fields.object("modified"));
    let delay = fields.number("delay");
    match (action, fields.problem) {
        // A block stands, whatever else could not be read.
        (Some(Action::Block), _) => {
            Ok(blocked(event, by, reason.unwrap_or_else(|| NO_REASON.to_owned())).into())
        }
        (_, Some(problem)) => Err(Misheard(problem)),
        (None, None) => Err(Misheard("the answer has no `action`".to_owned())),
        (Some(Action::Continue), None) => {
            let modifications = modified.map(|modified| modification(event.event, modified)).transpose()?;
            let modifications = modifications.into_iter().collect();
            Ok(Finding { reason, modifications, ..Finding::silent(by) }.into())
        }
        (Some(Action::Skip), None) => {
            Ok(Heard { finding: Finding { reason, ..Finding::silent(by) }, control: Control::Skip })
        }
        // The tool has run; there is nothing left to try again.
        (Some(Action::Retry), None) if event.event == Kind::PostTool => {
            let message = Some("the hook asked for a retry of what is done already".to_owned());
            Ok(Finding { reason, message, ..Finding::silent(by) }.into())
        }
        (Some(Action::Retry), None) => {
            // A time nobody can wait for is as good as for ever: the engine gives up, and says so.
            let delay = match delay.filter(|delay| *delay != 0.0) {
                None => RETRY,
                Some(delay) if delay > 0.0 => dialect.duration(delay).unwrap_or(Duration::MAX),
                Some(delay) => dialect.duration(delay).map_err(Misheard)?,
            };
            Ok(Heard {
                finding: Finding { reason, ..Finding::silent(by) },
                control: Control::Retry { delay },
            })
        }
    }
}

/// After the fact a block is a remark: seed 003 fires `PostToolUse` and does not wait.
fn blocked(event: &Event, by: Origin, reason: String) -> Finding {
    if event.event == Kind::PostTool {
        return Finding { message: Some(reason), ..Finding::silent(by) };
    }
    Finding::decided(by, Decision::Deny, reason)
}

/// What `modified` changes: it "must match expected schema", so what fits nowhere is said to.
fn modification(kind: Kind, modified: &Map<String, Value>) -> Result<Modification, Misheard> {
    match kind {
        Kind::PreTool | Kind::PermissionRequest => match modified.get("args") {
            Some(value @ Value::Object(_)) => {
                Ok(Modification::ToolInput { merge: Merge::Replace, value: value.clone() })
            }
            _ => Err(Misheard("`modified` at a tool call must have `args`, an object".to_owned())),
        },
        Kind::PreModel => {
            Ok(Modification::ModelRequest { merge: Merge::Shallow, value: Value::Object(modified.clone()) })
        }
        Kind::PostModel => {
            let response = modified.get("response").cloned();
            let value = response.unwrap_or_else(|| Value::Object(modified.clone()));
            Ok(Modification::ModelResponse { merge: Merge::Shallow, value })
        }
        kind => Err(Misheard(format!("`modified` means nothing at {kind}"))),
    }
}

#[cfg(test)]
mod tests;
