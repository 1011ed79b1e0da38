// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Formats one ledger record with all its fields.

use std::fmt::Write as _;

use serde_json::Value;
use tenterhook_event::Decision;
use tenterhook_ledger::StoredRecord;
use tenterhook_records::id_reference::short_name;
use tenterhook_records::recorded::{JsonField as _, envelope, payload};

use crate::{BOLD, DIM, WARN, describe_verdict, style_of, tame};

/// Envelope fields in the order of the page; other fields have their own sections.
const ENVELOPE_FIELDS: &[&str] = &[
    "id",
    "ts",
    "recorded",
    "origin",
    "source",
    "event",
    "native_event",
    "harness_session_id",
    "session_check",
    "sender_ts",
    "tool_use_id",
    "tool",
    "agent",
    "cwd",
    "project",
    "turn_id",
    "verdict",
    "reason",
    "policy_rule_id",
    "nudge",
    "flow",
    "generation",
    "took_us",
    "what",
    "who",
    "detail",
    "log",
    "key",
    "new_key",
    "old_signature",
    "new_signature",
    "from",
    "to",
    "links",
    "signer",
];

/// Formats one record as a page. `published` is whether a published checkpoint covers the record.
pub fn record_text(record: &StoredRecord, published: bool) -> String {
    let leaf = envelope(record);
    let mut text = format!("{BOLD}record {}{BOLD:#}", record.seq);
    let _ = match leaf.field("kind").as_str() {
        Some(kind) => writeln!(text, " {DIM}{}{DIM:#}", tame(kind)),
        None => writeln!(text, " {WARN}pruned: only its hash is kept{WARN:#}"),
    };
    if let Ok(decision) = serde_json::from_value::<Decision>(leaf.field("verdict").clone()) {
        let style = style_of(decision);
        let _ = writeln!(text, "  {style}{}{style:#}", describe_verdict(decision));
    }
    text.push('\n');
    if let Some(name) = short_name(&leaf) {
        let _ = writeln!(text, "  {DIM}{:<20}{DIM:#} {name}", "name");
    }
    for name in ENVELOPE_FIELDS {
        if let Some(value) = leaf.get(name) {
            let _ = writeln!(text, "  {DIM}{name:<20}{DIM:#} {}", value_text(value));
        }
    }
    let _ = writeln!(text, "  {DIM}{:<20}{DIM:#} {}", "hash", record.hash);
    let _ = writeln!(
        text,
        "  {DIM}{:<20}{DIM:#} {}",
        "signed",
        if published {
            "in a published checkpoint"
        } else {
            "with its commit; not in a published checkpoint yet"
        }
    );
    let steps = leaf.field("trace").as_array().map(Vec::as_slice).unwrap_or_default();
    if !steps.is_empty() {
        let _ = writeln!(text, "\n{BOLD}Trace{BOLD:#}");
    }
    for step in steps {
        let part = |key: &str| tame(step.field(key).as_str().unwrap_or_default());
        let _ = match step.field("cut").as_u64() {
            Some(cut) => writeln!(text, "  {WARN}{cut} more omitted{WARN:#}"),
            None => writeln!(
                text,
                "  {:<30} {} {} {DIM}{}{DIM:#}",
                part("by"),
                part("status"),
                part("decision"),
                part("note")
            ),
        };
    }
    if !leaf.field("facts").is_null() {
        let _ = writeln!(text, "\n{BOLD}Facts{BOLD:#}\n{}", indented_json(leaf.field("facts")));
    }
    if let Some(stored) = &record.payload {
        let redacted = leaf.field("payload").field("redacted").as_u64().unwrap_or_default();
        let secrets = if redacted > 0 { format!(", {redacted} secrets redacted") } else { String::new() };
        let _ = writeln!(
            text,
            "\n{BOLD}Payload{BOLD:#} {DIM}{} bytes{secrets}{DIM:#}",
            leaf.field("payload").field("bytes")
        );
        let _ = match (&stored.salt, &stored.bytes) {
            (None, _) => writeln!(text, "  {WARN}erased{WARN:#}"),
            (_, None) => {
                writeln!(text, "  {WARN}too large to store: only its commitment is recorded{WARN:#}")
            }
            _ => writeln!(text, "{}", indented_json(&payload(record))),
        };
    }
    text
}

fn value_text(value: &Value) -> String {
    tame(&value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned))
}

fn indented_json(value: &Value) -> String {
    let pretty = serde_json::to_string_pretty(value).unwrap_or_default();
    pretty.lines().map(|line| format!("  {}", tame(line))).collect::<Vec<_>>().join("\n")
}
