// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Stores allowances in `<state>/allowances.json`, sealed, so that every process that evaluates calls finds them. An
//! allowance that is used up is written before the call is answered.

use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tenterhook_error::Failure;
use tenterhook_event::EventId;
use tenterhook_files::lock_with_retry;
use tenterhook_home::{Home, SealKey, SealPurpose, state_file, write_atomic};

/// Time in which a call that was allowed once has to run.
pub const ONCE_LIFETIME: Duration = Duration::from_mins(10);
/// Maximum age of an allowance for a session; after this time its rules apply again.
const SESSION_LIFETIME: Duration = Duration::from_hours(7 * 24);
/// Maximum time between two events of one call, such as a permission request and the call itself.
const MAX_BETWEEN_EVENTS_MS: u64 = 60_000;
/// Maximum number of stored allowances; the oldest are dropped first.
const MAX_ALLOWANCES: usize = 256;
/// How far the clock may have been moved back since an allowance was given. Beyond that it is not valid.
const MAX_CLOCK_STEP_MS: u64 = 5_000;
const STORE_FORMAT: u32 = 1;
const LOCK_ATTEMPTS: u32 = 400;
const LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// What an allowance covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AllowanceScope {
    /// One call with this content, once.
    Once,
    /// All calls of a session that the same rules stop.
    Session,
}

/// Permission of a user for a call that rules stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowance {
    /// Event of the call that was stopped.
    pub of: EventId,
    /// What the allowance covers.
    pub scope: AllowanceScope,
    /// Digest of the call.
    pub call: String,
    /// Harness of the call.
    pub source: String,
    /// Session of the call.
    pub session: Option<String>,
    /// Rules that stopped the call. The allowance does not cover a call that another rule stops.
    pub rules: Vec<String>,
    /// When the allowance was given, in milliseconds since the Unix epoch.
    pub at: u64,
    /// When it ends.
    pub until: u64,
    /// Events at which it was used.
    #[serde(default)]
    uses: Vec<AllowanceUse>,
}

/// One use of an allowance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct AllowanceUse {
    /// The harness's name for the event.
    event: String,
    tool_use_id: Option<String>,
    at: u64,
}

/// A call that rules stop.
#[derive(Debug, Clone)]
pub struct StoppedCall<'a> {
    /// Digest of the call.
    pub digest: String,
    /// Harness of the call.
    pub source: &'a str,
    /// Session of the call, if it is the session's own call.
    pub session: Option<&'a str>,
    /// The harness's name for the event.
    pub native_event: &'a str,
    /// The harness's id for the call.
    pub tool_use_id: Option<&'a str>,
    /// Rules that stop the call.
    pub rules: Vec<&'a str>,
}

/// The allowances of a home.
#[derive(Debug, Clone)]
pub struct AllowanceStore {
    state: PathBuf,
    path: PathBuf,
    lock_path: PathBuf,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredAllowances {
    v: u32,
    allowances: Vec<Allowance>,
}

// === impl Allowance ===

impl Allowance {
    /// An allowance that nothing has used yet.
    pub fn new(call: &StoppedCall<'_>, of: EventId, scope: AllowanceScope, now_ms: u64) -> Self {
        let lifetime = match scope {
            AllowanceScope::Once => ONCE_LIFETIME,
            AllowanceScope::Session => SESSION_LIFETIME,
        };
        let lifetime_ms = u64::try_from(lifetime.as_millis()).unwrap_or_default();
        Self {
            of,
            scope,
            call: call.digest.clone(),
            source: call.source.to_owned(),
            session: call.session.map(ToOwned::to_owned),
            rules: call.rules.iter().map(|rule| (*rule).to_owned()).collect(),
            at: now_ms,
            until: now_ms.saturating_add(lifetime_ms),
            uses: Vec::new(),
        }
    }

    /// Whether the allowance is valid at this time. If the clock was moved back, it is not.
    fn is_valid_at(&self, now_ms: u64) -> bool {
        now_ms.saturating_add(MAX_CLOCK_STEP_MS) >= self.at && now_ms < self.until
    }

    /// Whether the allowance covers this call. An allowance for one call covers each event of that call once.
    fn covers(&self, call: &StoppedCall<'_>, now_ms: u64) -> bool {
        if self.source != call.source
            || !call.rules.iter().all(|rule| self.rules.iter().any(|own| own == rule))
        {
            return false;
        }
        match self.scope {
            AllowanceScope::Session => self.session.is_some() && self.session.as_deref() == call.session,
            AllowanceScope::Once => {
                let is_same_call = |used: &AllowanceUse| {
                    let ids = (used.tool_use_id.as_deref(), call.tool_use_id);
                    used.event != call.native_event
                        && now_ms.abs_diff(used.at) < MAX_BETWEEN_EVENTS_MS
                        && !matches!(ids, (Some(one), Some(other)) if one != other)
                };
                self.call == call.digest && self.uses.iter().all(is_same_call)
            }
        }
    }
}

// === impl AllowanceStore ===

impl AllowanceStore {
    /// The allowances of this home.
    pub fn of(home: &Home) -> Self {
        let (path, lock_path) = (home.allowances(), home.state.join("allowances.lock"));
        Self { state: home.state.clone(), path, lock_path }
    }

    /// Adds an allowance.
    pub fn add(&self, allowance: Allowance, now_ms: u64) -> Result<(), Failure> {
        let _lock = self.lock()?;
        let mut all = self.read()?.unwrap_or_default();
        all.retain(|one| one.is_valid_at(now_ms));
        all.push(allowance);
        let beyond = all.len().saturating_sub(MAX_ALLOWANCES);
        all.drain(..beyond);
        self.write(all)
    }

    /// Uses the allowance that covers a call, if there is one. An allowance for one call is used up when this function
    /// returns. Only one of several calls at the same time can use it.
    pub fn take(&self, call: &StoppedCall<'_>, now_ms: u64) -> Result<Option<Allowance>, Failure> {
        if call.rules.is_empty() || !self.path.exists() {
            return Ok(None);
        }
        let _lock = self.lock()?;
        let mut all = self.read()?.unwrap_or_default();
        let covering = |one: &&mut Allowance| one.is_valid_at(now_ms) && one.covers(call, now_ms);
        // A session's allowance is preferred, so that an allowance for one call is not used up needlessly.
        let is_session = |one: &&mut Allowance| one.scope == AllowanceScope::Session;
        let found = match all.iter_mut().filter(is_session).find(covering) {
            Some(found) => return Ok(Some(found.clone())),
            None => all.iter_mut().find(covering),
        };
        let Some(found) = found else { return Ok(None) };
        found.uses.push(AllowanceUse {
            event: call.native_event.to_owned(),
            tool_use_id: call.tool_use_id.map(ToOwned::to_owned),
            at: now_ms,
        });
        let found = found.clone();
        self.write(all)?;
        Ok(Some(found))
    }

    fn read(&self) -> Result<Option<Vec<Allowance>>, Failure> {
        let broken = |why: &str| {
            Failure::internal(format!("`{}` cannot be read: {why}", self.path.display()))
                .hint("remove the file; allowances have to be given again")
        };
        let Some(text) = state_file(&self.path).map_err(|error| broken(&error.to_string()))? else {
            return Ok(None);
        };
        let (seal, body) = text.split_once('\n').ok_or_else(|| broken("its seal is missing"))?;
        let key = SealKey::open_existing(&self.state)?.ok_or_else(|| broken("the seal key is missing"))?;
        if !key.verify(SealPurpose::Allowances, body.as_bytes(), seal) {
            return Err(broken("it was changed, or another home wrote it"));
        }
        let stored: StoredAllowances =
            serde_json::from_str(body).map_err(|error| broken(&error.to_string()))?;
        if stored.v != STORE_FORMAT {
            return Err(broken("a newer version wrote it"));
        }
        Ok(Some(stored.allowances))
    }

    fn write(&self, allowances: Vec<Allowance>) -> Result<(), Failure> {
        let stored = StoredAllowances { v: STORE_FORMAT, allowances };
        let body = serde_json::to_string(&stored).map_err(|error| Failure::internal(error.to_string()))?;
        let seal = SealKey::open(&self.state)?.seal(SealPurpose::Allowances, body.as_bytes())?;
        write_atomic(&self.path, format!("{seal}\n{body}").as_bytes(), 0o600)?;
        // The rename must be durable too: an allowance that was used up must not return after a power failure.
        Ok(File::open(&self.state)?.sync_all()?)
    }

    fn lock(&self) -> Result<File, Failure> {
        let locked = lock_with_retry(&self.lock_path, LOCK_ATTEMPTS, LOCK_RETRY_INTERVAL)?;
        locked.ok_or_else(|| {
            Failure::internal(format!("`{}` is locked by another process", self.lock_path.display()))
        })
    }
}

#[cfg(test)]
mod tests;
