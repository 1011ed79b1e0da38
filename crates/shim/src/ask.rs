// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Asking the daemon: one connection, one write, usually one read.

use std::io::{ErrorKind, IoSlice, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::VERSION;
use crate::start::ConnectAlarm;
use crate::wire::{Reply, Request};

/// How long the daemon may take to say anything at all.
const FIRST: Duration = Duration::from_secs(2);
/// How long it may be silent after that.
const BETWEEN: Duration = Duration::from_secs(3);
/// What the first read takes: more than most replies, and no page more to touch.
const AT_ONCE: usize = 1024;
/// Less than this always goes into a socket's buffer, even if nobody reads.
const SMALL: usize = 32 * 1024;
/// The longest path a socket address holds.
const LONGEST_PATH: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

/// What a harness is to hear.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The exit code.
    pub exit: u8,
    /// Standard output and standard error, one after the other, and something before them.
    bytes: Vec<u8>,
    stdout: (usize, usize),
    stderr: (usize, usize),
}

impl Answer {
    /// Standard output.
    pub fn stdout(&self) -> &[u8] {
        self.bytes.get(self.stdout.0..self.stdout.1).unwrap_or_default()
    }

    /// Standard error.
    pub fn stderr(&self) -> &[u8] {
        self.bytes.get(self.stderr.0..self.stderr.1).unwrap_or_default()
    }
}

/// Connects to a socket within a time.
type Connect = fn(&Path, Duration) -> std::io::Result<UnixStream>;

/// Asks the daemon behind this socket. The error says, in a few words, why there is no answer.
pub fn ask(socket: &Path, request: &Request<'_>, payload: &[u8]) -> Result<Answer, String> {
    ask_with(connect, socket, request, payload)
}

/// The same, for a program with a single thread.
pub fn ask_from_single_thread(
    socket: &Path,
    request: &Request<'_>,
    payload: &[u8],
) -> Result<Answer, String> {
    ask_with(connect_from_single_thread, socket, request, payload)
}

fn ask_with(
    connect: Connect,
    socket: &Path,
    request: &Request<'_>,
    payload: &[u8],
) -> Result<Answer, String> {
    let until = Instant::now() + Duration::from_millis(request.within_ms);
    let mut header = Vec::with_capacity(256);
    request.write(&mut header).map_err(|error| error.to_string())?;
    let first = FIRST.min(Duration::from_millis(request.within_ms));
    let trouble = |error: std::io::Error| match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => "the daemon is silent".to_owned(),
        ErrorKind::NotFound | ErrorKind::ConnectionRefused => "no daemon".to_owned(),
        _ => format!("the connection broke: {error}"),
    };
    let mut stream = connect(socket, first).map_err(trouble)?;
    stream.set_read_timeout(Some(first)).map_err(trouble)?;
    if header.len() + payload.len() > SMALL {
        stream.set_write_timeout(Some(first)).map_err(trouble)?;
    }
    send(&mut stream, &header, payload).map_err(trouble)?;
    answer(stream, until).map_err(trouble)?
}

/// Connects, or gives up in time. What is too long for a socket's address is reached through the open directory.
///
/// The kernel makes a caller wait while the queue of a daemon that accepts nothing is full, and the standard library
/// cannot bound that. So another thread waits, and is left behind when it takes too long.
pub fn connect(socket: &Path, within: Duration) -> std::io::Result<UnixStream> {
    let (send, receive) = std::sync::mpsc::channel();
    let socket = socket.to_owned();
    std::thread::Builder::new().stack_size(64 * 1024).spawn(move || {
        // Nobody listens any more when it took too long.
        drop(send.send(connect_patiently(&socket)));
    })?;
    receive.recv_timeout(within).unwrap_or_else(|_| Err(ErrorKind::TimedOut.into()))
}

/// The same without another thread, which would cost more than the rest of a hook call: a signal interrupts the
/// kernel. Signals go to any thread, so this is for programs that have only one.
pub(crate) fn connect_from_single_thread(socket: &Path, within: Duration) -> std::io::Result<UnixStream> {
    let alarm = ConnectAlarm::set(within);
    let connected = connect_patiently(socket);
    drop(alarm);
    connected.map_err(|error| match error.kind() {
        ErrorKind::Interrupted => ErrorKind::TimedOut.into(),
        _ => error,
    })
}

fn connect_patiently(socket: &Path) -> std::io::Result<UnixStream> {
    if socket.as_os_str().len() <= LONGEST_PATH {
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

/// Both parts at once, as a rule.
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

/// Reads messages up to the one that ends the call.
fn answer(mut stream: UnixStream, until: Instant) -> std::io::Result<Result<Answer, String>> {
    let mut bytes = vec![0; AT_ONCE];
    let (mut start, mut used) = (0, 0);
    let mut daemon_version = None;
    loop {
        if used == bytes.len() {
            bytes.resize(used * 4, 0);
        }
        let count = match stream.read(bytes.get_mut(used..).unwrap_or_default()) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            count => count?,
        };
        if count == 0 {
            return Ok(Err("the daemon hung up".to_owned()));
        }
        used += count;
        loop {
            let read = match Reply::read(bytes.get(start..used).unwrap_or_default()) {
                Ok(read) => read,
                Err(error) => return Ok(Err(format!("the daemon's reply cannot be read: {error}"))),
            };
            match read {
                None => break,
                Some((Reply::Wait, length)) => start += length,
                Some((Reply::Version(version), length)) => {
                    // Kept only where there is something to say about it: a string costs an allocation.
                    daemon_version = (version != VERSION).then(|| version.to_owned());
                    start += length;
                }
                Some((Reply::Reply { exit, stdout_len, stderr_len }, length)) => {
                    let out = start + length;
                    let (err, end) = (out + stdout_len, out + stdout_len + stderr_len);
                    if used < end {
                        break;
                    }
                    if used > end {
                        return Ok(Err("the daemon's reply is longer than it says".to_owned()));
                    }
                    return Ok(Ok(Answer { exit, bytes, stdout: (out, err), stderr: (err, end) }));
                }
                Some((Reply::Fallback(why), _)) => {
                    return Ok(Err(match daemon_version {
                        Some(version) => format!("{why} (daemon {version}, hook {VERSION})"),
                        None => why.to_owned(),
                    }));
                }
                Some((Reply::Status(_), _)) => {
                    return Ok(Err("the daemon answers something else".to_owned()));
                }
            }
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(Err("the daemon took too long".to_owned()));
        }
        stream.set_read_timeout(Some(left.min(BETWEEN)))?;
    }
}
