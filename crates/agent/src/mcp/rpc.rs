// SPDX-License-Identifier: Apache-2.0 OR MIT

//! JSON-RPC 2.0, one message a line, with whoever is at the other end of the pipes.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::error::Why;
use super::process::{LastWords, Process, Streams};
use crate::Cancel;

/// No message is longer; a line without end must not fill the memory.
const LONGEST: u64 = 32 * 1024 * 1024;
/// So many messages may wait to be written.
const WAITING: usize = 64;
/// How long the exit of a program that closed its output is waited for, to tell how it ended.
const EXIT: Duration = Duration::from_millis(100);
/// How long it may take to read what is said last.
const LAST: Duration = Duration::from_millis(100);
/// The code for a method that nobody has.
const NO_METHOD: i64 = -32601;

/// The talk with one server. Dropping it ends the server.
#[derive(Debug)]
pub(super) struct Rpc {
    process: Process,
    last_words: LastWords,
    /// None once its input is closed.
    lines: Option<mpsc::Sender<String>>,
    waiting: Waiting,
    next: AtomicU64,
    writer: JoinHandle<()>,
    listeners: [JoinHandle<()>; 2],
}

/// Who waits for which answer; nobody can once the server is gone.
#[derive(Debug, Clone)]
struct Waiting(Arc<Mutex<Option<Callers>>>);

type Callers = HashMap<u64, oneshot::Sender<Answer>>;

/// What came back, or the code and words of an error.
type Answer = Result<Value, (i64, String)>;

// === impl Rpc ===

impl Rpc {
    pub(super) fn new(process: Process, streams: Streams) -> Self {
        let Streams { input, output, errors } = streams;
        let last_words = LastWords::default();
        let waiting = Waiting(Arc::new(Mutex::new(Some(HashMap::new()))));
        let (lines, to_write) = mpsc::channel(WAITING);
        let writer = tokio::spawn(write(input, to_write));
        let listeners = [
            tokio::spawn(read(output, waiting.clone(), lines.clone(), last_words.clone())),
            tokio::spawn(last_words.clone().listen(errors)),
        ];
        let (lines, next) = (Some(lines), AtomicU64::new(1));
        Self { process, last_words, lines, waiting, next, writer, listeners }
    }

    /// Asks, and waits for the answer. One that comes too late, or that nobody wants any more, is called off.
    pub(super) async fn ask(
        &self,
        method: &str,
        params: Value,
        limit: Duration,
        cancel: &Cancel,
    ) -> Result<Value, Why> {
        if cancel.is_cancelled() {
            return Err(Why::Cancelled);
        }
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let answer = async {
            let answer = self.waiting.expect(id)?;
            self.lines.as_ref()?.send(message.to_string()).await.ok()?;
            answer.await.ok()
        };
        let why = match cancel.or(timeout(limit, answer)).await {
            Some(Ok(Some(Ok(result)))) => return Ok(result),
            Some(Ok(Some(Err((code, message))))) => {
                return Err(Why::Refused { method: method.to_owned(), code, message });
            }
            Some(Ok(None)) => return Err(self.died(method).await),
            Some(Err(_)) => Why::TimedOut { method: method.to_owned(), limit, said: self.last_words.said() },
            None => Why::Cancelled,
        };
        self.waiting.forget(id);
        // The protocol wants `initialize` not to be called off; the server is ended anyway then.
        if method != "initialize" {
            self.tell("notifications/cancelled", &json!({"requestId": id, "reason": why.to_string()}));
        }
        Err(why)
    }

    /// Says something to which there is no answer.
    pub(super) fn tell(&self, method: &str, params: &Value) {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        // A server that is gone, or reads nothing, is found out when it is asked.
        drop(self.lines.as_ref().map(|lines| lines.try_send(message.to_string())));
    }

    async fn died(&self, method: &str) -> Why {
        let mut how = self.process.ended();
        let began = tokio::time::Instant::now();
        while how.is_none() && began.elapsed() < EXIT {
            tokio::time::sleep(Duration::from_millis(5)).await;
            how = self.process.ended();
        }
        let how = how.unwrap_or_else(|| "it closed its output".to_owned());
        Why::Died { method: method.to_owned(), how, said: self.last_words.said() }
    }

    /// Ends it in good order: what is yet to be said is said, then its input is closed.
    pub(super) async fn close(mut self) {
        for listener in &mut self.listeners {
            listener.abort();
            // It could still say something, until it is gone.
            drop(listener.await);
        }
        self.lines = None;
        drop(timeout(LAST, &mut self.writer).await);
        self.writer.abort();
        self.process.close().await;
    }
}

impl Drop for Rpc {
    fn drop(&mut self) {
        self.writer.abort();
        for listener in &self.listeners {
            listener.abort();
        }
    }
}

// === impl Waiting ===

impl Waiting {
    /// Who answers this is heard here; none once nobody answers any more.
    fn expect(&self, id: u64) -> Option<oneshot::Receiver<Answer>> {
        let (send, receive) = oneshot::channel();
        self.lock().as_mut()?.insert(id, send);
        Some(receive)
    }

    fn forget(&self, id: u64) {
        if let Some(waiting) = self.lock().as_mut() {
            waiting.remove(&id);
        }
    }

    fn answer(&self, id: u64, answer: Answer) {
        let waits = self.lock().as_mut().and_then(|waiting| waiting.remove(&id));
        if let Some(waits) = waits {
            // Whoever no longer waits does not need it.
            drop(waits.send(answer));
        }
    }

    /// Nobody answers any more.
    fn close(&self) {
        *self.lock() = None;
    }

    fn lock(&self) -> MutexGuard<'_, Option<Callers>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === the pipes ===

async fn write(mut input: ChildStdin, mut lines: mpsc::Receiver<String>) {
    while let Some(mut line) = lines.recv().await {
        line.push('\n');
        if input.write_all(line.as_bytes()).await.is_err() || input.flush().await.is_err() {
            break;
        }
    }
}

async fn read(output: ChildStdout, waiting: Waiting, lines: mpsc::Sender<String>, last_words: LastWords) {
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut output).take(LONGEST).read_until(b'\n', &mut line).await {
            Ok(read) if read > 0 && line.ends_with(b"\n") => {}
            _ => break,
        }
        match serde_json::from_slice::<Value>(&line) {
            Ok(message) => {
                if let Some(reply) = hear(&message, &waiting) {
                    drop(lines.try_send(reply.to_string()));
                }
            }
            // Some print a greeting here. It is kept, should it turn out to be a farewell.
            Err(_) => last_words.add(&line),
        }
    }
    waiting.close();
}

/// Takes in one message; what the server asks us gets a reply.
fn hear(message: &Value, waiting: &Waiting) -> Option<Value> {
    let id = message.get("id").filter(|id| !id.is_null());
    if let Some(method) = message.get("method").and_then(Value::as_str) {
        let reply = |key: &str, value: Value| Some(json!({"jsonrpc": "2.0", "id": id?, key: value}));
        return match method {
            "ping" => reply("result", json!({})),
            _ => {
                reply("error", json!({"code": NO_METHOD, "message": format!("there is no `{method}` here")}))
            }
        };
    }
    let id = id.and_then(Value::as_u64)?;
    let answer = match message.get("error") {
        None => Ok(message.get("result").cloned().unwrap_or(Value::Null)),
        Some(error) => {
            let code = error.get("code").and_then(Value::as_i64).unwrap_or_default();
            let message = error.get("message").and_then(Value::as_str).unwrap_or("no reason given");
            Err((code, message.to_owned()))
        }
    };
    waiting.answer(id, answer);
    None
}
