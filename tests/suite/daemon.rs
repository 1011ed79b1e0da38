// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A separate daemon for a test: the real program with a temporary state directory, and its clients.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Child;

use serde_json::{Value, json};

use crate::context::TestContext;
use crate::terminal_user::spawn_daemon;
pub(crate) use crate::terminal_user::{HANG_TIMEOUT, until};

pub(crate) struct RunningDaemon {
    pub(crate) test: TestContext,
    child: Child,
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
}

/// An HTTP reply.
#[derive(Debug)]
pub(crate) struct HttpReply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

/// A stream that is read event by event.
pub(crate) struct EventStream(BufReader<TcpStream>);

/// One event of a stream.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct StreamEvent {
    pub(crate) kind: String,
    pub(crate) id: Option<u64>,
    pub(crate) data: Value,
}

// === impl RunningDaemon ===

impl RunningDaemon {
    pub(crate) fn new() -> Self {
        Self::in_home(TestContext::new(), &[])
    }

    pub(crate) fn in_home(test: TestContext, variables: &[(&str, &str)]) -> Self {
        let (child, address) = Self::start(&test, variables);
        let token = std::fs::read_to_string(test.home().join("run/token")).unwrap();
        Self { test, child, address, token }
    }

    fn start(test: &TestContext, variables: &[(&str, &str)]) -> (Child, SocketAddr) {
        let program = Path::new(env!("CARGO_BIN_EXE_tenterhook"));
        let mut command = test.command(program, &["serve", "--listen", "127.0.0.1:0"]);
        command.envs(variables.iter().copied());
        let (child, ready) = spawn_daemon(test, command);
        let address = ready.rsplit_once("http://").and_then(|(_, address)| address.parse().ok());
        (child, address.unwrap_or_else(|| panic!("the daemon printed no address: {ready}")))
    }

    /// Ends the daemon and starts another with the same state directory.
    pub(crate) fn restart(mut self) -> Self {
        self.signal(rustix::process::Signal::TERM);
        assert!(self.wait(), "{}", self.log());
        (self.child, self.address) = Self::start(&self.test, &[]);
        self
    }

    pub(crate) fn pid(&self) -> rustix::process::Pid {
        rustix::process::Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap()
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process(self.pid(), signal).unwrap();
    }

    /// Waits for the daemon to end. Returns whether it succeeded.
    pub(crate) fn wait(&mut self) -> bool {
        until("the daemon ends", || self.child.try_wait().unwrap()).success()
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.test.path("serve.log")).unwrap()
    }

    pub(crate) fn socket(&self) -> std::path::PathBuf {
        self.test.home().join("run/tenterhook.sock")
    }

    pub(crate) fn get(&self, path: &str) -> HttpReply {
        self.request("GET", path, &[], b"")
    }

    pub(crate) fn json(&self, path: &str) -> Value {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        answer.json()
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> HttpReply {
        self.request("POST", path, &[], body.to_string().as_bytes())
    }

    /// Sends a request over TCP, with the token.
    pub(crate) fn request(&self, method: &str, path: &str, headers: &[&str], body: &[u8]) -> HttpReply {
        let more = header_lines(headers);
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n{more}Content-Length: {}\r\n\r\n",
            self.address,
            self.token,
            body.len()
        );
        self.send_raw(&[head.as_bytes(), body].concat())
    }

    /// Sends these bytes and reads until the daemon closes the connection.
    pub(crate) fn send_raw(&self, bytes: &[u8]) -> HttpReply {
        HttpReply::parse(&exchange(self.connect(), bytes))
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(HANG_TIMEOUT)).unwrap();
        stream.set_write_timeout(Some(HANG_TIMEOUT)).unwrap();
        stream
    }

    /// Makes one hook call on the socket, as the shim does.
    pub(crate) fn hook(&self, payload: &str) -> String {
        let mut stream = UnixStream::connect(self.socket()).unwrap();
        stream.set_read_timeout(Some(HANG_TIMEOUT)).unwrap();
        let id = format!("01{:024}", random_digits(24));
        let head = format!("TH1 hook claude-code PreToolUse {id} 50000 {}\nversion 0.1.0\n\n", payload.len());
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(payload.as_bytes()).unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        reply
    }

    /// Calls a hook of Claude Code over HTTP.
    pub(crate) fn call(&self, event: &str, payload: &Value) -> HttpReply {
        let mut whole = json!({"session_id": "s-1", "cwd": self.test.path("work"), "hook_event_name": event});
        whole.as_object_mut().unwrap().extend(payload.as_object().unwrap().clone());
        let answer = self.post(&format!("/v1/hooks/claude-code/{event}"), &whole);
        assert_eq!(answer.status, 200, "{answer:?}");
        answer
    }

    pub(crate) fn bash(&self, command: &str) -> HttpReply {
        self.call(
            "PreToolUse",
            &json!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "t"}),
        )
    }

    /// Opens a stream with HTTP/1.0, which avoids chunked encoding.
    pub(crate) fn stream(&self, path: &str, headers: &[&str]) -> EventStream {
        let more = header_lines(headers);
        let mut stream = self.connect();
        let (address, token) = (self.address, &self.token);
        let head =
            format!("GET {path} HTTP/1.0\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n{more}\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut reader = BufReader::new(stream);
        let (mut line, mut head) = (String::new(), String::new());
        while reader.read_line(&mut line).unwrap() > 2 {
            head += &std::mem::take(&mut line);
        }
        assert!(head.starts_with("HTTP/1.0 200"), "{head}");
        assert!(head.to_ascii_lowercase().contains("text/event-stream"), "{head}");
        EventStream(reader)
    }
}

impl Drop for RunningDaemon {
    fn drop(&mut self) {
        // The daemon may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Joins headers into the lines of a request.
pub(crate) fn header_lines(headers: &[&str]) -> String {
    headers.iter().fold(String::new(), |lines, header| lines + header + "\r\n")
}

/// A random number with at most `digits` digits, so that tests running in parallel do not use the same one.
fn random_digits(digits: u32) -> u128 {
    use std::hash::{BuildHasher, Hasher};
    let one = || u128::from(std::collections::hash_map::RandomState::new().build_hasher().finish());
    (one() << 64 | one()) % 10_u128.pow(digits)
}

pub(crate) fn exchange(mut stream: TcpStream, bytes: &[u8]) -> Vec<u8> {
    // A write error is ignored: a server that refuses early stops reading, but its reply can still be read.
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    answer
}

// === impl HttpReply ===

impl HttpReply {
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            return Self { status: 0, head: text.into_owned(), body: String::new() };
        };
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
        let head = head.to_ascii_lowercase();
        let body =
            if head.contains("transfer-encoding: chunked") { decode_chunks(body) } else { body.to_owned() };
        Self { status, head, body }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn message(&self) -> String {
        self.json()["error"]["message"].as_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

fn decode_chunks(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((length, rest)) = body.split_once("\r\n") {
        let (part, rest) = rest.split_at(usize::from_str_radix(length, 16).unwrap());
        if part.is_empty() {
            break;
        }
        whole += part;
        body = rest.trim_start_matches("\r\n");
    }
    whole
}

// === impl EventStream ===

impl EventStream {
    /// Returns the next event. Keep-alive lines are skipped.
    pub(crate) fn next(&mut self) -> Option<StreamEvent> {
        let mut told = StreamEvent::default();
        let mut line = String::new();
        while self.0.read_line(&mut line).unwrap() > 0 {
            let text = std::mem::take(&mut line);
            match text.trim_end_matches('\n').split_once(": ") {
                Some(("event", kind)) => kind.clone_into(&mut told.kind),
                Some(("id", id)) => told.id = id.parse().ok(),
                Some(("data", data)) => told.data = serde_json::from_str(data).unwrap(),
                None if told != StreamEvent::default() => return Some(told),
                _ => {}
            }
        }
        None
    }

    /// Returns the next event of a kind.
    pub(crate) fn next_of(&mut self, kind: &str) -> StreamEvent {
        loop {
            let told = self.next().unwrap_or_else(|| panic!("the stream ended before `{kind}`"));
            if told.kind == kind {
                return told;
            }
        }
    }
}
