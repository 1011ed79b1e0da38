// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Counts the memory of request bodies against the account that sends them, until the response is complete.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::middleware::{self, Next};
use hyper::body::{Body as HttpBody, Frame, SizeHint};

use super::Peer;
use crate::daemon::Daemon;
use crate::grpc;
use crate::shares::Share;

/// A body whose bytes are counted as they arrive.
struct CountedBody {
    body: Body,
    held: Arc<Mutex<Share<u32>>>,
}

/// Adds the counting to routes. A body that exceeds the account's share of memory is rejected.
pub(super) fn count_bodies(router: Router, daemon: &Arc<Daemon>, peer: Peer) -> Router {
    let daemon = Arc::clone(daemon);
    router.layer(middleware::from_fn(move |request: Request, next: Next| {
        let announced = usize::try_from(request.body().size_hint().lower()).unwrap_or(usize::MAX);
        daemon.bursts.note_request(announced);
        let held = daemon.reserve_bytes(peer, 0);
        async move {
            // A stream of answers has no end, so each of its messages is read separately.
            let Some(held) = held.filter(|_| request.uri().path() != grpc::HOOK_STREAM) else {
                return next.run(request).await;
            };
            let held = Arc::new(Mutex::new(held));
            let counted = Arc::clone(&held);
            let request = request.map(|body| Body::new(CountedBody { body, held: counted }));
            let response = next.run(request).await;
            drop(held);
            response
        }
    }))
}

impl HttpBody for CountedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        let length = match &frame {
            Some(Ok(frame)) => frame.data_ref().map_or(0, Bytes::len),
            _ => 0,
        };
        let fits = self.held.lock().unwrap_or_else(PoisonError::into_inner).try_grow(length);
        if fits {
            return Poll::Ready(frame);
        }
        let why = "requests of this account use too much memory";
        Poll::Ready(Some(Err(axum::Error::new(std::io::Error::other(why)))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
