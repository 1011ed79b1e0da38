// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tests of snapshots and their restoration, on real repositories and with real git commands.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot go on should stop where it is; it may read its own environment"
)]

mod conflicts;
mod crash;
mod file_calls;
mod git_calls;
mod large;
mod limits;
mod project;
mod repositories;

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
