// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Launchers: with `install --sandbox`, the usual command of an agent starts it in a sandbox. They are in a directory
//! that the user's shell has first on its `PATH`. `uninstall` removes them.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tenterhook_harness::Harness;
use tenterhook_harness_install::{HarnessClient as _, quote};
use tenterhook_home::{Home, make_private_dir, write_atomic};
use tenterhook_setup::hook_programs::FULL_PROGRAM;

use crate::context::Context;
use crate::error::CommandError;
use crate::shell_profile::{ProfileAddition, UserShell};

/// Directory of the launchers, in the directory of Tenterhook's programs, which agents cannot write to.
const LAUNCHER_DIRECTORY: &str = "sandboxed";

/// What was installed.
#[derive(Debug)]
pub(crate) struct InstalledLaunchers {
    /// Programs that start in a sandbox.
    pub(crate) programs: Vec<&'static str>,
    /// The directory with the launchers.
    pub(crate) directory: PathBuf,
    /// The file of the shell that puts the directory on the `PATH`; `None` if the shell is unknown.
    pub(crate) profile: Option<PathBuf>,
}

fn launcher_directory(home: &Home) -> PathBuf {
    home.bin().join(LAUNCHER_DIRECTORY)
}

/// Writes launchers for the programs of harnesses, and puts their directory on the `PATH` of new shells.
pub(crate) fn install(
    context: &Context,
    home: &Home,
    harnesses: &[&'static Harness],
) -> Result<InstalledLaunchers, CommandError> {
    let directory = launcher_directory(home);
    make_private_dir(&directory)?;
    let mut programs = Vec::new();
    for program in harnesses.iter().flat_map(|harness| harness.programs().iter().copied()) {
        let path = directory.join(program);
        write_atomic(&path, launcher_text(context, home, program)?.as_bytes(), 0o755)?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?;
        programs.push(program);
    }
    let addition = path_addition(context, &directory);
    if let Some(addition) = &addition {
        addition.write()?;
    }
    Ok(InstalledLaunchers { programs, directory, profile: addition.map(|addition| addition.file) })
}

/// Removes the launchers of harnesses. The last one takes the line in the shell's file with it. Returns the programs.
pub(crate) fn remove(
    context: &Context,
    home: &Home,
    harnesses: &[&'static Harness],
) -> Result<Vec<&'static str>, CommandError> {
    let directory = launcher_directory(home);
    let mut removed = Vec::new();
    for program in harnesses.iter().flat_map(|harness| harness.programs().iter().copied()) {
        match std::fs::remove_file(directory.join(program)) {
            Ok(()) => removed.push(program),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
    }
    // Fails as long as other launchers are in it.
    if std::fs::remove_dir(&directory).is_ok() {
        // The shell may be another one than at the installation.
        for shell in UserShell::ALL {
            if let Some(addition) = shell.first_path_addition(&context.env, &directory) {
                addition.remove()?;
            }
        }
    }
    Ok(removed)
}

/// Returns the `PATH` without the directory of the launchers, for programs that a launcher starts.
pub(crate) fn search_path_without(home: &Home, search_path: &OsStr) -> Option<OsString> {
    let directory = launcher_directory(home);
    let real = directory.canonicalize().ok();
    let is_launchers =
        |path: &PathBuf| *path == directory || real.is_some() && path.canonicalize().ok() == real;
    let paths: Vec<_> = std::env::split_paths(search_path).collect();
    if !paths.iter().any(is_launchers) {
        return None;
    }
    std::env::join_paths(paths.into_iter().filter(|path| !is_launchers(path))).ok()
}

fn path_addition(context: &Context, directory: &Path) -> Option<ProfileAddition> {
    UserShell::detect(&context.env)?.first_path_addition(&context.env, directory)
}

fn launcher_text(context: &Context, home: &Home, program: &str) -> Result<String, CommandError> {
    let text = |path: PathBuf| {
        path.to_str().map(quote).ok_or_else(|| CommandError::user("the state directory's name is not text"))
    };
    let own = text(home.bin().join(FULL_PROGRAM))?;
    // With a directory of its own, the state directory does not follow from `HOME`.
    let state = match context.env.all.get("TENTERHOOK_HOME") {
        Some(_) => format!("export TENTERHOOK_HOME={}\n", text(home.state.clone())?),
        None => String::new(),
    };
    Ok(format!(
        "#!/bin/sh\n# Written by `tenterhook install --sandbox`. `tenterhook uninstall` removes it.\n\
         {state}exec {own} run --sandbox {} \"$@\"\n",
        quote(program)
    ))
}
