// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads the ancestry of a process: its parent, the parent's parent, and so on. The gate for privileged actions
//! relies on it, so it must be complete, consistent and belong to the process that the kernel reported. An ancestry
//! that cannot be verified is [`Ancestry::Unknown`], never a shorter list.

use super::process::Process;

/// Maximum number of ancestors. A longer ancestry is unknown; it is not truncated.
pub(crate) const MAX_ANCESTORS: usize = 4096;
/// Maximum number of reads of one ancestry. It is read again if it changed while it was read.
const MAX_READS: usize = 4;
/// Inode of the initial pid namespace, fixed by the kernel (`PROC_PID_INIT_INO`).
const INITIAL_PID_NAMESPACE: u64 = 0xEFFF_FFFC;

/// A process and its ancestors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ancestry {
    /// The process first, then its parent, and so on. The last process is the first process of the pid namespace, or a
    /// process that entered the namespace from outside.
    Complete(Vec<Process>),
    /// The ancestry could not be verified. Contains the reason.
    Unknown(&'static str),
    /// This platform does not report ancestries.
    Unsupported,
}

impl Ancestry {
    /// Ancestry of the process with this pid and start time.
    pub fn of(pid: i32, start: u64) -> Self {
        if cfg!(not(target_os = "linux")) {
            return Self::Unsupported;
        }
        if !proc_is_ours() {
            return Self::Unknown("/proc shows another pid namespace");
        }
        let mut before = walk(pid);
        for _ in 1..MAX_READS {
            let again = walk(pid);
            if again == before {
                return check(again, start);
            }
            before = again;
        }
        Self::Unknown("its ancestry keeps changing")
    }

    /// Ancestry of the calling process.
    pub fn current() -> Self {
        if cfg!(not(target_os = "linux")) {
            return Self::Unsupported;
        }
        let own = i32::try_from(std::process::id()).ok().and_then(Process::read);
        own.map_or(Self::Unknown("/proc cannot be read"), |own| Self::of(own.pid, own.start))
    }

    /// The processes; empty if the ancestry is unknown.
    pub fn processes(&self) -> &[Process] {
        match self {
            Self::Complete(processes) => processes,
            Self::Unknown(_) | Self::Unsupported => &[],
        }
    }
}

/// Ancestors of a process at this moment.
#[cfg(test)]
#[cfg(target_os = "linux")]
pub(crate) fn ancestors(pid: i32) -> Vec<Process> {
    walk(pid).0
}

/// Pid namespace of a process, if it can be read.
pub(crate) fn pid_namespace(pid: i32) -> Option<u64> {
    let link = fs_err::read_link(format!("/proc/{pid}/ns/pid")).ok()?;
    link.to_str()?.strip_prefix("pid:[")?.strip_suffix(']')?.parse().ok()
}

/// Pid namespace of the calling process.
pub(crate) fn own_pid_namespace() -> Option<u64> {
    pid_namespace(i32::try_from(std::process::id()).ok()?)
}

/// Whether a process is in a pid namespace below the one that `/proc` shows. Every account may read this, even about a
/// process whose namespaces it may not read, such as one that has just created a user namespace.
pub(crate) fn is_in_inner_namespace(pid: i32) -> bool {
    let status = fs_err::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    count_namespaces(&status) > 1
}

/// Number of pid namespaces in which a process has a pid, from its `status`.
fn count_namespaces(status: &str) -> usize {
    let pids = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
    pids.map_or(0, |pids| pids.split_whitespace().count())
}

/// Whether this is the initial pid namespace. No process outside it can be an ancestor of a process inside it.
pub(crate) fn is_initial(namespace: u64) -> bool {
    namespace == INITIAL_PID_NAMESPACE
}

/// Whether `/proc` shows this process's pid namespace. In another namespace the same pids are different processes.
fn proc_is_ours() -> bool {
    fs_err::read_link("/proc/self")
        .is_ok_and(|link| link.to_str().is_some_and(|own| own == std::process::id().to_string()))
}

/// Reads a process and its ancestors. The second value is true if the list is complete: the last process has no
/// parent in this pid namespace.
pub(crate) fn walk(pid: i32) -> (Vec<Process>, bool) {
    let mut found = Vec::new();
    let mut next = pid;
    while next > 0 && found.len() < MAX_ANCESTORS {
        let Some(process) = Process::read(next) else { return (found, false) };
        next = process.parent;
        found.push(process);
    }
    let whole = next <= 0 && !found.is_empty();
    (found, whole)
}

fn check((processes, whole): (Vec<Process>, bool), start: u64) -> Ancestry {
    let Some(first) = processes.first() else { return Ancestry::Unknown("the process has ended") };
    if first.start != start || first.ended {
        return Ancestry::Unknown("the process has ended");
    }
    if !whole {
        let too_long = processes.len() >= MAX_ANCESTORS;
        return Ancestry::Unknown(if too_long {
            "its ancestry is too long"
        } else {
            "its ancestry is incomplete: an ancestor cannot be read"
        });
    }
    // A parent is older than its child, and so is a process that adopts an orphan. If the parent seems younger, the
    // real parent has ended and another process has reused its pid.
    let consistent =
        processes.iter().zip(processes.iter().skip(1)).all(|(child, parent)| parent.start <= child.start);
    if consistent { Ancestry::Complete(processes) } else { Ancestry::Unknown("its ancestry is inconsistent") }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    fn process(pid: i32, parent: i32, start: u64) -> Process {
        let (session, ended, terminal, name) = (pid, false, true, String::new());
        Process { pid, parent, start, session, ended, terminal, name }
    }

    #[test]
    fn our_own_ancestry_begins_with_us_and_is_complete() {
        let own = i32::try_from(std::process::id()).unwrap();
        let Ancestry::Complete(found) = Ancestry::current() else { panic!("{:?}", Ancestry::current()) };
        assert_eq!((found[0].pid, found[0].parent), (own, found[1].pid));
        let last = found.last().unwrap();
        assert!(last.pid == 1 || last.parent == 0, "{last:?}");
        assert!(Process::program(own).unwrap().contains("tenterhook"));
        assert!(own_pid_namespace().is_some());
    }

    #[test]
    fn a_nested_namespace_shows_in_the_status() {
        assert_eq!(count_namespaces("Name:\tsh\nNSpid:\t4711\t1\nNSpgid:\t1\n"), 2);
        assert_eq!(count_namespaces("Name:\tsh\n"), 0);
        assert!(!is_in_inner_namespace(i32::try_from(std::process::id()).unwrap()));
    }

    #[test]
    fn whatever_is_cut_ended_or_inconsistent_is_unknown() {
        let line = || vec![process(9, 5, 300), process(5, 1, 200), process(1, 0, 0)];
        assert_eq!(check((line(), true), 300), Ancestry::Complete(line()));
        for (found, whole, start, expected) in [
            (line(), true, 299, "ended"),
            (Vec::new(), false, 300, "ended"),
            (line(), false, 300, "incomplete"),
            (vec![process(9, 5, 300); MAX_ANCESTORS], false, 300, "too long"),
            (vec![process(9, 5, 300), process(5, 1, 301), process(1, 0, 0)], true, 300, "inconsistent"),
            (vec![Process { ended: true, ..process(9, 1, 300) }, process(1, 0, 0)], true, 300, "ended"),
        ] {
            let Ancestry::Unknown(why) = check((found, whole), start) else { panic!("{expected}") };
            assert!(why.contains(expected), "{why}");
        }
        assert_eq!(Ancestry::of(-1, 0), Ancestry::Unknown("the process has ended"));
    }

    #[test]
    fn a_process_that_exited_is_unknown_even_before_it_is_reaped() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let start = Process::read(pid).unwrap().start;
        assert_eq!(Ancestry::of(pid, start).processes()[0].pid, pid);
        child.kill().unwrap();
        while Process::read(pid).is_some_and(|process| !process.ended) {
            std::thread::yield_now();
        }
        assert_eq!(Ancestry::of(pid, start), Ancestry::Unknown("the process has ended"));
        child.wait().unwrap();
        assert_eq!(Ancestry::of(pid, start), Ancestry::Unknown("the process has ended"));
    }
}
