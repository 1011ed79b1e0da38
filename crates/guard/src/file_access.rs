// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads the files of a call with the rights of the account that makes the call.
//!
//! A hook program and the daemon of one user run as that user, so they read files themselves. A machine-wide daemon
//! runs as root and reads on behalf of its callers. For a caller from another account it starts a thread with the
//! rights of that account, and the kernel checks every access. The call waits for the thread for at most
//! [`CALLER_READ_TIMEOUT`]. A thread that hangs, for example on a network file system, ends when the file system
//! answers; until then it counts towards the limit of its account.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::mpsc::{Sender, channel, sync_channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tenterhook_files::FileClass;
use tenterhook_home::caller_rights::{ReadRights, spawn_as};

use crate::symlinks::SymlinkProbe;

/// Maximum time that a call waits for files that are read with the rights of another account.
const CALLER_READ_TIMEOUT: Duration = Duration::from_millis(500);
/// Maximum number of threads that read files for one account at the same time.
const MAX_THREADS_PER_ACCOUNT: usize = 4;

/// Whose rights are used to read the files of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileRights {
    /// No file is read.
    None,
    /// The rights of this process, which runs as the account that makes the call.
    Process,
    /// The rights of the account that makes the call. If the account is unknown, no file is read.
    Caller,
}

/// Reads files for one call.
#[derive(Debug)]
pub(crate) enum FileAccess {
    None,
    Process(FileReader),
    Caller(CallerFiles),
}

/// Reads files with the rights of the current thread.
#[derive(Debug)]
pub(crate) struct FileReader {
    probe: SymlinkProbe,
    class: FileClass,
}

/// Reads files in a thread with the rights of another account. The thread is started for the first file.
#[derive(Debug)]
pub(crate) struct CallerFiles {
    account: u32,
    jobs: Option<Sender<FileJob>>,
    deadline: Option<Instant>,
    is_late: bool,
}

/// Work for a thread that reads files.
type FileJob = Box<dyn FnOnce(&mut FileReader) + Send>;

/// Counts the threads that read files, by account.
struct ReaderThreads {
    running: Mutex<BTreeMap<u32, usize>>,
    ended: Condvar,
}

/// One running thread of an account.
struct ThreadPermit(u32);

static READER_THREADS: ReaderThreads =
    ReaderThreads { running: Mutex::new(BTreeMap::new()), ended: Condvar::new() };

// === impl FileRights ===

impl FileRights {
    /// Returns the access to the files of a call. `account` is the account that makes the call, if it is known.
    pub(crate) fn access_for(self, account: Option<u32>) -> FileAccess {
        match (self, account) {
            (Self::None, _) | (Self::Caller, None) => FileAccess::None,
            (Self::Caller, Some(account)) if account != rustix::process::geteuid().as_raw() => {
                FileAccess::Caller(CallerFiles { account, jobs: None, deadline: None, is_late: false })
            }
            (Self::Process | Self::Caller, _) => FileAccess::Process(FileReader::new(FileClass::Named)),
        }
    }
}

// === impl FileAccess ===

impl FileAccess {
    /// Whether files may be read at all.
    pub(crate) fn is_allowed(&self) -> bool {
        !matches!(self, Self::None)
    }

    /// Whether a file could not be read in time.
    pub(crate) fn is_late(&self) -> bool {
        matches!(self, Self::Caller(files) if files.is_late)
    }

    /// Runs work that reads files. Returns `None` if no file may be read, or if the work does not end in time.
    pub(crate) fn run<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut FileReader) -> T + Send + 'static,
    ) -> Option<T> {
        match self {
            Self::None => None,
            Self::Process(reader) => Some(work(reader)),
            Self::Caller(files) => {
                let done = files.run(work);
                files.is_late |= done.is_none();
                done
            }
        }
    }
}

// === impl CallerFiles ===

impl CallerFiles {
    fn run<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut FileReader) -> T + Send + 'static,
    ) -> Option<T> {
        // A call waits only once, also if it needs several files.
        if self.is_late {
            return None;
        }
        let deadline = *self.deadline.get_or_insert_with(|| Instant::now() + CALLER_READ_TIMEOUT);
        if self.jobs.is_none() {
            self.jobs = Some(start_reader(self.account, deadline)?);
        }
        let (sender, receiver) = sync_channel(1);
        let job: FileJob = Box::new(move |reader| {
            // The call may have stopped waiting; then the result is dropped.
            let _ = sender.send(work(reader));
        });
        self.jobs.as_ref()?.send(job).ok()?;
        receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok()
    }
}

/// Starts a thread with the rights of an account. It ends when the sender is dropped and its last job is done.
fn start_reader(account: u32, deadline: Instant) -> Option<Sender<FileJob>> {
    let permit = READER_THREADS.acquire(account, deadline)?;
    let (sender, receiver) = channel::<FileJob>();
    let work = move |rights: ReadRights| {
        let _permit = permit;
        let class = rights.required_owner().map_or(FileClass::Named, FileClass::OwnedBy);
        let mut reader = FileReader::new(class);
        for job in receiver {
            job(&mut reader);
        }
    };
    spawn_as(account, work).ok()?;
    Some(sender)
}

// === impl FileReader ===

impl FileReader {
    fn new(class: FileClass) -> Self {
        Self { probe: SymlinkProbe::default(), class }
    }

    /// Returns the probe, which tells whether access to a path may block.
    pub(crate) fn probe(&mut self) -> &mut SymlinkProbe {
        &mut self.probe
    }

    /// Reads a regular file. Returns `None` if access would have to wait for a directory to be mounted.
    pub(crate) fn read(&mut self, path: &str, max_bytes: u64) -> Option<Vec<u8>> {
        if self.probe.may_block(path) {
            return None;
        }
        tenterhook_files::read_bytes(Path::new(path), self.class, max_bytes).ok().flatten()
    }
}

// === impl ReaderThreads ===

impl ReaderThreads {
    /// Waits until an account may start another thread.
    fn acquire(&self, account: u32, deadline: Instant) -> Option<ThreadPermit> {
        let is_full = |running: &mut BTreeMap<u32, usize>| {
            running.get(&account).is_some_and(|count| *count >= MAX_THREADS_PER_ACCOUNT)
        };
        let wait_time = deadline.saturating_duration_since(Instant::now());
        let waited = self.ended.wait_timeout_while(self.lock(), wait_time, is_full);
        let (mut running, result) = waited.unwrap_or_else(PoisonError::into_inner);
        if result.timed_out() {
            return None;
        }
        *running.entry(account).or_default() += 1;
        Some(ThreadPermit(account))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u32, usize>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ThreadPermit {
    fn drop(&mut self) {
        let mut running = READER_THREADS.lock();
        if let Some(count) = running.get_mut(&self.0) {
            *count -= 1;
            if *count == 0 {
                running.remove(&self.0);
            }
        }
        READER_THREADS.ended.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(account: u32) -> FileAccess {
        FileRights::Caller.access_for(Some(account))
    }

    #[test]
    fn an_unknown_caller_reads_no_file() {
        assert_eq!(FileRights::Caller.access_for(None).run(|_| ()), None);
        assert_eq!(FileRights::None.access_for(Some(1)).run(|_| ()), None);
        assert_eq!(FileRights::Process.access_for(None).run(|_| ()), Some(()));
    }

    #[test]
    fn a_caller_reads_what_its_account_may_read() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let set_mode = |path: &Path, mode: u32| {
            let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
            std::fs::set_permissions(path, mode).unwrap();
        };
        set_mode(dir.path(), 0o755);
        let (open, closed) = (dir.path().join("open"), dir.path().join("closed"));
        for (path, mode) in [(&open, 0o644), (&closed, 0o600)] {
            std::fs::write(path, "text").unwrap();
            set_mode(path, mode);
        }
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&closed, &link).unwrap();
        let mut access = caller(65_534);
        let mut read = |path: &Path| {
            let path = path.to_str().unwrap().to_owned();
            access.run(move |reader| reader.read(&path, 100)).unwrap()
        };
        assert_eq!(read(&open).as_deref(), Some(&b"text"[..]));
        assert_eq!((read(&closed), read(&link)), (None, None));
    }

    #[test]
    fn a_thread_that_hangs_delays_only_its_account() {
        let (hang, wait) = channel::<()>();
        let wait = std::sync::Arc::new(Mutex::new(wait));
        let mut hanging = Vec::new();
        for _ in 0..MAX_THREADS_PER_ACCOUNT {
            let (mut access, wait) = (caller(65_533), std::sync::Arc::clone(&wait));
            hanging.push(std::thread::spawn(move || {
                let done = access.run(move |_| wait.lock().unwrap().recv().is_ok());
                (done, access.is_late(), access.run(|_| ()))
            }));
        }
        for access in hanging {
            assert_eq!(access.join().unwrap(), (None, true, None));
        }
        let mut next = caller(65_533);
        assert_eq!((next.run(|_| ()), next.is_late()), (None, true), "all threads of the account hang");
        assert_eq!(caller(65_532).run(|_| ()), Some(()));
        drop(hang);
        assert_eq!(caller(65_533).run(|_| ()), Some(()));
    }
}
