// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Texts that the fuzzer found must not fail again.

#![expect(clippy::unwrap_used, reason = "this is a test with helpers")]

use std::path::{Path, PathBuf};

use tenterhook_fuzz::check::check;
use tenterhook_fuzz::targets::TARGETS;

/// Texts that still fail, each with the reason. If a listed text passes, the test fails. Slow texts are not
/// run.
const KNOWN_FAILURES: &[(&str, &str)] = &[];

fn regression_files(target: &str) -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions").join(target);
    let Ok(files) = std::fs::read_dir(dir) else { return Vec::new() };
    let mut paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    paths.sort();
    paths
}

#[test]
fn regressions_do_not_fail_again() {
    let mut wrong = Vec::new();
    let mut read = 0;
    for target in TARGETS {
        for path in regression_files(target.name) {
            let text = std::fs::read_to_string(&path).unwrap();
            let name = format!("{}/{}", target.name, path.file_name().unwrap().display());
            let open = KNOWN_FAILURES.iter().any(|(open, _)| *open == name);
            read += 1;
            if open && name.contains("/slow-") {
                continue;
            }
            match check(target, &text) {
                Err(what) if !open => wrong.push(format!("{name}: {what:?}")),
                Ok(_) if open => wrong.push(format!("{name} is listed as open, but goes well")),
                _ => {}
            }
        }
    }
    assert!(read > 0, "no regression files were found");
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn every_target_handles_its_seeds() {
    for target in TARGETS {
        let seeds = (target.seeds)();
        assert!(!seeds.is_empty(), "{} has nothing to start from", target.name);
        for text in seeds.iter().step_by(seeds.len() / 20 + 1) {
            let checked = check(target, text);
            assert!(checked.is_ok(), "{}: {text}: {checked:?}", target.name);
        }
    }
}
