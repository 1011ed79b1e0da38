// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The secret that a state directory shares with the user's authenticator app. It is in `<state>/totp`, which only its
//! owner can read.

use std::fs::File;
use std::path::PathBuf;

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use super::totp;
use tenterhook_error::Failure;
use tenterhook_home::read_file;
use tenterhook_home::{Home, write_atomic};

/// Maximum number of attempts per minute, or per hour for a caller that may be an agent. With this limit an agent would
/// need years to guess a code, and its attempts do not use up the user's quota.
const MAX_ATTEMPTS: usize = 5;
const MINUTE_MS: u64 = 60_000;
const HOUR_MS: u64 = 60 * MINUTE_MS;

/// The authenticator codes of a state directory. The file is changed under a lock, so each code is accepted only once.
#[derive(Debug)]
pub struct Enrolment {
    home: Home,
}

/// The quota from which an attempt is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptQuota {
    /// For callers whose ancestry is known and contains no agent.
    Ordinary,
    /// For callers that descend from a marked process, or whose ancestry is unknown.
    Suspect,
}

/// Result of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeResult {
    /// The code is valid and was not used before.
    Accepted,
    /// The code is not valid at this time.
    Wrong,
    /// The code was valid but has been used.
    Used,
    /// The quota of attempts is used up.
    TooMany,
}

#[derive(Debug, Serialize, Deserialize)]
struct EnrolmentFile {
    v: u32,
    secret: String,
    /// Creation time, in milliseconds since the Unix epoch.
    made: u64,
    /// Time step of the latest accepted code.
    last: u64,
    /// Times of attempts within the last minute.
    tries: Vec<u64>,
    /// Times of attempts by callers that may be agents, within the last hour.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    doubtful_tries: Vec<u64>,
}

impl Enrolment {
    /// The authenticator codes of a state directory.
    pub fn of(home: &Home) -> Self {
        Self { home: home.clone() }
    }

    /// Whether codes are required. They are also required if the file exists but is unreadable. If they were not,
    /// damaging the file would remove the protection.
    pub fn is_enabled(&self) -> bool {
        self.path().symlink_metadata().is_ok()
    }

    /// Creates a secret. Codes are required only after [`confirm`](Self::confirm) has accepted its first code.
    pub fn start(&self, now_ms: u64) -> Result<Vec<u8>, Failure> {
        let mut secret = [0; totp::SECRET_BYTES];
        getrandom::fill(&mut secret)
            .map_err(|error| Failure::internal(format!("cannot generate a secret: {error}")))?;
        self.home.create()?;
        let _lock = self.lock()?;
        let file = EnrolmentFile {
            v: 1,
            secret: totp::encode_base32(&secret),
            made: now_ms,
            last: 0,
            tries: Vec::new(),
            doubtful_tries: Vec::new(),
        };
        file.write(&self.pending_path())?;
        Ok(secret.to_vec())
    }

    /// Whether a new secret waits for its first code.
    pub fn is_pending(&self) -> bool {
        self.pending_path().exists()
    }

    /// Checks the first code of a new secret and enables it.
    pub fn confirm(&self, code: &str, now_ms: u64) -> Result<CodeResult, Failure> {
        let _lock = self.lock()?;
        let mut file = EnrolmentFile::read(&self.pending_path())?.ok_or_else(|| {
            Failure::user("there is no new secret").hint("begin with `tenterhook approvals totp enroll`")
        })?;
        let tried = file.attempt(code, AttemptQuota::Ordinary, now_ms);
        file.write(&self.pending_path())?;
        if tried == CodeResult::Accepted {
            fs_err::rename(self.pending_path(), self.path())?;
        }
        Ok(tried)
    }

    /// Checks a code.
    pub fn attempt(&self, code: &str, now_ms: u64) -> Result<CodeResult, Failure> {
        self.attempt_from(AttemptQuota::Ordinary, code, now_ms)
    }

    /// Checks a code against the quota of its caller.
    pub fn attempt_from(&self, from: AttemptQuota, code: &str, now_ms: u64) -> Result<CodeResult, Failure> {
        let _lock = self.lock()?;
        let mut file =
            EnrolmentFile::read(&self.path())?.ok_or_else(|| Failure::user("codes are not set up here"))?;
        let tried = file.attempt(code, from, now_ms);
        file.write(&self.path())?;
        Ok(tried)
    }

    /// Stops requiring codes.
    pub fn remove(&self) -> Result<(), Failure> {
        let _lock = self.lock()?;
        Ok(fs_err::remove_file(self.path())?)
    }

    fn path(&self) -> PathBuf {
        self.home.totp()
    }

    fn pending_path(&self) -> PathBuf {
        self.path().with_extension("new")
    }

    /// Locks the enrolment. The lock is held during an attempt, so that two concurrent attempts cannot both use one
    /// code.
    fn lock(&self) -> Result<File, Failure> {
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(self.path().with_extension("lock"))?;
        flock(&file, FlockOperation::LockExclusive).map_err(std::io::Error::from)?;
        Ok(file)
    }
}

impl EnrolmentFile {
    fn read(path: &std::path::Path) -> Result<Option<Self>, Failure> {
        let broken = |why: String| {
            Failure::internal(format!("`{}` cannot be read: {why}", path.display()))
                .hint("restore it from a backup; without it no code is accepted")
        };
        let text = read_file::regular_file(path).map_err(|error| broken(error.to_string()))?;
        let Some(text) = text else { return Ok(None) };
        let file: Self = serde_json::from_str(&text).map_err(|error| broken(error.to_string()))?;
        // With an invalid secret every code would be wrong, and the user would not learn why.
        if totp::decode_base32(&file.secret).is_none_or(|secret| secret.is_empty()) {
            return Err(broken("its secret is damaged".to_owned()));
        }
        Ok(Some(file))
    }

    fn write(&self, path: &std::path::Path) -> Result<(), Failure> {
        write_atomic(path, &serde_json::to_vec(self).map_err(std::io::Error::from)?, 0o600)
    }

    fn attempt(&mut self, code: &str, from: AttemptQuota, now_ms: u64) -> CodeResult {
        let (tries, within) = match from {
            AttemptQuota::Ordinary => (&mut self.tries, MINUTE_MS),
            AttemptQuota::Suspect => (&mut self.doubtful_tries, HOUR_MS),
        };
        // Uses `abs_diff`: after the clock is set back, earlier attempts are in the future and would never expire.
        tries.retain(|at| at.abs_diff(now_ms) < within);
        if tries.len() >= MAX_ATTEMPTS {
            return CodeResult::TooMany;
        }
        tries.push(now_ms);
        // `EnrolmentFile::read` rejects invalid secrets.
        let secret = totp::decode_base32(&self.secret).unwrap_or_default();
        match totp::matching_step(&secret, code, now_ms) {
            _ if secret.is_empty() => CodeResult::Wrong,
            None => CodeResult::Wrong,
            Some(step) if step <= self.last => CodeResult::Used,
            Some(step) => {
                self.last = step;
                CodeResult::Accepted
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_800_000_000_000;

    fn code(secret: &[u8], at: u64) -> String {
        totp::code_at(secret, totp::step_at(at)).unwrap()
    }

    #[test]
    fn a_code_counts_once_and_only_five_are_tried_in_a_minute() {
        let dir = tempfile::tempdir().unwrap();
        let codes = Enrolment::of(&Home::in_dir(dir.path().to_owned()));
        let secret = codes.start(NOW).unwrap();
        assert!(!codes.is_enabled(), "a secret that nobody has shown a code of locks nobody out");
        assert_eq!(codes.confirm("000000", NOW).unwrap(), CodeResult::Wrong);
        assert_eq!(codes.confirm(&code(&secret, NOW), NOW).unwrap(), CodeResult::Accepted);
        assert!(codes.is_enabled() && !codes.is_pending());

        assert_eq!(
            codes.attempt(&code(&secret, NOW), NOW).unwrap(),
            CodeResult::Used,
            "it confirmed the secret"
        );
        let later = NOW + 30_000;
        assert_eq!(codes.attempt(&code(&secret, later), later).unwrap(), CodeResult::Accepted);
        assert_eq!(codes.attempt(&code(&secret, later), later).unwrap(), CodeResult::Used);
        assert_eq!(codes.attempt("123", later).unwrap(), CodeResult::TooMany);
        let after = later + MINUTE_MS;
        assert_eq!(codes.attempt(&code(&secret, after), after).unwrap(), CodeResult::Accepted);
        codes.remove().unwrap();
        assert!(!codes.is_enabled());
    }

    #[test]
    fn a_guessing_agent_has_five_tries_an_hour_and_leaves_the_user_theirs() {
        let dir = tempfile::tempdir().unwrap();
        let codes = Enrolment::of(&Home::in_dir(dir.path().to_owned()));
        let secret = codes.start(NOW).unwrap();
        codes.confirm(&code(&secret, NOW), NOW).unwrap();
        let tried = |from, code: &str, at| codes.attempt_from(from, code, at).unwrap();
        for _ in 0..MAX_ATTEMPTS {
            assert_eq!(tried(AttemptQuota::Suspect, "000000", NOW), CodeResult::Wrong);
        }
        let later = NOW + 2 * MINUTE_MS;
        let right = code(&secret, later);
        assert_eq!(tried(AttemptQuota::Suspect, &right, later), CodeResult::TooMany);
        assert_eq!(tried(AttemptQuota::Ordinary, &right, later), CodeResult::Accepted);
        let after = NOW + HOUR_MS;
        assert_eq!(tried(AttemptQuota::Suspect, &code(&secret, after), after), CodeResult::Accepted);
    }

    #[test]
    fn a_broken_file_lets_nobody_pass() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::in_dir(dir.path().to_owned());
        std::fs::write(home.totp(), "{}").unwrap();
        let codes = Enrolment::of(&home);
        assert!(codes.is_enabled());
        assert!(codes.attempt("123456", NOW).is_err());
        codes.start(NOW).unwrap();
        let text = std::fs::read_to_string(codes.pending_path()).unwrap();
        let secret = EnrolmentFile::read(&codes.pending_path()).unwrap().unwrap().secret;
        std::fs::write(home.totp(), text.replace(&secret, "not base32!")).unwrap();
        let error = codes.attempt("123456", NOW).unwrap_err();
        assert!(error.message.ends_with("cannot be read: its secret is damaged"), "{error}");
    }

    #[test]
    fn the_secret_is_for_its_owner_only() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let home = Home::in_dir(dir.path().to_owned());
        let codes = Enrolment::of(&home);
        let secret = codes.start(NOW).unwrap();
        codes.confirm(&code(&secret, NOW), NOW).unwrap();
        assert_eq!(std::fs::metadata(home.totp()).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
