// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Sends decisions to an OpenTelemetry collector as log records: OTLP over HTTP, in JSON. In this format, 64-bit numbers
//! are strings: <https://opentelemetry.io/docs/specs/otlp/>.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use tokio::sync::watch;

use crate::error::FleetError;
use crate::ingest::wait_for_stop;
use crate::store::{FleetDecision, Store};
use crate::webhook_delivery::post_json;

/// How often new decisions are looked for, and the longest pause after a failure.
const EXPORT_INTERVAL: Duration = Duration::from_secs(1);
const MAX_RETRY_DELAY: Duration = Duration::from_mins(5);
/// Maximum number of decisions in a request.
const MAX_REQUEST_DECISIONS: i64 = 500;
/// Severity numbers of OTLP for allowed, asked and denied calls.
const SEVERITY_INFO: u8 = 9;
const SEVERITY_WARN: u8 = 13;
const SEVERITY_ERROR: u8 = 17;

fn unix_nanos(time: SystemTime) -> String {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    since.as_nanos().to_string()
}

/// Returns attributes that have a value.
fn attributes(values: &[(&str, Option<&str>)]) -> Vec<Value> {
    let attribute = |(name, value): &(&str, Option<&str>)| {
        value.map(|value| json!({ "key": name, "value": { "stringValue": value } }))
    };
    values.iter().filter_map(attribute).collect()
}

fn log_record(decision: &FleetDecision) -> Value {
    let (number, text) = match decision.verdict.as_deref() {
        Some("deny") => (SEVERITY_ERROR, "ERROR"),
        Some("ask") => (SEVERITY_WARN, "WARN"),
        _ => (SEVERITY_INFO, "INFO"),
    };
    let FleetDecision { kind, verdict, event, harness, tool, rule, session, user, cwd, reason, .. } =
        decision;
    let record = decision.record.to_string();
    let rewritten = decision.rewritten.then_some("true");
    json!({
        "timeUnixNano": unix_nanos(decision.at),
        "severityNumber": number, "severityText": text,
        "eventName": "tenterhook.record",
        "body": { "stringValue": reason.as_deref().unwrap_or(kind) },
        "attributes": attributes(&[
            ("tenterhook.record", Some(&record)),
            ("tenterhook.kind", Some(kind)),
            ("tenterhook.verdict", verdict.as_deref()),
            ("tenterhook.rewritten", rewritten),
            ("tenterhook.event", event.as_deref()),
            ("tenterhook.harness", harness.as_deref()),
            ("tenterhook.tool", tool.as_deref()),
            ("tenterhook.rule", rule.as_deref()),
            ("tenterhook.cwd", cwd.as_deref()),
            ("session.id", session.as_deref()),
            ("user.name", user.as_deref()),
        ]),
    })
}

/// Returns the body of a request with decisions of one tenant: one resource for each machine.
pub fn otlp_logs(tenant: &str, decisions: &[FleetDecision]) -> Value {
    let mut machines: BTreeMap<(&str, &str), Vec<Value>> = BTreeMap::new();
    for decision in decisions {
        machines.entry((&decision.machine, &decision.host)).or_default().push(log_record(decision));
    }
    let resources = machines.into_iter().map(|((machine, host), records)| {
        let resource = attributes(&[
            ("service.name", Some("tenterhook")),
            ("tenterhook.tenant", Some(tenant)),
            ("tenterhook.machine", Some(machine)),
            ("host.name", Some(host)),
        ]);
        let scope = json!({ "name": "tenterhook-fleet", "version": env!("CARGO_PKG_VERSION") });
        json!({ "resource": { "attributes": resource }, "scopeLogs": [{ "scope": scope, "logRecords": records }] })
    });
    json!({ "resourceLogs": resources.collect::<Vec<_>>() })
}

/// Sends queued decisions until the server stops.
pub(crate) async fn run_otlp_export(store: Store, endpoint: String, mut stop: watch::Receiver<bool>) {
    let url = format!("{}/v1/logs", endpoint.trim_end_matches('/'));
    let mut delay = EXPORT_INTERVAL;
    loop {
        tokio::select! {
            () = wait_for_stop(&mut stop) => return,
            () = tokio::time::sleep(delay) => {}
        }
        delay = match send_queued(&store, &url).await {
            Ok(true) => Duration::ZERO,
            Ok(false) => EXPORT_INTERVAL,
            Err(error) => {
                tracing::warn!(%error, "decisions cannot be sent to the collector, trying again");
                (delay.max(EXPORT_INTERVAL) * 2).min(MAX_RETRY_DELAY)
            }
        };
        match store.expire_queued().await {
            Ok(0) => {}
            Ok(count) => tracing::warn!(count, "decisions have waited too long for the collector"),
            Err(error) => tracing::warn!(%error, "old decisions cannot be removed from the queue"),
        }
    }
}

/// Sends decisions. Returns whether more may wait.
async fn send_queued(store: &Store, url: &str) -> Result<bool, FleetError> {
    let mut client = store.client().await?;
    // The rows stay locked while they are sent, so that no other copy of the server sends them too.
    let transaction = client.transaction().await?;
    let (decisions, ids) = Store::take_queued(&transaction, MAX_REQUEST_DECISIONS).await?;
    if ids.is_empty() {
        return Ok(false);
    }
    let mut tenants: BTreeMap<String, Vec<FleetDecision>> = BTreeMap::new();
    for (tenant, decision) in decisions {
        tenants.entry(tenant).or_default().push(decision);
    }
    for (tenant, decisions) in &tenants {
        post_json(url, &otlp_logs(tenant, decisions)).await?;
    }
    Store::remove_queued(&transaction, &ids).await?;
    transaction.commit().await?;
    Ok(i64::try_from(ids.len()).is_ok_and(|sent| sent == MAX_REQUEST_DECISIONS))
}
