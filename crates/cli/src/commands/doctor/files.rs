// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Checks the state directory: its owner, its permissions and the programs in it.

use std::cmp::Ordering;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::Examination;
use crate::error::CommandError;
use tenterhook_setup::versions::{PROGRAM_VERSION, ProgramVersion, REFRESH_COMMAND};

/// Entries of the state directory that only the owner may read.
const PRIVATE_ENTRIES: &[&str] = &["ledger", "run", "spool", "sessions", "snapshot", "totp", "home.json"];

pub(super) fn check_files(examination: &mut Examination<'_>) {
    let home = examination.home.clone();
    let about = "home";
    if !home.state.is_dir() {
        let status = format!("`{}` does not exist: nothing was installed yet", home.state.display());
        examination.warning(about, status).fix("guard a harness: `tenterhook install claude-code`");
        return;
    }
    let mut places = vec![(home.state.clone(), 0o077)];
    if home.config != home.state {
        places.push((home.config.clone(), 0o022));
    }
    places.extend(PRIVATE_ENTRIES.iter().map(|name| (home.state.join(name), 0o077)));
    let mut fine = true;
    for (path, forbidden) in places {
        fine &= check_permissions(examination, &path, forbidden);
    }
    if fine {
        examination.good(about, format!("{} is readable only by you", home.state.display()));
    }
    check_programs(examination);
}

fn check_permissions(examination: &mut Examination<'_>, path: &Path, forbidden: u32) -> bool {
    let Ok(metadata) = fs_err::metadata(path) else { return true };
    let (mode, about) = (metadata.mode() & 0o777, "permissions");
    if metadata.uid() != rustix::process::getuid().as_raw() && metadata.uid() != 0 {
        let status = format!("`{}` is owned by another account (uid {})", path.display(), metadata.uid());
        let fix = format!("find out why, then change the owner: `chown $USER '{}'`", path.display());
        examination.broken(about, status).fix(fix);
        return false;
    }
    if mode & forbidden == 0 {
        return true;
    }
    let status = format!("other accounts can access `{}` (mode {mode:03o})", path.display());
    let (right, path): (u32, PathBuf) = (mode & !forbidden, path.to_owned());
    let fix = format!("chmod {right:03o} '{}'", path.display());
    examination.broken(about, status).fix(fix).with_fix(move |_| {
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(right))?;
        Ok(())
    });
    false
}

/// Checks the programs that harnesses call.
fn check_programs(examination: &mut Examination<'_>) {
    let (bin, about) = (examination.home.bin(), "programs");
    if !bin.is_dir() {
        return;
    }
    let missing: Vec<_> = ["tenterhook", "tenterhook-hook"]
        .into_iter()
        .filter(|name| {
            let mode = fs_err::metadata(bin.join(name)).map_or(0, |metadata| metadata.mode());
            mode & 0o100 == 0
        })
        .collect();
    if !missing.is_empty() {
        let status = format!("{} cannot be run in `{}`", missing.join(" and "), bin.display());
        examination.broken(about, status).fix("install again: `tenterhook install <harness>`");
        return;
    }
    match program_version(&bin.join("tenterhook")).map(|version| ProgramVersion::new(&version)) {
        Ok(ProgramVersion { version, age: Ordering::Equal }) => {
            examination.good(about, format!("version {version} in {}", bin.display()));
        }
        Ok(ProgramVersion { version, age }) => {
            let status = format!("hooks run version {version}; this program is {PROGRAM_VERSION}");
            let fix = match age {
                Ordering::Greater => "upgrade this program: `tenterhook self info` prints how".to_owned(),
                _ => format!("`{REFRESH_COMMAND}`"),
            };
            examination.warning(about, status).fix(fix);
        }
        Err(error) => {
            examination.broken(about, error.message).fix("install again: `tenterhook install <harness>`");
        }
    }
}

fn program_version(program: &Path) -> Result<String, CommandError> {
    let output = std::process::Command::new(program).arg("--version").output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let version = text.split_whitespace().nth(1).map(ToOwned::to_owned);
    version.ok_or_else(|| CommandError::internal(format!("`{}` printed no version", program.display())))
}
