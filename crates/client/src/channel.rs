// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The HTTP/2 connection to the daemon. It is opened on first use and reopened after it breaks.

use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use hyper::body::Incoming;
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper::header::{AUTHORIZATION, HeaderName, HeaderValue};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio::sync::Mutex;
use tonic::body::Body;
use tonic::codegen::Service;

use crate::{Address, Error};

/// Flow-control window of one stream. The connection's window is four times as large.
const HTTP2_WINDOW_BYTES: u32 = 1024 * 1024;

/// The connection to the daemon. It is opened on first use and reopened after it breaks. Clones share one connection.
#[derive(Clone)]
pub struct Channel {
    inner: Arc<ChannelInner>,
}

struct ChannelInner {
    address: Address,
    headers: Vec<(HeaderName, HeaderValue)>,
    open: Mutex<Option<SendRequest<Body>>>,
}

impl Channel {
    pub(crate) fn new(address: Address, id: &str, name: &str) -> Result<Self, Error> {
        let value = |text: &str| {
            HeaderValue::from_str(text).map_err(|_| Error::Refused {
                code: tenterhook_proto::v1::ErrorCode::ErrorInvalid,
                message: "the client name, the client id or the token contains invalid characters".to_owned(),
                hint: "use printable ASCII".to_owned(),
            })
        };
        let mut headers = vec![
            (HeaderName::from_static("tenterhook-client-id"), value(id)?),
            (HeaderName::from_static("tenterhook-client-name"), value(name)?),
        ];
        if let Address::Tcp { token, .. } = &address {
            headers.push((AUTHORIZATION, value(&format!("Bearer {}", token.trim()))?));
        }
        for (_, value) in &mut headers {
            value.set_sensitive(true);
        }
        Ok(Self { inner: Arc::new(ChannelInner { address, headers, open: Mutex::new(None) }) })
    }

    /// Returns the base URI of requests.
    pub(crate) fn origin(&self) -> hyper::Uri {
        let authority = match &self.inner.address {
            Address::Unix(_) => "localhost".to_owned(),
            Address::Tcp { address, .. } => address.to_string(),
        };
        format!("http://{authority}").parse().unwrap_or_default()
    }

    /// Returns an open connection, connecting first if necessary.
    pub(crate) async fn connection(&self) -> Result<SendRequest<Body>, Error> {
        let mut open = self.inner.open.lock().await;
        if let Some(sender) = open.as_ref().filter(|sender| !sender.is_closed()) {
            return Ok(sender.clone());
        }
        let unreachable = |why: String| Error::Unreachable { address: self.inner.address.to_string(), why };
        let sender = match &self.inner.address {
            Address::Unix(path) => {
                let stream =
                    UnixStream::connect(path).await.map_err(|error| unreachable(error.to_string()))?;
                handshake(stream).await
            }
            Address::Tcp { address, .. } => {
                let stream =
                    TcpStream::connect(address).await.map_err(|error| unreachable(error.to_string()))?;
                // Messages are small, and the sender waits for each reply.
                let _ = stream.set_nodelay(true);
                handshake(stream).await
            }
        };
        let sender = sender.map_err(|error| unreachable(error.to_string()))?;
        *open = Some(sender.clone());
        Ok(sender)
    }
}

async fn handshake(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
) -> hyper::Result<SendRequest<Body>> {
    let (sender, connection) = Builder::new(TokioExecutor::new())
        .initial_stream_window_size(HTTP2_WINDOW_BYTES)
        .initial_connection_window_size(HTTP2_WINDOW_BYTES * 4)
        .handshake(TokioIo::new(stream))
        .await?;
    // This task ends when all senders are dropped or the daemon disconnects; pending requests then fail.
    tokio::spawn(async move { drop(connection.await) });
    Ok(sender)
}

impl std::fmt::Debug for Channel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Channel").field(&self.inner.address).finish()
    }
}

impl Service<Request<Body>> for Channel {
    type Response = Response<Incoming>;
    type Error = Box<dyn std::error::Error + Send + Sync>;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        let channel = self.clone();
        request.headers_mut().extend(channel.inner.headers.iter().cloned());
        Box::pin(async move { Ok(channel.connection().await?.send_request(request).await?) })
    }
}
