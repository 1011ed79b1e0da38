// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A3S hooks. They receive the events of the A3S hook design (seed 003 in `docs/seeds.md`) and return an action.

mod payload;
mod read;
mod schema;

use std::time::Duration;

use serde_json::{Map, Value};
use tenterhook_event::{Decision, Event, EventKind as Kind, Finding, MergeMode, Modification, Origin};

pub use payload::{A3sSessionContext, failed_tool_result, payload};
pub use read::{A3sReadError, event};
pub use schema::{COMMON_FIELDS, EVENTS, EventShape, FieldShape, FieldSpec, shape_by_name, shape_of_kind};

use super::fields::FieldReader;
use super::{EngineControl, HookDialect, HookExit, InterpretedOutput, InvalidOutput, NO_REASON, switches};

pub(super) const DIALECT: HookDialect = HookDialect {
    name: "a3s",
    about: "the A3S hook design: an event with `eventType` in, `{\"action\": …}` out, exit 2 blocks",
    timeout: Duration::from_secs(5),
    switches: switches::A3S,
    event_name: payload::name,
    kind: |name| EVENTS.iter().find(|row| row.name == name).map(|row| row.kind),
    stdin: payload::stdin,
    interpret,
};

/// Delay before a retry if the hook sets none; A3S Code uses the same delay.
const DEFAULT_RETRY_DELAY: Duration = Duration::from_secs(1);

/// Output of an A3S hook.
#[derive(Debug, Clone, PartialEq)]
pub struct A3sAnswer {
    /// The requested action.
    pub action: A3sAction,
    /// Reason for the action.
    pub reason: Option<String>,
    /// Changed fields of the event.
    pub modified: Option<Map<String, Value>>,
    /// Delay before a retry.
    pub delay: Option<Duration>,
}

/// Action that a hook requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum A3sAction {
    /// Proceed, with any changes in `modified`.
    Continue,
    /// Block the event.
    Block,
    /// Run the hook again later.
    Retry,
    /// Ignore the remaining hooks.
    Skip,
}

const ACTIONS: &[(&str, A3sAction)] = &[
    ("continue", A3sAction::Continue),
    ("block", A3sAction::Block),
    ("retry", A3sAction::Retry),
    ("skip", A3sAction::Skip),
];

fn interpret(
    dialect: &HookDialect,
    event: &Event,
    by: Origin,
    exited: &HookExit,
) -> Result<InterpretedOutput, InvalidOutput> {
    match exited.code {
        Some(2) => return Ok(block_finding(event, by, exited.stderr_reason()).into()),
        Some(0) => {}
        _ => return Err(InvalidOutput(exited.describe_exit())),
    }
    if exited.stdout.trim_ascii().is_empty() {
        return Ok(Finding::silent(by).into());
    }
    let answer: Map<String, Value> = serde_json::from_slice(&exited.stdout)
        .map_err(|error| InvalidOutput(format!("invalid output for `dialect: a3s`: {error}")))?;
    let mut fields = FieldReader::new(&answer);
    let action = fields.word("action", ACTIONS);
    let (reason, modified) = (fields.text("reason"), fields.object("modified").cloned());
    let delay = fields.number("delay");
    let answer = |action, delay| A3sAnswer { action, reason, modified, delay };
    match (action, fields.problem) {
        // A block stays a block even if other fields are invalid.
        (Some(A3sAction::Block), _) => interpret_answer(event, by, answer(A3sAction::Block, None)),
        (_, Some(problem)) => Err(InvalidOutput(problem)),
        (None, None) => Err(InvalidOutput("`action` is missing".to_owned())),
        (Some(action), None) => {
            // A delay that overflows is treated as the maximum delay. The engine then gives up and reports the delay.
            let delay = match delay.filter(|delay| *delay != 0.0) {
                Some(delay) if delay > 0.0 => Some(dialect.duration(delay).unwrap_or(Duration::MAX)),
                Some(delay) if action == A3sAction::Retry => {
                    let delay = dialect.duration(delay);
                    Some(delay.map_err(|error| InvalidOutput(error.to_string()))?)
                }
                _ => None,
            };
            interpret_answer(event, by, answer(action, delay))
        }
    }
}

/// Interprets a hook's answer to an event.
pub fn interpret_answer(
    event: &Event,
    by: Origin,
    answer: A3sAnswer,
) -> Result<InterpretedOutput, InvalidOutput> {
    let A3sAnswer { action, reason, modified, delay } = answer;
    if action == A3sAction::Block {
        return Ok(block_finding(event, by, reason.unwrap_or_else(|| NO_REASON.to_owned())).into());
    }
    if modified.is_some() && action != A3sAction::Continue {
        return Err(InvalidOutput("`modified` is only allowed with `continue`".to_owned()));
    }
    let finding = Finding { reason, ..Finding::silent(by) };
    match action {
        A3sAction::Continue | A3sAction::Block => Ok(modifications_of(event, finding, modified)?.into()),
        A3sAction::Skip => Ok(InterpretedOutput { finding, control: EngineControl::Skip }),
        // The tool has already run, so the call cannot be retried.
        A3sAction::Retry if event.event == Kind::PostTool => {
            let message = Some("the hook requested a retry after the tool had run".to_owned());
            Ok(Finding { message, ..finding }.into())
        }
        A3sAction::Retry => Ok(InterpretedOutput {
            finding,
            control: EngineControl::Retry { delay: delay.unwrap_or(DEFAULT_RETRY_DELAY) },
        }),
    }
}

/// Returns the finding for a block. After the tool has run, a block is only a message, because in the A3S hook design
/// the agent does not wait for `PostToolUse` hooks.
fn block_finding(event: &Event, by: Origin, reason: String) -> Finding {
    if event.event == Kind::PostTool {
        return Finding { message: Some(reason), ..Finding::silent(by) };
    }
    Finding::decided(by, Decision::Deny, reason)
}

/// Returns the changes in `modified`. The A3S hook design requires that they match a schema, so unknown fields are
/// errors.
fn modifications_of(
    event: &Event,
    finding: Finding,
    modified: Option<Map<String, Value>>,
) -> Result<Finding, InvalidOutput> {
    let kind = event.event;
    let Some(mut modified) = modified else { return Ok(finding) };
    let Some(shape) = shape_of_kind(kind) else {
        return Err(InvalidOutput(format!("`modified` has no fields at {kind}")));
    };
    if let Some(why) = schema::find_strict_mismatch(shape.modified, &modified, "modified") {
        return Err(InvalidOutput(format!("{why} (at {})", shape.name)));
    }
    let context = match modified.remove("context") {
        Some(Value::String(text)) => Some(text),
        _ => None,
    };
    let merge = MergeMode::Shallow;
    let modification =
        match (kind, modified.remove("args"), modified.remove("response"), modified.remove("result")) {
            (_, Some(value), _, _) => Some(Modification::ToolInput { merge: MergeMode::Replace, value }),
            (_, _, Some(value), _) => Some(Modification::ModelResponse { merge, value }),
            (_, _, _, Some(mut result)) => {
                // The hook received the output as text. If it returns the same text, nothing has changed.
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
