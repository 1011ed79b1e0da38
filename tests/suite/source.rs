// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What holds for every source file.

use std::path::{Path, PathBuf};

use crate::context::repository;

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            if !matches!(name, "target" | ".git" | "node_modules" | ".cache") {
                sources(&path, found);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn unsafe_code_is_only_where_the_spawned_programs_begin() {
    let mut found = Vec::new();
    sources(&repository().join("crates"), &mut found);
    let may = |path: &Path| path.ends_with("crates/shim/src/start.rs") || path.ends_with("proto/src/lib.rs");
    let word = concat!("unsafe", "_code");
    let with: Vec<_> =
        found.iter().filter(|path| std::fs::read_to_string(path).unwrap().contains(word)).collect();
    assert!(with.iter().all(|path| may(path)), "{with:?}");
}

#[test]
fn every_source_file_names_its_licence() {
    let mut found = Vec::new();
    sources(&repository(), &mut found);
    assert!(found.len() > 50, "the sources were found");
    for path in found {
        let text = std::fs::read_to_string(&path).unwrap();
        let first = text.lines().next().unwrap_or_default();
        assert_eq!(first, "// SPDX-License-Identifier: Apache-2.0 OR MIT", "{}", path.display());
    }
}
