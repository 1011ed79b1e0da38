// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Upgrades: a state directory of 0.1.0, hooks and a daemon from different builds or versions, and downgrades.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::context::{CommandOutput, TestContext, repository};
use crate::daemon::RunningDaemon;
use crate::terminal_user::{HANG_TIMEOUT, request, spawn_daemon, terminal, until};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tenterhook");
const VERSION: &str = env!("CARGO_PKG_VERSION");
const NEWER_FORMAT_FILE: &str = r#"{"format": 99, "version": "9.9.9"}"#;

/// The state directory that 0.1.0 wrote (`tests/fixtures/state-0.1.0`), and its expected content.
fn recorded_state() -> (TestContext, Value) {
    let test = TestContext::new();
    let archive = repository().join("tests/fixtures/state-0.1.0/state.tar.gz");
    let from = test.path("recorded");
    std::fs::create_dir(&from).unwrap();
    let tar = Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(&from).status();
    assert!(tar.unwrap().success());
    let expected: Value =
        serde_json::from_str(&std::fs::read_to_string(from.join("expected.json")).unwrap()).unwrap();
    for (name, place) in [("state", "home"), ("person", "person"), ("work", "work")] {
        std::fs::remove_dir(test.path(place)).unwrap();
        std::fs::rename(from.join(name), test.path(place)).unwrap();
    }
    std::fs::rename(from.join("passphrase"), test.path("passphrase")).unwrap();
    std::fs::set_permissions(test.home(), PermissionsExt::from_mode(0o700)).unwrap();
    move_paths(&test, expected["root"].as_str().unwrap());
    // The programs themselves are too large for the repository.
    for (name, text) in
        [("tenterhook", "#!/bin/sh\necho tenterhook 0.1.0\n"), ("tenterhook-hook", "#!/bin/sh\n")]
    {
        let path = test.write(&format!("home/bin/{name}"), text);
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    }
    (test, expected)
}

/// Replaces recorded paths by those of this test.
fn move_paths(test: &TestContext, root: &str) {
    let path = |name: &str| test.path(name).display().to_string();
    let moved = |text: &str| {
        let text = text.replace(&format!("{root}/state"), &path("home"));
        text.replace(&format!("{root}/person"), &path("person"))
            .replace(&format!("{root}/passphrase"), &path("passphrase"))
    };
    let settings = std::fs::read_to_string(test.path("person/.claude/settings.json")).unwrap();
    let print =
        |text: &str| (format!("\"length\": {}", text.len()), format!("{:016x}", fnv1a(text.as_bytes())));
    let (before, after) = (print(&settings), print(&moved(&settings)));
    for name in [
        "person/.claude/settings.json",
        "home/home.json",
        "home/tenterhook.yaml",
        "home/install/claude-code.json",
    ] {
        let text = std::fs::read_to_string(test.path(name)).unwrap();
        let text = moved(&text).replace(&before.0, &after.0).replace(&before.1, &after.1);
        std::fs::write(test.path(name), text).unwrap();
    }
}

fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

fn upgrades(test: &TestContext) -> Vec<Value> {
    test.records().into_iter().filter(|leaf| leaf["what"] == "state upgrade").collect()
}

/// A copy of the program that is recognised as another build of the same version.
fn other_build(test: &TestContext, name: &str) -> PathBuf {
    let path = test.path(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    drop(std::fs::remove_file(&path));
    std::fs::copy(PROGRAM, &path).unwrap();
    std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"another build").unwrap();
    path
}

fn same_bytes(one: &Path, other: &Path) -> bool {
    std::fs::read(one).unwrap() == std::fs::read(other).unwrap()
}

fn install(test: &TestContext) {
    let ran = test.run(&["install", "claude-code", "--yes"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
}

/// Calls the installed hook program.
fn call_hook(test: &TestContext, harness: &str, event: &str, payload: &str) -> CommandOutput {
    test.run_command(
        test.command(&test.home().join("bin/tenterhook-hook"), &[harness, event]),
        payload.as_bytes(),
    )
}

fn bash(test: &TestContext, command: &str, id: &str) -> String {
    test.bash(command).replace("\"t-1\"", &format!("\"{id}\""))
}

#[test]
fn a_state_directory_of_0_1_0_is_migrated_once_with_all_its_records() {
    let (test, expected) = recorded_state();
    let status = test.run(&["status", "--json"]).json();
    assert_eq!(status["versions"]["hook_programs"], "0.1.0 or older");
    assert!(!test.home().join("format.json").exists(), "reading does not migrate");

    let ran = test.run(&["ledger", "verify"]);
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
    let records =
        tenterhook_ledger::Reader::open(&test.home().join("ledger")).unwrap().records_from(0, 1000).unwrap();
    let leaf = |record: &tenterhook_ledger::StoredRecord| -> Value {
        serde_json::from_slice(record.bytes.as_ref().unwrap()).unwrap()
    };
    for before in expected["records"].as_array().unwrap() {
        let now = &records[usize::try_from(before["seq"].as_u64().unwrap()).unwrap()];
        assert_eq!(now.hash.to_string(), before["hash"].as_str().unwrap());
        assert_eq!(leaf(now)["id"], before["id"]);
    }
    for id in expected["spooled"].as_array().unwrap() {
        assert!(records.iter().any(|record| leaf(record)["id"] == *id), "{id} is still in the spool");
    }
    let upgraded = upgrades(&test);
    assert_eq!(upgraded.len(), 1, "{upgraded:?}");
    assert_eq!(upgraded[0]["detail"]["from"], json!({"format": 1, "version": "0.1.0"}));
    let format: Value =
        serde_json::from_str(&std::fs::read_to_string(test.home().join("format.json")).unwrap()).unwrap();
    assert_eq!(format, json!({"format": 2, "version": VERSION}));

    // The first command upgraded the state directory, so the second one has nothing to upgrade.
    assert_eq!(test.run_on_terminal(&["mode", "monitor"]).exit, 0);
    assert_eq!(test.run(&["ledger", "verify"]).exit, 0);
    assert_eq!(upgrades(&test).len(), 1);
    let sessions = test.run(&["sessions", "list", "--json"]).stdout;
    assert!(sessions.contains("s-claude") && sessions.contains("s-codex"), "{sessions}");
    let shown = test.run(&["sessions", "show", "s-claude"]).stdout;
    assert!(shown.contains("git push --force origin main") && shown.contains("a.txt"), "{shown}");
}

#[test]
fn a_daemon_serves_the_state_of_0_1_0_and_records_the_upgrade() {
    let (test, expected) = recorded_state();
    let served = RunningDaemon::in_home(test, &[]);
    let ids: Vec<_> = served.test.records().into_iter().map(|leaf| leaf["id"].clone()).collect();
    let before = expected["records"].as_array().unwrap().iter().map(|record| &record["id"]);
    for id in before.chain(expected["spooled"].as_array().unwrap()) {
        assert!(ids.contains(id), "{id} is not in the ledger");
    }
    served.bash("ls");
    let verified = served.test.run(&["ledger", "verify"]);
    assert_eq!(verified.exit, 0, "{}", verified.stderr);
    assert_eq!(upgrades(&served.test).len(), 1);
}

// seed: 001-020
#[test]
fn hooks_of_0_1_0_are_refreshed_and_uninstall_restores_the_settings_byte_for_byte() {
    let (test, _) = recorded_state();
    let original = std::fs::read(test.home().join("install/backup/claude-code-settings.json")).unwrap();
    let ran = test.run_on_terminal(&["self", "refresh"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    assert!(
        ran.stdout.contains("hook programs replaced") && ran.stdout.contains("0.1.0 or older"),
        "{}",
        ran.stdout
    );
    assert!(same_bytes(&test.home().join("bin/tenterhook"), Path::new(PROGRAM)));
    assert_eq!(test.run(&["status", "--json"]).json()["versions"]["hook_programs"], VERSION);
    assert_eq!(test.last_change()["what"], "self refresh");

    let denied = call_hook(&test, "claude-code", "pre-tool-use", &test.bash("rm -rf ~/"));
    assert!(denied.stdout.contains("\"deny\""), "{}", denied.stdout);
    let ran = test.run_on_terminal(&["uninstall", "--all", "--yes"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    assert_eq!(std::fs::read(test.path("person/.claude/settings.json")).unwrap(), original);
}

#[test]
fn refresh_replaces_hooks_and_daemon_and_loses_neither_records_nor_approvals() {
    let test = TestContext::new();
    test.write(
        "home/policy.yaml",
        "version: 1\nrules:\n  - {id: ask-make, match: {shell: {program: make}}, verdict: ask}\n",
    );
    install(&test);
    other_build(&test, "home/bin/tenterhook");
    let old = other_build(&test, "old/tenterhook");
    let (mut child, ready) = spawn_daemon(&test, test.command(&old, &["serve", "--listen", "127.0.0.1:0"]));
    let address = ready.rsplit_once("http://").unwrap().1.to_owned();
    // The test waits for the daemon in a thread: otherwise an ended daemon would stay a zombie.
    let reaper = std::thread::spawn(move || child.wait().unwrap());
    let socket = test.home().join("run/tenterhook.sock");
    let health = || request(&socket, "GET", "/v1/health", &Value::Null).1;
    let old_pid = health()["pid"].clone();

    let (done, mut ids) = (AtomicBool::new(false), Vec::new());
    let (waited, refreshed) = std::thread::scope(|scope| {
        let waits = scope.spawn(|| {
            let payload = json!({
                "session_id": "s", "turn_id": "t", "cwd": test.path("work"), "hook_event_name": "PreToolUse",
                "model": "m", "permission_mode": "default", "tool_name": "Bash",
                "tool_input": {"command": "make all"}, "tool_use_id": "waits",
            });
            call_hook(&test, "codex", "pre-tool-use", &payload.to_string())
        });
        until("a call waits for an approval", || (health()["pending"] == 1).then_some(()));
        let calls = scope.spawn(|| {
            let mut ids = Vec::new();
            while !done.load(Ordering::Relaxed) {
                let id = format!("call-{}", ids.len());
                let ran = call_hook(&test, "claude-code", "pre-tool-use", &bash(&test, "ls", &id));
                assert_eq!((ran.exit, ran.stdout.as_str()), (0, ""), "{}", ran.stderr);
                ids.push(id);
            }
            ids
        });
        let refreshed = test.run_on_terminal(&["self", "refresh"]);
        done.store(true, Ordering::Relaxed);
        ids = calls.join().unwrap();
        (waits.join().unwrap(), refreshed)
    });
    assert_eq!(refreshed.exit, 0, "{}{}", refreshed.stdout, refreshed.stderr);
    assert!(
        refreshed.stdout.contains(&format!("daemon restarted on http://{address}")),
        "{}",
        refreshed.stdout
    );
    assert!(
        waited.stdout.contains("\"deny\""),
        "a restart approved a call: {} {}",
        waited.stdout,
        waited.stderr
    );
    assert!(reaper.join().unwrap().success());
    assert!(same_bytes(&test.home().join("bin/tenterhook"), Path::new(PROGRAM)));
    let now = health();
    assert_eq!(now["listen"], address.as_str());
    assert_ne!(now["pid"], old_pid);
    let program = std::fs::read_link(format!("/proc/{}/exe", now["pid"])).unwrap();
    assert_eq!(program.canonicalize().unwrap(), Path::new(PROGRAM).canonicalize().unwrap());
    let ran = test.run_on_terminal(&["self", "refresh"]);
    assert!(ran.stdout.contains("run this version"), "{}", ran.stdout);

    assert_eq!(test.run_on_terminal(&["stop"]).exit, 0);
    let mut recorded = BTreeMap::new();
    for decision in test.decisions() {
        *recorded.entry(decision["tool_use_id"].as_str().unwrap_or_default().to_owned()).or_insert(0) += 1;
    }
    assert!(!ids.is_empty());
    for id in &ids {
        assert_eq!(recorded.get(id), Some(&1), "{id} of {} calls", ids.len());
    }
    assert_eq!(test.run(&["ledger", "verify"]).exit, 0);
}

#[test]
fn a_guarded_agent_may_not_replace_hooks_or_daemon() {
    let test = TestContext::new();
    install(&test);
    let copy = other_build(&test, "home/bin/tenterhook");
    let before = std::fs::metadata(&copy).unwrap();
    // The test process calls a hook, so it is treated as an agent.
    call_hook(&test, "claude-code", "pre-tool-use", &test.bash("ls"));
    for args in [&["self", "refresh"][..], &["install", "claude-code", "--yes"]] {
        let ran = test.run(args);
        assert_eq!(ran.exit, 1, "{args:?}: {}", ran.stdout);
        assert!(ran.stderr.contains("guarded agents may not"), "{args:?}: {}", ran.stderr);
    }
    let after = std::fs::metadata(&copy).unwrap();
    assert_eq!((before.ino(), before.len()), (after.ino(), after.len()));
    let judged = test.run(&["judge", "--shell", "tenterhook self refresh"]);
    assert!(judged.stdout.contains("denied") || judged.stdout.contains("deny"), "{}", judged.stdout);
}

#[test]
fn without_a_user_a_refused_restart_changes_nothing() {
    let test = TestContext::new();
    install(&test);
    let copy = other_build(&test, "home/bin/tenterhook");
    let old = other_build(&test, "old/tenterhook");
    let (mut child, _) = spawn_daemon(&test, test.command(&old, &["serve", "--listen", "none"]));
    let ran = test.run(&["self", "refresh"]);
    assert_eq!(ran.exit, 1);
    assert!(ran.stderr.contains("needs confirmation"), "{}", ran.stderr);
    assert!(!same_bytes(&copy, Path::new(PROGRAM)));
    assert!(child.try_wait().unwrap().is_none(), "the daemon still runs");
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Makes one hook call as a program of some version sends it.
fn call_over_th1(socket: &Path, event: &str, lines: &str, payload: &str) -> String {
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.set_read_timeout(Some(HANG_TIMEOUT)).unwrap();
    let id = tenterhook_home::call_meta::mint().unwrap().id;
    write!(stream, "TH1 hook claude-code {event} {id} 50000 {}\n{lines}\n{payload}", payload.len()).unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    reply
}

#[test]
fn hooks_and_daemon_exchange_versions_and_status_shows_them() {
    let served = RunningDaemon::new();
    let socket = served.socket();
    let payload = served.test.bash("ls");
    // 0.1.0 does not know the line with the daemon's version.
    assert_eq!(call_over_th1(&socket, "PreToolUse", "version 0.0.7\n", &payload), "TH1 reply 0 0 0\n");
    let answered =
        call_over_th1(&socket, "PreToolUse", &format!("version {VERSION}\nrevision 2\n"), &payload);
    assert_eq!(answered, format!("TH1 version {VERSION}\nTH1 reply 0 0 0\n"));
    let newer = call_over_th1(&socket, "PreToolUse", "revision 9\nversion 9.9.9\nmore x\n", &payload);
    assert_eq!(newer, answered, "a newer hook is answered in the revision that the daemon speaks");

    let start =
        json!({"session_id": "s", "cwd": "/", "hook_event_name": "SessionStart", "source": "startup"});
    let told = call_over_th1(&socket, "SessionStart", "version 0.0.7\n", &start.to_string());
    assert!(
        told.contains("the hooks are version 0.0.7") && told.contains("tenterhook self refresh"),
        "{told}"
    );
    let quiet = call_over_th1(&socket, "SessionStart", &format!("version {VERSION}\n"), &start.to_string());
    assert!(!quiet.contains("self refresh"), "{quiet}");

    let status = served.test.run(&["status", "--json"]).json();
    let versions = &status["versions"];
    assert_eq!((&versions["program"], &versions["daemon"]), (&json!(VERSION), &json!(VERSION)));
    let calls = |version: &str| {
        let rows = versions["callers"].as_array().unwrap();
        rows.iter().find(|row| row["version"] == version).map(|row| row["calls"].clone())
    };
    assert_eq!(
        (calls("0.0.7"), calls("9.9.9"), calls(VERSION)),
        (Some(json!(2)), Some(json!(1)), Some(json!(2)))
    );
    let text = served.test.run(&["status"]).stdout;
    assert!(text.contains(&format!("program {VERSION}, hooks not installed, daemon {VERSION}")), "{text}");
    assert!(text.contains("0.0.7 (2 calls)"), "{text}");
    let doctor = served.test.run(&["doctor"]).stdout;
    assert!(doctor.contains("called 2 times by hooks of version 0.0.7"), "{doctor}");
    let info = served.test.run(&["self", "info", "--json"]).json();
    assert_eq!(info["versions"]["daemon"], VERSION);
}

#[test]
fn the_status_line_names_a_daemon_of_another_version() {
    let test = TestContext::new();
    install(&test);
    std::fs::create_dir_all(test.home().join("run")).unwrap();
    let listener = UnixListener::bind(test.home().join("run/tenterhook.sock")).unwrap();
    for (answer, line) in [
        ("TH1 status ok\n".to_owned(), "Tenterhook ⚠ the daemon is older than the hooks\n".to_owned()),
        (
            "TH1 version 9.9.9\nTH1 status ok\n".to_owned(),
            format!("Tenterhook ⚠ daemon 9.9.9, hooks {VERSION}\n"),
        ),
        (format!("TH1 version {VERSION}\nTH1 status ok\n"), "Tenterhook ✓\n".to_owned()),
    ] {
        let said = std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut stream = listener.accept().unwrap().0;
                let mut room = [0; 64];
                let _ = stream.read(&mut room).unwrap();
                stream.write_all(answer.as_bytes()).unwrap();
            });
            let program = test.home().join("bin/tenterhook-status");
            test.run_command(test.command(&program, &[]), b"{}").stdout
        });
        assert_eq!(said, line);
    }
}

/// Every file below a directory, with its content and modification time.
fn files_below(dir: &Path) -> BTreeMap<PathBuf, (Vec<u8>, i64)> {
    let mut found = BTreeMap::new();
    let mut left = vec![dir.to_owned()];
    while let Some(dir) = left.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let entry = entry.unwrap();
            let metadata = entry.metadata().unwrap();
            if metadata.is_dir() {
                left.push(entry.path());
            } else if metadata.len() < 1 << 20 {
                let changed = metadata.mtime() * 1_000_000_000 + metadata.mtime_nsec();
                found.insert(entry.path(), (std::fs::read(entry.path()).unwrap(), changed));
            }
        }
    }
    found
}

#[test]
fn a_newer_state_directory_is_refused_by_every_command_and_by_hooks_and_stays_as_it_is() {
    let test = TestContext::new();
    install(&test);
    call_hook(&test, "claude-code", "pre-tool-use", &test.bash("ls"));
    assert_eq!(test.run(&["ledger", "verify"]).exit, 0);
    std::fs::write(test.home().join("format.json"), NEWER_FORMAT_FILE).unwrap();
    let before = files_below(&test.home());
    let settings = std::fs::read(test.path("person/.claude/settings.json")).unwrap();

    for command in [
        "status",
        "doctor",
        "check",
        "serve --listen none",
        "start",
        "stop",
        "restart",
        "ledger verify",
        "ledger query",
        "ledger stats",
        "sessions list",
        "approvals list",
        "rules list",
        "policy show",
        "hooks list",
        "mode",
        "mode monitor",
        "install claude-code --yes",
        "uninstall --all --yes",
        "self refresh",
        "self refresh --check",
        "agent list",
        "totp enroll",
        "explain last",
        "dashboard --print",
        "service print",
    ] {
        let ran = test.run(&command.split(' ').collect::<Vec<_>>());
        assert_ne!(ran.exit, 0, "{command}: {}", ran.stdout);
        let said = format!("written by Tenterhook 9.9.9 (state format 99); this is Tenterhook {VERSION}");
        assert!(ran.stderr.contains(&said), "{command}: {}", ran.stderr);
    }
    // The hook denies every call that can be denied, and gives the reason.
    for program in ["bin/tenterhook-hook", "bin/tenterhook"] {
        let mut args = vec!["claude-code", "pre-tool-use"];
        if program == "bin/tenterhook" {
            args.insert(0, "hook");
        }
        let ran =
            test.run_command(test.command(&test.home().join(program), &args), test.bash("ls").as_bytes());
        // Exit code 2 blocks the call, and the model reads the reason.
        assert_eq!((ran.exit, ran.stdout.as_str()), (2, ""), "{program}: {}", ran.stderr);
        assert!(ran.stderr.contains("Install Tenterhook 9.9.9 or newer"), "{program}: {}", ran.stderr);
    }
    // These commands print how to upgrade.
    let info = test.run(&["self", "info"]);
    assert_eq!(info.exit, 0);
    assert!(info.stdout.contains("upgrade with") && info.stdout.contains("9.9.9"), "{}", info.stdout);

    let after = files_below(&test.home());
    let changed: Vec<_> =
        after.iter().filter(|(path, file)| before.get(*path) != Some(*file)).map(|(path, _)| path).collect();
    assert!(changed.is_empty() && before.len() == after.len(), "{changed:?}");
    assert_eq!(std::fs::read(test.path("person/.claude/settings.json")).unwrap(), settings);
}

#[test]
fn newer_hook_programs_are_not_replaced_by_older_ones() {
    let test = TestContext::new();
    install(&test);
    let mark = std::fs::read_to_string(test.home().join("home.json")).unwrap();
    assert!(mark.contains(&format!("\"version\": \"{VERSION}\"")), "{mark}");
    std::fs::write(test.home().join("home.json"), mark.replace(VERSION, "9.9.9")).unwrap();
    let copy = other_build(&test, "home/bin/tenterhook");
    for args in
        [&["self", "refresh"][..], &["self", "refresh", "--check"], &["install", "claude-code", "--yes"]]
    {
        let ran = test.run_on_terminal(args);
        assert_eq!(ran.exit, 1, "{args:?}: {}", ran.stdout);
        assert!(ran.stderr.contains("version 9.9.9, newer than this program"), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("a downgrade is refused"), "{args:?}: {}", ran.stderr);
    }
    assert!(!same_bytes(&copy, Path::new(PROGRAM)));
    let status = test.run(&["status"]).stdout;
    assert!(status.contains("the hooks (9.9.9) are newer than this program"), "{status}");
}

#[test]
fn a_note_follows_commands_on_a_terminal_while_hooks_are_old() {
    let test = TestContext::new();
    install(&test);
    let mark = test.home().join("home.json");
    let text = std::fs::read_to_string(&mark).unwrap();
    let on_terminal = |args: &[&str]| {
        let (mut master, slave) = terminal();
        let mut command = test.command(Path::new(PROGRAM), args);
        command.stdin(Stdio::null()).stdout(slave.try_clone().unwrap()).stderr(slave);
        let mut child = command.spawn().unwrap();
        drop(command);
        let mut said = Vec::new();
        // Reading fails once the other side has closed.
        let _ = master.read_to_end(&mut said);
        assert!(child.wait().unwrap().success());
        String::from_utf8_lossy(&said).into_owned()
    };
    let note = "are older than this program";
    assert!(!on_terminal(&["rules", "list"]).contains(note));
    std::fs::write(&mark, text.replace(VERSION, "0.0.1")).unwrap();
    let said = on_terminal(&["rules", "list"]);
    assert!(said.contains(note) && said.contains("run `tenterhook self refresh`"), "{said}");
    assert!(!on_terminal(&["rules", "list", "--json"]).contains(note));
    assert!(!test.run(&["rules", "list"]).stderr.contains(note), "programs read this");
}
