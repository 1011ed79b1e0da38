// SPDX-License-Identifier: Apache-2.0 OR MIT

//! JSON-RPC 2.0 over pipes, one message per line.

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

use super::error::McpErrorKind;
use super::server_process::{ServerProcess, ServerStreams, StderrTail};
use crate::CancelToken;

/// Maximum length of a message, to bound memory use.
const MAX_MESSAGE_BYTES: u64 = 32 * 1024 * 1024;
/// Maximum number of messages waiting to be written.
const MAX_QUEUED_MESSAGES: usize = 64;
/// How long to wait for the exit status of a process that closed its output.
const EXIT_STATUS_TIMEOUT: Duration = Duration::from_millis(100);
/// How long to wait for the last messages to be written.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(100);
/// JSON-RPC error code for an unknown method.
const METHOD_NOT_FOUND: i64 = -32601;

/// A JSON-RPC connection to one server. Dropping it kills the server.
#[derive(Debug)]
pub(super) struct RpcClient {
    process: ServerProcess,
    stderr_tail: StderrTail,
    /// Queue of lines to write; `None` once the server's standard input is closed.
    lines: Option<mpsc::Sender<String>>,
    pending: PendingCalls,
    next: AtomicU64,
    writer: JoinHandle<()>,
    listeners: [JoinHandle<()>; 2],
}

/// The requests that are waiting for a reply, by id. `None` once the server has exited.
#[derive(Debug, Clone)]
struct PendingCalls(Arc<Mutex<Option<PendingReplies>>>);

type PendingReplies = HashMap<u64, oneshot::Sender<RpcReply>>;

/// The result of a request, or the code and message of its error.
type RpcReply = Result<Value, (i64, String)>;

// === impl RpcClient ===

impl RpcClient {
    pub(super) fn new(process: ServerProcess, streams: ServerStreams) -> Self {
        let ServerStreams { input, output, errors } = streams;
        let stderr_tail = StderrTail::default();
        let pending = PendingCalls(Arc::new(Mutex::new(Some(HashMap::new()))));
        let (lines, to_write) = mpsc::channel(MAX_QUEUED_MESSAGES);
        let writer = tokio::spawn(write_lines(input, to_write));
        let listeners = [
            tokio::spawn(read_messages(output, pending.clone(), lines.clone(), stderr_tail.clone())),
            tokio::spawn(stderr_tail.clone().collect(errors)),
        ];
        let (lines, next) = (Some(lines), AtomicU64::new(1));
        Self { process, stderr_tail, lines, pending, next, writer, listeners }
    }

    /// Sends a request and waits for the reply. On a timeout or cancellation, the server is sent a cancellation
    /// notification.
    pub(super) async fn request(
        &self,
        method: &str,
        params: Value,
        limit: Duration,
        cancel: &CancelToken,
    ) -> Result<Value, McpErrorKind> {
        if cancel.is_cancelled() {
            return Err(McpErrorKind::Cancelled);
        }
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let answer = async {
            let answer = self.pending.register(id)?;
            self.lines.as_ref()?.send(message.to_string()).await.ok()?;
            answer.await.ok()
        };
        let why = match cancel.or(timeout(limit, answer)).await {
            Some(Ok(Some(Ok(result)))) => return Ok(result),
            Some(Ok(Some(Err((code, message))))) => {
                return Err(McpErrorKind::Refused { method: method.to_owned(), code, message });
            }
            Some(Ok(None)) => return Err(self.exit_error(method).await),
            Some(Err(_)) => McpErrorKind::TimedOut {
                method: method.to_owned(),
                limit,
                stderr: self.stderr_tail.as_suffix(),
            },
            None => McpErrorKind::Cancelled,
        };
        self.pending.remove(id);
        // The protocol does not allow cancelling `initialize`. The server is killed in this case anyway.
        if method != "initialize" {
            self.notify("notifications/cancelled", &json!({"requestId": id, "reason": why.to_string()}));
        }
        Err(why)
    }

    /// Sends a notification.
    pub(super) fn notify(&self, method: &str, params: &Value) {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        // If the server has exited or does not read its input, the next request reports that.
        drop(self.lines.as_ref().map(|lines| lines.try_send(message.to_string())));
    }

    async fn exit_error(&self, method: &str) -> McpErrorKind {
        let mut how = self.process.exit_status();
        let began = tokio::time::Instant::now();
        while how.is_none() && began.elapsed() < EXIT_STATUS_TIMEOUT {
            tokio::time::sleep(Duration::from_millis(5)).await;
            how = self.process.exit_status();
        }
        let how = how.unwrap_or_else(|| "output closed".to_owned());
        McpErrorKind::Died { method: method.to_owned(), how, stderr: self.stderr_tail.as_suffix() }
    }

    /// Shuts the server down: writes the remaining messages, then closes its standard input.
    pub(super) async fn close(mut self) {
        for listener in &mut self.listeners {
            listener.abort();
            // The task may still queue messages until it has ended.
            drop(listener.await);
        }
        self.lines = None;
        drop(timeout(FLUSH_TIMEOUT, &mut self.writer).await);
        self.writer.abort();
        self.process.close().await;
    }
}

impl Drop for RpcClient {
    fn drop(&mut self) {
        self.writer.abort();
        for listener in &self.listeners {
            listener.abort();
        }
    }
}

// === impl PendingCalls ===

impl PendingCalls {
    /// Registers a request and returns the receiver of its reply; `None` once the server has exited.
    fn register(&self, id: u64) -> Option<oneshot::Receiver<RpcReply>> {
        let (send, receive) = oneshot::channel();
        self.lock().as_mut()?.insert(id, send);
        Some(receive)
    }

    fn remove(&self, id: u64) {
        if let Some(pending) = self.lock().as_mut() {
            pending.remove(&id);
        }
    }

    fn complete(&self, id: u64, answer: RpcReply) {
        let waits = self.lock().as_mut().and_then(|pending| pending.remove(&id));
        if let Some(waits) = waits {
            // Fails if the caller no longer waits for the reply.
            drop(waits.send(answer));
        }
    }

    /// Fails all waiting requests, because no more replies will arrive.
    fn close(&self) {
        *self.lock() = None;
    }

    fn lock(&self) -> MutexGuard<'_, Option<PendingReplies>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === the pipes ===

async fn write_lines(mut input: ChildStdin, mut lines: mpsc::Receiver<String>) {
    while let Some(mut line) = lines.recv().await {
        line.push('\n');
        if input.write_all(line.as_bytes()).await.is_err() || input.flush().await.is_err() {
            break;
        }
    }
}

async fn read_messages(
    output: ChildStdout,
    pending: PendingCalls,
    lines: mpsc::Sender<String>,
    stderr_tail: StderrTail,
) {
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut output).take(MAX_MESSAGE_BYTES).read_until(b'\n', &mut line).await {
            Ok(read) if read > 0 && line.ends_with(b"\n") => {}
            _ => break,
        }
        match serde_json::from_slice::<Value>(&line) {
            Ok(message) => {
                if let Some(reply) = handle_message(&message, &pending) {
                    drop(lines.try_send(reply.to_string()));
                }
            }
            // Some servers print plain text on standard output. The text is kept for error messages.
            Err(_) => stderr_tail.push(&line),
        }
    }
    pending.close();
}

/// Handles one message. If the message is a request from the server, returns the reply.
fn handle_message(message: &Value, pending: &PendingCalls) -> Option<Value> {
    let id = message.get("id").filter(|id| !id.is_null());
    if let Some(method) = message.get("method").and_then(Value::as_str) {
        let reply = |key: &str, value: Value| Some(json!({"jsonrpc": "2.0", "id": id?, key: value}));
        return match method {
            "ping" => reply("result", json!({})),
            _ => reply(
                "error",
                json!({"code": METHOD_NOT_FOUND, "message": format!("unknown method `{method}`")}),
            ),
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
    pending.complete(id, answer);
    None
}
