// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Formats spans and counters as OTLP in JSON: <https://opentelemetry.io/docs/specs/otlp/>. In this format, 64-bit
//! numbers are strings.

use serde_json::{Value, json};
use tenterhook_event::{DecidedCall, Decision, Timestamp};

use crate::metrics::{BUCKET_BOUNDS_US, Histogram, Metrics};

/// OTLP's span kind for a request that this process serves.
const SPAN_KIND_SERVER: u8 = 2;
/// OTLP's aggregation temporality for counters that start at zero when the daemon starts.
const TEMPORALITY_CUMULATIVE: u8 = 2;

/// The span of one hook call.
#[derive(Debug, Clone)]
pub(crate) struct DecisionSpan {
    id: String,
    name: String,
    start_ms: u64,
    took_us: u64,
    attributes: Vec<(&'static str, String)>,
}

impl DecisionSpan {
    pub(crate) fn new(decided: &DecidedCall<'_>) -> Self {
        let (event, outcome) = (&decided.call.event, decided.outcome);
        let tool = event.tool.as_ref().map(|tool| tool.name.clone());
        let name = match &tool {
            Some(tool) => format!("{} {tool}", event.event),
            None => event.event.to_string(),
        };
        let optional = |name, value: Option<&str>| value.map(|value| (name, value.to_owned()));
        let attributes = [
            Some(("tenterhook.event.id", event.id.to_string())),
            Some(("tenterhook.harness", event.source.clone())),
            Some(("tenterhook.event", event.event.to_string())),
            optional("tenterhook.tool", tool.as_deref()),
            Some(("tenterhook.verdict", outcome.decision.to_string())),
            optional("tenterhook.rule", outcome.deciding_rule()),
            Some(("tenterhook.generation", decided.generation.to_owned())),
            optional("session.id", event.harness_session_id.as_deref()),
            optional("gen_ai.request.model", event.agent.model.as_deref()),
        ];
        Self {
            id: trace_id(event.id.bits()),
            name,
            start_ms: event.ts.unix_ms(),
            took_us: decided.took_us,
            attributes: attributes.into_iter().flatten().collect(),
        }
    }

    fn to_json(&self) -> Value {
        let start = u128::from(self.start_ms) * 1_000_000;
        let end = start + u128::from(self.took_us) * 1000;
        // The second half of an event id is unique and never all zeros, as OTLP requires of a span id.
        let span_id = self.id.get(16..).unwrap_or_default();
        json!({
            "traceId": self.id,
            "spanId": span_id,
            "name": self.name,
            "kind": SPAN_KIND_SERVER,
            "startTimeUnixNano": start.to_string(),
            "endTimeUnixNano": end.to_string(),
            "attributes": attributes(self.attributes.iter().map(|(name, value)| (*name, value.as_str()))),
        })
    }
}

/// The request body for a batch of spans.
pub(crate) fn spans_body(spans: &[DecisionSpan]) -> Value {
    let spans: Vec<_> = spans.iter().map(DecisionSpan::to_json).collect();
    json!({"resourceSpans": [{"resource": resource(), "scopeSpans": [{"scope": scope(), "spans": spans}]}]})
}

/// The request body for all counters.
pub(crate) fn metrics_body(metrics: &Metrics, started: Timestamp, now: Timestamp) -> Value {
    let (start, end) = (unix_nanos(started), unix_nanos(now));
    let point = |count: u64, labels: &[(&str, &str)]| {
        json!({
            "asInt": count.to_string(), "startTimeUnixNano": start, "timeUnixNano": end,
            "attributes": attributes(labels.iter().copied()),
        })
    };
    let decisions: Vec<_> = metrics
        .decisions()
        .into_iter()
        .map(|(harness, kind, decision, count): (_, _, Decision, _)| {
            let labels = [
                ("tenterhook.harness", harness),
                ("tenterhook.event", kind.name()),
                ("tenterhook.verdict", decision.as_str()),
            ];
            point(count, &labels)
        })
        .collect();
    let histogram = |name: &str, about: &str, histogram: &Histogram| {
        let snapshot = histogram.snapshot();
        let counts: Vec<_> = snapshot.buckets.iter().map(ToString::to_string).collect();
        let point = json!({
            "startTimeUnixNano": start, "timeUnixNano": end, "count": snapshot.count.to_string(),
            "sum": seconds(snapshot.sum_us), "bucketCounts": counts,
            "explicitBounds": BUCKET_BOUNDS_US.iter().map(|bound| seconds(*bound)).collect::<Vec<_>>(),
        });
        json!({
            "name": name, "unit": "s", "description": about,
            "histogram": {"aggregationTemporality": TEMPORALITY_CUMULATIVE, "dataPoints": [point]},
        })
    };
    let sum = |points: Vec<Value>| json!({"aggregationTemporality": TEMPORALITY_CUMULATIVE, "isMonotonic": true, "dataPoints": points});
    let all = [
        json!({"name": "tenterhook.decisions", "unit": "{decision}", "description": "decided events", "sum": sum(decisions)}),
        json!({"name": "tenterhook.fallbacks", "unit": "{decision}", "description": "decisions that hooks made in-process, without the daemon", "sum": sum(vec![point(metrics.fallbacks(), &[])])}),
        histogram(
            "tenterhook.decision.duration",
            "time from the arrival of a call to its decision",
            &metrics.deciding,
        ),
        histogram(
            "tenterhook.record.duration",
            "time from the decision to its record on the disk",
            &metrics.recording,
        ),
    ];
    json!({"resourceMetrics": [{"resource": resource(), "scopeMetrics": [{"scope": scope(), "metrics": all}]}]})
}

fn resource() -> Value {
    let version = env!("CARGO_PKG_VERSION");
    json!({"attributes": attributes([("service.name", "tenterhook"), ("service.version", version)])})
}

fn scope() -> Value {
    json!({"name": "tenterhook", "version": env!("CARGO_PKG_VERSION")})
}

fn attributes<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<Value> {
    pairs.into_iter().map(|(key, value)| json!({"key": key, "value": {"stringValue": value}})).collect()
}

fn unix_nanos(ts: Timestamp) -> String {
    (u128::from(ts.unix_ms()) * 1_000_000).to_string()
}

#[expect(clippy::cast_precision_loss, reason = "a double is what OTLP has for this")]
fn seconds(us: u64) -> f64 {
    us as f64 / 1_000_000.0
}

fn trace_id(bits: u128) -> String {
    format!("{:032x}", bits.max(1))
}
