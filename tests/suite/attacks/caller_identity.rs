// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The gate refuses callers whose process ancestry is unknown, incomplete or in another pid namespace.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::context::{CommandOutput, TestContext, repository};
use crate::terminal_user::{SocketDaemon, code};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tenterhook");

/// Finds a program that an attack needs. If it is not installed, prints that the attack was not tried and returns
/// `None`.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let places = std::env::var_os("PATH").unwrap_or_default();
    let found = ["/usr/bin".into(), "/bin".into()].into_iter().chain(std::env::split_paths(&places));
    let found = found.map(|place: PathBuf| place.join(name)).find(|program| program.exists());
    if found.is_none() {
        tenterhook_test_support::skip_test(&format!("needs `{name}`"));
    }
    found
}

/// The attack program, ready to run with a temporary state directory.
pub(super) fn attack(test: &TestContext, python: &Path, words: &[&str]) -> Command {
    let payload = test.write("payload.json", &test.bash("ls"));
    let mut command = test.command(python, &[]);
    command.arg(repository().join("tests/suite/attacks/gate_attack.py"));
    command.args([&test.home(), Path::new(PROGRAM), &payload]).args(words);
    command
}

/// The result of each attempt.
fn results_of_tries(ran: &CommandOutput) -> Vec<Value> {
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
    ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn mode(test: &TestContext) -> String {
    test.run(&["mode", "--json"]).json()["mode"].as_str().unwrap().to_owned()
}

#[test]
fn a_connection_whose_maker_has_exited_is_refused() {
    let Some(python) = find_program("python3") else { return };
    let test = TestContext::new();
    let serve = test.command(Path::new(PROGRAM), &["serve", "--listen", "127.0.0.1:0"]);
    let _guard = SocketDaemon::with(&test, serve);
    let found = results_of_tries(&test.run_command(attack(&test, &python, &["exited-maker"]), b""));
    assert_eq!(found.len(), 16);
    for tried in &found {
        assert_eq!(tried["status"], 403, "{tried}");
        let own = tried["how"].as_str().unwrap().starts_with("own");
        let why = if own { "guarded agent" } else { "cannot be identified" };
        assert!(tried["body"].as_str().unwrap().contains(why), "{tried}");
    }
    assert_eq!(mode(&test), "enforce");
    let refused = test.records().into_iter().filter(|leaf| leaf["what"] == "refused").collect::<Vec<_>>();
    assert_eq!(refused.len(), 16, "each try is recorded");
    for leaf in refused {
        let by = &leaf["detail"]["authority"];
        assert!(by["agent"].is_object() || by["unverified"].is_string(), "{leaf}");
        assert_ne!(by["proof"], "tty", "only verified terminals are recorded");
    }
}

#[test]
fn an_agent_seventy_processes_up_is_found() {
    let Some(python) = find_program("python3") else { return };
    for with_daemon in [true, false] {
        let test = TestContext::new();
        let _guard = with_daemon.then(|| SocketDaemon::of(&test));
        let how = if with_daemon { "deep" } else { "deep-command" };
        let found = results_of_tries(&test.run_command(attack(&test, &python, &[how]), b""));
        assert_eq!(found.len(), if with_daemon { 2 } else { 1 });
        for tried in found {
            assert!([json!(403), json!(1)].contains(&tried["status"]), "{tried}");
            assert!(tried["body"].as_str().unwrap().contains("guarded agent"), "{tried}");
        }
        assert_eq!(mode(&test), "enforce", "with a daemon: {with_daemon}");
    }
}

/// `unshare`, if accounts may create user namespaces.
fn unshare() -> Option<PathBuf> {
    let unshare = find_program("unshare")?;
    let tried = Command::new(&unshare).args(["-Urpf", "--mount-proc", "true"]).output().unwrap();
    if !tried.status.success() {
        tenterhook_test_support::skip_test("needs user namespaces");
        return None;
    }
    Some(unshare)
}

#[test]
fn a_pid_namespace_does_not_hide_the_agent() {
    let (Some(python), Some(unshare)) = (find_program("python3"), unshare()) else { return };
    for with_daemon in [false, true] {
        for attacked in ["namespace", "namespace-without-proc"] {
            let test = TestContext::new();
            let _guard = with_daemon.then(|| SocketDaemon::of(&test));
            let words = [attacked, unshare.to_str().unwrap()];
            let found = results_of_tries(&test.run_command(attack(&test, &python, &words), b""));
            assert_ne!(found[0]["status"], 0, "{}", found[0]);
            let shown = found[0]["body"].as_str().unwrap();
            let why = if with_daemon { "guarded agent" } else { "cannot be identified" };
            assert!(shown.contains(why), "{attacked}, with a daemon: {with_daemon}: {shown}");
            assert_eq!(mode(&test), "enforce");
        }
    }
}

#[test]
fn a_caller_outside_the_daemon_s_pid_namespace_is_unknown_and_its_hook_calls_are_answered() {
    let (Some(python), Some(unshare)) = (find_program("python3"), unshare()) else { return };
    let test = TestContext::new();
    let words = ["-Urpf", "--kill-child", "--mount-proc", PROGRAM, "serve", "--listen", "none"];
    let guard = SocketDaemon::with(&test, test.command(&unshare, &words));
    let found = results_of_tries(&test.run_command(attack(&test, &python, &["foreign-caller"]), b""));
    assert_eq!(found[0]["status"], 403, "{}", found[0]);
    assert!(found[0]["body"].as_str().unwrap().contains("cannot be identified"), "{}", found[0]);
    let ran = test.run_with(&["hook", "claude-code", "pre-tool-use"], test.bash("ls").as_bytes());
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let agents = test.run(&["agent", "list", "--json"]).json();
    assert_eq!(agents["agents"][0]["pid"], 0, "an agent with an unknown process id: {agents}");
    drop(guard);
}

/// Same-user mode does not promise to stop this attack: init adopts a process whose parents have exited, and nothing
/// reveals its origin. Requiring a code prevents the attack.
#[test]
fn a_process_that_left_the_tree_is_not_recognised_in_same_user_mode_but_a_code_stops_it() {
    let Some(python) = find_program("python3") else { return };
    let test = TestContext::new();
    let _guard = SocketDaemon::of(&test);
    let left =
        || results_of_tries(&test.run_command(attack(&test, &python, &["left-the-tree"]), b"")).remove(0);
    assert_eq!(left()["status"], 200, "a limit that the threat model names");
    assert_eq!(test.run(&["mode", "enforce"]).exit, 0);
    let secret = test.enroll();
    let tried = left();
    assert_eq!(tried["status"], 403, "{tried}");
    assert!(tried["body"].as_str().unwrap().contains("needs a code"), "{tried}");
    assert_eq!(mode(&test), "enforce");
    assert_eq!(test.run_on_terminal(&["mode", "monitor", "--code", &code(&secret, 0)]).exit, 0);
}
