// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The place of the socket.

use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::Path;

use tenterhook_error::Failure;
use tenterhook_home::Home;
use tenterhook_home::socket::{ShortSocketPath, is_listening};

/// Binds the socket. A socket that does not answer belongs to a dead daemon and is replaced.
pub(crate) fn bind(home: &Home) -> Result<UnixListener, Failure> {
    let path = &*home.socket();
    // A home of the machine is called by all of its accounts; who may do what is decided per call.
    let mode = if let Some(dir) = &home.machine_run {
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o755).create(dir);
        made.and_then(|()| is_ours(dir)).map_err(|error| {
            Failure::internal(format!("`{}` is no place for the socket: {error}", dir.display()))
        })?;
        0o666
    } else {
        0o600
    };
    let refused =
        |error: std::io::Error| Failure::internal(format!("cannot listen on `{}`: {error}", path.display()));
    if is_listening(path) {
        let error = Failure::conflict(format!("a daemon already listens on `{}`", path.display()));
        return Err(error.hint("see it with `tenterhook status`; end it with `tenterhook stop`"));
    }
    if path.symlink_metadata().is_ok() {
        fs_err::remove_file(path).map_err(refused)?;
    }
    let listener = UnixListener::bind(ShortSocketPath::of(path).map_err(refused)?.path()).map_err(refused)?;
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(mode)).map_err(refused)?;
    Ok(listener)
}

/// Checks that no other account can replace our socket by writing to its directory.
fn is_ours(dir: &Path) -> std::io::Result<()> {
    let found = fs_err::symlink_metadata(dir)?;
    let own = rustix::process::getuid().as_raw();
    if !found.is_dir() || found.mode() & 0o022 != 0 || (found.uid() != own && found.uid() != 0) {
        return Err(std::io::Error::other("others can write there"));
    }
    Ok(())
}
