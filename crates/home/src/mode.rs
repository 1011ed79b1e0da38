// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The mode of a home: whether its rules are enforced or only monitored.

use std::fmt;

use serde::{Deserialize, Serialize};
use tenterhook_event::Timestamp;

use crate::home::write_atomic;
use crate::{Home, read_file};
use tenterhook_error::Failure;

/// How the rules of a home are applied. Locked rules are always enforced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Verdicts of rules are enforced.
    #[default]
    Enforce,
    /// Verdicts of rules are recorded only.
    Monitor,
}

#[derive(Debug, Serialize, Deserialize)]
struct ModeFile {
    v: u32,
    mode: Mode,
    since: Timestamp,
}

impl Mode {
    /// Reads the mode of a home: `Enforce` if the mode file does not exist, an error if it is unreadable.
    pub fn read(home: &Home) -> Result<Self, Failure> {
        let path = home.mode();
        let broken = |why: String| {
            Failure::internal(format!("`{}` cannot be read: {why}; rules are enforced", path.display()))
                .hint("set it again: `tenterhook mode enforce`")
        };
        let Some(text) = read_file::state_file(&path).map_err(|error| broken(error.to_string()))? else {
            return Ok(Self::Enforce);
        };
        let file: ModeFile = serde_json::from_str(&text).map_err(|error| broken(error.to_string()))?;
        Ok(file.mode)
    }

    /// Stores the mode.
    pub fn write(self, home: &Home, now: Timestamp) -> Result<(), Failure> {
        home.create()?;
        let file = ModeFile { v: 1, mode: self, since: now };
        let text = serde_json::to_vec_pretty(&file).map_err(std::io::Error::from)?;
        write_atomic(&home.mode(), &text, 0o600)
    }

    /// Name of the mode.
    pub fn word(self) -> &'static str {
        match self {
            Self::Enforce => "enforce",
            Self::Monitor => "monitor",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_hold_unless_a_file_that_can_be_read_says_otherwise() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::in_dir(dir.path().to_owned());
        assert_eq!(Mode::read(&home), Ok(Mode::Enforce));
        Mode::Monitor.write(&home, Timestamp::from_unix_ms(0)).unwrap();
        assert_eq!(Mode::read(&home), Ok(Mode::Monitor));
        std::fs::write(home.mode(), "monitor").unwrap();
        assert!(Mode::read(&home).is_err());
    }
}
