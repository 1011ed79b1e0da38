// SPDX-License-Identifier: Apache-2.0 OR MIT

//! An engine: one immutable generation of configuration, swapped as a whole.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use tenterhook_event::{Call, Event, EventKind, Finding, Origin, Outcome};

use crate::{Fail, Hook, Judge, Matcher, NoJudge, NoRecorder, Recorder, Runner, flow};

/// Most hooks for one kind of event.
pub const MAX_HOOKS_PER_EVENT: usize = 10;
/// Most hooks in all.
pub const MAX_HOOKS: usize = 50;

/// Takes events down the road.
pub struct Engine {
    generation: ArcSwap<Generation>,
    recorder: Arc<dyn Recorder>,
}

/// One configuration: hooks and rules. An event sees exactly one.
pub struct Generation {
    name: String,
    hooks: Vec<Arc<Hook>>,
    by_kind: BTreeMap<EventKind, Vec<Arc<Hook>>>,
    judge: Arc<dyn Judge>,
}

/// Puts an engine together.
pub struct EngineBuilder {
    name: String,
    hooks: Vec<Hook>,
    judge: Arc<dyn Judge>,
    recorder: Arc<dyn Recorder>,
}

/// Puts one in-process hook together; made by [`EngineBuilder::on`].
pub struct HookBuilder {
    engine: EngineBuilder,
    hook: Hook,
}

/// The hook cannot be registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    /// Two hooks of one id.
    #[error("there are two hooks of the id `{0}`")]
    Duplicate(String),
    /// More hooks than the limit.
    #[error("more than {MAX_HOOKS} hooks in all: `{0}` is one too many")]
    TooMany(String),
    /// More hooks for one kind than the limit.
    #[error("more than {MAX_HOOKS_PER_EVENT} hooks on {1}: `{0}` is one too many")]
    TooManyOn(String, EventKind),
}

// === impl Engine ===

impl Engine {
    /// Starts to put an engine together.
    pub fn builder() -> EngineBuilder {
        EngineBuilder {
            name: "unnamed".to_owned(),
            hooks: Vec::new(),
            judge: Arc::new(NoJudge),
            recorder: Arc::new(NoRecorder),
        }
    }

    /// Takes one call down the road. Needs a tokio runtime with time enabled.
    pub async fn fire(&self, call: &Call) -> Outcome {
        let generation = self.generation.load_full();
        flow::fire(&generation, self.recorder.as_ref(), call).await
    }

    /// The configuration an event would see now.
    pub fn generation(&self) -> Arc<Generation> {
        self.generation.load_full()
    }

    /// Replaces the configuration. Calls under way keep the one they started with.
    pub fn reload(&self, generation: Generation) {
        self.generation.store(Arc::new(generation));
    }
}

// === impl Generation ===

impl Generation {
    /// A configuration. Hooks are sorted by (priority, registration); limits refuse.
    pub fn new(name: String, mut hooks: Vec<Hook>, judge: Arc<dyn Judge>) -> Result<Self, RegisterError> {
        if let Some(over) = hooks.get(MAX_HOOKS) {
            return Err(RegisterError::TooMany(over.id.to_string()));
        }
        hooks.sort_by_key(|hook| hook.priority);
        let hooks: Vec<Arc<Hook>> = hooks.into_iter().map(Arc::new).collect();
        let mut by_kind: BTreeMap<EventKind, Vec<Arc<Hook>>> = BTreeMap::new();
        for (at, hook) in hooks.iter().enumerate() {
            if hooks.iter().take(at).any(|earlier| earlier.id == hook.id) {
                return Err(RegisterError::Duplicate(hook.id.to_string()));
            }
            for kind in &hook.on {
                let of_kind = by_kind.entry(*kind).or_default();
                if of_kind.len() == MAX_HOOKS_PER_EVENT {
                    return Err(RegisterError::TooManyOn(hook.id.to_string(), *kind));
                }
                of_kind.push(Arc::clone(hook));
            }
        }
        Ok(Self { name, hooks, by_kind, judge })
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

    /// The rules.
    pub fn judge(&self) -> &dyn Judge {
        self.judge.as_ref()
    }
}

// === impl EngineBuilder ===

impl EngineBuilder {
    /// Names the configuration in records.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Judges by these rules.
    #[must_use]
    pub fn judge(mut self, judge: impl Judge + 'static) -> Self {
        self.judge = Arc::new(judge);
        self
    }

    /// Records here.
    #[must_use]
    pub fn recorder(mut self, recorder: impl Recorder + 'static) -> Self {
        self.recorder = Arc::new(recorder);
        self
    }

    /// Adds hooks.
    #[must_use]
    pub fn hooks(mut self, hooks: impl IntoIterator<Item = Hook>) -> Self {
        self.hooks.extend(hooks);
        self
    }

    /// Starts an in-process hook for this kind of event; [`HookBuilder::run`] finishes it.
    pub fn on(self, kind: EventKind) -> HookBuilder {
        let id = format!("{kind}-{}", self.hooks.len() + 1);
        let hook = Hook {
            id: id.into(),
            on: vec![kind],
            matcher: Matcher::Any,
            priority: 0,
            timeout: Duration::from_secs(5),
            fail: Fail::Open,
            runner: Runner::InProcess(Arc::new(|_| Box::pin(async { Finding::silent(Origin::Engine) }))),
        };
        HookBuilder { engine: self, hook }
    }

    /// The engine.
    pub fn build(self) -> Result<Engine, RegisterError> {
        let generation = Generation::new(self.name, self.hooks, self.judge)?;
        Ok(Engine { generation: ArcSwap::from_pointee(generation), recorder: self.recorder })
    }
}

// === impl HookBuilder ===

impl HookBuilder {
    /// Gives the hook an id of its own.
    #[must_use]
    pub fn id(mut self, id: &str) -> Self {
        self.hook.id = id.into();
        self
    }

    /// Only for tools like this: `Bash`, `Write|Edit`, `*`.
    #[must_use]
    pub fn matching(mut self, matcher: &str) -> Self {
        self.hook.matcher = Matcher::parse(matcher);
        self
    }

    /// Lower numbers come first; 0 unless said.
    #[must_use]
    pub fn priority(mut self, priority: i32) -> Self {
        self.hook.priority = priority;
        self
    }

    /// How long it may take; 5 s unless said.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.hook.timeout = timeout;
        self
    }

    /// What its failure means; open unless said.
    #[must_use]
    pub fn fail(mut self, fail: Fail) -> Self {
        self.hook.fail = fail;
        self
    }

    /// What it does. The finding's `by` is set to the hook, whatever the closure says.
    #[must_use]
    pub fn run<F, R>(mut self, f: F) -> EngineBuilder
    where
        F: Fn(Arc<Event>) -> R + Send + Sync + 'static,
        R: Future<Output = Finding> + Send + 'static,
    {
        self.hook.runner = Runner::InProcess(Arc::new(move |event| Box::pin(f(event))));
        self.engine.hooks.push(self.hook);
        self.engine
    }
}
