// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Hooks that somebody switched on or off beside the settings, in `<state>/hooks.json`. What stands
//! there comes before `enabled` in `tenterhook.yaml`, which is a person's own text and stays as it is.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tenterhook_engine::Hook;
use tenterhook_engine::load::HookAuditLevel;

use crate::home::write_whole;
use crate::{Home, read_file};
use tenterhook_error::Failure;

const FORMAT: u32 = 1;

/// What was switched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Switches {
    v: u32,
    /// Hooks by their ids, and whether they are on.
    pub hooks: BTreeMap<String, bool>,
    /// How much of what hooks of programs do is recorded, if somebody said so.
    #[serde(default, rename = "auditLevel", skip_serializing_if = "Option::is_none")]
    pub audit: Option<HookAuditLevel>,
}

impl Default for Switches {
    fn default() -> Self {
        Self { v: FORMAT, hooks: BTreeMap::new(), audit: None }
    }
}

impl Switches {
    /// What is switched in a home.
    pub fn read(home: &Home) -> Result<Self, Failure> {
        let path = home.switches();
        let unreadable = |why: String| {
            Failure::internal(format!("`{}` cannot be read: {why}", path.display()))
                .hint("remove it: every hook is then as its settings say")
        };
        let Some(text) = read_file::state_file(&path).map_err(|error| unreadable(error.to_string()))? else {
            return Ok(Self::default());
        };
        match serde_json::from_str(&text) {
            Ok(read @ Self { v: FORMAT, .. }) => Ok(read),
            Ok(Self { v, .. }) => Err(unreadable(format!("its format is {v}, not {FORMAT}"))),
            Err(error) => Err(unreadable(error.to_string())),
        }
    }

    /// Writes it down.
    pub fn write(&self, home: &Home) -> Result<(), Failure> {
        let bytes = serde_json::to_vec_pretty(self).map_err(|error| Failure::internal(error.to_string()))?;
        write_whole(&home.switches(), &bytes, 0o600)
    }

    /// Switches hooks. Those that are not there any more are passed over.
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
        let home = Home::whole(dir.path().to_owned());
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
