// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The listener. One thread accepts connections, and one thread per connection answers. All threads end when the
//! handle is dropped.

use std::io::{self, BufReader};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::conversation::{Conversation, ToolResult};
use crate::http::{self, Delivery, ServedRequest, ServerResponse, Status};
use crate::protocol;
use crate::script::ConversationScript;

/// A running model server. Dropping it closes the port and ends its threads.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    state: Arc<ServerState>,
    acceptor: Option<JoinHandle<()>>,
}

struct ServerState {
    conversation: Mutex<Conversation>,
    delivery: Delivery,
    stopping: AtomicBool,
}

impl ModelServer {
    /// Listens on a free port of the loopback interface.
    pub fn start(script: ConversationScript) -> io::Result<Self> {
        Self::start_with(script, Delivery::Whole)
    }

    /// Listens on a free port of the loopback interface, with this kind of delivery.
    pub fn start_with(script: ConversationScript, delivery: Delivery) -> io::Result<Self> {
        Self::start_at(Ipv4Addr::LOCALHOST, script, delivery)
    }

    /// Listens on a free port of this address.
    pub fn start_at(address: Ipv4Addr, script: ConversationScript, delivery: Delivery) -> io::Result<Self> {
        let listener = TcpListener::bind((address, 0))?;
        let address = listener.local_addr()?;
        let conversation = Mutex::new(Conversation::new(script));
        let state = Arc::new(ServerState { conversation, delivery, stopping: AtomicBool::new(false) });
        let acceptor = std::thread::Builder::new().name("model-server".into()).spawn({
            let state = Arc::clone(&state);
            move || accept(&listener, &state)
        })?;
        Ok(Self { address, state, acceptor: Some(acceptor) })
    }

    /// Address of the listener.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Base URL for a client.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every request body so far, in order of arrival.
    pub fn requests(&self) -> Vec<Value> {
        self.state.conversation().requests()
    }

    /// Requests of the agent's loop: those that offer tools.
    pub fn agent_requests(&self) -> Vec<Value> {
        self.state.conversation().agent_requests()
    }

    /// Results of tool calls that were sent to the model, in order, each once.
    pub fn tool_results(&self) -> Vec<ToolResult> {
        self.state.conversation().tool_results()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.state.stopping.store(true, Ordering::SeqCst);
        // The acceptor blocks in accept(), so a connection wakes it. If the connection fails, the listener is broken
        // and accept() has already returned.
        let woken = TcpStream::connect(self.address);
        if let Some(acceptor) = self.acceptor.take() {
            // If the acceptor panicked, the test has already failed because answers are missing.
            drop(acceptor.join());
        }
        drop(woken);
    }
}

impl ServerState {
    /// Locks the conversation. After a panic the lock is poisoned, but the requests are still complete, because each
    /// is added in one step.
    fn conversation(&self) -> MutexGuard<'_, Conversation> {
        self.conversation.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for this time, but only while the server is running.
    fn pause(&self, ms: u64) {
        let until = Instant::now() + Duration::from_millis(ms);
        while Instant::now() < until && !self.stopping.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl std::fmt::Debug for ServerState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerState").finish_non_exhaustive()
    }
}

fn accept(listener: &TcpListener, state: &Arc<ServerState>) {
    let mut open: Vec<(JoinHandle<()>, TcpStream)> = Vec::new();
    for stream in listener.incoming() {
        if state.stopping.load(Ordering::SeqCst) {
            break;
        }
        open.retain(|(thread, _)| !thread.is_finished());
        // If a connection fails before it is accepted, the client retries.
        let Ok(stream) = stream else { continue };
        let Ok(handle) = stream.try_clone() else { continue };
        let state = Arc::clone(state);
        open.push((std::thread::spawn(move || serve(&stream, &state)), handle));
    }
    for (thread, stream) in open {
        // Wakes a thread whose client never finished its request. Has no effect on other threads.
        drop(stream.shutdown(Shutdown::Both));
        drop(thread.join());
    }
}

fn serve(stream: &TcpStream, state: &ServerState) {
    let response = match http::read_request(&mut BufReader::new(stream)) {
        Ok(None) => return,
        Ok(Some(request)) => respond(&request, state),
        Err(error) => ServerResponse::error(Status::BadRequest, &error.to_string()),
    };
    // A write error is ignored: the client is gone, and the request is already stored.
    drop(response.write(&mut &*stream, state.delivery, |ms| state.pause(ms)));
    // The acceptor has a second handle, so closing this one would not end the connection.
    drop(stream.shutdown(Shutdown::Write));
}

fn respond(request: &ServedRequest, state: &ServerState) -> ServerResponse {
    let probed = || ServerResponse::json(Status::Ok, &json!({"ok": true}));
    match (request.method.as_str(), request.path.as_str()) {
        ("HEAD", "/") => probed().without_body(),
        ("GET", "/") => probed(),
        ("POST", path) => match protocol::PROTOCOLS.iter().find(|protocol| protocol.serves(path)) {
            Some(protocol) => match serde_json::from_slice::<Value>(&request.body) {
                Ok(body) => {
                    let turn = state.conversation().answer(*protocol, body.clone());
                    let reply = protocol.reply(path, &body, &turn);
                    turn.fault.iter().fold(reply, ServerResponse::with)
                }
                Err(error) => {
                    ServerResponse::error(Status::BadRequest, &format!("the body is not JSON: {error}"))
                }
            },
            None => unknown(path),
        },
        (_, path) => unknown(path),
    }
}

fn unknown(path: &str) -> ServerResponse {
    ServerResponse::error(Status::NotFound, &format!("nothing is served at `{path}`"))
}
