// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The stream of hook calls. It is reopened after it breaks, and each call runs in its own task.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::FutureExt;
use tenterhook_proto::v1::{Handling, HookEvent, HookEventKind, HookResponse};
use tokio::sync::mpsc;

use crate::agent_session::HANDLED_EVENT;
use crate::client::{ClientShared, StreamStatus, hook_service};
use crate::{Error, HandlerResult, Hook, HookEvent as DecodedEvent};

/// Delay before the stream is reopened. It starts at the minimum and doubles at each failure, up to the maximum.
const MIN_RECONNECT_DELAY: Duration = Duration::from_millis(50);
const MAX_RECONNECT_DELAY: Duration = Duration::from_secs(5);
/// Maximum number of responses waiting to be sent.
const RESPONSE_QUEUE_CAPACITY: usize = 4096;
/// Maximum number of responses kept in case the stream breaks before they arrive.
const MAX_KEPT_RESPONSES: usize = 256;

/// Starts the task that keeps a stream open, if that task is not running yet.
pub(crate) fn start(shared: &Arc<ClientShared>) {
    let mut state = shared.lock();
    let closed = matches!(*shared.status.borrow(), StreamStatus::Closed(_));
    if closed || state.task.is_some() {
        return;
    }
    let weak = Arc::downgrade(shared);
    state.task = Some(tokio::spawn(keep_open(weak)).abort_handle());
}

async fn keep_open(weak: Weak<ClientShared>) {
    let mut delay = MIN_RECONNECT_DELAY;
    loop {
        let (opened, error) = run_stream(&weak).await;
        let Some(shared) = weak.upgrade() else { return };
        shared.lock().responses = None;
        if let Some(error) = error.as_ref().filter(|error| !error.is_temporary()) {
            shared.status.send_replace(StreamStatus::Closed(error.clone()));
            return;
        }
        shared.status.send_replace(StreamStatus::Opening(error));
        drop(shared);
        delay = if opened { MIN_RECONNECT_DELAY } else { (delay * 2).min(MAX_RECONNECT_DELAY) };
        // Random jitter keeps programs from all reconnecting at the same time after the daemon restarts.
        let mut jitter = [0];
        let jitter = getrandom::fill(&mut jitter).map_or(0, |()| u8::from_ne_bytes(jitter));
        tokio::time::sleep(delay.mul_f64(0.75 + f64::from(jitter) / 512.0)).await;
    }
}

/// Runs one stream until it ends. Returns whether the stream was open, and the error that ended it.
async fn run_stream(weak: &Weak<ClientShared>) -> (bool, Option<Error>) {
    let Some(shared) = weak.upgrade() else { return (false, None) };
    let (sender, mut waiting) = mpsc::channel::<HookResponse>(RESPONSE_QUEUE_CAPACITY);
    let responses = futures_util::stream::poll_fn(move |cx| waiting.poll_recv(cx));
    if let Err(error) = shared.channel.connection().await {
        return (false, Some(error));
    }
    let mut events = match hook_service(&shared.channel).hook_stream(responses).await {
        Ok(response) => response.into_inner(),
        Err(status) => return (false, Some(status.into())),
    };
    let known = match events.message().await {
        Ok(Some(HookEvent { hello: Some(hello), .. })) => hello.hook_ids,
        Ok(_) => return (false, None),
        Err(status) => return (false, Some(status.into())),
    };
    let missing: Vec<_> = {
        let mut state = shared.lock();
        state.responses = Some(sender);
        state
            .hooks
            .iter()
            .filter(|(id, _)| !known.contains(id))
            .map(|(id, hook)| hook.to_request(id))
            .collect()
    };
    for request in missing {
        // A hook that the daemon refuses at this point stays unregistered; `list_hooks` shows that.
        if let Err(status) = hook_service(&shared.channel).register_hook(request).await {
            return (true, Some(status.into()));
        }
    }
    shared.status.send_replace(StreamStatus::Open);
    drop(shared);
    loop {
        let event = match events.message().await {
            Ok(Some(event)) => event,
            Ok(None) => return (true, None),
            Err(status) => return (true, Some(status.into())),
        };
        let Some(shared) = weak.upgrade() else { return (true, None) };
        match event.kind() {
            HookEventKind::HookEvent => run_handler(&shared, event),
            HookEventKind::HookCancel => {
                if let Some(running) = shared.lock().running.remove(&event.call_id) {
                    running.abort();
                }
            }
            HookEventKind::HookGoodbye => return (true, None),
            // `HookRefused` reports an invalid response, which the daemon has already handled.
            HookEventKind::HookHello | HookEventKind::HookRefused => {}
        }
    }
}

fn run_handler(shared: &Arc<ClientShared>, event: HookEvent) {
    let mut state = shared.lock();
    let call_id = event.call_id;
    if event.redelivered {
        if state.running.contains_key(&call_id) {
            return;
        }
        let known = state.sent_responses.iter().find(|response| response.call_id == call_id).cloned();
        if let (Some(response), Some(responses)) = (known, &state.responses) {
            // If the queue is full, the response is dropped and the call times out in the daemon.
            drop(responses.try_send(response));
            return;
        }
    }
    // A hook that was just unregistered answers without a change.
    let hook = state.hooks.get(&event.hook_id).cloned().unwrap_or_else(|| Hook::on(""));
    let weak = Arc::downgrade(shared);
    let task = tokio::spawn(async move {
        let (event_id, hook_id) = (event.event_id.clone(), event.hook_id.clone());
        // If the handler sends requests to the daemon's agent, these requests name this hook, so that the hook is not
        // called for its own requests.
        let response = HANDLED_EVENT.scope(Handling { event_id, hook_id }, call_handler(&hook, &event)).await;
        let waits = event.timeout_ms > 0;
        let responses = weak.upgrade().and_then(|shared| {
            let mut state = shared.lock();
            state.running.remove(&call_id);
            if !waits {
                return None;
            }
            if state.sent_responses.len() >= MAX_KEPT_RESPONSES {
                state.sent_responses.pop_front();
            }
            state.sent_responses.push_back(response.clone());
            state.responses.clone()
        });
        if let Some(responses) = responses {
            // If the stream has just broken, the daemon sends the call again, and the kept response answers it.
            drop(responses.send(response).await);
        }
    });
    state.running.insert(call_id, task.abort_handle());
}

async fn call_handler(hook: &Hook, event: &HookEvent) -> HookResponse {
    let result = match DecodedEvent::decode(event) {
        Ok(event) => {
            let handler = Arc::clone(&hook.handler);
            // A panic is a failure of this hook and must not end the stream.
            let called = std::panic::catch_unwind(AssertUnwindSafe(|| handler(event)));
            match called {
                Ok(future) => {
                    AssertUnwindSafe(future).catch_unwind().await.unwrap_or_else(|_| panic_result())
                }
                Err(_) => panic_result(),
            }
        }
        Err(error) => HandlerResult::failed(error),
    };
    result.to_message(&event.hook_id, &event.event_id, event.call_id)
}

fn panic_result() -> HandlerResult {
    HandlerResult::failed("the handler panicked")
}
