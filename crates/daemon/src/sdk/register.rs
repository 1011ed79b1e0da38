// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Registers and removes hooks that programs provide.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tenterhook_authority::{Action, Caller};
use tenterhook_engine::sdk::{SdkClient, SdkHook};
use tenterhook_engine::{EventMatcher, FailMode, Hook, HookBackend, RegisterError};
use tenterhook_event::EventKind;
use tenterhook_guard::MAX_HOOK_TIMEOUT;
use tenterhook_harness::dialect::{A3sMatcher, a3s};
use tenterhook_home::call_meta;

use super::{ClientHook, ClientId, ProgramRefusal, RefusalCode, linger};
use crate::daemon::Daemon;
use crate::generations::ActiveConfig;
use crate::listen::Peer;

/// Timeout of a hook that does not set one.
const DEFAULT_HOOK_TIMEOUT: Duration = Duration::from_secs(5);
/// Default and maximum time that a hook outlives its stream.
const DEFAULT_LINGER_TIME: Duration = Duration::from_secs(30);
const MAX_LINGER_TIME: Duration = Duration::from_hours(24);

/// A program's request to register a hook.
#[derive(Debug, Default)]
pub(crate) struct HookRegistration {
    pub(crate) id: Option<String>,
    pub(crate) event_type: String,
    pub(crate) matcher: A3sMatcher,
    pub(crate) priority: i32,
    pub(crate) timeout_ms: i32,
    pub(crate) observes: bool,
    pub(crate) fail: Option<FailMode>,
    pub(crate) linger_ms: i32,
}

/// Opens a program's stream. The program with the stream answers for hooks, so a guarded agent cannot open one.
pub(crate) async fn open_client(
    daemon: &Arc<Daemon>,
    peer: Peer,
    id: &ClientId,
    name: &str,
) -> Result<Arc<SdkClient>, ProgramRefusal> {
    let caller =
        daemon.admit_program(Action::HooksAdd, peer, json!({"stream": true, "client": name})).await?;
    daemon.programs.find_or_add(id, name, &caller)
}

/// Registers a hook. Returns its id, and whether it replaced a hook with the same id.
pub(crate) async fn register(
    daemon: &Arc<Daemon>,
    peer: Peer,
    id: &ClientId,
    name: &str,
    wanted: HookRegistration,
) -> Result<(String, bool), ProgramRefusal> {
    let programs = &daemon.programs;
    let detail = json!({"event": wanted.event_type, "client": name});
    let caller = daemon.admit_program(Action::HooksAdd, peer, detail).await?;
    let client = programs.find_or_add(id, name, &caller)?;
    let _turn = programs.change_lock.lock().await;
    let base = daemon.generations.base();
    let runner = HookBackend::Sdk(SdkHook { client: Arc::clone(&client), context: programs.notes.clone() });
    let new = wanted.hook(&base, runner)?;
    let old = programs.hooks_of(id).into_iter().find(|known| known.hook.id == new.hook.id);
    let (all, limits) = (base.generation.all_hooks(), base.generation.limits());
    programs.check_limits(id, all, old.is_some(), &new.hook, limits).map_err(|error| refusal_of(&error))?;
    let what = if old.is_some() { "hook replaced" } else { "hook registered" };
    record(daemon, what, &caller, client.name(), &new).await?;
    let hook_id = new.hook.id.to_string();
    programs.with_program(id, |slot| {
        slot.hooks.retain(|known| known.hook.id != new.hook.id);
        slot.hooks.push(new);
    });
    daemon.generations.set_programs(programs.all_hooks());
    if !client.is_connected() {
        linger::watch_absence(daemon, id);
    }
    Ok((hook_id, old.is_some()))
}

pub(crate) async fn unregister(
    daemon: &Arc<Daemon>,
    peer: Peer,
    id: &ClientId,
    hook: &str,
) -> Result<(), ProgramRefusal> {
    let programs = &daemon.programs;
    let caller = daemon.admit_program(Action::HooksRemove, peer, json!({"hook": hook})).await?;
    let _turn = programs.change_lock.lock().await;
    let found = programs.hooks_of(id).into_iter().find(|known| *known.hook.id == *hook);
    let Some(known) = found else {
        let why = format!("this client has no hook `{}`", tenterhook_records::sanitize(hook, 100));
        return Err(ProgramRefusal::new(RefusalCode::NotFound, why, "list its hooks with ListHooks"));
    };
    let Some(client) = programs.with_program(id, |slot| Arc::clone(&slot.client)) else { return Ok(()) };
    record(daemon, "hook unregistered", &caller, client.name(), &known).await?;
    programs.with_program(id, |slot| slot.hooks.retain(|other| other.hook.id != known.hook.id));
    daemon.generations.set_programs(programs.all_hooks());
    client.remove_hook(hook);
    programs.remove_if_unused(id);
    Ok(())
}

/// Records that a hook was registered or removed. This changes protection, so it is recorded at every audit level.
async fn record(
    daemon: &Daemon,
    what: &str,
    caller: &Caller,
    client: &str,
    known: &ClientHook,
) -> Result<(), ProgramRefusal> {
    let mut detail = hook_json(client, known);
    if let Some(detail) = detail.as_object_mut() {
        detail.insert("authority".to_owned(), caller.to_json());
    }
    daemon.record_change(what, caller.uid, detail, Vec::new()).await.map_err(|why| {
        let why = format!("not done, because it could not be recorded: {why}");
        ProgramRefusal::new(RefusalCode::Internal, why, "free disk space for the ledger")
    })
}

/// Returns a hook in the form used by its record.
pub(super) fn hook_json(client: &str, known: &ClientHook) -> Value {
    let hook = &known.hook;
    json!({
        "hook": &*hook.id,
        "client": client,
        "event": known.event_type,
        "matcher": known.matcher.to_string(),
        "priority": hook.priority,
        "timeout_ms": u64::try_from(hook.timeout.as_millis()).unwrap_or(u64::MAX),
        "async": hook.observes,
        "fail": hook.fail,
    })
}

impl HookRegistration {
    fn hook(self, base: &ActiveConfig, runner: HookBackend) -> Result<ClientHook, ProgramRefusal> {
        let invalid = |message: String, hint: &str| ProgramRefusal::new(RefusalCode::Invalid, message, hint);
        let kind = parse_event_kind(&self.event_type).ok_or_else(|| {
            let names: Vec<_> = a3s::EVENTS.iter().map(|event| event.name).collect();
            let given = tenterhook_records::sanitize(&self.event_type, 100);
            invalid(format!("unknown event `{given}`"), &format!("known: {}", names.join(", ")))
        })?;
        let matcher = EventMatcher::a3s(&self.matcher)
            .map_err(|error| invalid(error.to_string(), "correct the matcher"))?;
        let id = match self.id.filter(|id| !id.is_empty()) {
            Some(id) if is_hook_name(&id) => id,
            Some(_) => {
                let hint = "use 1 to 64 characters from A–Z, a–z, 0–9, `_`, `.` and `-`";
                return Err(invalid("invalid hook id".to_owned(), hint));
            }
            None => {
                let minted = call_meta::mint();
                let minted = minted
                    .map_err(|failure| ProgramRefusal::new(RefusalCode::Internal, failure.message, ""))?;
                format!("sdk-{}", minted.id)
            }
        };
        let timeout = parse_duration("timeout_ms", self.timeout_ms, MAX_HOOK_TIMEOUT)?;
        let linger =
            parse_duration("linger_ms", self.linger_ms, MAX_LINGER_TIME)?.unwrap_or(DEFAULT_LINGER_TIME);
        let defaults = &base.defaults;
        let hook = Hook {
            id: id.into(),
            on: vec![kind],
            matcher,
            only_if: None,
            when: None,
            priority: self.priority,
            chain: None,
            timeout: timeout.or(defaults.timeout).unwrap_or(DEFAULT_HOOK_TIMEOUT).min(MAX_HOOK_TIMEOUT),
            fail: self.fail.unwrap_or(defaults.fail),
            observes: self.observes,
            enabled: true,
            runner,
        };
        let (event_type, matcher) = (self.event_type, self.matcher);
        Ok(ClientHook { hook: Arc::new(hook), event_type, matcher, linger })
    }
}

/// Returns the kind of an event, given its name in the SDKs or our own name for it.
pub(crate) fn parse_event_kind(name: &str) -> Option<EventKind> {
    a3s::shape_by_name(name).map(|event| event.kind).or_else(|| name.parse().ok())
}

fn parse_duration(what: &str, ms: i32, most: Duration) -> Result<Option<Duration>, ProgramRefusal> {
    let time = u64::try_from(ms).map(Duration::from_millis).ok().filter(|time| *time <= most);
    match time {
        Some(Duration::ZERO) => Ok(None),
        Some(time) => Ok(Some(time)),
        None => {
            let why = format!("`{what}` is {ms}; the maximum is {}", most.as_millis());
            Err(ProgramRefusal::new(RefusalCode::Invalid, why, "0 means the default"))
        }
    }
}

pub(crate) fn is_hook_name(id: &str) -> bool {
    let plain = id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte));
    (1..=64).contains(&id.len()) && plain
}

fn refusal_of(error: &RegisterError) -> ProgramRefusal {
    let message = error.to_string();
    match error {
        RegisterError::Duplicate(_) => ProgramRefusal::new(
            RefusalCode::AlreadyExists,
            message,
            "choose another id, or leave it empty to get a new one",
        ),
        _ => ProgramRefusal::new(
            RefusalCode::Limit,
            message,
            "unregister a hook, or raise the limit in `tenterhook.yaml`",
        ),
    }
}
