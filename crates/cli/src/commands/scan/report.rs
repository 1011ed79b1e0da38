// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What was found, for people, for programs and for code scanning services.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Value, json};
use tenterhook_event::Decision;

use super::Scan;
use crate::ruling::Rulebook;
use crate::terminal::{BOLD, DIM, GOOD, WARN, count, style_of, tame};

pub(super) fn text(scan: &Scan) -> String {
    let mut text = String::new();
    for found in &scan.found {
        let style = style_of(found.verdict);
        let _ = writeln!(
            text,
            "{}:{}: {style}{}{style:#} {BOLD}{}{BOLD:#} — {}",
            tame(&found.path),
            found.line,
            found.verdict,
            found.rule,
            tame(&found.reason)
        );
        let _ = writeln!(text, "    {DIM}{}{DIM:#}", tame(&found.text));
    }
    for problem in &scan.problems {
        let _ = writeln!(text, "{WARN}not read{WARN:#} {}", tame(&problem.to_string()));
    }
    let of = |verdict| scan.found.iter().filter(|found| found.verdict == verdict).count();
    let (denied, asked) = (of(Decision::Deny), of(Decision::Ask));
    let seen = format!("{} in {}", count(scan.texts, "text"), count(scan.files, "file"));
    let _ = match (denied, asked) {
        (0, 0) => writeln!(text, "{GOOD}✓{GOOD:#} {seen}: nothing found"),
        _ => writeln!(text, "{seen}: {denied} to deny, {asked} to ask about"),
    };
    text
}

pub(super) fn json(scan: &Scan) -> Value {
    json!({"files": scan.files, "texts": scan.texts, "findings": scan.found, "problems": scan.problems})
}

pub(super) fn sarif(scan: &Scan, book: &Rulebook) -> Value {
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

/// A path as a relative or absolute reference: what an address may not hold is written in hex.
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
