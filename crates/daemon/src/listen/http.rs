// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Serves HTTP/1.1 on the socket and on TCP.

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
use super::counted_body::count_bodies;
use super::{Peer, TcpAccess, tcp_access};
use crate::api::ApiError;
use crate::shares::Shares;
use crate::{api, grpc};
use tenterhook_dashboard::{self as dashboard, DashboardPages, PeerAccount};

/// Maximum time for a request's head to arrive.
const REQUEST_HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of concurrent TCP connections; one account gets half of them.
const MAX_TCP_CONNECTIONS: usize = 1024;
/// Maximum size of a request's head. It includes cookies of other local servers: browsers keep about 180 of 4 KiB.
const MAX_HEAD_BYTES: usize = 1024 * 1024;
/// Actions on a hook: the last segment of their paths.
const HOOK_ACTIONS: &[&str] = &["enable", "disable", "test"];

/// Serves requests over TCP until `end` changes.
pub(crate) async fn serve_tcp(
    listener: TcpListener,
    access: TcpAccess,
    router: Router,
    mut end: watch::Receiver<bool>,
) {
    let router =
        count_bodies(router, access.daemon(), Peer::Token).merge(dashboard::router(DashboardPages::Machine));
    let router = router.layer(middleware::from_fn_with_state(Arc::new(access), tcp_access::authorize));
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
        let peer_account = tokio::task::block_in_place(|| PeerAccount::of_connection(from, local));
        let Some(place) = connections.try_take(peer_account, 1) else {
            tracing::warn!(?peer_account, "too many connections over TCP");
            continue;
        };
        let (admission, end) = (Admission::default(), end.clone());
        let router = router.clone().layer(Extension(peer_account)).layer(Extension(admission.clone()));
        tokio::spawn(async move {
            let serving = async {
                if grpc::begins_with_http2(&stream).await {
                    grpc::serve_connection(stream, router, Peer::Token, end).await;
                } else {
                    serve_connection(stream, router, Peer::Token, end).await;
                }
            };
            tokio::select! {
                () = serving => {}
                () = admission.wait_expired() => tracing::debug!(?peer_account, "a connection sent neither token nor cookie"),
            }
            drop(place);
        });
    }
}

/// Serves one connection.
pub(super) async fn serve_connection(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    router: Router,
    peer: Peer,
    mut end: watch::Receiver<bool>,
) {
    let service = TowerToHyperService::new(router.layer(Extension(peer)));
    let mut builder = hyper::server::conn::http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(REQUEST_HEAD_TIMEOUT).max_buf_size(MAX_HEAD_BYTES);
    let mut serving = std::pin::pin!(builder.serve_connection(TokioIo::new(stream), service));
    let served = tokio::select! {
        served = serving.as_mut() => served,
        _ = end.changed() => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    if let Err(error) = served {
        tracing::debug!(%error, "a connection failed");
    }
}

/// Restricts routes to hook calls and the health check, for accounts that do not own the state directory.
pub(super) fn allow_hook_calls_only(router: Router) -> Router {
    router.layer(middleware::from_fn(async |request: Request, next: Next| {
        let path = request.uri().path();
        let calls = request.method() == Method::POST
            && (is_hook_call(path) || path == "/v1/events" || path == grpc::FIRE);
        if calls || path == api::HEALTH_PATH {
            return next.run(request).await;
        }
        let hint = "this daemon serves the whole machine; ask its administrator";
        let error = ApiError::new(StatusCode::FORBIDDEN, "your account may only call hooks here");
        error.hint(hint).into_response()
    }))
}

/// Returns the two segments of a path below `/v1/hooks/`.
fn hook_path(path: &str) -> Option<(&str, &str)> {
    let words = path.strip_prefix("/v1/hooks/")?.split_once('/')?;
    (!words.1.contains('/')).then_some(words)
}

/// Whether the path is a hook call: a known harness and one of its events. An action on a hook is not a call, even if
/// the hook's id equals the name of a harness.
pub(super) fn is_hook_call(path: &str) -> bool {
    hook_path(path).is_some_and(|(harness, event)| {
        let known = tenterhook_harness::find_harness(harness).and_then(|harness| harness.event(event));
        known.is_some() && !HOOK_ACTIONS.contains(&event)
    })
}

/// Whether the path is handled as a hook call, even if its event is unknown.
pub(super) fn may_be_hook_call(path: &str) -> bool {
    hook_path(path).is_some_and(|(_, event)| !HOOK_ACTIONS.contains(&event))
}

/// A stream whose first bytes were already read.
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
            for verb in HOOK_ACTIONS {
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
