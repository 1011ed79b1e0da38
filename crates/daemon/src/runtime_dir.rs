// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Checks and prepares the daemon's directories. An account that can write there could answer in the daemon's place.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use tenterhook_error::Failure;
use tenterhook_home::{Home, state_file, trust, write_atomic};

/// Limit on open files that the daemon asks for: every caller has a connection.
const MAX_OPEN_FILES: u64 = 65_536;

/// Refuses directories that other accounts can write to.
pub(crate) fn check_directories(home: &Home) -> Result<(), Failure> {
    let own = rustix::process::getuid().as_raw();
    // The state directory may be a link created by its owner or the system; the target is checked.
    let state = &home.state;
    let link = fs_err::symlink_metadata(state)?;
    if link.is_symlink() && ![0, own].contains(&link.uid()) {
        return Err(unsafe_dir(
            state,
            "it is a link made by another account",
            "replace it by a directory of your own",
        ));
    }
    check_owner(state, &fs_err::metadata(state)?, own)?;
    let run = home.run();
    let found = fs_err::symlink_metadata(&run)?;
    if !found.is_dir() {
        return Err(unsafe_dir(&run, "it is not a directory", "remove it; the daemon creates it again"));
    }
    check_owner(&run, &found, own)?;
    // Other accounts have no reason to list the directory.
    if !is_private(&found) {
        fs_err::set_permissions(&run, std::fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

fn check_owner(path: &Path, found: &std::fs::Metadata, own: u32) -> Result<(), Failure> {
    if found.uid() != own {
        let why = format!("it belongs to another account (uid {})", found.uid());
        return Err(unsafe_dir(path, &why, "use your own state directory: `--home DIR`"));
    }
    if found.mode() & 0o022 != 0 {
        let why = format!("other accounts can write there (mode {:o})", found.mode() & 0o777);
        return Err(unsafe_dir(path, &why, &format!("run `chmod go-w {}`", path.display())));
    }
    Ok(())
}

fn unsafe_dir(path: &Path, why: &str, hint: &str) -> Failure {
    Failure::internal(format!("`{}` is not safe to run a daemon in: {why}", path.display())).hint(hint)
}

/// Makes the log unreadable for other accounts; earlier versions and service managers created it readable.
pub(crate) fn restrict_log(home: &Home) {
    let log = home.log();
    let found = fs_err::symlink_metadata(&log);
    if found.is_ok_and(|found| found.is_file() && !is_private(&found))
        && let Err(error) = fs_err::set_permissions(&log, std::fs::Permissions::from_mode(0o600))
    {
        tracing::warn!(%error, "the log is readable by other accounts");
    }
}

/// Reads the token in a state directory. Creates a new token if the file is missing or invalid, or if other accounts
/// can read it.
pub(crate) fn read_or_create_token(path: &Path) -> Result<String, Failure> {
    let own = rustix::process::getuid().as_raw();
    let private = fs_err::symlink_metadata(path)
        .is_ok_and(|found| found.is_file() && found.mode() & 0o777 == 0o600 && found.uid() == own);
    if private && let Some(token) = state_file(path)? {
        let token = token.trim();
        if token.len() == 64 && token.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(token.to_owned());
        }
    }
    let mut random = [0; 32];
    getrandom::fill(&mut random)
        .map_err(|error| Failure::internal(format!("cannot generate a token: {error}")))?;
    let token = trust::sha256(&random);
    write_atomic(path, token.as_bytes(), 0o600)?;
    Ok(token)
}

#[expect(clippy::verbose_bit_mask, reason = "permission bits are compared with a mask")]
fn is_private(found: &std::fs::Metadata) -> bool {
    found.mode() & 0o077 == 0
}

/// Raises the limit on open files as far as the system allows.
pub(crate) fn raise_limits() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limits = getrlimit(Resource::Nofile);
    let wanted = limits.maximum.map_or(MAX_OPEN_FILES, |most| most.min(MAX_OPEN_FILES));
    if limits.current.is_some_and(|now| now < wanted) {
        let raised = Rlimit { current: Some(wanted), maximum: limits.maximum };
        if let Err(error) = setrlimit(Resource::Nofile, raised) {
            tracing::warn!(%error, "the limit of open files could not be raised");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home() -> (tempfile::TempDir, Home) {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::in_dir(dir.path().join("home"));
        tenterhook_home::make_private_dir(&home.run()).unwrap();
        (dir, home)
    }

    fn mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_place_that_others_can_write_is_refused() {
        let (_dir, home) = home();
        check_directories(&home).unwrap();
        for path in [home.state.clone(), home.run()] {
            for bad in [0o777, 0o770, 0o702] {
                mode(&path, bad);
                let error = check_directories(&home).unwrap_err();
                assert!(error.message.contains("other accounts can write there"), "{}", error.message);
                assert!(error.hints[0].contains("chmod go-w"));
            }
            mode(&path, 0o700);
        }
    }

    #[test]
    fn a_run_directory_that_others_can_read_is_closed_to_them() {
        let (_dir, home) = home();
        mode(&home.run(), 0o755);
        check_directories(&home).unwrap();
        assert_eq!(std::fs::metadata(home.run()).unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_link_in_the_place_of_the_run_directory_is_refused() {
        let (dir, home) = home();
        std::fs::remove_dir(home.run()).unwrap();
        std::os::unix::fs::symlink(dir.path(), home.run()).unwrap();
        assert!(check_directories(&home).unwrap_err().message.contains("it is not a directory"));
    }
}
