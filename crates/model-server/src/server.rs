// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The listener: one thread accepts, one thread per connection answers; all end with the handle.

use std::io::{self, BufReader};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::conversation::{Conversation, ToolResult};
use crate::http::{self, Delivery, Request, Response, Status};
use crate::protocol;
use crate::script::Script;

/// A running model. Dropping it closes the port and ends its threads.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

struct Shared {
    conversation: Mutex<Conversation>,
    delivery: Delivery,
    stopping: AtomicBool,
}

impl ModelServer {
    /// Listens on a free port of the loopback interface.
    pub fn start(script: Script) -> io::Result<Self> {
        Self::start_with(script, Delivery::Whole)
    }

    /// Listens on a free port of the loopback interface, with this kind of delivery.
    pub fn start_with(script: Script, delivery: Delivery) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let conversation = Mutex::new(Conversation::new(script));
        let shared = Arc::new(Shared { conversation, delivery, stopping: AtomicBool::new(false) });
        let acceptor = std::thread::Builder::new().name("model-server".into()).spawn({
            let shared = Arc::clone(&shared);
            move || accept(&listener, &shared)
        })?;
        Ok(Self { address, shared, acceptor: Some(acceptor) })
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
        self.shared.conversation().requests()
    }

    /// Requests of the agent's loop: those that offer tools.
    pub fn agent_requests(&self) -> Vec<Value> {
        self.shared.conversation().agent_requests()
    }

    /// Results of tool calls that were sent to the model, in order, each once.
    pub fn tool_results(&self) -> Vec<ToolResult> {
        self.shared.conversation().tool_results()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        // The acceptor blocks in accept(), and a connection wakes it. If that fails, the listener is broken and accept() has returned
        // already.
        let woken = TcpStream::connect(self.address);
        if let Some(acceptor) = self.acceptor.take() {
            // A panicking acceptor has already failed the test through its missing answers.
            drop(acceptor.join());
        }
        drop(woken);
    }
}

impl Shared {
    /// A poisoned lock still has complete requests: each is added in one step.
    fn conversation(&self) -> MutexGuard<'_, Conversation> {
        self.conversation.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits, but not longer than the server lives.
    fn pause(&self, ms: u64) {
        let until = Instant::now() + Duration::from_millis(ms);
        while Instant::now() < until && !self.stopping.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut open: Vec<(JoinHandle<()>, TcpStream)> = Vec::new();
    for stream in listener.incoming() {
        if shared.stopping.load(Ordering::SeqCst) {
            break;
        }
        open.retain(|(thread, _)| !thread.is_finished());
        // A client retries a connection that failed before it was accepted.
        let Ok(stream) = stream else { continue };
        let Ok(handle) = stream.try_clone() else { continue };
        let shared = Arc::clone(shared);
        open.push((std::thread::spawn(move || serve(&stream, &shared)), handle));
    }
    for (thread, stream) in open {
        // Wakes a thread whose client never finished its request; has no effect on others.
        drop(stream.shutdown(Shutdown::Both));
        drop(thread.join());
    }
}

fn serve(stream: &TcpStream, shared: &Shared) {
    let response = match http::read_request(&mut BufReader::new(stream)) {
        Ok(None) => return,
        Ok(Some(request)) => respond(&request, shared),
        Err(error) => Response::error(Status::BadRequest, &error.to_string()),
    };
    // A client that is gone cannot be notified; the request is stored in any case.
    drop(response.write(&mut &*stream, shared.delivery, |ms| shared.pause(ms)));
    // The acceptor has a second handle, so closing this one would not end the connection.
    drop(stream.shutdown(Shutdown::Write));
}

fn respond(request: &Request, shared: &Shared) -> Response {
    let probed = || Response::json(Status::Ok, &json!({"ok": true}));
    match (request.method.as_str(), request.path.as_str()) {
        ("HEAD", "/") => probed().without_body(),
        ("GET", "/") => probed(),
        ("POST", path) => match protocol::ALL.iter().find(|protocol| protocol.serves(path)) {
            Some(protocol) => match serde_json::from_slice::<Value>(&request.body) {
                Ok(body) => {
                    let turn = shared.conversation().answer(*protocol, body.clone());
                    let reply = protocol.reply(path, &body, &turn);
                    turn.fault.iter().fold(reply, Response::with)
                }
                Err(error) => Response::error(Status::BadRequest, &format!("the body is not JSON: {error}")),
            },
            None => unknown(path),
        },
        (_, path) => unknown(path),
    }
}

fn unknown(path: &str) -> Response {
    Response::error(Status::NotFound, &format!("nothing is served at `{path}`"))
}
