// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The daemon of a test's [`World`].

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use fs_err as fs;

use crate::programs;
use crate::world::World;

/// A running daemon. Dropping the value kills it.
#[derive(Debug)]
pub struct Daemon(Child);

impl World {
    /// Starts the daemon and waits until it answers.
    pub fn serve(&self) -> Result<Daemon> {
        self.serve_with(self.command(programs::tenterhook()?)?, &["serve", "--listen", "127.0.0.1:0"])
    }

    /// Starts the daemon with this command and these additional arguments.
    pub(crate) fn serve_with(&self, mut command: Command, words: &[&str]) -> Result<Daemon> {
        let logs = self.next_logs();
        fs::create_dir_all(&logs)?;
        command.args(words).stdin(Stdio::null()).stdout(Stdio::piped());
        command.stderr(fs::File::create(logs.join("serve"))?.into_file());
        let mut daemon = Daemon(command.spawn()?);
        let mut ready = String::new();
        BufReader::new(daemon.0.stdout.take().context("no output")?).read_line(&mut ready)?;
        ensure!(ready.starts_with("ready on "), "the daemon did not start: {ready}");
        Ok(daemon)
    }
}

impl Daemon {
    /// Process id of the daemon.
    pub fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Whether the daemon still runs.
    pub fn is_alive(&mut self) -> Result<bool> {
        Ok(self.0.try_wait()?.is_none())
    }

    /// Kills the daemon immediately.
    pub fn kill(&mut self) -> Result<()> {
        self.0.kill()?;
        self.0.wait()?;
        Ok(())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // The daemon may have been killed already.
        drop(self.kill());
    }
}
