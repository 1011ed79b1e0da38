// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Our own dialect: the normal form in, one flat JSON object out.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use tenterhook_event::{Decision, Event, Finding, Flow, Merge, Modification, Origin};

use super::{Dialect, Exited, Heard, Misheard, switches};

pub(super) const DIALECT: Dialect = Dialect {
    name: "native",
    about: "standard input is the event's normal form; an answer is one flat JSON object, exit 2 denies",
    timeout: Duration::from_secs(5),
    switches: switches::NATIVE,
    event_name: |event| event.event.name(),
    kind: |name| name.parse().ok(),
    stdin,
    hear,
};

/// What a hook may answer. An unknown field is a mistake and is said to be one.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Answer {
    decision: Decision,
    reason: Option<String>,
    nudge: Option<String>,
    tool_input: Option<Value>,
    merge: Option<Merge>,
    tool_output: Option<Value>,
    context: Option<String>,
    message: Option<String>,
    stop: bool,
    stop_reason: Option<String>,
    suppress_output: bool,
}

fn stdin(event: &Event) -> Vec<u8> {
    // Serialising plain data to memory has nothing to fail on; an empty input would be noticed.
    serde_json::to_vec(event).unwrap_or_default()
}

fn hear(_: &Dialect, _: &Event, by: Origin, exited: &Exited) -> Result<Heard, Misheard> {
    listen(by, exited).map(Heard::from)
}

fn listen(by: Origin, exited: &Exited) -> Result<Finding, Misheard> {
    match exited.code {
        Some(0) => {}
        Some(2) => return Ok(Finding::decided(by, Decision::Deny, exited.complaint())),
        _ => return Err(Misheard(exited.how())),
    }
    if exited.stdout.trim_ascii().is_empty() {
        return Ok(Finding::silent(by));
    }
    let answer: Answer = serde_json::from_slice(&exited.stdout)
        .map_err(|error| Misheard(format!("the answer is not what `dialect: native` reads: {error}")))?;
    let mut modifications = Vec::new();
    if let Some(value) = answer.tool_input {
        modifications.push(Modification::ToolInput { merge: answer.merge.unwrap_or(Merge::Replace), value });
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

    fn heard(code: i32, stdout: &str, stderr: &str) -> Result<Finding, Misheard> {
        let event =
            Event::new(EventId::from_parts(0, 0), Timestamp::from_unix_ms(0), "x", EventKind::PreTool, "x");
        let exited = Exited { code: Some(code), stdout: stdout.into(), stderr: stderr.into() };
        hear(&DIALECT, &event, Origin::hook("h"), &exited).map(|heard| heard.finding)
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
