// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What the fuzzer once found does not go wrong again.

#![expect(clippy::unwrap_used, reason = "it is a test, helpers and all")]

use std::path::{Path, PathBuf};

use tenterhook_fuzz::check::check;
use tenterhook_fuzz::targets::TARGETS;

/// Texts that still go wrong, each with the reason. One that does not any more fails the test. Those
/// about time are not read: they take it.
const OPEN: &[(&str, &str)] = &[];

fn texts(target: &str) -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions").join(target);
    let Ok(files) = std::fs::read_dir(dir) else { return Vec::new() };
    let mut paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    paths.sort();
    paths
}

#[test]
fn what_was_found_once_stays_mended() {
    let mut wrong = Vec::new();
    let mut read = 0;
    for target in TARGETS {
        for path in texts(target.name) {
            let text = std::fs::read_to_string(&path).unwrap();
            let name = format!("{}/{}", target.name, path.file_name().unwrap().display());
            let open = OPEN.iter().any(|(open, _)| *open == name);
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
    assert!(read > 0, "the texts were found");
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn every_target_reads_all_that_it_starts_from() {
    for target in TARGETS {
        let seeds = (target.seeds)();
        assert!(!seeds.is_empty(), "{} has nothing to start from", target.name);
        for text in seeds.iter().step_by(seeds.len() / 20 + 1) {
            let checked = check(target, text);
            assert!(checked.is_ok(), "{}: {text}: {checked:?}", target.name);
        }
    }
}
