// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tests the public interface of each codec: payloads are decoded, and replies have the effect that was measured on
//! the client.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a failing test panics")]

mod captured;
mod common;
mod golden;
mod names;
mod reader;
mod traps;

#[test]
fn no_file_of_this_suite_is_forgotten() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite");
    let main = include_str!("main.rs");
    for file in std::fs::read_dir(dir).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        let module = name.trim_end_matches(".rs");
        assert!(matches!(module, "main" | "snapshots") || main.contains(&format!("mod {module};")), "{name}");
    }
}
