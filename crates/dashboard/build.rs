// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Embeds the dashboard's files in a release build. A debug build reads them from disk.

use std::path::{Path, PathBuf};
use std::{env, fs};

#[expect(clippy::disallowed_methods, reason = "cargo passes its settings in environment variables")]
fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let dist = PathBuf::from(env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../web/dist");
    let mut rows = String::new();
    if env::var_os("CARGO_CFG_DEBUG_ASSERTIONS").is_none() {
        println!("cargo:rerun-if-changed={}", dist.display());
        let mut files = Vec::new();
        collect(&dist, &mut files);
        files.sort();
        for file in files {
            let Ok(name) = file.strip_prefix(&dist) else { continue };
            let (name, file) = (name.display().to_string(), file.display().to_string());
            rows += &format!("    ({name:?}, include_bytes!({file:?})),\n");
        }
    }
    let table = format!("&[\n{rows}]\n");
    let out = PathBuf::from(env::var("OUT_DIR").unwrap_or_default()).join("dashboard.rs");
    if let Err(error) = fs::write(&out, table) {
        println!("cargo:error=cannot write {}: {error}", out.display());
    }
}

/// Collects every file below a directory, if it exists.
fn collect(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).into_iter().flatten().filter_map(Result::ok) {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if !path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b".")) {
            files.push(path);
        }
    }
}
