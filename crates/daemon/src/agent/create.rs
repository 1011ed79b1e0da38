// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Creates a session for a program.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tenterhook_agent::tools::{SubagentKind, Toolbox};
use tenterhook_agent::{
    AgentRuntime, AgentSession, AgentSettings, CancelToken, NoPermissionPrompt, PermissionMode,
};
use tenterhook_authority::OWN_AGENT;
use tenterhook_event::{EventId, Timestamp};
use tenterhook_home::call_meta;

use super::agent_pipeline::AgentPipeline;
use super::work::TurnObserver;
use super::{
    AgentCaller, HostedSession, MAX_PROMPT_BYTES, MAX_SESSIONS, MAX_SESSIONS_PER_CLIENT,
    MAX_SESSIONS_PER_PROCESS, call_origin, model,
};
use crate::daemon::Daemon;
use crate::gate::warn_about_unwritten_mark;
use crate::listen::Peer;
use crate::sdk::{ClientId, ProgramRefusal, QuotaHolder, RefusalCode};
use crate::shares::Share;

/// Name of the tool that starts subagents.
const SUBAGENT_TOOL: &str = "Task";

/// What a program asks for when it creates a session.
#[derive(Debug, Default)]
pub(crate) struct SessionRequest {
    pub(crate) cwd: String,
    pub(crate) system: Option<String>,
    /// `ModelConfig` as JSON; empty for a session without a model.
    pub(crate) model: Vec<u8>,
    /// Names of the tools; empty to allow all tools.
    pub(crate) tools: Vec<String>,
    /// Name of the permission mode; empty for the default.
    pub(crate) mode: String,
}

/// A reserved place for a session that is being created. Dropping the value frees the place.
struct ReservedSession<'a> {
    daemon: &'a Daemon,
    id: ClientId,
}

/// Creates a session and returns its id.
pub(crate) async fn create(
    daemon: &Arc<Daemon>,
    asker: &AgentCaller<'_>,
    wanted: SessionRequest,
) -> Result<String, ProgramRefusal> {
    let caller = daemon.admit_agent_caller(asker, "create").await?;
    let (place, share) = ReservedSession::reserve(daemon, asker.id, QuotaHolder::of(&caller, asker.id))?;
    if let Some(length) = wanted.system.as_ref().map(String::len).filter(|length| *length > MAX_PROMPT_BYTES)
    {
        let why = format!("the system prompt has {length} bytes; the limit is {MAX_PROMPT_BYTES}");
        return Err(ProgramRefusal::new(RefusalCode::Limit, why, "shorten it"));
    }
    let mode = parse_mode(&wanted.mode, asker.peer)?;
    let dir = check_directory(&wanted.cwd)?;
    let config = parse_model(&wanted.model)?;
    let model = daemon.hosted.models.select(&config, &dir).await?;
    let (tools, subagents) = select_tools(&wanted.tools)?;
    let mut settings = AgentSettings::new(model.name, dir);
    settings.system = wanted.system;
    settings.user = Some(daemon.user_name(asker.peer));
    settings.mode = mode;
    settings.temperature = config.temperature;
    settings.max_tokens = config.max_tokens.unwrap_or(settings.max_tokens);
    let agent = Arc::new(AgentRuntime {
        dispatcher: Arc::new(AgentPipeline { daemon: Arc::downgrade(daemon) }),
        provider: model.provider,
        tools,
        subagents,
        permission_prompt: Arc::new(NoPermissionPrompt),
        observer: Arc::new(TurnObserver),
        event_ids: id_minter(),
        prices: None,
        settings,
    });
    // Processes that a tool starts belong to a guarded agent.
    if let Ok(own) = i32::try_from(std::process::id()) {
        let remembered = tokio::task::block_in_place(|| daemon.authority.agents.remember(own, OWN_AGENT));
        warn_about_unwritten_mark(remembered);
    }
    let id = call_meta::mint()
        .map_err(|failure| ProgramRefusal::new(RefusalCode::Internal, failure.message, ""))?
        .id;
    let chain = daemon.hosted.chains.chain_of(asker.handling.as_ref(), &daemon.programs.hooks_of(asker.id));
    let cancel = CancelToken::new();
    let name = format!("agent-{id}");
    // Events that other processes send under this session id are not accepted as part of the session.
    tokio::task::block_in_place(|| daemon.claim_session(OWN_AGENT, &name));
    let starting = AgentSession::start(agent, name, "startup", &cancel);
    let session = call_origin::run_caused_by(chain, starting).await.map_err(super::work::refusal)?;
    let id = session.id().to_owned();
    place.fill(&id, HostedSession::new(session, asker.id.clone(), caller.uid, share)).await?;
    Ok(id)
}

impl<'a> ReservedSession<'a> {
    fn reserve(
        daemon: &'a Daemon,
        id: &ClientId,
        holder: QuotaHolder,
    ) -> Result<(Self, Share<QuotaHolder>), ProgramRefusal> {
        let mut state = daemon.hosted.lock();
        if state.closed {
            return Err(ProgramRefusal::new(
                RefusalCode::Overloaded,
                "the daemon is shutting down",
                "try again later",
            ));
        }
        // Sessions that are being created count too, because many may be created at the same time.
        let own = state.sessions.values().filter(|slot| slot.owner == *id).count()
            + state.starting.iter().filter(|starting| *starting == id).count();
        let share =
            if own < MAX_SESSIONS_PER_CLIENT { daemon.hosted.places.try_take(holder, 1) } else { None };
        let Some(share) = share else {
            let why = format!("too many sessions: {own} of this program, {} in all", state.sessions.len());
            let hint = format!(
                "end a session; the limits are {MAX_SESSIONS_PER_CLIENT} per program, {MAX_SESSIONS_PER_PROCESS} per process and {MAX_SESSIONS} in all"
            );
            return Err(ProgramRefusal::new(RefusalCode::Limit, why, &hint));
        };
        state.starting.push(id.clone());
        Ok((Self { daemon, id: id.clone() }, share))
    }

    /// Adds the created session, unless the daemon is shutting down.
    async fn fill(self, id: &str, slot: Arc<HostedSession>) -> Result<(), ProgramRefusal> {
        {
            let mut state = self.daemon.hosted.lock();
            if !state.closed {
                state.sessions.insert(id.to_owned(), slot);
                self.daemon.hosted.begun.notify_one();
                return Ok(());
            }
        }
        super::end::finish(&slot, "shutdown").await;
        Err(ProgramRefusal::new(RefusalCode::Overloaded, "the daemon is shutting down", "try again later"))
    }
}

impl Drop for ReservedSession<'_> {
    fn drop(&mut self) {
        let starting = &mut self.daemon.hosted.lock().starting;
        if let Some(at) = starting.iter().position(|id| *id == self.id) {
            starting.swap_remove(at);
        }
    }
}

/// Parses the name of a permission mode. Modes that ask less often need the Unix socket: over TCP the caller
/// cannot be identified, so a guarded agent could create a session that asks less often than its own harness.
fn parse_mode(name: &str, peer: Peer) -> Result<PermissionMode, ProgramRefusal> {
    if name.is_empty() {
        return Ok(PermissionMode::Default);
    }
    let Some(mode) = PermissionMode::from_name(name) else {
        let known: Vec<_> = PermissionMode::names().collect();
        let why = format!("unknown permission mode `{}`", tenterhook_records::sanitize(name, 100));
        return Err(ProgramRefusal::new(RefusalCode::Invalid, why, &format!("known: {}", known.join(", "))));
    };
    let is_free = matches!(mode, PermissionMode::AcceptEdits | PermissionMode::BypassPermissions);
    if is_free && !matches!(peer, Peer::Local { .. }) {
        let why = format!("the permission mode `{name}` is not available over TCP");
        return Err(ProgramRefusal::new(
            RefusalCode::Refused,
            why,
            "connect through the Unix socket, which identifies the caller",
        ));
    }
    Ok(mode)
}

fn check_directory(cwd: &str) -> Result<PathBuf, ProgramRefusal> {
    let dir = Path::new(cwd);
    if dir.is_absolute() && dir.is_dir() {
        return Ok(dir.to_owned());
    }
    let why = format!("`{}` is not an absolute path of a directory", tenterhook_records::sanitize(cwd, 200));
    Err(ProgramRefusal::new(RefusalCode::Invalid, why, "set `working_directory` to an existing directory"))
}

fn parse_model(model: &[u8]) -> Result<model::ModelChoice, ProgramRefusal> {
    if model.is_empty() {
        return Ok(model::ModelChoice::default());
    }
    serde_json::from_slice(model).map_err(|error| {
        // The JSON itself may contain a key, so the message names only the column.
        let why = match error.classify() {
            serde_json::error::Category::Data => {
                format!("`model` is not a valid ModelConfig (column {})", error.column())
            }
            _ => "`model` is not valid JSON".to_owned(),
        };
        let hint = "its fields are `provider`, `name`, `baseUrl`, `script`, `temperature` and `maxTokens`; API keys come from the daemon's environment";
        ProgramRefusal::new(RefusalCode::Invalid, why, hint)
    })
}

fn select_tools(names: &[String]) -> Result<(Toolbox, Vec<SubagentKind>), ProgramRefusal> {
    let mut tools = Toolbox::builtin();
    if names.is_empty() {
        return Ok((tools, vec![SubagentKind::general()]));
    }
    if let Some(unknown) = names.iter().find(|name| *name != SUBAGENT_TOOL && tools.find(name).is_none()) {
        let known: Vec<_> = tools.specs().into_iter().map(|spec| spec.name).collect();
        let why = format!("unknown tool `{}`", tenterhook_records::sanitize(unknown, 100));
        return Err(ProgramRefusal::new(
            RefusalCode::Invalid,
            why,
            &format!("known: {}, {SUBAGENT_TOOL}", known.join(", ")),
        ));
    }
    tools.retain_named(names);
    let subagents = names.iter().any(|name| name == SUBAGENT_TOOL).then(SubagentKind::general);
    Ok((tools, subagents.into_iter().collect()))
}

/// Creates the source of event ids and times. Without randomness the ids are counted, so they still differ.
fn id_minter() -> Arc<tenterhook_agent::EventIdSource> {
    let last = Mutex::new(0_u128);
    Arc::new(move || {
        if let Ok(meta) = call_meta::mint() {
            return (meta.id, meta.ts);
        }
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        *last += 1;
        let ms = call_meta::now_ms();
        (EventId::from_parts(ms, *last), Timestamp::from_unix_ms(ms))
    })
}
