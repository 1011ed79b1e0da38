// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs one program's stream: sends events and receives answers.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::Stream;
use tenterhook_engine::BoxFuture;
use tenterhook_engine::sdk::{RejectedReply, SdkClient, SdkStream};
use tenterhook_proto::v1::{ErrorCode, HookEvent, HookEventKind, HookResponse, StreamHello};
use tokio::task::AbortHandle;
use tonic::{Status, Streaming};

use super::hook_service::CallingProgram;
use super::wire;
use crate::daemon::Daemon;
use crate::sdk::{self, ClientId, RefusalCode};

/// Messages to the program, until either side ends the stream.
pub(crate) struct OutgoingMessages {
    attached: SdkStream,
    /// The first message.
    first: Option<HookEvent>,
    about: tokio::sync::mpsc::Receiver<Result<HookEvent, Status>>,
    ending: BoxFuture<'static, ()>,
    state: State,
    left: StreamEnd,
}

#[derive(PartialEq, Eq)]
enum State {
    Open,
    Over,
}

/// Reports the end of the stream when dropped.
struct StreamEnd {
    daemon: Arc<Daemon>,
    client: Arc<SdkClient>,
    id: ClientId,
    number: u64,
    reader: AbortHandle,
}

/// Maximum number of queued remarks; further remarks are dropped. A remark tells the program why an answer was refused.
const MAX_WAITING_REMARKS: usize = 64;
/// Maximum length of a hook id in the log; longer ids are cut.
const MAX_HOOK_ID_CHARS: usize = 64;

pub(super) async fn open(
    daemon: &Arc<Daemon>,
    program: CallingProgram,
    mut answers: Streaming<HookResponse>,
) -> Result<OutgoingMessages, Status> {
    let CallingProgram { peer, id, name } = program;
    let client = sdk::open_client(daemon, peer, &id, &name).await.map_err(|refusal| match refusal.code {
        RefusalCode::Refused => Status::permission_denied(refusal.message),
        _ => Status::resource_exhausted(refusal.message),
    })?;
    let attached = client.open_stream();
    let hooks = daemon.programs.hooks_of(&id);
    let hello = StreamHello {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        hook_ids: hooks.iter().map(|known| known.hook.id.to_string()).collect(),
        missed: i64::try_from(attached.missed).unwrap_or(i64::MAX),
    };
    let first = HookEvent { hello: Some(hello), ..wire::message_of_kind(HookEventKind::HookHello) };
    let (remark, about) = tokio::sync::mpsc::channel(MAX_WAITING_REMARKS);
    let (hearing, number, leaving) = (Arc::clone(&client), attached.number, Arc::clone(daemon));
    let own = id.clone();
    let reader = tokio::spawn(async move {
        while let Ok(Some(response)) = answers.message().await {
            let call_id = response.call_id;
            if call_id == 0 && response.hook_id.is_empty() {
                // A client that answers every message also answers remarks. A remark about such an answer
                // would cause an endless exchange.
                tracing::debug!(client = hearing.name(), "answer to a message that is not a question");
                continue;
            }
            let hook = tenterhook_records::sanitize(&response.hook_id, MAX_HOOK_ID_CHARS);
            let Err(unwanted) = hearing.accept_reply(wire::read_reply(response)) else { continue };
            let code = match unwanted {
                RejectedReply::TooLate => ErrorCode::ErrorTimedOut,
                RejectedReply::Mismatch => ErrorCode::ErrorInvalid,
                RejectedReply::UnknownCall | RejectedReply::AlreadyAnswered => ErrorCode::ErrorUnknownCall,
                RejectedReply::Ambiguous => {
                    tracing::error!(client = hearing.name(), hook, "answer refused: {unwanted}");
                    let why = format!("hook `{hook}`: {unwanted}");
                    let _ = remark.try_send(Err(Status::failed_precondition(why)));
                    break;
                }
            };
            let _ = remark.try_send(Ok(wire::refused_answer(call_id, code, unwanted.to_string())));
        }
        // The program sends no more answers, so it is disconnecting.
        if hearing.close_stream(number) {
            leaving.stream_ended(&own);
        }
    });
    let ending = {
        let daemon = Arc::clone(daemon);
        Box::pin(async move { daemon.wait_drained().await })
    };
    let left = StreamEnd { daemon: Arc::clone(daemon), client, id, number, reader: reader.abort_handle() };
    Ok(OutgoingMessages { attached, first: Some(first), about, ending, state: State::Open, left })
}

impl Stream for OutgoingMessages {
    type Item = Result<HookEvent, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        if this.state == State::Over {
            return Poll::Ready(None);
        }
        if let Some(first) = this.first.take() {
            return Poll::Ready(Some(Ok(first)));
        }
        match this.attached.messages.poll_recv(cx) {
            Poll::Ready(Some(sent)) => return Poll::Ready(Some(Ok(wire::event_message(sent)))),
            Poll::Ready(None) => {
                // The last remark contains the reason why the stream ends.
                if let Poll::Ready(Some(remark)) = this.about.poll_recv(cx) {
                    return Poll::Ready(Some(remark));
                }
                this.state = State::Over;
                let taken_over = this.left.client.is_connected();
                return Poll::Ready(
                    taken_over.then(|| Err(Status::aborted("a newer stream of this client took over"))),
                );
            }
            Poll::Pending => {}
        }
        if let Poll::Ready(Some(remark)) = this.about.poll_recv(cx) {
            return Poll::Ready(Some(remark));
        }
        if this.ending.as_mut().poll(cx).is_ready() {
            this.state = State::Over;
            return Poll::Ready(Some(Ok(wire::message_of_kind(HookEventKind::HookGoodbye))));
        }
        Poll::Pending
    }
}

impl Drop for StreamEnd {
    fn drop(&mut self) {
        self.reader.abort();
        if self.client.close_stream(self.number) {
            self.daemon.stream_ended(&self.id);
        }
    }
}
