// SPDX-License-Identifier: Apache-2.0 OR MIT

//! When a run began, by the clock that gives files their times.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{Mode, OFlags, fstat, open};
use serde::{Deserialize, Serialize};

/// Tolerance for the clock of a file system, which is not as exact as that of the system.
const CLOCK_TOLERANCE: Duration = Duration::from_millis(50);

/// When a run began.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RunBeginning {
    /// By the clock of the system, as time since 1970.
    system: Duration,
    /// By the clock of the file system of the project, and its device. A file server may have another clock.
    of_project: Option<(u64, Duration)>,
}

impl RunBeginning {
    pub(super) fn now(project: &Path) -> Self {
        let system = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let of_project =
            file_clock(project).map(|(device, time)| (device, time.saturating_sub(CLOCK_TOLERANCE)));
        Self { system: system.saturating_sub(CLOCK_TOLERANCE), of_project }
    }

    /// Whether a file was created or changed after the run began. A program cannot set this time.
    pub(super) fn is_before(&self, file: &Metadata) -> bool {
        let Some(changed) = time_of(file.ctime(), file.ctime_nsec()) else { return true };
        let began = self.of_project.filter(|(device, _)| *device == file.dev()).map(|(_, time)| time);
        changed >= began.unwrap_or(self.system)
    }
}

fn time_of(seconds: i64, nanos: i64) -> Option<Duration> {
    Some(Duration::new(u64::try_from(seconds).ok()?, u32::try_from(nanos).ok()?))
}

/// Returns the device of a directory, and the time of its file system. No program sees the file that is created for this.
fn file_clock(directory: &Path) -> Option<(u64, Duration)> {
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let found = match open(directory, flags, Mode::RUSR | Mode::WUSR) {
        Ok(file) => fstat(&file).ok()?,
        // Network file systems have no files without names.
        Err(_) => fstat(tempfile_in(directory)?).ok()?,
    };
    #[expect(clippy::useless_conversion, reason = "the types differ on some targets")]
    let (seconds, nanos) = (i64::try_from(found.st_ctime).ok()?, i64::try_from(found.st_ctime_nsec).ok()?);
    Some((found.st_dev, time_of(seconds, nanos)?))
}

/// Creates a file and removes its name.
fn tempfile_in(directory: &Path) -> Option<std::fs::File> {
    let path = directory.join(format!(".tenterhook-{}", std::process::id()));
    let file = std::fs::OpenOptions::new().write(true).create_new(true).open(&path).ok()?;
    // Another file of this name is not created by anything else.
    let _ = std::fs::remove_file(&path);
    Some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_of_the_file_system_decides() {
        let directory = tempfile::tempdir().unwrap();
        let old = directory.path().join("old");
        std::fs::write(&old, "").unwrap();
        std::thread::sleep(CLOCK_TOLERANCE * 3);
        let began = RunBeginning::now(directory.path());
        let new = directory.path().join("new");
        std::fs::write(&new, "").unwrap();
        let (old, new) = (old.metadata().unwrap(), new.metadata().unwrap());
        assert!(began.of_project.is_some() && began.is_before(&new) && !began.is_before(&old));
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 2, "nothing is left");
        // A file server whose clock is an hour slow, seen from a machine whose clock is right.
        let hour = Duration::from_hours(1);
        let skewed = RunBeginning { system: began.system + hour, ..began };
        assert!(skewed.is_before(&new) && !skewed.is_before(&old));
        let other_device = RunBeginning { of_project: None, ..skewed };
        assert!(!other_device.is_before(&new));
    }

    #[test]
    fn a_file_system_without_nameless_files_has_a_clock_too() {
        let directory = tempfile::tempdir().unwrap();
        assert!(tempfile_in(directory.path()).is_some());
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
        assert!(file_clock(Path::new("/proc/self")).is_none());
    }
}
