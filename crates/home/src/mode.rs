// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Whether the rules of a home hold, or only watch.

use std::fmt;

use serde::{Deserialize, Serialize};
use tenterhook_event::Timestamp;

use crate::home::write_whole;
use crate::{Home, read_file};
use tenterhook_error::Failure;

/// How the rules of a home are applied. Locked rules hold in both.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// What they say happens.
    #[default]
    Enforce,
    /// What they would have said is recorded, and nothing else happens.
    Monitor,
}

#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    v: u32,
    mode: Mode,
    since: Timestamp,
}

impl Mode {
    /// The mode of a home. Rules hold unless a file says otherwise, and can be read.
    pub fn read(home: &Home) -> Result<Self, Failure> {
        let path = home.mode();
        let broken = |why: String| {
            Failure::internal(format!("`{}` cannot be read: {why}; the rules hold", path.display()))
                .hint("set it again: `tenterhook mode enforce`")
        };
        let Some(text) = read_file::state_file(&path).map_err(|error| broken(error.to_string()))? else {
            return Ok(Self::Enforce);
        };
        let kept: Kept = serde_json::from_str(&text).map_err(|error| broken(error.to_string()))?;
        Ok(kept.mode)
    }

    /// Keeps it.
    pub fn write(self, home: &Home, now: Timestamp) -> Result<(), Failure> {
        home.make()?;
        let kept = Kept { v: 1, mode: self, since: now };
        let text = serde_json::to_vec_pretty(&kept).map_err(std::io::Error::from)?;
        write_whole(&home.mode(), &text, 0o600)
    }

    /// The word for it.
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
        let home = Home::whole(dir.path().to_owned());
        assert_eq!(Mode::read(&home), Ok(Mode::Enforce));
        Mode::Monitor.write(&home, Timestamp::from_unix_ms(0)).unwrap();
        assert_eq!(Mode::read(&home), Ok(Mode::Monitor));
        std::fs::write(home.mode(), "monitor").unwrap();
        assert!(Mode::read(&home).is_err());
    }
}
