// SPDX-License-Identifier: Apache-2.0 OR MIT

//! How a harness stands: where our hooks are wired into it, and when it was last heard of.

use std::path::PathBuf;

use serde::Serialize;
use tenterhook_guard::Settled;
use tenterhook_harness::{Harness, Wiring};
use tenterhook_harness_install::HarnessClient as _;
use tenterhook_harness_install::receipt::{Asked, Receipts};
use tenterhook_harness_install::{Installer, MachineHooks, MachineScope, Order, Plan, Scope, Transport};
use tenterhook_home::Home;
use tenterhook_ledger::{Filter, Reader};

use super::serve::LISTEN;
use crate::ask;
use crate::context::Context;
use crate::error::CommandError;

/// The newest record of a harness.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Heard {
    /// The leaf's number.
    pub(crate) seq: u64,
    /// When it happened.
    pub(crate) ts: String,
}

/// How our hooks in one scope of a harness stand.
#[derive(Debug)]
pub(crate) enum Wired {
    /// As they should be.
    Well(Plan),
    /// Somebody took them out of the settings, or changed them.
    Lost(Plan),
}

/// How to get into a harness, or why nobody can.
pub(crate) fn installer(harness: &'static Harness) -> Result<&'static Installer, CommandError> {
    harness.installer().ok_or_else(|| match unheard(harness) {
        Some(why) => {
            CommandError::user(format!("{} calls no hook that could be wired: {why}", harness.title))
                .hint("nothing can be guarded there today; use its own permissions")
        }
        None => CommandError::user(format!("{} cannot be wired by this program yet", harness.title))
            .hint(format!("let its hooks call `tenterhook hook {} <EVENT>`", harness.id)),
    })
}

/// Why a harness calls no hook at all.
pub(crate) fn unheard(harness: &Harness) -> Option<&'static str> {
    let mut reasons = harness.events.iter().map(|row| match row.wiring {
        Wiring::Left(why) => Some(why),
        _ => None,
    });
    let first = reasons.next()??;
    reasons.all(|reason| reason.is_some()).then_some(first)
}

/// What would be installed, as it is asked for.
pub(crate) fn order(
    context: &Context,
    harness: &'static Harness,
    asked: &Asked,
) -> Result<Order, CommandError> {
    let installer = installer(harness)?;
    let home = context.home()?;
    let order = installer.order(&context.env.ground(), asked.scope.clone(), &home.programs());
    let mut order = order.ok_or_else(|| match &asked.scope {
        Scope::User => {
            CommandError::internal(format!("`HOME` is not set, so {} has no settings", harness.title))
        }
        Scope::Machine(_) => no_machine_scope(harness, installer.machine),
        _ => CommandError::user(format!("{} has no settings of a project", harness.title))
            .hint("leave `--scope` out: its hooks are then wired for every project"),
    })?;
    order.directory = std::path::absolute(&order.directory)?;
    order.user_directory = std::path::absolute(&order.user_directory)?;
    order.project = std::env::current_dir().ok();
    order.trust = asked.trust;
    if asked.http {
        order.transport = http(context, home)?;
    }
    Ok(order)
}

/// Why a harness cannot be guarded for all accounts at once.
fn no_machine_scope(harness: &Harness, scope: MachineScope) -> CommandError {
    let title = harness.title;
    match scope {
        MachineScope::Cannot(why) => {
            CommandError::user(format!("cannot guard {title} for the whole machine: {why}"))
        }
        MachineScope::Outranks { .. } => {
            CommandError::user(format!("cannot guard {title} for the whole machine: `HOME` is not set"))
        }
    }
    .hint("guard it for each account: leave `--system` out")
}

/// The daemon, as a harness asks it by itself.
fn http(context: &Context, home: &Home) -> Result<Transport, CommandError> {
    let token = tenterhook_home::state_file(&home.token()).ok().flatten().ok_or_else(|| {
        CommandError::internal("there is no token of a daemon yet, which the client would have to send")
            .hint("start the daemon once: `tenterhook start`")
    })?;
    // The daemon that runs knows best where it listens.
    let running = ask::get(home, "/v1/health")?;
    let running = running.as_ref().and_then(|health| health.get("listen")?.as_str().map(ToOwned::to_owned));
    let said = context.env.tenterhook_listen.clone().or_else(|| Settled::of(home).0.daemon.listen);
    let listen = running.or(said).unwrap_or_else(|| LISTEN.to_owned());
    if listen == "none" {
        return Err(CommandError::internal(
            "the daemon listens on its socket only, and the client asks over TCP",
        )
        .hint("let it listen: `listen: 127.0.0.1:7878` under `daemon` in tenterhook.yaml"));
    }
    Ok(Transport::Http { url: format!("http://{listen}"), token: token.trim().to_owned() })
}

/// What was asked for in each scope of a harness that is wired.
pub(crate) fn asked(home: &Home, installer: &Installer) -> Vec<Asked> {
    let mut all: Vec<Asked> = Vec::new();
    for receipt in Receipts::new(&home.receipts(), installer.wired_as).all() {
        if !all.iter().any(|asked| asked.scope == receipt.asked.scope) {
            all.push(receipt.asked);
        }
    }
    all
}

/// How our hooks stand in one scope.
pub(crate) fn wired(
    context: &Context,
    harness: &'static Harness,
    asked: &Asked,
) -> Result<Wired, CommandError> {
    let order = order(context, harness, asked)?;
    let plan = installer(harness)?.plan_install(&order, &context.home()?.receipts());
    let plan = plan.map_err(CommandError::from)?;
    Ok(if plan.is_noop() { Wired::Well(plan) } else { Wired::Lost(plan) })
}

/// Our hooks in the settings of the machine, as they affect this account. `None`: there are none, or this is the
/// machine's own home.
pub(crate) fn machine_hooks(context: &Context, harness: &Harness) -> Option<MachineHooks> {
    let machine = context.home().ok()?.of_machine()?;
    harness.installer()?.machine_hooks(
        &context.env.ground(),
        &machine.machine()?,
        &machine.programs(),
        std::env::current_dir().ok(),
    )
}

/// What hooks do not see in a version of a harness, and which version to update to, one sentence each.
pub(crate) fn version_gaps(harness: &Harness, version: Option<&str>) -> Vec<String> {
    let Some(version) = version else { return Vec::new() };
    let gaps = harness.version_gaps.iter().filter(|gap| gap.affects(version));
    gaps.map(|gap| format!("version {version} {}; update it to {} or newer", gap.says, gap.fixed_in))
        .collect()
}

/// The newest event of a harness that is on record.
pub(crate) fn last_heard(home: &Home, harness: &Harness) -> Option<Heard> {
    let reader = Reader::open(&home.ledger()).ok()?;
    let filter = Filter { harness: Some(harness.id.to_owned()), ..Filter::default() };
    let newest = reader.query(&filter, 1).ok()?.records.pop()?;
    let envelope = newest.envelope()?.ok()?;
    Some(Heard { seq: newest.seq, ts: envelope.ts.to_string() })
}

/// What an account or a project can still do to run a harness without the hooks of a scope.
pub(crate) fn bypasses(harness: &Harness, scope: &Scope) -> &'static [&'static str] {
    match (scope, harness.installer().map(|installer| installer.machine)) {
        (Scope::Machine(_), Some(MachineScope::Outranks { bypasses, .. })) => bypasses,
        _ => &[],
    }
}

/// The name of the machine's scope for people and in JSON.
pub(crate) const MACHINE_SCOPE: &str = "machine";

/// The name of a scope for people and in JSON.
pub(crate) fn scope_name(scope: &Scope) -> String {
    match scope {
        Scope::User => "user".to_owned(),
        Scope::Project(root) => format!("project {}", root.display()),
        Scope::Machine(_) => MACHINE_SCOPE.to_owned(),
        _ => "other".to_owned(),
    }
}

/// The root of the project a person works in: the nearest directory above with a repository, else this one.
pub(crate) fn project_root() -> Result<PathBuf, CommandError> {
    let here = std::env::current_dir()?;
    let root = here.ancestors().find(|directory| directory.join(".git").exists());
    Ok(root.unwrap_or(&here).to_owned())
}
