// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Machines that an operator has removed, and those that are suspended.

use std::time::Duration;

use tenterhook_fleet_protocol::NkeyPublic;

use super::{Store, unsigned};
use crate::error::FleetError;

/// Maximum number of keys in the token of an account: NATS limits its length.
const MAX_REVOKED_KEYS: i64 = 8000;

impl Store {
    /// Finds the machine with this id or host that was not removed.
    pub(crate) async fn find_machine_by_name(&self, tenant: &str, name: &str) -> Result<String, FleetError> {
        let sql = "select id from machines where tenant = $1 and (id = $2 or host = $2) and revoked_at is null \
                   order by left_at is not null, id limit 3";
        let rows = self.client().await?.query(sql, &[&tenant, &name]).await?;
        match rows.as_slice() {
            [] => Err(FleetError::not_found(format!("there is no machine `{name}` that can be removed"))),
            [row] => Ok(row.get(0)),
            _ => Err(FleetError::conflict(format!("several machines are called `{name}`"))
                .with_hint("use the id of the machine: `tenterhook fleet machines` lists it")),
        }
    }

    /// Removes a machine: it cannot renew its credentials. Returns false if it was removed before.
    pub(crate) async fn revoke_machine(
        &self,
        (tenant, machine): (&str, &str),
        who: &str,
        reason: Option<&str>,
    ) -> Result<bool, FleetError> {
        let client = self.client().await?;
        let sql = "update machines set revoked_at = now(), revoked_by = $3, revoke_reason = $4, \
                   left_at = coalesce(left_at, now()) where tenant = $1 and id = $2 and revoked_at is null";
        let changed = client.execute(sql, &[&tenant, &machine, &who, &reason]).await?;
        let sql = "update alerts set ended = now() where tenant = $1 and machine = $2 and kind = 'machine-silent' \
                   and ended is null";
        client.execute(sql, &[&tenant, &machine]).await?;
        Ok(changed == 1)
    }

    /// Returns the keys of removed machines whose credentials may not have expired, and of suspended ones, with the time of
    /// the removal or suspension.
    pub(crate) async fn revoked_keys(
        &self,
        tenant: &str,
        life: Duration,
    ) -> Result<Vec<(NkeyPublic, u64)>, FleetError> {
        let sql = "select nkey, ceil(extract(epoch from greatest(revoked_at, suspended_at)))::bigint as at from machines \
                   where tenant = $1 and (revoked_at > now() - make_interval(secs => $2) or suspended_until > now()) \
                   order by at desc limit $3";
        // Another copy of the server may have issued a token a moment later.
        let seconds = (life + Duration::from_mins(10)).as_secs_f64();
        let rows = self.client().await?.query(sql, &[&tenant, &seconds, &MAX_REVOKED_KEYS]).await?;
        if i64::try_from(rows.len()).is_ok_and(|found| found == MAX_REVOKED_KEYS) {
            tracing::warn!(
                tenant,
                "too many removed machines: the credentials of the oldest ones expire instead"
            );
        }
        let key =
            |row: &tokio_postgres::Row| Some((row.get::<_, &str>(0).parse().ok()?, unsigned(row.get(1))));
        Ok(rows.iter().filter_map(key).collect())
    }
}
