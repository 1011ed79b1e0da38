// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A machine-wide state directory, used by an account that does not own it. The tests need root; without root they
//! print a note and return.

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::context::TestContext;
use crate::terminal_user::{SocketDaemon, request};

/// User id of `nobody` on most machines. The account does not have to exist.
pub(crate) const STRANGER: u32 = 65_534;

const RULES: &str = "version: 1\nrules:\n  - {id: no-make, match: {shell: {program: make}}, verdict: deny}\n";

pub(crate) fn is_root() -> bool {
    let root = rustix::process::getuid().is_root();
    if !root {
        tenterhook_test_support::skip_test("needs root, to become another account");
    }
    root
}

/// Runs a function as another account, in a separate thread, so that the rest of the test keeps its account.
pub(crate) fn as_stranger<T: Send>(what: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let done = scope.spawn(|| {
            let (group, stranger) =
                (rustix::thread::Gid::from_raw(STRANGER), rustix::thread::Uid::from_raw(STRANGER));
            rustix::thread::set_thread_groups(&[]).unwrap();
            rustix::thread::set_thread_res_gid(group, group, group).unwrap();
            rustix::thread::set_thread_res_uid(stranger, stranger, stranger).unwrap();
            what()
        });
        done.join().unwrap()
    })
}

pub(crate) struct SystemHome {
    pub(crate) test: TestContext,
}

impl SystemHome {
    pub(crate) fn new() -> Self {
        let test = TestContext::new();
        test.write_system(RULES);
        // Every account must be able to reach the socket.
        std::fs::set_permissions(test.path(""), std::fs::Permissions::from_mode(0o755)).unwrap();
        Self { test }
    }

    pub(crate) fn serve(&self) -> SocketDaemon<'_> {
        let program = Path::new(env!("CARGO_BIN_EXE_tenterhook"));
        SocketDaemon::with(&self.test, self.test.command(program, &["--system", "serve", "--listen", "none"]))
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.test.path("system/run/tenterhook.sock")
    }

    pub(crate) fn records(&self) -> Vec<Value> {
        let reader = tenterhook_ledger::Reader::open(&self.test.path("system/state/ledger")).unwrap();
        let leaves = reader.records_from(0, 1000).unwrap();
        leaves.iter().map(|leaf| serde_json::from_slice(leaf.bytes.as_ref().unwrap()).unwrap()).collect()
    }
}

// seed: 001-046
#[test]
fn system_any_account_calls_hooks_and_the_record_names_it() {
    if !is_root() {
        return;
    }
    let system = SystemHome::new();
    let _guard = system.serve();
    let payload: Value = serde_json::from_str(&system.test.bash("make all")).unwrap();
    let (status, reply) =
        as_stranger(|| request(&system.socket(), "POST", "/v1/hooks/claude-code/pre-tool-use", &payload));
    assert_eq!(
        (status, &reply["hookSpecificOutput"]["permissionDecision"]),
        (200, &json!("deny")),
        "{reply}"
    );
    let spoken = as_stranger(|| {
        let text = payload.to_string();
        let mut stream = UnixStream::connect(system.socket()).unwrap();
        let head = format!(
            "TH1 hook claude-code PreToolUse 01K00000000000000000000000 5000 {}\n\n{text}",
            text.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        reply
    });
    assert!(spoken.contains("\"permissionDecision\":\"deny\""), "{spoken}");
    let decisions: Vec<_> = system.records().into_iter().filter(|leaf| leaf["kind"] == "decision").collect();
    let account = tenterhook_home::env::account_name(STRANGER);
    let users: Vec<_> = decisions.iter().map(|leaf| &leaf["agent"]["user"]).collect();
    assert_eq!(users, [&json!(account), &json!(account)]);
}

#[test]
fn system_another_account_gets_nothing_but_hooks() {
    if !is_root() {
        return;
    }
    let system = SystemHome::new();
    let guard = system.serve();
    let socket = system.socket();
    for (method, path, body) in [
        ("GET", "/v1/mode", Value::Null),
        ("PUT", "/v1/mode", json!({"mode": "monitor", "proof": {"tty": true}})),
        ("PUT", "/v1/mode", json!({"mode": "enforce"})),
        ("GET", "/v1/approvals", Value::Null),
        (
            "POST",
            "/v1/approvals/01K00000000000000000000000",
            json!({"answer": "approve", "proof": {"tty": true}}),
        ),
        ("POST", "/v1/authority", json!({"action": "stop", "proof": {"tty": true}})),
        ("GET", "/v1/hooks", Value::Null),
        ("POST", "/v1/hooks", json!({})),
        ("POST", "/v1/hooks/mine/disable", json!({"proof": {"tty": true}})),
        ("POST", "/v1/hooks/codex/disable", json!({"proof": {"tty": true}})),
        ("GET", "/v1/policy", Value::Null),
        ("PUT", "/v1/policy", json!({"text": "version: 1\n"})),
        ("GET", "/v1/sessions", Value::Null),
        ("GET", "/v1/stream", Value::Null),
        ("POST", "/v1/hooks/x/y/../../../mode", json!({"mode": "monitor"})),
        ("GET", "/v1/ledger", Value::Null),
    ] {
        let (status, answer) = as_stranger(|| request(&socket, method, path, &body));
        assert_eq!(status, 403, "{method} {path}: {answer}");
    }
    let (status, health) = as_stranger(|| request(&socket, "GET", "/v1/health", &Value::Null));
    assert_eq!((status, &health["ok"], &health["pid"]), (200, &json!(true), &Value::Null), "{health}");

    for path in ["state", "state/ledger/ledger.db", "state/run/token", "state/mode.json"] {
        let path = system.test.path("system").join(path);
        let (read, written) =
            as_stranger(|| (std::fs::read(&path).is_ok(), std::fs::write(&path, "").is_ok()));
        assert!(!read && !written, "{}", path.display());
    }
    let taken = as_stranger(|| std::fs::remove_file(&socket).is_ok());
    assert!(!taken, "another account cannot replace the socket");
    let pid = rustix::process::Pid::from_raw(guard.pid()).unwrap();
    let killed = as_stranger(|| rustix::process::kill_process(pid, rustix::process::Signal::KILL));
    assert!(killed.is_err(), "enforced by the kernel");
}

/// Sends a tool call as another account; returns the decision and the whole reply.
fn call_as_stranger(system: &SystemHome, payload: &Value) -> (Value, String) {
    let (status, reply) =
        as_stranger(|| request(&system.socket(), "POST", "/v1/hooks/claude-code/pre-tool-use", payload));
    assert_eq!(status, 200, "{reply}");
    (reply["hookSpecificOutput"]["permissionDecision"].clone(), reply.to_string())
}

#[test]
fn system_files_that_a_call_runs_are_read_with_the_rights_of_the_caller() {
    if !is_root() {
        return;
    }
    let system = SystemHome::new();
    let project = system.test.path("shared");
    let write = |name: &str, text: &str, mode: u32| {
        let path = project.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path
    };
    let wipe = "# marker-in-file\nrm -rf --no-preserve-root /\n";
    write("open.sh", wipe, 0o644);
    write("fine.sh", "echo fine\n", 0o644);
    write("Makefile", &format!("clean:\n\t{}", wipe.lines().last().unwrap()), 0o644);
    write("closed.sh", wipe, 0o600);
    write("private/inner.sh", wipe, 0o644);
    std::os::unix::fs::symlink(project.join("closed.sh"), project.join("link.sh")).unwrap();
    std::fs::set_permissions(project.join("private"), std::fs::Permissions::from_mode(0o700)).unwrap();
    std::fs::set_permissions(&project, std::fs::Permissions::from_mode(0o755)).unwrap();
    let _guard = system.serve();
    let payload = |tool: &str, input: Value| {
        let mut payload: Value = serde_json::from_str(&system.test.bash("ls")).unwrap();
        payload["cwd"] = json!(project);
        payload["tool_name"] = json!(tool);
        payload["tool_input"] = input;
        payload
    };
    let run = |line: &str| call_as_stranger(&system, &payload("Bash", json!({ "command": line }))).0;
    for (line, decision) in [
        ("sh open.sh", json!("ask")),
        // The rule of the test home denies `make`.
        ("gmake clean", json!("ask")),
        ("sh fine.sh", Value::Null),
        ("sh closed.sh", Value::Null),
        ("sh link.sh", Value::Null),
        ("sh private/inner.sh", Value::Null),
        ("sh missing.sh", Value::Null),
    ] {
        assert_eq!(run(line), decision, "{line}");
    }
    let edit = |name: &str, old: &str, new: &str| {
        let input = json!({"file_path": project.join(name), "old_string": old, "new_string": new});
        call_as_stranger(&system, &payload("Edit", input))
    };
    assert_eq!(edit("open.sh", "marker-in-file", "other").0, json!("ask"), "the rest of the file counts");
    assert_eq!(edit("fine.sh", "fine", "good").0, Value::Null);
    let (decision, reply) = edit("closed.sh", "marker-in-file", "other");
    assert_eq!(decision, Value::Null, "{reply}");
    assert!(!reply.contains("no-preserve-root"), "{reply}");

    let records = system.records();
    let files = records.iter().filter_map(|leaf| leaf["facts"]["files"].as_array()).flatten();
    let name = |file: &Value| file["path"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let read: Vec<_> = files.map(|file| (name(file), file["sha256"].as_str().unwrap().to_owned())).collect();
    let names: Vec<_> = read.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["open.sh", "Makefile", "fine.sh"]);
    // `closed.sh` has the same content.
    let hash = &read[0].1;
    let closed =
        |leaf: &&Value| leaf.to_string().contains("closed.sh") || leaf.to_string().contains("link.sh");
    assert!(records.iter().any(|leaf| closed(&leaf)));
    for leaf in records.iter().filter(closed) {
        let text = leaf.to_string();
        assert!(!text.contains(hash) && !text.contains("no-preserve-root"), "{text}");
    }
}

#[test]
fn system_root_needs_no_further_proof_and_is_recorded() {
    if !is_root() {
        return;
    }
    let system = SystemHome::new();
    let _guard = system.serve();
    let ran = system.test.run(&["--system", "mode", "monitor"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let leaf = system.records().into_iter().rev().find(|leaf| leaf["what"] == "mode monitor").unwrap();
    assert_eq!(
        (&leaf["detail"]["authority"]["proof"], &leaf["detail"]["authority"]["uid"]),
        (&json!("root"), &json!(0))
    );
    // The action is refused to an agent. The test process is treated as an agent as soon as it has called a hook.
    request(
        &system.socket(),
        "POST",
        "/v1/hooks/claude-code/pre-tool-use",
        &serde_json::from_str(&system.test.bash("ls")).unwrap(),
    );
    system.test.run(&["--system", "mode", "enforce"]);
    let ran = system.test.run(&["--system", "mode", "monitor"]);
    assert!(ran.exit == 1 && ran.stderr.contains("a guarded agent"), "{}", ran.stderr);
}

#[test]
fn same_user_another_account_on_the_socket_is_not_served() {
    if !is_root() {
        return;
    }
    let test = TestContext::new();
    let _guard = SocketDaemon::of(&test);
    let socket = test.home().join("run/tenterhook.sock");
    assert!(as_stranger(|| UnixStream::connect(&socket)).is_err(), "the directory is for its owner only");
    // The daemon refuses the connection even if file permissions let every account reach the socket.
    for (path, mode) in [
        (test.path(""), 0o755),
        (test.home(), 0o755),
        (test.home().join("run"), 0o755),
        (socket.clone(), 0o666),
    ] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let answer = as_stranger(|| {
        let mut stream = UnixStream::connect(&socket).unwrap();
        // The connection may be closed before the test has written anything.
        drop(stream.write_all(b"GET /v1/health HTTP/1.1\r\nHost: tenterhook\r\n\r\n"));
        let mut answer = String::new();
        drop(stream.read_to_string(&mut answer));
        answer
    });
    assert_eq!(answer, "");
}
