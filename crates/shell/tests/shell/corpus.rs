// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Test texts: the tuning corpora and generated scripts. The held-out corpus is never read.

use std::path::Path;

use serde_json::Value;

use crate::generate;

const GENERATED: u64 = 2_000;

pub(crate) fn commands() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus");
    let mut all = Vec::new();
    for name in ["tuning.jsonl", "tuning-files.jsonl", "tuning-network.jsonl"] {
        for line in std::fs::read_to_string(folder.join(name)).unwrap().lines() {
            let row: Value = serde_json::from_str(line).unwrap();
            all.push(row["command"].as_str().unwrap().to_owned());
        }
    }
    all
}

pub(crate) fn generated() -> Vec<String> {
    (0..GENERATED).map(generate::script).collect()
}
