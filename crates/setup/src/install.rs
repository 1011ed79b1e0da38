// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Plans and applies the installation of hooks in a harness.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;
use tenterhook_api::HarnessPlan;
use tenterhook_error::Failure;
use tenterhook_guard::snapshot;
use tenterhook_harness::Harness;
use tenterhook_harness_install::receipt::InstallOptions;
use tenterhook_harness_install::{InstallPlan, SettingsScope, detect};
use tenterhook_home::{Home, WorkDirs, make_public_dir, write_atomic};

use crate::{Setup, hook_programs, wiring};

/// The only harness that sends hook calls over HTTP.
const HTTP_HARNESS: &str = "claude-code";
/// The program that the settings of harnesses name.
const HOOK_PROGRAM: &str = "tenterhook-hook";

/// A change of one harness's settings.
#[derive(Debug)]
pub struct Proposal {
    /// The harness of the change.
    pub harness: &'static Harness,
    /// Options of the install.
    pub asked: InstallOptions,
    /// The planned change.
    pub plan: InstallPlan,
}

/// Plans the installation of hooks. Nothing is changed.
pub fn plan_install(
    setup: &Setup<'_>,
    harness: &'static Harness,
    asked: &InstallOptions,
) -> Result<Proposal, Failure> {
    if asked.http && harness.id != HTTP_HARNESS {
        return Err(Failure::user(format!("{} does not support hooks over HTTP", harness.title))
            .hint("omit `--transport`"));
    }
    let request = wiring::install_request(setup, harness, asked)?;
    let mut plan = wiring::installer(harness)?.plan_install(&request, &setup.home.receipts())?;
    let version = detect(harness, &setup.env.machine()).and_then(|found| found.version);
    plan.notes.extend(wiring::version_gaps(harness, version.as_deref()));
    Ok(Proposal { harness, asked: asked.clone(), plan })
}

/// Applies planned changes and installs this version's hook programs. Each change is recorded before it is made.
pub fn apply_install(setup: &Setup<'_>, proposals: &[Proposal]) -> Result<(), Failure> {
    hook_programs::check_replacement(setup)?;
    proposals.iter().try_for_each(|proposal| apply(setup, proposal))
}

fn apply(setup: &Setup<'_>, proposal: &Proposal) -> Result<(), Failure> {
    let (home, Proposal { harness, asked, plan }) = (setup.home, proposal);
    if !plan.is_noop() {
        let detail = json!({
            "harness": harness.id,
            "settings": plan.settings(),
            "scope": wiring::scope_name(&asked.scope),
        });
        home.create()?;
        setup.host.record_change("install", detail)?;
    }
    // Programs are installed first, because settings must not name a missing program.
    hook_programs::install_programs(setup)?;
    keep_status_line(home, harness.id, plan.chained.as_deref())?;
    // Harnesses of every account read the machine's settings.
    let files = plan.steps.iter().map(|step| step.change.path.as_path());
    let public: Vec<_> = files.filter(|_| matches!(asked.scope, SettingsScope::Machine(_))).collect();
    for directory in public.iter().filter_map(|path| path.parent()) {
        make_public_dir(directory)?;
    }
    plan.apply()?;
    for settings in public {
        fs_err::set_permissions(settings, std::fs::Permissions::from_mode(0o644))?;
    }
    // Without a snapshot, a hook that finds no daemon would have to read the policy files itself.
    snapshot::write(home, setup.env, &WorkDirs::default()).map(drop)
}

/// Stores the user's own status line command, because Tenterhook's status line also runs that command. `None` removes
/// it.
pub fn keep_status_line(home: &Home, harness: &str, command: Option<&str>) -> Result<(), Failure> {
    let path = tenterhook_shim::status::chain_file(&home.state, harness);
    match command {
        Some(command) => write_atomic(&path, command.as_bytes(), 0o600),
        None => match fs_err::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        },
    }
}

/// A proposal in the format of the API and `--json`. `done` means that the change was made.
pub fn describe(setup: &Setup<'_>, proposal: &Proposal, done: bool) -> HarnessPlan {
    let (home, Proposal { harness, asked, plan }) = (setup.home, proposal);
    let shown = |path: &std::path::Path| path.display().to_string();
    HarnessPlan {
        harness: harness.id.to_owned(),
        scope: wiring::scope_name(&asked.scope),
        settings: plan.settings().map(shown),
        files: plan.steps.iter().map(|step| shown(&step.change.path)).collect(),
        changed: done && !plan.is_noop(),
        diff: plan.diff(),
        notes: plan.notes.clone(),
        pending: plan.pending.clone(),
        program: Some(shown(&home.bin().join(HOOK_PROGRAM))),
        home: Some(shown(&home.state)),
        in_force: plan.in_force,
        last_heard: wiring::last_event(home, harness),
        bypasses: wiring::bypasses(harness, &asked.scope).iter().map(|way| (*way).to_owned()).collect(),
    }
}
