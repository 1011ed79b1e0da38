// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Which messages were delivered to which target, and when a failed one is tried again.

use super::Store;
use crate::error::FleetError;

/// A message that is delivered to targets.
#[derive(Debug)]
pub(crate) enum DeliveryKind<'a> {
    /// An alert by its number.
    Alert(i64),
    /// An approval by its machine and id.
    Approval(&'a str, &'a str),
}

/// When a failed delivery is tried again: after 4 seconds, then 8, up to an hour.
const NEXT_ATTEMPT: &str = "now() + make_interval(secs => least(3600, power(2, least(attempts + 2, 12))))";

impl Store {
    /// Remembers that a message was delivered, or when it is tried again.
    pub(crate) async fn note_delivery(
        &self,
        tenant: &str,
        target: &str,
        kind: &DeliveryKind<'_>,
        is_delivered: bool,
    ) -> Result<(), FleetError> {
        let client = self.client().await?;
        let columns = "delivered, attempts, next_attempt";
        let values = "case when $1 then now() end, 1, now() + interval '4 seconds'";
        let update = format!(
            "delivered = excluded.delivered, attempts = d.attempts + 1, next_attempt = {}",
            NEXT_ATTEMPT.replace("attempts", "d.attempts")
        );
        match kind {
            DeliveryKind::Alert(alert) => {
                let sql = format!(
                    "insert into alert_deliveries as d (alert, target, {columns}) values ($2, $3, {values}) \
                     on conflict (alert, target) do update set {update}"
                );
                client.execute(&sql, &[&is_delivered, alert, &target]).await?;
            }
            DeliveryKind::Approval(machine, approval) => {
                let sql = format!(
                    "insert into approval_deliveries as d (tenant, machine, approval, target, {columns}) \
                     values ($2, $3, $4, $5, {values}) \
                     on conflict (tenant, machine, approval, target) do update set {update}"
                );
                client.execute(&sql, &[&is_delivered, &tenant, machine, approval, &target]).await?;
            }
        }
        Ok(())
    }
}
