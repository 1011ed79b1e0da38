// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A session for tests that records everything it does.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use tempfile::TempDir;
use tenterhook_agent::provider::{
    ChatMessage, ModelReply, ModelRequest, Provider, ProviderError, ReplyDelta, ScriptedProvider,
};
use tenterhook_agent::tools::{SubagentKind, Toolbox};
use tenterhook_agent::{
    ActivityObserver, AgentActivity, AgentRuntime, AgentSession, AgentSettings, CancelToken, DispatchError,
    EventDispatcher, PermissionAnswer, PermissionPrompt, PermissionQuestion, TurnError,
};
use tenterhook_engine::{Engine, Hook};
use tenterhook_event::{EventId, EventKind, HookCall, Outcome, Timestamp};

/// A session, its directory and its log.
pub(crate) struct TestSession {
    pub(crate) dir: TempDir,
    pub(crate) log: Arc<SessionLog>,
    pub(crate) session: AgentSession,
}

/// Everything that a session did.
#[derive(Default)]
pub(crate) struct SessionLog {
    pub(crate) calls: Mutex<Vec<HookCall>>,
    pub(crate) outcomes: Mutex<Vec<Outcome>>,
    pub(crate) requests: Mutex<Vec<ModelRequest>>,
    pub(crate) activities: Mutex<Vec<AgentActivity>>,
    pub(crate) questions: Mutex<Vec<PermissionQuestion>>,
    answers: Mutex<VecDeque<PermissionAnswer>>,
    clock: AtomicU64,
}

struct EngineDispatcher {
    engine: Engine,
    log: Arc<SessionLog>,
}

impl EventDispatcher for EngineDispatcher {
    fn fire(&self, call: HookCall) -> BoxFuture<'_, Result<Outcome, DispatchError>> {
        Box::pin(async move {
            let outcome = self.engine.fire(&call).await;
            self.log.calls.lock().unwrap().push(call);
            self.log.outcomes.lock().unwrap().push(outcome.clone());
            Ok(outcome)
        })
    }
}

struct RecordingProvider {
    script: ScriptedProvider,
    log: Arc<SessionLog>,
}

impl Provider for RecordingProvider {
    fn name(&self) -> &'static str {
        self.script.name()
    }

    fn generate<'a>(
        &'a self,
        request: &'a ModelRequest,
        deltas: &'a mut (dyn FnMut(ReplyDelta) + Send),
        cancel: &'a CancelToken,
    ) -> BoxFuture<'a, Result<ModelReply, ProviderError>> {
        self.log.requests.lock().unwrap().push(request.clone());
        self.script.generate(request, deltas, cancel)
    }
}

impl ActivityObserver for SessionLog {
    fn observe(&self, _: Option<&str>, activity: AgentActivity) {
        self.activities.lock().unwrap().push(activity);
    }
}

impl PermissionPrompt for SessionLog {
    fn ask<'a>(&'a self, question: &'a PermissionQuestion) -> BoxFuture<'a, PermissionAnswer> {
        self.questions.lock().unwrap().push(question.clone());
        let answer = self.answers.lock().unwrap().pop_front().unwrap_or(PermissionAnswer::Yes);
        Box::pin(std::future::ready(answer))
    }
}

/// Builds a test session.
pub(crate) struct TestBuilder {
    pub(crate) settings: AgentSettings,
    pub(crate) dir: TempDir,
    hooks: Vec<Hook>,
    answers: Vec<PermissionAnswer>,
    pub(crate) tools: Toolbox,
}

pub(crate) fn test() -> TestBuilder {
    let dir = tempfile::tempdir().unwrap();
    let mut settings = AgentSettings::new("scripted-1", dir.path());
    settings.system = Some("You are careful.".to_owned());
    settings.project = Some(dir.path().display().to_string());
    settings.user = Some("dev".to_owned());
    TestBuilder { settings, dir, hooks: Vec::new(), answers: Vec::new(), tools: Toolbox::builtin() }
}

impl TestBuilder {
    pub(crate) fn hook(mut self, hook: Hook) -> Self {
        self.hooks.push(hook);
        self
    }

    pub(crate) fn answers(mut self, answers: impl IntoIterator<Item = PermissionAnswer>) -> Self {
        self.answers.extend(answers);
        self
    }

    pub(crate) fn set(mut self, set: impl FnOnce(&mut AgentSettings)) -> Self {
        set(&mut self.settings);
        self
    }

    pub(crate) fn agent(self, script: &str) -> (TempDir, Arc<SessionLog>, Arc<AgentRuntime>) {
        let Self { settings, dir, hooks, answers, tools } = self;
        let log = Arc::new(SessionLog { answers: Mutex::new(answers.into()), ..SessionLog::default() });
        let engine = Engine::builder().hooks(hooks).build().unwrap();
        let script = ScriptedProvider::parse("script.yaml", script).unwrap();
        let clock = Arc::clone(&log);
        let agent = AgentRuntime {
            dispatcher: Arc::new(EngineDispatcher { engine, log: Arc::clone(&log) }),
            provider: Arc::new(RecordingProvider { script, log: Arc::clone(&log) }),
            tools,
            subagents: vec![SubagentKind::general()],
            permission_prompt: Arc::clone(&log) as Arc<dyn PermissionPrompt>,
            observer: Arc::clone(&log) as Arc<dyn ActivityObserver>,
            event_ids: Arc::new(move || {
                let tick = clock.clock.fetch_add(1, Ordering::Relaxed);
                (EventId::from_parts(tick, u128::from(tick)), Timestamp::from_unix_ms(tick))
            }),
            prices: None,
            settings,
        };
        (dir, log, Arc::new(agent))
    }

    pub(crate) async fn start(self, script: &str) -> Result<TestSession, TurnError> {
        let (dir, log, agent) = self.agent(script);
        let session = AgentSession::start(agent, "s1", "startup", &CancelToken::new()).await?;
        Ok(TestSession { dir, log, session })
    }
}

impl TestSession {
    pub(crate) async fn prompt(&self, text: &str) -> Result<String, TurnError> {
        self.session.prompt(text, &CancelToken::new()).await
    }
}

impl SessionLog {
    pub(crate) fn kinds(&self) -> Vec<EventKind> {
        self.calls.lock().unwrap().iter().map(|call| call.event.event).collect()
    }

    pub(crate) fn calls_of(&self, kind: EventKind) -> Vec<HookCall> {
        self.calls.lock().unwrap().iter().filter(|call| call.event.event == kind).cloned().collect()
    }

    pub(crate) fn last_messages(&self) -> Vec<ChatMessage> {
        self.requests.lock().unwrap().last().unwrap().messages.clone()
    }
}
