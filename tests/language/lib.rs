// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Checks the language of the project: dropped idioms do not return, type names are unique, and doc comments
//! are meaningful. CONTRIBUTING.md explains the style.
//!
//! Text between backticks or double quotes is a quotation and is not checked.

#![cfg(test)]

mod fixed_names;
mod idioms;
mod names;
mod rust_source;

use std::path::{Path, PathBuf};

/// The root of the repository.
fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// Returns all files below a directory whose names have this ending, without build output and dependencies.
fn files_below(dir: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut directories = vec![dir.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            let is_skipped =
                matches!(name, "target" | ".git" | "node_modules" | ".cache" | "dist" | "generated");
            if path.is_dir() {
                if !is_skipped {
                    directories.push(path);
                }
            } else if name.ends_with(ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Returns a path relative to the repository, for messages.
fn shown(path: &Path) -> String {
    path.strip_prefix(repository()).unwrap_or(path).display().to_string()
}

/// Whether a Rust file is part of a program, not of its tests.
fn is_program_source(path: &Path) -> bool {
    let name = shown(path);
    name.starts_with("crates/")
        && name.contains("/src/")
        && !name.contains("/tests/")
        && !name.ends_with("/tests.rs")
        && !name.ends_with("_tests.rs")
}
