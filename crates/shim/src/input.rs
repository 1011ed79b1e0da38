// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads the payload from standard input, limited in size and time, without another thread.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use crate::wire::MAX_PAYLOAD_BYTES;

/// Time within which the payload must arrive.
pub const PAYLOAD_TIMEOUT: Duration = Duration::from_secs(10);
/// Message for a payload that could not be read.
pub const UNREADABLE_INPUT: &str = "standard input cannot be read";
/// Size of the first read: larger than most payloads, but only a few pages.
const READ_CHUNK_BYTES: usize = 8 * 1024;
/// `O_NONBLOCK` on systems where a pipe can be reopened.
#[cfg(target_os = "linux")]
pub(crate) const NONBLOCKING: i32 =
    if cfg!(any(target_arch = "mips", target_arch = "mips64")) { 0x80 } else { 0x800 };

/// Reads standard input to its end. Reads at most one byte more than allowed, so that an oversized payload is noticed.
/// If the pipe is never closed, the read fails with [`ErrorKind::TimedOut`]: it must not block the agent, and it must
/// end before the harness gives up and lets the call pass.
pub fn read(within: Duration) -> std::io::Result<Vec<u8>> {
    let until = Instant::now() + within;
    let own = File::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    let kind = own.metadata()?.file_type();
    if kind.is_socket() {
        // Node.js and similar runtimes use a socket pair as a pipe.
        let socket = UnixStream::from(OwnedFd::from(own));
        socket.set_read_timeout(Some(within))?;
        return read_to_end(socket, until, |socket| {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(ErrorKind::TimedOut.into());
            }
            socket.set_read_timeout(Some(left))
        });
    }
    if kind.is_file() {
        return read_to_end(own, until, |_| Ok(()));
    }
    read_with_deadline(own, until)
}

/// Reads from a pipe or terminal. The standard library has no read timeout for these, but a pipe can be reopened as
/// non-blocking. Usually all data has already arrived.
#[cfg(target_os = "linux")]
fn read_with_deadline(own: File, until: Instant) -> std::io::Result<Vec<u8>> {
    let again = File::options().read(true).custom_flags(NONBLOCKING).open("/proc/self/fd/0");
    let Ok(again) = again else { return read_in_thread(own, until) };
    let mut pause = Duration::from_micros(50);
    read_to_end(again, until, move |_| {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        std::thread::sleep(pause.min(left));
        pause = (pause * 2).min(Duration::from_millis(1));
        Ok(())
    })
}

#[cfg(not(target_os = "linux"))]
fn read_with_deadline(own: File, until: Instant) -> std::io::Result<Vec<u8>> {
    read_in_thread(own, until)
}

/// Reads in another thread, which is abandoned if it takes too long.
fn read_in_thread(own: File, until: Instant) -> std::io::Result<Vec<u8>> {
    let (send, receive) = std::sync::mpsc::channel();
    std::thread::Builder::new().spawn(move || {
        // The receiver is already dropped if the time limit has passed.
        drop(send.send(read_to_end(own, until, |_| Ok(()))));
    })?;
    let left = until.saturating_duration_since(Instant::now());
    receive.recv_timeout(left).map_err(|_| ErrorKind::TimedOut)?
}

/// Reads until the end. Before each retry after an empty read, `wait` is called; it can end the read with an error.
fn read_to_end<R: Read>(
    mut from: R,
    until: Instant,
    mut wait: impl FnMut(&mut R) -> std::io::Result<()>,
) -> std::io::Result<Vec<u8>> {
    let mut bytes = vec![0; READ_CHUNK_BYTES];
    let mut used = 0;
    while used <= MAX_PAYLOAD_BYTES {
        if used == bytes.len() {
            let room = (used * 4).min(MAX_PAYLOAD_BYTES + 1);
            bytes.resize(room, 0);
        }
        match from.read(bytes.get_mut(used..).unwrap_or_default()) {
            Ok(0) => break,
            // A writer that sends data slowly but steadily must not exceed the deadline either.
            Ok(_) if Instant::now() > until => return Err(ErrorKind::TimedOut.into()),
            Ok(count) => used += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => wait(&mut from)?,
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(used);
    Ok(bytes)
}
