// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Without a process namespace, processes of a run that lost their parent become children of the supervisor. So they stay
//! part of the run, and the supervisor ends them after its command.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, set_child_subreaper, waitpid};

/// Time within which the processes must have ended.
const END_TIMEOUT: Duration = Duration::from_secs(2);
/// Interval between attempts, for processes that the kernel cannot end at once.
const RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// Makes this process the parent of all processes below it that lose theirs. Returns the children that it has already,
/// such as a daemon that was started for the run.
pub(crate) fn adopt_orphans() -> Vec<Pid> {
    // Fails on no kernel that has Landlock.
    let _ = set_child_subreaper(Some(Pid::INIT));
    children()
}

/// Ends all children of this process except `kept`, and theirs.
pub(crate) fn end_children(kept: &[Pid]) {
    let until = Instant::now() + END_TIMEOUT;
    while Instant::now() < until {
        let left: Vec<_> = children().into_iter().filter(|child| !kept.contains(child)).collect();
        if left.is_empty() {
            return;
        }
        for child in left {
            let _ = kill_process(child, Signal::KILL);
            // The children of an ended process are children of this one now.
            let _ = waitpid(Some(child), WaitOptions::NOHANG);
        }
        std::thread::sleep(RETRY_INTERVAL);
    }
}

fn children() -> Vec<Pid> {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    let pids: Vec<_> =
        lists.flat_map(|list| list.split_whitespace().map(str::parse::<i32>).collect::<Vec<_>>()).collect();
    pids.into_iter().flatten().filter_map(Pid::from_raw).collect()
}
