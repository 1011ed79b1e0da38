// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A generation: one immutable configuration of hooks, limits and rules. Exactly one generation decides each event.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tenterhook_event::{Event, EventKind};

use crate::{Hook, HookId, Judge, RuleJudgement};

/// Limits on the number of hooks and on their run time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookLimits {
    /// Maximum number of hooks for one kind of event (`maxHooksPerEvent`).
    pub max_hooks_per_event: usize,
    /// Maximum number of hooks in total (`maxTotalHooks`).
    pub max_hooks: usize,
    /// Maximum number of times a hook is called for one event if it asks for retries.
    pub retry_attempts: u32,
    /// Time limit for all retries of one event.
    pub retry_timeout: Duration,
    /// Time limit for all hooks of one event, including chains and retries.
    pub call_timeout: Duration,
}

/// One immutable configuration: hooks, limits and rules.
#[derive(Clone)]
pub struct Generation {
    name: String,
    hooks: Vec<Arc<Hook>>,
    by_kind: BTreeMap<EventKind, Vec<Arc<Hook>>>,
    skipped_hooks: Vec<HookId>,
    limits: HookLimits,
    judge: Arc<dyn Judge>,
    account: Option<u32>,
}

/// Why a hook cannot be registered, removed or changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    /// A hook with this id exists already.
    #[error("hook `{0}` exists already")]
    Duplicate(String),
    /// The total number of hooks exceeds its limit.
    #[error("cannot add hook `{id}`: maxTotalHooks {limit} exceeded")]
    TooMany {
        /// Id of the hook that was not registered.
        id: String,
        /// Maximum number of hooks.
        limit: usize,
    },
    /// The number of hooks for one kind of event exceeds its limit.
    #[error("cannot add hook `{id}` on {kind}: maxHooksPerEvent {limit} exceeded")]
    TooManyOn {
        /// Id of the hook that was not registered.
        id: String,
        /// The kind of event.
        kind: EventKind,
        /// Maximum number of hooks.
        limit: usize,
    },
    /// No hook has this id.
    #[error("unknown hook `{0}`")]
    Unknown(String),
}

// === impl HookLimits ===

impl Default for HookLimits {
    fn default() -> Self {
        Self {
            max_hooks_per_event: 10,
            max_hooks: 50,
            retry_attempts: 3,
            retry_timeout: Duration::from_secs(10),
            call_timeout: Duration::from_mins(10),
        }
    }
}

impl HookLimits {
    /// Checks whether a new hook can be added to these hooks.
    pub fn check_new_hook<'a>(
        &self,
        hooks: &(impl Iterator<Item = &'a Hook> + Clone),
        new: &Hook,
    ) -> Result<(), RegisterError> {
        let id = || new.id.to_string();
        if hooks.clone().any(|hook| hook.id == new.id) {
            return Err(RegisterError::Duplicate(id()));
        }
        if hooks.clone().count() >= self.max_hooks {
            return Err(RegisterError::TooMany { id: id(), limit: self.max_hooks });
        }
        for kind in &new.on {
            if hooks.clone().filter(|hook| hook.on.contains(kind)).count() >= self.max_hooks_per_event {
                return Err(RegisterError::TooManyOn {
                    id: id(),
                    kind: *kind,
                    limit: self.max_hooks_per_event,
                });
            }
        }
        Ok(())
    }
}

// === impl Generation ===

impl Generation {
    /// Creates a configuration. Hooks are sorted by priority, then by registration. Returns an error if a limit is
    /// exceeded.
    pub fn new(
        name: String,
        hooks: Vec<Hook>,
        limits: HookLimits,
        judge: Arc<dyn Judge>,
    ) -> Result<Self, RegisterError> {
        let (by_kind, skipped_hooks) = (BTreeMap::new(), Vec::new());
        let empty = Self { name, hooks: Vec::new(), by_kind, skipped_hooks, limits, judge, account: None };
        hooks.into_iter().try_fold(empty, Self::with_hook)
    }

    /// Returns the configuration with one more hook.
    pub fn with_hook(mut self, hook: Hook) -> Result<Self, RegisterError> {
        self.limits.check_new_hook(&self.hooks.iter().map(AsRef::as_ref), &hook)?;
        let place = self.hooks.partition_point(|other| other.priority <= hook.priority);
        self.hooks.insert(place, Arc::new(hook));
        self.rebuild_index();
        Ok(self)
    }

    /// Returns the configuration with hooks added that were checked elsewhere. The name does not change, because it
    /// identifies the configuration files and these hooks come from other places.
    #[must_use]
    pub fn with_checked_hooks(mut self, hooks: &[Arc<Hook>]) -> Self {
        for hook in hooks {
            let place = self.hooks.partition_point(|other| other.priority <= hook.priority);
            self.hooks.insert(place, Arc::clone(hook));
        }
        self.rebuild_index();
        self
    }

    /// Returns the configuration without this hook.
    pub fn without_hook(mut self, id: &str) -> Result<Self, RegisterError> {
        let before = self.hooks.len();
        self.hooks.retain(|hook| hook.id.as_ref() != id);
        if self.hooks.len() == before {
            return Err(RegisterError::Unknown(id.to_owned()));
        }
        self.rebuild_index();
        Ok(self)
    }

    /// Returns the configuration with this hook enabled or disabled.
    pub fn with_hook_enabled(mut self, id: &str, enabled: bool) -> Result<Self, RegisterError> {
        let hook = self.hooks.iter_mut().find(|hook| hook.id.as_ref() == id);
        let hook = hook.ok_or_else(|| RegisterError::Unknown(id.to_owned()))?;
        *hook = Arc::new(Hook { enabled, ..Hook::clone(hook) });
        self.rebuild_index();
        Ok(self)
    }

    /// Returns the configuration for a call that was caused by these hooks. The hooks do not run for their own call,
    /// and the trace shows them as skipped.
    #[must_use]
    pub fn skipping_hooks(self, hooks: &[HookId]) -> Self {
        Self { skipped_hooks: hooks.to_vec(), ..self }
    }

    /// Returns the configuration for a call that a user account of this machine makes.
    #[must_use]
    pub fn for_account(self, account: u32) -> Self {
        Self { account: Some(account), ..self }
    }

    /// Evaluates the rules on an event of a call.
    pub(crate) fn judge_event(&self, event: &Event) -> RuleJudgement {
        match self.account {
            Some(account) => self.judge.judge_for_account(event, account),
            None => self.judge.judge(event),
        }
    }

    /// Returns the configuration with another name.
    #[must_use]
    pub fn with_name(self, name: String) -> Self {
        Self { name, ..self }
    }

    fn rebuild_index(&mut self) {
        self.by_kind.clear();
        for hook in &self.hooks {
            for kind in EventKind::ALL.iter().filter(|kind| hook.serves(**kind)) {
                self.by_kind.entry(*kind).or_default().push(Arc::clone(hook));
            }
        }
    }

    /// Returns the name of this configuration in records.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns all hooks, in order.
    pub fn all_hooks(&self) -> &[Arc<Hook>] {
        &self.hooks
    }

    /// Returns the hooks for one kind of event, in order.
    pub fn hooks_for(&self, kind: EventKind) -> &[Arc<Hook>] {
        self.by_kind.get(&kind).map_or(&[], Vec::as_slice)
    }

    /// Returns the hooks that do not run because they caused the call.
    pub fn skipped_hooks(&self) -> &[HookId] {
        &self.skipped_hooks
    }

    /// Returns the limits.
    pub fn limits(&self) -> &HookLimits {
        &self.limits
    }
}

impl fmt::Debug for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<_> = self.hooks.iter().map(|hook| hook.id.as_ref()).collect();
        f.debug_struct("Generation").field("name", &self.name).field("hooks", &ids).finish_non_exhaustive()
    }
}
