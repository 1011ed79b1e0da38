// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Our hooks as a plugin, for clients that load code instead of calling a command: one file that is all ours.

use serde_json::json;
use tenterhook_harness::{EventRow, Wiring};

use crate::{InstallError, Order, Owned, marked};

/// More than the hook program takes, whatever it waits for.
const PLUGIN_DEADLINE_MS: u64 = 60_000;

/// The plugin made of a template, in which `"@SHIM@"` and the like are filled in.
pub(crate) fn plugin_file(order: &Order, template: &str, events: &[EventRow]) -> Result<Owned, InstallError> {
    let guarded = events.iter().filter(|row| row.wiring == Wiring::Guard);
    let wired = events.iter().filter(|row| !matches!(row.wiring, Wiring::Left(_)));
    let shim = json!(order.program_path("tenterhook-hook")?);
    let filled = [
        ("SHIM", shim.clone()),
        ("GUARDED", guarded.map(|row| row.native).collect()),
        ("WIRED", wired.map(|row| row.native).collect()),
        ("DEADLINE_MS", json!(PLUGIN_DEADLINE_MS)),
    ];
    let text = filled.into_iter().fold(template.to_owned(), |text, (name, value)| {
        text.replace(&format!("\"@{name}@\""), &value.to_string())
    });
    Ok(Owned {
        bytes: text.into_bytes(),
        mode: 0o644,
        is_ours: marked,
        holds: vec![shim.to_string()],
        warnings: Vec::new(),
    })
}
