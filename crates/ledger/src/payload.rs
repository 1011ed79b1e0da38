// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Payloads. They are redacted and stored next to their leaf, which contains a salted commitment to them.
//!
//! Erasing a payload also erases its salt. Without the salt, the commitment cannot be used to test guesses.

use std::cell::RefCell;
use std::ops::Range;
use std::path::Path;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::hash::{Hash, encode_hex};
use crate::sign::{SignError, create_file, random_bytes, read_private};

/// Returns the positions of the secrets in a string, each with its kind.
pub type Redactor<'r> = &'r dyn Fn(&str) -> Vec<(Range<usize>, &str)>;

/// Key for the digests in placeholders. Equal secrets get equal placeholders; testing guesses requires the key.
#[derive(Clone)]
pub struct RedactionKey([u8; 32]);

/// A payload that is ready to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SealedPayload {
    pub(crate) salt: [u8; 32],
    /// The payload's bytes; `None` if the payload is too large to be stored.
    pub(crate) bytes: Option<Vec<u8>>,
    pub(crate) commitment: Hash,
}

impl RedactionKey {
    /// Creates a key that is kept only in memory.
    pub fn new(key: [u8; 32]) -> Self {
        Self(key)
    }

    /// Opens or creates the key of the ledger in this directory. Processes that write to the spool need the key too,
    /// so no lock is taken.
    pub fn open(dir: &Path) -> Result<Self, SignError> {
        let path = dir.join("redaction.key");
        let io = |source| SignError::Io { path: path.clone(), source };
        if !path.exists() {
            match create_file(&path, &random_bytes::<32>()?, 0o600) {
                Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => return Err(io(error)),
                _ => {}
            }
        }
        let key = read_private(&path)?.try_into().map_err(|_| SignError::NoKey(path.clone()))?;
        Ok(Self(key))
    }

    /// Returns the placeholder for a secret: `[[redacted:KIND:DIGEST]]`.
    pub fn mark(&self, kind: &str, secret: &str) -> String {
        let kind: String =
            kind.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')).collect();
        let digest = Hmac::<Sha256>::new_from_slice(&self.0).map(|mac| mac.chain_update(secret).finalize());
        let digest: [u8; 32] = digest.map_or([0; 32], |digest| digest.into_bytes().into());
        let digest: String = encode_hex(&digest).chars().take(12).collect();
        format!("[[redacted:{kind}:{digest}]]")
    }

    /// Replaces every span with its placeholder. Returns the new string and the number of placeholders.
    pub fn redact<K: AsRef<str>>(&self, text: &str, found: &[(Range<usize>, K)]) -> (String, u64) {
        let mut spans: Vec<_> = found.iter().map(|(range, kind)| (range.start, range.end, kind)).collect();
        spans.sort_by_key(|(start, end, _)| (*start, std::cmp::Reverse(*end)));
        let (mut clean, mut at, mut count) = (String::with_capacity(text.len()), 0, 0);
        for (start, end, kind) in spans {
            // Spans may overlap: skip the part that has already been replaced.
            let (start, end) = (start.max(at), char_start(text, end));
            let (Some(before), Some(secret)) =
                (text.get(at..char_start(text, start)), text.get(char_start(text, start)..end))
            else {
                continue;
            };
            if !secret.is_empty() {
                clean.push_str(before);
                clean.push_str(&self.mark(kind.as_ref(), secret));
                (at, count) = (end, count + 1);
            }
        }
        clean.push_str(text.get(at..).unwrap_or_default());
        (clean, count)
    }
}

/// Rounds an index down to a character boundary.
fn char_start(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

impl std::fmt::Debug for RedactionKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RedactionKey(…)")
    }
}

/// Number of salts fetched by one system call.
const SALT_BATCH: usize = 16;

thread_local! {
    static SPARE_SALTS: RefCell<Vec<[u8; 32]>> = const { RefCell::new(Vec::new()) };
}

/// Returns a new random salt.
fn next_salt() -> Result<[u8; 32], SignError> {
    SPARE_SALTS.with_borrow_mut(|next| {
        if let Some(salt) = next.pop() {
            return Ok(salt);
        }
        let fresh = random_bytes::<{ 32 * SALT_BATCH }>()?;
        next.extend(fresh.as_chunks::<32>().0);
        next.pop().map_or_else(random_bytes, Ok)
    })
}

impl SealedPayload {
    /// Commits to these bytes, and drops them if their length exceeds `max`.
    pub(crate) fn new(bytes: Vec<u8>, max: usize) -> Result<Self, SignError> {
        let salt = next_salt()?;
        let commitment = Hash::of_payload(&salt, &bytes);
        Ok(Self { salt, commitment, bytes: (bytes.len() <= max).then_some(bytes) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_become_marks_and_equal_secrets_equal_marks() {
        let key = RedactionKey::new([7; 32]);
        let text = "a=hunter2 b=hunter2 é=geheim";
        let found = [(2..9, "password"), (12..19, "password"), (23..29, "pass word")];
        let (clean, count) = key.redact(text, &found);
        let (one, other) = (key.mark("password", "hunter2"), key.mark("password", "geheim"));
        assert_eq!(clean, format!("a={one} b={one} é={other}"));
        assert_eq!((count, one.len()), (3, "[[redacted:password:0123456789ab]]".len()));
        assert_ne!(one, RedactionKey::new([8; 32]).mark("password", "hunter2"));
    }

    #[test]
    fn overlapping_and_invalid_spans_leave_nothing_of_a_secret() {
        let key = RedactionKey::new([7; 32]);
        let (clean, count) = key.redact("xSECRETx", &[(1..5, "a"), (3..7, "b"), (90..99, "c")]);
        assert_eq!(count, 2);
        assert!(
            !clean.contains("SEC")
                && !clean.contains("RET")
                && clean.starts_with('x')
                && clean.ends_with('x')
        );
    }
}
