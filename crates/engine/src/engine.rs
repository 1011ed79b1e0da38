// SPDX-License-Identifier: Apache-2.0 OR MIT

//! An engine: a configuration that can be exchanged, and the road that events take under it.

use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use tenterhook_event::{Call, Event, EventKind, Outcome};
use tenterhook_harness::dialect::{self, Heard, Matcher};

use crate::generation::{Generation, Limits, RegisterError};
use crate::{Condition, Fail, Hook, HookId, Judge, NoJudge, NoRecorder, Recorder, Runner, flow, say};

/// Takes events down the road.
pub struct Engine {
    generation: ArcSwap<Generation>,
    /// Held while a new generation is made from the current one, so that no change is lost.
    changing: Mutex<()>,
    changes: AtomicU64,
    recorder: Arc<dyn Recorder>,
}

/// Puts an engine together.
pub struct EngineBuilder {
    name: String,
    hooks: Vec<Hook>,
    limits: Limits,
    judge: Arc<dyn Judge>,
    recorder: Arc<dyn Recorder>,
}

/// Puts one in-process hook together; made by [`EngineBuilder::on`] or [`Hook::on`].
pub struct HookBuilder<T> {
    hook: Hook,
    finish: Box<dyn FnOnce(Hook) -> T>,
}

// === impl Engine ===

impl Engine {
    /// Starts to put an engine together.
    pub fn builder() -> EngineBuilder {
        EngineBuilder {
            name: "unnamed".to_owned(),
            hooks: Vec::new(),
            limits: Limits::default(),
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
        let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        self.generation.store(Arc::new(generation));
    }

    /// Adds a hook, from the next event on.
    pub fn register(&self, hook: Hook) -> Result<HookId, RegisterError> {
        let id = Arc::clone(&hook.id);
        self.change(|generation| generation.with(hook)).map(|()| id)
    }

    /// Takes a hook out, from the next event on.
    pub fn unregister(&self, id: &str) -> Result<(), RegisterError> {
        self.change(|generation| generation.without(id))
    }

    /// Switches a hook on.
    pub fn enable(&self, id: &str) -> Result<(), RegisterError> {
        self.change(|generation| generation.switched(id, true))
    }

    /// Switches a hook off; it stays registered.
    pub fn disable(&self, id: &str) -> Result<(), RegisterError> {
        self.change(|generation| generation.switched(id, false))
    }

    /// Every hook, in the order in which they count.
    pub fn list(&self) -> Vec<Arc<Hook>> {
        self.generation.load().all_hooks().to_vec()
    }

    fn change(
        &self,
        make: impl FnOnce(Generation) -> Result<Generation, RegisterError>,
    ) -> Result<(), RegisterError> {
        let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let current = self.generation.load_full();
        let base = current.name().split('+').next().unwrap_or_default().to_owned();
        let number = self.changes.fetch_add(1, Ordering::Relaxed) + 1;
        let next = make(Generation::clone(&current))?.named(format!("{base}+{number}"));
        self.generation.store(Arc::new(next));
        Ok(())
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

    /// How much there may be of everything.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
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
    pub fn on(mut self, kind: EventKind) -> HookBuilder<Self> {
        let hook = blank(format!("{kind}-{}", self.hooks.len() + 1), kind);
        let finish = Box::new(move |hook| {
            self.hooks.push(hook);
            self
        });
        HookBuilder { hook, finish }
    }

    /// The engine.
    pub fn build(self) -> Result<Engine, RegisterError> {
        let generation = Generation::new(self.name, self.hooks, self.limits, self.judge)?;
        Ok(Engine {
            generation: ArcSwap::from_pointee(generation),
            changing: Mutex::new(()),
            changes: AtomicU64::new(0),
            recorder: self.recorder,
        })
    }
}

// === impl Hook ===

impl Hook {
    /// Starts an in-process hook of its own, for [`Engine::register`].
    pub fn on(id: &str, kind: EventKind) -> HookBuilder<Self> {
        HookBuilder { hook: blank(id.to_owned(), kind), finish: Box::new(|hook| hook) }
    }
}

fn blank(id: String, kind: EventKind) -> Hook {
    Hook {
        id: id.into(),
        on: vec![kind],
        matcher: Matcher::all(),
        only_if: None,
        when: None,
        priority: 0,
        chain: None,
        timeout: Duration::from_secs(5),
        fail: Fail::Open,
        observes: false,
        enabled: true,
        runner: Runner::InProcess(Arc::new(|_| Box::pin(async { say::nothing().into() }))),
    }
}

// === impl HookBuilder ===

impl<T> HookBuilder<T> {
    /// Gives the hook an id of its own.
    #[must_use]
    pub fn id(mut self, id: &str) -> Self {
        self.hook.id = id.into();
        self
    }

    /// For another kind of event as well.
    #[must_use]
    pub fn and_on(mut self, kind: EventKind) -> Self {
        self.hook.on.push(kind);
        self
    }

    /// Only for tools like this: `Bash`, `Write|Edit`, `mcp__*`, `/regex/`, `class:shell`, `*`.
    #[must_use]
    pub fn matching(mut self, matcher: &str) -> Self {
        self.hook.matcher = dialect::NATIVE.matcher(Some(matcher)).0;
        self
    }

    /// Only when this holds.
    #[must_use]
    pub fn when(mut self, condition: impl Condition + 'static) -> Self {
        self.hook.when = Some(Arc::new(condition));
        self
    }

    /// Lower numbers come first; 0 unless said.
    #[must_use]
    pub fn priority(mut self, priority: i32) -> Self {
        self.hook.priority = priority;
        self
    }

    /// Runs after the hooks of the same chain before it, and sees what they changed.
    #[must_use]
    pub fn chain(mut self, chain: &str) -> Self {
        self.hook.chain = Some(chain.into());
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

    /// It only watches: nobody waits for it and nothing it says counts.
    #[must_use]
    pub fn observing(mut self) -> Self {
        self.hook.observes = true;
        self
    }

    /// What it does: see [`say`] for the answers.
    pub fn run<F, R, A>(mut self, f: F) -> T
    where
        F: Fn(Arc<Event>) -> R + Send + Sync + 'static,
        R: Future<Output = A> + Send + 'static,
        A: Into<Heard>,
    {
        self.hook.runner = Runner::InProcess(Arc::new(move |event| {
            let answer = f(event);
            Box::pin(async move { answer.await.into() })
        }));
        (self.finish)(self.hook)
    }
}
