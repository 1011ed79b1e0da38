// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The hooks in the settings of a harness: where they are, whether they are intact, and the harness's last event.

use std::path::{Path, PathBuf};

use tenterhook_api::LastHarnessEvent;
use tenterhook_error::Failure;
use tenterhook_harness::{Harness, Wiring};
use tenterhook_harness_install::HarnessClient as _;
use tenterhook_harness_install::receipt::{Asked, Receipts};
use tenterhook_harness_install::{Installer, MachineHooks, MachineScope, Order, Plan, Scope, Transport};
use tenterhook_home::Home;
use tenterhook_ledger::{Filter, Reader};

use crate::Setup;

/// State of our hooks in one scope of a harness.
#[derive(Debug)]
pub enum Wired {
    /// As they should be.
    Well(Plan),
    /// They were removed from the settings, or changed.
    Lost(Plan),
}

/// The installer of a harness, or why it has none.
pub fn installer(harness: &'static Harness) -> Result<&'static Installer, Failure> {
    harness.installer().ok_or_else(|| match unheard(harness) {
        Some(why) => Failure::user(format!("{} calls no hook that could be wired: {why}", harness.title))
            .hint("nothing can be guarded there today; use its own permissions"),
        None => Failure::user(format!("{} cannot be wired by this program yet", harness.title))
            .hint(format!("let its hooks call `tenterhook hook {} <EVENT>`", harness.id)),
    })
}

/// Why a harness calls no hook at all.
pub fn unheard(harness: &Harness) -> Option<&'static str> {
    let mut reasons = harness.events.iter().map(|row| match row.wiring {
        Wiring::Left(why) => Some(why),
        _ => None,
    });
    let first = reasons.next()??;
    reasons.all(|reason| reason.is_some()).then_some(first)
}

/// What would be installed, as it is asked for.
pub fn order(setup: &Setup<'_>, harness: &'static Harness, asked: &Asked) -> Result<Order, Failure> {
    let installer = installer(harness)?;
    let order = installer.order(&setup.env.ground(), asked.scope.clone(), &setup.home.programs());
    let mut order = order.ok_or_else(|| match &asked.scope {
        Scope::User => Failure::internal(format!("`HOME` is not set, so {} has no settings", harness.title)),
        Scope::Machine(_) => no_machine_scope(harness, installer.machine),
        _ => Failure::user(format!("{} has no settings of a project", harness.title))
            .hint("leave `--scope` out: its hooks are then wired for every project"),
    })?;
    order.directory = std::path::absolute(&order.directory)?;
    order.user_directory = std::path::absolute(&order.user_directory)?;
    order.project.clone_from(&setup.working_directory);
    order.trust = asked.trust;
    if asked.http {
        order.transport = http(setup)?;
    }
    Ok(order)
}

/// Why a harness cannot be guarded for all accounts at once.
fn no_machine_scope(harness: &Harness, scope: MachineScope) -> Failure {
    let title = harness.title;
    match scope {
        MachineScope::Cannot(why) => {
            Failure::user(format!("cannot guard {title} for the whole machine: {why}"))
        }
        MachineScope::Outranks { .. } => {
            Failure::user(format!("cannot guard {title} for the whole machine: `HOME` is not set"))
        }
    }
    .hint("guard it for each account: leave `--system` out")
}

/// The daemon's TCP port, for a harness that sends its hook calls over HTTP.
fn http(setup: &Setup<'_>) -> Result<Transport, Failure> {
    let token = tenterhook_home::state_file(&setup.home.token()).ok().flatten().ok_or_else(|| {
        Failure::internal("there is no token of a daemon yet, which the client would have to send")
            .hint("start the daemon once: `tenterhook start`")
    })?;
    let Some(address) = setup.host.daemon_address()? else {
        return Err(Failure::internal("the daemon listens on its socket only, and the client asks over TCP")
            .hint("let it listen: `listen: 127.0.0.1:7878` under `daemon` in tenterhook.yaml"));
    };
    Ok(Transport::Http { url: format!("http://{address}"), token: token.trim().to_owned() })
}

/// What was asked for in each scope that our hooks are installed in.
pub fn asked(home: &Home, installer: &Installer) -> Vec<Asked> {
    let mut all: Vec<Asked> = Vec::new();
    for receipt in Receipts::new(&home.receipts(), installer.wired_as).all() {
        if !all.iter().any(|asked| asked.scope == receipt.asked.scope) {
            all.push(receipt.asked);
        }
    }
    all
}

/// Checks our hooks in one scope against what was installed.
pub fn wired(setup: &Setup<'_>, harness: &'static Harness, asked: &Asked) -> Result<Wired, Failure> {
    let order = order(setup, harness, asked)?;
    let plan = installer(harness)?.plan_install(&order, &setup.home.receipts())?;
    Ok(if plan.is_noop() { Wired::Well(plan) } else { Wired::Lost(plan) })
}

/// Our hooks in the settings of the machine, as they affect this account. `None`: there are none, or this is the
/// machine's own home.
pub fn machine_hooks(setup: &Setup<'_>, harness: &Harness) -> Option<MachineHooks> {
    let machine = setup.home.of_machine()?;
    let directory = setup.working_directory.clone();
    harness.installer()?.machine_hooks(
        &setup.env.ground(),
        &machine.machine()?,
        &machine.programs(),
        directory,
    )
}

/// What hooks do not see in a version of a harness, and which version to update to, one sentence each.
pub fn version_gaps(harness: &Harness, version: Option<&str>) -> Vec<String> {
    let Some(version) = version else { return Vec::new() };
    let gaps = harness.version_gaps.iter().filter(|gap| gap.affects(version));
    gaps.map(|gap| format!("version {version} {}; update it to {} or newer", gap.says, gap.fixed_in))
        .collect()
}

/// The newest event of a harness that is on record.
pub fn last_heard(home: &Home, harness: &Harness) -> Option<LastHarnessEvent> {
    let reader = Reader::open(&home.ledger()).ok()?;
    let filter = Filter { harness: Some(harness.id.to_owned()), ..Filter::default() };
    let newest = reader.query(&filter, 1).ok()?.records.pop()?;
    let envelope = newest.envelope()?.ok()?;
    Some(LastHarnessEvent { seq: newest.seq, ts: envelope.ts.to_string() })
}

/// What an account or a project can still do to run a harness without the hooks of a scope.
pub fn bypasses(harness: &Harness, scope: &Scope) -> &'static [&'static str] {
    match (scope, harness.installer().map(|installer| installer.machine)) {
        (Scope::Machine(_), Some(MachineScope::Outranks { bypasses, .. })) => bypasses,
        _ => &[],
    }
}

/// The name of the machine's scope for people and in JSON.
pub const MACHINE_SCOPE: &str = "machine";

/// The name of a scope for people and in JSON.
pub fn scope_name(scope: &Scope) -> String {
    match scope {
        Scope::User => "user".to_owned(),
        Scope::Project(root) => format!("project {}", root.display()),
        Scope::Machine(_) => MACHINE_SCOPE.to_owned(),
        _ => "other".to_owned(),
    }
}

/// The root of the project that contains a directory: the nearest directory above with a repository, else itself.
pub fn project_root(directory: &Path) -> PathBuf {
    let root = directory.ancestors().find(|directory| directory.join(".git").exists());
    root.unwrap_or(directory).to_owned()
}
