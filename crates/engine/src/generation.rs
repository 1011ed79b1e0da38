// SPDX-License-Identifier: Apache-2.0 OR MIT

//! One immutable configuration: hooks, limits and rules. An event sees exactly one.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tenterhook_event::EventKind;

use crate::{Hook, HookId, Judge};

/// How much there may be of everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Hooks for one kind of event.
    pub hooks_per_event: usize,
    /// Hooks in all.
    pub hooks: usize,
    /// How often a hook may be asked, if it wants to be asked again.
    pub retry_attempts: u32,
    /// How long asking again may take in all.
    pub retry_within: Duration,
    /// How long all hooks of one call may take together, chains and retries included.
    pub call_within: Duration,
}

/// A configuration.
#[derive(Clone)]
pub struct Generation {
    name: String,
    hooks: Vec<Arc<Hook>>,
    by_kind: BTreeMap<EventKind, Vec<Arc<Hook>>>,
    passed_over: Vec<HookId>,
    limits: Limits,
    judge: Arc<dyn Judge>,
}

/// The hook cannot be registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    /// Two hooks of one id.
    #[error("there is another hook `{0}`")]
    Duplicate(String),
    /// More hooks than the limit.
    #[error("`{id}` is one too many: maxTotalHooks {limit} exceeded")]
    TooMany {
        /// The hook that goes too far.
        id: String,
        /// The limit.
        limit: usize,
    },
    /// More hooks for one kind than the limit.
    #[error("`{id}` is one too many on {kind}: maxHooksPerEvent {limit} exceeded")]
    TooManyOn {
        /// The hook that goes too far.
        id: String,
        /// The kind.
        kind: EventKind,
        /// The limit.
        limit: usize,
    },
    /// There is no such hook.
    #[error("there is no hook `{0}`")]
    Unknown(String),
}

// === impl Limits ===

impl Default for Limits {
    fn default() -> Self {
        Self {
            hooks_per_event: 10,
            hooks: 50,
            retry_attempts: 3,
            retry_within: Duration::from_secs(10),
            call_within: Duration::from_mins(10),
        }
    }
}

impl Limits {
    /// Whether one more hook fits beside these.
    pub fn admit<'a>(
        &self,
        hooks: &(impl Iterator<Item = &'a Hook> + Clone),
        new: &Hook,
    ) -> Result<(), RegisterError> {
        let id = || new.id.to_string();
        if hooks.clone().any(|hook| hook.id == new.id) {
            return Err(RegisterError::Duplicate(id()));
        }
        if hooks.clone().count() >= self.hooks {
            return Err(RegisterError::TooMany { id: id(), limit: self.hooks });
        }
        for kind in &new.on {
            if hooks.clone().filter(|hook| hook.on.contains(kind)).count() >= self.hooks_per_event {
                return Err(RegisterError::TooManyOn { id: id(), kind: *kind, limit: self.hooks_per_event });
            }
        }
        Ok(())
    }
}

// === impl Generation ===

impl Generation {
    /// A configuration. Hooks are put in (priority, registration) order; limits refuse.
    pub fn new(
        name: String,
        hooks: Vec<Hook>,
        limits: Limits,
        judge: Arc<dyn Judge>,
    ) -> Result<Self, RegisterError> {
        let (by_kind, passed_over) = (BTreeMap::new(), Vec::new());
        let empty = Self { name, hooks: Vec::new(), by_kind, passed_over, limits, judge };
        hooks.into_iter().try_fold(empty, Self::with)
    }

    /// The same with one more hook.
    pub fn with(mut self, hook: Hook) -> Result<Self, RegisterError> {
        self.limits.admit(&self.hooks.iter().map(AsRef::as_ref), &hook)?;
        let place = self.hooks.partition_point(|other| other.priority <= hook.priority);
        self.hooks.insert(place, Arc::new(hook));
        self.index();
        Ok(self)
    }

    /// The same with hooks that were admitted elsewhere; the name stays, for they are no part of it.
    #[must_use]
    pub fn beside(mut self, hooks: &[Arc<Hook>]) -> Self {
        for hook in hooks {
            let place = self.hooks.partition_point(|other| other.priority <= hook.priority);
            self.hooks.insert(place, Arc::clone(hook));
        }
        self.index();
        self
    }

    /// The same without one hook.
    pub fn without(mut self, id: &str) -> Result<Self, RegisterError> {
        let before = self.hooks.len();
        self.hooks.retain(|hook| hook.id.as_ref() != id);
        if self.hooks.len() == before {
            return Err(RegisterError::Unknown(id.to_owned()));
        }
        self.index();
        Ok(self)
    }

    /// The same with one hook switched on or off.
    pub fn switched(mut self, id: &str, enabled: bool) -> Result<Self, RegisterError> {
        let hook = self.hooks.iter_mut().find(|hook| hook.id.as_ref() == id);
        let hook = hook.ok_or_else(|| RegisterError::Unknown(id.to_owned()))?;
        *hook = Arc::new(Hook { enabled, ..Hook::clone(hook) });
        self.index();
        Ok(self)
    }

    /// The same for a call that these hooks made themselves: they are not asked about it, and its record says so.
    #[must_use]
    pub fn passing_over(self, hooks: &[HookId]) -> Self {
        Self { passed_over: hooks.to_vec(), ..self }
    }

    /// The same under another name.
    #[must_use]
    pub fn named(self, name: String) -> Self {
        Self { name, ..self }
    }

    fn index(&mut self) {
        self.by_kind.clear();
        for hook in &self.hooks {
            for kind in EventKind::ALL.iter().filter(|kind| hook.serves(**kind)) {
                self.by_kind.entry(*kind).or_default().push(Arc::clone(hook));
            }
        }
    }

    /// What records call this configuration.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Every hook, in order.
    pub fn all_hooks(&self) -> &[Arc<Hook>] {
        &self.hooks
    }

    /// The hooks of one kind of event, in order.
    pub fn hooks(&self, kind: EventKind) -> &[Arc<Hook>] {
        self.by_kind.get(&kind).map_or(&[], Vec::as_slice)
    }

    /// The hooks that are not asked, because it is their own call.
    pub fn passed_over(&self) -> &[HookId] {
        &self.passed_over
    }

    /// The limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The rules.
    pub fn judge(&self) -> &dyn Judge {
        self.judge.as_ref()
    }
}

impl fmt::Debug for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<_> = self.hooks.iter().map(|hook| hook.id.as_ref()).collect();
        f.debug_struct("Generation").field("name", &self.name).field("hooks", &ids).finish_non_exhaustive()
    }
}
