// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tenterhook's own dialect. The input is the normalized event, and the output is one flat JSON object.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use tenterhook_event::{Decision, Event, Finding, Flow, MergeMode, Modification, Origin};

use super::{HookDialect, HookExit, InterpretedOutput, InvalidOutput, switches};

pub(super) const DIALECT: HookDialect = HookDialect {
    name: "native",
    about: "standard input is the event's normal form; the output is one flat JSON object, exit 2 denies",
    timeout: Duration::from_secs(5),
    switches: switches::NATIVE,
    event_name: |event| event.event.name(),
    kind: |name| name.parse().ok(),
    stdin,
    interpret,
};

/// Output of a hook. Unknown fields are errors.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct NativeHookAnswer {
    decision: Decision,
    reason: Option<String>,
    nudge: Option<String>,
    tool_input: Option<Value>,
    merge: Option<MergeMode>,
    tool_output: Option<Value>,
    context: Option<String>,
    message: Option<String>,
    stop: bool,
    stop_reason: Option<String>,
    suppress_output: bool,
}

fn stdin(event: &Event) -> Vec<u8> {
    // Serializing plain data to memory cannot fail. If it did, the hook would report the empty input.
    serde_json::to_vec(event).unwrap_or_default()
}

fn interpret(
    _: &HookDialect,
    _: &Event,
    by: Origin,
    exited: &HookExit,
) -> Result<InterpretedOutput, InvalidOutput> {
    parse_finding(by, exited).map(InterpretedOutput::from)
}

fn parse_finding(by: Origin, exited: &HookExit) -> Result<Finding, InvalidOutput> {
    match exited.code {
        Some(0) => {}
        Some(2) => return Ok(Finding::decided(by, Decision::Deny, exited.stderr_reason())),
        _ => return Err(InvalidOutput(exited.describe_exit())),
    }
    if exited.stdout.trim_ascii().is_empty() {
        return Ok(Finding::silent(by));
    }
    let answer: NativeHookAnswer = serde_json::from_slice(&exited.stdout)
        .map_err(|error| InvalidOutput(format!("invalid output for `dialect: native`: {error}")))?;
    let mut modifications = Vec::new();
    if let Some(value) = answer.tool_input {
        modifications
            .push(Modification::ToolInput { merge: answer.merge.unwrap_or(MergeMode::Replace), value });
    }
    modifications.extend(answer.tool_output.map(|value| Modification::ToolOutput { value }));
    Ok(Finding {
        by,
        decision: answer.decision,
        flow: if answer.stop { Flow::Stop { reason: answer.stop_reason } } else { Flow::Go },
        reason: answer.reason,
        nudge: answer.nudge,
        modifications,
        context: answer.context,
        message: answer.message,
        suppress_output: answer.suppress_output,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenterhook_event::{EventId, EventKind, Timestamp};

    fn heard(code: i32, stdout: &str, stderr: &str) -> Result<Finding, InvalidOutput> {
        let event =
            Event::new(EventId::from_parts(0, 0), Timestamp::from_unix_ms(0), "x", EventKind::PreTool, "x");
        let exited = HookExit { code: Some(code), stdout: stdout.into(), stderr: stderr.into() };
        interpret(&DIALECT, &event, Origin::hook("h"), &exited).map(|heard| heard.finding)
    }

    #[test]
    fn silence_objects_to_nothing_and_exit_2_denies_with_a_reason() {
        assert_eq!(heard(0, " \n", "noise").unwrap(), Finding::silent(Origin::hook("h")));
        let denied = heard(2, "{\"decision\":\"allow\"}", "not here\n").unwrap();
        assert_eq!((denied.decision, denied.reason.as_deref()), (Decision::Deny, Some("not here")));
        assert!(heard(2, "", "").unwrap().reason.is_some(), "a deny always has a reason");
    }

    #[test]
    fn an_answer_that_means_nothing_is_a_failure_not_silence() {
        for stdout in ["oops", "{\"decision\":\"DENY\"}", "{\"decison\":\"deny\"}", "{} {}"] {
            assert!(heard(0, stdout, "").is_err(), "{stdout}");
        }
        assert_eq!(heard(7, "", "boom\nmore").unwrap_err().0, "exit code 7: boom");
    }
}
