// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What holds for all hooks of a file unless one of them says otherwise.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tenterhook_document::{Misfit, Node, read};

use crate::{Fail, Limits};

/// The keys of a `hooks:` map, with their defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Defaults {
    /// `enabled`: false stops all hooks, never a rule.
    pub enabled: bool,
    /// `maxHooksPerEvent`, `maxTotalHooks`.
    pub limits: Limits,
    /// `defaultTimeout`, in milliseconds: for hooks that name none; else the dialect's own.
    pub timeout: Option<Duration>,
    /// `failBehavior`: `continue` or `block`.
    pub fail: Fail,
    /// `auditLevel`: how much of what hooks of programs do is recorded.
    pub audit: AuditLevel,
}

/// How much of what hooks of programs do is recorded, beside the leaf of every decision, which names each hook
/// that ran, what it decided and how long it took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AuditLevel {
    /// That a hook was registered, replaced, unregistered or gone, and that the level changed.
    Off,
    /// And that a hook blocked, modified or failed.
    #[default]
    Info,
    /// And that a hook was started and completed.
    Verbose,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum FailBehavior {
    Continue,
    Block,
}

impl Default for Defaults {
    fn default() -> Self {
        Self {
            enabled: true,
            limits: Limits::default(),
            timeout: None,
            fail: Fail::Open,
            audit: AuditLevel::default(),
        }
    }
}

impl Defaults {
    /// Takes one key.
    pub(super) fn set(&mut self, key: &Node, value: &Node) -> Result<(), Misfit> {
        match key.text() {
            Some("enabled") => self.enabled = read(value)?,
            Some("maxHooksPerEvent") => self.limits.hooks_per_event = read(value)?,
            Some("maxTotalHooks") => self.limits.hooks = read(value)?,
            Some("defaultTimeout") => self.timeout = Some(Duration::from_millis(read(value)?)),
            Some("failBehavior") => {
                self.fail = match read(value)? {
                    FailBehavior::Continue => Fail::Open,
                    FailBehavior::Block => Fail::Closed,
                }
            }
            Some("auditLevel") => self.audit = read(value)?,
            other => {
                let message = format!(
                    "no such key: `{}`; known: enabled, maxHooksPerEvent, maxTotalHooks, defaultTimeout, failBehavior, \
                     auditLevel, list",
                    other.unwrap_or("?")
                );
                return Err(Misfit { spot: key.spot, message });
            }
        }
        Ok(())
    }
}
