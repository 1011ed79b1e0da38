// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Links the program so that it starts fast.

#![expect(clippy::disallowed_methods, reason = "cargo passes the target to a build script in variables")]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=build.rs");
    match link_unwinder_statically() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("cargo::error={}", error.replace('\n', " "));
            ExitCode::FAILURE
        }
    }
}

/// Links the unwinding library statically. A hook call without a daemon starts this program, and every shared library
/// adds to its start time. The C library stays shared, because it loads further libraries to look up hosts.
fn link_unwinder_statically() -> Result<(), String> {
    let target = (cargo_variable("CARGO_CFG_TARGET_OS")?, cargo_variable("CARGO_CFG_TARGET_ENV")?);
    if target != ("linux".into(), "gnu".into()) || cargo_variable("HOST")? != cargo_variable("TARGET")? {
        return Ok(());
    }
    let output = Command::new("cc").arg("-print-file-name=libgcc_eh.a").output();
    let library = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    // Without the static library, the program is linked as usual.
    let Some(path) = library.ok().filter(|path| Path::new(path).is_absolute()) else { return Ok(()) };
    let dir = PathBuf::from(cargo_variable("OUT_DIR")?).join("link");
    let script = dir.join("libgcc_s.so");
    // The linker accepts a script in place of a library; this one names the static library.
    std::fs::create_dir_all(&dir)
        .and_then(|()| std::fs::write(&script, format!("INPUT({path})\n")))
        .map_err(|error| format!("{}: {error}", script.display()))?;
    println!("cargo::rustc-link-search=native={}", dir.display());
    Ok(())
}

fn cargo_variable(name: &str) -> Result<String, String> {
    std::env::var(name).map_err(|error| format!("`{name}`: {error}"))
}
