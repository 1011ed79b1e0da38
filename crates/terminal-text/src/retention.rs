// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Formats the retention of ledger records.

use tenterhook_api::RetentionStatus;

use crate::{DIM, WARN};

/// Formats the active limits, the last removal, and problems in the settings.
pub fn retention_text(status: &RetentionStatus) -> String {
    let applied = &status.applied;
    let mut limits = Vec::new();
    limits.extend(applied.max_age.as_ref().map(|age| format!("older than {age}")));
    limits.extend(applied.max_size.as_ref().map(|size| format!("beyond {size} of content")));
    let mut text = if limits.is_empty() {
        "all records are kept\n".to_owned()
    } else {
        format!("records {} are removed by the daemon\n", limits.join(", and the oldest "))
    };
    if let Some(run) = &status.last_run {
        text += &format!("  {DIM}last run{DIM:#} {}: {} removed\n", run.ended, run.removed);
        if let Some(error) = &run.error {
            text += &format!("{WARN}warning{WARN:#}: {error}\n");
        }
    }
    if let Some(problem) = &status.problem {
        text += &format!("{WARN}warning{WARN:#}: {problem}\n");
    }
    text
}
