// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Counts the versions of hook programs that call this daemon, for `status` and for the notice at session start.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use tenterhook_api::HookVersionCount;
use tenterhook_event::Timestamp;
use tenterhook_home::call_meta;
use tenterhook_records::sanitize;

/// The daemon's own version.
pub(crate) const DAEMON_VERSION: &str = env!("CARGO_PKG_VERSION");
/// Maximum number of versions counted separately, because callers choose the version they send.
const MAX_VERSIONS: usize = 16;
/// Maximum length of a version; our own versions are not longer.
const MAX_VERSION_BYTES: usize = 32;
const UNKNOWN: &str = "unknown";
const OTHERS: &str = "others";

/// Counts hook calls by the version of the program that made them.
#[derive(Debug, Default)]
pub(crate) struct HookVersions {
    /// Calls by programs with the daemon's own version: this usual case takes no lock.
    same: CallCount,
    different: Mutex<BTreeMap<String, CallCount>>,
}

#[derive(Debug, Default)]
struct CallCount {
    calls: AtomicU64,
    last_ms: AtomicU64,
}

impl HookVersions {
    /// Counts one call made by a hook program.
    pub(crate) fn count(&self, version: &str) {
        if version == DAEMON_VERSION {
            return self.same.count();
        }
        let mut different = self.different.lock().unwrap_or_else(PoisonError::into_inner);
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-+".contains(&byte);
        let name = match version {
            "" => UNKNOWN,
            version if version.len() > MAX_VERSION_BYTES || !version.bytes().all(is_plain) => UNKNOWN,
            version if different.contains_key(version) || different.len() < MAX_VERSIONS => version,
            _ => OTHERS,
        };
        different.entry(name.to_owned()).or_default().count();
    }

    /// Returns every version that called, with its number of calls.
    pub(crate) fn list(&self) -> Vec<HookVersionCount> {
        let different = self.different.lock().unwrap_or_else(PoisonError::into_inner);
        let rows = different.iter().map(|(version, count)| (version.as_str(), count));
        let same = std::iter::once((DAEMON_VERSION, &self.same));
        same.chain(rows).filter_map(|(version, count)| count.to_row(version)).collect()
    }
}

impl CallCount {
    fn count(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.last_ms.store(call_meta::now_ms(), Ordering::Relaxed);
    }

    fn to_row(&self, version: &str) -> Option<HookVersionCount> {
        let calls = self.calls.load(Ordering::Relaxed);
        let last = Timestamp::from_unix_ms(self.last_ms.load(Ordering::Relaxed));
        (calls > 0).then(|| HookVersionCount { version: version.to_owned(), calls, last })
    }
}

/// Returns the notice for the session start if hook program and daemon have different versions.
pub(crate) fn mismatch_notice(hook_version: &str) -> Option<String> {
    if hook_version == DAEMON_VERSION || hook_version.is_empty() {
        return None;
    }
    let hook_version = sanitize(hook_version, MAX_VERSION_BYTES);
    Some(format!(
        "Tenterhook: the hooks are version {hook_version} and the daemon is version {DAEMON_VERSION}; run `tenterhook self \
         refresh`"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_version_and_callers_cannot_grow_the_list() {
        let versions = HookVersions::default();
        for number in 0..100 {
            versions.count(&format!("9.9.{number}"));
        }
        versions.count(DAEMON_VERSION);
        versions.count("");
        versions.count("1.0.0\n<b>");
        versions.count(&"1".repeat(1000));
        let list = versions.list();
        assert!(list.len() <= MAX_VERSIONS + 3, "{list:?}");
        let calls = |version: &str| list.iter().find(|row| row.version == version).map(|row| row.calls);
        assert_eq!(calls(DAEMON_VERSION), Some(1));
        assert_eq!(calls("9.9.0"), Some(1));
        assert_eq!(calls(UNKNOWN), Some(3));
        assert_eq!(list.iter().map(|row| row.calls).sum::<u64>(), 104);
    }

    #[test]
    fn only_a_different_version_is_worth_a_notice() {
        assert_eq!(mismatch_notice(DAEMON_VERSION), None);
        assert_eq!(mismatch_notice(""), None);
        assert!(mismatch_notice("9.9.9").unwrap().contains("version 9.9.9 and the daemon"));
    }
}
