// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Which browsers may look. A link is good once and for a minute; it becomes a cookie and a key of the
//! page. All of them are 256 random bits, and only their hashes are kept, in memory.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use tenterhook_error::Failure;
use tokio::sync::watch;

use crate::sha256_hex;

/// How long a link may be used.
pub const LINK_LIFETIME: Duration = Duration::from_mins(1);
/// How long a browser may look.
pub const SESSION_LIFETIME: Duration = Duration::from_hours(24);
/// How many links there may be at once; another one takes the place of the oldest.
const MAX_LINKS: usize = 8;
/// How many browsers there may be at once; likewise.
const MAX_SESSIONS: usize = 32;

/// Links that were not used yet, and browsers that may look.
#[derive(Debug, Default)]
pub struct Access(Mutex<AccessState>);

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
    /// Falls when the browser may not look any more.
    open: watch::Sender<()>,
}

/// What a browser gets for a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrowserKeys {
    /// For the cookie, which a page cannot read.
    pub cookie: String,
    /// For the page, which other pages cannot read: the cookie goes to every port of this machine.
    pub key: String,
}

/// A browser that may look.
#[derive(Debug, Clone)]
pub struct Visit {
    /// When it ends.
    pub until: Instant,
    open: watch::Receiver<()>,
}

impl Access {
    /// A new link.
    pub fn link(&self, now: Instant) -> Result<String, Failure> {
        // Base64 instead of hexadecimal: the link then fits on a line of 80 columns.
        let secret = URL_SAFE_NO_PAD.encode(random()?);
        let mut inner = self.inner(now);
        if inner.links.len() >= MAX_LINKS {
            inner.links.remove(0);
        }
        inner.links.push(OneTimeLink { hash: hash(&secret), until: now + LINK_LIFETIME });
        Ok(secret)
    }

    /// Uses a link up. `None`: there is no such link, or there was.
    pub fn enter(&self, link: &str, now: Instant) -> Result<Option<BrowserKeys>, Failure> {
        let entry = BrowserKeys { cookie: secret()?, key: secret()? };
        let (mut inner, sought) = (self.inner(now), hash(link));
        let Some(at) = inner.links.iter().position(|link| link.hash == sought) else { return Ok(None) };
        inner.links.remove(at);
        if inner.sessions.len() >= MAX_SESSIONS {
            inner.sessions.remove(0);
        }
        let (cookie, key) = (hash(&entry.cookie), hash(&entry.key));
        inner.sessions.push(BrowserSession {
            cookie,
            key,
            until: now + SESSION_LIFETIME,
            open: watch::Sender::new(()),
        });
        Ok(Some(entry))
    }

    /// The browser that shows this cookie and this key.
    pub fn visit(&self, cookie: &str, key: &str, now: Instant) -> Option<Visit> {
        let (cookie, key) = (hash(cookie), hash(key));
        let inner = self.inner(now);
        let session = inner.sessions.iter().find(|session| session.cookie == cookie && session.key == key)?;
        Some(Visit { until: session.until, open: session.open.subscribe() })
    }

    /// The browser may not look any more.
    pub fn leave(&self, cookie: &str, now: Instant) {
        let cookie = hash(cookie);
        self.inner(now).sessions.retain(|session| session.cookie != cookie);
    }

    /// What is still good.
    fn inner(&self, now: Instant) -> MutexGuard<'_, AccessState> {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        inner.links.retain(|link| link.until > now);
        inner.sessions.retain(|session| session.until > now);
        inner
    }
}

impl Visit {
    /// Returns when the browser may not look any more.
    pub async fn ended(mut self) {
        let left = tokio::time::sleep_until(self.until.into());
        tokio::select! {
            // The sender never sends: it is dropped.
            _ = self.open.changed() => {}
            () = left => {}
        }
    }
}

fn random() -> Result<[u8; 32], Failure> {
    let mut random = [0; 32];
    getrandom::fill(&mut random)
        .map_err(|error| Failure::internal(format!("no randomness for a link: {error}")))?;
    Ok(random)
}

fn secret() -> Result<String, Failure> {
    Ok(sha256_hex(&random()?))
}

/// Hashes are compared, so that time tells nothing about the secret.
fn hash(secret: &str) -> String {
    sha256_hex(secret.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_good_once_and_for_a_minute() {
        let (access, now) = (Access::default(), Instant::now());
        let link = access.link(now).unwrap();
        assert_eq!(link.len(), 43, "256 bits");
        assert_eq!(access.enter("", now).unwrap(), None);
        assert_eq!(access.enter(link.get(1..).unwrap(), now).unwrap(), None);
        assert!(access.enter(&link, now + LINK_LIFETIME / 2).unwrap().is_some());
        assert_eq!(access.enter(&link, now).unwrap(), None, "used already");
        let late = access.link(now).unwrap();
        assert_eq!(access.enter(&late, now + LINK_LIFETIME).unwrap(), None, "too late");
    }

    #[test]
    fn a_browser_shows_both_the_cookie_and_the_key_of_the_page() {
        let (access, now) = (Access::default(), Instant::now());
        let enter = || access.enter(&access.link(now).unwrap(), now).unwrap().unwrap();
        let (one, other) = (enter(), enter());
        assert!(access.visit(&one.cookie, &one.key, now).is_some());
        for (cookie, key) in
            [(&one.cookie, &other.key), (&one.key, &one.cookie), (&one.cookie, &String::new())]
        {
            assert!(access.visit(cookie, key, now).is_none());
        }
        assert!(access.visit(&one.cookie, &one.key, now + SESSION_LIFETIME).is_none(), "too late");
    }

    #[test]
    fn whoever_left_is_not_known_any_more() {
        let (access, now) = (Access::default(), Instant::now());
        let entry = access.enter(&access.link(now).unwrap(), now).unwrap().unwrap();
        access.leave(&entry.cookie, now);
        assert!(access.visit(&entry.cookie, &entry.key, now).is_none());
    }

    #[test]
    fn only_so_many_links_and_browsers_are_remembered() {
        let (access, now) = (Access::default(), Instant::now());
        let first = access.link(now).unwrap();
        for _ in 0..MAX_LINKS {
            access.link(now).unwrap();
        }
        assert_eq!(access.enter(&first, now).unwrap(), None);
        let enter = || access.enter(&access.link(now).unwrap(), now).unwrap().unwrap();
        let first = enter();
        for _ in 0..MAX_SESSIONS {
            enter();
        }
        assert!(access.visit(&first.cookie, &first.key, now).is_none());
    }

    #[tokio::test]
    async fn a_visit_ends_when_the_browser_leaves() {
        let (access, now) = (Access::default(), Instant::now());
        let entry = access.enter(&access.link(now).unwrap(), now).unwrap().unwrap();
        let visit = access.visit(&entry.cookie, &entry.key, now).unwrap();
        access.leave(&entry.cookie, now);
        tokio::time::timeout(Duration::from_secs(5), visit.ended()).await.unwrap();
    }
}
