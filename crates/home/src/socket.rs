// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Unix sockets with paths of any length. If a path is too long for a socket address, its directory is opened and the
//! socket is addressed through `/proc/self/fd`.

use std::fs::File;
use std::path::{Path, PathBuf};

use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};

/// Maximum length of a socket path, without the terminating zero byte.
const MAX_SOCKET_PATH_BYTES: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

/// A socket path that is short enough for a socket address. It is valid only as long as this value lives.
#[derive(Debug)]
pub struct ShortSocketPath {
    path: PathBuf,
    /// The open directory that a shortened path refers to.
    _dir: Option<File>,
}

impl ShortSocketPath {
    /// Returns a path that leads to the same socket and is short enough for a socket address.
    pub fn of(path: &Path) -> std::io::Result<Self> {
        use std::os::fd::AsRawFd;
        if path.as_os_str().len() <= MAX_SOCKET_PATH_BYTES {
            return Ok(Self { path: path.to_owned(), _dir: None });
        }
        let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(std::io::Error::other(format!("`{}` is not a valid socket path", path.display())));
        };
        let dir = File::open(dir)?;
        let path = Path::new("/proc/self/fd").join(dir.as_raw_fd().to_string()).join(name);
        Ok(Self { path, _dir: Some(dir) })
    }

    /// The short path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Whether a process listens on the socket, even if its queue is full. Returns without waiting.
pub fn is_listening(path: &Path) -> bool {
    let tried = || -> std::io::Result<bool> {
        let short = ShortSocketPath::of(path)?;
        let caller = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::NONBLOCK, None)?;
        match connect(&caller, &SocketAddrUnix::new(short.path())?) {
            Ok(()) | Err(rustix::io::Errno::AGAIN) => Ok(true),
            Err(error) => Err(error.into()),
        }
    };
    tried().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_listens_is_found_however_long_the_path() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["short", &"l".repeat(150)] {
            let dir = dir.path().join(name);
            std::fs::create_dir(&dir).unwrap();
            let path = dir.join("a.sock");
            assert!(!is_listening(&path), "{name}");
            let short = ShortSocketPath::of(&path).unwrap();
            let listener = std::os::unix::net::UnixListener::bind(short.path()).unwrap();
            assert!(is_listening(&path), "{name}");
            drop(listener);
            assert!(!is_listening(&path), "{name}: only the file is left");
        }
    }
}
