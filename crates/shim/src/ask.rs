// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Sends a hook call to the daemon: one connection, one write, usually one read.

use std::fmt;
use std::io::{ErrorKind, IoSlice, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::VERSION;
use crate::start::ConnectAlarm;
use crate::wire::{DaemonMessage, HookRequest, Malformed};

/// Time within which the daemon must send its first message.
const FIRST_REPLY_TIMEOUT: Duration = Duration::from_secs(2);
/// Longest silence of the daemon after its first message.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(3);
/// Size of the first read: larger than most replies, within one page.
const READ_CHUNK_BYTES: usize = 1024;
/// A write up to this size always fits into a socket's buffer, even if the other side does not read.
const SAFE_WRITE_BYTES: usize = 32 * 1024;
/// Longest path in a socket address.
const MAX_SOCKET_PATH_BYTES: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

/// Reason why the daemon did not answer. Its short message is recorded with the call.
#[derive(Debug)]
pub enum AskError {
    /// No daemon listens on the socket.
    NoDaemon,
    /// The daemon sent nothing within `FIRST_REPLY_TIMEOUT`.
    Silent,
    /// The daemon did not finish within the time limit of the call.
    TookTooLong,
    /// The daemon closed the connection.
    HungUp,
    /// The connection failed for another reason.
    Broken(std::io::Error),
    /// The call cannot be encoded as a request.
    Request(Malformed),
    /// The reply violates the protocol.
    UnreadableReply(Malformed),
    /// The reply has more bytes than its header announces.
    OverlongReply,
    /// The reply belongs to a different request.
    OtherReply,
    /// The daemon tells the hook to evaluate the call itself, and gives a reason.
    Fallback(String),
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDaemon => f.write_str("no daemon"),
            Self::Silent => f.write_str("the daemon is silent"),
            Self::TookTooLong => f.write_str("the daemon took too long"),
            Self::HungUp => f.write_str("the daemon hung up"),
            Self::Broken(error) => write!(f, "the connection broke: {error}"),
            Self::Request(error) => error.fmt(f),
            Self::UnreadableReply(error) => write!(f, "the daemon's reply cannot be read: {error}"),
            Self::OverlongReply => f.write_str("the daemon's reply is longer than it says"),
            Self::OtherReply => f.write_str("the daemon answers something else"),
            Self::Fallback(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for AskError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Broken(error) => Some(error),
            Self::Request(error) | Self::UnreadableReply(error) => Some(error),
            _ => None,
        }
    }
}

impl From<std::io::Error> for AskError {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => Self::Silent,
            ErrorKind::NotFound | ErrorKind::ConnectionRefused => Self::NoDaemon,
            _ => Self::Broken(error),
        }
    }
}

/// The reply for the harness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DaemonAnswer {
    /// Exit code for the harness.
    pub exit: u8,
    /// Received bytes: standard output, followed by standard error.
    bytes: Vec<u8>,
    stdout: (usize, usize),
    stderr: (usize, usize),
}

impl DaemonAnswer {
    /// Content of standard output.
    pub fn stdout(&self) -> &[u8] {
        self.bytes.get(self.stdout.0..self.stdout.1).unwrap_or_default()
    }

    /// Content of standard error.
    pub fn stderr(&self) -> &[u8] {
        self.bytes.get(self.stderr.0..self.stderr.1).unwrap_or_default()
    }
}

/// A function that connects to a socket within a time limit.
type Connect = fn(&Path, Duration) -> std::io::Result<UnixStream>;

/// Sends a call to the daemon that listens on this socket.
pub fn ask(socket: &Path, request: &HookRequest<'_>, payload: &[u8]) -> Result<DaemonAnswer, AskError> {
    ask_with(connect, socket, request, payload)
}

/// Like [`ask`], for a program with a single thread.
pub fn ask_from_single_thread(
    socket: &Path,
    request: &HookRequest<'_>,
    payload: &[u8],
) -> Result<DaemonAnswer, AskError> {
    ask_with(connect_from_single_thread, socket, request, payload)
}

fn ask_with(
    connect: Connect,
    socket: &Path,
    request: &HookRequest<'_>,
    payload: &[u8],
) -> Result<DaemonAnswer, AskError> {
    let until = Instant::now() + Duration::from_millis(request.within_ms);
    let mut header = Vec::with_capacity(256);
    request.write(&mut header).map_err(AskError::Request)?;
    let first = FIRST_REPLY_TIMEOUT.min(Duration::from_millis(request.within_ms));
    let mut stream = connect(socket, first)?;
    stream.set_read_timeout(Some(first))?;
    if header.len() + payload.len() > SAFE_WRITE_BYTES {
        stream.set_write_timeout(Some(first))?;
    }
    send(&mut stream, &header, payload)?;
    answer(stream, until)
}

/// Connects within a time limit. A path that is too long for a socket address is opened through its directory.
///
/// If a daemon accepts no connections and its queue is full, the kernel blocks the caller. The standard library has no
/// timeout for that. So another thread connects, and is abandoned if it takes too long.
pub fn connect(socket: &Path, within: Duration) -> std::io::Result<UnixStream> {
    let (send, receive) = std::sync::mpsc::channel();
    let socket = socket.to_owned();
    std::thread::Builder::new().stack_size(64 * 1024).spawn(move || {
        // The receiver is already dropped if the time limit has passed.
        drop(send.send(connect_blocking(&socket)));
    })?;
    receive.recv_timeout(within).unwrap_or_else(|_| Err(ErrorKind::TimedOut.into()))
}

/// Like [`connect`], but without another thread, because starting a thread would cost more than the rest of a hook
/// call. A signal interrupts the blocking system call instead. The kernel delivers signals to any thread of a
/// process, so this works only in programs with a single thread.
pub(crate) fn connect_from_single_thread(socket: &Path, within: Duration) -> std::io::Result<UnixStream> {
    let alarm = ConnectAlarm::set(within);
    let connected = connect_blocking(socket);
    drop(alarm);
    connected.map_err(|error| match error.kind() {
        ErrorKind::Interrupted => ErrorKind::TimedOut.into(),
        _ => error,
    })
}

fn connect_blocking(socket: &Path) -> std::io::Result<UnixStream> {
    if socket.as_os_str().len() <= MAX_SOCKET_PATH_BYTES {
        return UnixStream::connect(socket);
    }
    #[cfg(target_os = "linux")]
    if let (Some(dir), Some(name)) = (socket.parent(), socket.file_name()) {
        use std::os::fd::AsRawFd;
        let dir = std::fs::File::open(dir)?;
        let through = Path::new("/proc/self/fd").join(dir.as_raw_fd().to_string()).join(name);
        return UnixStream::connect(through);
    }
    Err(std::io::Error::other("its path is too long"))
}

/// Sends the header and the payload, usually in one write.
fn send(stream: &mut UnixStream, header: &[u8], payload: &[u8]) -> std::io::Result<()> {
    let sent = stream.write_vectored(&[IoSlice::new(header), IoSlice::new(payload)])?;
    if sent < header.len() {
        stream.write_all(header.get(sent..).unwrap_or_default())?;
    }
    let sent = sent.saturating_sub(header.len());
    if sent < payload.len() {
        stream.write_all(payload.get(sent..).unwrap_or_default())?;
    }
    Ok(())
}

/// Reads messages until one that ends the call.
fn answer(mut stream: UnixStream, until: Instant) -> Result<DaemonAnswer, AskError> {
    let mut bytes = vec![0; READ_CHUNK_BYTES];
    let (mut start, mut used) = (0, 0);
    let mut daemon_version = None;
    loop {
        if used == bytes.len() {
            bytes.resize(used * 4, 0);
        }
        let count = match stream.read(bytes.get_mut(used..).unwrap_or_default()) {
            Err(error) if error.kind() == ErrorKind::Interrupted && Instant::now() < until => continue,
            count => count?,
        };
        if count == 0 {
            return Err(AskError::HungUp);
        }
        used += count;
        loop {
            let read = DaemonMessage::read(bytes.get(start..used).unwrap_or_default());
            match read.map_err(AskError::UnreadableReply)? {
                None => break,
                Some((DaemonMessage::Wait, length)) => start += length,
                Some((DaemonMessage::Version(version), length)) => {
                    // Stores the version only if it differs, to avoid an allocation in the usual case.
                    daemon_version = (version != VERSION).then(|| version.to_owned());
                    start += length;
                }
                Some((DaemonMessage::Reply { exit, stdout_len, stderr_len }, length)) => {
                    let out = start + length;
                    let (err, end) = (out + stdout_len, out + stdout_len + stderr_len);
                    if used < end {
                        break;
                    }
                    if used > end {
                        return Err(AskError::OverlongReply);
                    }
                    return Ok(DaemonAnswer { exit, bytes, stdout: (out, err), stderr: (err, end) });
                }
                Some((DaemonMessage::Fallback(why), _)) => {
                    return Err(AskError::Fallback(match daemon_version {
                        Some(version) => format!("{why} (daemon {version}, hook {VERSION})"),
                        None => why.to_owned(),
                    }));
                }
                Some((DaemonMessage::Status(_), _)) => {
                    return Err(AskError::OtherReply);
                }
            }
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(AskError::TookTooLong);
        }
        stream.set_read_timeout(Some(left.min(KEEPALIVE_INTERVAL)))?;
    }
}
