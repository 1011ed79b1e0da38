// SPDX-License-Identifier: Apache-2.0 OR MIT

//! HTTP/2 on a connection that begins with its preface.

use std::time::Duration;

use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::Response;
use axum::{Extension, Router, middleware};
use hyper::body::Incoming;
use hyper::service::Service as _;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tonic::{Code, Status};

use super::authority::HostNames;
use crate::listen::Peer;

/// How HTTP/2 begins; no method of HTTP/1.1 does.
const PREFACE: &[u8] = b"PRI";
/// How often a silent peer is asked whether it is there, and how long it may take to say so.
const SIGNS: Duration = Duration::from_secs(20);
const PATIENCE: Duration = Duration::from_secs(10);
/// How many calls may be under way on one connection.
const AT_ONCE: u32 = 4096;
/// How much may be under way on one connection and in one stream, in bytes.
const WINDOW: u32 = 1024 * 1024;

/// Whether a connection that begins so speaks HTTP/2.
pub(crate) fn is(first: &[u8]) -> bool {
    first.starts_with(PREFACE)
}

/// Whether more has to be read to know.
pub(crate) fn may_be(first: &[u8]) -> bool {
    first.len() < PREFACE.len() && PREFACE.starts_with(first)
}

/// Whether HTTP/2 comes over this connection; nothing of it is read.
pub(crate) async fn comes(stream: &TcpStream) -> bool {
    let mut first = [0; PREFACE.len()];
    let peeked = async {
        loop {
            let read = stream.peek(&mut first).await.unwrap_or(0);
            let first = first.get(..read).unwrap_or_default();
            if read == 0 || !may_be(first) {
                return is(first);
            }
            // The rest of three bytes is on its way.
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(PATIENCE, peeked).await.unwrap_or(false)
}

/// Serves one connection over the Unix socket.
pub(crate) async fn unix_connection(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    router: Router,
    peer: Peer,
    end: watch::Receiver<bool>,
) {
    connection(HostNames::new(stream), router, peer, end).await;
}

/// Serves one connection.
pub(crate) async fn connection(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    router: Router,
    peer: Peer,
    mut end: watch::Receiver<bool>,
) {
    let router = router.layer(Extension(peer)).layer(middleware::from_fn(in_its_words));
    let service = TowerToHyperService::new(router);
    let service = hyper::service::service_fn(move |mut request: hyper::Request<Incoming>| {
        qualify_service(request.uri_mut());
        service.call(request)
    });
    let mut builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .keep_alive_interval(Some(SIGNS))
        .keep_alive_timeout(PATIENCE)
        .max_concurrent_streams(AT_ONCE)
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(WINDOW * 4);
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

/// The A3S hook design has its service in no package; clients that are generated from it call it by that name.
fn qualify_service(uri: &mut Uri) {
    let Some(method) = uri.path().strip_prefix("/HookService/") else { return };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = format!("/tenterhook.v1.HookService/{method}").parse().ok();
    if let Ok(qualified) = Uri::from_parts(parts) {
        *uri = qualified;
    }
}

/// HTTP/2 names the host in the address; whoever looks for it looks at the header. And whoever speaks gRPC
/// hears a refusal in gRPC.
async fn in_its_words(mut request: Request, next: Next) -> Response {
    let host = request.uri().authority().and_then(|host| HeaderValue::from_str(host.as_str()).ok());
    if let (Some(host), false) = (host, request.headers().contains_key(header::HOST)) {
        request.headers_mut().insert(header::HOST, host);
    }
    let speaks = request.headers().get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
    let speaks_grpc = speaks.is_some_and(|speaks| speaks.starts_with(b"application/grpc"));
    let response = next.run(request).await;
    let (code, why) = match response.status() {
        StatusCode::OK => return response,
        _ if !speaks_grpc => return response,
        StatusCode::UNAUTHORIZED => {
            (Code::Unauthenticated, "the token is missing or wrong; it is in `run/token` of the home")
        }
        StatusCode::FORBIDDEN => (Code::PermissionDenied, "your account may only call hooks here"),
        StatusCode::NOT_FOUND => (Code::Unimplemented, "there is no such service"),
        _ => (Code::FailedPrecondition, "the daemon does not take such a request"),
    };
    Status::new(code, why).into_http()
}
