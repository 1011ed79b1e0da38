// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A3S hooks: seed 003's events in, an action out.

mod payload;
mod read;
mod schema;

use std::time::Duration;

use serde_json::{Map, Value};
use tenterhook_event::{Decision, Event, EventKind as Kind, Finding, Merge, Modification, Origin};

pub use payload::{Session, failed_tool_result, payload};
pub use read::{Unreadable, event};
pub use schema::{EVENTS, EVERY, EventShape, Field, Shape, named, of};

use super::fields::Fields;
use super::{Control, Dialect, Exited, Heard, Misheard, NO_REASON, switches};

pub(super) const DIALECT: Dialect = Dialect {
    name: "a3s",
    about: "as the A3S hook design says: an event with `eventType` in, `{\"action\": …}` out, exit 2 blocks",
    timeout: Duration::from_secs(5),
    switches: switches::A3S,
    event_name: payload::name,
    kind: |name| EVENTS.iter().find(|row| row.name == name).map(|row| row.kind),
    stdin: payload::stdin,
    hear,
};

/// How much later a retry is when the hook does not say: what A3S Code settled on.
const RETRY: Duration = Duration::from_secs(1);

/// An answer of a hook.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// What to do.
    pub action: Action,
    /// Why.
    pub reason: Option<String>,
    /// What is to be different.
    pub modified: Option<Map<String, Value>>,
    /// How much later to ask again.
    pub delay: Option<Duration>,
}

/// What a hook wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Go on, perhaps with something changed.
    Continue,
    /// Stop this.
    Block,
    /// Ask again later.
    Retry,
    /// Ignore the hooks that come after.
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
    let (reason, modified) = (fields.text("reason"), fields.object("modified").cloned());
    let delay = fields.number("delay");
    let answer = |action, delay| Answer { action, reason, modified, delay };
    match (action, fields.problem) {
        // A block stands, whatever else could not be read.
        (Some(Action::Block), _) => heard(event, by, answer(Action::Block, None)),
        (_, Some(problem)) => Err(Misheard(problem)),
        (None, None) => Err(Misheard("the answer has no `action`".to_owned())),
        (Some(action), None) => {
            // A time nobody can wait for is as good as for ever: the engine gives up, and says so.
            let delay = match delay.filter(|delay| *delay != 0.0) {
                Some(delay) if delay > 0.0 => Some(dialect.duration(delay).unwrap_or(Duration::MAX)),
                Some(delay) if action == Action::Retry => {
                    let delay = dialect.duration(delay);
                    Some(delay.map_err(|error| Misheard(error.to_string()))?)
                }
                _ => None,
            };
            heard(event, by, answer(action, delay))
        }
    }
}

/// What an answer means at an event.
pub fn heard(event: &Event, by: Origin, answer: Answer) -> Result<Heard, Misheard> {
    let Answer { action, reason, modified, delay } = answer;
    if action == Action::Block {
        return Ok(blocked(event, by, reason.unwrap_or_else(|| NO_REASON.to_owned())).into());
    }
    if modified.is_some() && action != Action::Continue {
        return Err(Misheard("`modified` goes with `continue` only".to_owned()));
    }
    let finding = Finding { reason, ..Finding::silent(by) };
    match action {
        Action::Continue | Action::Block => Ok(changed(event, finding, modified)?.into()),
        Action::Skip => Ok(Heard { finding, control: Control::Skip }),
        // The tool has run; there is nothing left to try again.
        Action::Retry if event.event == Kind::PostTool => {
            let message = Some("the hook asked for a retry of what is done already".to_owned());
            Ok(Finding { message, ..finding }.into())
        }
        Action::Retry => Ok(Heard { finding, control: Control::Retry { delay: delay.unwrap_or(RETRY) } }),
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
fn changed(
    event: &Event,
    finding: Finding,
    modified: Option<Map<String, Value>>,
) -> Result<Finding, Misheard> {
    let kind = event.event;
    let Some(mut modified) = modified else { return Ok(finding) };
    let Some(shape) = of(kind) else { return Err(Misheard(format!("`modified` means nothing at {kind}"))) };
    if let Some(why) = schema::misfit_strictly(shape.modified, &modified, "modified") {
        return Err(Misheard(format!("{why} (at {})", shape.name)));
    }
    let context = match modified.remove("context") {
        Some(Value::String(text)) => Some(text),
        _ => None,
    };
    let merge = Merge::Shallow;
    let modification =
        match (kind, modified.remove("args"), modified.remove("response"), modified.remove("result")) {
            (_, Some(value), _, _) => Some(Modification::ToolInput { merge: Merge::Replace, value }),
            (_, _, Some(value), _) => Some(Modification::ModelResponse { merge, value }),
            (_, _, _, Some(mut result)) => {
                // The text that the hook was given is one form of the output; repeating it changes nothing.
                let output = result.get_mut("output").map(Value::take);
                let output = output.filter(|output| *output != payload::given_output(event));
                output.map(|value| Modification::ToolOutput { value })
            }
            (Kind::PreModel, ..) if !modified.is_empty() => {
                Some(Modification::ModelRequest { merge, value: Value::Object(modified) })
            }
            _ => None,
        };
    Ok(Finding { context, modifications: modification.into_iter().collect(), ..finding })
}

#[cfg(test)]
mod tests;
