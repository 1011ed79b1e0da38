// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Identifies the process that opened a connection, for privileged actions.
//!
//! `SO_PEERCRED` returns the pid of the process that called `connect`; another process may have that pid by
//! now. A pid and a start time together are unique, so both are read while a pidfd shows that the process is
//! running. If the process cannot be verified, the result is `None`, and privileged actions are refused.

use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use super::Peer;

/// Returns the peer's account and pid for hook calls, using the kernel's cheapest method.
#[cfg(target_os = "linux")]
pub(super) fn peer_credentials(stream: &UnixStream) -> Option<Peer> {
    use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
    let peer = getsockopt(stream, PeerCredentials).ok()?;
    Some(Peer::Local { uid: peer.uid(), pid: visible_pid(peer.pid()), start: None })
}

#[cfg(not(target_os = "linux"))]
pub(super) fn peer_credentials(_stream: &UnixStream) -> Option<Peer> {
    None
}

/// Returns the peer process, verified as far as this platform allows.
pub(super) fn identify(stream: &impl AsFd, uid: u32, pid: Option<i32>) -> Peer {
    let pid = pid.and_then(visible_pid);
    Peer::Local { uid, pid, start: pid.and_then(|pid| verified_start(stream, pid)) }
}

/// Returns the pid if it is visible: a process in an invisible pid namespace has the pid 0.
fn visible_pid(pid: i32) -> Option<i32> {
    (pid > 0).then_some(pid)
}

/// Returns the start time of the process that opened the connection; `None` if the process may have exited.
#[cfg(target_os = "linux")]
fn verified_start(stream: &impl AsFd, pid: i32) -> Option<u64> {
    use nix::sys::socket::{getsockopt, sockopt::PeerPidfd};
    linux::verified_start_by(pid, || getsockopt(stream, PeerPidfd))
}

#[cfg(not(target_os = "linux"))]
fn verified_start(_stream: &impl AsFd, _pid: i32) -> Option<u64> {
    None
}

#[cfg(target_os = "linux")]
mod linux {
    use std::os::fd::OwnedFd;

    use nix::errno::Errno;
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{Pid, PidfdFlags, pidfd_open};
    use tenterhook_authority::Process;

    /// Returns the start time of the process with this pid, if it is still the peer of the connection. `peer` returns
    /// the peer's pidfd from the socket. Before Linux 6.5 the socket does not provide one, so a pidfd is opened by pid.
    pub(super) fn verified_start_by(pid: i32, peer: impl FnOnce() -> nix::Result<OwnedFd>) -> Option<u64> {
        let before = Process::read(pid)?.start;
        let pidfd = match peer() {
            Ok(pidfd) => pidfd,
            // The pid may have been reused since `connect`; only SO_PEERPIDFD could detect that.
            Err(Errno::ENOPROTOOPT) => pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()?,
            Err(_) => return None,
        };
        let after = Process::read(pid)?;
        // The process is running, so its pid has not been reused since the pidfd was opened.
        (before == after.start && !after.ended && is_running(&pidfd)).then_some(before)
    }

    /// Whether the process is running: a pidfd becomes readable when its process exits, reaped or not.
    fn is_running(pidfd: &OwnedFd) -> bool {
        let mut polled = [PollFd::new(pidfd, PollFlags::IN)];
        poll(&mut polled, Some(&Timespec::default())) == Ok(0)
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::io::Read as _;
    use std::os::unix::net::UnixListener;
    use std::process::{Child, Command, Stdio};

    use nix::errno::Errno;
    use nix::sys::socket::{getsockopt, sockopt::PeerPidfd};
    use tenterhook_authority::Process;

    use super::*;

    const CONNECT: &str = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); \
                           print('connected', flush=True); sys.stdin.read()";

    /// Starts a process that connects; returns it with the accepted stream. The process exits when its input ends.
    fn connected() -> (Child, UnixStream, i32) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        let mut command = Command::new("python3");
        command.args(["-c", CONNECT]).arg(&path).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdout.as_mut().unwrap().read_exact(&mut [0; 9]).unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        (child, listener.accept().unwrap().0, pid)
    }

    /// Returns the start time by both methods: a pidfd from the socket, and one from the pid for older kernels.
    fn starts(stream: &UnixStream, pid: i32) -> [Option<u64>; 2] {
        let old_kernel = || Err(Errno::ENOPROTOOPT);
        [
            linux::verified_start_by(pid, || getsockopt(stream, PeerPidfd)),
            linux::verified_start_by(pid, old_kernel),
        ]
    }

    #[test]
    fn a_process_that_runs_is_verified_on_new_and_old_kernels() {
        let (mut child, stream, pid) = connected();
        let start = Process::read(pid).map(|process| process.start);
        assert!(start.is_some());
        assert_eq!(starts(&stream, pid), [start, start]);
        let uid = rustix::process::getuid().as_raw();
        assert_eq!(identify(&stream, uid, Some(pid)), Peer::Local { uid, pid: Some(pid), start });
        assert_eq!(peer_credentials(&stream), Some(Peer::Local { uid, pid: Some(pid), start: None }));
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_process_that_has_exited_is_unknown_reaped_or_not() {
        let (mut child, stream, pid) = connected();
        child.kill().unwrap();
        while Process::read(pid).is_some_and(|process| !process.ended) {
            std::thread::yield_now();
        }
        assert_eq!(starts(&stream, pid), [None, None], "a zombie");
        child.wait().unwrap();
        assert_eq!(starts(&stream, pid), [None, None], "reaped");
    }

    #[test]
    fn doubt_is_unknown() {
        let own = i32::try_from(std::process::id()).unwrap();
        assert_eq!(linux::verified_start_by(own, || Err(Errno::ESRCH)), None);
        assert_eq!(linux::verified_start_by(i32::MAX, || Err(Errno::ENOPROTOOPT)), None);
        let (stream, _other) = UnixStream::pair().unwrap();
        assert_eq!(identify(&stream, 7, Some(0)), Peer::Local { uid: 7, pid: None, start: None });
    }
}
