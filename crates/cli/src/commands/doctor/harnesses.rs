// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Checks each harness: whether its hooks are installed, and when its last event was recorded.

use tenterhook_harness::{HARNESSES, Harness};
use tenterhook_harness_install::HarnessClient as _;
use tenterhook_harness_install::receipt::{self, InstallOptions, UnreadableReceipt};
use tenterhook_harness_install::{InstallPlan, Installer, MachineHooks, MachineScope, SettingsScope, detect};

use super::Examination;
use tenterhook_setup::wiring::{self, HookState};

pub(super) fn check_harnesses(examination: &mut Examination<'_>) {
    for UnreadableReceipt { path, reason } in receipt::every(&examination.home.receipts()).unreadable {
        let status = format!("cannot read `{}`, so its hooks are not checked: {reason}", path.display());
        examination.broken("receipts", status).fix("remove the file, then run `tenterhook install` again");
    }
    for harness in HARNESSES {
        check_version(examination, harness);
        let Some(installer) = harness.installer() else {
            check_unguarded(examination, harness);
            continue;
        };
        // Hooks that are installed through another harness's settings are checked with that harness.
        let asked = wiring::installed_options(examination.home, installer);
        if installer.wired_as != harness.id && !asked.is_empty() {
            continue;
        }
        if asked.is_empty() {
            check_missing(examination, harness, installer);
        }
        for asked in asked {
            check_guarded(examination, harness, &asked);
        }
    }
}

/// Warns about versions whose hooks miss some calls.
fn check_version(examination: &mut Examination<'_>, harness: &'static Harness) {
    let version = detect(harness, &examination.context.env.machine()).and_then(|found| found.version);
    for gap in wiring::version_gaps(harness, version.as_deref()) {
        examination.warning(harness.title, gap).fix(format!("update {}", harness.title));
    }
}

/// Checks a harness that has no installer; it may still call the hook program.
fn check_unguarded(examination: &mut Examination<'_>, harness: &'static Harness) {
    if let Some(last_event) = last_event_time(examination, harness) {
        examination.good(harness.title, format!("last event {last_event}"));
    } else if let Some(why) = wiring::unsupported_reason(harness)
        && detect(harness, &examination.context.env.machine()).is_some()
    {
        let status = format!("is installed, but cannot be guarded: {why}");
        examination.warning(harness.title, status).fix("use its own permission settings");
    }
}

fn check_missing(examination: &mut Examination<'_>, harness: &'static Harness, installer: &Installer) {
    let ground = examination.context.env.machine();
    // A harness with existing settings is reported even if its program is not found.
    let has_settings = harness.id == installer.wired_as
        && (installer.directory)(&ground, &SettingsScope::User).is_some_and(|directory| directory.exists());
    if detect(harness, &ground).is_some() || has_settings {
        if let Some(hooks) = wiring::machine_hooks(&examination.host().setup(), harness) {
            return check_machine_hooks(examination, harness, &hooks);
        }
        let system = match (examination.home.machine(), installer.machine) {
            (Some(_), MachineScope::Cannot(why)) => {
                let status = format!("is installed, but cannot be guarded for the whole machine: {why}");
                let fix = format!("guard each account that uses it: `tenterhook install {}`", harness.id);
                examination.warning(harness.title, status).fix(fix);
                return;
            }
            (Some(_), MachineScope::Outranks { .. }) => " --system",
            (None, _) => "",
        };
        let fix = format!("`tenterhook install {}{system}`", harness.id);
        examination.warning(harness.title, "is installed, but not guarded").fix(fix);
    }
}

/// Checks a harness with machine-wide hooks. Its events are recorded in the machine's ledger, not in this one.
fn check_machine_hooks(examination: &mut Examination<'_>, harness: &'static Harness, hooks: &MachineHooks) {
    let settings = hooks.settings.display();
    if !hooks.in_force {
        let notes = hooks.notes.join("; ");
        let status = format!("has hooks in machine-wide settings, but does not run them: {notes}");
        examination
            .broken(harness.title, status)
            .fix("change the settings as described, then run `tenterhook doctor` again");
        return;
    }
    for note in &hooks.notes {
        examination.warning(harness.title, note.clone()).fix("change the settings as described, if you can");
    }
    if hooks.is_current {
        examination.good(harness.title, format!("is guarded by machine-wide settings (`{settings}`)"));
    } else {
        let status = format!("has machine-wide hooks of another version (`{settings}`)");
        examination.warning(harness.title, status).fix("run `tenterhook doctor --system` as administrator");
    }
}

fn check_guarded(examination: &mut Examination<'_>, harness: &'static Harness, asked: &InstallOptions) {
    let scope = match asked.scope {
        SettingsScope::User => "",
        SettingsScope::Machine(_) => " --system",
        _ => " --scope project",
    };
    let install = format!("`tenterhook install {}{scope}`", harness.id);
    let plan = match wiring::compare_hooks(&examination.host().setup(), harness, asked) {
        Err(error) => {
            let fix = error.hints.first().cloned().unwrap_or(install);
            examination.broken(harness.title, error.message).fix(fix);
            return;
        }
        Ok(HookState::Lost(plan)) if plan.in_force => {
            return report_lost_hooks(examination, harness, plan, install);
        }
        Ok(HookState::Complete(plan) | HookState::Lost(plan)) => plan,
    };
    if !plan.in_force {
        let status = format!("has hooks, but does not run them: {}", plan.notes.join("; "));
        // Other settings prevent the harness from running the hooks, so installing again would change nothing.
        let fix = "change the settings as described, then run `tenterhook doctor` again";
        examination.broken(harness.title, status).fix(fix);
        return;
    }
    for note in &plan.notes {
        examination.warning(harness.title, note.clone()).fix("change the settings as described, if you can");
    }
    if let Some(todo) = plan.pending.first() {
        examination
            .broken(harness.title, "has hooks, but does not run them until you have done this")
            .fix(todo);
        return;
    }
    if let Some(last_event) = last_event_time(examination, harness) {
        examination.good(harness.title, format!("is guarded, last event {last_event}"));
        return;
    }
    let fix = format!("start a session and wait for a call: `tenterhook doctor --probe {}`", harness.id);
    examination.warning(harness.title, "has hooks, but none was called yet").fix(fix);
}

/// Reports hooks that were changed or removed in the settings.
fn report_lost_hooks(
    examination: &mut Examination<'_>,
    harness: &Harness,
    plan: InstallPlan,
    install: String,
) {
    let changed = plan.steps.iter().filter(|step| !step.is_noop());
    let files: Vec<_> = changed.map(|step| format!("`{}`", step.change.path.display())).collect();
    let status = format!("is not guarded: hooks were changed or removed in {}", files.join(" and "));
    examination.broken(harness.title, status).fix(install).with_fix(move |_| {
        plan.apply().map_err(|error| crate::error::CommandError::internal(error.to_string()))
    });
}

/// Formats the time and record number of a harness's newest event.
fn last_event_time(examination: &Examination<'_>, harness: &Harness) -> Option<String> {
    let last_event = wiring::last_event(examination.home, harness)?;
    Some(format!("{} (record {})", last_event.ts, last_event.seq))
}
