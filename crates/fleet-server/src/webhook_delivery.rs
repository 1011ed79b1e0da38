// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Delivers alerts and waiting approvals to webhooks and to Slack, to each target at least once.
//!
//! A delivery that fails is tried again after a pause of its own, so that one message that a target refuses does not hold
//! up the others. A message about an approval has a link and no arguments of the call: the call is read, and the answer
//! signed, on the approver's own machine.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::sync::watch;

use crate::error::{FleetError, FleetErrorKind};
use crate::files::encode_hex;
use crate::ingest::wait_for_stop;
use crate::store::{AlertRow, ApprovalRow, DeliveryKind, Store};

/// How often new messages are looked for, and the longest pause after a target could not be reached.
const DELIVERY_INTERVAL: Duration = Duration::from_secs(1);
const MAX_RETRY_DELAY: Duration = Duration::from_mins(5);
/// How long a target may take.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum length of a text of a machine in a message.
const MAX_TEXT_CHARS: usize = 100;

/// Format of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WebhookFormat {
    /// A JSON object with the fields of the message.
    Json,
    /// A message for an incoming webhook of Slack.
    Slack,
}

/// Where messages are delivered.
#[derive(Clone)]
pub struct WebhookTarget {
    /// Format of a delivery.
    pub format: WebhookFormat,
    /// URL, which is a secret.
    pub url: String,
}

/// Removes characters to which Slack gives meaning: texts such as the name of a host come from a machine.
fn plain(text: &str) -> String {
    let is_plain = |c: &char| !matches!(c, '<' | '>' | '&' | '*' | '_' | '`' | '~' | '|') && !c.is_control();
    text.chars().filter(is_plain).take(MAX_TEXT_CHARS).collect()
}

impl WebhookTarget {
    /// Returns a name that does not reveal the URL.
    fn name(&self) -> String {
        let digest: [u8; 32] = Sha256::digest(&self.url).into();
        let (head, _) = digest.split_at(8);
        encode_hex(head)
    }

    fn alert_body(&self, tenant: &str, alert: &AlertRow) -> Value {
        match self.format {
            WebhookFormat::Json => json!({ "tenant": tenant, "alert": alert }),
            WebhookFormat::Slack => {
                let host = plain(alert.host.as_deref().unwrap_or("unknown host"));
                json!({ "text": format!("Tenterhook alert {}: {} on {host} ({})", alert.id, alert.kind, alert.machine) })
            }
        }
    }

    fn approval_body(&self, tenant: &str, approval: &ApprovalRow, public_url: &str) -> Value {
        let call: Value = serde_json::from_str(&approval.call).unwrap_or_default();
        let field = |name: &str| call.get(name).and_then(Value::as_str).map(plain);
        let (harness, tool, user) = (field("source"), field("tool"), field("user"));
        let link = format!("{}/#/approvals", public_url.trim_end_matches('/'));
        let host = plain(approval.host.as_deref().unwrap_or("unknown host"));
        let ApprovalRow { machine, approval: id, .. } = approval;
        let id = plain(id);
        match self.format {
            WebhookFormat::Json => json!({
                "tenant": tenant, "link": link,
                "approval": {
                    "approval": id, "machine": machine, "host": host, "harness": harness, "tool": tool, "user": user,
                    "asked": jiff_text(approval.asked), "expires": jiff_text(approval.expires),
                },
            }),
            WebhookFormat::Slack => {
                let (tool, harness) = (tool.unwrap_or_default(), harness.unwrap_or_default());
                let text = format!(
                    "A call of {harness} ({tool}) on {host} waits for an approval: <{link}|{id}>. Read it and answer with \
                     `tenterhook fleet approve {id}`."
                );
                json!({ "text": text })
            }
        }
    }
}

fn jiff_text(time: std::time::SystemTime) -> String {
    jiff::Timestamp::try_from(time).unwrap_or(jiff::Timestamp::UNIX_EPOCH).to_string()
}

/// What is delivered to a target.
#[derive(Clone)]
pub(crate) enum DeliveredMessages {
    Alerts,
    /// Waiting approvals, with the URL of the server.
    Approvals(Arc<str>),
}

/// Delivers messages until the server stops.
pub(crate) async fn run_deliveries(
    store: Store,
    tenants: Vec<String>,
    (target, messages): (WebhookTarget, DeliveredMessages),
    mut stop: watch::Receiver<bool>,
) {
    let (target, mut delay) = (Arc::new(target), DELIVERY_INTERVAL);
    loop {
        tokio::select! {
            () = wait_for_stop(&mut stop) => return,
            () = tokio::time::sleep(delay) => {}
        }
        let mut reached = true;
        for tenant in &tenants {
            let delivered = match &messages {
                DeliveredMessages::Alerts => deliver_alerts(&store, tenant, &target).await,
                DeliveredMessages::Approvals(url) => deliver_approvals(&store, tenant, &target, url).await,
            };
            if let Err(error) = delivered {
                tracing::warn!(target = target.name(), %error, "messages cannot be delivered");
                reached = false;
            }
        }
        delay = if reached { DELIVERY_INTERVAL } else { (delay * 4).min(MAX_RETRY_DELAY) };
    }
}

async fn deliver_alerts(store: &Store, tenant: &str, target: &Arc<WebhookTarget>) -> Result<(), FleetError> {
    let name = target.name();
    for alert in store.undelivered_alerts(tenant, &name).await? {
        let result = post_json(&target.url, &target.alert_body(tenant, &alert)).await;
        let delivery = DeliveryKind::Alert(alert.id);
        note_delivery(store, (tenant, &name), &delivery, result).await?;
    }
    Ok(())
}

async fn deliver_approvals(
    store: &Store,
    tenant: &str,
    target: &Arc<WebhookTarget>,
    public_url: &str,
) -> Result<(), FleetError> {
    let name = target.name();
    for approval in store.unannounced_approvals(tenant, &name).await? {
        let result = post_json(&target.url, &target.approval_body(tenant, &approval, public_url)).await;
        let delivery = DeliveryKind::Approval(&approval.machine, &approval.approval);
        note_delivery(store, (tenant, &name), &delivery, result).await?;
    }
    Ok(())
}

/// Remembers a delivery. A target that cannot be reached ends the round, because no other message would reach it.
async fn note_delivery(
    store: &Store,
    (tenant, target): (&str, &str),
    delivery: &DeliveryKind<'_>,
    result: Result<(), FleetError>,
) -> Result<(), FleetError> {
    store.note_delivery(tenant, target, delivery, result.is_ok()).await?;
    match result {
        Err(error) if error.kind() == FleetErrorKind::Unavailable => Err(error),
        Err(error) => {
            tracing::warn!(target, ?delivery, %error, "a message was refused, trying again later");
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}

/// Sends a JSON body.
pub(crate) async fn post_json(url: &str, body: &Value) -> Result<(), FleetError> {
    let (url, body) = (url.to_owned(), body.to_string());
    let posted = tokio::task::spawn_blocking(move || post(&url, &body)).await;
    posted.map_err(|error| FleetError::internal(error.to_string()))?
}

fn post(url: &str, body: &str) -> Result<(), FleetError> {
    let library = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let tls = ureq::tls::TlsConfig::builder().unversioned_rustls_crypto_provider(library).build();
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(REQUEST_TIMEOUT))
        .max_redirects(0)
        .proxy(None)
        .tls_config(tls)
        .build()
        .into();
    // The error has no URL, because the URL is a secret.
    let sent = agent.post(url).header("content-type", "application/json").send(body);
    sent.map(drop).map_err(|error| match error {
        // The target answers, so other messages may be accepted.
        ureq::Error::StatusCode(status) => {
            FleetError::conflict(format!("the target answered with status {status}"))
        }
        _ => FleetError::unavailable("the target cannot be reached"),
    })
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn a_message_about_an_approval_has_a_link_and_no_part_of_the_call() {
        let call = json!({
            "id": "x", "source": "claude-code", "event": "PreToolUse", "tool": "Bash<!here>", "user": "dev",
            "cwd": "/home/dev/secret-project", "wants": "rm -rf /srv/payroll", "args": {"command": "rm -rf /srv/payroll"},
            "reasons": [{"by": "rule", "value": "deletes payroll"}],
        });
        let approval = ApprovalRow {
            machine: "m1".into(),
            host: Some("build<7>".into()),
            approval: "7QZ3".into(),
            call: call.to_string(),
            digest: "d".into(),
            expires: SystemTime::UNIX_EPOCH,
            asked: SystemTime::UNIX_EPOCH,
            closed: None,
            decision: None,
            approver: None,
        };
        for format in [WebhookFormat::Json, WebhookFormat::Slack] {
            let target = WebhookTarget { format, url: "https://hooks.example/secret".into() };
            let body = target.approval_body("default", &approval, "https://fleet.example/").to_string();
            assert!(body.contains("https://fleet.example/#/approvals") && body.contains("7QZ3"), "{body}");
            assert!(body.contains("build7") && body.contains("Bash!here"), "{body}");
            for part in ["payroll", "rm -rf", "secret", "digest"] {
                assert!(!body.contains(part), "{part}: {body}");
            }
        }
    }
}
