// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The secret that a person's authenticator app shares with a home: `<state>/totp`, for its owner only.

use std::fs::File;
use std::path::PathBuf;

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use super::totp;
use tenterhook_error::Failure;
use tenterhook_home::read_file;
use tenterhook_home::{Home, write_whole};

/// How many codes may be tried in a minute; by a caller that may be an agent, in an hour. An agent that
/// guesses needs years, and does not use up the tries of the user.
const TRIES: usize = 5;
const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;

/// The codes of a home. Every code counts once, whoever asks: the file is changed under a lock.
#[derive(Debug)]
pub struct Enrolment {
    home: Home,
}

/// Whose tries a code counts among.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeTries {
    /// Of callers that are not known to be an agent.
    Ordinary,
    /// Of callers that come from a marked process, or whose ancestry is unknown.
    Doubtful,
}

/// What became of a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tried {
    /// It is right, and counted for the first time.
    Right,
    /// It is not the code of now.
    Wrong,
    /// It was right, and has been used.
    Used,
    /// Too many were tried within a minute.
    TooMany,
}

#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    v: u32,
    secret: String,
    /// When it was made, in milliseconds since the epoch.
    made: u64,
    /// The step of the latest code that counted.
    last: u64,
    /// When codes were tried, within the latest minute.
    tries: Vec<u64>,
    /// When callers that may be agents tried codes, within the latest hour.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    doubtful_tries: Vec<u64>,
}

impl Enrolment {
    /// The codes of a home.
    pub fn of(home: &Home) -> Self {
        Self { home: home.clone() }
    }

    /// Whether codes are needed. A file that cannot be read needs one too: else breaking it would help.
    pub fn is_on(&self) -> bool {
        self.path().symlink_metadata().is_ok()
    }

    /// A new secret. It counts once a code of it was shown.
    pub fn begin(&self, now_ms: u64) -> Result<Vec<u8>, Failure> {
        let mut secret = [0; totp::SECRET_BYTES];
        getrandom::fill(&mut secret)
            .map_err(|error| Failure::internal(format!("no randomness for a secret: {error}")))?;
        self.home.make()?;
        let _lock = self.lock()?;
        let kept = Kept {
            v: 1,
            secret: totp::base32(&secret),
            made: now_ms,
            last: 0,
            tries: Vec::new(),
            doubtful_tries: Vec::new(),
        };
        kept.write(&self.beginning())?;
        Ok(secret.to_vec())
    }

    /// Whether a secret waits for its first code.
    pub fn is_beginning(&self) -> bool {
        self.beginning().exists()
    }

    /// The first code of a new secret: from here on codes are needed.
    pub fn confirm(&self, code: &str, now_ms: u64) -> Result<Tried, Failure> {
        let _lock = self.lock()?;
        let mut kept = Kept::read(&self.beginning())?.ok_or_else(|| {
            Failure::user("there is no new secret").hint("begin with `tenterhook totp enroll`")
        })?;
        let tried = kept.attempt(code, CodeTries::Ordinary, now_ms);
        kept.write(&self.beginning())?;
        if tried == Tried::Right {
            fs_err::rename(self.beginning(), self.path())?;
        }
        Ok(tried)
    }

    /// Tries a code.
    pub fn attempt(&self, code: &str, now_ms: u64) -> Result<Tried, Failure> {
        self.attempt_from(CodeTries::Ordinary, code, now_ms)
    }

    /// Tries a code of a caller that may be an agent, or not.
    pub fn attempt_from(&self, from: CodeTries, code: &str, now_ms: u64) -> Result<Tried, Failure> {
        let _lock = self.lock()?;
        let mut kept = Kept::read(&self.path())?.ok_or_else(|| Failure::user("no codes are needed here"))?;
        let tried = kept.attempt(code, from, now_ms);
        kept.write(&self.path())?;
        Ok(tried)
    }

    /// No codes any more.
    pub fn end(&self) -> Result<(), Failure> {
        let _lock = self.lock()?;
        Ok(fs_err::remove_file(self.path())?)
    }

    fn path(&self) -> PathBuf {
        self.home.totp()
    }

    fn beginning(&self) -> PathBuf {
        self.path().with_extension("new")
    }

    /// Held by whoever tries a code: of two that come at the same time one is the second.
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

impl Kept {
    fn read(path: &std::path::Path) -> Result<Option<Self>, Failure> {
        let broken = |why: String| {
            Failure::internal(format!("`{}` cannot be read: {why}", path.display()))
                .hint("bring it back from a copy; without it nobody can show that they are you")
        };
        let text = read_file::regular_file(path).map_err(|error| broken(error.to_string()))?;
        let Some(text) = text else { return Ok(None) };
        let kept: Self = serde_json::from_str(&text).map_err(|error| broken(error.to_string()))?;
        // An invalid secret would make every code wrong without an explanation.
        if totp::from_base32(&kept.secret).is_none_or(|secret| secret.is_empty()) {
            return Err(broken("its secret is damaged".to_owned()));
        }
        Ok(Some(kept))
    }

    fn write(&self, path: &std::path::Path) -> Result<(), Failure> {
        write_whole(path, &serde_json::to_vec(self).map_err(std::io::Error::from)?, 0o600)
    }

    fn attempt(&mut self, code: &str, from: CodeTries, now_ms: u64) -> Tried {
        let (tries, within) = match from {
            CodeTries::Ordinary => (&mut self.tries, MINUTE),
            CodeTries::Doubtful => (&mut self.doubtful_tries, HOUR),
        };
        // A clock that was set back keeps nobody out for longer than that.
        tries.retain(|at| at.abs_diff(now_ms) < within);
        if tries.len() >= TRIES {
            return Tried::TooMany;
        }
        tries.push(now_ms);
        // `Kept::read` rejects invalid secrets.
        let secret = totp::from_base32(&self.secret).unwrap_or_default();
        match totp::matching_step(&secret, code, now_ms) {
            _ if secret.is_empty() => Tried::Wrong,
            None => Tried::Wrong,
            Some(step) if step <= self.last => Tried::Used,
            Some(step) => {
                self.last = step;
                Tried::Right
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_800_000_000_000;

    fn code(secret: &[u8], at: u64) -> String {
        totp::code(secret, totp::step(at)).unwrap()
    }

    #[test]
    fn a_code_counts_once_and_only_five_are_tried_in_a_minute() {
        let dir = tempfile::tempdir().unwrap();
        let codes = Enrolment::of(&Home::whole(dir.path().to_owned()));
        let secret = codes.begin(NOW).unwrap();
        assert!(!codes.is_on(), "a secret that nobody has shown a code of locks nobody out");
        assert_eq!(codes.confirm("000000", NOW).unwrap(), Tried::Wrong);
        assert_eq!(codes.confirm(&code(&secret, NOW), NOW).unwrap(), Tried::Right);
        assert!(codes.is_on() && !codes.is_beginning());

        assert_eq!(codes.attempt(&code(&secret, NOW), NOW).unwrap(), Tried::Used, "it confirmed the secret");
        let later = NOW + 30_000;
        assert_eq!(codes.attempt(&code(&secret, later), later).unwrap(), Tried::Right);
        assert_eq!(codes.attempt(&code(&secret, later), later).unwrap(), Tried::Used);
        assert_eq!(codes.attempt("123", later).unwrap(), Tried::TooMany);
        let after = later + MINUTE;
        assert_eq!(codes.attempt(&code(&secret, after), after).unwrap(), Tried::Right);
        codes.end().unwrap();
        assert!(!codes.is_on());
    }

    #[test]
    fn a_guessing_agent_has_five_tries_an_hour_and_leaves_the_user_theirs() {
        let dir = tempfile::tempdir().unwrap();
        let codes = Enrolment::of(&Home::whole(dir.path().to_owned()));
        let secret = codes.begin(NOW).unwrap();
        codes.confirm(&code(&secret, NOW), NOW).unwrap();
        let tried = |from, code: &str, at| codes.attempt_from(from, code, at).unwrap();
        for _ in 0..TRIES {
            assert_eq!(tried(CodeTries::Doubtful, "000000", NOW), Tried::Wrong);
        }
        let later = NOW + 2 * MINUTE;
        let right = code(&secret, later);
        assert_eq!(tried(CodeTries::Doubtful, &right, later), Tried::TooMany);
        assert_eq!(tried(CodeTries::Ordinary, &right, later), Tried::Right);
        let after = NOW + HOUR;
        assert_eq!(tried(CodeTries::Doubtful, &code(&secret, after), after), Tried::Right);
    }

    #[test]
    fn a_broken_file_lets_nobody_pass() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::whole(dir.path().to_owned());
        std::fs::write(home.totp(), "{}").unwrap();
        let codes = Enrolment::of(&home);
        assert!(codes.is_on());
        assert!(codes.attempt("123456", NOW).is_err());
        codes.begin(NOW).unwrap();
        let text = std::fs::read_to_string(codes.beginning()).unwrap();
        let secret = Kept::read(&codes.beginning()).unwrap().unwrap().secret;
        std::fs::write(home.totp(), text.replace(&secret, "not base32!")).unwrap();
        let error = codes.attempt("123456", NOW).unwrap_err();
        assert!(error.message.ends_with("cannot be read: its secret is damaged"), "{error}");
    }

    #[test]
    fn the_secret_is_for_its_owner_only() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let home = Home::whole(dir.path().to_owned());
        let codes = Enrolment::of(&home);
        let secret = codes.begin(NOW).unwrap();
        codes.confirm(&code(&secret, NOW), NOW).unwrap();
        assert_eq!(std::fs::metadata(home.totp()).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
