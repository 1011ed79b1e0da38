// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Rows of approvals. The server stores and relays them; it cannot answer them.

use std::time::SystemTime;

use deadpool_postgres::GenericClient;
use serde::Serialize;
use tenterhook_fleet_protocol::{AnswerDecision, ApprovalRequest, SignedAnswer, call_digest};
use tokio_postgres::Row;

use super::{Store, serialize_optional_time, serialize_time, signed};
use crate::error::FleetError;

/// A call that waits for an approval, or waited.
#[derive(Debug, Clone, Serialize)]
pub struct ApprovalRow {
    /// The machine that asks.
    pub machine: String,
    /// Name of its host.
    pub host: Option<String>,
    /// Id of the approval on the machine.
    pub approval: String,
    /// The call, as the machine sent it. Answers are bound to the digest of this text.
    pub call: String,
    /// Digest of the call.
    pub digest: String,
    /// When it expires.
    #[serde(serialize_with = "serialize_time")]
    pub expires: SystemTime,
    /// When it was received.
    #[serde(serialize_with = "serialize_time")]
    pub asked: SystemTime,
    /// When it was answered or expired.
    #[serde(serialize_with = "serialize_optional_time")]
    pub closed: Option<SystemTime>,
    /// Decision of the answer that was relayed.
    pub decision: Option<String>,
    /// Approver of that answer.
    pub approver: Option<String>,
}

fn approval_row(row: &Row) -> ApprovalRow {
    ApprovalRow {
        machine: row.get("machine"),
        host: row.get("host"),
        approval: row.get("approval"),
        call: row.get("call"),
        digest: row.get("digest"),
        expires: row.get("expires"),
        asked: row.get("asked"),
        closed: row.get("closed"),
        decision: row.get("decision"),
        approver: row.get("approver"),
    }
}

impl Store {
    /// Stores a request of a machine. Returns whether it is new and open.
    pub(crate) async fn put_approval(
        &self,
        tenant: &str,
        request: &ApprovalRequest,
    ) -> Result<bool, FleetError> {
        let client = self.client().await?;
        let machine = request.machine.as_str();
        if request.closed {
            let sql = "update approvals set closed = coalesce(closed, now()) \
                       where tenant = $1 and machine = $2 and approval = $3";
            client.execute(sql, &[&tenant, &machine, &request.approval]).await?;
            return Ok(false);
        }
        // The call of an id never changes: an approver must not sign something else than was shown.
        let sql = "insert into approvals (tenant, machine, approval, call, digest, expires) \
                   values ($1, $2, $3, $4, $5, to_timestamp($6)) on conflict do nothing";
        #[expect(clippy::cast_precision_loss, reason = "seconds since 1970 are exact in a double")]
        let expires = signed(request.expires) as f64;
        let digest = call_digest(&request.call);
        let inserted = client
            .execute(sql, &[&tenant, &machine, &request.approval, &request.call, &digest, &expires])
            .await?;
        Ok(inserted == 1)
    }

    /// Lists approvals, oldest first: all of the last day, or those that wait.
    pub async fn list_approvals(&self, tenant: &str, all: bool) -> Result<Vec<ApprovalRow>, FleetError> {
        let sql = "select a.*, m.host from approvals a left join machines m on m.id = a.machine where a.tenant = $1 \
                   and (case when $2 then a.asked > now() - interval '1 day' \
                   else a.closed is null and a.answered is null and a.expires > now() end) \
                   order by a.asked limit 1000";
        Ok(self.client().await?.query(sql, &[&tenant, &all]).await?.iter().map(approval_row).collect())
    }

    /// Returns waiting approvals that were not announced to a target and are due, oldest first.
    pub(crate) async fn unannounced_approvals(
        &self,
        tenant: &str,
        target: &str,
    ) -> Result<Vec<ApprovalRow>, FleetError> {
        let sql = "select a.*, m.host from approvals a left join machines m on m.id = a.machine where a.tenant = $1 \
                   and a.closed is null and a.answered is null and a.expires > now() \
                   and not exists (select 1 from approval_deliveries d where d.tenant = a.tenant and d.machine = a.machine \
                   and d.approval = a.approval and d.target = $2 and (d.delivered is not null or d.next_attempt > now())) \
                   order by a.asked limit 20";
        let rows = self.client().await?.query(sql, &[&tenant, &target]).await?;
        Ok(rows.iter().map(approval_row).collect())
    }

    /// Finds approvals by the end of their id.
    pub(crate) async fn find_approvals(
        &self,
        tenant: &str,
        id: &str,
    ) -> Result<Vec<ApprovalRow>, FleetError> {
        let sql = "select a.*, m.host from approvals a left join machines m on m.id = a.machine \
                   where a.tenant = $1 and right(lower(a.approval), length($2)) = lower($2) \
                   order by a.asked desc limit 10";
        Ok(self.client().await?.query(sql, &[&tenant, &id]).await?.iter().map(approval_row).collect())
    }

    /// Returns an approval that waits, locked until the transaction ends.
    pub(crate) async fn lock_waiting_approval<C: GenericClient>(
        client: &C,
        tenant: &str,
        answer: &SignedAnswer,
    ) -> Result<ApprovalRow, FleetError> {
        let sql = "select a.*, m.host from approvals a left join machines m on m.id = a.machine where a.tenant = $1 \
                   and a.machine = $2 and a.approval = $3 and a.closed is null and a.answered is null \
                   and a.expires > now() for update of a";
        let machine = answer.machine.as_str();
        let row = client.query_opt(sql, &[&tenant, &machine, &answer.approval]).await?;
        row.as_ref().map(approval_row).ok_or_else(|| {
            let message = format!("approval `{}` does not wait for this answer", answer.approval);
            FleetError::conflict(message).with_hint("it was answered, or has expired")
        })
    }

    /// Marks an approval as answered.
    pub(crate) async fn mark_answered<C: GenericClient>(
        client: &C,
        tenant: &str,
        answer: &SignedAnswer,
    ) -> Result<(), FleetError> {
        let decision = match answer.decision {
            AnswerDecision::Allow => "allow",
            AnswerDecision::Deny => "deny",
        };
        let sql = "update approvals set decision = $4, approver = $5, answered = now() where tenant = $1 \
                   and machine = $2 and approval = $3";
        let machine = answer.machine.as_str();
        client.execute(sql, &[&tenant, &machine, &answer.approval, &decision, &answer.approver]).await?;
        Ok(())
    }
}
