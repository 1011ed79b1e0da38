// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Binds the Unix socket.

use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::Path;

use tenterhook_error::Failure;
use tenterhook_home::Home;
use tenterhook_home::socket::{ShortSocketPath, is_listening};

/// Binds the socket. Replaces a socket without a listener, which was left by a daemon that died.
pub(crate) fn bind_socket(home: &Home) -> Result<UnixListener, Failure> {
    let path = &*home.socket();
    // All accounts may connect to a machine-wide daemon; each call is authorized separately.
    let mode = if let Some(dir) = &home.machine_run {
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o755).create(dir);
        made.and_then(|()| check_directory_owner(dir)).map_err(|error| {
            Failure::internal(format!("`{}` cannot hold the socket: {error}", dir.display()))
        })?;
        0o666
    } else {
        0o600
    };
    let refused =
        |error: std::io::Error| Failure::internal(format!("cannot listen on `{}`: {error}", path.display()));
    if is_listening(path) {
        let error = Failure::conflict(format!("a daemon already listens on `{}`", path.display()));
        return Err(error.hint("run `tenterhook status` to see it, `tenterhook stop` to stop it"));
    }
    if path.symlink_metadata().is_ok() {
        fs_err::remove_file(path).map_err(refused)?;
    }
    let listener = UnixListener::bind(ShortSocketPath::of(path).map_err(refused)?.path()).map_err(refused)?;
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(mode)).map_err(refused)?;
    Ok(listener)
}

/// Checks that no other account can replace our socket by writing to its directory.
fn check_directory_owner(dir: &Path) -> std::io::Result<()> {
    let found = fs_err::symlink_metadata(dir)?;
    let own = rustix::process::getuid().as_raw();
    if !found.is_dir() || found.mode() & 0o022 != 0 || (found.uid() != own && found.uid() != 0) {
        return Err(std::io::Error::other("other accounts can write there"));
    }
    Ok(())
}
