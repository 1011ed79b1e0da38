// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The programs that hooks run. They are copies in the state directory, so they stay when a package is moved or
//! removed.

use std::cmp::Ordering;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use fs_err::File;
use tenterhook_error::Failure;
use tenterhook_files::FileClass;
use tenterhook_home::{Home, write_atomic};

use crate::Setup;
use crate::versions::{self, ProgramVersion};

/// The full program, which evaluates a call when no daemon answers.
pub const FULL_PROGRAM: &str = "tenterhook";
/// Larger than any program that harnesses start.
const MAX_SMALL_PROGRAM_BYTES: u64 = 64 << 20;
/// Chunk size for comparing two files.
const COMPARE_CHUNK_BYTES: usize = 1 << 20;

/// The running program itself. Its original path may refer to a different file by now, because the package may have
/// been replaced.
const RUNNING_PROGRAM: Option<&str> = if cfg!(target_os = "linux") { Some("/proc/self/exe") } else { None };

/// Names and content of the small programs that harnesses start. The calling binary embeds them and passes them in.
#[derive(Debug, Clone, Copy)]
pub struct HookPrograms(pub &'static [(&'static str, &'static [u8])]);

/// Returns the names of installed programs that are missing or differ from those of this version.
pub fn outdated_programs(home: &Home, programs: HookPrograms) -> Result<Vec<&'static str>, Failure> {
    let mut names = Vec::new();
    if !is_running_program(&home.bin().join(FULL_PROGRAM))? {
        names.push(FULL_PROGRAM);
    }
    names.extend(
        programs.0.iter().filter(|(name, bytes)| !is_installed(home, name, bytes)).map(|(name, _)| name),
    );
    Ok(names)
}

/// Installs this version's programs. Each program is replaced by a rename, so a hook that starts at that moment runs
/// either the old or the new program.
///
/// Fails if a guarded agent would replace installed programs, or if the installed programs are newer.
pub fn install_programs(setup: &Setup<'_>) -> Result<(), Failure> {
    let (home, programs) = (setup.home, setup.programs);
    let names = outdated_programs(home, programs)?;
    refuse_replacement(setup, &names)?;
    home.make_directories()?;
    if names.contains(&FULL_PROGRAM) {
        let mut bytes = Vec::new();
        open_running_program()?.read_to_end(&mut bytes)?;
        write_atomic(&home.bin().join(FULL_PROGRAM), &bytes, 0o755)?;
    }
    for (name, bytes) in programs.0.iter().filter(|(name, _)| names.contains(name)) {
        write_atomic(&home.bin().join(name), bytes, 0o755)?;
    }
    // The marker is written last, because it names the installed version.
    home.mark_installed()
}

/// Fails if a guarded agent would replace installed programs, or if the installed programs are newer.
pub fn check_replacement(setup: &Setup<'_>) -> Result<(), Failure> {
    refuse_replacement(setup, &outdated_programs(setup.home, setup.programs)?)
}

fn refuse_replacement(setup: &Setup<'_>, outdated: &[&str]) -> Result<(), Failure> {
    if !setup.home.has_hook_programs() || outdated.is_empty() {
        return Ok(());
    }
    // A guarded agent must not choose the program that guards it.
    setup.host.refuse_guarded_agent("replace the hook programs")?;
    refuse_older(setup.home)
}

/// Fails if the installed programs are newer than this one.
pub fn refuse_older(home: &Home) -> Result<(), Failure> {
    let Some(ProgramVersion { version, age: Ordering::Greater }) = versions::of_hook_programs(home) else {
        return Ok(());
    };
    let message = format!(
        "the installed hook programs are version {version}, newer than this program ({}); a downgrade is refused",
        versions::PROGRAM_VERSION
    );
    Err(Failure::internal(message).hint(format!(
        "upgrade this program, or use the newer one: `{}`",
        home.bin().join(FULL_PROGRAM).display()
    )))
}

/// Whether a file has the same bytes as the running program.
pub fn is_running_program(path: &Path) -> Result<bool, Failure> {
    // A symbolic link is not a copy, and opening a pipe would block.
    let is_link = fs_err::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    if is_link && !path.starts_with("/proc") || !fs_err::metadata(path).is_ok_and(|found| found.is_file()) {
        return Ok(false);
    }
    let (running, Ok(other)) = (open_running_program()?, File::open(path)) else { return Ok(false) };
    let (one, two) = (running.metadata()?, other.metadata()?);
    if (one.dev(), one.ino()) == (two.dev(), two.ino()) {
        return Ok(true);
    }
    Ok(one.len() == two.len() && same_bytes(running, other)?)
}

fn same_bytes(mut one: File, mut two: File) -> Result<bool, Failure> {
    let (mut left, mut right) = (Vec::new(), Vec::new());
    let chunk = u64::try_from(COMPARE_CHUNK_BYTES).unwrap_or(u64::MAX);
    loop {
        left.clear();
        right.clear();
        one.by_ref().take(chunk).read_to_end(&mut left)?;
        two.by_ref().take(chunk).read_to_end(&mut right)?;
        if left != right {
            return Ok(false);
        }
        if left.is_empty() {
            return Ok(true);
        }
    }
}

fn open_running_program() -> Result<File, Failure> {
    let path = RUNNING_PROGRAM.map_or_else(std::env::current_exe, |path| Ok(path.into()))?;
    Ok(File::open(path)?)
}

fn is_installed(home: &Home, name: &str, bytes: &[u8]) -> bool {
    let path = home.bin().join(name);
    // An earlier version may have created a symbolic link here, which would be followed.
    let is_link = fs_err::symlink_metadata(&path).is_ok_and(|found| found.is_symlink());
    let found = tenterhook_files::read_bytes(&path, FileClass::State, MAX_SMALL_PROGRAM_BYTES);
    !is_link && found.ok().flatten().as_deref() == Some(bytes)
}
