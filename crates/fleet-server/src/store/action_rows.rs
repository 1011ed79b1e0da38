// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Rows of actions, which repeat records of the servers' ledgers for searches.

use deadpool_postgres::GenericClient;
use serde_json::Value;

use super::Store;
use crate::error::FleetError;

impl Store {
    /// Adds an action that was recorded in a ledger.
    pub(crate) async fn insert_action<C: GenericClient>(
        client: &C,
        (tenant, actor, action): (&str, &str, &str),
        detail: &Value,
        (ledger, record): (&str, i64),
    ) -> Result<(), FleetError> {
        let sql = "insert into actions (tenant, actor, action, detail, ledger, record) values ($1, $2, $3, $4, $5, $6)";
        client.execute(sql, &[&tenant, &actor, &action, &detail, &ledger, &record]).await?;
        Ok(())
    }
}
