// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Keys of operators and their roles, and nonces of their requests.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio_postgres::Row;

use super::{Store, serialize_optional_time, serialize_time};
use crate::error::FleetError;
use crate::files::encode_hex;

/// Permissions of an operator. Each role may do everything that the roles before it may do, except that approving is
/// only for approvers and administrators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OperatorRole {
    /// Reads all data of the tenant.
    Viewer,
    /// Publishes policy and acknowledges alerts.
    Author,
    /// Answers approvals of calls.
    Approver,
    /// Manages tokens and keys.
    Admin,
}

/// The key of an operator.
#[derive(Debug, Clone, Serialize)]
pub struct OperatorRow {
    /// Id of the key: the start of its hash.
    pub id: String,
    /// Name of the operator.
    pub name: String,
    /// Role of the operator.
    pub role: OperatorRole,
    /// Public key, in base 64.
    pub public_key: String,
    /// Actor that added the key.
    pub created_by: String,
    /// When it was added.
    #[serde(serialize_with = "serialize_time")]
    pub created: SystemTime,
    /// When it was revoked.
    #[serde(serialize_with = "serialize_optional_time")]
    pub revoked: Option<SystemTime>,
}

impl OperatorRole {
    /// Returns the role's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Author => "author",
            Self::Approver => "approver",
            Self::Admin => "admin",
        }
    }
}

impl fmt::Display for OperatorRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for OperatorRole {
    type Err = FleetError;

    fn from_str(text: &str) -> Result<Self, FleetError> {
        let all = [Self::Viewer, Self::Author, Self::Approver, Self::Admin];
        let found = all.into_iter().find(|role| role.as_str() == text);
        found.ok_or_else(|| {
            FleetError::invalid(format!("unknown role `{text}`"))
                .with_hint("use `viewer`, `author`, `approver` or `admin`")
        })
    }
}

/// Returns the id of an operator's key.
pub(crate) fn operator_id(key: &[u8; 32]) -> String {
    let digest: [u8; 32] = Sha256::digest(key).into();
    let (head, _) = digest.split_at(8);
    encode_hex(head)
}

fn operator_row(row: &Row) -> Result<OperatorRow, FleetError> {
    let key: Vec<u8> = row.get("public_key");
    Ok(OperatorRow {
        id: row.get("id"),
        name: row.get("name"),
        role: row.get::<_, &str>("role").parse()?,
        public_key: STANDARD.encode(key),
        created_by: row.get("created_by"),
        created: row.get("created"),
        revoked: row.get("revoked"),
    })
}

impl Store {
    /// Adds the key of an operator. A key that is known already is an error.
    pub async fn add_operator(
        &self,
        (tenant, name, role): (&str, &str, OperatorRole),
        key: &[u8; 32],
        who: &str,
    ) -> Result<String, FleetError> {
        if name.is_empty() || name.len() > 100 || name.chars().any(char::is_control) {
            return Err(FleetError::invalid("the name of an operator has 1 to 100 characters"));
        }
        if ed25519_dalek::VerifyingKey::from_bytes(key).is_err() {
            return Err(FleetError::invalid("the public key is not an Ed25519 key"));
        }
        let id = operator_id(key);
        let sql = "insert into operators (id, tenant, name, role, public_key, created_by) \
                   values ($1, $2, $3, $4, $5, $6) on conflict do nothing";
        let client = self.client().await?;
        match client.execute(sql, &[&id, &tenant, &name, &role.as_str(), &key.as_slice(), &who]).await? {
            0 => Err(FleetError::conflict(format!("the key `{id}` exists already"))),
            _ => Ok(id),
        }
    }

    /// Whether the tenant has an administrator whose key is not revoked.
    pub(crate) async fn has_admin(&self, tenant: &str) -> Result<bool, FleetError> {
        let sql = "select 1 from operators where tenant = $1 and role = 'admin' and revoked is null limit 1";
        Ok(self.client().await?.query_opt(sql, &[&tenant]).await?.is_some())
    }

    /// Lists the keys of a tenant's operators.
    pub async fn list_operators(&self, tenant: &str) -> Result<Vec<OperatorRow>, FleetError> {
        let sql = "select * from operators where tenant = $1 order by created";
        let rows = self.client().await?.query(sql, &[&tenant]).await?;
        rows.iter().map(operator_row).collect()
    }

    /// Revokes a key. The last administrator's key cannot be revoked.
    pub(crate) async fn revoke_operator(&self, tenant: &str, id: &str) -> Result<(), FleetError> {
        let sql = "update operators set revoked = now() where tenant = $1 and id = $2 and revoked is null \
                   and (role <> 'admin' or exists (select 1 from operators o where o.tenant = $1 and o.id <> $2 \
                   and o.role = 'admin' and o.revoked is null))";
        match self.client().await?.execute(sql, &[&tenant, &id]).await? {
            0 => Err(FleetError::conflict(format!("no key `{id}` that can be revoked"))
                .with_hint("the last administrator's key cannot be revoked")),
            _ => Ok(()),
        }
    }

    /// Returns an operator by the id of its key, with its tenant and key.
    pub(crate) async fn find_operator(&self, id: &str) -> Result<Option<(String, OperatorRow)>, FleetError> {
        let sql = "select * from operators where id = $1 and revoked is null";
        let row = self.client().await?.query_opt(sql, &[&id]).await?;
        row.map(|row| Ok((row.get("tenant"), operator_row(&row)?))).transpose()
    }

    /// Remembers the nonce of a request. Returns false if it was used before.
    pub(crate) async fn use_nonce(
        &self,
        operator: &str,
        nonce: &[u8],
        life: Duration,
    ) -> Result<bool, FleetError> {
        let expires = SystemTime::now() + life;
        let sql = "insert into request_nonces (operator, nonce, expires) values ($1, $2, $3) on conflict do nothing";
        Ok(self.client().await?.execute(sql, &[&operator, &nonce, &expires]).await? == 1)
    }

    /// Removes nonces that have expired.
    pub(crate) async fn remove_old_nonces(&self) -> Result<(), FleetError> {
        self.client().await?.execute("delete from request_nonces where expires < now()", &[]).await?;
        Ok(())
    }
}
