// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Adoption: hooks that the user has in Claude Code's settings move into `tenterhook.yaml` and back.

use serde_json::json;
use tenterhook_error::Failure;
use tenterhook_harness::{Harness, kebab};
use tenterhook_harness_install::claude_code::adopt::{Moving, Own, in_every_harness, survey};
use tenterhook_harness_install::receipt::{Asked, Receipts};
use tenterhook_harness_install::{Content, Order, Piece, Plan, file, plan_install, plan_uninstall};
use tenterhook_home::Home;

use crate::hook_lines::{HookLines, Item};
use crate::{Setup, wiring};

/// The name under which the receipts of an adoption are kept.
fn kept_as(harness: &Harness) -> String {
    format!("adopted-{}", harness.id)
}

/// Whether hooks of a harness were adopted.
pub fn is_adopted(home: &Home, harness: &Harness) -> bool {
    !Receipts::new(&home.receipts(), &kept_as(harness)).all().is_empty()
}

/// Plans the move of the user's hooks from the harness's settings into `tenterhook.yaml`.
pub fn plan_adoption(setup: &Setup<'_>, harness: &'static Harness) -> Result<Plan, Failure> {
    let home = setup.home;
    let order = wiring::order(setup, harness, &Asked::default())?;
    let settings = order.directory.join("settings.json");
    let bytes = file::read(&settings)?.unwrap_or_default();
    let text = file::text(&settings, &bytes)?;
    // A text that cannot be read is refused, with its place, by the plan.
    let own = survey(text).map(|survey| survey.taken).unwrap_or_default();
    let pieces = pieces(home, &order, own.iter().map(item).collect());
    Ok(plan_install(&kept_as(harness), &order, &pieces, &home.receipts())?)
}

/// Plans the move of adopted hooks back into the harness's settings.
pub fn plan_return(setup: &Setup<'_>, harness: &'static Harness) -> Result<Plan, Failure> {
    let home = setup.home;
    let order = wiring::order(setup, harness, &Asked::default())?;
    let mut pieces = pieces(home, &order, Vec::new());
    // They are back before they are gone.
    pieces.reverse();
    Ok(plan_uninstall(&kept_as(harness), &pieces, &home.receipts())?)
}

/// Ours first: a hook stands twice for a moment rather than nowhere.
fn pieces(home: &Home, order: &Order, items: Vec<Item>) -> Vec<Piece> {
    let lines = HookLines { name: home.settings().display().to_string(), items };
    vec![
        Piece::new(home.settings(), Content::Edited(Box::new(lines))),
        Piece::new(order.directory.join("settings.json"), Content::Edited(Box::new(Moving))),
    ]
}

/// A hook as it is written in `tenterhook.yaml`. Its name comes from what it is, so that it is taken over once.
fn item(own: &Own) -> Item {
    let said = format!("{:?}{:?}", own.matcher, own.says);
    let number = said.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let id = format!("claude-{}-{:08x}", kebab(own.event), number >> 32);
    let mut lines = vec![format!("id: {id}"), format!("on: {}", own.event), "dialect: claude".to_owned()];
    lines.extend(own.matcher.iter().map(|matcher| format!("match: {}", json!(in_every_harness(matcher)))));
    lines.extend(own.says.iter().map(|(key, value)| format!("{key}: {value}")));
    Item { id, lines }
}
