// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A session of the agent, with its runtime, settings and state.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::json;
use tenterhook_event::{EventId, EventKind, Timestamp};

use crate::activity::{ActivityObserver, AgentActivity};
use crate::event_draft::EventDraft;
use crate::permission::{PermissionMode, PermissionPrompt};
use crate::provider::{ChatMessage, ModelToolCall, ModelUsage, Provider};
use crate::tools::{SubagentKind, Toolbox};
use crate::turn::TurnError;
use crate::{CancelToken, EventDispatcher, ToolCallResult, permission, tool_call};

/// Maximum number of recently run tools that a session keeps for the `recentTools` field of events.
const RECENT_TOOLS_KEPT: usize = 10;
/// Maximum number of concurrent [`execute_tool`](AgentSession::execute_tool) calls. A hook can call `execute_tool`
/// for the same tool that triggered the hook; this limit ends such a recursion.
const MAX_EXTERNAL_CALLS: usize = 8;

/// Returns a new event id and the current time.
pub type EventIdSource = dyn Fn() -> (EventId, Timestamp) + Send + Sync;
/// Returns the cost of a reply in US dollars for a model and its usage; `None` if the prices are not known.
pub type PriceLookup = dyn Fn(&str, &ModelUsage) -> Option<f64> + Send + Sync;

/// Everything a session needs to run. Sessions can share one runtime.
pub struct AgentRuntime {
    /// Receives every event and decides it.
    pub dispatcher: Arc<dyn EventDispatcher>,
    /// Calls the model.
    pub provider: Arc<dyn Provider>,
    /// Tools of the agent.
    pub tools: Toolbox,
    /// Types of subagents that the agent may start.
    pub subagents: Vec<SubagentKind>,
    /// Asks the user for permission.
    pub permission_prompt: Arc<dyn PermissionPrompt>,
    /// Receives the activity of the session.
    pub observer: Arc<dyn ActivityObserver>,
    /// Source of event ids and times.
    pub event_ids: Arc<EventIdSource>,
    /// Prices of the model, if known.
    pub prices: Option<Arc<PriceLookup>>,
    /// Settings of the agent.
    pub settings: AgentSettings,
}

/// Settings of an agent.
#[derive(Debug, Clone)]
pub struct AgentSettings {
    /// Value of `source` in events: `tenterhook-agent`.
    pub source: String,
    /// Name of the model.
    pub model: String,
    /// System prompt, if one is set.
    pub system: Option<String>,
    /// Working directory of the agent.
    pub cwd: PathBuf,
    /// Root directory of the project.
    pub project: Option<String>,
    /// User account that the agent runs under.
    pub user: Option<String>,
    /// Permission mode in which the session starts.
    pub mode: PermissionMode,
    /// Maximum number of tokens in one reply.
    pub max_tokens: u32,
    /// Sampling temperature; `None` for the provider's default.
    pub temperature: Option<f64>,
    /// Size of the context window in tokens.
    pub context_window: u64,
    /// Fraction of the context window at which the session warns, from 0 to 1.
    pub warn_at: f64,
    /// Fraction of the context window at which the conversation is compacted, from 0 to 1.
    pub compact_at: f64,
    /// Maximum number of model calls for one prompt.
    pub max_turns: u32,
}

/// One conversation. A subagent has its own conversation under the same session id.
pub struct AgentSession {
    pub(crate) agent: Arc<AgentRuntime>,
    pub(crate) id: String,
    pub(crate) identity: Option<SubagentIdentity>,
    state: Mutex<AgentSessionState>,
    /// Lock held during a turn, so that turns run one at a time.
    pub(crate) turn: tokio::sync::Mutex<()>,
    external_calls: AtomicUsize,
}

/// Identity of a subagent.
#[derive(Debug, Clone)]
pub(crate) struct SubagentIdentity {
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) parent: String,
}

/// Mutable state of a session.
#[derive(Debug, Default)]
pub(crate) struct AgentSessionState {
    pub(crate) messages: Vec<ChatMessage>,
    /// Names of the tools that ran last, most recent last.
    pub(crate) recent: VecDeque<String>,
    pub(crate) usage: ModelUsage,
    pub(crate) cost: Option<f64>,
    /// Context size in tokens, as last reported by the model; 0 if unknown.
    pub(crate) context_tokens: u64,
    pub(crate) warned: bool,
    /// Context from hooks that is sent to the model with the next message.
    pub(crate) pending: Vec<String>,
    pub(crate) turns: u32,
    pub(crate) turn_id: Option<String>,
    pub(crate) prompt: String,
    pub(crate) subagents: u32,
    pub(crate) external_call_count: u32,
}

impl AgentSettings {
    /// Creates default settings, with which the agent asks before every change.
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

impl AgentSession {
    /// Starts a session. `source` is `startup`, `resume` or `clear`.
    pub async fn start(
        agent: Arc<AgentRuntime>,
        id: impl Into<String>,
        source: &str,
        cancel: &CancelToken,
    ) -> Result<Self, TurnError> {
        let session = Self::new(agent, id.into(), None);
        let settings = &session.agent.settings;
        session.report(AgentActivity::SessionStart {
            session: session.id.clone(),
            model: settings.model.clone(),
        });
        let fields =
            json!({"source": source, "context": session.context_json(), "model": session.model_config()});
        let outcome = session.fire(EventDraft::new(EventKind::SessionStart, fields), cancel).await?;
        if let Some(reason) = permission::check_objection(&session, &outcome, "the session", cancel).await? {
            return Err(TurnError::Blocked { reason });
        }
        session.queue_context(&outcome);
        Ok(session)
    }

    /// Ends the session. Hooks cannot prevent the end.
    pub async fn end(&self, reason: &str) -> Result<(), TurnError> {
        let fields = json!({"reason": reason, "context": self.context_json()});
        let fired =
            self.fire_unchecked(EventDraft::new(EventKind::SessionEnd, fields), &CancelToken::new()).await;
        self.report(AgentActivity::SessionEnd {
            reason: reason.to_owned(),
            usage: self.usage(),
            cost: self.state().cost,
        });
        fired.map(drop)
    }

    /// Runs one tool outside a turn. The same hooks and rules apply as to a call by the model.
    pub async fn execute_tool(
        &self,
        name: &str,
        args: serde_json::Value,
        cancel: &CancelToken,
    ) -> Result<ToolCallResult, TurnError> {
        let _slot = ExternalCallSlot::acquire(&self.external_calls).ok_or_else(|| TurnError::Blocked {
            reason: format!(
                "{MAX_EXTERNAL_CALLS} tool calls are already running; check whether a hook calls itself"
            ),
        })?;
        let number = {
            let mut state = self.state();
            state.external_call_count += 1;
            state.external_call_count
        };
        let call = ModelToolCall { id: format!("outside_{number}"), name: name.to_owned(), args };
        tool_call::run_tool_call(self, &call, None, cancel).await
    }

    /// Returns the id of the session.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the number of tokens used so far.
    pub fn usage(&self) -> ModelUsage {
        self.state().usage
    }

    pub(crate) fn new(agent: Arc<AgentRuntime>, id: String, identity: Option<SubagentIdentity>) -> Self {
        let (state, turn) = (Mutex::default(), tokio::sync::Mutex::new(()));
        Self { agent, id, identity, state, turn, external_calls: AtomicUsize::new(0) }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, AgentSessionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reports an activity to the observer.
    pub(crate) fn report(&self, activity: AgentActivity) {
        self.agent.observer.observe(self.identity.as_ref().map(|identity| identity.kind.as_str()), activity);
    }

    /// Queues the context from hooks for the next message to the model.
    pub(crate) fn queue_context(&self, outcome: &tenterhook_event::Outcome) {
        self.state().pending.extend(outcome.context_text());
    }

    /// Adds a tool to the recently run tools.
    pub(crate) fn record_tool_run(&self, tool: &str) {
        let recent = &mut self.state().recent;
        recent.push_back(tool.to_owned());
        if recent.len() > RECENT_TOOLS_KEPT {
            recent.pop_front();
        }
    }
}

/// A slot for one concurrent external tool call. Dropping it frees the slot.
struct ExternalCallSlot<'a>(&'a AtomicUsize);

impl<'a> ExternalCallSlot<'a> {
    fn acquire(count: &'a AtomicUsize) -> Option<Self> {
        let before = count.fetch_add(1, Ordering::AcqRel);
        let slot = Self(count);
        (before < MAX_EXTERNAL_CALLS).then_some(slot)
    }
}

impl Drop for ExternalCallSlot<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}
