// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The file `<state>/hooks.json`, which lists hooks that were switched on or off with a command. These switches
//! override `enabled` in `tenterhook.yaml`, so that the command does not have to edit the user's file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tenterhook_engine::Hook;
use tenterhook_engine::load::HookAuditLevel;

use crate::home::write_atomic;
use crate::{Home, read_file};
use tenterhook_error::Failure;

const SWITCHES_FORMAT: u32 = 1;

/// Hooks that were switched on or off, and the audit level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Switches {
    v: u32,
    /// Whether each switched hook is on, by id.
    pub hooks: BTreeMap<String, bool>,
    /// Audit level for hooks that programs registered, if it was set.
    #[serde(default, rename = "auditLevel", skip_serializing_if = "Option::is_none")]
    pub audit: Option<HookAuditLevel>,
}

impl Default for Switches {
    fn default() -> Self {
        Self { v: SWITCHES_FORMAT, hooks: BTreeMap::new(), audit: None }
    }
}

impl Switches {
    /// Reads the switches of a home.
    pub fn read(home: &Home) -> Result<Self, Failure> {
        let path = home.switches();
        let unreadable = |why: String| {
            Failure::internal(format!("`{}` cannot be read: {why}", path.display()))
                .hint("remove it; the settings of each hook then apply")
        };
        let Some(text) = read_file::state_file(&path).map_err(|error| unreadable(error.to_string()))? else {
            return Ok(Self::default());
        };
        match serde_json::from_str(&text) {
            Ok(read @ Self { v: SWITCHES_FORMAT, .. }) => Ok(read),
            Ok(Self { v, .. }) => Err(unreadable(format!("its format is {v}, not {SWITCHES_FORMAT}"))),
            Err(error) => Err(unreadable(error.to_string())),
        }
    }

    /// Stores the switches.
    pub fn write(&self, home: &Home) -> Result<(), Failure> {
        let bytes = serde_json::to_vec_pretty(self).map_err(|error| Failure::internal(error.to_string()))?;
        write_atomic(&home.switches(), &bytes, 0o600)
    }

    /// Enables or disables `hooks` according to the switches. Switches for hooks that no longer exist have no effect.
    pub fn apply(&self, hooks: &mut [Hook]) {
        for hook in hooks {
            if let Some(on) = self.hooks.get(hook.id.as_ref()) {
                hook.enabled = *on;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_switched_is_known_again() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::in_dir(dir.path().to_owned());
        let mut switches = Switches::read(&home).unwrap();
        assert_eq!(switches, Switches::default());
        switches.hooks.insert("a".into(), false);
        switches.audit = Some(HookAuditLevel::Verbose);
        switches.write(&home).unwrap();
        assert_eq!(Switches::read(&home).unwrap(), switches);
        for bad in ["{", "{\"v\": 2, \"hooks\": {}}"] {
            std::fs::write(home.switches(), bad).unwrap();
            assert!(Switches::read(&home).is_err(), "{bad}");
        }
    }
}
