// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Links the program so that it starts fast.

#![expect(clippy::disallowed_methods, reason = "cargo tells a build script about the target in variables")]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=build.rs");
    match link_lightly() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("cargo::error={}", error.replace('\n', " "));
            ExitCode::FAILURE
        }
    }
}

/// The library that unwinds is taken into the program instead of being looked for at every start: a hook that
/// finds no daemon becomes this program, and pays for each library. The C library itself stays where it is,
/// because it looks up hosts with more libraries yet.
fn link_lightly() -> Result<(), String> {
    let target = (variable("CARGO_CFG_TARGET_OS")?, variable("CARGO_CFG_TARGET_ENV")?);
    if target != ("linux".into(), "gnu".into()) || variable("HOST")? != variable("TARGET")? {
        return Ok(());
    }
    let asked = Command::new("cc").arg("-print-file-name=libgcc_eh.a").output();
    let said = asked.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    // Without it the program is linked as usual.
    let Some(path) = said.ok().filter(|path| Path::new(path).is_absolute()) else { return Ok(()) };
    let dir = PathBuf::from(variable("OUT_DIR")?).join("link");
    let note = dir.join("libgcc_s.so");
    // To the linker, what it finds under the name of a library may be a note that names another.
    std::fs::create_dir_all(&dir)
        .and_then(|()| std::fs::write(&note, format!("INPUT({path})\n")))
        .map_err(|error| format!("{}: {error}", note.display()))?;
    println!("cargo::rustc-link-search=native={}", dir.display());
    Ok(())
}

fn variable(name: &str) -> Result<String, String> {
    std::env::var(name).map_err(|error| format!("`{name}`: {error}"))
}
