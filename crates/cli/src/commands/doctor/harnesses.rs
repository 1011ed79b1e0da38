// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Each harness: whether it is wired as it should be, and whether its hooks were ever heard.

use tenterhook_harness::{HARNESSES, Harness};
use tenterhook_harness_install::HarnessClient as _;
use tenterhook_harness_install::receipt::{self, InstallOptions, UnreadableReceipt};
use tenterhook_harness_install::{InstallPlan, Installer, MachineHooks, MachineScope, SettingsScope, detect};

use super::Examination;
use tenterhook_setup::wiring::{self, Wired};

pub(super) fn examine(examination: &mut Examination<'_>) {
    for UnreadableReceipt { path, reason } in receipt::every(&examination.home.receipts()).unreadable {
        let says = format!("`{}` cannot be read, so its hooks are not checked: {reason}", path.display());
        examination.broken("receipts", says).fix("remove the file, then `tenterhook install` again");
    }
    for harness in HARNESSES {
        check_version(examination, harness);
        let Some(installer) = harness.installer() else {
            check_unguarded(examination, harness);
            continue;
        };
        // Hooks that another harness's row wires are looked at there.
        let asked = wiring::asked(examination.home, installer);
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

/// A version whose hooks do not see everything.
fn check_version(examination: &mut Examination<'_>, harness: &'static Harness) {
    let version = detect(harness, &examination.context.env.machine()).and_then(|found| found.version);
    for gap in wiring::version_gaps(harness, version.as_deref()) {
        examination.warning(harness.title, gap).fix(format!("update {}", harness.title));
    }
}

/// One that cannot be wired by us may still call us.
fn check_unguarded(examination: &mut Examination<'_>, harness: &'static Harness) {
    if let Some(heard) = last_event_time(examination, harness) {
        examination.good(harness.title, format!("last heard of {heard}"));
    } else if let Some(why) = wiring::unheard(harness)
        && detect(harness, &examination.context.env.machine()).is_some()
    {
        let says = format!("is here, and cannot be guarded: {why}");
        examination.warning(harness.title, says).fix("use its own permissions until it calls hooks");
    }
}

fn check_missing(examination: &mut Examination<'_>, harness: &'static Harness, installer: &Installer) {
    let ground = examination.context.env.machine();
    // Settings that were made for it count even where the program is elsewhere.
    let has_settings = harness.id == installer.wired_as
        && (installer.directory)(&ground, &SettingsScope::User).is_some_and(|directory| directory.exists());
    if detect(harness, &ground).is_some() || has_settings {
        if let Some(hooks) = wiring::machine_hooks(&examination.host().setup(), harness) {
            return check_machine_hooks(examination, harness, &hooks);
        }
        let system = match (examination.home.machine(), installer.machine) {
            (Some(_), MachineScope::Cannot(why)) => {
                let says = format!("is here, and cannot be guarded for the whole machine: {why}");
                let fix = format!("guard each account that uses it: `tenterhook install {}`", harness.id);
                examination.warning(harness.title, says).fix(fix);
                return;
            }
            (Some(_), MachineScope::Outranks { .. }) => " --system",
            (None, _) => "",
        };
        let fix = format!("`tenterhook install {}{system}`", harness.id);
        examination.warning(harness.title, "is here, and nothing guards it").fix(fix);
    }
}

/// A harness whose hooks are in the settings of the machine. Its events are recorded there, so there is no last one here.
fn check_machine_hooks(examination: &mut Examination<'_>, harness: &'static Harness, hooks: &MachineHooks) {
    let settings = hooks.settings.display();
    if !hooks.in_force {
        let notes = hooks.notes.join("; ");
        let says = format!("has hooks in the settings of the machine, but does not run them: {notes}");
        examination
            .broken(harness.title, says)
            .fix("change the settings as described, then run `tenterhook doctor` again");
        return;
    }
    for note in &hooks.notes {
        examination.warning(harness.title, note.clone()).fix("change the settings as described, if you can");
    }
    if hooks.is_current {
        examination.good(harness.title, format!("is guarded by the settings of the machine (`{settings}`)"));
    } else {
        let says = format!(
            "has hooks in the settings of the machine that differ from this version's (`{settings}`)"
        );
        examination.warning(harness.title, says).fix("let an administrator run `tenterhook doctor --system`");
    }
}

fn check_guarded(examination: &mut Examination<'_>, harness: &'static Harness, asked: &InstallOptions) {
    let scope = match asked.scope {
        SettingsScope::User => "",
        SettingsScope::Machine(_) => " --system",
        _ => " --scope project",
    };
    let install = format!("`tenterhook install {}{scope}`", harness.id);
    let plan = match wiring::wired(&examination.host().setup(), harness, asked) {
        Err(error) => {
            let fix = error.hints.first().cloned().unwrap_or(install);
            examination.broken(harness.title, error.message).fix(fix);
            return;
        }
        Ok(Wired::Lost(plan)) if plan.in_force => {
            return report_lost_hooks(examination, harness, plan, install);
        }
        Ok(Wired::Well(plan) | Wired::Lost(plan)) => plan,
    };
    if !plan.in_force {
        let says = format!("is wired, but does not heed it: {}", plan.notes.join("; "));
        // What keeps the harness from heeding our hooks is in its settings; installing again changes nothing.
        let fix = "change the settings as described, then look again with `tenterhook doctor`";
        examination.broken(harness.title, says).fix(fix);
        return;
    }
    for note in &plan.notes {
        examination.warning(harness.title, note.clone()).fix("look at it, and change it if you can");
    }
    if let Some(todo) = plan.pending.first() {
        examination
            .broken(harness.title, "is wired, but runs none of it until you have done one thing")
            .fix(todo);
        return;
    }
    match last_event_time(examination, harness) {
        Some(heard) => examination.good(harness.title, format!("is guarded, last heard of {heard}")),
        None => {
            examination.warning(harness.title, "is wired, but none of its hooks was ever heard").fix(
                format!("start a session in it, then look again: `tenterhook doctor --probe {}`", harness.id),
            );
        }
    }
}

/// Somebody took our entries out of the settings, or changed them.
fn report_lost_hooks(
    examination: &mut Examination<'_>,
    harness: &Harness,
    plan: InstallPlan,
    install: String,
) {
    let changed = plan.steps.iter().filter(|step| !step.is_noop());
    let files: Vec<_> = changed.map(|step| format!("`{}`", step.change.path.display())).collect();
    let says = format!("{} is no longer as it was wired: it is not guarded", files.join(" and "));
    examination.broken(harness.title, says).fix(install).with_fix(move |_| {
        plan.apply().map_err(|error| crate::error::CommandError::internal(error.to_string()))
    });
}

/// When the newest event of a harness was recorded.
fn last_event_time(examination: &Examination<'_>, harness: &Harness) -> Option<String> {
    let heard = wiring::last_heard(examination.home, harness)?;
    Some(format!("{} (leaf {})", heard.ts, heard.seq))
}
