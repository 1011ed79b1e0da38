// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A session begins.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tenterhook_agent::tools::{SubagentKind, Toolbox};
use tenterhook_agent::{Agent, Cancel, NobodyAnswers, PermissionMode, Session, Settings};
use tenterhook_authority::OWN_AGENT;
use tenterhook_event::{EventId, Timestamp};
use tenterhook_home::call_meta;

use super::road::Road;
use super::work::Audience;
use super::{Asker, MAX_PROMPT_BYTES, MOST, OF_ONE, OF_PROCESS, Slot, behalf, model};
use crate::daemon::Daemon;
use crate::listen::Peer;
use crate::sdk::{Code, Holder, Id, Refusal};
use crate::shares::Share;

/// The tool that starts subagents.
const TASK: &str = "Task";

/// A session as a program wants it.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    pub(crate) cwd: String,
    pub(crate) system: Option<String>,
    /// JSON; empty: none.
    pub(crate) model: Vec<u8>,
    /// Empty: all.
    pub(crate) tools: Vec<String>,
    /// Empty: the usual.
    pub(crate) mode: String,
}

/// A place among the sessions, until it is taken.
struct Place<'a> {
    daemon: &'a Daemon,
    id: Id,
}

/// Begins a session; says its id.
pub(crate) async fn create(
    daemon: &Arc<Daemon>,
    asker: &Asker<'_>,
    wanted: Wanted,
) -> Result<String, Refusal> {
    let caller = daemon.admit_asker(asker, "create").await?;
    let (place, share) = Place::take(daemon, asker.id, Holder::of(&caller, asker.id))?;
    if let Some(length) = wanted.system.as_ref().map(String::len).filter(|length| *length > MAX_PROMPT_BYTES)
    {
        let why = format!("the system prompt has {length} bytes; the limit is {MAX_PROMPT_BYTES}");
        return Err(Refusal::new(Code::Limit, why, "shorten it"));
    }
    let mode = mode(&wanted.mode, asker.peer)?;
    let dir = directory(&wanted.cwd)?;
    let config = read_model(&wanted.model)?;
    let model = daemon.hosted.models.find(&config, &dir).await?;
    let (tools, subagents) = tools(&wanted.tools)?;
    let mut settings = Settings::new(model.name, dir);
    settings.system = wanted.system;
    settings.user = Some(daemon.user_of(asker.peer));
    settings.mode = mode;
    settings.temperature = config.temperature;
    settings.max_tokens = config.max_tokens.unwrap_or(settings.max_tokens);
    let agent = Arc::new(Agent {
        fire: Arc::new(Road { daemon: Arc::downgrade(daemon) }),
        provider: model.provider,
        tools,
        subagents,
        ask: Arc::new(NobodyAnswers),
        watch: Arc::new(Audience),
        mint: minting(),
        prices: None,
        settings,
    });
    // Whatever a tool starts is started by an agent, and is guarded.
    if let Ok(own) = i32::try_from(std::process::id()) {
        tokio::task::block_in_place(|| daemon.authority.agents.remember(own, OWN_AGENT));
    }
    let id = call_meta::mint().map_err(|failure| Refusal::new(Code::Internal, failure.message, ""))?.id;
    let chain = daemon.hosted.chains.of(asker.handling.as_ref(), &daemon.programs.of(asker.id));
    let cancel = Cancel::new();
    let name = format!("agent-{id}");
    // Events that others send in its name are not this session's.
    tokio::task::block_in_place(|| daemon.own_agent_session(OWN_AGENT, &name));
    let starting = Session::start(agent, name, "startup", &cancel);
    let session = behalf::on(chain, starting).await.map_err(super::work::refusal)?;
    let id = session.id().to_owned();
    place.give(&id, Slot::new(session, asker.id.clone(), caller.uid, share)).await?;
    Ok(id)
}

impl<'a> Place<'a> {
    fn take(daemon: &'a Daemon, id: &Id, holder: Holder) -> Result<(Self, Share<Holder>), Refusal> {
        let mut state = daemon.hosted.lock();
        if state.closed {
            return Err(Refusal::new(Code::Overloaded, "the daemon is ending", "try again later"));
        }
        // Those that begin count as well: many may do so at the same time.
        let own = state.sessions.values().filter(|slot| slot.owner == *id).count()
            + state.starting.iter().filter(|starting| *starting == id).count();
        let share = if own < OF_ONE { daemon.hosted.places.try_take(holder, 1) } else { None };
        let Some(share) = share else {
            let why = format!("{own} of your sessions are there, and {} in all", state.sessions.len());
            let hint = format!(
                "end one: there may be {OF_ONE} of one program, {OF_PROCESS} of one process, and {MOST} in all"
            );
            return Err(Refusal::new(Code::Limit, why, &hint));
        };
        state.starting.push(id.clone());
        Ok((Self { daemon, id: id.clone() }, share))
    }

    /// The session is there from now on, unless the daemon ends.
    async fn give(self, id: &str, slot: Arc<Slot>) -> Result<(), Refusal> {
        {
            let mut state = self.daemon.hosted.lock();
            if !state.closed {
                state.sessions.insert(id.to_owned(), slot);
                self.daemon.hosted.begun.notify_one();
                return Ok(());
            }
        }
        super::end::finish(&slot, "shutdown").await;
        Err(Refusal::new(Code::Overloaded, "the daemon is ending", "try again later"))
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let starting = &mut self.daemon.hosted.lock().starting;
        if let Some(at) = starting.iter().position(|id| *id == self.id) {
            starting.swap_remove(at);
        }
    }
}

/// The mode of this name. Over TCP nobody sees who asks: what would spare a guarded agent the questions of its
/// own harness is not to be had there.
fn mode(name: &str, peer: Peer) -> Result<PermissionMode, Refusal> {
    if name.is_empty() {
        return Ok(PermissionMode::Default);
    }
    let Some(mode) = PermissionMode::from_name(name) else {
        let known: Vec<_> = PermissionMode::names().collect();
        let why = format!("there is no permission mode `{}`", tenterhook_records::sanitize(name, 100));
        return Err(Refusal::new(Code::Invalid, why, &format!("known: {}", known.join(", "))));
    };
    let is_free = matches!(mode, PermissionMode::AcceptEdits | PermissionMode::BypassPermissions);
    if is_free && !matches!(peer, Peer::Local { .. }) {
        let why = format!("over TCP a session cannot have the permission mode `{name}`");
        return Err(Refusal::new(Code::Refused, why, "come through the socket, where it is seen who asks"));
    }
    Ok(mode)
}

fn directory(cwd: &str) -> Result<PathBuf, Refusal> {
    let dir = Path::new(cwd);
    if dir.is_absolute() && dir.is_dir() {
        return Ok(dir.to_owned());
    }
    let why = format!("`{}` is no directory", tenterhook_records::sanitize(cwd, 200));
    Err(Refusal::new(Code::Invalid, why, "`working_directory` is an absolute path of one that is there"))
}

fn read_model(model: &[u8]) -> Result<model::Wanted, Refusal> {
    if model.is_empty() {
        return Ok(model::Wanted::default());
    }
    serde_json::from_slice(model).map_err(|error| {
        // Where it is says enough: what was sent may be a key.
        let why = match error.classify() {
            serde_json::error::Category::Data => {
                format!("`model` is no ModelConfig, from column {}", error.column())
            }
            _ => "`model` is no JSON".to_owned(),
        };
        let hint = "it has `provider`, `name`, `baseUrl`, `script`, `temperature` and `maxTokens`; keys are the daemon's own";
        Refusal::new(Code::Invalid, why, hint)
    })
}

fn tools(names: &[String]) -> Result<(Toolbox, Vec<SubagentKind>), Refusal> {
    let mut tools = Toolbox::own();
    if names.is_empty() {
        return Ok((tools, vec![SubagentKind::general()]));
    }
    if let Some(unknown) = names.iter().find(|name| *name != TASK && tools.find(name).is_none()) {
        let known: Vec<_> = tools.specs().into_iter().map(|spec| spec.name).collect();
        let why = format!("there is no tool `{}`", tenterhook_records::sanitize(unknown, 100));
        return Err(Refusal::new(Code::Invalid, why, &format!("known: {}, {TASK}", known.join(", "))));
    }
    tools.keep(names);
    let subagents = names.iter().any(|name| name == TASK).then(SubagentKind::general);
    Ok((tools, subagents.into_iter().collect()))
}

/// Ids and times. Without randomness ids still differ: they count on.
fn minting() -> Arc<tenterhook_agent::Mint> {
    let last = Mutex::new(0_u128);
    Arc::new(move || {
        if let Ok(door) = call_meta::mint() {
            return (door.id, door.ts);
        }
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        *last += 1;
        let ms = call_meta::now_ms();
        (EventId::from_parts(ms, *last), Timestamp::from_unix_ms(ms))
    })
}
