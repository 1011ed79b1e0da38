// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Whoever is at the gate: a person on a terminal of their own, and a daemon that keeps it.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::context::{Ran, TestContext};
pub(crate) use tenterhook_test_support::{HANG_TIMEOUT, wait_until as until};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tenterhook");

/// Runs what it is given once somebody has said so, and leaves behind how it went.
const LEAVES_BEHIND: &str =
    r#"read -r go; at=$1; shift; "$@" >"$at.out" 2>"$at.err"; echo $? >"$at.tmp"; mv "$at.tmp" "$at.code""#;

impl TestContext {
    /// Runs the program as a person does: on a terminal, in a session of its own, and not as a child of
    /// the test, which is the agent as soon as it calls a hook. What has to be typed is typed.
    pub(crate) fn person(&self, args: &[&str]) -> Ran {
        self.person_who(args, |asked| asked)
    }

    /// The same, with something else to say to what is asked for.
    pub(crate) fn person_who(&self, args: &[&str], says: impl Fn(String) -> String) -> Ran {
        let at = self.path(&format!("person-{}", next()));
        let (master, slave) = terminal();
        let mut command = self
            .command(Path::new("/usr/bin/setsid"), &["--fork", "--ctty", "sh", "-c", LEAVES_BEHIND, "sh"]);
        command.arg(&at).arg(PROGRAM).args(args).stdin(slave).stdout(Stdio::null()).stderr(Stdio::null());
        assert!(command.status().unwrap().success(), "setsid (util-linux) is needed");
        // From here on nobody in the line above it is ours.
        let mut writer = master.try_clone().unwrap();
        writer.write_all(b"go\n").unwrap();
        let (send, asked) = std::sync::mpsc::channel();
        std::thread::spawn(move || questions(master, &send));
        until("the person's command ends", || {
            if let Ok(asked) = asked.try_recv() {
                writer.write_all((says(asked) + "\n").as_bytes()).unwrap();
            }
            at.with_extension("code").exists().then_some(())
        });
        let read = |name| self.neutral(&std::fs::read_to_string(at.with_extension(name)).unwrap());
        Ran { stdout: read("out"), stderr: read("err"), exit: read("code").trim().parse().unwrap() }
    }

    /// The latest change on record.
    pub(crate) fn last_change(&self) -> Value {
        let leaves = self.leaves();
        let changes =
            leaves.into_iter().rev().find(|leaf| leaf["kind"] == "change" && leaf["what"] != "generation");
        changes.unwrap_or_else(|| panic!("nothing was recorded"))
    }

    /// Sets codes up. The returned secret makes them.
    pub(crate) fn enroll(&self) -> Vec<u8> {
        let enrolled = self.person(&["totp", "enroll", "--json"]);
        assert_eq!(enrolled.exit, 0, "{}", enrolled.stderr);
        let secret =
            tenterhook_authority::totp::from_base32(enrolled.json()["secret"].as_str().unwrap()).unwrap();
        // A code of the step before, so that the one of now is still good; and time enough to give it: the step may end
        // later, because codes of the step before count.
        until("there is time", || {
            let in_step = tenterhook_home::call_meta::now_ms() / 1000 % tenterhook_authority::totp::STEP;
            (in_step < 25).then_some(())
        });
        let ran = self.person(&["totp", "verify", &code(&secret, -1)]);
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
        secret
    }
}

/// The code of a step before or after now.
pub(crate) fn code(secret: &[u8], steps: i64) -> String {
    use tenterhook_authority::totp;
    let step = totp::step(tenterhook_home::call_meta::now_ms()).saturating_add_signed(steps);
    totp::code(secret, step).unwrap()
}

/// A daemon that is ready, and what it says then.
pub(crate) fn served(test: &TestContext, mut command: Command) -> (Child, String) {
    let log = File::create(test.path("serve.log")).unwrap();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log).spawn().unwrap();
    let mut ready = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut ready).unwrap();
    let log = || std::fs::read_to_string(test.path("serve.log")).unwrap();
    assert!(ready.starts_with("ready"), "it did not start: {ready}{}", log());
    (child, ready.trim_end().to_owned())
}

/// A daemon in the home of a test. It ends with it.
pub(crate) struct Guard<'a> {
    pub(crate) test: &'a TestContext,
    child: Child,
}

impl<'a> Guard<'a> {
    pub(crate) fn of(test: &'a TestContext) -> Self {
        Self::with(test, test.command(Path::new(PROGRAM), &["serve", "--listen", "none"]))
    }

    pub(crate) fn with(test: &'a TestContext, command: Command) -> Self {
        Self { test, child: served(test, command).0 }
    }

    /// One request of this very process over the socket.
    pub(crate) fn ask(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        ask(&self.test.home().join("run/tenterhook.sock"), method, path, body)
    }

    /// The same, if what it is about is still as it was seen.
    pub(crate) fn ask_if(&self, seen: &str, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let socket = self.test.home().join("run/tenterhook.sock");
        ask_with(&socket, method, path, &format!("If-Match: {seen}\r\n"), body)
    }

    /// One hook call of this very process, which makes it an agent.
    pub(crate) fn hook(&self, harness: &str, event: &str, payload: &Value) -> Value {
        let (status, reply) = self.ask("POST", &format!("/v1/hooks/{harness}/{event}"), payload);
        assert_eq!(status, 200, "{reply}");
        reply
    }

    /// Sends it a signal, as anybody with the account can.
    pub(crate) fn send(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process(rustix::process::Pid::from_child(&self.child), signal).unwrap();
    }

    /// Ends it by a signal.
    pub(crate) fn signal(self) {
        self.send(rustix::process::Signal::TERM);
        self.ended();
    }

    pub(crate) fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }

    /// Waits until it has ended.
    pub(crate) fn ended(mut self) {
        self.child.wait().unwrap();
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// One request over a socket.
pub(crate) fn ask(socket: &Path, method: &str, path: &str, body: &Value) -> (u16, Value) {
    ask_with(socket, method, path, "", body)
}

fn ask_with(socket: &Path, method: &str, path: &str, headers: &str, body: &Value) -> (u16, Value) {
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

/// What the terminal asks to be typed, as it comes.
fn questions(mut master: File, send: &std::sync::mpsc::Sender<String>) {
    let (mut text, mut room) = (String::new(), [0; 1024]);
    // Nobody on the other side any more is an error here.
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

fn next() -> usize {
    static NEXT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}
