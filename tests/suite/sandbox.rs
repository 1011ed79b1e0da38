// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `run --sandbox`: attacks on the boundary, and ordinary work inside. Everything runs the real bubblewrap, as this
//! account and, for root, also as an account without rights.

mod after_run;
mod client;
mod files;
mod git_settings;
mod hidden_repositories;
mod hostile_directories;
mod later_sessions;
mod launchers;
mod levels;
mod network;
mod ordinary_work;
mod processes;
mod proxy;
mod refusals;
mod start_cost;
mod system_calls;
mod unix_sockets;

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::context::{CommandOutput, TestContext};
use crate::terminal_user::until;

const PROGRAM: &str = env!("CARGO_BIN_EXE_tenterhook");
/// An account without rights.
const OTHER_ACCOUNT: u32 = 65_534;
/// Files that the run may not change, below the directory of the test.
const GUARD_FILES: &[&str] = &[
    "home/policy.yaml",
    "home/mode.json",
    "home/bin/tenterhook-hook",
    "home/ledger/key",
    "person/.claude/settings.json",
    "person/.claude/hooks/check.sh",
    "person/.bashrc",
    "person/.gitconfig",
    "person/.ssh/id_ed25519",
    "person/.ssh/authorized_keys",
    "work/.claude/settings.json",
    "work/.git/hooks/pre-commit",
    "work/.tenterhook.yaml",
    "work/nested/.git/hooks/pre-push",
];

/// A state directory, home and project for sandboxed runs.
pub(super) struct Sandbox {
    pub(super) test: TestContext,
    account: Option<u32>,
}

impl Sandbox {
    /// Removes the keys with which the state directory begins, so that a real ledger can be created.
    fn forget_keys(&self) {
        std::fs::remove_dir_all(self.test.home().join("ledger")).unwrap();
        std::fs::remove_file(self.test.home().join("totp")).unwrap();
    }

    /// One for each account, or none if this machine does not support sandboxes.
    fn all() -> Vec<Self> {
        let available = tenterhook_sandbox::probe::available_level();
        if available.level != tenterhook_event::SandboxLevel::NamespacesLandlock {
            let why = available.namespaces_missing.unwrap_or_default();
            tenterhook_test_support::skip_test(&format!("needs bubblewrap and namespaces: {why}"));
            return Vec::new();
        }
        let mut accounts = vec![None];
        if rustix::process::getuid().is_root() {
            accounts.push(Some(OTHER_ACCOUNT));
        }
        accounts.into_iter().map(Self::new).collect()
    }

    fn new(account: Option<u32>) -> Self {
        // Not in `/tmp`, which is private in a sandbox.
        let test = TestContext::new_in(Path::new(env!("CARGO_TARGET_TMPDIR")));
        test.write("person/.claude/settings.json", "{\"model\": \"x\"}\n");
        test.write("person/.claude/hooks/check.sh", "#!/bin/sh\nexit 0\n");
        test.write("person/.claude.json", "{\"mcpServers\": {}}\n");
        test.write("person/.bashrc", "true\n");
        test.write("person/.gitconfig", "[user]\n\tname = A\n\temail = a@example.com\n");
        test.write("person/.ssh/id_ed25519", "-----BEGIN PRIVATE KEY-----\n");
        test.write("person/.ssh/authorized_keys", "ssh-ed25519 AAAA\n");
        test.write("person/.aws/credentials", "[default]\naws_secret_access_key = hidden\n");
        test.write("home/policy.yaml", "version: 1\nrules: []\n");
        test.write("home/mode.json", "{\"mode\": \"enforce\"}\n");
        test.write("home/ledger/key", "secret\n");
        test.write("home/totp", "secret\n");
        let sandbox = Self { test, account };
        sandbox.give_away(sandbox.test.path("."));
        sandbox.plain("git init -q . && git init -q nested");
        sandbox.test.write("work/.claude/settings.json", "{}\n");
        sandbox.test.write("work/.tenterhook.yaml", "version: 1\nrules: []\n");
        sandbox.test.write("home/bin/tenterhook-hook", "#!/bin/sh\n");
        for hook in ["work/.git/hooks/pre-commit", "work/nested/.git/hooks/pre-push"] {
            let path = sandbox.test.write(hook, "#!/bin/sh\nexit 0\n");
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        sandbox.give_away(sandbox.test.path("."));
        sandbox
    }

    /// Makes the account the owner of a directory and everything below it.
    fn give_away(&self, directory: PathBuf) {
        if let Some(account) = self.account {
            let owner = format!("{account}:{account}");
            let status = Command::new("chown").args(["-R", "-h", &owner]).arg(directory).status().unwrap();
            assert!(status.success());
        }
    }

    /// A command of the account, with the environment of the test.
    fn command(&self, program: &Path, args: &[&str]) -> Command {
        let Some(account) = self.account else { return self.test.command(program, args) };
        let id = account.to_string();
        let mut all = vec!["--reuid", &id, "--regid", &id, "--clear-groups", program.to_str().unwrap()];
        all.extend(args);
        self.test.command(Path::new("/usr/bin/setpriv"), &all)
    }

    /// Runs a shell script outside the sandbox.
    fn plain(&self, script: &str) -> CommandOutput {
        self.test.run_command(self.command(Path::new("/bin/sh"), &["-c", script]), b"")
    }

    /// Runs a shell script in the sandbox of Claude Code.
    fn run(&self, script: &str) -> CommandOutput {
        self.run_with(&["--profile", "claude-code", "--network", "none"], &["/bin/sh", "-c", script])
    }

    fn run_with(&self, options: &[&str], command: &[&str]) -> CommandOutput {
        self.test.run_command(self.sandboxed(options, command), b"")
    }

    fn sandboxed(&self, options: &[&str], command: &[&str]) -> Command {
        let args: Vec<_> = [&["run", "--sandbox"], options, &["--"], command].concat();
        self.command(Path::new(PROGRAM), &args)
    }

    /// Runs a Python program in the sandbox.
    fn python(&self, program: &str) -> CommandOutput {
        self.run_with(
            &["--profile", "claude-code", "--network", "none"],
            &["/usr/bin/python3", "-c", program],
        )
    }

    /// Content, mode and place of every guarded file.
    fn guard_files(&self) -> BTreeMap<&'static str, (Vec<u8>, u32, u64)> {
        let read = |name: &&'static str| {
            let path = self.test.path(name);
            let found = std::fs::symlink_metadata(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
            (*name, (std::fs::read(&path).unwrap(), found.mode(), found.ino()))
        };
        GUARD_FILES.iter().map(read).collect()
    }
}

impl Drop for Sandbox {
    /// Ends the daemon that a run or a hook started.
    fn drop(&mut self) {
        if !self.test.home().join("run/tenterhook.sock").exists() {
            return;
        }
        let status = self.test.run_command(self.command(Path::new(PROGRAM), &["status", "--json"]), b"");
        let health: serde_json::Value = serde_json::from_str(&status.stdout).unwrap_or_default();
        let pid = health["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok());
        if let Some(pid) = pid.and_then(rustix::process::Pid::from_raw) {
            // It may have ended meanwhile.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
    }
}

/// Runs an attack in every sandbox, and checks that the guarded files are as before and that nothing is left in the
/// home directory and the project. The script prints `DONE` if it succeeds.
pub(super) fn attack(script: &str) {
    for sandbox in Sandbox::all() {
        let before = sandbox.guard_files();
        let names = names_in(&sandbox.test.path("."));
        let ran = sandbox.run(script);
        assert!(ran.stderr.contains("sandbox: namespaces + Landlock"), "{}", ran.stderr);
        assert!(!ran.stdout.contains("DONE"), "{script}\n{}{}", ran.stdout, ran.stderr);
        assert_eq!(sandbox.guard_files(), before, "{script}\n{}{}", ran.stdout, ran.stderr);
        let after = names_in(&sandbox.test.path("."));
        assert_eq!(after, names, "{script}\n{}{}", ran.stdout, ran.stderr);
    }
}

/// Names in the home directory and the project, without the content of git directories.
fn names_in(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![directory.join("person"), directory.join("work")];
    while let Some(directory) = waiting.pop() {
        for entry in std::fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            if path.symlink_metadata().unwrap().is_dir() && !path.ends_with(".git") {
                waiting.push(path.clone());
            }
            found.push(path);
        }
    }
    found.sort();
    found
}

/// A process of this account, ended when the value is dropped.
pub(super) struct Background(Child);

impl Background {
    fn start(mut command: Command) -> Self {
        Self(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }

    fn is_alive(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// A daemon of the sandbox's state directory.
fn start_daemon(sandbox: &Sandbox) -> Background {
    sandbox.forget_keys();
    let daemon = Background::start(sandbox.command(Path::new(PROGRAM), &["serve", "--listen", "none"]));
    until("the daemon answers", || sandbox.test.home().join("run/tenterhook.sock").exists().then_some(()));
    daemon
}
