// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a caller wants recorded, and how it is sealed: redacted, bounded, committed to.

use std::ops::Range;

use serde::Serialize;
use serde_json::{Value, json};
use tenterhook_event::{
    AgentIdentity, DecidedCall, Event, EventId, Flow, Outcome, SessionCheck, Timestamp, TraceEntry,
};

use crate::bound;
use crate::identifier::secrets_in_identifier;
use crate::model_text::summarize_model_text;
use crate::payload::{RedactionKey, Redactor, SealedPayload};
use crate::record::{Kind, Origin, PayloadMark, Stored};
use crate::sign::SignError;

/// One thing to record. It may still hold secrets: it is for memory only until it is sealed.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The event's id; the same id is never recorded twice.
    pub id: EventId,
    /// When it happened.
    pub ts: Timestamp,
    /// Who brings it.
    pub origin: Origin,
    pub(crate) kind: Kind,
    pub(crate) body: Body,
    pub(crate) payload: Option<Value>,
    /// What the detectors found in each text, in the order that `identifiers` and `texts` visit them.
    found: Vec<Vec<(Range<usize>, String)>>,
}

/// The fields of an envelope that come from the entry, in the order they are written.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Body {
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
    pub(crate) tool: Option<Tool>,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) flow: Option<Flow>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) trace: Vec<Traced>,
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Tool {
    pub(crate) name: String,
    pub(crate) class: &'static str,
}

/// A step of the trace, or how many were left out.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) enum Traced {
    Step(TraceEntry),
    Cut { cut: u64 },
}

/// An entry as it will be recorded: no secret is in it, nothing is longer than it may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealed {
    pub(crate) id: EventId,
    pub(crate) ts: Timestamp,
    pub(crate) origin: Origin,
    pub(crate) kind: Kind,
    /// Members of the envelope, without braces.
    pub(crate) fields: String,
    pub(crate) columns: Columns,
    pub(crate) payload: Option<SealedPayload>,
    /// The event's other decision, which nobody heard.
    pub(crate) supersedes: Option<EventId>,
}

/// What a leaf is looked up by. The same is in its envelope, and only that counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Columns {
    pub(crate) source: Option<String>,
    pub(crate) session: Option<String>,
    pub(crate) tool: Option<String>,
    pub(crate) verdict: Option<String>,
    pub(crate) rule: Option<String>,
}

/// How entries are sealed.
#[derive(Debug, Clone)]
pub struct Sealing {
    /// The key of redaction marks.
    pub key: RedactionKey,
    /// Keep what the detectors found. Somebody has to want that.
    pub keep_raw: bool,
    /// Larger payloads are recorded by their hash only, in bytes.
    pub max_payload: usize,
    /// Keep requests to models and their answers, instead of hashes and counts.
    pub keep_model_text: bool,
}

// === impl Sealing ===

#[cfg(feature = "store")]
impl Sealing {
    /// A text of its own, as it may be stored.
    pub(crate) fn clean(&self, text: &str, redactor: Redactor<'_>) -> String {
        if self.keep_raw { text.to_owned() } else { self.key.redact(text, &redactor(text)).0 }
    }
}

// === impl Body ===

impl Body {
    /// What every event has.
    fn of(event: &Event) -> Self {
        Self {
            source: Some(event.source.clone()),
            event: Some(event.event.name()),
            native_event: Some(event.native_event.clone()),
            harness_session_id: event.harness_session_id.clone(),
            session_check: event.session_check,
            sender_ts: event.sender_ts,
            tool_use_id: event.tool_use_id.clone(),
            tool: event.tool.as_ref().map(|tool| Tool { name: tool.name.clone(), class: tool.class.name() }),
            agent: event.agent.clone(),
            cwd: event.cwd.clone(),
            project: event.project.clone(),
            turn_id: event.turn_id.clone(),
            ..Self::default()
        }
    }
}

// === impl Entry ===

impl Entry {
    /// An event and what was decided about it. `redactor` says where secrets lie in a text.
    pub fn decision(decided: &DecidedCall<'_>, redactor: Redactor<'_>) -> Self {
        let (event, outcome) = (&decided.call.event, decided.outcome);
        let body = Body {
            verdict: Some(outcome.decision.as_str()),
            reason: outcome.reason(),
            policy_rule_id: outcome.deciding_rule().map(ToOwned::to_owned),
            nudge: nudge(outcome),
            flow: Some(outcome.flow.clone()),
            trace: outcome.trace.iter().cloned().map(Traced::Step).collect(),
            generation: Some(decided.generation.to_owned()),
            took_us: Some(decided.took_us),
            facts: decided.facts.clone(),
            ..Body::of(event)
        };
        let payload = payload(event, outcome);
        Self::new(Kind::Decision, event.id, event.ts, body, payload, redactor)
    }

    /// An event that a transcript tells of. Nothing was decided about it, so nothing is said of a verdict.
    pub fn seen(event: &Event, redactor: Redactor<'_>) -> Self {
        let payload = payload(event, &Outcome::default());
        let entry = Self::new(Kind::Seen, event.id, event.ts, Body::of(event), payload, redactor);
        entry.from(Origin::Transcript)
    }

    /// Something that changes protection: what, who did it, and how it looks now. People write
    /// secrets into paths and reasons too, so `redactor` looks at all of it.
    pub fn change(
        id: EventId,
        ts: Timestamp,
        what: &str,
        who: &str,
        detail: Value,
        redactor: Redactor<'_>,
    ) -> Self {
        let body = Body {
            what: Some(what.to_owned()),
            who: Some(who.to_owned()),
            detail: (!detail.is_null()).then_some(detail),
            ..Body::default()
        };
        Self::new(Kind::Change, id, ts, body, None, redactor)
    }

    /// There is no entry in which nobody has looked for secrets: whoever makes one brings a redactor.
    pub(crate) fn new(
        kind: Kind,
        id: EventId,
        ts: Timestamp,
        body: Body,
        payload: Option<Value>,
        redactor: Redactor<'_>,
    ) -> Self {
        Self { id, ts, origin: Origin::Hook, kind, body, payload, found: Vec::new() }.searched(redactor)
    }

    /// The same, brought by somebody else than a hook.
    #[must_use]
    pub fn from(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }

    /// The same, with what was observed of the machine and mattered: where links led, who ran it.
    #[must_use]
    pub fn with_facts(mut self, facts: Value, redactor: Redactor<'_>) -> Self {
        // The judge may have said already what it looked at.
        match (&mut self.body.facts, facts) {
            (Some(Value::Object(known)), Value::Object(more)) => known.extend(more),
            (known, facts) => *known = Some(facts),
        }
        self.searched(redactor)
    }

    /// The same, linked to other events.
    #[must_use]
    pub fn with_links(mut self, links: Vec<EventId>) -> Self {
        self.body.links = links;
        self
    }

    /// The same, with secrets looked for in every text; what stood found before is forgotten.
    fn searched(mut self, redactor: Redactor<'_>) -> Self {
        let owned = |secrets: Vec<(Range<usize>, &str)>| {
            secrets.into_iter().map(|(range, kind)| (range, kind.to_owned())).collect()
        };
        let mut found: Vec<Vec<(Range<usize>, String)>> = Vec::new();
        self.identifiers(&mut |text| found.push(owned(secrets_in_identifier(text, redactor))));
        self.texts(&mut |text| found.push(owned(redactor(text))));
        self.found = found;
        self
    }

    /// Every identifier that was sent to us, always in the same order.
    fn identifiers(&mut self, each: &mut dyn FnMut(&mut String)) {
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

    /// Every other text that somebody else wrote, always in the same order.
    fn texts(&mut self, each: &mut dyn FnMut(&mut String)) {
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
            if let Traced::Step(TraceEntry { note: Some(note), .. }) = traced {
                each(note);
            }
        }
        for value in [&mut body.facts, &mut body.detail, &mut self.payload].into_iter().flatten() {
            visit(value, each);
        }
    }

    /// Takes out secrets, bounds every field and commits to the payload.
    pub fn seal(mut self, sealing: &Sealing) -> Result<Sealed, SignError> {
        let mut redacted = 0;
        if !sealing.keep_raw && self.found.iter().any(|found| !found.is_empty()) {
            let mut found = std::mem::take(&mut self.found).into_iter();
            let mut replace = |text: &mut String| {
                if let Some(found) = found.next().filter(|found| !found.is_empty()) {
                    let (clean, count) = sealing.key.redact(text, &found);
                    (*text, redacted) = (clean, redacted + count);
                }
            };
            self.identifiers(&mut replace);
            self.texts(&mut replace);
        }
        // After secrets were taken out, so that no hash is about one.
        if let Some(payload) = self.payload.as_mut().filter(|_| !sealing.keep_model_text) {
            summarize_model_text(payload);
        }
        bound::body(&mut self.body);
        let json = |error: serde_json::Error| SignError::Other(error.to_string());
        let mut payload = None;
        if let Some(value) = &self.payload {
            let bytes = serde_json::to_vec(value).map_err(json)?;
            let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
            let sealed = SealedPayload::new(bytes, sealing.max_payload)?;
            self.body.payload = Some(PayloadMark {
                sha256: sealed.commitment.to_string().into(),
                bytes: length,
                stored: if sealed.bytes.is_some() { Stored::Whole } else { Stored::Hash },
                redacted,
            });
            payload = Some(sealed);
        }
        let fields = serde_json::to_string(&self.body).map_err(json)?;
        let fields = fields.get(1..fields.len().saturating_sub(1)).unwrap_or_default().to_owned();
        let Body { source, harness_session_id: session, tool, verdict, policy_rule_id: rule, .. } = self.body;
        let (tool, verdict) = (tool.map(|tool| tool.name), verdict.map(ToOwned::to_owned));
        let columns = Columns { source, session, tool, verdict, rule };
        Ok(Sealed {
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

// === impl Sealed ===

impl Sealed {
    /// Whether its payload is too large to be kept: only the commitment to it is.
    pub fn is_too_large(&self) -> bool {
        self.payload.as_ref().is_some_and(|payload| payload.bytes.is_none())
    }
}

/// Every nudge once, as a harness shows them.
fn nudge(outcome: &Outcome) -> Option<String> {
    let mut once: Vec<&str> = Vec::new();
    for said in &outcome.nudges {
        if !once.contains(&said.value.as_str()) {
            once.push(&said.value);
        }
    }
    (!once.is_empty()).then(|| once.join("; "))
}

/// What the agent and the person said and did: everything that may have to be erased one day.
fn payload(event: &Event, outcome: &Outcome) -> Option<Value> {
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

/// Every text in a JSON value, keys too.
fn visit(value: &mut Value, each: &mut dyn FnMut(&mut String)) {
    match value {
        Value::String(text) => each(text),
        Value::Array(items) => items.iter_mut().for_each(|item| visit(item, each)),
        Value::Object(fields) => {
            for (mut key, mut value) in std::mem::take(fields) {
                each(&mut key);
                visit(&mut value, each);
                fields.insert(key, value);
            }
        }
        _ => {}
    }
}
