// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The stream: opened, kept open, opened again. Questions come in any number; each has a task of its own.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::FutureExt;
use tenterhook_proto::v1::{Handling, HookEvent, HookEventKind, HookResponse};
use tokio::sync::mpsc;

use crate::agent::HANDLING;
use crate::client::{Shared, Stands, rpc};
use crate::{Answer, Error, Event, Hook};

/// How long to wait before the stream is opened again, at first and at most.
const SHORTEST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(5);
/// How many answers may wait to be sent.
const ANSWERS: usize = 4096;
/// How many answers are kept in case the stream breaks before they arrive.
const KEPT: usize = 256;

/// Sees to it that a stream is open from now on.
pub(crate) fn start(shared: &Arc<Shared>) {
    let mut state = shared.lock();
    let over = matches!(*shared.stands.borrow(), Stands::Over(_));
    if over || state.task.is_some() {
        return;
    }
    let weak = Arc::downgrade(shared);
    state.task = Some(tokio::spawn(keep_open(weak)).abort_handle());
}

async fn keep_open(weak: Weak<Shared>) {
    let mut pause = SHORTEST;
    loop {
        let (opened, error) = once(&weak).await;
        let Some(shared) = weak.upgrade() else { return };
        shared.lock().answers = None;
        if let Some(error) = error.as_ref().filter(|error| !error.passes()) {
            shared.stands.send_replace(Stands::Over(error.clone()));
            return;
        }
        shared.stands.send_replace(Stands::Opening(error));
        drop(shared);
        pause = if opened { SHORTEST } else { (pause * 2).min(LONGEST) };
        // Many programs whose daemon was started anew should not come all at once.
        let mut luck = [0];
        let luck = getrandom::fill(&mut luck).map_or(0, |()| u8::from_ne_bytes(luck));
        tokio::time::sleep(pause.mul_f64(0.75 + f64::from(luck) / 512.0)).await;
    }
}

/// One stream, from its beginning to its end. Whether it was open, and why it ended.
async fn once(weak: &Weak<Shared>) -> (bool, Option<Error>) {
    let Some(shared) = weak.upgrade() else { return (false, None) };
    let (sender, mut waiting) = mpsc::channel::<HookResponse>(ANSWERS);
    let answers = futures_util::stream::poll_fn(move |cx| waiting.poll_recv(cx));
    if let Err(error) = shared.channel.ready().await {
        return (false, Some(error));
    }
    let mut events = match rpc(&shared.channel).hook_stream(answers).await {
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
        state.answers = Some(sender);
        state.hooks.iter().filter(|(id, _)| !known.contains(id)).map(|(id, hook)| hook.request(id)).collect()
    };
    for request in missing {
        // A hook that the daemon does not take any more is not there; the list says so.
        if let Err(status) = rpc(&shared.channel).register_hook(request).await {
            return (true, Some(status.into()));
        }
    }
    shared.stands.send_replace(Stands::Open);
    drop(shared);
    loop {
        let event = match events.message().await {
            Ok(Some(event)) => event,
            Ok(None) => return (true, None),
            Err(status) => return (true, Some(status.into())),
        };
        let Some(shared) = weak.upgrade() else { return (true, None) };
        match event.kind() {
            HookEventKind::HookEvent => ask(&shared, event),
            HookEventKind::HookCancel => {
                if let Some(running) = shared.lock().running.remove(&event.call_id) {
                    running.abort();
                }
            }
            HookEventKind::HookGoodbye => return (true, None),
            // What an unusable answer meant is decided already.
            HookEventKind::HookHello | HookEventKind::HookRefused => {}
        }
    }
}

fn ask(shared: &Arc<Shared>, event: HookEvent) {
    let mut state = shared.lock();
    let call_id = event.call_id;
    if event.redelivered {
        if state.running.contains_key(&call_id) {
            return;
        }
        let known = state.answered.iter().find(|answer| answer.call_id == call_id).cloned();
        if let (Some(answer), Some(answers)) = (known, &state.answers) {
            // Where there is no room the daemon's time-out decides.
            drop(answers.try_send(answer));
            return;
        }
    }
    // A hook that was just taken back has nothing to object.
    let hook = state.hooks.get(&event.hook_id).cloned().unwrap_or_else(|| Hook::on(""));
    let weak = Arc::downgrade(shared);
    let task = tokio::spawn(async move {
        let (event_id, hook_id) = (event.event_id.clone(), event.hook_id.clone());
        // What the handler asks of the daemon's agent is asked on its behalf.
        let response = HANDLING.scope(Handling { event_id, hook_id }, answer(&hook, &event)).await;
        let waits = event.timeout_ms > 0;
        let answers = weak.upgrade().and_then(|shared| {
            let mut state = shared.lock();
            state.running.remove(&call_id);
            if !waits {
                return None;
            }
            if state.answered.len() >= KEPT {
                state.answered.pop_front();
            }
            state.answered.push_back(response.clone());
            state.answers.clone()
        });
        if let Some(answers) = answers {
            // If the stream has just broken, the question comes again, and the answer is kept.
            drop(answers.send(response).await);
        }
    });
    state.running.insert(call_id, task.abort_handle());
}

async fn answer(hook: &Hook, event: &HookEvent) -> HookResponse {
    let answer = match Event::read(event) {
        Ok(event) => {
            let handler = Arc::clone(&hook.handler);
            // A panic is the failure of this hook, and of nothing else.
            let called = std::panic::catch_unwind(AssertUnwindSafe(|| handler(event)));
            match called {
                Ok(future) => AssertUnwindSafe(future).catch_unwind().await.unwrap_or_else(|_| panicked()),
                Err(_) => panicked(),
            }
        }
        Err(error) => Answer::failed(error),
    };
    answer.to(&event.hook_id, &event.event_id, event.call_id)
}

fn panicked() -> Answer {
    Answer::failed("it panicked")
}
