// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Gives every test its own state directory (`home`), home directory (`person`) and working directory (`work`), and
//! runs the program in a clean environment.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

pub(crate) struct TestContext {
    dir: tempfile::TempDir,
}

pub(crate) struct CommandOutput {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) exit: i32,
}

/// Root directory of the repository.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

impl TestContext {
    pub(crate) fn new() -> Self {
        Self::new_in(&std::env::temp_dir())
    }

    /// Like [`Self::new`], with the test's directory in this directory.
    pub(crate) fn new_in(directory: &Path) -> Self {
        let dir = tempfile::tempdir_in(directory).unwrap();
        for name in ["person", "home", "work"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        Self { dir }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// State directory of this test.
    pub(crate) fn home(&self) -> PathBuf {
        self.path("home")
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Writes the organisation's rules, which only their owner can write.
    pub(crate) fn write_system(&self, text: &str) -> PathBuf {
        let path = self.write("system/policy.yaml", text);
        for (path, mode) in [(path.clone(), 0o644), (self.path("system"), 0o755)] {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        path
    }

    /// Recorded decisions, oldest first. The parts that are stored separately from the record are put back in place.
    pub(crate) fn decisions(&self) -> Vec<Value> {
        let mut decisions: Vec<Value> =
            self.records().into_iter().filter(|leaf| leaf["kind"] == "decision").collect();
        for leaf in &mut decisions {
            let payload = leaf["stored"].take();
            if let Some(tool) = leaf.get_mut("tool") {
                tool["args"] = payload["args"].clone();
            }
            leaf["stored"] = payload;
        }
        decisions
    }

    /// Every record, oldest first, with its payload as `stored`.
    pub(crate) fn records(&self) -> Vec<Value> {
        let dir = self.home().join("ledger");
        let home = tenterhook_home::Home::in_dir(self.home());
        tenterhook_guard::LedgerHandle::of(&home).import_spool();
        if !dir.join("ledger.db").exists() {
            return Vec::new();
        }
        let read = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap();
        let records = tenterhook_ledger::Reader::open(&dir).unwrap().records_from(0, 100_000).unwrap();
        let leaf = |record: &tenterhook_ledger::StoredRecord| {
            let mut leaf = read(record.bytes.as_ref().unwrap());
            let payload = record.payload.as_ref().and_then(|payload| payload.bytes.as_deref());
            leaf["stored"] = payload.map(read).unwrap_or_default();
            leaf
        };
        records.iter().map(leaf).collect()
    }

    /// Runs the program with a temporary state directory and an otherwise empty environment.
    pub(crate) fn run(&self, args: &[&str]) -> CommandOutput {
        self.run_with(args, b"")
    }

    pub(crate) fn run_with(&self, args: &[&str], stdin: &[u8]) -> CommandOutput {
        self.run_command(self.command(Path::new(env!("CARGO_BIN_EXE_tenterhook")), args), stdin)
    }

    pub(crate) fn command(&self, program: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(self.path("work"))
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.path("person"))
            .env("TENTERHOOK_HOME", self.home())
            .env("TENTERHOOK_SYSTEM_DIR", self.path("system"));
        command
    }

    pub(crate) fn run_command(&self, mut command: Command, stdin: &[u8]) -> CommandOutput {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        let stdin = stdin.to_vec();
        // A write error is ignored: a program that rejects its input early closes the pipe.
        let feeder = std::thread::spawn(move || drop(pipe.write_all(&stdin)));
        let output: Output = child.wait_with_output().unwrap();
        feeder.join().unwrap();
        CommandOutput {
            stdout: self.normalize(&String::from_utf8(output.stdout).unwrap()),
            stderr: self.normalize(&String::from_utf8(output.stderr).unwrap()),
            exit: output.status.code().unwrap(),
        }
    }

    /// Replaces the test's directory, which differs from run to run.
    pub(crate) fn normalize(&self, text: &str) -> String {
        text.replace(self.dir.path().to_str().unwrap(), "[DIR]")
    }

    /// A `PreToolUse` payload of Claude Code that runs a command.
    pub(crate) fn bash(&self, command: &str) -> String {
        serde_json::json!({
            "session_id": "s-1",
            "cwd": self.path("work"),
            "hook_event_name": "PreToolUse",
            "tool_name": "Bash",
            "tool_input": {"command": command},
            "tool_use_id": "t-1",
        })
        .to_string()
    }
}

impl CommandOutput {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }
}
