// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Encodes an outcome for the plugins that Tenterhook installs in clients without command hooks (OpenCode, pi).

use serde::Serialize;
use serde_json::Value;
use tenterhook_event::{EventKind, HookCall, Outcome};

use crate::outcome_encoding::{
    ExpressibleOutcome, changed_fields, model_request, model_response, refuse_by_exit,
};
use crate::{EventRow, HookReply};

/// The reply to a plugin: one line of JSON, or empty if no rule or hook matches. An absent field requests nothing.
#[derive(Debug, Default, Serialize)]
pub struct PluginReply {
    /// If this is `deny`, the plugin prevents the action and shows the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<&'static str>,
    /// Reason for the denial.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Complete new arguments of the tool. The plugin copies them into the client's object key by key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Value>,
    /// After a tool call, the new output of the tool. Before a model request, the changed fields of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// Text added to the model's context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Message for the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Reason to stop the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<String>,
}

pub(crate) fn encode(row: &EventRow, call: &HookCall, outcome: &Outcome) -> HookReply {
    let mut answer = ExpressibleOutcome::new(row, call, outcome);
    let denied = answer.is_denied(row);
    let output = match row.kind {
        EventKind::PostTool => answer.output.cloned(),
        EventKind::PreModel => model_request(call, outcome)
            .map(|request| changed_fields(call.event.detail.model_request.as_ref(), &request)),
        _ => None,
    };
    if row.kind == EventKind::PreModel && model_response(call, outcome).is_some() {
        answer.drop_unsupported("a synthetic model response");
    }
    let printed = PluginReply {
        decision: denied.then_some("deny"),
        reason: denied.then(|| answer.reason_text()),
        args: answer.input.take(),
        output,
        context: answer.context.take(),
        message: answer.message.take(),
        stop: answer.stop.take(),
    };
    answer.into_reply(&printed)
}

/// Returns the reply to a payload that cannot be decoded. A plugin reads only JSON.
pub(crate) fn refuse(row: Option<&EventRow>, why: &str) -> HookReply {
    let reply = refuse_by_exit(row, why);
    if reply.exit != 2 {
        return reply;
    }
    let printed =
        PluginReply { decision: Some("deny"), reason: Some(why.to_owned()), ..PluginReply::default() };
    match serde_json::to_string(&printed) {
        Ok(json) => HookReply { stdout: json + "\n", exit: 0, ..reply },
        Err(_) => reply,
    }
}
