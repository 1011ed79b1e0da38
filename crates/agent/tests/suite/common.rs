// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A session that a test looks at from every side.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use tempfile::TempDir;
use tenterhook_agent::provider::{
    Delta, Message, ModelReply, ModelRequest, Provider, ProviderError, Scripted,
};
use tenterhook_agent::tools::{SubagentKind, Toolbox};
use tenterhook_agent::{
    Agent, Answer, Ask, Cancel, Ended, Fire, FireError, Moment, Question, Session, Settings, Watch,
};
use tenterhook_engine::{Engine, Hook};
use tenterhook_event::{Call, EventId, EventKind, Outcome, Timestamp};

/// What a session is told to do, and everything it did.
pub(crate) struct Test {
    pub(crate) dir: TempDir,
    pub(crate) seen: Arc<Seen>,
    pub(crate) session: Session,
}

/// Everything a session did.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) calls: Mutex<Vec<Call>>,
    pub(crate) outcomes: Mutex<Vec<Outcome>>,
    pub(crate) requests: Mutex<Vec<ModelRequest>>,
    pub(crate) moments: Mutex<Vec<Moment>>,
    pub(crate) questions: Mutex<Vec<Question>>,
    answers: Mutex<VecDeque<Answer>>,
    clock: AtomicU64,
}

struct Real {
    engine: Engine,
    seen: Arc<Seen>,
}

impl Fire for Real {
    fn fire(&self, call: Call) -> BoxFuture<'_, Result<Outcome, FireError>> {
        Box::pin(async move {
            let outcome = self.engine.fire(&call).await;
            self.seen.calls.lock().unwrap().push(call);
            self.seen.outcomes.lock().unwrap().push(outcome.clone());
            Ok(outcome)
        })
    }
}

struct Looking {
    script: Scripted,
    seen: Arc<Seen>,
}

impl Provider for Looking {
    fn name(&self) -> &'static str {
        self.script.name()
    }

    fn generate<'a>(
        &'a self,
        request: &'a ModelRequest,
        deltas: &'a mut (dyn FnMut(Delta) + Send),
        cancel: &'a Cancel,
    ) -> BoxFuture<'a, Result<ModelReply, ProviderError>> {
        self.seen.requests.lock().unwrap().push(request.clone());
        self.script.generate(request, deltas, cancel)
    }
}

impl Watch for Seen {
    fn see(&self, _: Option<&str>, moment: Moment) {
        self.moments.lock().unwrap().push(moment);
    }
}

impl Ask for Seen {
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        self.questions.lock().unwrap().push(question.clone());
        let answer = self.answers.lock().unwrap().pop_front().unwrap_or(Answer::Yes);
        Box::pin(std::future::ready(answer))
    }
}

/// Puts a session together.
pub(crate) struct Builder {
    pub(crate) settings: Settings,
    pub(crate) dir: TempDir,
    hooks: Vec<Hook>,
    answers: Vec<Answer>,
    pub(crate) tools: Toolbox,
}

pub(crate) fn test() -> Builder {
    let dir = tempfile::tempdir().unwrap();
    let mut settings = Settings::new("scripted-1", dir.path());
    settings.system = Some("You are careful.".to_owned());
    settings.project = Some(dir.path().display().to_string());
    settings.user = Some("dev".to_owned());
    Builder { settings, dir, hooks: Vec::new(), answers: Vec::new(), tools: Toolbox::own() }
}

impl Builder {
    pub(crate) fn hook(mut self, hook: Hook) -> Self {
        self.hooks.push(hook);
        self
    }

    pub(crate) fn answers(mut self, answers: impl IntoIterator<Item = Answer>) -> Self {
        self.answers.extend(answers);
        self
    }

    pub(crate) fn set(mut self, set: impl FnOnce(&mut Settings)) -> Self {
        set(&mut self.settings);
        self
    }

    pub(crate) fn agent(self, script: &str) -> (TempDir, Arc<Seen>, Arc<Agent>) {
        let Self { settings, dir, hooks, answers, tools } = self;
        let seen = Arc::new(Seen { answers: Mutex::new(answers.into()), ..Seen::default() });
        let engine = Engine::builder().hooks(hooks).build().unwrap();
        let script = Scripted::parse("script.yaml", script).unwrap();
        let clock = Arc::clone(&seen);
        let agent = Agent {
            fire: Arc::new(Real { engine, seen: Arc::clone(&seen) }),
            provider: Arc::new(Looking { script, seen: Arc::clone(&seen) }),
            tools,
            subagents: vec![SubagentKind::general()],
            ask: Arc::clone(&seen) as Arc<dyn Ask>,
            watch: Arc::clone(&seen) as Arc<dyn Watch>,
            mint: Arc::new(move || {
                let tick = clock.clock.fetch_add(1, Ordering::Relaxed);
                (EventId::from_parts(tick, u128::from(tick)), Timestamp::from_unix_ms(tick))
            }),
            prices: None,
            settings,
        };
        (dir, seen, Arc::new(agent))
    }

    pub(crate) async fn start(self, script: &str) -> Result<Test, Ended> {
        let (dir, seen, agent) = self.agent(script);
        let session = Session::start(agent, "s1", "startup", &Cancel::new()).await?;
        Ok(Test { dir, seen, session })
    }
}

impl Test {
    pub(crate) async fn prompt(&self, text: &str) -> Result<String, Ended> {
        self.session.prompt(text, &Cancel::new()).await
    }
}

impl Seen {
    pub(crate) fn kinds(&self) -> Vec<EventKind> {
        self.calls.lock().unwrap().iter().map(|call| call.event.event).collect()
    }

    pub(crate) fn of(&self, kind: EventKind) -> Vec<Call> {
        self.calls.lock().unwrap().iter().filter(|call| call.event.event == kind).cloned().collect()
    }

    pub(crate) fn last_messages(&self) -> Vec<Message> {
        self.requests.lock().unwrap().last().unwrap().messages.clone()
    }
}
