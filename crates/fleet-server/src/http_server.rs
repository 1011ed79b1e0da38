// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Serves the HTTP API. A client that sends slowly or nothing holds a connection only for a short time.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ConnectInfo;
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use axum::{Json, Router};
use hyper::body::Incoming;
use hyper::service::Service as _;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use crate::ingest::wait_for_stop;

/// How long a client may take to send the head of a request, also of the next one on the same connection.
const REQUEST_HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a request may take, including the time in which its body is sent.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum length of the head of a request.
const MAX_HEAD_BYTES: usize = 32 << 10;
/// Maximum number of connections.
const MAX_HTTP_CONNECTIONS: usize = 4096;
/// Pause after a connection could not be accepted, for example because there are too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves requests until the server stops, and finishes those that have begun.
pub(crate) async fn serve_http(listener: TcpListener, app: Router, mut stop: watch::Receiver<bool>) {
    let places = Arc::new(Semaphore::new(MAX_HTTP_CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            () = wait_for_stop(&mut stop) => break,
            accepted = accept(&listener, &places) => accepted,
        };
        // Connections that have ended.
        while connections.try_join_next().is_some() {}
        match accepted {
            Ok((stream, address, place)) => {
                let (app, stop) = (app.clone(), stop.clone());
                connections.spawn(async move {
                    serve_connection(stream, address, app, stop).await;
                    drop(place);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "a connection cannot be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    while connections.join_next().await.is_some() {}
}

/// Waits for a place, and then for a connection.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> std::io::Result<(TcpStream, SocketAddr, tokio::sync::OwnedSemaphorePermit)> {
    let place = places.clone().acquire_owned().await.map_err(std::io::Error::other)?;
    let (stream, address) = listener.accept().await?;
    Ok((stream, address, place))
}

fn slow_request() -> Value {
    json!({ "error": { "message": "the request took too long", "hint": null } })
}

async fn serve_connection(
    stream: TcpStream,
    address: SocketAddr,
    app: Router,
    mut stop: watch::Receiver<bool>,
) {
    let app = TowerToHyperService::new(app);
    let service = hyper::service::service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(address));
        let response = app.call(request);
        async move {
            let response = tokio::time::timeout(REQUEST_TIMEOUT, response).await;
            response.unwrap_or_else(|_| {
                Ok::<_, Infallible>((StatusCode::REQUEST_TIMEOUT, Json(slow_request())).into_response())
            })
        }
    });
    let mut builder = hyper::server::conn::http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(REQUEST_HEAD_TIMEOUT).max_buf_size(MAX_HEAD_BYTES);
    let mut serving = std::pin::pin!(builder.serve_connection(TokioIo::new(stream), service));
    let served = tokio::select! {
        served = serving.as_mut() => served,
        () = wait_for_stop(&mut stop) => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    if let Err(error) = served {
        tracing::debug!(%error, "a connection failed");
    }
}
