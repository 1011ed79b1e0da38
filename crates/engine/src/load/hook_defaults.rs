// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Settings that apply to all hooks of a file. A single hook can override them.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tenterhook_document::{Misfit, Node, read};

use crate::{FailMode, HookLimits};

/// The keys of the `hooks:` map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookDefaults {
    /// `enabled`: `false` disables all hooks. Rules are not affected.
    pub enabled: bool,
    /// `maxHooksPerEvent` and `maxTotalHooks`.
    pub limits: HookLimits,
    /// `defaultTimeout`: time limit in milliseconds for hooks that set none. If absent, the dialect's default
    /// applies.
    pub timeout: Option<Duration>,
    /// `failBehavior`: `continue` ([`FailMode::Open`]) or `block` ([`FailMode::Closed`]).
    pub fail: FailMode,
    /// `auditLevel`: how much is recorded about SDK hooks.
    pub audit: HookAuditLevel,
}

/// How much is recorded about SDK hooks. The record of a decision always has the verdict and the run time of each
/// hook, at every level.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HookAuditLevel {
    /// Records hooks that were registered, replaced, unregistered or removed, and changes of the level.
    Off,
    /// Also records hooks that blocked, modified or failed.
    #[default]
    Info,
    /// Also records hooks that started and completed.
    Verbose,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum FailBehaviorKey {
    Continue,
    Block,
}

impl Default for HookDefaults {
    fn default() -> Self {
        Self {
            enabled: true,
            limits: HookLimits::default(),
            timeout: None,
            fail: FailMode::Open,
            audit: HookAuditLevel::default(),
        }
    }
}

impl HookDefaults {
    /// Sets one key.
    pub(super) fn set(&mut self, key: &Node, value: &Node) -> Result<(), Misfit> {
        match key.text() {
            Some("enabled") => self.enabled = read(value)?,
            Some("maxHooksPerEvent") => self.limits.max_hooks_per_event = read(value)?,
            Some("maxTotalHooks") => self.limits.max_hooks = read(value)?,
            Some("defaultTimeout") => self.timeout = Some(Duration::from_millis(read(value)?)),
            Some("failBehavior") => {
                self.fail = match read(value)? {
                    FailBehaviorKey::Continue => FailMode::Open,
                    FailBehaviorKey::Block => FailMode::Closed,
                }
            }
            Some("auditLevel") => self.audit = read(value)?,
            other => {
                let message = format!(
                    "unknown key `{}`; known: enabled, maxHooksPerEvent, maxTotalHooks, defaultTimeout, failBehavior, \
                     auditLevel, list",
                    other.unwrap_or("?")
                );
                return Err(Misfit { spot: key.spot, message });
            }
        }
        Ok(())
    }
}
