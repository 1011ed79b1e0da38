// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The socket. The kernel says who is at the other end; a stranger's connection is closed unread.

use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tenterhook_home::{Failure, Home};
use tenterhook_shim::wire::MAGIC;
use tokio::io::AsyncReadExt;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;

use super::http::{self, Replayed};
use super::{Peer, shim};
use crate::daemon::Daemon;

/// The longest path the kernel takes for a socket, in bytes, without the closing zero.
const LONGEST_PATH: usize = 107;

/// How long the first bytes may take to come.
const PATIENCE: Duration = Duration::from_secs(10);

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

/// Answers whoever connects, until told to end.
pub(crate) async fn unix(
    listener: UnixListener,
    daemon: Arc<Daemon>,
    router: Router,
    mut end: watch::Receiver<bool>,
) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = end.changed() => return,
        };
        match accepted {
            Ok((stream, _)) => {
                let (daemon, router, end) = (Arc::clone(&daemon), router.clone(), end.clone());
                tokio::spawn(async move { connection(stream, daemon, router, end).await });
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be taken");
                // Out of descriptors: somebody has to end first.
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }
}

async fn connection(mut stream: UnixStream, daemon: Arc<Daemon>, router: Router, end: watch::Receiver<bool>) {
    let Ok(credentials) = stream.peer_cred() else { return };
    let peer = Peer::Local { uid: credentials.uid(), pid: credentials.pid() };
    let stranger = !daemon.is_own(credentials.uid());
    if stranger && daemon.home.public.is_none() {
        tracing::warn!(uid = credentials.uid(), "another account knocked at the socket");
        return;
    }
    // What a shim sends fits one read nearly always.
    let mut bytes = Vec::with_capacity(8 * 1024);
    while bytes.len() < MAGIC.len() && MAGIC.starts_with(&bytes) {
        match tokio::time::timeout(PATIENCE, stream.read_buf(&mut bytes)).await {
            Ok(Ok(read)) if read > 0 => {}
            _ => return,
        }
    }
    if bytes.starts_with(MAGIC) {
        shim::answer(stream, bytes, &daemon, peer).await;
    } else {
        let router = if stranger { http::for_hooks_only(router) } else { router };
        http::connection(Replayed::new(bytes, stream), router, peer, end).await;
    }
}
