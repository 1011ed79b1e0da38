// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Serves HTTP/2 on connections that start with its preface.

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

use super::host_names::HostNames;
use crate::listen::Peer;

/// The first bytes of HTTP/2. No HTTP/1.1 method starts like this.
const PREFACE: &[u8] = b"PRI";
/// Interval between HTTP/2 pings on an idle connection, and maximum time for the answer.
const PING_INTERVAL: Duration = Duration::from_secs(20);
const PING_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of concurrent calls on one connection.
const MAX_CONCURRENT_CALLS: u32 = 4096;
/// Flow-control window of a connection and of each stream.
const FLOW_WINDOW_BYTES: u32 = 1024 * 1024;

/// Whether these first bytes are HTTP/2.
pub(crate) fn is_http2(first: &[u8]) -> bool {
    first.starts_with(PREFACE)
}

/// Whether these bytes are the start of the preface, so that more bytes are needed to decide.
pub(crate) fn may_be_http2(first: &[u8]) -> bool {
    first.len() < PREFACE.len() && PREFACE.starts_with(first)
}

/// Whether a connection starts with HTTP/2. The bytes are not consumed.
pub(crate) async fn begins_with_http2(stream: &TcpStream) -> bool {
    let mut first = [0; PREFACE.len()];
    let peeked = async {
        loop {
            let read = stream.peek(&mut first).await.unwrap_or(0);
            let first = first.get(..read).unwrap_or_default();
            if read == 0 || !may_be_http2(first) {
                return is_http2(first);
            }
            // Not all three bytes have arrived yet.
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(PING_TIMEOUT, peeked).await.unwrap_or(false)
}

/// Serves one connection over the Unix socket.
pub(crate) async fn serve_unix(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    router: Router,
    peer: Peer,
    end: watch::Receiver<bool>,
) {
    serve_connection(HostNames::new(stream), router, peer, end).await;
}

/// Serves one connection.
pub(crate) async fn serve_connection(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    router: Router,
    peer: Peer,
    mut end: watch::Receiver<bool>,
) {
    let router = router.layer(Extension(peer)).layer(middleware::from_fn(adapt_to_grpc));
    let service = TowerToHyperService::new(router);
    let service = hyper::service::service_fn(move |mut request: hyper::Request<Incoming>| {
        qualify_service(request.uri_mut());
        service.call(request)
    });
    let mut builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .keep_alive_interval(Some(PING_INTERVAL))
        .keep_alive_timeout(PING_TIMEOUT)
        .max_concurrent_streams(MAX_CONCURRENT_CALLS)
        .initial_stream_window_size(FLOW_WINDOW_BYTES)
        .initial_connection_window_size(FLOW_WINDOW_BYTES * 4);
    let mut serving = std::pin::pin!(builder.serve_connection(TokioIo::new(stream), service));
    let served = tokio::select! {
        served = serving.as_mut() => served,
        _ = end.changed() => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    if let Err(error) = served {
        tracing::debug!(%error, "a gRPC connection failed");
    }
}

/// Adds our package to the service name. Our protocol extends the hook design of another project, A3S, which has no
/// package. Clients generated from the A3S files send none.
fn qualify_service(uri: &mut Uri) {
    let Some(method) = uri.path().strip_prefix("/HookService/") else { return };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = format!("/tenterhook.v1.HookService/{method}").parse().ok();
    if let Ok(qualified) = Uri::from_parts(parts) {
        *uri = qualified;
    }
}

/// Adapts requests and refusals. HTTP/2 has the host in the address, so it is copied to the `Host` header that the
/// checks read. gRPC clients receive refusals as gRPC statuses.
async fn adapt_to_grpc(mut request: Request, next: Next) -> Response {
    let host = request.uri().authority().and_then(|host| HeaderValue::from_str(host.as_str()).ok());
    if let (Some(host), false) = (host, request.headers().contains_key(header::HOST)) {
        request.headers_mut().insert(header::HOST, host);
    }
    let speaks = request.headers().get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
    let is_grpc = speaks.is_some_and(|speaks| speaks.starts_with(b"application/grpc"));
    let response = next.run(request).await;
    let (code, why) = match response.status() {
        StatusCode::OK => return response,
        _ if !is_grpc => return response,
        StatusCode::UNAUTHORIZED => (
            Code::Unauthenticated,
            "the token is missing or wrong; it is in `run/token` of the state directory",
        ),
        StatusCode::FORBIDDEN => (Code::PermissionDenied, "your account may only call hooks here"),
        StatusCode::NOT_FOUND => (Code::Unimplemented, "unknown service"),
        _ => (Code::FailedPrecondition, "the daemon does not accept this request"),
    };
    Status::new(code, why).into_http()
}
