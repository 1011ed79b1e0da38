// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A machine with a real daemon and a real connector.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tenterhook_fleet_machine::{JoinOptions, join};
use tenterhook_test_support::{skip_test, wait_until};

use crate::trial::{PROGRAM, Trial};

/// A machine in a directory. Its processes end when it is dropped.
pub(crate) struct GuardedMachine {
    dir: tempfile::TempDir,
    daemon: Child,
    connector: Option<Child>,
    pub(crate) id: String,
}

/// Returns the program of a single machine, which tests of another package build.
fn daemon_program() -> Option<PathBuf> {
    let path = Path::new(PROGRAM).with_file_name("tenterhook");
    if !path.exists() {
        skip_test("the program `tenterhook` is not built: run `cargo build -p tenterhook`");
        return None;
    }
    Some(path)
}

impl GuardedMachine {
    /// Starts a daemon, and joins the fleet of a trial.
    pub(crate) fn join(trial: &Trial, token: &str) -> Option<Self> {
        let program = daemon_program()?;
        let dir = tempfile::tempdir().unwrap();
        for name in ["home", "person", "work"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        let log = std::fs::File::create(dir.path().join("daemon.log")).unwrap();
        let mut daemon = Command::new(program)
            .args(["serve", "--listen", "none"])
            .current_dir(dir.path().join("work"))
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", dir.path().join("person"))
            .env("TENTERHOOK_HOME", dir.path().join("home"))
            .env("TENTERHOOK_SYSTEM_DIR", dir.path().join("system"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut ready = String::new();
        BufReader::new(daemon.stdout.take().unwrap()).read_line(&mut ready).unwrap();
        assert!(ready.starts_with("ready"), "the daemon did not start: {ready}");
        let mut machine = Self { dir, daemon, connector: None, id: String::new() };
        // A record creates the ledger, whose key is registered.
        machine.call("echo first");
        let options = JoinOptions {
            state: machine.home(),
            server: trial.url(),
            server_ca: None,
            token: token.to_owned(),
            version: "0".to_owned(),
            // The daemon must not start a connector of its own beside the one of the test.
            program: PathBuf::from("/nonexistent/tenterhook-fleet"),
            ephemeral: false,
        };
        let enrolment = join(&options).unwrap();
        let home = tenterhook_home::Home::in_dir(machine.home());
        tenterhook_home::FleetPolicy::confirm_enrolment(&home, &enrolment, true).unwrap();
        machine.id = enrolment.machine.to_string();
        machine.connect();
        Some(machine)
    }

    fn connect(&mut self) {
        let log = std::fs::File::create(self.dir.path().join("connector.log")).unwrap();
        let mut command = Command::new(PROGRAM);
        command.args(["connect", "--batch-age-ms", "200", "--state"]).arg(self.home());
        command
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(log);
        self.connector = Some(command.spawn().unwrap());
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    /// Sends a request to the daemon.
    pub(crate) fn request(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let mut stream = UnixStream::connect(self.home().join("run/tenterhook.sock")).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        let body = if body.is_null() { String::new() } else { body.to_string() };
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        let body = answer.split_once("\r\n\r\n").unwrap().1;
        (status, serde_json::from_str(body).unwrap_or_default())
    }

    /// Makes a hook call that waits for an approval if a rule asks. Returns whether it was denied.
    pub(crate) fn call(&self, command: &str) -> bool {
        let payload = json!({
            "session_id": "s", "turn_id": "t", "cwd": self.dir.path().join("work"), "hook_event_name": "PreToolUse",
            "model": "m", "permission_mode": "default", "tool_name": "Bash",
            "tool_input": {"command": command}, "tool_use_id": "u-1",
        });
        let (status, reply) = self.request("POST", "/v1/hooks/codex/pre-tool-use", &payload);
        assert_eq!(status, 200, "{reply}");
        reply["hookSpecificOutput"]["permissionDecision"] == "deny"
    }

    /// Waits until this version of the policy is in force.
    pub(crate) fn wait_for_policy(&self, version: u64) {
        wait_until(&format!("policy version {version}"), || {
            std::thread::sleep(Duration::from_millis(100));
            let shown = self.request("GET", "/v1/fleet/policy", &Value::Null).1;
            (shown["bundle"]["version"] == version).then_some(())
        });
    }

    pub(crate) fn policy_version(&self) -> Value {
        self.request("GET", "/v1/fleet/policy", &Value::Null).1["bundle"]["version"].clone()
    }

    /// Returns the recorded changes with this name, oldest first.
    pub(crate) fn changes(&self, what: &str) -> Vec<Value> {
        let reader = tenterhook_ledger::Reader::open(&self.home().join("ledger")).unwrap();
        let records = reader.records_from(0, 100_000).unwrap();
        let read = |record: &tenterhook_ledger::StoredRecord| {
            serde_json::from_slice::<Value>(record.bytes.as_ref().unwrap()).unwrap()
        };
        records.iter().map(read).filter(|record| record["what"] == what).collect()
    }

    /// Returns the call that waits for an approval.
    pub(crate) fn waiting_approval(&self) -> Value {
        wait_until("a call waits", || {
            std::thread::sleep(Duration::from_millis(50));
            self.request("GET", "/v1/approvals", &Value::Null).1["pending"].get(0).cloned()
        })
    }

    pub(crate) fn connector_log(&self) -> String {
        std::fs::read_to_string(self.dir.path().join("connector.log")).unwrap_or_default()
    }
}

impl Drop for GuardedMachine {
    fn drop(&mut self) {
        if let Some(connector) = &mut self.connector {
            drop(connector.stdin.take());
            drop(connector.wait());
        }
        drop(self.daemon.kill());
        drop(self.daemon.wait());
        if std::thread::panicking() {
            eprintln!("connector of {}:\n{}", self.id, self.connector_log());
            let log = std::fs::read_to_string(self.dir.path().join("daemon.log")).unwrap_or_default();
            eprintln!("daemon of {}:\n{log}", self.id);
        }
    }
}
