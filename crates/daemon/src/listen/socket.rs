// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The place of the socket.

use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::Path;

use tenterhook_home::{Failure, Home};

/// The longest path the kernel takes for a socket, in bytes, without the closing zero.
const LONGEST_PATH: usize = 107;

/// Takes the socket's place. A socket that nobody answers is a dead daemon's and is replaced.
pub(crate) fn bind(home: &Home) -> Result<UnixListener, Failure> {
    let path = &*home.socket();
    // A home of the machine is called by all of its accounts; who may do what is decided per call.
    let mode = if let Some(dir) = &home.public {
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o755).create(dir);
        made.and_then(|()| is_ours(dir)).map_err(|error| {
            Failure::failed(format!("`{}` is no place for the socket: {error}", dir.display()))
        })?;
        0o666
    } else {
        0o600
    };
    let refused =
        |error: std::io::Error| Failure::failed(format!("cannot listen on `{}`: {error}", path.display()));
    match std::os::unix::net::UnixStream::connect(short(path)?.path()) {
        Ok(_) => {
            let error = Failure::failed(format!("a daemon already listens on `{}`", path.display()));
            return Err(error.hint("see it with `tenterhook status`; end it with `tenterhook stop`"));
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(_) => fs_err::remove_file(path).map_err(refused)?,
    }
    let listener = UnixListener::bind(short(path)?.path()).map_err(refused)?;
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(mode)).map_err(refused)?;
    Ok(listener)
}

/// Whoever could write to the directory could put a socket of their own into our place.
fn is_ours(dir: &Path) -> std::io::Result<()> {
    let found = fs_err::symlink_metadata(dir)?;
    let own = rustix::process::getuid().as_raw();
    if !found.is_dir() || found.mode() & 0o022 != 0 || (found.uid() != own && found.uid() != 0) {
        return Err(std::io::Error::other("others can write there"));
    }
    Ok(())
}

/// A path that fits: through the directory's descriptor where the path itself is too long.
enum Short {
    Plain(std::path::PathBuf),
    Through(std::path::PathBuf, #[expect(dead_code, reason = "held while the path is used")] std::fs::File),
}

fn short(path: &Path) -> Result<Short, Failure> {
    use std::os::fd::AsRawFd;
    if path.as_os_str().len() <= LONGEST_PATH {
        return Ok(Short::Plain(path.to_owned()));
    }
    let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(Failure::failed(format!("`{}` is no path for a socket", path.display())));
    };
    let dir = std::fs::File::open(dir)?;
    let through = Path::new("/proc/self/fd").join(dir.as_raw_fd().to_string()).join(name);
    Ok(Short::Through(through, dir))
}

impl Short {
    fn path(&self) -> &Path {
        match self {
            Self::Plain(path) | Self::Through(path, _) => path,
        }
    }
}
