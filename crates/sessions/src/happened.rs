// SPDX-License-Identifier: Apache-2.0 OR MIT

//! One event as sessions see it, whether it was decided just now or long ago.

use std::borrow::Cow;

use serde_json::Value;
use tenterhook_api::MissingContent;
use tenterhook_event::{Decided, Decision, Event, EventKind, Flow, ToolCall, Touch};
use tenterhook_facts::Seen;
use tenterhook_records::recorded;

use super::look;

/// An event, and what came of it.
pub struct DecidedEvent<'a> {
    /// Its leaf.
    pub seq: u64,
    /// The event itself.
    pub event: &'a Event,
    /// The decision about it.
    pub decision: Decision,
    /// Whether the agent was told to end here.
    pub stops: bool,
    /// Who decided: the id of a rule, or `hook:<id>`.
    pub rule: Option<Cow<'a, str>>,
    /// Why it was denied.
    pub reason: Option<Cow<'a, str>>,
    /// What the agent could do instead.
    pub nudge: Option<Cow<'a, str>>,
    /// What the tool runs with, where a hook or a rule changed it.
    pub input: Option<&'a Value>,
    /// What the call does to files, if its judge has read it.
    pub touched: Option<&'a [Touch]>,
    /// The links that were seen then.
    pub seen: Option<&'a Seen>,
    /// Why nothing is known of what was said and done, if so.
    pub gone: Option<MissingContent>,
}

impl<'a> DecidedEvent<'a> {
    /// A decision that was made just now.
    pub fn now(decided: &'a Decided<'a>, seq: u64) -> Self {
        let (event, outcome) = (&decided.call.event, decided.outcome);
        let denied = outcome.decision == Decision::Deny;
        let stop = match &outcome.flow {
            Flow::Go => None,
            Flow::Stop { reason } => Some(reason.as_deref().unwrap_or_default()),
        };
        let mut once: Vec<&str> = Vec::new();
        for nudge in outcome.nudges.iter().filter(|_| denied) {
            if !once.contains(&nudge.what.as_str()) {
                once.push(&nudge.what);
            }
        }
        Self {
            seq,
            event,
            decision: outcome.decision,
            stops: stop.is_some(),
            rule: recorded::outcome_decided_by(outcome).map(Cow::Owned),
            reason: if denied { outcome.reason().map(Cow::Owned) } else { stop.map(Cow::Borrowed) },
            nudge: (!once.is_empty()).then(|| Cow::Owned(once.join("; "))),
            input: outcome.tool_input.as_ref(),
            touched: decided.touched.as_deref(),
            seen: None,
            gone: None,
        }
    }

    /// Whether it does not happen. At a tool call the end of the turn is sent together with a deny.
    pub(super) fn is_refused(&self) -> bool {
        let gate = matches!(self.event.event, EventKind::PreTool | EventKind::PermissionRequest);
        self.decision == Decision::Deny || self.stops && gate
    }

    /// The call as it runs.
    pub(super) fn tool(&self) -> Option<Cow<'a, ToolCall>> {
        let tool = self.event.tool.as_ref()?;
        Some(match self.input {
            Some(args) => Cow::Owned(ToolCall { args: args.clone(), ..tool.clone() }),
            None => Cow::Borrowed(tool),
        })
    }

    /// What it does to files. `None`: it is too long to be looked at, or its content is gone.
    pub(super) fn touches(&self, person: Option<&str>) -> Option<Cow<'a, [Touch]>> {
        match self.touched {
            _ if self.gone.is_some() || look::is_long(self) => None,
            Some(touched) => Some(Cow::Borrowed(touched)),
            None => Some(Cow::Owned(look::touched(self, person))),
        }
    }
}
