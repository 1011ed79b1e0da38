// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Formats calls that wait for an approval.

use std::fmt::Write as _;

use serde_json::Value;
use tenterhook_records::recorded::JsonField as _;

use crate::{BOLD, DIM, WARN, tame};

/// Formats a waiting call. Agents choose most of these strings, so control characters are removed.
pub fn approval_text(approval: &Value) -> String {
    let part = |key: &str| tame(approval.field(key).as_str().unwrap_or_default());
    let mut text = format!(
        "{BOLD}{}{BOLD:#}  {BOLD}{}{BOLD:#}  {} {}",
        part("name"),
        part("id"),
        part("source"),
        part("tool"),
    );
    if let Some(until) = approval.field("until").as_str() {
        let _ = write!(text, "  {DIM}until {}{DIM:#}", tame(until));
    }
    let _ = writeln!(text, "\n  {WARN}{}{WARN:#}", part("wants"));
    for reason in approval.field("reasons").as_array().into_iter().flatten() {
        let (by, reason) = (reason.field("by"), reason.field("said"));
        let plain = |value: &Value| tame(value.as_str().unwrap_or_default());
        let _ = writeln!(text, "  {DIM}{}{DIM:#} {}", plain(by), plain(reason));
    }
    if let Some(cwd) = approval.field("cwd").as_str() {
        let _ = writeln!(text, "  {DIM}in{DIM:#} {}", tame(cwd));
    }
    text
}

/// Formats all arguments of the call.
pub fn arguments_text(approval: &Value) -> String {
    let mut text = String::new();
    if !approval.field("args").is_null() {
        let args = serde_json::to_string_pretty(approval.field("args")).unwrap_or_default();
        for line in args.lines() {
            let _ = writeln!(text, "  {DIM}│{DIM:#} {}", tame(line));
        }
    }
    text
}
