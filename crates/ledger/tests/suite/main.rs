// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tests of the ledger through its public API.

#![cfg(feature = "store")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test that cannot go on should stop where it is; it may read its own environment and say how far it is"
)]

mod brief;
mod common;
mod counters;
mod crash;
mod disk;
mod durable;
mod failures;
mod index;
mod key;
mod migrate;
mod query;
mod redact;
mod remove;
mod retention;
mod sinks;
mod spec;
mod store;
mod supersede;
mod tamper;
mod tamper_export;
mod tamper_tiles;
mod torn_writes;
mod tree;

#[test]
fn no_file_of_this_suite_is_forgotten() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite");
    let main = include_str!("main.rs");
    for file in std::fs::read_dir(dir).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        let module = name.trim_end_matches(".rs");
        assert!(module == "main" || main.contains(&format!("mod {module};")), "{name}");
    }
}
