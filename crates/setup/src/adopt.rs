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

use crate::hook_lines::{HookLines, Item};
use crate::{Setup, wiring};

/// Name under which receipts of an adoption are stored.
fn kept_as(harness: &Harness) -> String {
    format!("adopted-{}", harness.id)
}

/// Whether hooks of a harness were adopted.
pub fn is_adopted(home: &Home, harness: &Harness) -> bool {
    !ReceiptStore::new(&home.receipts(), &kept_as(harness)).all().is_empty()
}

/// Plans the move of the user's hooks from the harness's settings into `tenterhook.yaml`.
pub fn plan_adoption(setup: &Setup<'_>, harness: &'static Harness) -> Result<InstallPlan, Failure> {
    let home = setup.home;
    let order = wiring::order(setup, harness, &InstallOptions::default())?;
    let settings = order.directory.join("settings.json");
    let bytes = file::read(&settings)?.unwrap_or_default();
    let text = file::text(&settings, &bytes)?;
    // The plan rejects an unreadable text, with its position.
    let own = survey(text).map(|survey| survey.taken).unwrap_or_default();
    let pieces = pieces(home, &order, own.iter().map(item).collect());
    Ok(plan_install(&kept_as(harness), &order, &pieces, &home.receipts())?)
}

/// Plans the move of adopted hooks back into the harness's settings.
pub fn plan_return(setup: &Setup<'_>, harness: &'static Harness) -> Result<InstallPlan, Failure> {
    let home = setup.home;
    let order = wiring::order(setup, harness, &InstallOptions::default())?;
    let mut pieces = pieces(home, &order, Vec::new());
    // The hooks are restored before they are removed here.
    pieces.reverse();
    Ok(plan_uninstall(&kept_as(harness), &pieces, &home.receipts())?)
}

/// `tenterhook.yaml` first: for a moment a hook exists twice, but never not at all.
fn pieces(home: &Home, order: &InstallRequest, items: Vec<Item>) -> Vec<ManagedFile> {
    let lines = HookLines { name: home.settings().display().to_string(), items };
    vec![
        ManagedFile::new(home.settings(), FileContent::Edited(Box::new(lines))),
        ManagedFile::new(order.directory.join("settings.json"), FileContent::Edited(Box::new(AdoptEditor))),
    ]
}

/// A hook as written in `tenterhook.yaml`. Its name is derived from its content, so that it is adopted only once.
fn item(own: &AdoptableHook) -> Item {
    let said = format!("{:?}{:?}", own.matcher, own.settings);
    let number = said.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let id = format!("claude-{}-{:08x}", to_kebab_case(own.event), number >> 32);
    let mut lines = vec![format!("id: {id}"), format!("on: {}", own.event), "dialect: claude".to_owned()];
    lines.extend(own.matcher.iter().map(|matcher| format!("match: {}", json!(in_every_harness(matcher)))));
    lines.extend(own.settings.iter().map(|(key, value)| format!("{key}: {value}")));
    Item { id, lines }
}
