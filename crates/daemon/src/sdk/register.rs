// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A hook comes, and goes.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tenterhook_authority::{Action, Caller};
use tenterhook_engine::sdk::{Client, Function};
use tenterhook_engine::{Fail, Hook, Matcher, RegisterError, Runner};
use tenterhook_event::EventKind;
use tenterhook_guard::LONGEST_HOOK;
use tenterhook_harness::dialect::{A3sMatcher, a3s};
use tenterhook_home::call_meta;

use super::{Code, Id, Refusal, Registered, linger};
use crate::daemon::Daemon;
use crate::generations::InForce;
use crate::listen::Peer;

/// How long a hook may take that does not say.
const TIMEOUT: Duration = Duration::from_secs(5);
/// How long a hook outlives its stream, unless it says, and at most.
const LINGER: Duration = Duration::from_secs(30);
const LONGEST: Duration = Duration::from_hours(24);

/// A hook as a program wants it.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    pub(crate) id: Option<String>,
    pub(crate) event_type: String,
    pub(crate) matcher: A3sMatcher,
    pub(crate) priority: i32,
    pub(crate) timeout_ms: i32,
    pub(crate) observes: bool,
    pub(crate) fail: Option<Fail>,
    pub(crate) linger_ms: i32,
}

/// The program that opens a stream. Whoever has one answers for hooks, so a guarded agent gets none: not even
/// with an id that it found.
pub(crate) async fn sit_down(
    daemon: &Arc<Daemon>,
    peer: Peer,
    id: &Id,
    name: &str,
) -> Result<Arc<Client>, Refusal> {
    let caller =
        daemon.admit_program(Action::HooksAdd, peer, json!({"stream": true, "client": name})).await?;
    daemon.programs.seat(id, name, &caller)
}

/// Registers a hook. Says its id, and whether it takes the place of one of the same id.
pub(crate) async fn register(
    daemon: &Arc<Daemon>,
    peer: Peer,
    id: &Id,
    name: &str,
    wanted: Wanted,
) -> Result<(String, bool), Refusal> {
    let programs = &daemon.programs;
    let detail = json!({"event": wanted.event_type, "client": name});
    let caller = daemon.admit_program(Action::HooksAdd, peer, detail).await?;
    let client = programs.seat(id, name, &caller)?;
    let _turn = programs.changing.lock().await;
    let base = daemon.generations.base();
    let runner = Runner::Sdk(Function { client: Arc::clone(&client), beside: programs.notes.clone() });
    let new = wanted.hook(&base, runner)?;
    let old = programs.of(id).into_iter().find(|known| known.hook.id == new.hook.id);
    let (all, limits) = (base.generation.all_hooks(), base.generation.limits());
    programs.admit(id, all, old.is_some(), &new.hook, limits).map_err(|error| limit(&error))?;
    let what = if old.is_some() { "hook replaced" } else { "hook registered" };
    record(daemon, what, &caller, client.name(), &new).await?;
    let hook_id = new.hook.id.to_string();
    programs.with(id, |seat| {
        seat.hooks.retain(|known| known.hook.id != new.hook.id);
        seat.hooks.push(new);
    });
    daemon.generations.set_programs(programs.all());
    if !client.is_there() {
        linger::wait(daemon, id);
    }
    Ok((hook_id, old.is_some()))
}

/// Takes a hook back.
pub(crate) async fn unregister(daemon: &Arc<Daemon>, peer: Peer, id: &Id, hook: &str) -> Result<(), Refusal> {
    let programs = &daemon.programs;
    let caller = daemon.admit_program(Action::HooksRemove, peer, json!({"hook": hook})).await?;
    let _turn = programs.changing.lock().await;
    let found = programs.of(id).into_iter().find(|known| *known.hook.id == *hook);
    let Some(known) = found else {
        let why = format!("this client has no hook `{}`", tenterhook_records::sanitize(hook, 100));
        return Err(Refusal::new(Code::NotFound, why, "ListHooks names those it has"));
    };
    let Some(client) = programs.with(id, |seat| Arc::clone(&seat.client)) else { return Ok(()) };
    record(daemon, "hook unregistered", &caller, client.name(), &known).await?;
    programs.with(id, |seat| seat.hooks.retain(|other| other.hook.id != known.hook.id));
    daemon.generations.set_programs(programs.all());
    client.forget(hook);
    programs.tidy(id);
    Ok(())
}

/// Writes down that a hook came or went: whatever the level, that is a change of protection.
async fn record(
    daemon: &Daemon,
    what: &str,
    caller: &Caller,
    client: &str,
    known: &Registered,
) -> Result<(), Refusal> {
    let mut detail = shown(client, known);
    if let Some(detail) = detail.as_object_mut() {
        detail.insert("authority".to_owned(), caller.to_json());
    }
    daemon.change(what, caller.uid, detail, Vec::new()).await.map_err(|why| {
        let why = format!("it is not done, because it cannot be recorded: {why}");
        Refusal::new(Code::Internal, why, "make room for the ledger")
    })
}

/// A hook for the record.
pub(super) fn shown(client: &str, known: &Registered) -> Value {
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

impl Wanted {
    fn hook(self, base: &InForce, runner: Runner) -> Result<Registered, Refusal> {
        let invalid = |message: String, hint: &str| Refusal::new(Code::Invalid, message, hint);
        let kind = kind(&self.event_type).ok_or_else(|| {
            let names: Vec<_> = a3s::EVENTS.iter().map(|event| event.name).collect();
            let given = tenterhook_records::sanitize(&self.event_type, 100);
            invalid(format!("`{given}` is no event"), &format!("known: {}", names.join(", ")))
        })?;
        let matcher =
            Matcher::a3s(&self.matcher).map_err(|error| invalid(error.to_string(), "correct the matcher"))?;
        let id = match self.id.filter(|id| !id.is_empty()) {
            Some(id) if is_hook_name(&id) => id,
            Some(_) => {
                let hint = "use 1 to 64 of A–Z, a–z, 0–9, `_`, `.` and `-`";
                return Err(invalid("this is no id for a hook".to_owned(), hint));
            }
            None => {
                let minted = call_meta::mint();
                let minted = minted.map_err(|failure| Refusal::new(Code::Internal, failure.message, ""))?;
                format!("sdk-{}", minted.id)
            }
        };
        let timeout = time("timeout_ms", self.timeout_ms, LONGEST_HOOK)?;
        let linger = time("linger_ms", self.linger_ms, LONGEST)?.unwrap_or(LINGER);
        let defaults = &base.defaults;
        let hook = Hook {
            id: id.into(),
            on: vec![kind],
            matcher,
            only_if: None,
            when: None,
            priority: self.priority,
            chain: None,
            timeout: timeout.or(defaults.timeout).unwrap_or(TIMEOUT).min(LONGEST_HOOK),
            fail: self.fail.unwrap_or(defaults.fail),
            observes: self.observes,
            enabled: true,
            runner,
        };
        let (event_type, matcher) = (self.event_type, self.matcher);
        Ok(Registered { hook: Arc::new(hook), event_type, matcher, linger })
    }
}

/// An event by the name that programs know it by, or by ours.
pub(crate) fn kind(name: &str) -> Option<EventKind> {
    a3s::named(name).map(|event| event.kind).or_else(|| name.parse().ok())
}

fn time(what: &str, ms: i32, most: Duration) -> Result<Option<Duration>, Refusal> {
    let time = u64::try_from(ms).map(Duration::from_millis).ok().filter(|time| *time <= most);
    match time {
        Some(Duration::ZERO) => Ok(None),
        Some(time) => Ok(Some(time)),
        None => {
            let why = format!("`{what}` is {ms}; it can be up to {}", most.as_millis());
            Err(Refusal::new(Code::Invalid, why, "0 means: as usual"))
        }
    }
}

/// Whether a text can name a hook.
pub(crate) fn is_hook_name(id: &str) -> bool {
    let plain = id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte));
    (1..=64).contains(&id.len()) && plain
}

fn limit(error: &RegisterError) -> Refusal {
    let message = error.to_string();
    match error {
        RegisterError::Duplicate(_) => {
            Refusal::new(Code::AlreadyExists, message, "choose another id, or let one be made up")
        }
        _ => Refusal::new(Code::Limit, message, "unregister one, or raise the limit in `tenterhook.yaml`"),
    }
}
