// SPDX-License-Identifier: Apache-2.0 OR MIT

//! An SDK client: a program with hooks, its stream, and the calls that are waiting for replies.

mod unnumbered_replies;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::messages::{CancelReason, HandlerError, SdkCall, SdkMessage, SdkReply};
use super::{A3sAnswer, RunFailure};
use crate::HookId;

/// How long pending calls wait for a disconnected client to reconnect. Their own time limits still apply.
pub const RECONNECT_GRACE: Duration = Duration::from_millis(500);
/// Maximum number of calls that may wait for one client.
pub const MAX_PENDING_CALLS: usize = 4096;
/// Maximum number of events kept for the observers of a disconnected client.
pub const MAX_QUEUED_EVENTS: usize = 256;

/// Maximum number of unread messages in a stream. A new stream starts with all pending calls and all queued events,
/// so it must have room for both.
const STREAM_CAPACITY: usize = 2 * MAX_PENDING_CALLS;
/// Maximum number of finished calls that are remembered, to distinguish a late reply from an invalid one.
const MAX_FINISHED_CALLS: usize = 1024;

/// A program with hooks.
pub struct SdkClient {
    name: Arc<str>,
    created: Instant,
    state: Mutex<ClientState>,
}

#[derive(Default)]
struct ClientState {
    stream: Option<mpsc::Sender<SdkMessage>>,
    /// Number of streams opened so far, which is also the current stream's number.
    stream_count: u64,
    /// When the last stream ended.
    disconnected: Option<Instant>,
    pending: BTreeMap<u64, PendingSdkCall>,
    queued_events: VecDeque<SdkCall>,
    missed: u64,
    finished: VecDeque<FinishedCall>,
    /// Whether the client replies without `call_id`. Each of its hooks then gets one call at a time.
    replies_unnumbered: bool,
    sequence_locks: BTreeMap<HookId, Arc<tokio::sync::Mutex<()>>>,
}

struct PendingSdkCall {
    call: SdkCall,
    answer: oneshot::Sender<Result<A3sAnswer, RunFailure>>,
}

struct FinishedCall {
    call_id: u64,
    hook: HookId,
    end: CallEnd,
    /// Number of the stream that was open when the call ended.
    stream: u64,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallEnd {
    Answered,
    Cancelled,
}

/// Result of sending a message to a client.
enum SendResult {
    Sent,
    /// The client does not read its messages.
    Full,
    /// There is no stream, or it has just ended.
    Disconnected,
}

/// Why a reply was not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RejectedReply {
    /// No call has this id.
    #[error("unknown call")]
    UnknownCall,
    /// The call has already been answered.
    #[error("this call was already answered; the first answer counts")]
    AlreadyAnswered,
    /// The call was cancelled.
    #[error("the reply came too late: the call was cancelled")]
    TooLate,
    /// The reply names another hook or event than the call.
    #[error("the reply names another hook or event than the call, so the hook has failed")]
    Mismatch,
    /// The reply has no call id and could belong to several calls.
    #[error(
        "the reply has no `call_id`, and more than one call of the hook is pending or was cancelled; send `call_id` back"
    )]
    Ambiguous,
}

/// An open stream of a client.
#[derive(Debug)]
pub struct SdkStream {
    /// Messages to the client. The channel closes when a newer stream is opened.
    pub messages: mpsc::Receiver<SdkMessage>,
    /// Number of the stream, for [`SdkClient::close_stream`].
    pub number: u64,
    /// Number of events for observers that were dropped while the client was disconnected.
    pub missed: u64,
}

/// Removes a pending call when its caller stops waiting, and tells the client that the call is cancelled.
struct PendingCallGuard<'a> {
    client: &'a SdkClient,
    call_id: u64,
    reason: CancelReason,
}

impl SdkClient {
    /// Creates a client without a stream.
    pub fn new(name: &str) -> Arc<Self> {
        Arc::new(Self { name: name.into(), created: Instant::now(), state: Mutex::default() })
    }

    /// Returns the name shown to users.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns whether the client has an open stream.
    pub fn is_connected(&self) -> bool {
        self.lock().stream.is_some()
    }

    /// Returns how long the client has had no stream; `None` if it is connected.
    pub fn disconnected_for(&self) -> Option<Duration> {
        let state = self.lock();
        state.stream.is_none().then(|| state.disconnected.unwrap_or(self.created).elapsed())
    }

    /// Returns the number of calls that wait for a reply.
    pub fn pending_calls(&self) -> usize {
        self.lock().pending.len()
    }

    /// Opens a stream and sends all pending calls again. The client's earlier stream ends.
    pub fn open_stream(&self) -> SdkStream {
        let (sender, messages) = mpsc::channel(STREAM_CAPACITY);
        let mut state = self.lock();
        state.stream_count += 1;
        let pending = state.pending.values().map(|pending| pending.call.clone());
        let redelivered: Vec<_> = pending.chain(state.queued_events.iter().cloned()).collect();
        for call in redelivered {
            // The channel has room for all pending calls.
            let _ = sender.try_send(SdkMessage::Call(SdkCall { redelivered: true, ..call }));
        }
        state.queued_events.clear();
        state.stream = Some(sender);
        state.disconnected = None;
        SdkStream { messages, number: state.stream_count, missed: std::mem::take(&mut state.missed) }
    }

    /// Closes a stream. Pending calls wait for [`RECONNECT_GRACE`], then they fail. Returns whether the closed stream
    /// was the current one.
    pub fn close_stream(self: &Arc<Self>, number: u64) -> bool {
        let mut state = self.lock();
        if state.stream_count != number || state.stream.is_none() {
            return false;
        }
        state.disconnect();
        drop(state);
        let client = Arc::clone(self);
        tokio::spawn(async move {
            tokio::time::sleep(RECONNECT_GRACE).await;
            let mut state = client.lock();
            if state.stream_count == number {
                // Dropping a pending call makes its caller fail.
                state.pending.clear();
            }
        });
        true
    }

    /// Accepts a reply and passes it to the caller that waits for it.
    pub fn accept_reply(&self, reply: SdkReply) -> Result<(), RejectedReply> {
        let mut state = self.lock();
        let call_id = match reply.call_id {
            Some(call_id) => call_id,
            None => state.match_unnumbered(&reply)?,
        };
        let Some(PendingSdkCall { call, answer }) = state.pending.remove(&call_id) else {
            let finished = state.finished.iter().find(|finished| finished.call_id == call_id);
            return Err(match finished.map(|finished| finished.end) {
                Some(CallEnd::Answered) => RejectedReply::AlreadyAnswered,
                Some(CallEnd::Cancelled) => RejectedReply::TooLate,
                None => RejectedReply::UnknownCall,
            });
        };
        state.remember_finished(call_id, &call.hook, CallEnd::Answered);
        drop(state);
        let fits = *call.hook == *reply.hook && reply.matches(&call);
        let result = match reply.answer {
            _ if !fits => Err(RunFailure::Failed(RejectedReply::Mismatch.to_string())),
            Ok(answer) => Ok(answer),
            Err(HandlerError(why)) => Err(RunFailure::Failed(why)),
        };
        // The caller may have stopped waiting by now.
        let _ = answer.send(result);
        if fits { Ok(()) } else { Err(RejectedReply::Mismatch) }
    }

    /// Removes a hook that is no longer registered. Its pending calls fail.
    pub fn remove_hook(&self, hook: &str) {
        let mut state = self.lock();
        let of_hook = state.pending.iter().filter(|(_, pending)| *pending.call.hook == *hook);
        let call_ids: Vec<_> = of_hook.map(|(id, _)| *id).collect();
        for call_id in call_ids {
            if let Some(PendingSdkCall { call, .. }) = state.pending.remove(&call_id) {
                state.cancel(call_id, &call.hook, CancelReason::Unregistered);
            }
        }
        state.sequence_locks.remove(hook);
        state.queued_events.retain(|call| *call.hook != *hook);
    }

    /// Sends a call and waits for the answer.
    pub(super) async fn call(&self, call: SdkCall, timeout: Duration) -> Result<A3sAnswer, RunFailure> {
        let began = Instant::now();
        let lock = self.lock().sequence_lock(&call.hook);
        let _lock = match lock.map(|lock| tokio::time::timeout(timeout, lock.lock_owned())) {
            Some(locked) => Some(locked.await.map_err(|_| RunFailure::TimedOut)?),
            None => None,
        };
        let timeout = timeout.saturating_sub(began.elapsed());
        let mut guard =
            PendingCallGuard { client: self, call_id: call.call_id, reason: CancelReason::CallerGone };
        let answer = self.send_call(call).map_err(|why| RunFailure::Unreachable(why.to_owned()))?;
        match tokio::time::timeout(timeout, answer).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(RunFailure::Unreachable("the client disconnected".to_owned())),
            Err(_) => {
                guard.reason = CancelReason::TimedOut;
                Err(RunFailure::TimedOut)
            }
        }
    }

    /// Sends an event to an observer, without waiting.
    pub(super) fn notify(&self, event: SdkCall) {
        let mut state = self.lock();
        match state.try_send(SdkMessage::Call(event.clone())) {
            SendResult::Sent => {}
            SendResult::Disconnected if state.queued_events.len() < MAX_QUEUED_EVENTS => {
                state.queued_events.push_back(event);
            }
            // The next stream reports the number of missed events.
            SendResult::Full | SendResult::Disconnected => state.missed += 1,
        }
    }

    /// Reports to the client that its reply was invalid.
    pub(super) fn refuse_reply(&self, call_id: u64, why: &str) {
        let _ = self.lock().try_send(SdkMessage::Refused { call_id, why: why.to_owned() });
    }

    fn send_call(
        &self,
        call: SdkCall,
    ) -> Result<oneshot::Receiver<Result<A3sAnswer, RunFailure>>, &'static str> {
        let mut state = self.lock();
        if state.pending.len() >= MAX_PENDING_CALLS {
            return Err("too many calls wait for the client");
        }
        let may_reconnect = state.stream.is_some()
            || state.disconnected.is_some_and(|since| since.elapsed() < RECONNECT_GRACE);
        match state.try_send(SdkMessage::Call(call.clone())) {
            SendResult::Sent => {}
            // The stream has just ended; the call is sent again if the client reconnects in time.
            SendResult::Disconnected if may_reconnect => {}
            SendResult::Disconnected => return Err("the client is not connected"),
            SendResult::Full => return Err("the client does not read its messages"),
        }
        let (answer, receiver) = oneshot::channel();
        state.pending.insert(call.call_id, PendingSdkCall { call, answer });
        Ok(receiver)
    }

    fn lock(&self) -> MutexGuard<'_, ClientState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClientState {
    fn disconnect(&mut self) {
        self.stream = None;
        self.disconnected = Some(Instant::now());
    }

    fn cancel(&mut self, call_id: u64, hook: &HookId, reason: CancelReason) {
        self.remember_finished(call_id, hook, CallEnd::Cancelled);
        // The message may be lost if the client does not read. That is harmless: nothing waits for the call any more.
        let _ = self.try_send(SdkMessage::Cancelled { call_id, reason });
    }

    fn try_send(&self, message: SdkMessage) -> SendResult {
        let Some(stream) = &self.stream else { return SendResult::Disconnected };
        match stream.try_reserve() {
            Ok(permit) => {
                permit.send(message);
                SendResult::Sent
            }
            Err(mpsc::error::TrySendError::Full(())) => SendResult::Full,
            Err(mpsc::error::TrySendError::Closed(())) => SendResult::Disconnected,
        }
    }

    fn remember_finished(&mut self, call_id: u64, hook: &HookId, end: CallEnd) {
        if self.finished.len() >= MAX_FINISHED_CALLS {
            self.finished.pop_front();
        }
        self.finished.push_back(FinishedCall {
            call_id,
            hook: Arc::clone(hook),
            end,
            stream: self.stream_count,
        });
    }
}

impl Drop for PendingCallGuard<'_> {
    fn drop(&mut self) {
        let mut state = self.client.lock();
        if let Some(PendingSdkCall { call, .. }) = state.pending.remove(&self.call_id) {
            state.cancel(self.call_id, &call.hook, self.reason);
        }
    }
}

impl fmt::Debug for SdkClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SdkClient").field("name", &self.name).finish_non_exhaustive()
    }
}
