// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Outcome → what our plugin for OpenCode reads.

use serde::Serialize;
use serde_json::Value;
use tenterhook_event::{Call, EventKind, Outcome};

use crate::answer::{Answer, changed, model_request, model_response, refuse_by_exit};
use crate::{EventRow, Reply};

/// The reply to the plugin. What is not there is not to be done.
#[derive(Debug, Default, Serialize)]
pub struct Printed {
    /// `deny`: throw the reason; at `chat.message`, put it in the place of the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<&'static str>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The new arguments: to be put into `output.args` key by key, for a new object is ignored there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Value>,
    /// `tool.execute.after`: the new output; `chat.params`: the fields of `output` that change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// To be added to what the model reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// To be shown to the person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The session is to be ended, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<String>,
}

pub(super) fn encode(row: &EventRow, call: &Call, outcome: &Outcome) -> Reply {
    let mut answer = Answer::new(row, call, outcome);
    let denied = answer.denied(row);
    let output = match row.kind {
        EventKind::PostTool => answer.output.cloned(),
        EventKind::PreModel => model_request(call, outcome)
            .map(|request| changed(call.event.detail.model_request.as_ref(), &request)),
        _ => None,
    };
    if row.kind == EventKind::PreModel && model_response(call, outcome).is_some() {
        answer.lose("an answer in the model's place");
    }
    let printed = Printed {
        decision: denied.then_some("deny"),
        reason: denied.then(|| answer.why()),
        args: answer.input.take(),
        output,
        context: answer.context.take(),
        message: answer.message.take(),
        stop: answer.stop.take(),
    };
    answer.say(&printed)
}

/// The reply to a payload we cannot read: the plugin reads JSON only.
pub(super) fn refuse(row: Option<&EventRow>, why: &str) -> Reply {
    let reply = refuse_by_exit(row, why);
    if reply.exit != 2 {
        return reply;
    }
    let printed = Printed { decision: Some("deny"), reason: Some(why.to_owned()), ..Printed::default() };
    match serde_json::to_string(&printed) {
        Ok(json) => Reply { stdout: json + "\n", exit: 0, ..reply },
        Err(_) => reply,
    }
}
