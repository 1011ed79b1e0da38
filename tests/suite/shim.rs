// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The installed `tenterhook-hook` with servers that speak TH1 correctly, incorrectly or not at all. The harness
//! always gets a valid reply in time, and a decision that the hook makes itself is written to the spool once.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tenterhook_test_support::{assert_no_hang, assert_waited};

use tenterhook_shim::wire::{self, ClientRequest, DaemonMessage};

use crate::context::{CommandOutput, TestContext};

const DENIED: &str = "permissionDecision\":\"deny";

/// Tenterhook, installed into a state directory.
struct InstalledHook {
    test: TestContext,
    home: PathBuf,
}

impl InstalledHook {
    fn new() -> Self {
        Self::at("home")
    }

    fn at(name: &str) -> Self {
        let test = TestContext::new();
        let home = test.path(name);
        std::fs::create_dir_all(&home).unwrap();
        let said = home.to_str().unwrap();
        let ran = test.run(&["--home", said, "install", "claude-code", "--yes"]);
        assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
        Self { test, home }
    }

    fn command(&self) -> Command {
        let program = self.home.join("bin/tenterhook-hook");
        let mut command = self.test.command(&program, &["claude-code", "pre-tool-use"]);
        // The environment must not change the state directory of an installed program.
        command.env("TENTERHOOK_HOME", "/nowhere").env("TENTERHOOK_DAEMON_URL", "unix:/nowhere");
        command
    }

    fn hook(&self, command: &str) -> CommandOutput {
        self.test.run_command(self.command(), self.test.bash(command).as_bytes())
    }

    fn listen(&self) -> UnixListener {
        std::fs::create_dir_all(self.home.join("run")).unwrap();
        // The path may be too long for a socket address, so the test uses `/proc/self/fd`, as the shim does.
        let dir = std::fs::File::open(self.home.join("run")).unwrap();
        let number = std::os::fd::AsRawFd::as_raw_fd(&dir);
        UnixListener::bind(format!("/proc/self/fd/{number}/tenterhook.sock")).unwrap()
    }

    /// Decisions in the spool.
    fn spooled(&self) -> Vec<serde_json::Value> {
        let Ok(files) = std::fs::read_dir(self.home.join("spool")) else { return Vec::new() };
        let read = |path: PathBuf| {
            let text = std::fs::read_to_string(path).unwrap();
            let line: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
            let fields = format!("{{{}}}", line["fields"].as_str().unwrap());
            (line["kind"] == "decision").then(|| {
                let mut fields: serde_json::Value = serde_json::from_str(&fields).unwrap();
                fields["id"] = line["id"].clone();
                fields
            })
        };
        files.filter_map(|file| read(file.unwrap().path())).collect()
    }

    /// Checks that the hook itself denies a dangerous call and lets a harmless one pass; `why` names the case.
    fn assert_decides_itself(&self, why: &str) {
        let denied = self.hook("rm -rf /");
        assert!(denied.stdout.contains(DENIED), "{why}: {}{}", denied.stdout, denied.stderr);
        let spooled = self.spooled();
        assert_eq!(spooled.len(), 1, "{why}");
        let facts = &spooled[0]["facts"];
        assert!(facts["fallback"].as_str().unwrap().contains(why), "{facts}");
        assert_eq!(facts["rules"], "the snapshot", "{facts}");
    }
}

/// Listens with a queue for this many unaccepted connections.
fn listen_with_queue(path: &Path, room: i32) -> rustix::fd::OwnedFd {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind, listen, socket};
    let listener = socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
    bind(&listener, &SocketAddrUnix::new(path).unwrap()).unwrap();
    listen(&listener, room).unwrap();
    listener
}

/// Opens a connection without waiting, and returns whether the listener's queue had room for it.
fn is_let_in(path: &Path) -> bool {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
    let flags = SocketFlags::NONBLOCK;
    let caller = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).unwrap();
    connect(&caller, &SocketAddrUnix::new(path).unwrap()).is_ok()
}

/// Reads one request and returns its id and payload.
fn read_request(stream: &mut UnixStream) -> (String, Vec<u8>) {
    let mut bytes = Vec::new();
    let mut room = vec![0; 65536];
    loop {
        let count = stream.read(&mut room).unwrap();
        assert!(count > 0, "the request is cut short");
        bytes.extend(&room[..count]);
        if let Some((ClientRequest::Hook(request), header)) = ClientRequest::read(&bytes).unwrap()
            && bytes.len() >= header + request.payload_len
        {
            assert_eq!((request.harness, request.event), ("claude-code", "pre-tool-use"));
            return (request.id.to_owned(), bytes[header..].to_vec());
        }
    }
}

/// Serves one call.
fn serve_one<T>(
    installed: &InstalledHook,
    answer: impl FnOnce(&mut UnixStream, &[u8]) + Send,
    call: impl FnOnce() -> T,
) -> (T, String) {
    let listener = installed.listen();
    std::thread::scope(|scope| {
        let server = scope.spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let (id, payload) = read_request(&mut stream);
            answer(&mut stream, &payload);
            id
        });
        let result = call();
        (result, server.join().unwrap())
    })
}

#[test]
fn a_reply_is_passed_on_to_the_byte() {
    let installed = InstalledHook::new();
    let (ran, id) = serve_one(
        &installed,
        |stream, payload| {
            assert!(payload.ends_with(b"\"tool_use_id\":\"t-1\"}"));
            stream.write_all(&DaemonMessage::whole(2, "out ✓\n\nno newline".as_bytes(), b"err\n")).unwrap();
        },
        || installed.hook("ls"),
    );
    assert_eq!((ran.exit, &*ran.stdout, &*ran.stderr), (2, "out ✓\n\nno newline", "err\n"));
    assert!(id.parse::<tenterhook_event::EventId>().is_ok(), "{id}");
    assert!(installed.spooled().is_empty());
}

#[test]
fn an_unread_reply_becomes_an_exit_code_that_blocks() {
    let installed = InstalledHook::new();
    let (ended, _) = serve_one(
        &installed,
        |stream, _| stream.write_all(&DaemonMessage::whole(0, b"no", b"")).unwrap(),
        || {
            let mut command = installed.command();
            let (reader, writer) = std::io::pipe().unwrap();
            drop(reader);
            let mut child = command.stdin(Stdio::piped()).stdout(writer).spawn().unwrap();
            child.stdin.take().unwrap().write_all(installed.test.bash("ls").as_bytes()).unwrap();
            child.wait().unwrap()
        },
    );
    assert_eq!(ended.code(), Some(2), "a signal would let the call pass: {ended}");
}

#[test]
fn a_daemon_that_needs_time_is_waited_for() {
    let installed = InstalledHook::new();
    let (ran, _) = serve_one(
        &installed,
        |stream, _| {
            for _ in 0..4 {
                stream.write_all(b"TH1 wait\n").unwrap();
                std::thread::sleep(Duration::from_millis(700));
            }
            let reply = DaemonMessage::whole(0, b"late", b"");
            for byte in reply {
                stream.write_all(&[byte]).unwrap();
            }
        },
        || installed.hook("rm -rf /"),
    );
    assert_eq!((ran.exit, &*ran.stdout), (0, "late"));
    assert!(installed.spooled().is_empty());
}

#[test]
fn after_an_invalid_answer_the_hook_decides_itself() {
    let answers: [(&str, &[u8]); 7] = [
        ("hung up", b""),
        ("hung up", b"TH1 reply 0 20 0\nonly a part"),
        ("longer than it says", b"TH1 reply 0 2 0\nmore than that"),
        ("cannot be read", b"HTTP/1.1 200 OK\r\n\r\n"),
        ("cannot be read", b"TH1 reply 999 0 0\n"),
        ("draining", b"TH1 wait\nTH1 fallback draining\n"),
        ("something else", b"TH1 status ok\n"),
    ];
    for (why, answer) in answers {
        let installed = InstalledHook::new();
        let ((), id) = serve_one(
            &installed,
            |stream, _| stream.write_all(answer).unwrap(),
            || installed.assert_decides_itself(why),
        );
        assert_eq!(installed.spooled()[0]["id"], id, "one id for one event");
    }
}

#[test]
fn a_silent_daemon_is_not_waited_for_long() {
    let installed = InstalledHook::new();
    let listener = installed.listen();
    let started = Instant::now();
    // The listener accepts no connection, as if the daemon process were paused.
    installed.assert_decides_itself("the daemon is silent");
    assert_waited(started, Duration::from_secs(2));
    drop(listener);
    // The socket file remains, but no process listens on it.
    let installed = InstalledHook::new();
    drop(installed.listen());
    installed.assert_decides_itself("no daemon");
}

#[test]
fn a_daemon_that_accepts_no_connection_does_not_block_a_hook() {
    let installed = InstalledHook::new();
    std::fs::create_dir_all(installed.home.join("run")).unwrap();
    let socket = installed.home.join("run/tenterhook.sock");
    let listener = listen_with_queue(&socket, 1);
    // Unaccepted connections wait in the kernel's queue. They are opened until the queue is full.
    while is_let_in(&socket) {}
    let started = Instant::now();
    installed.assert_decides_itself("the daemon is silent");
    assert_waited(started, Duration::from_secs(2));
    let status = installed.test.command(&installed.home.join("bin/tenterhook-status"), &[]);
    let said = installed.test.run_command(status, b"");
    assert_eq!(said.stdout, "Tenterhook ⚠ daemon offline\n");
    drop(listener);
}

#[test]
fn a_daemon_that_asks_to_wait_forever_is_abandoned_in_time() {
    let installed = InstalledHook::new();
    let listener = installed.listen();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        while stream.write_all(b"TH1 wait\n").is_ok() {
            std::thread::sleep(Duration::from_millis(500));
        }
    });
    let mut command = installed.command();
    command.args(["--within", "3"]);
    let started = Instant::now();
    let ran = installed.test.run_command(command, installed.test.bash("rm -rf /").as_bytes());
    assert!(ran.stdout.contains(DENIED), "{}{}", ran.stdout, ran.stderr);
    assert_waited(started, Duration::from_secs(2));
    assert_eq!(installed.spooled().len(), 1);
}

// seed: 001-007
#[test]
fn without_a_daemon_the_rules_apply_in_any_home() {
    for name in ["home", "two words and it's \"quoted\" $HOME", &format!("deep/{}", "d".repeat(120))] {
        let installed = InstalledHook::at(name);
        installed.assert_decides_itself("no daemon");
        let ran = installed.hook("ls");
        assert_eq!((ran.exit, &*ran.stdout, &*ran.stderr), (0, "", ""), "{name}");
        let (ran, _) = serve_one(
            &installed,
            |stream, _| stream.write_all(&DaemonMessage::whole(0, b"here", b"")).unwrap(),
            || installed.hook("ls"),
        );
        assert_eq!(ran.stdout, "here", "{name}");
    }
}

#[test]
fn a_large_payload_goes_both_ways() {
    let installed = InstalledHook::new();
    let large = installed.test.bash(&format!("echo {}; rm -rf /", "x".repeat(3 << 20)));
    let call = || installed.test.run_command(installed.command(), large.as_bytes());
    let (ran, _) = serve_one(
        &installed,
        |stream, payload| {
            assert!(payload == large.as_bytes());
            stream.write_all(&DaemonMessage::whole(0, &vec![b'y'; 1 << 20], b"")).unwrap();
        },
        call,
    );
    assert_eq!(ran.stdout.len(), 1 << 20);
    // The command is too long to be parsed: the user is asked.
    let ran = call();
    assert!(ran.stdout.contains("permissionDecision\":\"ask"), "{}{}", ran.stdout, ran.stderr);
    assert_eq!(installed.spooled().len(), 1);
}

#[test]
fn standard_input_that_stays_open_is_refused_in_time() {
    let installed = InstalledHook::new();
    let mut command = installed.command();
    command.args(["--within", "2"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let started = Instant::now();
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"{\"hook_event_name\":\"PreToolUse\"").unwrap();
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("standard input cannot be read: timed out"), "{said}");
    assert_eq!((output.status.code(), &*output.stdout), (Some(2), &b""[..]));
    assert_no_hang(started, "a hook whose standard input stays open");
    assert_eq!(installed.spooled().len(), 1);
}

// seed: 001-016
#[test]
fn without_the_full_program_nothing_passes_where_tenterhook_is_installed() {
    let installed = InstalledHook::new();
    std::fs::remove_file(installed.home.join("bin/tenterhook")).unwrap();
    let ran = installed.hook("ls");
    assert_eq!((ran.exit, &*ran.stdout), (2, ""));
    assert!(ran.stderr.contains("cannot be judged") && ran.stderr.contains("hint"), "{}", ran.stderr);
    // Without an installation, the hook program has nothing to protect and does not block the call.
    std::fs::remove_file(installed.home.join("home.json")).unwrap();
    let ran = installed.hook("ls");
    assert_eq!((ran.exit, &*ran.stdout, &*ran.stderr), (0, "", ""));
    let program = installed.home.join("bin/tenterhook-hook");
    let cursor = installed.test.command(&program, &["cursor", "beforeShellExecution"]);
    let ran = installed.test.run_command(cursor, b"{}");
    assert_eq!((ran.exit, &*ran.stdout, &*ran.stderr), (0, "{\"permission\":\"allow\"}\n", ""));
}

#[test]
fn the_full_program_reports_invalid_arguments() {
    let installed = InstalledHook::new();
    let program = installed.home.join("bin/tenterhook-hook");
    let ran = installed.test.run_command(installed.test.command(&program, &["claude-code"]), b"");
    assert!(ran.exit == 2 && ran.stderr.contains("<EVENT>"), "{}", ran.stderr);
    let ran = installed.test.run_command(installed.test.command(&program, &["nobody", "stop"]), b"{}");
    assert!(ran.exit == 2 && ran.stderr.contains("unknown harness `nobody`"), "{}", ran.stderr);
}

#[test]
fn the_typed_hook_asks_the_daemon_as_well() {
    let installed = InstalledHook::new();
    let (ran, _) = serve_one(
        &installed,
        |stream, _| stream.write_all(&DaemonMessage::whole(2, b"typed", b"")).unwrap(),
        || {
            let payload = installed.test.bash("ls");
            installed.test.run_with(&["hook", "claude-code", "pre-tool-use"], payload.as_bytes())
        },
    );
    assert_eq!((ran.exit, &*ran.stdout), (2, "typed"));
}

/// Tests the lookups in the table that `generated::harness_rows_of_the_shim` writes.
#[test]
fn the_shim_and_the_harness_table_agree() {
    use tenterhook_shim::call::{is_headless, neutral_reply, project_variable};
    assert_eq!(wire::MAX_PAYLOAD_BYTES, tenterhook_harness::MAX_PAYLOAD_BYTES);
    for harness in tenterhook_harness::HARNESSES {
        assert_eq!(project_variable(harness.id), harness.project_variable, "{}", harness.id);
        let sign = harness.headless_sign;
        let variable = |name: &str| sign.filter(|sign| sign.0 == name).map(|(_, value)| value.into());
        assert_eq!(is_headless(harness.id, variable), sign.is_some(), "{}", harness.id);
        assert!(!is_headless(harness.id, |_| Some("cli".into())), "{}", harness.id);
        let natives = harness.events.iter().map(|row| tenterhook_harness::to_kebab_case(row.native));
        for event in natives.chain(["an-event-of-tomorrow".to_owned()]) {
            let expected = harness.neutral(&event).stdout;
            assert_eq!(neutral_reply(harness.id, &event), expected, "{} {event}", harness.id);
        }
    }
}

#[test]
fn the_small_programs_are_static_and_small() {
    let installed = InstalledHook::new();
    for name in ["tenterhook-hook", "tenterhook-status"] {
        let bytes = std::fs::read(installed.home.join("bin").join(name)).unwrap();
        assert!(bytes.len() < 2 << 20, "{}", bytes.len());
        if cfg!(target_os = "linux") {
            assert!(!needs_interpreter(&bytes), "{name} is linked dynamically");
        }
    }
}

/// Whether a 64-bit ELF file names an interpreter.
fn needs_interpreter(bytes: &[u8]) -> bool {
    let number = |at: usize, length: usize| {
        let mut padded = [0; 8];
        padded[..length].copy_from_slice(&bytes[at..at + length]);
        usize::try_from(u64::from_le_bytes(padded)).unwrap()
    };
    let (start, size, count) = (number(32, 8), number(54, 2), number(56, 2));
    (0..count).any(|index| number(start + index * size, 4) == 3)
}
