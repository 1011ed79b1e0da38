// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The stream of one program: events out, answers in.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::Stream;
use tenterhook_engine::BoxFuture;
use tenterhook_engine::sdk::{Attached, Client, Unwanted};
use tenterhook_proto::v1::{ErrorCode, HookEvent, HookEventKind, HookResponse, StreamHello};
use tokio::task::AbortHandle;
use tonic::{Status, Streaming};

use super::service::Program;
use super::words;
use crate::daemon::Daemon;
use crate::sdk::{self, Code, Id};

/// What goes to the program, until it or we end.
pub(crate) struct Outgoing {
    attached: Attached,
    /// What comes before everything else.
    first: Option<HookEvent>,
    /// What answers brought about.
    about: tokio::sync::mpsc::Receiver<Result<HookEvent, Status>>,
    ending: BoxFuture<'static, ()>,
    state: State,
    left: Left,
}

#[derive(PartialEq, Eq)]
enum State {
    Open,
    Over,
}

/// Says that the stream has ended, however it did.
struct Left {
    daemon: Arc<Daemon>,
    client: Arc<Client>,
    id: Id,
    number: u64,
    reader: AbortHandle,
}

/// How many remarks about answers may wait; more are of no use to anybody.
const REMARKS: usize = 64;
/// The longest id of a hook that the log repeats.
const MAX_HOOK_ID_CHARS: usize = 64;

pub(super) async fn open(
    daemon: &Arc<Daemon>,
    program: Program,
    mut answers: Streaming<HookResponse>,
) -> Result<Outgoing, Status> {
    let Program { peer, id, name } = program;
    let client = sdk::sit_down(daemon, peer, &id, &name).await.map_err(|refusal| match refusal.code {
        Code::Refused => Status::permission_denied(refusal.message),
        _ => Status::resource_exhausted(refusal.message),
    })?;
    let attached = client.attach();
    let hooks = daemon.programs.of(&id);
    let hello = StreamHello {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        hook_ids: hooks.iter().map(|known| known.hook.id.to_string()).collect(),
        missed: i64::try_from(attached.missed).unwrap_or(i64::MAX),
    };
    let first = HookEvent { hello: Some(hello), ..words::of_kind(HookEventKind::HookHello) };
    let (remark, about) = tokio::sync::mpsc::channel(REMARKS);
    let (hearing, number, leaving) = (Arc::clone(&client), attached.number, Arc::clone(daemon));
    let own = id.clone();
    let reader = tokio::spawn(async move {
        while let Ok(Some(response)) = answers.message().await {
            let call_id = response.call_id;
            if call_id == 0 && response.hook_id.is_empty() {
                // A client that answers every message answers this one too, which asked nothing. A remark about it
                // would be answered again.
                tracing::debug!(client = hearing.name(), "answer to a message that is not a question");
                continue;
            }
            let hook = tenterhook_records::sanitize(&response.hook_id, MAX_HOOK_ID_CHARS);
            let Err(unwanted) = hearing.answer(words::reply(response)) else { continue };
            let code = match unwanted {
                Unwanted::TooLate => ErrorCode::ErrorTimedOut,
                Unwanted::Mismatch => ErrorCode::ErrorInvalid,
                Unwanted::Unknown | Unwanted::Twice => ErrorCode::ErrorUnknownCall,
                Unwanted::Ambiguous => {
                    tracing::error!(client = hearing.name(), hook, "answer refused: {unwanted}");
                    let why = format!("hook `{hook}`: {unwanted}");
                    let _ = remark.try_send(Err(Status::failed_precondition(why)));
                    break;
                }
            };
            let _ = remark.try_send(Ok(words::refused(call_id, code, unwanted.to_string())));
        }
        // Whoever says nothing more is on its way out.
        if hearing.detach(number) {
            leaving.left(&own);
        }
    });
    let ending = {
        let daemon = Arc::clone(daemon);
        Box::pin(async move { daemon.drained().await })
    };
    let left = Left { daemon: Arc::clone(daemon), client, id, number, reader: reader.abort_handle() };
    Ok(Outgoing { attached, first: Some(first), about, ending, state: State::Open, left })
}

impl Stream for Outgoing {
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
            Poll::Ready(Some(sent)) => return Poll::Ready(Some(Ok(words::event(sent)))),
            Poll::Ready(None) => {
                // Why the stream ends is the last remark.
                if let Poll::Ready(Some(remark)) = this.about.poll_recv(cx) {
                    return Poll::Ready(Some(remark));
                }
                this.state = State::Over;
                let taken_over = this.left.client.is_there();
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
            return Poll::Ready(Some(Ok(words::of_kind(HookEventKind::HookGoodbye))));
        }
        Poll::Pending
    }
}

impl Drop for Left {
    fn drop(&mut self) {
        self.reader.abort();
        if self.client.detach(self.number) {
            self.daemon.left(&self.id);
        }
    }
}
