// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The status line: one line about the state of the daemon.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::VERSION;
use crate::ask::connect_from_single_thread;
use crate::wire::{ClientRequest, DaemonMessage, MAX_HEADER_BYTES};

/// Time limit for the daemon's reply. It is short, because the user is waiting.
const STATUS_TIMEOUT: Duration = Duration::from_millis(200);
/// Time limit of the status line command that was configured before the install.
const CHAINED_COMMAND_TIMEOUT: Duration = Duration::from_secs(1);
/// Longest shown output of that command, in bytes.
const MAX_CHAINED_BYTES: usize = 64 * 1024;
/// File below the state directory with the previous status line command.
pub const CHAIN_FILE: &str = "status-chain";

/// The daemon's reply to a status request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StatusAnswer {
    /// State: `ok`, or a message for the user.
    pub text: String,
    /// Version of the daemon; `None` if it is too old to send one.
    pub daemon_version: Option<String>,
}

/// Separates the state from the level of the sandbox in which the caller runs.
const SANDBOX_SEPARATOR: &str = " sandbox=";

/// Text of the status line. Without a reply, it says that the daemon is offline.
pub fn line(answer: Option<&StatusAnswer>) -> String {
    let Some(StatusAnswer { text, daemon_version }) = answer else {
        return "Tenterhook ⚠ daemon offline".to_owned();
    };
    let (state, level) = match text.split_once(SANDBOX_SEPARATOR) {
        Some((state, level)) => (state, Some(level)),
        None => (text.as_str(), None),
    };
    let line = state_line(state, daemon_version.as_deref());
    match level {
        Some(level) => {
            let level: String = level.chars().filter(|letter| !letter.is_control()).take(32).collect();
            format!("{line} · sandbox {level}")
        }
        None => line,
    }
}

fn state_line(text: &str, daemon_version: Option<&str>) -> String {
    match (text, daemon_version) {
        ("ok", Some(VERSION)) => "Tenterhook ✓".to_owned(),
        ("ok", Some(version)) => {
            let version: String = version.chars().filter(|letter| !letter.is_control()).take(32).collect();
            format!("Tenterhook ⚠ daemon {version}, hooks {VERSION}")
        }
        ("ok", None) => "Tenterhook ⚠ the daemon is older than the hooks".to_owned(),
        (text, _) => {
            let text = match text.strip_prefix("pending ") {
                Some("1") => "1 approval pending".to_owned(),
                Some(count) => format!("{count} approvals pending"),
                None => text.to_owned(),
            };
            // Removes control characters, because the terminal would interpret them.
            let text: String = text.chars().filter(|letter| !letter.is_control()).take(80).collect();
            format!("Tenterhook ⚠ {text}")
        }
    }
}

/// Requests the state of the daemon.
pub fn ask(socket: &Path) -> Option<StatusAnswer> {
    let until = Instant::now() + STATUS_TIMEOUT;
    let mut stream = connect_from_single_thread(socket, STATUS_TIMEOUT).ok()?;
    stream.set_read_timeout(Some(STATUS_TIMEOUT)).ok()?;
    stream.write_all(ClientRequest::STATUS).ok()?;
    let mut bytes = Vec::new();
    let mut room = [0; 256];
    let (mut start, mut daemon_version) = (0, None);
    while bytes.len() < MAX_HEADER_BYTES && Instant::now() < until {
        let count = stream.read(&mut room).ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(room.get(..count)?);
        while let Some((reply, length)) = DaemonMessage::read(bytes.get(start..)?).ok()? {
            match reply {
                DaemonMessage::Status(text) => {
                    return Some(StatusAnswer { text: text.to_owned(), daemon_version });
                }
                DaemonMessage::Version(version) => daemon_version = Some(version.to_owned()),
                _ => return None,
            }
            start += length;
        }
    }
    None
}

/// Output of the previous status line command, which receives the same input. Tenterhook's own line must appear even
/// if that command fails or is slow.
pub fn chained(command: &str, input: &[u8]) -> Option<String> {
    let until = Instant::now() + CHAINED_COMMAND_TIMEOUT;
    // Uses sockets instead of pipes, because sockets have timeouts.
    let (mut stdin, their_stdin) = UnixStream::pair().ok()?;
    let (mut stdout, their_stdout) = UnixStream::pair().ok()?;
    let mut child = Command::new("/bin/sh")
        .args(["-c", command])
        .stdin(OwnedFd::from(their_stdin))
        .stdout(OwnedFd::from(their_stdout))
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    stdin.set_write_timeout(Some(CHAINED_COMMAND_TIMEOUT)).ok()?;
    drop(stdin.write_all(input));
    drop(stdin);
    let mut bytes = Vec::new();
    let mut room = vec![0; 4096];
    let whole = loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || bytes.len() > MAX_CHAINED_BYTES || stdout.set_read_timeout(Some(left)).is_err() {
            break false;
        }
        match stdout.read(&mut room) {
            Ok(0) => break true,
            Ok(count) => bytes.extend_from_slice(room.get(..count).unwrap_or_default()),
            Err(_) => break false,
        }
    };
    if !whole {
        drop(child.kill());
    }
    let status = child.wait();
    let said = whole && status.is_ok_and(|status| status.success());
    said.then(|| String::from_utf8_lossy(&bytes).into_owned())
}

/// Joins both outputs: the previous command's output first, then Tenterhook's.
pub fn joined(theirs: Option<&str>, ours: &str) -> String {
    match theirs.map(str::trim_end).filter(|theirs| !theirs.is_empty()) {
        Some(theirs) => format!("{theirs} · {ours}\n"),
        None => format!("{ours}\n"),
    }
}

/// File with the previous status line command of a harness. The file name contains the harness's id, except for
/// Claude Code.
pub fn chain_file(state: &Path, harness: &str) -> PathBuf {
    let plain = harness.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    match harness {
        "" | "claude-code" => state.join(CHAIN_FILE),
        other if plain => state.join(format!("{CHAIN_FILE}-{other}")),
        // An invalid id gets a file name that no harness uses.
        _ => state.join("status-chain-none"),
    }
}

/// The previous status line command of this harness, if there was one.
pub fn chain(state: &Path, harness: &str) -> Option<String> {
    let mut text = String::new();
    let length = u64::try_from(MAX_CHAINED_BYTES).unwrap_or(u64::MAX);
    let path = chain_file(state, harness);
    // Checks the type first, because opening a pipe would wait for a writer.
    if !std::fs::symlink_metadata(&path).ok()?.is_file() {
        return None;
    }
    File::open(path).ok()?.take(length).read_to_string(&mut text).ok()?;
    Some(text).filter(|text| !text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_things_stand() {
        assert_eq!(line(None), "Tenterhook ⚠ daemon offline");
        let other = |version: Option<&str>| {
            line(Some(&StatusAnswer { text: "ok".into(), daemon_version: version.map(Into::into) }))
        };
        assert_eq!(other(Some("9.9.9\x1b[2J")), format!("Tenterhook ⚠ daemon 9.9.9[2J, hooks {VERSION}"));
        assert_eq!(other(None), "Tenterhook ⚠ the daemon is older than the hooks");
        for (text, expected) in [
            ("ok", "Tenterhook ✓"),
            ("monitor", "Tenterhook ⚠ monitor"),
            ("pending 1", "Tenterhook ⚠ 1 approval pending"),
            ("pending 3", "Tenterhook ⚠ 3 approvals pending"),
            ("stale \x1b[2Jrules", "Tenterhook ⚠ stale [2Jrules"),
            ("ok sandbox=namespaces-landlock", "Tenterhook ✓ · sandbox namespaces-landlock"),
            ("pending 1 sandbox=landlock", "Tenterhook ⚠ 1 approval pending · sandbox landlock"),
        ] {
            let daemon_version = Some(VERSION.to_owned());
            assert_eq!(line(Some(&StatusAnswer { text: text.into(), daemon_version })), expected);
        }
    }

    #[test]
    fn what_was_there_before_comes_first() {
        assert_eq!(joined(Some("main ~/work\n"), "Tenterhook ✓"), "main ~/work · Tenterhook ✓\n");
        assert_eq!(joined(Some("a\nb\n\n"), "T"), "a\nb · T\n");
        for nothing in [None, Some(""), Some("\n")] {
            assert_eq!(joined(nothing, "T"), "T\n");
        }
    }

    #[test]
    fn a_chained_command_reads_the_same_and_cannot_hide_us() {
        assert_eq!(chained("cat; echo; echo two", b"{\"x\":1}").as_deref(), Some("{\"x\":1}\ntwo\n"));
        assert_eq!(chained("echo no; exit 3", b""), None);
        // The commands sleep longer than a test may take, so the test fails if `chained` waits for them.
        assert_eq!(chained("echo early; sleep 1000", b""), None);
        assert_eq!(chained("exec 0<&-; sleep 1000 & echo on", &vec![b'x'; 1 << 20]), None);
    }
}
