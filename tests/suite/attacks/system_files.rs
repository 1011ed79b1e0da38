// SPDX-License-Identifier: Apache-2.0 OR MIT

//! In system mode the project files of a caller are read with the caller's rights. Needs root.

use std::io::{Read, Write};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tenterhook_test_support::assert_no_hang;

use serde_json::{Value, json};

use crate::system::{STRANGER, SystemHome, as_stranger, is_root};
use crate::terminal_user::{SocketDaemon, request};

const SECRET_RULES: &str =
    "version: 1\nrules:\n  - {id: topsecret-rule-name, match: {shell: {program: beta}}, verdict: deny}\n";

/// A machine-wide daemon with a memory limit.
fn serve(system: &SystemHome) -> SocketDaemon<'_> {
    let script = "ulimit -v 6000000; exec \"$@\"";
    let words = ["-c", script, "sh", super::hostile_files::PROGRAM, "--system", "serve", "--listen", "none"];
    SocketDaemon::with(&system.test, system.test.command(Path::new("/bin/sh"), &words))
}

/// A project of another account.
fn project(system: &SystemHome, name: &str) -> PathBuf {
    let path = system.test.path(name);
    std::fs::create_dir_all(path.join(".git")).unwrap();
    for place in [path.clone(), path.join(".git")] {
        chown(&place, Some(STRANGER), Some(STRANGER)).unwrap();
        std::fs::set_permissions(&place, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    path
}

fn payload(cwd: &Path, command: &str) -> Value {
    json!({
        "session_id": "s-1", "cwd": cwd, "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": {"command": command}, "tool_use_id": "t-1",
    })
}

/// Makes a call in a directory as the other account, and returns the reply.
fn call_as_other_account(system: &SystemHome, cwd: &Path, command: &str) -> String {
    let (status, reply) = as_stranger(|| {
        request(&system.socket(), "POST", "/v1/hooks/claude-code/pre-tool-use", &payload(cwd, command))
    });
    assert_eq!(status, 200, "{reply}");
    reply.to_string()
}

fn start_session(system: &SystemHome, cwd: &Path) -> String {
    let event =
        json!({"session_id": "s", "cwd": cwd, "hook_event_name": "SessionStart", "source": "startup"});
    as_stranger(|| request(&system.socket(), "POST", "/v1/hooks/claude-code/session-start", &event))
        .1
        .to_string()
}

#[test]
fn links_of_one_account_to_blocking_files_do_not_delay_others() {
    if !is_root() {
        return;
    }
    let system = SystemHome::new();
    let guard = serve(&system);
    let places: Vec<_> = (0..24)
        .map(|number| {
            let place = project(&system, &format!("bob/{number}"));
            symlink("/proc/kmsg", place.join(".tenterhook.yaml")).unwrap();
            place
        })
        .collect();
    let calls: Vec<_> = as_stranger(|| {
        let call = |(number, place): (usize, &PathBuf)| {
            let text = payload(place, "ls").to_string();
            let mut stream = UnixStream::connect(system.socket()).unwrap();
            let id = format!("01K0000000000000000000{number:04}");
            let head = format!("TH1 hook claude-code PreToolUse {id} 50000 {}\n\n{text}", text.len());
            stream.write_all(head.as_bytes()).unwrap();
            stream
        };
        places.iter().enumerate().map(call).collect()
    });
    let began = Instant::now();
    let own = payload(&system.test.path("work"), "make all");
    let (status, reply) = request(&system.socket(), "POST", "/v1/hooks/claude-code/pre-tool-use", &own);
    assert_eq!(
        (status, &reply["hookSpecificOutput"]["permissionDecision"]),
        (200, &json!("deny")),
        "{reply}"
    );
    assert_no_hang(began, "a call beside calls that wait for a disk");
    for mut call in calls {
        call.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let mut reply = String::new();
        call.read_to_string(&mut reply).unwrap();
        assert!(reply.contains("TH1 reply"), "{reply}");
    }
    // `terminate` returns only if the daemon ends.
    guard.terminate();
}

#[test]
fn links_of_one_account_reveal_nothing_about_files_of_root() {
    if !is_root() {
        return;
    }
    let system = SystemHome::new();
    let _guard = serve(&system);
    let hidden = system.test.path("hidden");
    std::fs::create_dir_all(hidden.join(".git")).unwrap();
    let secret = system.test.write("hidden/.tenterhook.yaml", SECRET_RULES);
    std::fs::set_permissions(&hidden, std::fs::Permissions::from_mode(0o700)).unwrap();
    let mut said = Vec::new();
    for (number, target) in ["/etc/shadow", secret.to_str().unwrap(), "/etc/passwd"].iter().enumerate() {
        let place = project(&system, &format!("bob/link-{number}"));
        symlink(target, place.join(".tenterhook.yaml")).unwrap();
        let reply = call_as_other_account(&system, &place, "beta --now");
        assert!(!reply.contains("topsecret"), "{target}: {reply}");
        said.push((reply, start_session(&system, &place)));
    }
    assert!(
        said.windows(2).all(|pair| pair[0] == pair[1]),
        "the reply does not depend on the target: {said:?}"
    );
    // The link is a directory in the middle of the path, so the file itself is not a link.
    let place = project(&system, "bob/middle");
    symlink(&hidden, place.join("sub")).unwrap();
    let reply = call_as_other_account(&system, &place.join("sub"), "beta --now");
    assert!(!reply.contains("topsecret") && !reply.contains("deny"), "{reply}");
    // By the kernel's default, creating a hard link needs write permission on the file. The file's mode still applies.
    let place = project(&system, "bob/hard");
    std::fs::hard_link(&secret, place.join(".tenterhook.yaml")).unwrap();
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o600)).unwrap();
    let reply = call_as_other_account(&system, &place, "beta --now");
    assert!(!reply.contains("topsecret"), "{reply}");
}

#[test]
fn files_that_an_account_can_read_apply_to_it() {
    if !is_root() {
        return;
    }
    let system = SystemHome::new();
    let _guard = serve(&system);
    let place = project(&system, "bob/own");
    let file = place.join(".tenterhook.yaml");
    std::fs::write(&file, SECRET_RULES).unwrap();
    // Owned by root and readable by every account, as in a shared directory.
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(call_as_other_account(&system, &place, "beta --now").contains("deny"));
    chown(&file, Some(STRANGER), None).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::thread::sleep(Duration::from_millis(600));
    assert!(call_as_other_account(&system, &place, "beta --now").contains("deny"));
    // A change is noticed shortly afterwards.
    std::fs::write(&file, SECRET_RULES.replace("beta", "gamma")).unwrap();
    std::thread::sleep(Duration::from_millis(600));
    assert!(call_as_other_account(&system, &place, "gamma").contains("deny"));
    assert!(!call_as_other_account(&system, &place, "beta --now").contains("deny"));
}
