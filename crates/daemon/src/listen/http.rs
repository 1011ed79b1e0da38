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
use tokio::sync::watch;

use super::admission::Admission;
use super::body::count_bodies;
use super::{Door, Peer, door};
use crate::api::ApiError;
use crate::shares::Shares;
use crate::{api, grpc};
use tenterhook_dashboard::{self as dashboard, PeerAccount};

/// How long the head of a request may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How many connections over TCP there may be at once; one account gets half of them.
const MAX_TCP_CONNECTIONS: usize = 1024;
/// How long the head of a request may be. Cookies of other local servers are part of it: browsers keep some 180 of
/// 4 KiB for one host.
const MAX_HEAD_BYTES: usize = 1024 * 1024;
/// What can be done to a hook, as the last word of its path.
const HOOK_VERBS: &[&str] = &["enable", "disable", "test"];

/// Answers requests over TCP, until told to end.
pub(crate) async fn tcp(listener: TcpListener, door: Door, router: Router, mut end: watch::Receiver<bool>) {
    let router = count_bodies(router, door.daemon(), Peer::Token).merge(dashboard::router());
    let router = router.layer(middleware::from_fn_with_state(Arc::new(door), door::let_in));
    let connections = Shares::new(MAX_TCP_CONNECTIONS);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = end.changed() => return,
        };
        let Ok((stream, from)) = accepted else {
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        };
        let Ok(local) = stream.local_addr() else { continue };
        let neighbour = tokio::task::block_in_place(|| PeerAccount::of_connection(from, local));
        let Some(place) = connections.try_take(neighbour, 1) else {
            tracing::warn!(?neighbour, "too many connections over TCP");
            continue;
        };
        let (admission, end) = (Admission::default(), end.clone());
        let router = router.clone().layer(Extension(neighbour)).layer(Extension(admission.clone()));
        tokio::spawn(async move {
            let serving = async {
                if grpc::begins_with_http2(&stream).await {
                    grpc::serve_connection(stream, router, Peer::Token, end).await;
                } else {
                    connection(stream, router, Peer::Token, end).await;
                }
            };
            tokio::select! {
                () = serving => {}
                () = admission.expired() => tracing::debug!(?neighbour, "a connection showed neither token nor cookie"),
            }
            drop(place);
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
    builder.timer(TokioTimer::new()).header_read_timeout(PATIENCE).max_buf_size(MAX_HEAD_BYTES);
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
        let calls = request.method() == Method::POST
            && (is_hook_call(path) || path == "/v1/events" || path == grpc::FIRE);
        if calls || path == api::HEALTH {
            return next.run(request).await;
        }
        let hint = "this home belongs to the machine: ask whoever runs it";
        let error = ApiError::new(StatusCode::FORBIDDEN, "your account may only call hooks here");
        error.hint(hint).into_response()
    }))
}

/// The two words of a path below `/v1/hooks/`.
fn hook_path(path: &str) -> Option<(&str, &str)> {
    let words = path.strip_prefix("/v1/hooks/")?.split_once('/')?;
    (!words.1.contains('/')).then_some(words)
}

/// The path of a harness's call: a known harness, and an event of it. What can be done to a hook is not a call,
/// although a hook may have the name of a harness as its id.
pub(super) fn is_hook_call(path: &str) -> bool {
    hook_path(path).is_some_and(|(harness, event)| {
        let known = tenterhook_harness::find_harness(harness).and_then(|harness| harness.event(event));
        known.is_some() && !HOOK_VERBS.contains(&event)
    })
}

/// Everything that is answered as a harness's call, whether or not its event is known.
pub(super) fn may_be_hook_call(path: &str) -> bool {
    hook_path(path).is_some_and(|(_, event)| !HOOK_VERBS.contains(&event))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_event_of_a_harness_can_be_confused_with_what_is_done_to_a_hook() {
        for harness in tenterhook_harness::HARNESSES {
            for verb in HOOK_VERBS {
                assert!(harness.event(verb).is_none(), "{} {verb}", harness.id);
                assert!(!is_hook_call(&format!("/v1/hooks/{}/{verb}", harness.id)));
            }
        }
    }

    #[test]
    fn only_known_events_of_known_harnesses_are_hook_calls() {
        assert!(is_hook_call("/v1/hooks/codex/pre-tool-use") && is_hook_call("/v1/hooks/codex/PreToolUse"));
        for path in [
            "/v1/hooks/codex/anything",
            "/v1/hooks/mine/PreToolUse",
            "/v1/hooks/codex/PreToolUse/x",
            "/v1/hooks",
        ] {
            assert!(!is_hook_call(path), "{path}");
        }
    }
}
