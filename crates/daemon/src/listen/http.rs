// SPDX-License-Identifier: Apache-2.0 OR MIT

//! HTTP/1.1, on the socket and on TCP.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::extract::Request;
use axum::http::{Method, StatusCode};
use axum::middleware::{self, Next};
use axum::response::IntoResponse;
use axum::{Extension, Router};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

use super::{Door, Peer, door};
use crate::dashboard::{self, Neighbour};
use crate::{api, grpc};

/// How long the head of a request may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How many connections over TCP there may be at once.
const AT_ONCE: usize = 512;

/// Answers requests over TCP, until told to end.
pub(crate) async fn tcp(listener: TcpListener, door: Door, router: Router, mut end: watch::Receiver<bool>) {
    let router = router.merge(dashboard::router());
    let router = router.layer(middleware::from_fn_with_state(Arc::new(door), door::let_in));
    let room = Arc::new(Semaphore::new(AT_ONCE));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = end.changed() => return,
        };
        let Ok((stream, from)) = accepted else {
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        };
        let Ok(room) = Arc::clone(&room).try_acquire_owned() else {
            tracing::warn!("too many connections over TCP");
            continue;
        };
        let (router, end) = (router.clone().layer(Extension(Neighbour(from))), end.clone());
        tokio::spawn(async move {
            if grpc::comes(&stream).await {
                grpc::connection(stream, router, Peer::Token, end).await;
            } else {
                connection(stream, router, Peer::Token, end).await;
            }
            drop(room);
        });
    }
}

/// Serves one connection.
pub(super) async fn connection(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    router: Router,
    peer: Peer,
    mut end: watch::Receiver<bool>,
) {
    let service = TowerToHyperService::new(router.layer(Extension(peer)));
    let mut builder = hyper::server::conn::http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(PATIENCE);
    let mut serving = std::pin::pin!(builder.serve_connection(TokioIo::new(stream), service));
    let served = tokio::select! {
        served = serving.as_mut() => served,
        _ = end.changed() => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    if let Err(error) = served {
        tracing::debug!(%error, "a connection ended badly");
    }
}

/// What an account that the home does not belong to may ask for: hooks, and whether we are well.
pub(super) fn for_hooks_only(router: Router) -> Router {
    router.layer(middleware::from_fn(async |request: Request, next: Next| {
        let path = request.uri().path();
        let calls =
            request.method() == Method::POST && (is_hook(path) || path == "/v1/events" || path == grpc::FIRE);
        if calls || path == api::HEALTH {
            return next.run(request).await;
        }
        let hint = "this home belongs to the machine: ask whoever runs it";
        api::error(StatusCode::FORBIDDEN, "your account may only call hooks here", Some(hint)).into_response()
    }))
}

/// The path of a harness's call, and not of a hook that is switched.
pub(super) fn is_hook(path: &str) -> bool {
    let parts = path.strip_prefix("/v1/hooks/").and_then(|rest| rest.split_once('/'));
    parts.is_some_and(|(harness, event)| {
        let event = !event.contains('/') && !matches!(event, "enable" | "disable");
        event && tenterhook_harness::find(harness).is_some()
    })
}

/// A stream whose first bytes were read already.
pub(super) struct Replayed<S> {
    first: Vec<u8>,
    at: usize,
    rest: S,
}

impl<S> Replayed<S> {
    pub(super) fn new(first: Vec<u8>, rest: S) -> Self {
        Self { first, at: 0, rest }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Replayed<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let left = self.first.get(self.at..).unwrap_or_default();
        if left.is_empty() {
            return Pin::new(&mut self.rest).poll_read(cx, buf);
        }
        let taken = left.len().min(buf.remaining());
        buf.put_slice(left.get(..taken).unwrap_or_default());
        self.at += taken;
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Replayed<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.rest).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.rest).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.rest).poll_shutdown(cx)
    }
}
