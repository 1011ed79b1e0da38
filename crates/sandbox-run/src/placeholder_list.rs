// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The list of placeholders that runs have created. The last run that ends removes them, because a placeholder that is
//! removed while another run protects it would end the protection.

use std::fs::File;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use tenterhook_error::Failure;
use tenterhook_home::{Home, make_private_dir, regular_file};
use tenterhook_sandbox::placeholders::{self, Placeholder};
use tenterhook_setup::run_plan::LOCK_FILE;

/// File with the placeholders, in the directory of guarded runs.
const LIST_FILE: &str = "placeholders.json";
/// Lock of the list.
const LIST_LOCK_FILE: &str = "placeholders.lock";

/// Creates placeholders and adds them to the list.
pub(crate) fn create(home: &Home, wanted: &[Placeholder]) -> Result<(), Failure> {
    if wanted.is_empty() {
        return Ok(());
    }
    let (_lock, path) = lock(home)?;
    let mut list = read(&path)?;
    list.extend(wanted.iter().filter(|wanted| !list.contains(wanted)).cloned().collect::<Vec<_>>());
    // The list comes first: if this process is killed, the next run knows what to remove.
    std::fs::write(&path, serde_json::to_vec(&list).map_err(std::io::Error::from)?)?;
    for placeholder in wanted {
        placeholders::create(placeholder).map_err(|error| {
            Failure::internal(format!("`{}` cannot be created: {error}", placeholder.path.display()))
        })?;
    }
    Ok(())
}

/// Removes all placeholders, unless another run is still active. `own` is the directory of the caller's run.
pub(crate) fn remove_unused(home: &Home, own: &Path) -> Result<(), Failure> {
    if !home.guarded_runs().join(LIST_FILE).exists() {
        return Ok(());
    }
    let (_lock, path) = lock(home)?;
    if has_other_runs(home, own)? {
        return Ok(());
    }
    for placeholder in read(&path)?.iter().rev() {
        placeholders::remove(placeholder);
    }
    fs_remove(&path)
}

fn fs_remove(path: &Path) -> Result<(), Failure> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

fn has_other_runs(home: &Home, own: &Path) -> Result<bool, Failure> {
    for entry in std::fs::read_dir(home.guarded_runs())? {
        let path = entry?.path();
        if path == own || !path.is_dir() {
            continue;
        }
        let is_locked = |lock: File| flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err();
        if File::open(path.join(LOCK_FILE)).is_ok_and(is_locked) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn read(path: &Path) -> Result<Vec<Placeholder>, Failure> {
    let text = regular_file(path).map_err(|error| Failure::internal(error.to_string()))?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
}

fn lock(home: &Home) -> Result<(File, PathBuf), Failure> {
    let directory = home.guarded_runs();
    make_private_dir(&directory)?;
    let lock = File::create(directory.join(LIST_LOCK_FILE))?;
    flock(&lock, FlockOperation::LockExclusive).map_err(std::io::Error::from)?;
    Ok((lock, directory.join(LIST_FILE)))
}
