// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Every stage of every rollout. A trigger of the database adds the rows.

use std::time::SystemTime;

use serde::Serialize;
use tokio_postgres::Row;

use super::{Store, serialize_time, unsigned};
use crate::error::FleetError;

/// Maximum number of rows that are listed.
const MAX_ROWS: i64 = 200;

/// A stage that a rollout reached.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct RolloutStage {
    /// Name of the ring.
    pub(crate) ring: String,
    /// Version that is rolled out.
    pub(crate) version: u64,
    /// `candidate`, `active`, `halted` or `stopped`.
    pub(crate) stage: String,
    /// Why the rollout ended.
    pub(crate) reason: Option<String>,
    /// Who changed it.
    pub(crate) changed_by: String,
    /// When it was changed.
    #[serde(serialize_with = "serialize_time")]
    pub(crate) changed: SystemTime,
}

fn rollout_stage(row: &Row) -> RolloutStage {
    RolloutStage {
        ring: row.get("ring"),
        version: unsigned(row.get("version")),
        stage: row.get("stage"),
        reason: row.get("reason"),
        changed_by: row.get("changed_by"),
        changed: row.get("changed"),
    }
}

impl Store {
    /// Lists the last stages of rollouts, newest first.
    pub(crate) async fn rollout_history(&self, tenant: &str) -> Result<Vec<RolloutStage>, FleetError> {
        let sql = "select * from rollout_history where tenant = $1 order by changed desc, id desc limit $2";
        Ok(self.client().await?.query(sql, &[&tenant, &MAX_ROWS]).await?.iter().map(rollout_stage).collect())
    }
}
