// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs the cases of `tests/cases/` that concern a single hook: when it matches, how it starts, and how its output is
//! read.
//!
//! Every case in these files is either run here or listed with the name of the test that covers it, so no new case is
//! overlooked.

mod claude_a3s;
mod llxprt_gemini;

use serde_json::{Map, Value};
use tenterhook_event::{Event, EventId, EventKind, Timestamp};

/// Ids of cases that another test covers, each with the name of that test.
type Elsewhere = &'static [(&'static str, &'static str)];

fn load(file: &str) -> Vec<Value> {
    let path = format!("{}/../../tests/cases/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    text.lines().filter(|line| !line.is_empty()).map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Runs every case except those listed in `elsewhere`. All listed cases must exist.
fn run(cases: &[Value], elsewhere: Elsewhere, check: impl Fn(&Value)) {
    let id = |case: &Value| case["id"].as_str().unwrap().to_owned();
    for (listed, _) in elsewhere {
        assert!(cases.iter().any(|case| id(case) == *listed), "`{listed}` is listed and does not exist");
    }
    for case in cases.iter().filter(|case| !elsewhere.iter().any(|(listed, _)| id(case) == *listed)) {
        check(case);
    }
}

/// Checks each key of `expect`. An unknown key is an error in this test.
fn each(case: &Value, expect: &Value, check: impl Fn(&str, &Value) -> bool) {
    let keys: &Map<String, Value> = expect.as_object().unwrap();
    for (key, expected) in keys {
        assert!(check(key, expected), "{}: `{key}` should be {expected}", case["id"]);
    }
}

fn event(source: &str, kind: EventKind, native: &str) -> Event {
    Event::new(EventId::from_parts(0, 0), Timestamp::from_unix_ms(0), source, kind, native)
}
