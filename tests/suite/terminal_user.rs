// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A user on a terminal, and a daemon that checks privileged actions.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::context::{CommandOutput, TestContext};
pub(crate) use tenterhook_test_support::{HANG_TIMEOUT, wait_until as until};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tenterhook");

/// Waits for a line, runs the given command, and stores its exit code and output.
const RUN_AND_STORE_SCRIPT: &str =
    r#"read -r go; at=$1; shift; "$@" >"$at.out" 2>"$at.err"; echo $? >"$at.tmp"; mv "$at.tmp" "$at.code""#;

impl TestContext {
    /// Runs the program on a terminal in its own session and answers its prompts. The program does not descend from
    /// the test process, which is treated as an agent as soon as it has called a hook.
    pub(crate) fn run_on_terminal(&self, args: &[&str]) -> CommandOutput {
        self.run_on_terminal_answering(args, |asked| asked)
    }

    /// Like [`TestContext::run_on_terminal`], but `answer` chooses the answers to prompts.
    pub(crate) fn run_on_terminal_answering(
        &self,
        args: &[&str],
        answer: impl Fn(String) -> String,
    ) -> CommandOutput {
        let at = self.path(&format!("person-{}", next_number()));
        let (master, slave) = terminal();
        let mut command = self.command(
            Path::new("/usr/bin/setsid"),
            &["--fork", "--ctty", "sh", "-c", RUN_AND_STORE_SCRIPT, "sh"],
        );
        command.arg(&at).arg(PROGRAM).args(args).stdin(slave).stdout(Stdio::null()).stderr(Stdio::null());
        assert!(command.status().unwrap().success(), "setsid (util-linux) is needed");
        // From here on no ancestor of the command is a process of the test.
        let mut writer = master.try_clone().unwrap();
        writer.write_all(b"go\n").unwrap();
        let (send, asked) = std::sync::mpsc::channel();
        std::thread::spawn(move || forward_prompts(master, &send));
        until("the command on the terminal ends", || {
            if let Ok(asked) = asked.try_recv() {
                writer.write_all((answer(asked) + "\n").as_bytes()).unwrap();
            }
            at.with_extension("code").exists().then_some(())
        });
        let read = |name| self.normalize(&std::fs::read_to_string(at.with_extension(name)).unwrap());
        CommandOutput { stdout: read("out"), stderr: read("err"), exit: read("code").trim().parse().unwrap() }
    }

    /// The latest recorded change.
    pub(crate) fn last_change(&self) -> Value {
        let leaves = self.records();
        let changes =
            leaves.into_iter().rev().find(|leaf| leaf["kind"] == "change" && leaf["what"] != "generation");
        changes.unwrap_or_else(|| panic!("nothing was recorded"))
    }

    /// Sets up codes and returns the secret from which codes are computed.
    pub(crate) fn enroll(&self) -> Vec<u8> {
        let enrolled = self.run_on_terminal(&["totp", "enroll", "--json"]);
        assert_eq!(enrolled.exit, 0, "{}", enrolled.stderr);
        let secret =
            tenterhook_authority::totp::decode_base32(enrolled.json()["secret"].as_str().unwrap()).unwrap();
        // Uses the code of the previous time step, so that the current code stays unused. The previous code is valid
        // until the current step ends, so the test first makes sure that the current step lasts long enough.
        until("the step lasts long enough", || {
            let in_step =
                tenterhook_home::call_meta::now_ms() / 1000 % tenterhook_authority::totp::STEP_SECONDS;
            (in_step < 25).then_some(())
        });
        let ran = self.run_on_terminal(&["totp", "verify", &code(&secret, -1)]);
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
        secret
    }
}

/// The code that is `steps` time steps after the current one, or before it if `steps` is negative.
pub(crate) fn code(secret: &[u8], steps: i64) -> String {
    use tenterhook_authority::totp;
    let step = totp::step_at(tenterhook_home::call_meta::now_ms()).saturating_add_signed(steps);
    totp::code_at(secret, step).unwrap()
}

/// Starts a daemon and returns its first line once it is ready.
pub(crate) fn spawn_daemon(test: &TestContext, mut command: Command) -> (Child, String) {
    let log = File::create(test.path("serve.log")).unwrap();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log).spawn().unwrap();
    let mut ready = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut ready).unwrap();
    let log = || std::fs::read_to_string(test.path("serve.log")).unwrap();
    assert!(ready.starts_with("ready"), "it did not start: {ready}{}", log());
    (child, ready.trim_end().to_owned())
}

/// A daemon that uses the state directory of a test. It ends when dropped.
pub(crate) struct SocketDaemon<'a> {
    pub(crate) test: &'a TestContext,
    child: Child,
}

impl<'a> SocketDaemon<'a> {
    pub(crate) fn of(test: &'a TestContext) -> Self {
        Self::with(test, test.command(Path::new(PROGRAM), &["serve", "--listen", "none"]))
    }

    pub(crate) fn with(test: &'a TestContext, command: Command) -> Self {
        Self { test, child: spawn_daemon(test, command).0 }
    }

    /// Sends one request from this process over the socket.
    pub(crate) fn request(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        request(&self.test.home().join("run/tenterhook.sock"), method, path, body)
    }

    /// Like [`SocketDaemon::request`], on the condition that the resource is unchanged.
    pub(crate) fn request_if_match(
        &self,
        seen: &str,
        method: &str,
        path: &str,
        body: &Value,
    ) -> (u16, Value) {
        let socket = self.test.home().join("run/tenterhook.sock");
        request_with_headers(&socket, method, path, &format!("If-Match: {seen}\r\n"), body)
    }

    /// Makes one hook call from the test process, which is then treated as an agent.
    pub(crate) fn hook(&self, harness: &str, event: &str, payload: &Value) -> Value {
        let (status, reply) = self.request("POST", &format!("/v1/hooks/{harness}/{event}"), payload);
        assert_eq!(status, 200, "{reply}");
        reply
    }

    /// Sends a signal, as any process of the account can.
    pub(crate) fn send_signal(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process(rustix::process::Pid::from_child(&self.child), signal).unwrap();
    }

    /// Ends the daemon with a signal.
    pub(crate) fn terminate(self) {
        self.send_signal(rustix::process::Signal::TERM);
        self.wait_until_ended();
    }

    pub(crate) fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }

    /// Waits until the daemon has ended.
    pub(crate) fn wait_until_ended(mut self) {
        self.child.wait().unwrap();
    }
}

impl Drop for SocketDaemon<'_> {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Sends one request over a socket.
pub(crate) fn request(socket: &Path, method: &str, path: &str, body: &Value) -> (u16, Value) {
    request_with_headers(socket, method, path, "", body)
}

fn request_with_headers(
    socket: &Path,
    method: &str,
    path: &str,
    headers: &str,
    body: &Value,
) -> (u16, Value) {
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.set_read_timeout(Some(HANG_TIMEOUT)).unwrap();
    let body = body.to_string();
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: tenterhook\r\n{headers}Connection: close\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    );
    stream.write_all((head + &body).as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let status = answer.split(' ').nth(1).unwrap_or_else(|| panic!("no answer: {answer:?}")).parse().unwrap();
    let body = answer.split_once("\r\n\r\n").unwrap().1;
    (status, if body.is_empty() { Value::Null } else { serde_json::from_str(body).unwrap_or(json!(body)) })
}

/// Both ends of a new terminal.
pub(crate) fn terminal() -> (File, File) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = PathBuf::from(ptsname(&master, Vec::new()).unwrap().into_string().unwrap());
    let flags = i32::try_from(rustix::fs::OFlags::NOCTTY.bits()).unwrap();
    let slave =
        std::os::unix::fs::OpenOptionsExt::custom_flags(File::options().read(true).write(true), flags)
            .open(name);
    (File::from(master), slave.unwrap())
}

/// Reads the terminal's output and sends each prompt to the channel.
fn forward_prompts(mut master: File, send: &std::sync::mpsc::Sender<String>) {
    let (mut text, mut room) = (String::new(), [0; 1024]);
    // Reading fails once the other side has closed.
    while let Ok(count @ 1..) = master.read(&mut room) {
        text += &String::from_utf8_lossy(&room[..count]);
        if let Some((_, rest)) = text.split_once("Type `")
            && let Some((asked, rest)) = rest.split_once("` to continue: ")
        {
            if send.send(asked.to_owned()).is_err() {
                return;
            }
            text = rest.to_owned();
        }
    }
}

fn next_number() -> usize {
    static NEXT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}
