// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Builds the programs that harnesses spawn, for a binary that carries them: `install` writes them out.
//!
//! They have no dependencies, so that the compiler is called directly. Cargo would build them like
//! everything else: linked dynamically, which makes a call 1.2 to 1.4 times as slow (`benches/shim_build.py`).

#![expect(clippy::disallowed_methods, reason = "and this is how it is spoken to")]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const PROGRAMS: [&str; 2] = ["tenterhook-hook", "tenterhook-status"];

/// Measured against the same in C (`benches/c/roundtrip.c`): without these it is not 1.07 but 1.1 times
/// that, and 1.8 times when linked dynamically. Read-only relocations protect little where nothing is
/// bound late and nothing is unsafe, and cost three hundredths.
const STATIC: [&str; 6] =
    ["-C", "target-feature=+crt-static", "-C", "relocation-model=static", "-C", "relro-level=off"];
/// What is read and what is run in one piece: one place less to map, and fewer pages to fetch. Not every linker
/// knows how.
const TIGHT: [&str; 2] = ["-C", "link-arg=-Wl,--no-rosegment"];
const ALWAYS: [&str; 8] =
    ["-C", "opt-level=3", "-C", "panic=abort", "-C", "codegen-units=1", "-C", "strip=symbols"];
/// A tenth smaller, but three times as long to build.
const RELEASE: [&str; 2] = ["-C", "lto=fat"];

fn main() -> ExitCode {
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("cargo::error={}", error.replace('\n', " "));
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<(), String> {
    let shim = Path::new("../shim/src");
    println!("cargo::rerun-if-changed={}", shim.display());
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(variable("OUT_DIR")?);
    let attempt = |way: &[&str]| {
        let library = out.join("libtenterhook_shim.rlib");
        let mut rustc = rustc(way)?;
        rustc.args(["--crate-type", "rlib", "--crate-name", "tenterhook_shim"]).arg(shim.join("lib.rs"));
        run(rustc.arg("-o").arg(&library))?;
        for program in PROGRAMS {
            let mut rustc = self::rustc(way)?;
            let mut external = OsString::from("tenterhook_shim=");
            external.push(&library);
            rustc.arg("--extern").arg(external).args(["--crate-name", &program.replace('-', "_")]);
            run(rustc.arg(shim.join("bin").join(format!("{program}.rs"))).arg("-o").arg(out.join(program)))?;
        }
        Ok(())
    };
    if variable("CARGO_CFG_TARGET_OS")? == "macos" {
        // There is no static C library to link with.
        return attempt(&[]);
    }
    let tight: Vec<_> = STATIC.into_iter().chain(TIGHT).collect();
    attempt(&tight).or_else(|_| attempt(&STATIC)).or_else(|why: String| {
        let last = why.lines().last().unwrap_or_default();
        println!("cargo::warning=the shim is linked dynamically, which makes every hook call slower: {last}");
        attempt(&[])
    })
}

/// The compiler, as cargo calls it.
fn rustc(way: &[&str]) -> Result<Command, String> {
    let mut rustc = Command::new(variable("RUSTC")?);
    rustc.args(["--edition=2024", "--cap-lints=allow", "--target"]).arg(variable("TARGET")?);
    rustc.args(ALWAYS).args(way);
    // `PROFILE` is also `release` for profiles that inherit from it.
    if variable("OPT_LEVEL")? != "0" {
        rustc.args(RELEASE);
    }
    if let Ok(linker) = variable("RUSTC_LINKER") {
        rustc.arg("-C").arg(format!("linker={linker}"));
    }
    Ok(rustc)
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr).trim()))
}

fn variable(name: &str) -> Result<String, String> {
    std::env::var(name).map_err(|error| format!("`{name}`: {error}"))
}
