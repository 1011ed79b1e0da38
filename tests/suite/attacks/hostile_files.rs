// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Files in places that others can write to (links, pipes, devices, endless files) neither block nor crash the program.
//!
//! Every program under attack runs with memory and time limits.

use std::io::Write;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use tenterhook_test_support::{assert_no_hang, assert_one_within};

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::context::{CommandOutput, TestContext, repository};
use crate::system::is_root;
use crate::terminal_user::SocketDaemon;

pub(super) const PROGRAM: &str = env!("CARGO_BIN_EXE_tenterhook");

/// Runs a program with a memory limit in kilobytes and a time limit in seconds.
const LIMITED_SCRIPT: &str = "ulimit -v 4000000; exec timeout --kill-after=1 \"$@\"";

/// Time limit of a program. It is longer than any reply may take, and shorter than the timeout of any harness.
const HANG_SECONDS: &str = "55";

/// Creates a link, pipe, device or the like in place of a file.
type PutFile = Box<dyn Fn(&Path)>;

/// A command with limits. If it hangs, its exit code is 124 or 137; if it runs out of memory, a signal ends it.
pub(super) fn limited_command(test: &TestContext, words: &[&str]) -> Command {
    let mut all = vec!["-c", LIMITED_SCRIPT, "sh", HANG_SECONDS, PROGRAM];
    all.extend(words);
    test.command(Path::new("/bin/sh"), &all)
}

fn limited_daemon(test: &TestContext) -> SocketDaemon<'_> {
    let script = LIMITED_SCRIPT.replace("exec timeout --kill-after=1 ", "exec ");
    let words = ["-c", &script, "sh", PROGRAM, "serve", "--listen", "none"];
    SocketDaemon::with(test, test.command(Path::new("/bin/sh"), &words))
}

/// Runs a hook without a daemon.
fn run_hook(test: &TestContext, command: &str) -> CommandOutput {
    test.run_command(
        limited_command(test, &["hook", "claude-code", "pre-tool-use"]),
        test.bash(command).as_bytes(),
    )
}

fn assert_denied(test: &TestContext, what: &str) {
    let ran = run_hook(test, "sudo rm -rf /");
    assert!(
        ran.stdout.contains("\"permissionDecision\":\"deny\""),
        "{what}: {} {} {}",
        ran.exit,
        ran.stdout,
        ran.stderr
    );
}

fn make_pipe(path: &Path) {
    drop(std::fs::remove_file(path));
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR).unwrap();
}

/// A state directory with all files that a daemon and hooks create.
fn home_in_use() -> TestContext {
    let test = TestContext::new();
    test.write("home/policy.yaml", "version: 1\nrules:\n  - {id: no-make, match: {shell: {program: make}}, verdict: deny, limit: {calls: 3, per: session}}\n");
    {
        let guard = SocketDaemon::of(&test);
        guard.hook("claude-code", "PreToolUse", &serde_json::from_str(&test.bash("make all")).unwrap());
        crate::terminal_user::until("a snapshot", || {
            test.home().join("snapshot/home").exists().then_some(())
        });
        guard.terminate();
    }
    test
}

#[test]
fn a_project_file_that_is_a_link_a_pipe_or_endless_stops_neither_hook_nor_daemon() {
    let test = TestContext::new();
    std::fs::create_dir(test.path("work/.git")).unwrap();
    let file = test.path("work/.tenterhook.yaml");
    let targets =
        ["/proc/self/pagemap", "/proc/kmsg", "/dev/zero", "/dev/tty", "/etc/shadow", "/proc/self/fd/0"];
    let links = targets.map(|target| Box::new(move |path: &Path| symlink(target, path).unwrap()) as PutFile);
    let sparse = |path: &Path| std::fs::File::create(path).unwrap().set_len(50 << 30).unwrap();
    let others: [PutFile; 2] = [Box::new(make_pipe), Box::new(sparse)];
    let places: Vec<_> = links.into_iter().chain(others).collect();
    for (number, put) in places.iter().enumerate() {
        drop(std::fs::remove_file(&file));
        put(&file);
        assert_denied(&test, &format!("without a daemon, {number}"));
    }
    let guard = limited_daemon(&test);
    for (number, put) in places.iter().enumerate() {
        drop(std::fs::remove_file(&file));
        put(&file);
        let began = Instant::now();
        let payload: Value = serde_json::from_str(&test.bash("sudo rm -rf /")).unwrap();
        let reply = guard.hook("claude-code", "PreToolUse", &payload);
        assert_eq!(reply["hookSpecificOutput"]["permissionDecision"], "deny", "{number}");
        assert_no_hang(began, &format!("file {number}"));
        let passed =
            guard.hook("claude-code", "PreToolUse", &serde_json::from_str(&test.bash("ls")).unwrap());
        assert!(passed.is_null() || passed == json!({}), "the other rules still apply: {passed}");
    }
    let problems = test.run(&["check"]);
    assert!(
        problems.stdout.contains("is larger than 256 KiB")
            || problems.stderr.contains("is larger than 256 KiB")
    );
}

#[test]
fn a_pipe_in_place_of_any_file_of_the_home_hangs_no_hook() {
    let test = home_in_use();
    let names = [
        "snapshot/home",
        "seal.key",
        "mode.json",
        "trust.json",
        "hooks.json",
        "totp",
        "approvals.json",
        "home.json",
        "sessions/lock",
        "ledger/redaction.key",
        "ledger/key",
        "ledger/key.pub",
        "ledger/checkpoint",
        "ledger/ledger.pending",
        "tenterhook.yaml",
        "policy.yaml",
        "packs.yaml",
        "prices.yaml",
        "hooks.yaml",
        "spool/01ARZ3NDEKTSV4RRFFQ69G5FAV.json",
        "run/daemon.json",
        "run/token",
    ];
    for name in names {
        let path = test.home().join(name);
        let kept = path.with_extension("kept");
        let there = std::fs::rename(&path, &kept).is_ok();
        make_pipe(&path);
        assert_denied(&test, name);
        // A command that opens the ledger does not hang either.
        let ran = test.run_command(limited_command(&test, &["ledger", "stats"]), b"");
        assert!(![124, 137].contains(&ran.exit), "{name}: {} {}", ran.stdout, ran.stderr);
        drop(std::fs::remove_file(&path));
        if there {
            std::fs::rename(&kept, &path).unwrap();
        }
    }
}

#[test]
fn a_link_in_place_of_a_state_file_is_not_followed() {
    let test = home_in_use();
    let elsewhere = test.write(
        "work/monitor.json",
        &std::fs::read_to_string(test.home().join("mode.json"))
            .unwrap_or("{\"v\":1,\"mode\":\"monitor\"}".to_owned()),
    );
    drop(std::fs::remove_file(test.home().join("mode.json")));
    symlink(elsewhere, test.home().join("mode.json")).unwrap();
    assert_denied(&test, "mode.json");
    for name in ["seal.key", "snapshot/home"] {
        let path = test.home().join(name);
        std::fs::remove_file(&path).unwrap();
        symlink("/proc/self/pagemap", &path).unwrap();
        assert_denied(&test, name);
    }
}

#[test]
fn a_configuration_file_may_be_a_link_into_the_users_dotfiles() {
    let test = TestContext::new();
    let rules = "version: 1\nrules:\n  - {id: no-make, match: {shell: {program: make}}, verdict: deny}\n";
    let dotfile = test.write("person/dotfiles/policy.yaml", rules);
    symlink(&dotfile, test.home().join("policy.yaml")).unwrap();
    let ran = run_hook(&test, "make all");
    assert!(ran.stdout.contains("no-make"), "{}{}", ran.stdout, ran.stderr);
    // Links to files of another account are not followed.
    if is_root() {
        std::os::unix::fs::chown(&dotfile, Some(65_534), None).unwrap();
        let checked = test.run(&["check"]);
        let said = checked.stdout + &checked.stderr;
        assert!(said.contains("belongs to another account (uid 65534)"), "{said}");
    }
}

#[test]
fn a_link_does_not_transfer_trust() {
    let test = TestContext::new();
    let allow = "version: 1\nrules:\n  - {id: mine, match: {shell: {program: terraform}}, verdict: allow}\n";
    let good = test.write("good/.tenterhook.yaml", allow);
    std::fs::create_dir_all(test.path("evil/.git")).unwrap();
    std::fs::create_dir_all(test.path("good/.git")).unwrap();
    symlink("../good/.tenterhook.yaml", test.path("evil/.tenterhook.yaml")).unwrap();
    let trusted = test.run_on_terminal(&["policy", "trust", good.to_str().unwrap()]);
    assert_eq!(trusted.exit, 0, "{}", trusted.stderr);
    let call = |project: &str| {
        let mut payload: Value = serde_json::from_str(&test.bash("terraform apply prod.plan")).unwrap();
        payload["cwd"] = json!(test.path(project));
        test.run_with(&["hook", "claude-code", "pre-tool-use"], payload.to_string().as_bytes()).stdout
    };
    assert!(call("good").contains("\"permissionDecision\":\"allow\""));
    assert!(!call("evil").contains("\"permissionDecision\":\"allow\""), "{}", call("evil"));
    let refused = test.run_on_terminal(&["policy", "trust", test.path("evil").to_str().unwrap()]);
    assert!(refused.exit != 0 && refused.stderr.contains("symbolic link"), "{}", refused.stderr);
}

/// Sends a call from each of these directories and leaves it waiting.
fn waiting_calls(test: &TestContext, places: &[PathBuf]) -> Vec<UnixStream> {
    let call = |(number, place): (usize, &PathBuf)| {
        let mut payload: Value = serde_json::from_str(&test.bash("ls")).unwrap();
        payload["cwd"] = json!(place);
        let payload = payload.to_string();
        let mut stream = UnixStream::connect(test.home().join("run/tenterhook.sock")).unwrap();
        let id = format!("01K0000000000000000000{number:04}");
        let head = format!("TH1 hook claude-code PreToolUse {id} 50000 {}\nversion 0.1.0\n\n", payload.len());
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(payload.as_bytes()).unwrap();
        stream
    };
    places.iter().enumerate().map(call).collect()
}

/// Documented time limit within which the daemon ends.
const DAEMON_END_TIMEOUT: Duration = Duration::from_secs(5);

#[test]
fn sigterm_ends_a_daemon_whose_ledger_is_locked_within_five_seconds() {
    assert_one_within(DAEMON_END_TIMEOUT, || {
        let test = TestContext::new();
        let guard = SocketDaemon::of(&test);
        let connection = Connection::open(test.home().join("ledger/ledger.db")).unwrap();
        connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        let _calls = waiting_calls(&test, &vec![test.path("work"); 40]);
        std::thread::sleep(Duration::from_millis(300));
        guard.terminate();
    });
}

/// Starts a daemon that blocks forever on paths below a directory `stalled`, as on a disk that does not respond.
/// Prints a note and returns `None` if this cannot be simulated.
fn daemon_on_a_stalled_disk(test: &TestContext) -> Option<SocketDaemon<'_>> {
    let library = test.path("stalled_disk.so");
    let source = repository().join("tests/suite/attacks/stalled_disk.c");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(source);
    if !cfg!(target_os = "linux") || !compiler.status().is_ok_and(|status| status.success()) {
        tenterhook_test_support::skip_test("needs a C compiler and Linux");
        return None;
    }
    let mut command = test.command(Path::new(PROGRAM), &["serve", "--listen", "none"]);
    command.env("LD_PRELOAD", library);
    Some(SocketDaemon::with(test, command))
}

#[test]
fn calls_that_wait_for_a_disk_do_not_delay_others_and_sigterm_ends_the_daemon() {
    let test = TestContext::new();
    let Some(guard) = daemon_on_a_stalled_disk(&test) else { return };
    // There are more calls than threads that serve them.
    let places: Vec<_> = (0..40).map(|number| test.path(&format!("work/stalled/{number}"))).collect();
    let _calls = waiting_calls(&test, &places);
    std::thread::sleep(Duration::from_millis(300));
    let began = Instant::now();
    let payload = serde_json::from_str(&test.bash("sudo rm -rf /")).unwrap();
    let reply = guard.hook("claude-code", "PreToolUse", &payload);
    assert_eq!(reply["hookSpecificOutput"]["permissionDecision"], "deny");
    let (status, health) = guard.request("GET", "/v1/health", &Value::Null);
    assert_eq!(status, 200, "{health}");
    assert_no_hang(began, "a call beside calls that wait for a disk");
    guard.terminate();
}

#[test]
fn stop_ends_a_daemon_whose_calls_wait_for_a_disk() {
    let test = TestContext::new();
    let Some(guard) = daemon_on_a_stalled_disk(&test) else { return };
    let places: Vec<_> = (0..8).map(|number| test.path(&format!("work/stalled/{number}"))).collect();
    let _calls = waiting_calls(&test, &places);
    std::thread::sleep(Duration::from_millis(300));
    let began = std::thread::scope(|scope| {
        // The test is the daemon's parent: it must wait for the process before others can see that it has ended.
        scope.spawn(|| guard.wait_until_ended());
        let began = Instant::now();
        let stopped = test.run_on_terminal(&["stop"]);
        assert_eq!(stopped.exit, 0, "{}{}", stopped.stdout, stopped.stderr);
        began
    });
    assert_no_hang(began, "`stop`");
}

#[test]
fn restoring_an_older_snapshot_does_not_restore_older_rules() {
    let test = TestContext::new();
    let press = || {
        let guard = SocketDaemon::of(&test);
        crate::terminal_user::until("a snapshot", || {
            test.home().join("snapshot/home").exists().then_some(())
        });
        guard.terminate();
    };
    press();
    let older = std::fs::read(test.home().join("snapshot/home")).unwrap();
    let ran = run_hook(&test, "make all");
    assert!(!ran.stdout.contains("deny"), "{}", ran.stdout);
    test.write(
        "home/policy.yaml",
        "version: 1\nrules:\n  - {id: no-make, match: {shell: {program: make}}, verdict: deny}\n",
    );
    std::fs::remove_file(test.home().join("snapshot/home")).unwrap();
    press();
    // The older snapshot is complete and was sealed with the key of this state directory.
    std::fs::write(test.home().join("snapshot/home"), &older).unwrap();
    let ran = run_hook(&test, "make all");
    assert!(ran.stdout.contains("no-make"), "{}{}", ran.stdout, ran.stderr);
    let last = test.decisions().pop().unwrap();
    assert_eq!(last["facts"]["rules"], "the files: the snapshot is outdated", "{last}");
}

#[test]
fn a_process_with_the_reused_pid_of_an_agent_is_not_that_agent() {
    let test = TestContext::new();
    let guard = SocketDaemon::of(&test);
    let own = std::process::id();
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let start: u64 = stat.rsplit_once(") ").unwrap().1.split(' ').nth(19).unwrap().parse().unwrap();
    let agents = test.home().join("run/agents");
    std::fs::create_dir_all(&agents).unwrap();
    let is_guarded =
        || guard.request("GET", "/v1/authority?action=mode%20monitor", &Value::Null).1["guarded"].clone();
    let mark = |start: u64| {
        let text = json!({"pid": own, "start": start, "name": "claude", "harness": "claude-code"});
        std::fs::write(agents.join(format!("{own}-{start}")), text.to_string()).unwrap();
    };
    // This mark belongs to an agent that had the same process id, started earlier and has ended.
    mark(start - 1);
    assert_eq!(is_guarded(), json!(false));
    mark(start);
    assert_eq!(is_guarded(), json!(true));
}

#[test]
fn on_a_read_only_file_system_calls_are_refused_at_once_with_the_reason() {
    let test = home_in_use();
    let script =
        "mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\" || exit 77; shift; exec \"$@\"";
    let read_only = |words: &[&str], input: &str| {
        let home = test.home();
        let mut all =
            vec!["-m", "sh", "-c", script, "sh", home.to_str().unwrap(), "timeout", HANG_SECONDS, PROGRAM];
        all.extend(words);
        test.run_command(test.command(Path::new("/usr/bin/unshare"), &all), input.as_bytes())
    };
    let ran = read_only(&["hook", "claude-code", "pre-tool-use"], &test.bash("sudo rm -rf /"));
    if ran.exit == 77 || ran.stderr.contains("unshare:") {
        tenterhook_test_support::skip_test(&format!("mounting needs root: {}", ran.stderr.trim()));
        return;
    }
    assert!(ran.stdout.contains("\"permissionDecision\":\"deny\""), "{}{}", ran.stdout, ran.stderr);
    let ran = read_only(&["hook", "claude-code", "pre-tool-use"], &test.bash("ls"));
    assert!(
        ran.stdout.contains("\"permissionDecision\":\"deny\"") && ran.stdout.contains("record"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    let ran = read_only(&["serve", "--listen", "none"], "");
    assert!(
        ran.exit != 0 && ran.exit != 124 && ran.stderr.contains("Read-only"),
        "{} {}",
        ran.exit,
        ran.stderr
    );
    let ran = read_only(&["ledger", "verify"], "");
    assert_eq!(ran.exit, 0, "a ledger that cannot be written can be verified: {}{}", ran.stdout, ran.stderr);
}

/// Ledger directory of a test, for other modules.
pub(super) fn ledger_dir(test: &TestContext) -> PathBuf {
    test.home().join("ledger")
}
