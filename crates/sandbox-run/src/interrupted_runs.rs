// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs whose supervisor was killed before it could undo changes to settings.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use tenterhook_error::Failure;
use tenterhook_home::Home;
use tenterhook_sandbox::after_run::{SettingsBefore, UndoneChange};
use tenterhook_setup::run_plan::{LOCK_FILE, SETTINGS_BEFORE_FILE};

/// Undoes the changes of runs that have ended without doing so.
pub fn repair_interrupted_runs(home: &Home) -> Result<Vec<UndoneChange>, Failure> {
    let entries = match std::fs::read_dir(home.guarded_runs()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut undone = Vec::new();
    for entry in entries {
        let directory = entry?.path();
        let stored = directory.join(SETTINGS_BEFORE_FILE);
        if !stored.exists() {
            continue;
        }
        let Some(_lock) = lock_ended(&directory) else { continue };
        if let Some(before) = SettingsBefore::read_stored(&stored)? {
            undone.extend(before.restore());
        }
        std::fs::remove_file(stored)?;
    }
    Ok(undone)
}

/// Locks the directory of a run; `None` if the run is active, or if the directory belongs to another sandbox and cannot be
/// changed from here.
fn lock_ended(directory: &Path) -> Option<File> {
    let lock = File::options().read(true).write(true).open(directory.join(LOCK_FILE)).ok()?;
    flock(&lock, FlockOperation::NonBlockingLockExclusive).ok()?;
    Some(lock)
}
