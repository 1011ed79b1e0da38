// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Builds the hook programs, which are embedded in another binary; `install` writes them to disk.
//!
//! They have no dependencies, so the compiler is called directly. Cargo would link them dynamically, which makes a
//! call 1.2 to 1.4 times as slow (`benches/shim_build.py`).

#![expect(clippy::disallowed_methods, reason = "cargo passes settings to a build script in variables")]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const PROGRAMS: [&str; 2] = ["tenterhook-hook", "tenterhook-status"];

/// Options for static linking. With them, a hook call takes 1.07 times as long as with a C client
/// (`benches/c/roundtrip.c`). Without them it takes 1.1 times as long, and 1.8 times if linked dynamically.
/// Read-only relocations are turned off: they protect little in a static program without unsafe code, and
/// cost 3 %.
const STATIC_LINK_OPTIONS: [&str; 6] =
    ["-C", "target-feature=+crt-static", "-C", "relocation-model=static", "-C", "relro-level=off"];
/// Puts read-only data and code into one segment, which saves a mapping and page faults. Not every linker supports
/// it.
const SINGLE_SEGMENT_OPTIONS: [&str; 2] = ["-C", "link-arg=-Wl,--no-rosegment"];
const CODEGEN_OPTIONS: [&str; 8] =
    ["-C", "opt-level=3", "-C", "panic=abort", "-C", "codegen-units=1", "-C", "strip=symbols"];
/// Options for optimized builds. They make programs 10 % smaller, but a build takes three times as long.
const LTO_OPTIONS: [&str; 2] = ["-C", "lto=fat"];

fn main() -> ExitCode {
    match build_hook_programs() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("cargo::error={}", error.replace('\n', " "));
            ExitCode::FAILURE
        }
    }
}

fn build_hook_programs() -> Result<(), String> {
    let shim = Path::new("../shim/src");
    println!("cargo::rerun-if-changed={}", shim.display());
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(cargo_variable("OUT_DIR")?);
    let build_programs = |link_options: &[&str]| {
        let library = out.join("libtenterhook_shim.rlib");
        let mut rustc = rustc(link_options)?;
        rustc.args(["--crate-type", "rlib", "--crate-name", "tenterhook_shim"]).arg(shim.join("lib.rs"));
        run(rustc.arg("-o").arg(&library))?;
        for program in PROGRAMS {
            let mut rustc = self::rustc(link_options)?;
            let mut external = OsString::from("tenterhook_shim=");
            external.push(&library);
            rustc.arg("--extern").arg(external).args(["--crate-name", &program.replace('-', "_")]);
            run(rustc.arg(shim.join("bin").join(format!("{program}.rs"))).arg("-o").arg(out.join(program)))?;
        }
        Ok(())
    };
    if cargo_variable("CARGO_CFG_TARGET_OS")? == "macos" {
        // macOS has no static C library.
        return build_programs(&[]);
    }
    let single_segment: Vec<_> = STATIC_LINK_OPTIONS.into_iter().chain(SINGLE_SEGMENT_OPTIONS).collect();
    build_programs(&single_segment).or_else(|_| build_programs(&STATIC_LINK_OPTIONS)).or_else(
        |why: String| {
            let last = why.lines().last().unwrap_or_default();
            println!(
                "cargo::warning=the shim is linked dynamically, which makes every hook call slower: {last}"
            );
            build_programs(&[])
        },
    )
}

/// Creates a compiler command with the options of cargo.
fn rustc(link_options: &[&str]) -> Result<Command, String> {
    let mut rustc = Command::new(cargo_variable("RUSTC")?);
    rustc.args(["--edition=2024", "--cap-lints=allow", "--target"]).arg(cargo_variable("TARGET")?);
    rustc.args(CODEGEN_OPTIONS).args(link_options);
    // `PROFILE` is also `release` for profiles that inherit from it.
    if cargo_variable("OPT_LEVEL")? != "0" {
        rustc.args(LTO_OPTIONS);
    }
    if let Ok(linker) = cargo_variable("RUSTC_LINKER") {
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

fn cargo_variable(name: &str) -> Result<String, String> {
    std::env::var(name).map_err(|error| format!("`{name}`: {error}"))
}
