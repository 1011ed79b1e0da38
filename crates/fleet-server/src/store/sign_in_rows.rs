// SPDX-License-Identifier: Apache-2.0 OR MIT

//! One-time links and browser sessions of operators. All copies of the server share them. Only hashes of their secrets
//! are stored. The clock of the database decides when they expire.

use std::time::{Duration, SystemTime};

use deadpool_postgres::GenericClient;
use tenterhook_dashboard::{BrowserKeys, hash_secret};
use tokio_postgres::Row;

use super::{OperatorRole, Store};
use crate::error::FleetError;

/// Maximum number of unused links of an operator; a new one replaces the oldest.
const MAX_LINKS: i64 = 8;
/// Maximum number of browser sessions of an operator; a new one replaces the oldest.
const MAX_SESSIONS: i64 = 16;

/// The operator of a link or a browser session.
#[derive(Debug, Clone)]
pub(crate) struct SessionOperator {
    /// Id of the operator's key.
    pub(crate) id: String,
    pub(crate) tenant: String,
    pub(crate) name: String,
    pub(crate) role: OperatorRole,
    /// When the link or the session expires.
    pub(crate) expires: SystemTime,
}

fn session_operator(row: &Row) -> Result<SessionOperator, FleetError> {
    Ok(SessionOperator {
        id: row.get("id"),
        tenant: row.get("tenant"),
        name: row.get("name"),
        role: row.get::<_, &str>("role").parse()?,
        expires: row.get("expires"),
    })
}

impl Store {
    /// Stores a one-time link, and removes links and sessions that have expired. Returns when the link expires.
    pub(crate) async fn insert_sign_in_link(
        &self,
        operator: &str,
        secret: &str,
        life: Duration,
    ) -> Result<SystemTime, FleetError> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await?;
        transaction.execute("delete from sign_in_links where expires <= now()", &[]).await?;
        transaction.execute("delete from browser_sessions where expires <= now()", &[]).await?;
        let oldest = "delete from sign_in_links where operator = $1 and secret_hash not in \
                      (select secret_hash from sign_in_links where operator = $1 order by created desc limit $2)";
        transaction.execute(oldest, &[&operator, &(MAX_LINKS - 1)]).await?;
        let sql = "insert into sign_in_links (secret_hash, operator, expires) \
                   values ($1, $2, now() + make_interval(secs => $3)) returning expires";
        let row = transaction.query_one(sql, &[&hash_secret(secret), &operator, &life.as_secs_f64()]).await?;
        transaction.commit().await?;
        Ok(row.get(0))
    }

    /// Uses a link. Returns its operator; `None` if the link is unknown, used or expired, or the key was revoked.
    pub(crate) async fn use_sign_in_link<C: GenericClient>(
        client: &C,
        secret: &str,
    ) -> Result<Option<SessionOperator>, FleetError> {
        let sql = "delete from sign_in_links l using operators o where l.secret_hash = $1 and l.expires > now() \
                   and o.id = l.operator and o.revoked is null returning o.id, o.tenant, o.name, o.role, l.expires";
        let row = client.query_opt(sql, &[&hash_secret(secret)]).await?;
        row.as_ref().map(session_operator).transpose()
    }

    /// Stores a browser session. Returns when it expires.
    pub(crate) async fn insert_browser_session<C: GenericClient>(
        client: &C,
        operator: &str,
        keys: &BrowserKeys,
        life: Duration,
    ) -> Result<SystemTime, FleetError> {
        let oldest = "delete from browser_sessions where operator = $1 and cookie_hash not in \
                      (select cookie_hash from browser_sessions where operator = $1 order by created desc limit $2)";
        client.execute(oldest, &[&operator, &(MAX_SESSIONS - 1)]).await?;
        let sql = "insert into browser_sessions (cookie_hash, page_key_hash, operator, expires) \
                   values ($1, $2, $3, now() + make_interval(secs => $4)) returning expires";
        let (cookie, key) = (hash_secret(&keys.cookie), hash_secret(&keys.key));
        let row = client.query_one(sql, &[&cookie, &key, &operator, &life.as_secs_f64()]).await?;
        Ok(row.get(0))
    }

    /// Finds the operator of a browser session; `None` if the session has ended or the key was revoked.
    pub(crate) async fn find_browser_session(
        &self,
        cookie: &str,
        page_key: &str,
    ) -> Result<Option<SessionOperator>, FleetError> {
        let sql = "select o.id, o.tenant, o.name, o.role, s.expires from browser_sessions s \
                   join operators o on o.id = s.operator where s.cookie_hash = $1 and s.page_key_hash = $2 \
                   and s.expires > now() and o.revoked is null";
        let (cookie, key) = (hash_secret(cookie), hash_secret(page_key));
        let row = self.client().await?.query_opt(sql, &[&cookie, &key]).await?;
        row.as_ref().map(session_operator).transpose()
    }

    /// Ends a browser session.
    pub(crate) async fn end_browser_session(&self, cookie: &str) -> Result<(), FleetError> {
        let sql = "delete from browser_sessions where cookie_hash = $1";
        self.client().await?.execute(sql, &[&hash_secret(cookie)]).await?;
        Ok(())
    }
}
