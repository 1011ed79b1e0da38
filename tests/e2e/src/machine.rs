// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Machine-wide settings. `tenterhook install --system` writes them into the test's [`World`]. A bubblewrap
//! sandbox shows them to a client at their real path below `/etc`. The host's `/etc` is only read.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use fs_err as fs;
use serde_json::Value;
use tenterhook_model_server::{ConversationScript, ModelServer};

use crate::client::{Client, Session};
use crate::daemon::Daemon;
use crate::programs;
use crate::world::World;
use crate::{launched, process};

const SYSTEM_DIRECTORY_VARIABLE: &str = "TENTERHOOK_SYSTEM_DIR";

/// A change that an account or project may make before its client is started, to disable hooks.
#[derive(Debug, Default)]
pub struct Attempt {
    /// Description of the attempt.
    pub name: &'static str,
    /// Files below the home directory. JSON is merged with existing content; other text is appended.
    pub files: &'static [(&'static str, &'static str)],
    /// Arguments on the client's command line.
    pub args: &'static [&'static str],
    /// Environment variables.
    pub variables: &'static [(&'static str, &'static str)],
}

impl World {
    fn system_directory(&self) -> PathBuf {
        self.root().join("system")
    }

    fn system_command(&self) -> Result<Command> {
        let mut command = self.command(programs::tenterhook()?)?;
        command.env(SYSTEM_DIRECTORY_VARIABLE, self.system_directory()).arg("--system");
        Ok(command)
    }

    /// Installs hooks in the client's machine-wide settings.
    pub fn install_for_machine(&self, client: &Client) -> Result<()> {
        let directory = self.system_directory();
        fs::create_dir_all(&directory)?;
        for open in [self.root(), &directory] {
            fs::set_permissions(open, std::fs::Permissions::from_mode(0o755))?;
        }
        let mut command = self.system_command()?;
        command.args(["install", client.id, "--yes"]);
        process::run(&mut command, &self.next_logs()).map(drop)
    }

    /// Content of a settings file below `/etc` that `install_for_machine` wrote.
    pub fn machine_settings(&self, file: &str) -> Result<Value> {
        let text = fs::read_to_string(self.system_directory().join("etc").join(file))?;
        Ok(serde_json::from_str(&text)?)
    }

    /// Problems of one harness, as `doctor` reports them: first for the whole machine, then for the account.
    pub fn broken_on_machine(&self, title: &str) -> Result<[String; 2]> {
        let mut own = self.command(programs::tenterhook()?)?;
        own.env(SYSTEM_DIRECTORY_VARIABLE, self.system_directory());
        let mut texts = [String::new(), String::new()];
        for (text, mut command) in texts.iter_mut().zip([self.system_command()?, own]) {
            command.args(["doctor", "--json"]);
            let (_, finished) = process::run_to_any_end(&mut command, &self.next_logs())?;
            let answer: Value = serde_json::from_str(&finished.stdout)?;
            let findings = answer.get("findings").and_then(Value::as_array).context("no findings")?;
            for finding in findings {
                let part = |key: &str| finding.get(key).and_then(Value::as_str).unwrap_or_default();
                if part("about") == title && part("standing") == "broken" {
                    text.push_str(part("says"));
                }
            }
        }
        Ok(texts)
    }

    /// Starts the machine's daemon and waits until it answers.
    pub fn serve_machine(&self) -> Result<Daemon> {
        self.serve_with(self.system_command()?, &["serve", "--listen", "none"])
    }

    /// Writes the files of an attempt.
    pub fn write_attempt(&self, attempt: &Attempt) -> Result<()> {
        for (name, text) in attempt.files {
            let before = fs::read_to_string(self.home().join(name)).unwrap_or_default();
            match (serde_json::from_str(&before), serde_json::from_str(text)) {
                (Ok(Value::Object(mut merged)), Ok(Value::Object(more))) => {
                    merged.extend(more);
                    self.write_json(name, &Value::Object(merged))?;
                }
                _ => self.write(name, &format!("{before}{text}"))?,
            }
        }
        Ok(())
    }

    /// Wraps a program in a sandbox that shows the machine-wide settings below `/etc`.
    pub(crate) fn boxed(&self, inner: &Command) -> Result<Command> {
        let mut command = self.command("bwrap")?;
        command.args(["--dev-bind", "/", "/", "--tmpfs", "/etc"]);
        for entry in fs::read_dir("/etc")? {
            let path = entry?.path();
            match fs::read_link(&path) {
                Ok(target) => command.arg("--symlink").arg(target).arg(&path),
                Err(_) => command.arg("--ro-bind").args([&path, &path]),
            };
        }
        for entry in fs::read_dir(self.system_directory().join("etc"))? {
            let entry = entry?;
            command.arg("--ro-bind").arg(entry.path()).arg(Path::new("/etc").join(entry.file_name()));
        }
        command.arg(inner.get_program()).args(inner.get_args());
        for (name, value) in inner.get_envs() {
            let value: OsString = value.context("a variable is removed, not set")?.to_owned();
            command.env(name, value);
        }
        Ok(command)
    }
}

impl Client {
    /// Runs the client like [`Client::run`], in a sandbox with the machine-wide settings.
    pub fn run_on_machine(
        &self,
        world: &World,
        script: ConversationScript,
        attempt: &Attempt,
    ) -> Result<Session> {
        let server = ModelServer::start_with(script, launched::delivery(self.id)?)?;
        let mut inner = (self.start)(world, &server.url(), "please go on")?;
        inner.args(attempt.args).envs(attempt.variables.iter().copied());
        self.finish(&server, world.boxed(&inner)?, world)
    }
}
