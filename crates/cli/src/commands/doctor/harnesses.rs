// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Each harness: whether it is wired as it should be, and whether its hooks were ever heard.

use std::path::Path;

use tenterhook_harness::install::receipt::Receipts;
use tenterhook_harness::install::{Installer, Plan};
use tenterhook_harness::{HARNESSES, Harness};
use tenterhook_ledger::{Filter, Reader};

use super::Patient;

pub(super) fn examine(patient: &mut Patient<'_>) {
    for harness in HARNESSES {
        let Some(installer) = &harness.installer else {
            // One that cannot be wired by us may still call us.
            if let Some(heard) = last_leaf(patient, harness) {
                patient.good(harness.title, format!("last heard of {heard}"));
            }
            continue;
        };
        let Some(settings) = patient.context.env.settings_of(installer) else { continue };
        let Ok(settings) = std::path::absolute(settings) else { continue };
        wiring(patient, harness, installer, &settings);
    }
}

fn wiring(patient: &mut Patient<'_>, harness: &'static Harness, installer: &Installer, settings: &Path) {
    let receipts = patient.home.receipts();
    let installed = match Receipts::new(&receipts, harness.id).find(settings) {
        Ok((_, stored)) => stored.is_some(),
        Err(error) => {
            patient.broken(harness.title, error.to_string()).fix = error.hint();
            return;
        }
    };
    let install = format!("`tenterhook install {}`", harness.id);
    if !installed {
        if settings.parent().is_some_and(Path::exists) {
            patient.warning(harness.title, "is here, and nothing guards it").fix(install);
        }
        return;
    }
    match (installer.plan_install)(settings, &patient.home.state, &receipts) {
        Err(error) => {
            let hint = error.hint().unwrap_or(install);
            patient.broken(harness.title, error.to_string()).fix(hint);
        }
        Ok(plan) if !plan.in_force => {
            let says = format!("is wired, but does not heed it: {}", plan.notes.join("; "));
            patient.broken(harness.title, says).fix(install);
        }
        Ok(plan) if !plan.is_noop() => lost(patient, harness, settings, plan, install),
        Ok(plan) => {
            let heard = last_leaf(patient, harness);
            for note in &plan.notes {
                patient.warning(harness.title, note.clone());
            }
            match heard {
                Some(heard) => patient.good(harness.title, format!("is guarded, last heard of {heard}")),
                None => {
                    patient
                        .warning(harness.title, "is wired, but none of its hooks was ever heard")
                        .fix("start a session in it, then look again");
                }
            }
        }
    }
}

/// Somebody took our entries out of the settings, or changed them.
fn lost(patient: &mut Patient<'_>, harness: &Harness, settings: &Path, plan: Plan, install: String) {
    let says = format!("`{}` is no longer as it was wired: it is not guarded", settings.display());
    patient
        .broken(harness.title, says)
        .fix(install)
        .mend(move |_| plan.apply().map_err(|error| crate::error::CommandError::failed(error.to_string())));
}

/// When the newest event of a harness was recorded.
fn last_leaf(patient: &Patient<'_>, harness: &Harness) -> Option<String> {
    let reader = Reader::open(&patient.home.ledger()).ok()?;
    let filter = Filter { harness: Some(harness.id.to_owned()), ..Filter::default() };
    let newest = reader.query(&filter, 1).ok()?.records.pop()?;
    let envelope = newest.envelope()?.ok()?;
    Some(format!("{} (leaf {})", envelope.ts, newest.seq))
}
