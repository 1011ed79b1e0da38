// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs work for another account in a separate thread with the rights of that account.
//!
//! A machine-wide daemon runs as root and reads directories that its callers name. The kernel must decide what a
//! caller may read. On Linux, the thread takes the caller's user and groups for its accesses before it accesses a path,
//! so no link can lead to a file that the caller cannot read. Its real and saved user stay those of the daemon:
//! otherwise the caller could send signals to the thread, and SIGKILL ends the whole daemon. If the thread cannot change its user and groups (on another platform,
//! or because the daemon is not root), it reads only files that belong to the caller.

use std::io::Result;
use std::thread::Builder;

/// How to decide whether a file may be read on behalf of a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadRights {
    /// This thread has the caller's rights, so the kernel checks every access.
    KernelChecked,
    /// This thread does not have the caller's rights, so a file must belong to this account.
    OwnerMustBe(u32),
}

impl ReadRights {
    /// The account that files must belong to; `None` if the kernel checks every access.
    pub fn required_owner(self) -> Option<u32> {
        match self {
            Self::KernelChecked => None,
            Self::OwnerMustBe(account) => Some(account),
        }
    }
}

/// Starts a thread that tries to take the rights of an account and then runs `work`. `work` receives the rights that
/// the thread has.
pub fn spawn_as(account: u32, work: impl FnOnce(ReadRights) + Send + 'static) -> Result<()> {
    let started = Builder::new().name("caller".into()).spawn(move || {
        let rights = if become_account(account) {
            ReadRights::KernelChecked
        } else {
            ReadRights::OwnerMustBe(account)
        };
        work(rights);
    });
    started.map(drop)
}

/// Gives this thread the user and the groups of an account for all accesses. Returns whether this succeeded.
#[cfg(target_os = "linux")]
fn become_account(account: u32) -> bool {
    use rustix::thread::{Gid, Uid, capabilities, set_thread_groups, set_thread_res_gid, set_thread_res_uid};
    let (primary, groups) = groups_of(account);
    let groups: Vec<_> = groups.into_iter().map(Gid::from_raw).collect();
    let (group, user) = (Gid::from_raw(primary), Uid::from_raw(account));
    let own = rustix::process::getuid();
    // These calls change only this thread. Changing from root to another user also drops the effective capabilities,
    // unless the daemon was started with settings that keep them.
    set_thread_groups(&groups).is_ok()
        && set_thread_res_gid(group, group, group).is_ok()
        && set_thread_res_uid(own, user, own).is_ok()
        && (user.is_root() || capabilities(None).is_ok_and(|sets| sets.effective.is_empty()))
}

#[cfg(not(target_os = "linux"))]
fn become_account(_account: u32) -> bool {
    false
}

/// The primary group of an account and its other groups, from the system's account database. An unknown account gets
/// the group `nogroup`.
#[cfg(target_os = "linux")]
fn groups_of(account: u32) -> (u32, Vec<u32>) {
    /// Number of the group `nogroup`.
    const NO_GROUP: u32 = 65_534;
    let Some(user) = uzers::get_user_by_uid(account) else { return (NO_GROUP, Vec::new()) };
    let primary = user.primary_group_id();
    let groups = uzers::get_user_groups(user.name(), primary).unwrap_or_default();
    (primary, groups.iter().map(uzers::Group::gid).collect())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn the_work_has_the_rights_of_the_account_and_this_thread_keeps_its_own() {
        let (sender, receiver) = channel();
        spawn_as(65_534, move |rights| {
            let uid = rustix::process::geteuid().as_raw();
            sender.send((rights, uid, std::fs::read("/etc/shadow").is_ok())).unwrap();
        })
        .unwrap();
        let (rights, uid, reads_shadow) = receiver.recv().unwrap();
        let own = rustix::process::geteuid();
        if own.is_root() {
            assert_eq!((rights, uid, reads_shadow), (ReadRights::KernelChecked, 65_534, false));
        } else {
            assert_eq!((rights, uid), (ReadRights::OwnerMustBe(65_534), own.as_raw()));
        }
        assert_eq!(rustix::process::geteuid(), own);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_account_cannot_send_signals_to_the_thread() {
        use std::os::unix::process::CommandExt;
        // Without root, the thread keeps the account of this process.
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let (started, thread) = channel();
        let (end, ended) = channel::<()>();
        spawn_as(65_534, move |_| {
            started.send(rustix::thread::gettid().as_raw_nonzero()).unwrap();
            ended.recv().unwrap_err();
        })
        .unwrap();
        let probe = format!("kill -0 {}", thread.recv().unwrap());
        let status = |uid: u32| {
            let mut shell = std::process::Command::new("sh");
            shell.args(["-c", &probe]).stderr(std::process::Stdio::null()).uid(uid).gid(uid);
            shell.status().unwrap().success()
        };
        assert!(status(0), "the thread is running");
        assert!(!status(65_534));
        drop(end);
    }
}
