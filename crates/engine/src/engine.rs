// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The engine: runs events through the pipeline. Its configuration can be replaced at any time.

use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use tenterhook_event::{Event, EventKind, HookCall, Outcome};
use tenterhook_harness::dialect::{self, EventMatcher, InterpretedOutput};

use crate::generation::{Generation, HookLimits, RegisterError};
use crate::{
    FailMode, Hook, HookBackend, HookCondition, HookId, Judge, NoJudge, NoRecorder, Recorder, flow, response,
};

/// Default time limit of an in-process hook.
const DEFAULT_HOOK_TIMEOUT: Duration = Duration::from_secs(5);

/// Decides events: selects and runs hooks, evaluates rules, folds all findings and records the outcome.
pub struct Engine {
    generation: ArcSwap<Generation>,
    /// Held while a new generation is derived from the current one, so that two concurrent changes do not overwrite
    /// each other.
    change_lock: Mutex<()>,
    change_count: AtomicU64,
    recorder: Arc<dyn Recorder>,
}

/// Builds an [`Engine`].
pub struct EngineBuilder {
    name: String,
    hooks: Vec<Hook>,
    limits: HookLimits,
    judge: Arc<dyn Judge>,
    recorder: Arc<dyn Recorder>,
}

/// Builds an in-process hook; created by [`EngineBuilder::on`] or [`Hook::on`].
pub struct HookBuilder<T> {
    hook: Hook,
    finish: Box<dyn FnOnce(Hook) -> T>,
}

// === impl Engine ===

impl Engine {
    /// Starts building an engine.
    pub fn builder() -> EngineBuilder {
        EngineBuilder {
            name: "unnamed".to_owned(),
            hooks: Vec::new(),
            limits: HookLimits::default(),
            judge: Arc::new(NoJudge),
            recorder: Arc::new(NoRecorder),
        }
    }

    /// Runs one call through the pipeline and returns its outcome. Requires a tokio runtime with time enabled.
    pub async fn fire(&self, call: &HookCall) -> Outcome {
        let generation = self.generation.load_full();
        flow::fire(&generation, self.recorder.as_ref(), call).await
    }

    /// Runs one call through the pipeline on the calling thread, without a runtime. Returns `None` if a hook has to run
    /// or the recorder needs a runtime; use [`Engine::fire`] then.
    pub fn fire_now(&self, call: &HookCall) -> Option<Outcome> {
        flow::fire_now(&self.generation.load(), self.recorder.as_ref(), call)
    }

    /// Returns the current generation: the configuration of hooks, limits and rules.
    pub fn generation(&self) -> Arc<Generation> {
        self.generation.load_full()
    }

    /// Replaces the configuration. Calls in progress finish with the configuration they started with.
    pub fn reload(&self, generation: Generation) {
        let _lock = self.change_lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.generation.store(Arc::new(generation));
    }

    /// Adds a hook, which runs from the next event on.
    pub fn register(&self, hook: Hook) -> Result<HookId, RegisterError> {
        let id = Arc::clone(&hook.id);
        self.change(|generation| generation.with_hook(hook)).map(|()| id)
    }

    /// Removes a hook. It does not run for later events.
    pub fn unregister(&self, id: &str) -> Result<(), RegisterError> {
        self.change(|generation| generation.without_hook(id))
    }

    /// Enables a hook.
    pub fn enable(&self, id: &str) -> Result<(), RegisterError> {
        self.change(|generation| generation.with_hook_enabled(id, true))
    }

    /// Disables a hook without unregistering it.
    pub fn disable(&self, id: &str) -> Result<(), RegisterError> {
        self.change(|generation| generation.with_hook_enabled(id, false))
    }

    /// Returns all hooks in the order in which they run.
    pub fn list(&self) -> Vec<Arc<Hook>> {
        self.generation.load().all_hooks().to_vec()
    }

    fn change(
        &self,
        make: impl FnOnce(Generation) -> Result<Generation, RegisterError>,
    ) -> Result<(), RegisterError> {
        let _lock = self.change_lock.lock().unwrap_or_else(PoisonError::into_inner);
        let current = self.generation.load_full();
        let base = current.name().split('+').next().unwrap_or_default().to_owned();
        let number = self.change_count.fetch_add(1, Ordering::Relaxed) + 1;
        let next = make(Generation::clone(&current))?.with_name(format!("{base}+{number}"));
        self.generation.store(Arc::new(next));
        Ok(())
    }
}

// === impl EngineBuilder ===

impl EngineBuilder {
    /// Sets the name that records use for the configuration.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the limits on the number of hooks and on their run time.
    #[must_use]
    pub fn limits(mut self, limits: HookLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the judge, which evaluates the rules.
    #[must_use]
    pub fn judge(mut self, judge: impl Judge + 'static) -> Self {
        self.judge = Arc::new(judge);
        self
    }

    /// Sets the recorder, which stores every decision.
    #[must_use]
    pub fn recorder(mut self, recorder: impl Recorder + 'static) -> Self {
        self.recorder = Arc::new(recorder);
        self
    }

    /// Adds hooks that were built before.
    #[must_use]
    pub fn hooks(mut self, hooks: impl IntoIterator<Item = Hook>) -> Self {
        self.hooks.extend(hooks);
        self
    }

    /// Starts building an in-process hook for this kind of event; [`HookBuilder::run`] adds it.
    pub fn on(mut self, kind: EventKind) -> HookBuilder<Self> {
        let hook = new_hook(format!("{kind}-{}", self.hooks.len() + 1), kind);
        let finish = Box::new(move |hook| {
            self.hooks.push(hook);
            self
        });
        HookBuilder { hook, finish }
    }

    /// Builds the engine. Returns an error if hook ids are not unique or a limit is exceeded.
    pub fn build(self) -> Result<Engine, RegisterError> {
        let generation = Generation::new(self.name, self.hooks, self.limits, self.judge)?;
        Ok(Engine {
            generation: ArcSwap::from_pointee(generation),
            change_lock: Mutex::new(()),
            change_count: AtomicU64::new(0),
            recorder: self.recorder,
        })
    }
}

// === impl Hook ===

impl Hook {
    /// Starts building an in-process hook for [`Engine::register`].
    pub fn on(id: &str, kind: EventKind) -> HookBuilder<Self> {
        HookBuilder { hook: new_hook(id.to_owned(), kind), finish: Box::new(|hook| hook) }
    }
}

fn new_hook(id: String, kind: EventKind) -> Hook {
    Hook {
        id: id.into(),
        on: vec![kind],
        matcher: EventMatcher::all(),
        only_if: None,
        when: None,
        priority: 0,
        chain: None,
        timeout: DEFAULT_HOOK_TIMEOUT,
        fail: FailMode::Open,
        observes: false,
        enabled: true,
        runner: HookBackend::InProcess(Arc::new(|_| Box::pin(async { response::none().into() }))),
    }
}

// === impl HookBuilder ===

impl<T> HookBuilder<T> {
    /// Sets the id of the hook.
    #[must_use]
    pub fn id(mut self, id: &str) -> Self {
        self.hook.id = id.into();
        self
    }

    /// Runs the hook for one more kind of event.
    #[must_use]
    pub fn and_on(mut self, kind: EventKind) -> Self {
        self.hook.on.push(kind);
        self
    }

    /// Runs the hook only for matching tools: `Bash`, `Write|Edit`, `mcp__*`, `/regex/`, `class:shell`, `*`.
    #[must_use]
    pub fn matching(mut self, matcher: &str) -> Self {
        self.hook.matcher = dialect::NATIVE.matcher(Some(matcher)).0;
        self
    }

    /// Runs the hook only if the condition is true.
    #[must_use]
    pub fn when(mut self, condition: impl HookCondition + 'static) -> Self {
        self.hook.when = Some(Arc::new(condition));
        self
    }

    /// Sets the position in the order of hooks; lower numbers run first. The default is 0.
    #[must_use]
    pub fn priority(mut self, priority: i32) -> Self {
        self.hook.priority = priority;
        self
    }

    /// Runs the hook after the earlier hooks of the same chain, with their changes applied.
    #[must_use]
    pub fn chain(mut self, chain: &str) -> Self {
        self.hook.chain = Some(chain.into());
        self
    }

    /// Sets the time limit. The default is 5 s.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.hook.timeout = timeout;
        self
    }

    /// Sets what happens if the hook fails. The default is [`FailMode::Open`].
    #[must_use]
    pub fn fail(mut self, fail: FailMode) -> Self {
        self.hook.fail = fail;
        self
    }

    /// Makes the hook an observer: calls do not wait for it, and its answer is ignored.
    #[must_use]
    pub fn observing(mut self) -> Self {
        self.hook.observes = true;
        self
    }

    /// Sets the hook's function. The module [`response`] builds the answers that the function returns.
    pub fn run<F, R, A>(mut self, f: F) -> T
    where
        F: Fn(Arc<Event>) -> R + Send + Sync + 'static,
        R: Future<Output = A> + Send + 'static,
        A: Into<InterpretedOutput>,
    {
        self.hook.runner = HookBackend::InProcess(Arc::new(move |event| {
            let future = f(event);
            Box::pin(async move { future.await.into() })
        }));
        (self.finish)(self.hook)
    }
}
