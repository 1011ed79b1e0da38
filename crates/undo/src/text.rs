// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Formats plans and results for terminals. The caller prints the text.

use std::fmt::Write as _;
use std::path::Path;

use crate::plan::{PlannedRestore, RestoreAction, RestorePlan};
use crate::restore::RestoreReport;

const SECOND_MS: u64 = 1000;
const KIB: u64 = 1024;

/// Formats a plan: one line per path or ref, and a summary.
pub fn format_plan(plan: &RestorePlan) -> String {
    let mut text = String::new();
    let project = plan.snapshot.project.as_path();
    for planned in &plan.items {
        let (verb, reason) = match &planned.action {
            RestoreAction::Create => ("create", None),
            RestoreAction::Replace => ("replace", None),
            RestoreAction::Conflict { reason } => ("conflict", Some(reason)),
            RestoreAction::Blocked { reason } => ("blocked", Some(reason)),
        };
        let _ = write!(text, "{verb:<9} {}", name_item(planned, project));
        if let Some(reason) = reason {
            let _ = write!(text, " ({})", escape(reason));
        }
        text.push('\n');
    }
    for skipped in &plan.snapshot.skipped {
        let path = escape_path(skipped.path.as_path());
        let _ = writeln!(text, "not saved {path} ({})", escape(&skipped.reason));
    }
    let _ = writeln!(
        text,
        "{} to restore, {} changed after the call, {} unchanged",
        plan.count_restorable(),
        plan.count_conflicts(),
        plan.unchanged
    );
    text
}

/// Formats the result of a restore.
pub fn format_report(report: &RestoreReport, project: &Path) -> String {
    let mut text = String::new();
    for planned in &report.left {
        if let RestoreAction::Conflict { reason } | RestoreAction::Blocked { reason } = &planned.action {
            let _ = writeln!(text, "left      {} ({})", name_item(planned, project), escape(reason));
        }
    }
    let _ = writeln!(text, "{} restored, {} left", report.restored.len(), report.left.len());
    if let Some(saved) = &report.saved {
        let _ = writeln!(text, "the replaced files are in snapshot {saved}");
    }
    text
}

fn name_item(planned: &PlannedRestore, project: &Path) -> String {
    let path = planned.path.as_path();
    match &planned.git_ref {
        Some(name) => escape(name),
        None => escape_path(path.strip_prefix(project).unwrap_or(path)),
    }
}

/// Replaces control characters, because the names of files are chosen by others.
fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_control() {
            safe.extend(letter.escape_default());
        } else {
            safe.push(letter);
        }
    }
    safe
}

fn escape_path(path: &Path) -> String {
    escape(&path.to_string_lossy())
}

/// Formats the age of a snapshot: `3 s`, `5 min`, `2 h`, `4 d`.
pub fn format_age(age_ms: u64) -> String {
    let seconds = age_ms / SECOND_MS;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..86_400 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// Formats the size of a snapshot: `702 B`, `5 MiB`.
pub fn format_bytes(bytes: u64) -> String {
    match bytes {
        0..KIB => format!("{bytes} B"),
        _ if bytes < KIB * KIB => format!("{} KiB", bytes / KIB),
        _ => format!("{} MiB", bytes / (KIB * KIB)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(escape("a\u{1b}[2Jb\nc"), "a\\u{1b}[2Jb\\nc");
        assert_eq!(format_age(3_600_000), "1 h");
        assert_eq!(format_bytes(5 * 1024 * 1024), "5 MiB");
    }
}
