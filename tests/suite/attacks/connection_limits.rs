// SPDX-License-Identifier: Apache-2.0 OR MIT

//! One account or program cannot exhaust the resources that others need: connections, memory, waiting calls, hooks.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tenterhook_client::Hook;
use tenterhook_client::proto::ErrorCode;

use crate::context::TestContext;
use crate::daemon::{HANG_TIMEOUT, RunningDaemon, until};
use crate::sdk::{code, run};
use crate::system::{STRANGER, SystemHome, as_stranger, is_root};
use crate::terminal_user::SocketDaemon;

const ASK_RULES: &str =
    "version: 1\nrules:\n  - {id: asks, match: {shell: {program: terraform}}, verdict: ask}\n";

/// Sends only a part of a TH1 request.
fn send_request(
    socket: &Path,
    harness: &str,
    id: u64,
    within: &str,
    announced: usize,
    sent: &[u8],
) -> UnixStream {
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.set_read_timeout(Some(HANG_TIMEOUT)).unwrap();
    let head = format!("TH1 hook {harness} PreToolUse 01K{id:023} {within} {announced}\nversion 0.1.0\n\n");
    // The daemon does not read a refused request to its end.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(sent));
    stream
}

fn call(command: &str, session: &str) -> Vec<u8> {
    let call = json!({
        "session_id": session, "hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": "/",
        "tool_input": {"command": command}, "tool_use_id": "t",
    });
    call.to_string().into_bytes()
}

fn send_whole_call(socket: &Path, harness: &str, id: u64, within: &str, command: &str) -> UnixStream {
    let payload = call(command, "s");
    send_request(socket, harness, id, within, payload.len(), &payload)
}

fn read_reply(mut stream: UnixStream) -> String {
    let mut reply = String::new();
    let _ = stream.read_to_string(&mut reply);
    reply
}

/// Memory of a process, in bytes.
fn resident_bytes(pid: rustix::process::Pid) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", pid.as_raw_nonzero())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

#[test]
fn unfinished_questions_take_a_bounded_amount_of_memory() {
    let served = RunningDaemon::new();
    let part = vec![b' '; 31_000_000];
    let before = resident_bytes(served.pid());
    let open: Vec<_> = std::thread::scope(|scope| {
        let ask = |n| send_request(&served.socket(), "codex", n, "5000", 32_000_000, &part);
        let asking: Vec<_> = (0..24).map(|n| scope.spawn(move || ask(n))).collect();
        asking.into_iter().map(|asked| asked.join().unwrap()).collect()
    });
    let grown = resident_bytes(served.pid()).saturating_sub(before);
    assert!(grown < 400_000_000, "24 requests of 31 MB use {} MB", grown / 1_000_000);
    let reply = read_reply(send_whole_call(&served.socket(), "codex", 99, "5000", "ls"));
    assert!(reply.starts_with("TH1 reply"), "small calls are still answered: {reply}");
    drop(open);
}

/// A machine-wide daemon that may open 512 files.
fn serve_with_few_files(system: &SystemHome) -> SocketDaemon<'_> {
    let limited = "ulimit -Sn 512; ulimit -Hn 512; exec \"$0\" \"$@\"";
    let program = env!("CARGO_BIN_EXE_tenterhook");
    let words = ["-c", limited, program, "--system", "serve", "--listen", "none"];
    SocketDaemon::with(&system.test, system.test.command(Path::new("/bin/sh"), &words))
}

#[test]
fn an_account_with_many_silent_or_large_connections_leaves_room_for_others() {
    if !is_root() {
        return;
    }
    let system = SystemHome::new();
    let _guard = serve_with_few_files(&system);
    let socket = system.socket();
    let open = as_stranger(|| {
        let silent = (0..600).map_while(|_| UnixStream::connect(&socket).ok());
        let large = (0..40).map(|n| send_request(&socket, "codex", n, "5000", 32_000_000, b"{"));
        silent.chain(large).collect::<Vec<_>>()
    });
    assert!(open.len() >= 600, "{}", open.len());
    let padding = " ".repeat(1_000_000);
    for (id, command) in [(100, "make all".to_owned()), (101, format!("make all {padding}"))] {
        let reply = read_reply(send_whole_call(&socket, "codex", id, "5000", &command));
        // The reply comes from the daemon: it arrives before the five seconds after which the hook would decide itself.
        assert!(reply.contains("deny") && !reply.starts_with("TH1 fallback"), "another account: {reply}");
    }
    drop(open);
}

#[test]
fn an_account_with_many_waiting_calls_leaves_room_for_others() {
    if !is_root() {
        return;
    }
    let system = SystemHome::new();
    system.test.write_system(ASK_RULES);
    let guard = system.serve();
    let socket = system.socket();
    let waiting = || {
        let (status, list) = crate::terminal_user::request(&socket, "GET", "/v1/approvals", &Value::Null);
        assert_eq!(status, 200, "{list}");
        list["pending"].as_array().unwrap().len()
    };
    let theirs = as_stranger(|| {
        (0..300).map(|n| send_whole_call(&socket, "codex", n, "60000", "terraform apply")).collect::<Vec<_>>()
    });
    until("their calls wait", || (waiting() >= 200).then_some(()));
    let ours = send_whole_call(&socket, "codex", 1000, "60000", "terraform apply");
    let is_ours = |card: &Value| card["user"] != json!(tenterhook_home::env::account_name(STRANGER));
    until("our call waits as well", || {
        let (_, list) = crate::terminal_user::request(&socket, "GET", "/v1/approvals", &Value::Null);
        list["pending"].as_array().unwrap().iter().any(is_ours).then_some(())
    });
    assert!(waiting() < 300, "one account has a limited share");
    drop((theirs, ours, guard));
}

#[test]
fn a_call_does_not_wait_longer_than_a_hook_does() {
    let test = TestContext::new();
    test.write("home/policy.yaml", ASK_RULES);
    let served = RunningDaemon::in_home(test, &[]);
    let _open = send_whole_call(&served.socket(), "codex", 7, &u64::MAX.to_string(), "terraform apply");
    let card = until("the call waits", || {
        let card = served.json("/v1/approvals")["pending"][0].clone();
        card["id"].is_string().then_some(card)
    });
    let ms = |key: &str| {
        let ts: tenterhook_event::Timestamp = card[key].as_str().unwrap().parse().unwrap();
        ts.unix_ms()
    };
    assert!(ms("until") - ms("since") <= 60_000, "{card}");
}

/// An HTTP/2 connection without a token: the preface, empty settings, and a reply to every ping.
fn idle_http2(served: &RunningDaemon) -> TcpStream {
    let mut stream = TcpStream::connect(served.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").unwrap();
    stream
}

#[test]
fn http2_connections_without_a_token_are_closed_even_if_alive() {
    let served = RunningDaemon::new();
    let mut stream = idle_http2(&served);
    let began = Instant::now();
    // A ping every 200 ms keeps the HTTP/2 connection alive.
    let ping = b"\0\0\x08\x06\0\0\0\0\0abcdefgh";
    let closed = loop {
        let mut bytes = [0; 1024];
        match stream.read(&mut bytes) {
            Ok(0) => break true,
            Err(error)
                if !matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) =>
            {
                break true;
            }
            _ => {}
        }
        let _ = stream.write_all(ping);
        if began.elapsed() > Duration::from_secs(40) {
            break false;
        }
    };
    assert!(closed, "it is still open after {:?}", began.elapsed());
    assert_eq!(served.get("/v1/health").status, 200);
}

#[test]
fn another_accounts_tcp_connections_leave_room_for_the_dashboard() {
    if !is_root() {
        return;
    }
    let served = RunningDaemon::new();
    let open = as_stranger(|| (0..1100).map(|_| idle_http2(&served)).collect::<Vec<_>>());
    assert_eq!(served.get("/v1/health").status, 200);
    drop(open);
}

#[test]
fn a_program_with_many_hooks_leaves_room_for_others() {
    let served = RunningDaemon::new();
    run(async {
        // A program chooses its client ids, so the hooks of all its ids are counted together.
        let (one, two) = (served.program("greedy"), served.program("greedy"));
        let mut refused = None;
        for n in 0..60 {
            let client = if n % 2 == 0 { &one } else { &two };
            if let Err(error) = client.register(Hook::on("PreToolUse")).await {
                refused = Some(error);
                break;
            }
        }
        assert_eq!(code(&refused.unwrap()), ErrorCode::ErrorLimit);
        let other = served.far_program();
        other.register(Hook::on("PreToolUse")).await.unwrap();
    });
}
