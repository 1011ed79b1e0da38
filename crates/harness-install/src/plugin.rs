// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Hooks as a plugin file, for clients that load code instead of calling a command.

use serde_json::json;
use tenterhook_harness::{EventRow, InstallWiring};

use crate::{InstallError, InstallRequest, OwnedFile, has_mark};

/// Deadline for one call of the hook program. It is longer than the program's own timeout.
const PLUGIN_DEADLINE_MS: u64 = 60_000;

/// A plugin made from a template, in which `"@SHIM@"` and similar placeholders are replaced.
pub(crate) fn plugin_file(
    order: &InstallRequest,
    template: &str,
    events: &[EventRow],
) -> Result<OwnedFile, InstallError> {
    let guarded = events.iter().filter(|row| row.wiring == InstallWiring::Guard);
    let wired = events.iter().filter(|row| !matches!(row.wiring, InstallWiring::Skip(_)));
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
    Ok(OwnedFile {
        bytes: text.into_bytes(),
        mode: 0o644,
        is_ours: has_mark,
        holds: vec![shim.to_string()],
        warnings: Vec::new(),
    })
}
