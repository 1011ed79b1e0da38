// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds the terminal in which a process runs, and rings its bell.

use std::io::Write as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// Maximum number of parents that are followed. A harness may start hooks in a session without a terminal.
const MAX_PARENTS: usize = 12;
/// Device numbers of pseudo terminals: 8 majors from here on, with 256 minors each.
const FIRST_PTS_MAJOR: u64 = 136;
const LAST_PTS_MAJOR: u64 = 143;
/// Device number of the consoles `/dev/tty1` and so on.
const CONSOLE_MAJOR: u64 = 4;

/// Returns the terminal of a process, or of the nearest parent that has one. Reads `/proc`, so it finds none on macOS.
pub fn find_terminal(pid: i32) -> Option<PathBuf> {
    let mut pid = pid;
    for _ in 0..MAX_PARENTS {
        let (parent, device) = read_stat(&fs_err::read_to_string(format!("/proc/{pid}/stat")).ok()?)?;
        if let Some(path) = device_path(device) {
            return Some(path);
        }
        if parent <= 1 {
            return None;
        }
        pid = parent;
    }
    None
}

/// Returns the parent and the terminal of a line of `/proc/PID/stat`. The name of the process may contain anything, so
/// the fields after its last `)` are read.
fn read_stat(line: &str) -> Option<(i32, u64)> {
    let (_, fields) = line.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(1);
    let parent = fields.next()?.parse().ok()?;
    let device: i64 = fields.nth(2)?.parse().ok()?;
    Some((parent, u64::try_from(device).ok()?))
}

/// Path of a terminal, from the kernel's number for it.
fn device_path(device: u64) -> Option<PathBuf> {
    let (major, minor) = ((device >> 8) & 0xfff, (device & 0xff) | ((device >> 12) & 0xfff00));
    match major {
        FIRST_PTS_MAJOR..=LAST_PTS_MAJOR => {
            Some(PathBuf::from(format!("/dev/pts/{}", (major - FIRST_PTS_MAJOR) * 256 + minor)))
        }
        CONSOLE_MAJOR if (1..64).contains(&minor) => Some(PathBuf::from(format!("/dev/tty{minor}"))),
        _ => None,
    }
}

/// Rings the bell of a terminal that this account owns. Never waits for a terminal whose output is stopped.
pub(crate) fn ring_bell(terminal: &Path) -> std::io::Result<()> {
    let flags = rustix::fs::OFlags::NOCTTY | rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    let mut file = std::fs::OpenOptions::new().write(true).custom_flags(flags).open(terminal)?;
    let metadata = file.metadata()?;
    if !metadata.file_type().is_char_device() || metadata.uid() != rustix::process::getuid().as_raw() {
        return Err(std::io::Error::other("not a terminal of this account"));
    }
    file.write_all(b"\x07")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_terminal_of_a_process_is_read_from_its_line() {
        let line = "4711 (a) b) S 4710 4711 4711 34823 4711 4194560 1";
        assert_eq!(read_stat(line), Some((4710, 34823)));
        assert_eq!(device_path(34823), Some(PathBuf::from("/dev/pts/7")));
        assert_eq!(device_path(34816 + 256 + 2), Some(PathBuf::from("/dev/pts/258")));
        assert_eq!(device_path(1025), Some(PathBuf::from("/dev/tty1")));
        assert_eq!(device_path(0), None);
        assert_eq!(read_stat("4711 (x) S"), None);
    }

    #[test]
    fn only_a_terminal_is_written_to() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(ring_bell(file.path()).is_err());
        assert_eq!(fs_err::read(file.path()).unwrap(), b"");
    }
}
