// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The payload on standard input: all of it, bounded in size and in time, without a thread to watch.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use crate::wire::MAX_PAYLOAD;

/// How long the payload may take to arrive.
pub const DEADLINE: Duration = Duration::from_secs(10);
/// How a hook says that there was no payload to read.
pub const UNREADABLE: &str = "standard input cannot be read";
/// More than most payloads, and not many pages to touch.
const AT_ONCE: usize = 8 * 1024;
/// `O_NONBLOCK` where pipes can be opened anew.
#[cfg(target_os = "linux")]
pub(crate) const NONBLOCKING: i32 =
    if cfg!(any(target_arch = "mips", target_arch = "mips64")) { 0x80 } else { 0x800 };

/// Reads standard input to its end, but one byte more than is allowed at most, so that too much is seen
/// to be too much. A pipe that nobody closes must not hold the agent, nor let it pass when the harness
/// gives up: then it is [`ErrorKind::TimedOut`].
pub fn read(within: Duration) -> std::io::Result<Vec<u8>> {
    let until = Instant::now() + within;
    let own = File::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    let kind = own.metadata()?.file_type();
    if kind.is_socket() {
        // What Node and its kin call a pipe is a pair of sockets.
        let socket = UnixStream::from(OwnedFd::from(own));
        socket.set_read_timeout(Some(within))?;
        return to_the_end(socket, until, |socket| {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(ErrorKind::TimedOut.into());
            }
            socket.set_read_timeout(Some(left))
        });
    }
    if kind.is_file() {
        return to_the_end(own, until, |_| Ok(()));
    }
    patiently(own, until)
}

/// A pipe or a terminal. The standard library cannot wait for one with a time-out, but a pipe can be
/// opened once more so that it never waits; as a rule everything is there by the time we run.
#[cfg(target_os = "linux")]
fn patiently(own: File, until: Instant) -> std::io::Result<Vec<u8>> {
    let again = File::options().read(true).custom_flags(NONBLOCKING).open("/proc/self/fd/0");
    let Ok(again) = again else { return watched(own, until) };
    let mut pause = Duration::from_micros(50);
    to_the_end(again, until, move |_| {
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
fn patiently(own: File, until: Instant) -> std::io::Result<Vec<u8>> {
    watched(own, until)
}

/// Somebody else reads, and is left behind when it takes too long.
fn watched(own: File, until: Instant) -> std::io::Result<Vec<u8>> {
    let (send, receive) = std::sync::mpsc::channel();
    std::thread::Builder::new().spawn(move || {
        // Nobody listens any more when it took too long.
        drop(send.send(to_the_end(own, until, |_| Ok(()))));
    })?;
    let left = until.saturating_duration_since(Instant::now());
    receive.recv_timeout(left).map_err(|_| ErrorKind::TimedOut)?
}

/// Reads until there is no more. `wait` is called before each try that follows one without a result,
/// and may give up.
fn to_the_end<R: Read>(
    mut from: R,
    until: Instant,
    mut wait: impl FnMut(&mut R) -> std::io::Result<()>,
) -> std::io::Result<Vec<u8>> {
    let mut bytes = vec![0; AT_ONCE];
    let mut used = 0;
    while used <= MAX_PAYLOAD {
        if used == bytes.len() {
            let room = (used * 4).min(MAX_PAYLOAD + 1);
            bytes.resize(room, 0);
        }
        match from.read(bytes.get_mut(used..).unwrap_or_default()) {
            Ok(0) => break,
            // A trickle must not go on for ever either.
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
