// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A temporary home directory, the only one that a test's programs see.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context as _, Result, ensure};
use fs_err as fs;
use serde_json::{Value, json};
use tempfile::TempDir;
use tenterhook_authority::totp;

use crate::client::Client;
use crate::process::{self, Finished};
use crate::programs;

/// A home directory with a project. It is removed with the value, unless the test failed.
#[derive(Debug)]
pub struct World {
    directory: TempDir,
    root: PathBuf,
    mcp_server_names: &'static [&'static str],
    runs: AtomicU32,
}

/// A hook of the user in `tenterhook.yaml`, in Claude Code's dialect.
#[derive(Debug, Clone, Copy)]
pub struct Hook<'a> {
    /// Event, by Tenterhook's name.
    pub on: &'a str,
    /// Tool that the hook is limited to.
    pub tool: Option<&'a str>,
    /// Body of a shell script.
    pub script: &'a str,
}

impl World {
    /// Creates an empty home directory with a project that is a git repository. The search for the project
    /// root must stop at this repository, because the home directory may itself be inside another one.
    pub fn new() -> Result<Self> {
        Self::with_mcp_servers(&["records"])
    }

    /// A world with MCP servers of these names in the client's settings.
    pub fn with_mcp_servers(mcp_server_names: &'static [&'static str]) -> Result<Self> {
        let directory = TempDir::new()?;
        let root = directory.path().to_owned();
        let world = Self { directory, root, mcp_server_names, runs: AtomicU32::new(0) };
        let git = world.project().join(".git");
        fs::create_dir_all(git.join("objects"))?;
        fs::create_dir_all(git.join("refs"))?;
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n")?;
        Ok(world)
    }

    /// Directory that contains everything.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Home directory of the programs.
    pub fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// Directory in which agents are started.
    pub fn project(&self) -> PathBuf {
        self.home().join("project")
    }

    /// State directory of Tenterhook.
    pub fn tenterhook_home(&self) -> PathBuf {
        self.home().join(".tenterhook")
    }

    /// Calls of the MCP servers, one line each: server, tool and record.
    pub fn records(&self) -> Result<Vec<String>> {
        let file = self.records_file();
        let text = if file.exists() { fs::read_to_string(file)? } else { String::new() };
        Ok(text.lines().map(ToOwned::to_owned).collect())
    }

    fn records_file(&self) -> PathBuf {
        self.home().join("records.txt")
    }

    /// MCP servers of this world, each with the command that starts it.
    pub fn mcp_commands(&self) -> Result<Vec<(&'static str, Vec<String>)>> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("mcp-server.mjs");
        let paths = [script, self.records_file()].map(|path| path.to_str().map(ToOwned::to_owned));
        let [script, file] = paths.map(|path| path.context("the path is no text"));
        let (script, file) = (script?, file?);
        let names = self.mcp_server_names.iter();
        Ok(names.map(|name| (*name, ["node", &script, &file, name].map(ToOwned::to_owned).into())).collect())
    }

    /// MCP servers in the client's format, made from the program and its arguments.
    pub fn mcp_settings(&self, write: impl Fn(&str, &[String]) -> Value) -> Result<Value> {
        let servers = self.mcp_commands()?.into_iter().filter_map(|(name, words)| {
            let (program, args) = words.split_first()?;
            Some((name.to_owned(), write(program, args)))
        });
        Ok(Value::Object(servers.collect()))
    }

    /// MCP servers in the format of most clients.
    pub fn mcp_servers(&self) -> Result<Value> {
        self.mcp_settings(|program, args| json!({"command": program, "args": args}))
    }

    /// Writes a file below the home directory.
    pub fn write(&self, name: &str, text: &str) -> Result<()> {
        let path = self.home().join(name);
        fs::create_dir_all(path.parent().context("no directory")?)?;
        Ok(fs::write(path, text)?)
    }

    /// Writes a JSON value to a file below the home directory.
    pub fn write_json(&self, name: &str, value: &Value) -> Result<()> {
        self.write(name, &(serde_json::to_string_pretty(value)? + "\n"))
    }

    /// Creates a directory with one file outside the project that must not be deleted.
    pub fn precious(&self) -> Result<PathBuf> {
        let precious = self.home().join("precious");
        fs::create_dir_all(&precious)?;
        fs::write(precious.join("thesis.txt"), "years of work\n")?;
        Ok(precious)
    }

    /// Makes `hook` the only hook that Tenterhook runs.
    pub fn write_hook(&self, hook: Hook<'_>) -> Result<()> {
        let home = self.tenterhook_home();
        fs::create_dir_all(&home)?;
        let script = self.home().join("hook.sh");
        fs::write(&script, format!("#!/bin/sh\n{}\n", hook.script))?;
        fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755))?;

        let mut entry = json!({
            "id": "under-test",
            "on": hook.on,
            "command": script,
            "dialect": "claude",
            "timeout": "5s",
        });
        if let (Some(tool), Some(fields)) = (hook.tool, entry.as_object_mut()) {
            fields.insert("match".to_owned(), json!(tool));
        }
        // JSON is valid YAML.
        fs::write(home.join("tenterhook.yaml"), json!({"hooks": [entry]}).to_string())?;
        Ok(())
    }

    /// Sets the user's rules.
    pub fn write_policy(&self, policy: &Value) -> Result<()> {
        // JSON is valid YAML.
        Ok(fs::write(self.tenterhook_home().join("policy.yaml"), policy.to_string())?)
    }

    /// Every file below the home directory that belongs neither to Tenterhook nor to the project. `uninstall`
    /// has to restore these files.
    pub fn settings(&self) -> Result<BTreeMap<PathBuf, Vec<u8>>> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.home()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder)? {
                let path = entry?.path();
                if path == self.tenterhook_home() || path == self.project() {
                    continue;
                }
                if path.is_dir() {
                    folders.push(path);
                } else {
                    found.insert(path.clone(), fs::read(path)?);
                }
            }
        }
        Ok(found)
    }

    /// Installs Tenterhook in the client's settings, as a user does.
    pub fn install(&self, client: &Client) -> Result<()> {
        let said = [&["install", client.id, "--yes"], client.install].concat();
        self.tenterhook(&said).map(drop)
    }

    /// Runs the `tenterhook` binary, which must succeed.
    pub fn tenterhook(&self, args: &[&str]) -> Result<Finished> {
        let mut command = self.command(programs::tenterhook()?)?;
        command.args(args);
        process::run(&mut command, &self.next_logs())
    }

    /// Runs the `tenterhook` binary while a client runs, without ending the client's processes. Returns standard
    /// output.
    pub fn tenterhook_beside(&self, args: &[&str]) -> Result<String> {
        let output = self.command(programs::tenterhook()?)?.args(args).output()?;
        let (stdout, stderr) = (String::from_utf8(output.stdout)?, String::from_utf8_lossy(&output.stderr));
        ensure!(output.status.success(), "{args:?} ended with {}: {stdout}{stderr}", output.status);
        Ok(stdout)
    }

    /// Sets up codes of an authenticator app.
    pub fn enroll(&self) -> Result<Codes> {
        let made = self.tenterhook(&["totp", "enroll", "--json"])?;
        let made: Value = serde_json::from_str(&made.stdout).context("totp enroll")?;
        let secret =
            made.get("secret").and_then(Value::as_str).and_then(totp::decode_base32).context("no secret")?;
        let codes = Codes { secret };
        // Codes are set up with the previous code, so that the current code can still be used once.
        let before = totp::code_at(&codes.secret, Codes::step() - 1).context("no code")?;
        self.tenterhook(&["totp", "verify", &before])?;
        Ok(codes)
    }

    /// Sets up codes and returns a valid one, for a test that performs a privileged action from a script.
    pub fn code(&self) -> Result<String> {
        self.enroll()?.next()
    }

    /// The report of `doctor`, which may fail.
    pub fn doctor(&self) -> Result<String> {
        let mut command = self.command(programs::tenterhook()?)?;
        command.arg("doctor");
        let (_, finished) = process::run_to_any_end(&mut command, &self.next_logs())?;
        Ok(finished.stdout + &finished.stderr)
    }

    /// Runs `doctor --prove` for a client. Returns whether it succeeded, and its report.
    pub fn prove(&self, client: &str) -> Result<(bool, Value)> {
        let directory = programs::client(client)?;
        let directory = directory.parent().context("no directory")?.to_owned();
        let search_path = programs::search_path()?;
        let path = std::env::join_paths([directory].into_iter().chain(std::env::split_paths(&search_path)))?;
        let mut command = self.command(programs::tenterhook()?)?;
        command.env("PATH", path).args(["doctor", "--prove", client, "--json"]);
        let (success, finished) = process::run_to_any_end(&mut command, &self.next_logs())?;
        let report = serde_json::from_str(&finished.stdout);
        Ok((success, report.with_context(|| format!("no report: {}", finished.stderr))?))
    }

    /// Recorded decisions, oldest first; empty if nothing was recorded.
    pub fn ledger(&self) -> Result<Vec<Value>> {
        self.records_of("decision")
    }

    /// Records of kind `change` with this name, oldest first.
    pub fn changes(&self, name: &str) -> Result<Vec<Value>> {
        let mut changes = self.records_of("change")?;
        changes.retain(|change| change.get("what").and_then(Value::as_str) == Some(name));
        Ok(changes)
    }

    fn records_of(&self, kind: &str) -> Result<Vec<Value>> {
        // Without an installation and a daemon, the first decisions are in the spool only.
        let home = self.tenterhook_home();
        if !["ledger/ledger.db", "spool"].iter().any(|name| home.join(name).exists()) {
            return Ok(Vec::new());
        }
        let mut command = self.command(programs::tenterhook()?)?;
        command.args(["ledger", "query", "--kind", kind, "--limit", "100000", "--json"]);
        let found: Value = serde_json::from_slice(&command.output()?.stdout).context("ledger query")?;
        let leaves = found.get("leaves").and_then(|leaves| leaves.as_array()).context("no leaves")?;
        Ok(leaves.iter().rev().map(|leaf| leaf["leaf"].clone()).collect())
    }

    /// Prepares `program` to run in the project with a clean environment and an empty standard input, so that
    /// no keys or variables of the user who runs the tests reach an agent.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Result<Command> {
        let mut command = Command::new(program);
        command.current_dir(self.project()).env_clear().stdin(Stdio::null());
        command.env("PATH", programs::search_path()?).env("HOME", self.home());
        command.env("TENTERHOOK_HOME", self.tenterhook_home());
        Ok(command)
    }

    /// The same command, started by `tenterhook run`.
    pub(crate) fn started_by_run(&self, started: &Command) -> Result<Command> {
        let mut command = self.command(programs::tenterhook()?)?;
        command.arg("run").arg(started.get_program()).args(started.get_args());
        command.envs(started.get_envs().filter_map(|(name, value)| Some((name, value?))));
        if let Some(directory) = started.get_current_dir() {
            command.current_dir(directory);
        }
        Ok(command)
    }

    /// The same command, started by `tenterhook run --sandbox` with the proxy.
    pub(crate) fn started_in_sandbox(&self, started: &Command) -> Result<Command> {
        let mut command = self.command(programs::tenterhook()?)?;
        command.args(["run", "--sandbox", "--network", "proxy"]);
        command.arg(started.get_program()).args(started.get_args());
        command.envs(started.get_envs().filter_map(|(name, value)| Some((name, value?))));
        Ok(command)
    }

    /// A separate directory for the output of each run.
    pub(crate) fn next_logs(&self) -> PathBuf {
        let run = self.runs.fetch_add(1, Ordering::Relaxed);
        self.root.join("logs").join(run.to_string())
    }

    /// Directory for the log of a client that writes one.
    pub fn debug_log(&self) -> PathBuf {
        self.root.join("debug.log")
    }
}

/// Codes of an authenticator app.
#[derive(Debug)]
pub struct Codes {
    secret: Vec<u8>,
}

impl Codes {
    /// A code that is valid for at least ten seconds.
    pub fn next(&self) -> Result<String> {
        totp::code_at(&self.secret, Self::step()).context("no code")
    }

    fn step() -> u64 {
        while tenterhook_home::call_meta::now_ms() / 1000 % totp::STEP_SECONDS > 20 {
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        totp::step_at(tenterhook_home::call_meta::now_ms())
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.directory.disable_cleanup(true);
            // The test has failed already; an error while printing the path changes nothing.
            drop(writeln!(std::io::stderr(), "kept for inspection: {}", self.root.display()));
        }
    }
}
