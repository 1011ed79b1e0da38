// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Adoption: moves the user's hooks from Claude Code's settings into `tenterhook.yaml`, and back.

use serde_json::json;
use tenterhook_error::Failure;
use tenterhook_harness::{Harness, to_kebab_case};
use tenterhook_harness_install::claude_code::adopt::{AdoptEditor, AdoptableHook, in_every_harness, survey};
use tenterhook_harness_install::receipt::{InstallOptions, ReceiptStore};
use tenterhook_harness_install::{
    FileContent, InstallPlan, InstallRequest, ManagedFile, file, plan_install, plan_uninstall,
};
use tenterhook_home::Home;

use crate::hook_lines::{AdoptedHook, HookLines};
use crate::{Setup, wiring};

/// Name under which receipts of an adoption are stored.
fn receipt_name(harness: &Harness) -> String {
    format!("adopted-{}", harness.id)
}

/// Whether hooks of a harness were adopted.
pub fn is_adopted(home: &Home, harness: &Harness) -> bool {
    !ReceiptStore::new(&home.receipts(), &receipt_name(harness)).all().is_empty()
}

/// Plans the move of the user's hooks from the harness's settings into `tenterhook.yaml`.
pub fn plan_adoption(setup: &Setup<'_>, harness: &'static Harness) -> Result<InstallPlan, Failure> {
    let home = setup.home;
    let request = wiring::install_request(setup, harness, &InstallOptions::default())?;
    let settings = request.directory.join("settings.json");
    let bytes = file::read(&settings)?.unwrap_or_default();
    let text = file::text(&settings, &bytes)?;
    // An invalid file yields no hooks here. The plan reports the error with its position.
    let adoptable = survey(text).map(|survey| survey.taken).unwrap_or_default();
    let files = managed_files(home, &request, adoptable.iter().map(to_adopted_hook).collect());
    Ok(plan_install(&receipt_name(harness), &request, &files, &home.receipts())?)
}

/// Plans the move of adopted hooks back into the harness's settings.
pub fn plan_return(setup: &Setup<'_>, harness: &'static Harness) -> Result<InstallPlan, Failure> {
    let home = setup.home;
    let request = wiring::install_request(setup, harness, &InstallOptions::default())?;
    let mut files = managed_files(home, &request, Vec::new());
    // Reversed order: a hook returns to the harness's settings before it is removed from `tenterhook.yaml`.
    files.reverse();
    Ok(plan_uninstall(&receipt_name(harness), &files, &home.receipts())?)
}

/// Files that an adoption changes. `tenterhook.yaml` is written first: a hook may exist twice for a moment, but it is
/// never missing.
fn managed_files(home: &Home, request: &InstallRequest, entries: Vec<AdoptedHook>) -> Vec<ManagedFile> {
    let lines = HookLines { name: home.settings().display().to_string(), entries };
    vec![
        ManagedFile::new(home.settings(), FileContent::Edited(Box::new(lines))),
        ManagedFile::new(request.directory.join("settings.json"), FileContent::Edited(Box::new(AdoptEditor))),
    ]
}

/// A hook as written in `tenterhook.yaml`. Its name is derived from its content, so that it is adopted only once.
fn to_adopted_hook(adoptable: &AdoptableHook) -> AdoptedHook {
    let content = format!("{:?}{:?}", adoptable.matcher, adoptable.settings);
    let number = content.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let id = format!("claude-{}-{:08x}", to_kebab_case(adoptable.event), number >> 32);
    let mut lines =
        vec![format!("id: {id}"), format!("on: {}", adoptable.event), "dialect: claude".to_owned()];
    lines.extend(
        adoptable.matcher.iter().map(|matcher| format!("match: {}", json!(in_every_harness(matcher)))),
    );
    lines.extend(adoptable.settings.iter().map(|(key, value)| format!("{key}: {value}")));
    AdoptedHook { id, lines }
}
