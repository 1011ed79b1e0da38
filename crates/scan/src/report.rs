// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Writes a report as JSON and SARIF.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Value, json};
use tenterhook_event::Decision;
use tenterhook_rulebook::Rulebook;

use crate::ScanReport;

/// Formats the report as one JSON object.
pub fn to_json(scan: &ScanReport) -> Value {
    json!({"files": scan.files, "texts": scan.texts, "findings": scan.found, "problems": scan.problems})
}

/// Formats the report in SARIF 2.1.0, with the rules that matched.
pub fn to_sarif(scan: &ScanReport, book: &Rulebook) -> Value {
    let named: BTreeSet<_> = scan.found.iter().map(|found| found.rule.as_str()).collect();
    let rules: Vec<_> = book
        .rules
        .rules()
        .filter(|rule| named.contains(rule.id()))
        .map(|rule| {
            json!({
                "id": rule.id(),
                "shortDescription": {"text": if rule.description().is_empty() { rule.id() } else { rule.description() }},
                "properties": {"severity": rule.severity(), "verdict": rule.verdict()},
            })
        })
        .collect();
    let results: Vec<_> = scan
        .found
        .iter()
        .map(|found| {
            json!({
                "ruleId": found.rule,
                "level": if found.verdict == Decision::Deny { "error" } else { "warning" },
                "message": {"text": found.reason},
                "locations": [{"physicalLocation": {
                    "artifactLocation": {"uri": uri(&found.path)},
                    "region": {"startLine": found.line, "snippet": {"text": found.text}},
                }}],
            })
        })
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "tenterhook", "version": env!("CARGO_PKG_VERSION"), "rules": rules}},
            "results": results,
        }],
    })
}

/// Formats a path as a relative or absolute URI reference, percent-encoded.
fn uri(path: &str) -> String {
    let mut text = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}
