// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Outcome → what our plugins read, in the clients whose hooks are functions of a plugin (OpenCode, pi).

use serde::Serialize;
use serde_json::Value;
use tenterhook_event::{Call, EventKind, Outcome};

use crate::answer::{Answer, changed, model_request, model_response, refuse_by_exit};
use crate::{EventRow, Reply};

/// The reply to a plugin: one line of JSON, or nothing when no rule or hook matches. A field that is missing asks for nothing.
#[derive(Debug, Default, Serialize)]
pub struct PluginReply {
    /// `deny`: the plugin keeps it from happening, and shows the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<&'static str>,
    /// Reason of the denial.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The whole new arguments of the tool. The plugin puts them into the client's own object, key by key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Value>,
    /// After a tool: its new output; before a request to the model: the fields that change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// Text to add to what the model reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Text to show to the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The agent is to be stopped, for this reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<String>,
}

pub(crate) fn encode(row: &EventRow, call: &Call, outcome: &Outcome) -> Reply {
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
    let printed = PluginReply {
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

/// The reply to a payload we cannot read: a plugin reads JSON only.
pub(crate) fn refuse(row: Option<&EventRow>, why: &str) -> Reply {
    let reply = refuse_by_exit(row, why);
    if reply.exit != 2 {
        return reply;
    }
    let printed =
        PluginReply { decision: Some("deny"), reason: Some(why.to_owned()), ..PluginReply::default() };
    match serde_json::to_string(&printed) {
        Ok(json) => Reply { stdout: json + "\n", exit: 0, ..reply },
        Err(_) => reply,
    }
}
