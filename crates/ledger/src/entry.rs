// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Entries to record, and how they are sealed. Sealing redacts an entry, limits the size of its fields, and adds a
//! commitment (a salted hash) to its payload.

use std::ops::Range;

use serde::Serialize;
use serde_json::{Value, json};
use tenterhook_event::{
    AgentIdentity, DecidedCall, Event, EventId, Flow, Outcome, SessionCheck, Timestamp, TraceEntry,
};

use crate::envelope::{LeafKind, LeafOrigin, PayloadMark, PayloadStorage};
use crate::field_limits;
use crate::identifier::secrets_in_identifier;
use crate::model_text::summarize_model_text;
use crate::payload::{RedactionKey, Redactor, SealedPayload};
use crate::sign::SignError;

/// An entry to record. It may contain secrets, so it stays in memory until it is sealed.
#[derive(Debug, Clone)]
pub struct LedgerEntry {
    /// Id of the event. The ledger records each id once.
    pub id: EventId,
    /// Time of the event.
    pub ts: Timestamp,
    /// Program that records the entry.
    pub origin: LeafOrigin,
    pub(crate) kind: LeafKind,
    pub(crate) body: EntryBody,
    pub(crate) payload: Option<Value>,
    /// Secrets found in each text, in the order of `visit_identifiers` and `visit_texts`.
    found: Vec<Vec<(Range<usize>, String)>>,
}

/// Envelope fields that come from the entry, in the order in which they are written.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct EntryBody {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) event: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) native_event: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) harness_session_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session_check: Option<SessionCheck>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sender_ts: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_use_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool: Option<ToolSummary>,
    #[serde(skip_serializing_if = "AgentIdentity::is_empty")]
    pub(crate) agent: AgentIdentity,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cwd: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) project: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) turn_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) verdict: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) policy_rule_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) nudge: Option<String>,
    // Only the fact: the new input is in the payload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rewritten: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) flow: Option<Flow>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) trace: Vec<RecordedStep>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) generation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) took_us: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) facts: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) what: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) who: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) detail: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) log: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) new_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) old_signature: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) new_signature: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) from: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) to: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) payload: Option<PayloadMark<'static>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) links: Vec<EventId>,
}

#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Tool"))]
pub(crate) struct ToolSummary {
    pub(crate) name: String,
    pub(crate) class: &'static str,
}

/// One trace step, or the number of steps that were cut.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Traced"))]
pub(crate) enum RecordedStep {
    Step(TraceEntry),
    Cut { cut: u64 },
}

/// An entry ready to be recorded: without secrets, and with all fields within their limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedEntry {
    pub(crate) id: EventId,
    pub(crate) ts: Timestamp,
    pub(crate) origin: LeafOrigin,
    pub(crate) kind: LeafKind,
    /// Members of the JSON object, without braces.
    pub(crate) fields: String,
    pub(crate) columns: LookupColumns,
    pub(crate) payload: Option<SealedPayload>,
    /// Id of the undelivered decision that this entry replaces. Both are about the same event.
    pub(crate) supersedes: Option<EventId>,
}

/// A leaf's indexed columns. They repeat fields of the envelope, which is authoritative.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LookupColumns {
    pub(crate) source: Option<String>,
    pub(crate) session: Option<String>,
    pub(crate) tool: Option<String>,
    pub(crate) verdict: Option<String>,
    pub(crate) rule: Option<String>,
}

/// Options for sealing entries.
#[derive(Debug, Clone)]
pub struct SealingOptions {
    /// Key for the digests in redaction placeholders.
    pub key: RedactionKey,
    /// Whether secrets are kept unredacted. A user has to turn this on.
    pub keep_raw: bool,
    /// Maximum size of a stored payload, in bytes. For a larger payload, only the hash is recorded.
    pub max_payload: usize,
    /// Whether model requests and responses are kept, instead of hashes and counts.
    pub keep_model_text: bool,
}

#[cfg(feature = "store")]
impl SealingOptions {
    /// Returns the options for entries that have no payload and were already searched for secrets.
    pub(crate) fn internal() -> Self {
        let key = RedactionKey::new([0; 32]);
        Self { key, keep_raw: false, max_payload: 0, keep_model_text: false }
    }

    /// Replaces secrets in a string that is not part of an entry.
    pub(crate) fn redact_text(&self, text: &str, redactor: Redactor<'_>) -> String {
        if self.keep_raw { text.to_owned() } else { self.key.redact(text, &redactor(text)).0 }
    }
}

impl EntryBody {
    /// Returns the fields that every event has.
    fn from_event(event: &Event) -> Self {
        Self {
            source: Some(event.source.clone()),
            event: Some(event.event.name()),
            native_event: Some(event.native_event.clone()),
            harness_session_id: event.harness_session_id.clone(),
            session_check: event.session_check,
            sender_ts: event.sender_ts,
            tool_use_id: event.tool_use_id.clone(),
            tool: event
                .tool
                .as_ref()
                .map(|tool| ToolSummary { name: tool.name.clone(), class: tool.class.name() }),
            agent: event.agent.clone(),
            cwd: event.cwd.clone(),
            project: event.project.clone(),
            turn_id: event.turn_id.clone(),
            ..Self::default()
        }
    }
}

impl LedgerEntry {
    /// Creates an entry for an event and its outcome. `redactor` locates secrets in a string.
    pub fn decision(decided: &DecidedCall<'_>, redactor: Redactor<'_>) -> Self {
        let (event, outcome) = (&decided.call.event, decided.outcome);
        let body = EntryBody {
            verdict: Some(outcome.decision.as_str()),
            reason: outcome.reason(),
            policy_rule_id: outcome.deciding_rule().map(ToOwned::to_owned),
            nudge: join_nudges(outcome),
            rewritten: outcome.tool_input.is_some().then_some(true),
            flow: Some(outcome.flow.clone()),
            trace: outcome.trace.iter().cloned().map(RecordedStep::Step).collect(),
            generation: Some(decided.generation.to_owned()),
            took_us: Some(decided.took_us),
            facts: decided.facts.clone(),
            ..EntryBody::from_event(event)
        };
        let payload = build_payload(event, outcome);
        Self::new(LeafKind::Decision, event.id, event.ts, body, payload, redactor)
    }

    /// Creates an entry for an event from an imported transcript. It has no verdict, because no rules were evaluated.
    pub fn transcript_event(event: &Event, redactor: Redactor<'_>) -> Self {
        let payload = build_payload(event, &Outcome::default());
        let entry =
            Self::new(LeafKind::Seen, event.id, event.ts, EntryBody::from_event(event), payload, redactor);
        entry.with_origin(LeafOrigin::Transcript)
    }

    /// Creates an entry for a change to the protection settings: what changed, who changed it, and the new state.
    /// `redactor` searches all of these, because users write secrets into paths and reasons too.
    pub fn change(
        id: EventId,
        ts: Timestamp,
        what: &str,
        who: &str,
        detail: Value,
        redactor: Redactor<'_>,
    ) -> Self {
        let body = EntryBody {
            what: Some(what.to_owned()),
            who: Some(who.to_owned()),
            detail: (!detail.is_null()).then_some(detail),
            ..EntryBody::default()
        };
        Self::new(LeafKind::Change, id, ts, body, None, redactor)
    }

    /// Creates an entry. The redactor is required, so that every entry is searched for secrets.
    pub(crate) fn new(
        kind: LeafKind,
        id: EventId,
        ts: Timestamp,
        body: EntryBody,
        payload: Option<Value>,
        redactor: Redactor<'_>,
    ) -> Self {
        Self { id, ts, origin: LeafOrigin::Hook, kind, body, payload, found: Vec::new() }
            .with_located_secrets(redactor)
    }

    /// Sets the origin, which is `hook` by default.
    #[must_use]
    pub fn with_origin(mut self, origin: LeafOrigin) -> Self {
        self.origin = origin;
        self
    }

    /// Adds observations about the machine, such as symlink targets or the calling process.
    #[must_use]
    pub fn with_facts(mut self, facts: Value, redactor: Redactor<'_>) -> Self {
        // The judge may have added facts already.
        match (&mut self.body.facts, facts) {
            (Some(Value::Object(known)), Value::Object(more)) => known.extend(more),
            (known, facts) => *known = Some(facts),
        }
        self.with_located_secrets(redactor)
    }

    /// Links the entry to other events.
    #[must_use]
    pub fn with_links(mut self, links: Vec<EventId>) -> Self {
        self.body.links = links;
        self
    }

    /// Searches every string for secrets. Replaces the result of an earlier search.
    fn with_located_secrets(mut self, redactor: Redactor<'_>) -> Self {
        let owned = |secrets: Vec<(Range<usize>, &str)>| {
            secrets.into_iter().map(|(range, kind)| (range, kind.to_owned())).collect()
        };
        let mut found: Vec<Vec<(Range<usize>, String)>> = Vec::new();
        self.visit_identifiers(&mut |text| found.push(owned(secrets_in_identifier(text, redactor))));
        self.visit_texts(&mut |text| found.push(owned(redactor(text))));
        self.found = found;
        self
    }

    /// Visits every identifier that came from outside, always in the same order.
    fn visit_identifiers(&mut self, each: &mut dyn FnMut(&mut String)) {
        let body = &mut self.body;
        let agent = &mut body.agent;
        let optional = [
            &mut body.source,
            &mut body.native_event,
            &mut body.harness_session_id,
            &mut body.tool_use_id,
            &mut body.turn_id,
            &mut agent.model,
            &mut agent.user,
            &mut agent.id,
            &mut agent.kind,
            &mut agent.parent,
        ];
        optional.into_iter().flatten().for_each(&mut *each);
        if let Some(tool) = &mut body.tool {
            each(&mut tool.name);
        }
    }

    /// Visits every other string that came from outside, always in the same order.
    fn visit_texts(&mut self, each: &mut dyn FnMut(&mut String)) {
        let body = &mut self.body;
        let plain = [
            &mut body.cwd,
            &mut body.project,
            &mut body.reason,
            &mut body.nudge,
            &mut body.what,
            &mut body.who,
        ];
        plain.into_iter().flatten().for_each(&mut *each);
        if let Some(Flow::Stop { reason: Some(reason) }) = &mut body.flow {
            each(reason);
        }
        for traced in &mut body.trace {
            if let RecordedStep::Step(TraceEntry { note: Some(note), .. }) = traced {
                each(note);
            }
        }
        for value in [&mut body.facts, &mut body.detail, &mut self.payload].into_iter().flatten() {
            visit_json_texts(value, each);
        }
    }

    /// Replaces secrets, limits every field and commits to the payload.
    pub fn seal(mut self, sealing: &SealingOptions) -> Result<SealedEntry, SignError> {
        let mut redacted = 0;
        if !sealing.keep_raw && self.found.iter().any(|found| !found.is_empty()) {
            let mut found = std::mem::take(&mut self.found).into_iter();
            let mut replace = |text: &mut String| {
                if let Some(found) = found.next().filter(|found| !found.is_empty()) {
                    let (clean, count) = sealing.key.redact(text, &found);
                    (*text, redacted) = (clean, redacted + count);
                }
            };
            self.visit_identifiers(&mut replace);
            self.visit_texts(&mut replace);
        }
        // Runs after secrets were replaced, so that no hash covers a secret.
        if let Some(payload) = self.payload.as_mut().filter(|_| !sealing.keep_model_text) {
            summarize_model_text(payload);
        }
        field_limits::limit_body(&mut self.body);
        let json = |error: serde_json::Error| SignError::Other(error.to_string());
        let mut payload = None;
        if let Some(value) = &self.payload {
            let bytes = serde_json::to_vec(value).map_err(json)?;
            let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
            let sealed = SealedPayload::new(bytes, sealing.max_payload)?;
            self.body.payload = Some(PayloadMark {
                sha256: sealed.commitment.to_string().into(),
                bytes: length,
                stored: if sealed.bytes.is_some() { PayloadStorage::Whole } else { PayloadStorage::Hash },
                redacted,
            });
            payload = Some(sealed);
        }
        let fields = serde_json::to_string(&self.body).map_err(json)?;
        let fields = fields.get(1..fields.len().saturating_sub(1)).unwrap_or_default().to_owned();
        let EntryBody { source, harness_session_id: session, tool, verdict, policy_rule_id: rule, .. } =
            self.body;
        let (tool, verdict) = (tool.map(|tool| tool.name), verdict.map(ToOwned::to_owned));
        let columns = LookupColumns { source, session, tool, verdict, rule };
        Ok(SealedEntry {
            id: self.id,
            ts: self.ts,
            origin: self.origin,
            kind: self.kind,
            fields,
            columns,
            payload,
            supersedes: None,
        })
    }
}

impl SealedEntry {
    /// Whether the payload exceeds the limit, so that only its commitment is stored.
    pub fn is_payload_too_large(&self) -> bool {
        self.payload.as_ref().is_some_and(|payload| payload.bytes.is_none())
    }
}

/// Joins the suggestions as a harness shows them, without duplicates.
fn join_nudges(outcome: &Outcome) -> Option<String> {
    let mut once: Vec<&str> = Vec::new();
    for nudge in &outcome.nudges {
        if !once.contains(&nudge.value.as_str()) {
            once.push(&nudge.value);
        }
    }
    (!once.is_empty()).then(|| once.join("; "))
}

/// Builds the payload: the content written by the agent and the user, which may have to be erased later.
fn build_payload(event: &Event, outcome: &Outcome) -> Option<Value> {
    let mut parts = serde_json::Map::new();
    let mut put = |key: &str, value: Value| {
        if !matches!(&value, Value::Null) && value != json!([]) && value != json!({}) {
            parts.insert(key.to_owned(), value);
        }
    };
    // Serializing plain data to memory cannot fail.
    let written = |value: serde_json::Result<Value>| value.unwrap_or_default();
    put("args", event.tool.as_ref().map_or(Value::Null, |tool| tool.args.clone()));
    put("detail", written(serde_json::to_value(&event.detail)));
    put("tool_input", outcome.tool_input.clone().unwrap_or_default());
    put("modifications", written(serde_json::to_value(&outcome.modifications)));
    put("context", written(serde_json::to_value(&outcome.context)));
    put("messages", written(serde_json::to_value(&outcome.messages)));
    (!parts.is_empty()).then_some(Value::Object(parts))
}

/// Visits every string in a JSON value, including keys.
fn visit_json_texts(value: &mut Value, each: &mut dyn FnMut(&mut String)) {
    match value {
        Value::String(text) => each(text),
        Value::Array(items) => items.iter_mut().for_each(|item| visit_json_texts(item, each)),
        Value::Object(fields) => {
            for (mut key, mut value) in std::mem::take(fields) {
                each(&mut key);
                visit_json_texts(&mut value, each);
                fields.insert(key, value);
            }
        }
        _ => {}
    }
}
