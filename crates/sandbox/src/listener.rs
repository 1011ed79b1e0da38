// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The connection between a run and its supervisor outside: the run reports that it started, and passes the listener of
//! its proxy, which the supervisor serves.

use std::io::{self, IoSlice, IoSliceMut, Read as _, Write as _};
use std::mem::MaybeUninit;
use std::net::TcpListener;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::Duration;

use rustix::fs::{SeekFrom, fstat, seek};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg, sockopt::socket_peercred,
};
use rustix::process::{Pid, PidfdFlags, getpid, pidfd_open};

/// Name of the socket in the directory with Tenterhook's own files.
pub const SUPERVISOR_SOCKET: &str = "supervisor.sock";
/// Message with standard input, if the run has opened it again.
const INPUT: &[u8] = b"I";
/// How long either side waits for the other.
const REPLY_TIMEOUT: Duration = Duration::from_secs(10);
/// Message of a run that started.
const STARTED: &[u8] = b"S";
/// Reply of the supervisor.
const ACCEPTED: &[u8] = b"A";
/// Message with the descriptor from which the supervisor reads observed calls.
const OBSERVED: &[u8] = b"O";

/// The socket on which a supervisor waits for its run.
#[derive(Debug)]
pub struct SupervisorSocket(UnixListener);

/// A run that has started.
#[derive(Debug)]
pub struct StartedRun {
    /// The process that becomes the command.
    pub process: Pid,
    /// Its parent: the first process of the run's process namespace, if it has one.
    pub init: OwnedFd,
    /// Process id of `init`, outside the namespace.
    pub init_pid: Pid,
    /// The listener of the run's proxy, if it has one.
    pub listener: Option<TcpListener>,
    /// The connection to the run, until its command starts.
    connection: UnixStream,
    /// The run's standard input, if the run has opened it again.
    input: Option<OwnedFd>,
}

impl StartedRun {
    /// Receives what the run passes until its command starts. Calls `observe` with the descriptor of its observed calls at
    /// once, because the run waits for an observer.
    pub fn receive_descriptors(&mut self, mut observe: impl FnMut(OwnedFd)) {
        while let Ok((message, Some(descriptor))) = receive(&self.connection) {
            match &message[..] {
                OBSERVED => observe(descriptor),
                INPUT => self.input = Some(descriptor),
                _ => return,
            }
        }
    }

    /// Moves this process's standard input to where the run has read to, as if both had shared it.
    pub fn pass_back_input(&self) {
        let Some(input) = &self.input else { return };
        let own = std::io::stdin();
        let is_same = fstat(input).is_ok_and(|input| {
            fstat(&own).is_ok_and(|own| (own.st_dev, own.st_ino) == (input.st_dev, input.st_ino))
        });
        if is_same && let Ok(position) = seek(input, SeekFrom::Current(0)) {
            // A directory has no position that matters.
            let _ = seek(&own, SeekFrom::Start(position));
        }
    }
}

impl SupervisorSocket {
    /// Creates the socket in a directory.
    pub fn create(directory: &Path) -> io::Result<Self> {
        let directory = std::fs::File::open(directory)?;
        // The path of the directory may be too long for a socket.
        let path = format!("/proc/self/fd/{}/{SUPERVISOR_SOCKET}", directory.as_raw_fd());
        UnixListener::bind(path).map(Self)
    }

    /// Waits until the run has started. Only the first connection of a process below this one counts: it comes from the
    /// program that starts before the command. Processes of other runs see the socket too. The command waits until
    /// `prepare` has returned.
    pub fn wait_for_start(self, prepare: impl FnOnce(&StartedRun)) -> io::Result<StartedRun> {
        let (run, process) = loop {
            let (run, _) = self.0.accept()?;
            let process = socket_peercred(&run)?.pid;
            if descends_from_this_process(process) {
                break (run, process);
            }
        };
        drop(self);
        let init_pid = parent_of(process)?;
        let init = pidfd_open(init_pid, PidfdFlags::empty())?;
        run.set_read_timeout(Some(REPLY_TIMEOUT))?;
        let (message, descriptor) = receive(&run)?;
        if message != STARTED {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let listener = descriptor.map(TcpListener::from);
        let mut started = StartedRun { process, init, init_pid, listener, connection: run, input: None };
        prepare(&started);
        started.connection.write_all(ACCEPTED)?;
        Ok(started)
    }
}

/// Whether a process is this one or was started below it.
fn descends_from_this_process(process: Pid) -> bool {
    let mut next = Some(process);
    while let Some(process) = next {
        if process == getpid() {
            return true;
        }
        next = parent_of(process).ok();
    }
    false
}

fn parent_of(process: Pid) -> io::Result<Pid> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.as_raw_nonzero()))?;
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:")?.trim().parse().ok());
    parent.and_then(Pid::from_raw).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Receives a message of one byte, and a descriptor if there is one.
fn receive(run: &UnixStream) -> io::Result<([u8; 1], Option<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut message = [0; 1];
    let received =
        recvmsg(run, &mut [IoSliceMut::new(&mut message)], &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
    if received.bytes == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let mut descriptors = ancillary.drain().flat_map(|message| match message {
        RecvAncillaryMessage::ScmRights(rights) => rights.collect::<Vec<OwnedFd>>(),
        _ => Vec::new(),
    });
    Ok((message, descriptors.next()))
}

fn send(supervisor: &UnixStream, message: &[u8], descriptor: Option<BorrowedFd<'_>>) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    let descriptors = descriptor.map(|descriptor| [descriptor]);
    if let Some(descriptors) = &descriptors {
        ancillary.push(SendAncillaryMessage::ScmRights(descriptors));
    }
    sendmsg(supervisor, &[IoSlice::new(message)], &mut ancillary, SendFlags::empty())?;
    Ok(())
}

/// Reports to the supervisor that the run starts, and passes a listener. Returns when the supervisor has accepted it.
pub(crate) fn report_start(socket: &Path, listener: Option<&TcpListener>) -> io::Result<UnixStream> {
    let mut supervisor = UnixStream::connect(socket)?;
    supervisor.set_read_timeout(Some(REPLY_TIMEOUT))?;
    send(&supervisor, STARTED, listener.map(|listener| listener.as_fd()))?;
    let mut reply = [0; 1];
    supervisor.read_exact(&mut reply)?;
    if reply == ACCEPTED { Ok(supervisor) } else { Err(io::ErrorKind::InvalidData.into()) }
}

/// Passes the run's standard input to the supervisor.
pub(crate) fn pass_input(supervisor: &UnixStream, input: &std::fs::File) -> io::Result<()> {
    send(supervisor, INPUT, Some(input.as_fd()))
}

/// Passes the descriptor of the run's observed calls to the supervisor.
pub(crate) fn pass_observer(supervisor: &UnixStream, observer: &OwnedFd) -> io::Result<()> {
    send(supervisor, OBSERVED, Some(observer.as_fd()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_is_passed_to_the_supervisor_which_serves_it() {
        let directory = tempfile::tempdir().unwrap();
        let socket = SupervisorSocket::create(directory.path()).unwrap();
        let path = directory.path().join(SUPERVISOR_SOCKET);
        let run = std::thread::spawn(move || {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            report_start(&path, Some(&listener)).unwrap();
            listener.local_addr().unwrap()
        });
        let listener = socket.wait_for_start(|_| {}).unwrap().listener.unwrap();
        assert_eq!(run.join().unwrap(), listener.local_addr().unwrap());
        assert!(std::os::unix::net::UnixStream::connect(directory.path().join(SUPERVISOR_SOCKET)).is_err());
    }

    #[test]
    fn a_process_of_another_run_cannot_report_the_start() {
        let directory = tempfile::tempdir().unwrap();
        let socket = SupervisorSocket::create(directory.path()).unwrap();
        let path = directory.path().join(SUPERVISOR_SOCKET);
        // The shell ends at once, so that the process below it belongs to another parent.
        let program = format!(
            "import socket, sys\ns = socket.socket(socket.AF_UNIX); s.connect('{}'); s.send(b'S'); print('sent', flush=True); s.recv(1)",
            path.display()
        );
        let mut other = std::process::Command::new("sh")
            .args(["-c", "setsid python3 -c \"$0\" & sleep 0.2", &program])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        assert!(other.wait().unwrap().success());
        let mut line = [0; 4];
        std::io::Read::read_exact(&mut other.stdout.take().unwrap(), &mut line).unwrap();
        assert_eq!(&line, b"sent");
        let run = std::thread::spawn(move || report_start(&path, None));
        let started = socket.wait_for_start(|_| {}).unwrap();
        assert_eq!(started.process, getpid());
        run.join().unwrap().unwrap();
    }

    #[test]
    fn a_run_without_a_proxy_passes_no_listener() {
        let directory = tempfile::tempdir().unwrap();
        let socket = SupervisorSocket::create(directory.path()).unwrap();
        let path = directory.path().join(SUPERVISOR_SOCKET);
        let run = std::thread::spawn(move || report_start(&path, None));
        assert!(socket.wait_for_start(|_| {}).unwrap().listener.is_none());
        run.join().unwrap().unwrap();
    }
}
