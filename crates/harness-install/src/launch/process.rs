// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Runs a program for a limited time, and ends all processes that it started.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// Interval at which the program is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Runs `command` in its own process group until it ends, `timeout` has passed or `is_cancelled` returns true.
/// Returns `None` if the process had to be killed. In each case all processes of the group are killed. On Linux,
/// processes that left the group are killed as well.
///
/// Standard output and error should be files: a grandchild that keeps a pipe open would block the reader.
pub fn run_to_end(
    command: &mut Command,
    timeout: Duration,
    is_cancelled: impl Fn() -> bool,
) -> io::Result<Option<ExitStatus>> {
    adopt_orphans()?;
    let mut child = command.process_group(0).spawn()?;
    let group = Pid::from_child(&child);
    let deadline = Instant::now() + timeout;
    let ended = loop {
        // `NOWAIT` does not reap the process. Until it is reaped, its id, which is also the id of the group, cannot
        // be reused.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        match waitid(WaitId::Pid(group), options) {
            Ok(Some(_)) => break true,
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if Instant::now() >= deadline || is_cancelled() {
            break false;
        }
        std::thread::sleep(POLL_INTERVAL);
    };
    // The group may already be empty.
    let _ = kill_process_group(group, Signal::KILL);
    let status = child.wait()?;
    end_orphans()?;
    Ok(ended.then_some(status))
}

/// Makes this process the parent of processes that the program leaves running in the background.
#[cfg(target_os = "linux")]
fn adopt_orphans() -> io::Result<()> {
    Ok(rustix::process::set_child_subreaper(Some(Pid::INIT))?)
}

/// Kills orphans of the program: children of this process that are in other process groups. Children that this
/// process started itself are in its own group.
#[cfg(target_os = "linux")]
fn end_orphans() -> io::Result<()> {
    use std::path::Path;

    use rustix::process::{WaitOptions, getpgrp, getpid, kill_process, waitpid};
    use tenterhook_files::{FileClass, read_bytes};

    /// Larger than the kernel's `stat` line of a process.
    const MAX_STAT_BYTES: u64 = 4096;

    let (own, group) = (getpid(), getpgrp());
    for entry in fs_err::read_dir("/proc")? {
        let name = entry?.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw) else {
            continue;
        };
        let path = Path::new("/proc").join(name).join("stat");
        // The process may have ended.
        let Ok(Some(stat)) = read_bytes(&path, FileClass::Named, MAX_STAT_BYTES) else { continue };
        let stat = String::from_utf8_lossy(&stat);
        // `pid (name) state parent group …`; the name may contain any character.
        let fields = stat.rsplit_once(") ").map(|(_, rest)| rest).unwrap_or_default();
        let mut ids =
            fields.split(' ').skip(1).map_while(|id| id.parse::<i32>().ok().and_then(Pid::from_raw));
        if ids.next() == Some(own) && ids.next().is_some_and(|other| other != group) {
            // The process may have ended in between.
            let _ = kill_process(pid, Signal::KILL);
            let _ = waitpid(Some(pid), WaitOptions::empty());
        }
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn adopt_orphans() -> io::Result<()> {
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn end_orphans() -> io::Result<()> {
    Ok(())
}
