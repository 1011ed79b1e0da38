// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Helpers for tests of programs that register hooks with a real daemon.

use std::future::Future;
use std::time::Duration;
use tenterhook_test_support::assert_no_hang;

use serde_json::{Value, json};
use tenterhook_client::proto::hook_service_client::HookServiceClient;
use tenterhook_client::proto::{HookEvent, HookEventKind, HookResponse, RegisterHookRequest};
use tenterhook_client::{Address, Channel, Client, Error, FireResult, FiredEvent};
use tokio::sync::mpsc;

use crate::daemon::{HANG_TIMEOUT, RunningDaemon};

impl RunningDaemon {
    /// A program that connects through the socket.
    pub(crate) fn program(&self, name: &str) -> Client {
        Client::builder(Address::Unix(self.socket())).name(name).build().unwrap()
    }

    /// A program that connects over TCP, with the token.
    pub(crate) fn far_program(&self) -> Client {
        Client::new(Address::Tcp { address: self.address, token: self.token.clone() }).unwrap()
    }

    /// The records of changes with this name, oldest first.
    pub(crate) fn changes(&self, what: &str) -> Vec<Value> {
        self.test.records().into_iter().filter(|leaf| leaf["what"] == what).collect()
    }
}

/// Runs a test's future on separate threads.
pub(crate) fn run<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(HANG_TIMEOUT, test).await.unwrap() })
}

/// The event of a shell command that is about to run.
pub(crate) fn shell(command: &str) -> FiredEvent {
    let payload = json!({"tool": "Bash", "args": {"command": command}, "context": {"workingDirectory": "/"}});
    FiredEvent::new("PreToolUse", &payload).session("s-1").source("my-agent")
}

pub(crate) async fn fire(client: &Client, command: &str) -> FireResult {
    client.fire(shell(command)).await.unwrap()
}

/// Waits until the condition holds.
pub(crate) async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let began = std::time::Instant::now();
    while !holds().await {
        assert_no_hang(began, what);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

pub(crate) fn code(error: &Error) -> tenterhook_client::proto::ErrorCode {
    match error {
        Error::Refused { code, .. } => *code,
        other => panic!("{other}"),
    }
}

/// A client whose messages the test writes itself.
pub(crate) struct RawClient {
    pub(crate) rpc: HookServiceClient<Channel>,
    pub(crate) events: tonic::Streaming<HookEvent>,
    pub(crate) answers: mpsc::Sender<HookResponse>,
}

impl RawClient {
    /// Opens a stream with the client's connection, in place of the stream that the client opens itself.
    pub(crate) async fn open(client: &Client) -> Self {
        let mut rpc = client.rpc();
        let (answers, mut waiting) = mpsc::channel(8192);
        let outgoing = futures_util::stream::poll_fn(move |cx| waiting.poll_recv(cx));
        let mut events = rpc.hook_stream(outgoing).await.unwrap().into_inner();
        let hello = events.message().await.unwrap().unwrap();
        assert_eq!(hello.kind(), HookEventKind::HookHello);
        Self { rpc, events, answers }
    }

    pub(crate) async fn register(&mut self, request: RegisterHookRequest) -> String {
        let response = self.rpc.register_hook(request).await.unwrap().into_inner();
        assert_eq!(response.error, None);
        response.hook_id
    }

    /// The next message.
    pub(crate) async fn next(&mut self) -> HookEvent {
        self.events.message().await.unwrap().unwrap()
    }

    /// The next message of a kind; others are skipped.
    pub(crate) async fn next_of(&mut self, kind: HookEventKind) -> HookEvent {
        loop {
            let event = self.next().await;
            if event.kind() == kind {
                return event;
            }
        }
    }
}

pub(crate) fn answer(event: &HookEvent) -> HookResponse {
    HookResponse {
        hook_id: event.hook_id.clone(),
        event_id: event.event_id.clone(),
        call_id: event.call_id,
        ..HookResponse::default()
    }
}
