// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Delivers new alerts to webhooks and to Slack. An alert is delivered to each target at least once.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::sync::watch;

use crate::error::FleetError;
use crate::files::encode_hex;
use crate::ingest::wait_for_stop;
use crate::store::{AlertRow, Store};

/// How often new alerts are looked for, and the longest delay after failures.
const DELIVERY_INTERVAL: Duration = Duration::from_secs(1);
const MAX_RETRY_DELAY: Duration = Duration::from_mins(5);
/// How long a target may take.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// Format of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AlertFormat {
    /// The alert as JSON.
    Webhook,
    /// A message for an incoming webhook of Slack.
    Slack,
}

/// Where alerts are delivered.
#[derive(Clone)]
pub struct AlertTarget {
    /// Format of a delivery.
    pub format: AlertFormat,
    /// URL, which is a secret.
    pub url: String,
}

impl AlertTarget {
    /// Returns a name that does not reveal the URL.
    fn name(&self) -> String {
        let digest: [u8; 32] = Sha256::digest(&self.url).into();
        let (head, _) = digest.split_at(8);
        encode_hex(head)
    }

    /// Returns the body of a delivery.
    fn body(&self, tenant: &str, alert: &AlertRow) -> Value {
        let host = alert.host.as_deref().unwrap_or("unknown host");
        match self.format {
            AlertFormat::Webhook => json!({ "tenant": tenant, "alert": alert }),
            AlertFormat::Slack => {
                // Slack gives meaning to these characters, and the name of a host comes from a machine.
                let host: String = host
                    .chars()
                    .filter(|c| !matches!(c, '<' | '>' | '&' | '*' | '_' | '`' | '~') && !c.is_control())
                    .collect();
                json!({ "text": format!("Tenterhook alert {}: {} on {host} ({})", alert.id, alert.kind, alert.machine) })
            }
        }
    }
}

/// Delivers alerts until the server stops.
pub(crate) async fn run_alert_delivery(
    store: Store,
    tenants: Vec<String>,
    target: AlertTarget,
    mut stop: watch::Receiver<bool>,
) {
    let (target, mut delay) = (Arc::new(target), DELIVERY_INTERVAL);
    loop {
        tokio::select! {
            () = wait_for_stop(&mut stop) => return,
            () = tokio::time::sleep(delay) => {}
        }
        delay = DELIVERY_INTERVAL;
        for tenant in &tenants {
            if let Err(error) = deliver(&store, tenant, &target).await {
                tracing::warn!(target = target.name(), %error, "alerts cannot be delivered");
                delay = (delay * 30).min(MAX_RETRY_DELAY);
            }
        }
    }
}

async fn deliver(store: &Store, tenant: &str, target: &Arc<AlertTarget>) -> Result<(), FleetError> {
    let name = target.name();
    for alert in store.undelivered_alerts(tenant, &name).await? {
        let (body, post_target) = (target.body(tenant, &alert).to_string(), target.clone());
        let posted = tokio::task::spawn_blocking(move || post(&post_target.url, &body)).await;
        posted.map_err(|error| FleetError::internal(error.to_string()))??;
        store.mark_delivered(alert.id, &name).await?;
    }
    Ok(())
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
        ureq::Error::StatusCode(status) => {
            FleetError::unavailable(format!("the target answered with status {status}"))
        }
        _ => FleetError::unavailable("the target cannot be reached"),
    })
}
