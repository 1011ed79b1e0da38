// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Access for browsers. A one-time link is valid for one minute and is exchanged for a cookie and a page key. Each of
//! these secrets has 256 random bits. Only their hashes are kept, and only in memory.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use tenterhook_error::Failure;
use tokio::sync::watch;

use crate::sha256_hex;

/// How long a link is valid.
pub const LINK_LIFETIME: Duration = Duration::from_mins(1);
/// How long a browser session is valid.
pub const SESSION_LIFETIME: Duration = Duration::from_hours(24);
/// Maximum number of unused links; a new one replaces the oldest.
const MAX_LINKS: usize = 8;
/// Maximum number of browser sessions; a new one replaces the oldest.
const MAX_SESSIONS: usize = 32;

/// Unused links and browser sessions.
#[derive(Debug, Default)]
pub struct BrowserAccess(Mutex<AccessState>);

#[derive(Debug, Default)]
struct AccessState {
    links: Vec<OneTimeLink>,
    sessions: Vec<BrowserSession>,
}

#[derive(Debug)]
struct OneTimeLink {
    hash: String,
    until: Instant,
}

#[derive(Debug)]
struct BrowserSession {
    cookie: String,
    key: String,
    until: Instant,
    /// Dropped when the session ends, which notifies the receivers in [`BrowserVisit`].
    open: watch::Sender<()>,
}

/// The secrets that a browser receives in exchange for a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrowserKeys {
    /// Value of the cookie, which scripts cannot read.
    pub cookie: String,
    /// Key that the page sends with each request. The cookie alone is not sufficient, because browsers send it to every
    /// port of this machine.
    pub key: String,
}

/// The valid browser session that a request belongs to.
#[derive(Debug, Clone)]
pub struct BrowserVisit {
    /// When the session expires.
    pub until: Instant,
    open: watch::Receiver<()>,
}

impl BrowserKeys {
    /// Generates the secrets of a new browser session.
    pub fn generate() -> Result<Self, Failure> {
        Ok(Self { cookie: random_secret()?, key: random_secret()? })
    }
}

impl BrowserAccess {
    /// Creates a one-time link.
    pub fn create_link(&self, now: Instant) -> Result<String, Failure> {
        let secret = create_link_secret()?;
        let mut inner = self.lock_valid(now);
        if inner.links.len() >= MAX_LINKS {
            inner.links.remove(0);
        }
        inner.links.push(OneTimeLink { hash: hash_secret(&secret), until: now + LINK_LIFETIME });
        Ok(secret)
    }

    /// Exchanges a link for the secrets of a browser session. `None` if the link is unknown, used or expired.
    pub fn redeem_link(&self, link: &str, now: Instant) -> Result<Option<BrowserKeys>, Failure> {
        let entry = BrowserKeys::generate()?;
        let (mut inner, hash_of_link) = (self.lock_valid(now), hash_secret(link));
        let Some(at) = inner.links.iter().position(|link| link.hash == hash_of_link) else { return Ok(None) };
        inner.links.remove(at);
        if inner.sessions.len() >= MAX_SESSIONS {
            inner.sessions.remove(0);
        }
        let (cookie, key) = (hash_secret(&entry.cookie), hash_secret(&entry.key));
        inner.sessions.push(BrowserSession {
            cookie,
            key,
            until: now + SESSION_LIFETIME,
            open: watch::Sender::new(()),
        });
        Ok(Some(entry))
    }

    /// Finds the browser session with this cookie and page key.
    pub fn find_visit(&self, cookie: &str, key: &str, now: Instant) -> Option<BrowserVisit> {
        let (cookie, key) = (hash_secret(cookie), hash_secret(key));
        let inner = self.lock_valid(now);
        let session = inner.sessions.iter().find(|session| session.cookie == cookie && session.key == key)?;
        Some(BrowserVisit { until: session.until, open: session.open.subscribe() })
    }

    /// Ends a browser session.
    pub fn end_visit(&self, cookie: &str, now: Instant) {
        let cookie = hash_secret(cookie);
        self.lock_valid(now).sessions.retain(|session| session.cookie != cookie);
    }

    /// Locks the state after removing expired links and sessions.
    fn lock_valid(&self, now: Instant) -> MutexGuard<'_, AccessState> {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        inner.links.retain(|link| link.until > now);
        inner.sessions.retain(|session| session.until > now);
        inner
    }
}

impl BrowserVisit {
    /// Waits until the browser session ends.
    pub async fn wait_end(mut self) {
        let left = tokio::time::sleep_until(self.until.into());
        tokio::select! {
            // The sender never sends a value, so this completes when it is dropped.
            _ = self.open.changed() => {}
            () = left => {}
        }
    }
}

fn random_bytes() -> Result<[u8; 32], Failure> {
    let mut random = [0; 32];
    getrandom::fill(&mut random)
        .map_err(|error| Failure::internal(format!("cannot generate random bytes: {error}")))?;
    Ok(random)
}

fn random_secret() -> Result<String, Failure> {
    Ok(sha256_hex(&random_bytes()?))
}

/// Generates the secret of a one-time link.
pub fn create_link_secret() -> Result<String, Failure> {
    // Base64 is shorter than hexadecimal, so the link fits on a line of 80 columns.
    Ok(URL_SAFE_NO_PAD.encode(random_bytes()?))
}

/// Hashes a secret. Comparing hashes reveals nothing about the secret through timing.
pub fn hash_secret(secret: &str) -> String {
    sha256_hex(secret.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_good_once_and_for_a_minute() {
        let (access, now) = (BrowserAccess::default(), Instant::now());
        let link = access.create_link(now).unwrap();
        assert_eq!(link.len(), 43, "256 bits");
        assert_eq!(access.redeem_link("", now).unwrap(), None);
        assert_eq!(access.redeem_link(link.get(1..).unwrap(), now).unwrap(), None);
        assert!(access.redeem_link(&link, now + LINK_LIFETIME / 2).unwrap().is_some());
        assert_eq!(access.redeem_link(&link, now).unwrap(), None, "used already");
        let late = access.create_link(now).unwrap();
        assert_eq!(access.redeem_link(&late, now + LINK_LIFETIME).unwrap(), None, "too late");
    }

    #[test]
    fn a_browser_shows_both_the_cookie_and_the_key_of_the_page() {
        let (access, now) = (BrowserAccess::default(), Instant::now());
        let enter = || access.redeem_link(&access.create_link(now).unwrap(), now).unwrap().unwrap();
        let (one, other) = (enter(), enter());
        assert!(access.find_visit(&one.cookie, &one.key, now).is_some());
        for (cookie, key) in
            [(&one.cookie, &other.key), (&one.key, &one.cookie), (&one.cookie, &String::new())]
        {
            assert!(access.find_visit(cookie, key, now).is_none());
        }
        assert!(access.find_visit(&one.cookie, &one.key, now + SESSION_LIFETIME).is_none(), "too late");
    }

    #[test]
    fn an_ended_session_is_not_valid() {
        let (access, now) = (BrowserAccess::default(), Instant::now());
        let entry = access.redeem_link(&access.create_link(now).unwrap(), now).unwrap().unwrap();
        access.end_visit(&entry.cookie, now);
        assert!(access.find_visit(&entry.cookie, &entry.key, now).is_none());
    }

    #[test]
    fn the_number_of_links_and_sessions_is_bounded() {
        let (access, now) = (BrowserAccess::default(), Instant::now());
        let first = access.create_link(now).unwrap();
        for _ in 0..MAX_LINKS {
            access.create_link(now).unwrap();
        }
        assert_eq!(access.redeem_link(&first, now).unwrap(), None);
        let enter = || access.redeem_link(&access.create_link(now).unwrap(), now).unwrap().unwrap();
        let first = enter();
        for _ in 0..MAX_SESSIONS {
            enter();
        }
        assert!(access.find_visit(&first.cookie, &first.key, now).is_none());
    }

    #[tokio::test]
    async fn a_visit_ends_when_the_browser_leaves() {
        let (access, now) = (BrowserAccess::default(), Instant::now());
        let entry = access.redeem_link(&access.create_link(now).unwrap(), now).unwrap().unwrap();
        let visit = access.find_visit(&entry.cookie, &entry.key, now).unwrap();
        access.end_visit(&entry.cookie, now);
        tokio::time::timeout(Duration::from_secs(5), visit.wait_end()).await.unwrap();
    }
}
