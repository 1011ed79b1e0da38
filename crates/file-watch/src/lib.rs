// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Notices file changes. On Linux the kernel reports them (inotify), so an idle daemon sleeps. Changes that are not
//! reported (network file systems, mounts) are found by polling: rarely on file systems that report everything,
//! several times a second on others.

use std::path::PathBuf;
use std::time::Duration;

mod file_stamps;
#[cfg(target_os = "linux")]
mod inotify;
#[cfg(target_os = "linux")]
mod local;
#[cfg(target_os = "linux")]
mod steps;

pub use file_stamps::FileStamps;

/// Polling interval where the kernel does not report all changes.
const UNREPORTED_POLL_INTERVAL: Duration = Duration::from_millis(300);
/// Polling interval where the kernel reports all changes except writes to mapped memory.
const REPORTED_POLL_INTERVAL: Duration = Duration::from_secs(10);
/// Changes within this time are treated as one change, because a file may be truncated before it is written.
#[cfg(target_os = "linux")]
const SETTLE_TIME: Duration = Duration::from_millis(50);
/// Maximum time that continuing changes delay a check.
#[cfg(target_os = "linux")]
const MAX_SETTLE_TIME: Duration = Duration::from_millis(250);

/// Waits for file changes.
#[derive(Debug, Default)]
pub struct FileWatch {
    #[cfg(target_os = "linux")]
    reports: Option<inotify::ChangeReports>,
}

/// Reason to check files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WakeReason {
    /// The kernel reported a change.
    #[cfg(target_os = "linux")]
    Report,
    /// The polling interval has passed.
    Interval,
}

impl FileWatch {
    /// Replaces the watched paths. Changes made before this call may remain unreported, so check the files after the
    /// call.
    #[cfg(target_os = "linux")]
    pub fn set(&mut self, paths: &[PathBuf]) {
        if !local::are_on_local_file_systems(paths) {
            self.reports = None;
            return;
        }
        let mut reports = self.reports.take().or_else(|| inotify::ChangeReports::new().ok());
        let complete = reports.as_mut().map(|reports| reports.set(paths));
        if let Some(Err(error)) = &complete {
            tracing::debug!(%error, "file changes are not reported; polling instead");
        }
        self.reports = reports.filter(|_| matches!(complete, Some(Ok(()))));
    }

    /// Does nothing, because changes are not reported here.
    #[cfg(not(target_os = "linux"))]
    pub fn set(&mut self, _: &[PathBuf]) {}

    /// Waits until files should be checked: soon after a change, after the polling interval, or after `limit`.
    #[cfg(target_os = "linux")]
    pub async fn wait_for_change(&mut self, limit: Duration) -> WakeReason {
        let Some(reports) = &mut self.reports else {
            tokio::time::sleep(limit.min(UNREPORTED_POLL_INTERVAL)).await;
            return WakeReason::Interval;
        };
        let limit = limit.min(REPORTED_POLL_INTERVAL);
        if tokio::time::timeout(limit, reports.next()).await.is_err() {
            return WakeReason::Interval;
        }
        let settled = async { while tokio::time::timeout(SETTLE_TIME, reports.next()).await.is_ok() {} };
        let _ = tokio::time::timeout(MAX_SETTLE_TIME, settled).await;
        WakeReason::Report
    }

    /// Waits for the polling interval or for `limit`.
    #[cfg(not(target_os = "linux"))]
    pub async fn wait_for_change(&mut self, limit: Duration) -> WakeReason {
        tokio::time::sleep(limit.min(UNREPORTED_POLL_INTERVAL.min(REPORTED_POLL_INTERVAL))).await;
        WakeReason::Interval
    }
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    async fn is_reported(paths: &[PathBuf], change: impl FnOnce()) -> bool {
        let mut files = FileWatch::default();
        files.set(paths);
        let reports = files.reports.as_mut().unwrap();
        change();
        tokio::time::timeout(Duration::from_millis(300), reports.next()).await.is_ok()
    }

    fn write(path: &Path, text: &str) {
        std::fs::write(path, text).unwrap();
    }

    #[tokio::test]
    async fn changes_of_files_and_of_the_way_to_them_are_reported() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let file = [at("config/policy.yaml")];
        assert!(is_reported(&file, || std::fs::create_dir(at("config")).unwrap()).await);
        assert!(is_reported(&file, || write(&file[0], "a")).await);
        assert!(is_reported(&file, || write(&file[0], "b")).await);
        write(&at("new"), "c");
        assert!(is_reported(&file, || std::fs::rename(at("new"), &file[0]).unwrap()).await);
        assert!(is_reported(&file, || std::fs::rename(at("config"), at("away")).unwrap()).await);
        assert!(is_reported(&file, || std::fs::rename(at("away"), at("config")).unwrap()).await);
        assert!(is_reported(&file, || std::fs::remove_file(&file[0]).unwrap()).await);
        assert!(!is_reported(&file, || write(&at("config/other.yaml"), "")).await, "another file");
        assert!(is_reported(&[at("config")], || write(&at("config/third.yaml"), "")).await, "a directory");
        let turn = |target: &str| {
            std::os::unix::fs::symlink(at(target), at("turned")).unwrap();
            std::fs::rename(at("turned"), at("link")).unwrap();
        };
        turn("config");
        let linked = [at("link/policy.yaml")];
        assert!(is_reported(&linked, || turn("elsewhere")).await, "a link is turned");
    }

    #[tokio::test]
    async fn a_file_that_is_emptied_and_written_is_looked_at_once_and_soon() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("policy.yaml");
        write(&path, "old");
        let mut files = FileWatch::default();
        files.set(std::slice::from_ref(&path));
        let writing = path.clone();
        let writer = std::thread::spawn(move || {
            write(&writing, "");
            std::thread::sleep(SETTLE_TIME / 5);
            write(&writing, "new");
        });
        assert_eq!(files.wait_for_change(Duration::MAX).await, WakeReason::Report);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
        writer.join().unwrap();
        let again = tokio::time::timeout(MAX_SETTLE_TIME, files.wait_for_change(Duration::MAX)).await;
        assert!(again.is_err(), "nothing is left to report");
    }

    #[tokio::test(start_paused = true)]
    async fn what_the_kernel_does_not_report_is_looked_at_often() {
        let mut files = FileWatch::default();
        files.set(&["/proc/self/status".into()]);
        assert!(files.reports.is_none());
        let began = tokio::time::Instant::now();
        assert_eq!(files.wait_for_change(Duration::MAX).await, WakeReason::Interval);
        assert_eq!(began.elapsed(), UNREPORTED_POLL_INTERVAL);
    }
}
