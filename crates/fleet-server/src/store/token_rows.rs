// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Enrolment tokens: `the1.<id>.<secret>`. Only a hash of the secret is stored.

use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use deadpool_postgres::GenericClient;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio_postgres::Row;

use super::{Store, serialize_optional_time, serialize_time};
use crate::error::FleetError;
use crate::files::{encode_hex, random_bytes};

/// First part of a token.
const TOKEN_PREFIX: &str = "the1";

/// An enrolment token without its secret.
#[derive(Debug, Clone, Serialize)]
pub struct TokenRow {
    /// Id of the token.
    pub id: String,
    /// Number of machines that may still enrol with it.
    pub uses_left: i32,
    /// When it expires.
    #[serde(serialize_with = "serialize_time")]
    pub expires: SystemTime,
    /// Labels of machines that enrol with it.
    pub labels: Value,
    /// Whether machines that enrol with it are CI runners.
    pub ci: bool,
    /// Ring of machines that enrol with it.
    pub ring: String,
    /// Actor that created the token.
    pub created_by: String,
    /// When it was created.
    #[serde(serialize_with = "serialize_time")]
    pub created: SystemTime,
    /// When it was revoked.
    #[serde(serialize_with = "serialize_optional_time")]
    pub revoked: Option<SystemTime>,
}

/// A token to create.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NewToken {
    /// Number of machines that may enrol with it.
    pub uses: i32,
    /// Life in seconds.
    pub life_seconds: u64,
    /// Labels of machines that enrol with it.
    pub labels: Value,
    /// Whether machines that enrol with it are CI runners.
    pub ci: bool,
    /// Ring of machines that enrol with it.
    pub ring: String,
}

/// Properties that a token gives to a machine.
pub(crate) struct UsedToken {
    pub(crate) id: String,
    pub(crate) tenant: String,
    pub(crate) labels: Value,
    pub(crate) ci: bool,
    pub(crate) ring: String,
}

/// Longest life of a token.
const MAX_LIFE: Duration = Duration::from_hours(366 * 24);

fn token_row(row: &Row) -> TokenRow {
    TokenRow {
        id: row.get("id"),
        uses_left: row.get("uses_left"),
        expires: row.get("expires"),
        labels: row.get("labels"),
        ci: row.get("ci"),
        ring: row.get("ring"),
        created_by: row.get("created_by"),
        created: row.get("created"),
        revoked: row.get("revoked"),
    }
}

impl Store {
    /// Creates a token. Returns its id and the token itself, which is shown once.
    pub async fn create_token(
        &self,
        tenant: &str,
        new: &NewToken,
        who: &str,
    ) -> Result<(String, String), FleetError> {
        let life = Duration::from_secs(new.life_seconds);
        if new.uses < 1 || life.is_zero() || life > MAX_LIFE || !new.labels.is_object() {
            return Err(FleetError::invalid(
                "a token needs at least one use, a life of up to a year, and labels",
            ));
        }
        if new.ring.parse::<tenterhook_fleet_protocol::Ring>().is_err() {
            return Err(FleetError::invalid(format!("invalid ring `{}`", new.ring)));
        }
        let id = encode_hex(&random_bytes::<6>()?);
        // 32 random bytes cannot be guessed, so a fast hash is enough.
        let secret = URL_SAFE_NO_PAD.encode(random_bytes::<32>()?);
        let hash = Sha256::digest(&secret).to_vec();
        let sql = "insert into tokens (id, tenant, secret_hash, uses_left, expires, labels, ci, ring, created_by) \
                   values ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
        let expires = SystemTime::now() + life;
        let client = self.client().await?;
        client
            .execute(sql, &[&id, &tenant, &hash, &new.uses, &expires, &new.labels, &new.ci, &new.ring, &who])
            .await?;
        let token = format!("{TOKEN_PREFIX}.{id}.{secret}");
        Ok((id, token))
    }

    /// Lists the tokens of a tenant, newest first.
    pub async fn list_tokens(&self, tenant: &str) -> Result<Vec<TokenRow>, FleetError> {
        let sql = "select * from tokens where tenant = $1 order by created desc limit 1000";
        let rows = self.client().await?.query(sql, &[&tenant]).await?;
        Ok(rows.iter().map(token_row).collect())
    }

    /// Revokes a token.
    pub(crate) async fn revoke_token(&self, tenant: &str, id: &str) -> Result<(), FleetError> {
        let sql = "update tokens set revoked = now() where tenant = $1 and id = $2 and revoked is null";
        match self.client().await?.execute(sql, &[&tenant, &id]).await? {
            0 => Err(FleetError::not_found(format!("no token `{id}`"))),
            _ => Ok(()),
        }
    }

    /// Uses a token once. Every reason to refuse it has the same message, so that a guess learns nothing.
    pub(crate) async fn use_token<C: GenericClient>(
        client: &C,
        token: &str,
    ) -> Result<UsedToken, FleetError> {
        let refuse = || {
            FleetError::forbidden("the enrolment token is unknown, expired, revoked or used up")
                .with_hint("ask for a new one: `tenterhook fleet token create`")
        };
        let parts: Vec<&str> = token.trim().splitn(4, '.').collect();
        let [TOKEN_PREFIX, id, secret] = parts.as_slice() else { return Err(refuse()) };
        let hash = Sha256::digest(secret).to_vec();
        let sql = "update tokens set uses_left = uses_left - 1 \
                   where id = $1 and secret_hash = $2 and uses_left > 0 and expires > now() and revoked is null \
                   returning id, tenant, labels, ci, ring";
        let row = client.query_opt(sql, &[id, &hash]).await?.ok_or_else(refuse)?;
        Ok(UsedToken {
            id: row.get(0),
            tenant: row.get(1),
            labels: row.get(2),
            ci: row.get(3),
            ring: row.get(4),
        })
    }
}
