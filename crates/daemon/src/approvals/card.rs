// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A call that waits, as a person sees it.

use serde::Serialize;
use serde_json::{Value, json};
use tenterhook_event::{Call, EventId, Outcome, Said, Timestamp};
use tenterhook_home::door;
use tokio::time::Instant;

/// What a person needs to know to say yes or no.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Card {
    /// The event's id.
    pub(crate) id: EventId,
    /// SHA-256 of all that is shown but the times. The sender of a call chooses its id, so an approval
    /// names this as well.
    pub(crate) digest: String,
    /// Since when it waits.
    pub(crate) since: Timestamp,
    /// Until when somebody may answer.
    pub(crate) until: Timestamp,
    /// The harness.
    pub(crate) source: String,
    /// The harness's own name of the event.
    pub(crate) event: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cwd: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) user: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool: Option<String>,
    /// What the agent wants, in short.
    pub(crate) wants: String,
    /// All the arguments; those that would run, if a hook or rule changed them.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub(crate) args: Value,
    /// Who asks, and why.
    pub(crate) reasons: Vec<Said<String>>,
}

impl Card {
    pub(super) fn new(call: &Call, outcome: &Outcome, until: Instant) -> Self {
        let event = &call.event;
        let left = until.saturating_duration_since(Instant::now());
        let since = door::now_ms();
        let left = u64::try_from(left.as_millis()).unwrap_or(u64::MAX);
        let mut tool = event.tool.clone();
        if let (Some(tool), Some(input)) = (&mut tool, &outcome.tool_input) {
            tool.args = input.clone();
        }
        let wants = match (&tool, &event.detail.prompt) {
            (Some(tool), _) => tool.gist().into_owned(),
            (None, Some(prompt)) => prompt.clone(),
            (None, None) => event.native_event.clone(),
        };
        let mut card = Self {
            id: event.id,
            digest: String::new(),
            since: Timestamp::from_unix_ms(since),
            until: Timestamp::from_unix_ms(since.saturating_add(left)),
            source: event.source.clone(),
            event: event.native_event.clone(),
            session: event.harness_session_id.clone(),
            cwd: event.cwd.clone(),
            user: event.agent.user.clone(),
            tool: tool.as_ref().map(|tool| tool.name.clone()),
            wants,
            args: tool.map(|tool| tool.args).unwrap_or_default(),
            reasons: outcome.reasons.clone(),
        };
        card.digest = card.compute_digest();
        card
    }

    fn compute_digest(&self) -> String {
        let Self { id, source, event, session, cwd, user, tool, wants, args, reasons, .. } = self;
        let shown = json!([id, source, event, session, cwd, user, tool, wants, args, reasons]);
        tenterhook_home::trust::sha256(shown.to_string().as_bytes())
    }

    /// How long somebody has to answer, in seconds.
    pub(super) fn waits(&self) -> u64 {
        self.until.unix_ms().saturating_sub(self.since.unix_ms()) / 1000
    }
}
