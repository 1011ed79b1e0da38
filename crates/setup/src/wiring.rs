// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Hooks in the settings of a harness: their scopes, their state, and the harness's last event.

use std::path::{Path, PathBuf};

use tenterhook_api::LastHarnessEvent;
use tenterhook_error::Failure;
use tenterhook_harness::{Harness, InstallWiring};
use tenterhook_harness_install::HarnessClient as _;
use tenterhook_harness_install::receipt::{InstallOptions, ReceiptStore};
use tenterhook_harness_install::{
    HookTransport, InstallPlan, InstallRequest, Installer, MachineHooks, MachineScope, SettingsScope,
};
use tenterhook_home::Home;
use tenterhook_ledger::{Filter, Reader};

use crate::Setup;

/// State of the hooks in one scope of a harness.
#[derive(Debug)]
pub enum HookState {
    /// The hooks are complete.
    Complete(InstallPlan),
    /// The hooks were removed from the settings, or changed.
    Lost(InstallPlan),
}

/// The installer of a harness, or the reason why it has none.
pub fn installer(harness: &'static Harness) -> Result<&'static Installer, Failure> {
    harness.installer().ok_or_else(|| match unsupported_reason(harness) {
        Some(why) => Failure::user(format!("{} calls no hooks: {why}", harness.title))
            .hint("it cannot be guarded; use its own permissions"),
        None => Failure::user(format!("{} is not supported by `install` yet", harness.title))
            .hint(format!("let its hooks call `tenterhook hook {} <EVENT>`", harness.id)),
    })
}

/// Reason why a harness calls no hooks.
pub fn unsupported_reason(harness: &Harness) -> Option<&'static str> {
    let mut reasons = harness.events.iter().map(|row| match row.wiring {
        InstallWiring::Skip(why) => Some(why),
        _ => None,
    });
    let first = reasons.next()??;
    reasons.all(|reason| reason.is_some()).then_some(first)
}

/// Builds the install request for the given options.
pub fn install_request(
    setup: &Setup<'_>,
    harness: &'static Harness,
    options: &InstallOptions,
) -> Result<InstallRequest, Failure> {
    let installer = installer(harness)?;
    let request = installer.order(&setup.env.machine(), options.scope.clone(), &setup.home.programs());
    let mut request = request.ok_or_else(|| match &options.scope {
        SettingsScope::User => {
            Failure::internal(format!("`HOME` is not set, so {} has no settings", harness.title))
        }
        SettingsScope::Machine(_) => no_machine_scope(harness, installer.machine),
        _ => Failure::user(format!("{} has no project settings", harness.title))
            .hint("omit `--scope` to install hooks for every project"),
    })?;
    request.directory = std::path::absolute(&request.directory)?;
    request.user_directory = std::path::absolute(&request.user_directory)?;
    request.project.clone_from(&setup.working_directory);
    request.trust = options.trust;
    if options.http {
        request.transport = http_transport(setup)?;
    }
    Ok(request)
}

/// Reason why a harness cannot be guarded for all accounts at once.
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
    .hint("omit `--system` to guard it for one account")
}

/// The daemon's TCP address and token, for a harness that sends hook calls over HTTP.
fn http_transport(setup: &Setup<'_>) -> Result<HookTransport, Failure> {
    let token = tenterhook_home::state_file(&setup.home.token()).ok().flatten().ok_or_else(|| {
        Failure::internal("the daemon has no token yet, which the client needs")
            .hint("start the daemon once: `tenterhook start`")
    })?;
    let Some(address) = setup.host.daemon_address()? else {
        return Err(Failure::internal("the daemon does not listen on TCP, which the client needs")
            .hint("set `listen: 127.0.0.1:7878` under `daemon` in tenterhook.yaml"));
    };
    Ok(HookTransport::Http { url: format!("http://{address}"), token: token.trim().to_owned() })
}

/// Options of the install in each scope that has hooks.
pub fn installed_options(home: &Home, installer: &Installer) -> Vec<InstallOptions> {
    let mut all: Vec<InstallOptions> = Vec::new();
    for receipt in ReceiptStore::new(&home.receipts(), installer.wired_as).all() {
        if !all.iter().any(|options| options.scope == receipt.asked.scope) {
            all.push(receipt.asked);
        }
    }
    all
}

/// Compares the hooks in one scope with the hooks that this version would install.
pub fn compare_hooks(
    setup: &Setup<'_>,
    harness: &'static Harness,
    options: &InstallOptions,
) -> Result<HookState, Failure> {
    let request = install_request(setup, harness, options)?;
    let plan = installer(harness)?.plan_install(&request, &setup.home.receipts())?;
    Ok(if plan.is_noop() { HookState::Complete(plan) } else { HookState::Lost(plan) })
}

/// Hooks in the machine's settings, as they apply to this account. `None` if the settings have none, or if the state
/// directory is itself the machine's.
pub fn machine_hooks(setup: &Setup<'_>, harness: &Harness) -> Option<MachineHooks> {
    let machine = setup.home.machine_home()?;
    let directory = setup.working_directory.clone();
    harness.installer()?.machine_hooks(
        &setup.env.machine(),
        &machine.machine()?,
        &machine.programs(),
        directory,
    )
}

/// Known gaps in the hook support of a harness version, with the version to update to; one sentence each.
pub fn version_gaps(harness: &Harness, version: Option<&str>) -> Vec<String> {
    let Some(version) = version else { return Vec::new() };
    let gaps = harness.version_gaps.iter().filter(|gap| gap.affects(version));
    gaps.map(|gap| format!("version {version} {}; update it to {} or newer", gap.description, gap.fixed_in))
        .collect()
}

/// The newest recorded event of a harness.
pub fn last_event(home: &Home, harness: &Harness) -> Option<LastHarnessEvent> {
    let reader = Reader::open(&home.ledger()).ok()?;
    let filter = Filter { harness: Some(harness.id.to_owned()), ..Filter::default() };
    let newest = reader.query(&filter, 1).ok()?.records.pop()?;
    let envelope = newest.envelope()?.ok()?;
    Some(LastHarnessEvent { seq: newest.seq, ts: envelope.ts.to_string() })
}

/// Ways in which an account or project can still run a harness without the hooks of a scope.
pub fn bypasses(harness: &Harness, scope: &SettingsScope) -> &'static [&'static str] {
    match (scope, harness.installer().map(|installer| installer.machine)) {
        (SettingsScope::Machine(_), Some(MachineScope::Outranks { bypasses, .. })) => bypasses,
        _ => &[],
    }
}

/// Name of the machine's scope in messages and JSON.
pub const MACHINE_SCOPE: &str = "machine";

/// Name of a scope in messages and JSON.
pub fn scope_name(scope: &SettingsScope) -> String {
    match scope {
        SettingsScope::User => "user".to_owned(),
        SettingsScope::Project(root) => format!("project {}", root.display()),
        SettingsScope::Machine(_) => MACHINE_SCOPE.to_owned(),
        _ => "other".to_owned(),
    }
}

/// Root of the project that contains a directory: the nearest repository above it. Without a repository, it is the
/// directory itself.
pub fn project_root(directory: &Path) -> PathBuf {
    let root = directory.ancestors().find(|directory| directory.join(".git").exists());
    root.unwrap_or(directory).to_owned()
}
