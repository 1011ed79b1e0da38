// SPDX-License-Identifier: Apache-2.0 OR MIT

//! An event with its decision: the input of the projection. It comes from a live call or from the ledger.

use std::borrow::Cow;

use serde_json::Value;
use tenterhook_api::MissingContent;
use tenterhook_event::{DecidedCall, Decision, Event, EventKind, Flow, PathEffect, ToolCall};
use tenterhook_facts::LinkMap;
use tenterhook_records::recorded;

use super::touched_files;

/// An event and its outcome.
pub struct DecidedEvent<'a> {
    /// Sequence number of the record.
    pub seq: u64,
    /// Event that was decided.
    pub event: &'a Event,
    /// Decision about the event.
    pub decision: Decision,
    /// Whether the outcome stops the agent.
    pub stops: bool,
    /// Id of the rule that decided, or `hook:<id>`.
    pub rule: Option<Cow<'a, str>>,
    /// Reason for the denial or stop.
    pub reason: Option<Cow<'a, str>>,
    /// Suggestion for the agent.
    pub nudge: Option<Cow<'a, str>>,
    /// Tool input after rewrites, if a hook or rule changed it.
    pub input: Option<&'a Value>,
    /// File effects of the call, if the judge has determined them.
    pub touched: Option<&'a [PathEffect]>,
    /// Symlinks as they were when the event was decided.
    pub seen: Option<&'a LinkMap>,
    /// Reason why the content is missing; `None` if it is present.
    pub gone: Option<MissingContent>,
}

impl<'a> DecidedEvent<'a> {
    /// Creates the input from a live decision.
    pub fn now(decided: &'a DecidedCall<'a>, seq: u64) -> Self {
        let (event, outcome) = (&decided.call.event, decided.outcome);
        let denied = outcome.decision == Decision::Deny;
        let stop = match &outcome.flow {
            Flow::Go => None,
            Flow::Stop { reason } => Some(reason.as_deref().unwrap_or_default()),
        };
        let mut nudges: Vec<&str> = Vec::new();
        for nudge in outcome.nudges.iter().filter(|_| denied) {
            if !nudges.contains(&nudge.value.as_str()) {
                nudges.push(&nudge.value);
            }
        }
        Self {
            seq,
            event,
            decision: outcome.decision,
            stops: stop.is_some(),
            rule: recorded::outcome_decided_by(outcome).map(Cow::Owned),
            reason: if denied { outcome.reason().map(Cow::Owned) } else { stop.map(Cow::Borrowed) },
            nudge: (!nudges.is_empty()).then(|| Cow::Owned(nudges.join("; "))),
            input: outcome.tool_input.as_ref(),
            touched: decided.file_effects.as_deref(),
            seen: None,
            gone: None,
        }
    }

    /// Whether the action was prevented. An outcome that stops the agent prevents a tool call too, because
    /// the harness receives the stop together with a deny.
    pub(super) fn is_refused(&self) -> bool {
        let is_gate = matches!(self.event.event, EventKind::PreTool | EventKind::PermissionRequest);
        self.decision == Decision::Deny || self.stops && is_gate
    }

    /// The tool call after rewrites.
    pub(super) fn tool(&self) -> Option<Cow<'a, ToolCall>> {
        let tool = self.event.tool.as_ref()?;
        Some(match self.input {
            Some(args) => Cow::Owned(ToolCall { args: args.clone(), ..tool.clone() }),
            None => Cow::Borrowed(tool),
        })
    }

    /// File effects of the call. `None` if the call is too long or its content is missing.
    pub(super) fn file_touches(&self, person: Option<&str>) -> Option<Cow<'a, [PathEffect]>> {
        match self.touched {
            _ if self.gone.is_some() || touched_files::is_too_long(self) => None,
            Some(touched) => Some(Cow::Borrowed(touched)),
            None => Some(Cow::Owned(touched_files::find_touched(self, person))),
        }
    }
}
