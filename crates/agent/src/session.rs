// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A session: what the agent is made of, and what it remembers.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::json;
use tenterhook_event::{EventId, EventKind, Timestamp};

use crate::permission::{Ask, PermissionMode};
use crate::provider::{Message, Provider, ToolCall, Usage};
use crate::tell::Told;
use crate::tools::{SubagentKind, Toolbox};
use crate::turn::Ended;
use crate::watch::{Moment, Watch};
use crate::{Cancel, Fire, call, permission};

/// How many tool names are remembered.
const RECENT: usize = 10;
/// How many tools may be asked for from outside at once. A hook that calls the tool it is called about
/// comes to an end here.
const OUTSIDE: usize = 8;

/// Mints an id and reads the clock.
pub type Mint = dyn Fn() -> (EventId, Timestamp) + Send + Sync;
/// What an answer of a model costs, in dollars, where that is known.
pub type Prices = dyn Fn(&str, &Usage) -> Option<f64> + Send + Sync;

/// What a session works with. Many sessions may share one.
pub struct Agent {
    /// Where everything is told and decided.
    pub fire: Arc<dyn Fire>,
    /// The model.
    pub provider: Arc<dyn Provider>,
    /// What it can do.
    pub tools: Toolbox,
    /// The subagents it may start.
    pub subagents: Vec<SubagentKind>,
    /// Who says yes or no.
    pub ask: Arc<dyn Ask>,
    /// Who looks on.
    pub watch: Arc<dyn Watch>,
    /// Ids and times.
    pub mint: Arc<Mint>,
    /// What it costs, where that is known.
    pub prices: Option<Arc<Prices>>,
    /// Everything else.
    pub settings: Settings,
}

/// How an agent works.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What events call it: `tenterhook-agent`.
    pub source: String,
    /// The model.
    pub model: String,
    /// What the model is told before everything else.
    pub system: Option<String>,
    /// Where it works.
    pub cwd: PathBuf,
    /// The root of the project.
    pub project: Option<String>,
    /// The account it runs under.
    pub user: Option<String>,
    /// What it may do without asking.
    pub mode: PermissionMode,
    /// How much the model may answer at once.
    pub max_tokens: u32,
    /// How freely it answers.
    pub temperature: Option<f64>,
    /// How many tokens fit.
    pub context_window: u64,
    /// From which part of it on there is a warning, 0 to 1.
    pub warn_at: f64,
    /// From which part on the conversation is summarised, 0 to 1.
    pub compact_at: f64,
    /// How often the model is asked for one prompt.
    pub max_turns: u32,
}

/// One conversation. A subagent has one of its own, under the same id.
pub struct Session {
    pub(crate) agent: Arc<Agent>,
    pub(crate) id: String,
    pub(crate) who: Option<Who>,
    state: Mutex<State>,
    /// Held during a turn: one at a time.
    pub(crate) turn: tokio::sync::Mutex<()>,
    outside: AtomicUsize,
}

/// Which subagent it is.
#[derive(Debug, Clone)]
pub(crate) struct Who {
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) parent: String,
}

/// What a session remembers.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) messages: Vec<Message>,
    /// The tools that ran last, the latest last.
    pub(crate) recent: VecDeque<String>,
    pub(crate) usage: Usage,
    pub(crate) cost: Option<f64>,
    /// How full the context was when the model last said so.
    pub(crate) context_tokens: u64,
    pub(crate) warned: bool,
    /// What the model is to be told with the next message.
    pub(crate) pending: Vec<String>,
    pub(crate) turns: u32,
    pub(crate) turn_id: Option<String>,
    pub(crate) prompt: String,
    pub(crate) subagents: u32,
    pub(crate) outside: u32,
}

impl Settings {
    /// A careful agent: it asks before it changes anything.
    pub fn new(model: impl Into<String>, cwd: impl Into<PathBuf>) -> Self {
        Self {
            source: "tenterhook-agent".to_owned(),
            model: model.into(),
            system: None,
            cwd: cwd.into(),
            project: None,
            user: None,
            mode: PermissionMode::Default,
            max_tokens: 8192,
            temperature: None,
            context_window: 200_000,
            warn_at: 0.8,
            compact_at: 0.92,
            max_turns: 100,
        }
    }
}

impl Session {
    /// Begins a session. `source` says how: `startup`, `resume`, `clear`.
    pub async fn start(
        agent: Arc<Agent>,
        id: impl Into<String>,
        source: &str,
        cancel: &Cancel,
    ) -> Result<Self, Ended> {
        let session = Self::of(agent, id.into(), None);
        let settings = &session.agent.settings;
        session.watch(Moment::SessionStart { session: session.id.clone(), model: settings.model.clone() });
        let fields = json!({"source": source, "context": session.context(), "model": session.model_config()});
        let outcome = session.tell(Told::new(EventKind::SessionStart, fields), cancel).await?;
        if let Some(reason) = permission::objection(&session, &outcome, "the session", cancel).await? {
            return Err(Ended::Blocked { reason });
        }
        session.remember(&outcome);
        Ok(session)
    }

    /// Ends it. Nobody can object.
    pub async fn end(&self, reason: &str) -> Result<(), Ended> {
        let fields = json!({"reason": reason, "context": self.context()});
        let told = self.tell_only(Told::new(EventKind::SessionEnd, fields), &Cancel::new()).await;
        self.watch(Moment::SessionEnd {
            reason: reason.to_owned(),
            usage: self.usage(),
            cost: self.state().cost,
        });
        told.map(drop)
    }

    /// Runs one tool from outside a turn, past the same hooks and rules as when the model asks for it.
    pub async fn execute_tool(
        &self,
        name: &str,
        args: serde_json::Value,
        cancel: &Cancel,
    ) -> Result<call::Result, Ended> {
        let _room = Room::take(&self.outside).ok_or_else(|| Ended::Blocked {
            reason: format!("{OUTSIDE} tools are under way already; does a hook call itself?"),
        })?;
        let number = {
            let mut state = self.state();
            state.outside += 1;
            state.outside
        };
        let call = ToolCall { id: format!("outside_{number}"), name: name.to_owned(), args };
        call::run(self, &call, None, cancel).await
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What it cost so far, in tokens.
    pub fn usage(&self) -> Usage {
        self.state().usage
    }

    pub(crate) fn of(agent: Arc<Agent>, id: String, who: Option<Who>) -> Self {
        let (state, turn) = (Mutex::default(), tokio::sync::Mutex::new(()));
        Self { agent, id, who, state, turn, outside: AtomicUsize::new(0) }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells whoever looks on.
    pub(crate) fn watch(&self, moment: Moment) {
        self.agent.watch.see(self.who.as_ref().map(|who| who.kind.as_str()), moment);
    }

    /// Keeps what the model should know until there is a message to say it with.
    pub(crate) fn remember(&self, outcome: &tenterhook_event::Outcome) {
        self.state().pending.extend(outcome.context_text());
    }

    /// A tool ran.
    pub(crate) fn ran(&self, tool: &str) {
        let recent = &mut self.state().recent;
        recent.push_back(tool.to_owned());
        if recent.len() > RECENT {
            recent.pop_front();
        }
    }
}

/// A place among the tools that are asked for from outside.
struct Room<'a>(&'a AtomicUsize);

impl<'a> Room<'a> {
    fn take(count: &'a AtomicUsize) -> Option<Self> {
        let before = count.fetch_add(1, Ordering::AcqRel);
        let room = Self(count);
        (before < OUTSIDE).then_some(room)
    }
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}
