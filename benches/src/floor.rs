// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The minimum cost of a hook (the floor): a static C program, and servers that do nothing but reply.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Command;

use rusqlite::Connection;

use crate::cases::SetupError;

/// The C programs, and two servers for them. One server replies at once, the other commits to disk first.
pub(crate) struct FloorPrograms {
    dir: tempfile::TempDir,
}

impl FloorPrograms {
    pub(crate) fn new() -> Result<Self, SetupError> {
        let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR"))?;
        for name in ["roundtrip", "reader"] {
            compile(dir.path(), name)?;
        }
        let bare = UnixListener::bind(dir.path().join("bare.sock"))?;
        std::thread::spawn(move || serve(&bare, None));
        let commits = UnixListener::bind(dir.path().join("commits.sock"))?;
        let connection = store(&dir.path().join("commits.db"))?;
        std::thread::spawn(move || serve(&commits, Some(&connection)));
        Ok(Self { dir })
    }

    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// A program that reads its input and exits.
    pub(crate) fn reader(&self) -> Command {
        Command::new(self.dir.path().join("reader"))
    }

    /// A program that sends its input to a server and prints the reply.
    pub(crate) fn asking(&self, commits: bool) -> Command {
        let mut command = Command::new(self.dir.path().join("roundtrip"));
        command.arg(self.dir.path().join(if commits { "commits.sock" } else { "bare.sock" }));
        command
    }
}

/// Builds one of the C programs into a directory.
pub(crate) fn compile(dir: &Path, name: &str) -> Result<PathBuf, SetupError> {
    let (program, source) = (dir.join(name), format!("{}/c/{name}.c", env!("CARGO_MANIFEST_DIR")));
    let built = Command::new("cc").args(["-O2", "-static", "-o"]).arg(&program).arg(source).status();
    if built.is_ok_and(|status| status.success()) {
        return Ok(program);
    }
    Err(SetupError("a C compiler and a static C library are needed (build-essential)".into()))
}

fn store(path: &Path) -> Result<Connection, SetupError> {
    let connection = Connection::open(path).map_err(|error| SetupError(error.to_string()))?;
    let sql = "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE leaves (bytes BLOB)";
    connection.execute_batch(sql).map_err(|error| SetupError(error.to_string()))?;
    Ok(connection)
}

fn serve(listener: &UnixListener, store: Option<&Connection>) {
    let mut buffer = vec![0; 1 << 16];
    for stream in listener.incoming() {
        let Ok(mut stream) = stream else { return };
        let Ok(read) = stream.read(&mut buffer) else { continue };
        if let Some(store) = store {
            let bytes = buffer.get(..read).unwrap_or_default();
            let _ = store.execute("INSERT INTO leaves VALUES (?1)", [bytes]);
        }
        let _ = answer(&mut stream);
    }
}

fn answer(stream: &mut UnixStream) -> std::io::Result<()> {
    stream.write_all(b"TH1 reply 0 0 0\n")
}
