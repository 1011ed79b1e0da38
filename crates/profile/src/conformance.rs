// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs the cases that were recorded from the harnesses. Every case in a file is either run or listed with the reason
//! why not.

mod claude_a3s;
mod llxprt_gemini;

use std::collections::BTreeSet;

use serde_json::Value;

/// A case recorded from a harness.
struct Case(Value);

impl Case {
    fn all(file: &str) -> Vec<Self> {
        let path = format!("{}/../../tests/cases/{file}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        text.lines().map(|line| Self(serde_json::from_str(line).unwrap())).collect()
    }

    fn id(&self) -> &str {
        self.0["id"].as_str().unwrap()
    }

    fn given(&self, key: &str) -> &Value {
        &self.0["given"][key]
    }

    fn expect(&self) -> impl Iterator<Item = (&str, &Value)> {
        // These keys are notes for readers, not expectations.
        let prose = ["note", "why", "rule", "then"];
        let expect = self.0["expect"].as_object().unwrap();
        expect.iter().map(|(key, value)| (key.as_str(), value)).filter(move |(key, _)| !prose.contains(key))
    }
}

/// Whether all expected values are present. `null` means that the value must be absent, and a dotted key is a path.
fn has(actual: &Value, expected: &Value) -> bool {
    match expected {
        Value::Object(fields) => fields.iter().all(|(key, expected)| {
            let pointer = format!("/{}", key.replace('.', "/"));
            let actual =
                actual.pointer(&pointer).or_else(|| actual.pointer(&format!("/hookSpecificOutput{pointer}")));
            has(actual.unwrap_or(&Value::Null), expected)
        }),
        _ => actual == expected,
    }
}

/// Runs all cases that are not in `not_run`. Every id in `not_run` must exist.
fn run(file: &str, not_run: &[(&str, &[&str])], check: fn(&Case)) {
    let cases = Case::all(file);
    let as_list: BTreeSet<&str> = not_run.iter().flat_map(|(_, ids)| ids.iter().copied()).collect();
    let known: BTreeSet<&str> = cases.iter().map(Case::id).collect();
    assert_eq!(as_list.difference(&known).collect::<Vec<_>>(), [&""; 0], "listed, but there is no such case");
    for case in cases.iter().filter(|case| !as_list.contains(case.id())) {
        check(case);
    }
}
