// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Signed releases of this program.
//!
//! [`release`] parses manifests and verifies signatures (minisign). [`release_source`] reads the files of a release.
//! [`update`] unpacks a release and replaces an installed program. [`verify`] compares installed programs with the
//! manifest. [`install_method`] detects how a program was installed, which determines how it is upgraded.

pub mod install_method;
pub mod release;
pub mod release_source;
pub mod update;
pub mod verify;

use std::path::{Path, PathBuf};

/// The Rust target for which this program was built.
pub fn build_target() -> String {
    let system = match (std::env::consts::OS, cfg!(target_env = "musl")) {
        ("macos", _) => "apple-darwin",
        (_, true) => "unknown-linux-musl",
        (_, false) => "unknown-linux-gnu",
    };
    format!("{}-{system}", std::env::consts::ARCH)
}

/// The directory `<prefix>/share/tenterhook` that belongs to a program in `<prefix>/bin`.
fn shared_files(program: &Path) -> Option<PathBuf> {
    let bin = program.parent().filter(|dir| dir.ends_with("bin"))?;
    Some(bin.parent()?.join("share/tenterhook"))
}
