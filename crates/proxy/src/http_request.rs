// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Forwards one plain HTTP request and its response. The connection ends with the response, so a second request of the
//! client, for any host, is never sent anywhere.

use std::io;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::time::timeout;

use crate::head_reader::{HeadBuffer, HeadRead, split_http_head};
use crate::http_response::rewrite_response_head;
use crate::refusal::HttpStatus;
use crate::relay::Traffic;
use crate::{BodyFraming, ChunkedBodyScanner, ConnectionEnd, ConnectionRefusal, ProxyLimits};

/// Size of the buffer for the body.
const BUFFER_BYTES: usize = 16 * 1024;

/// Why a request is not forwarded to its end.
#[derive(Debug)]
enum ExchangeError {
    /// The body is not what the head promised.
    InvalidBody,
    /// The target does not answer with HTTP.
    InvalidResponse,
    /// The target did not answer in time.
    NoResponse,
    /// One of the connections failed.
    Io,
}

impl From<io::Error> for ExchangeError {
    fn from(_: io::Error) -> Self {
        Self::Io
    }
}

/// Forwards a request, of which `early` was read already, and its response. `head` is what the target receives, and how the
/// body of the request ends.
pub(crate) async fn forward(
    client: &mut TcpStream,
    target: &mut TcpStream,
    head: Option<(Vec<u8>, BodyFraming)>,
    early: Vec<u8>,
    traffic: &Traffic,
    limits: &ProxyLimits,
) -> ConnectionEnd {
    let exchange = exchange(client, target, head, early, traffic, limits);
    let ended = tokio::select! {
        ended = exchange => ended,
        () = traffic.wait_idle(limits) => return ConnectionEnd::Idle,
    };
    let (status, reason, end) = match ended {
        Ok(()) => return ConnectionEnd::Finished,
        Err(ExchangeError::Io) => return ConnectionEnd::Failed,
        Err(ExchangeError::InvalidBody) => {
            (HttpStatus::BadRequest, "the body of the request is invalid", ConnectionEnd::Invalid)
        }
        Err(ExchangeError::InvalidResponse) => {
            (HttpStatus::BadGateway, "the host did not answer with HTTP", ConnectionEnd::Failed)
        }
        Err(ExchangeError::NoResponse) => {
            (HttpStatus::GatewayTimeout, "the host did not answer in time", ConnectionEnd::Idle)
        }
    };
    // The client may be gone, and the connection ends in any case.
    let _ = client.write_all(&ConnectionRefusal::new(reason).to_http(status, None)).await;
    end
}

async fn exchange(
    client: &mut TcpStream,
    target: &mut TcpStream,
    head: Option<(Vec<u8>, BodyFraming)>,
    early: Vec<u8>,
    traffic: &Traffic,
    limits: &ProxyLimits,
) -> Result<(), ExchangeError> {
    let (mut client_read, mut client_write) = client.split();
    let (mut target_read, mut target_write) = target.split();
    let (bytes, body) = head.ok_or(ExchangeError::Io)?;
    target_write.write_all(&bytes).await?;
    traffic.count(&traffic.sent, bytes.len());
    let upload = send_body(&mut client_read, &mut target_write, body, early, traffic);
    let download = async {
        receive_head(&mut target_read, &mut client_write, traffic, limits).await?;
        traffic.copy(&mut target_read, &mut client_write, &traffic.received).await?;
        Ok(())
    };
    tokio::pin!(upload, download);
    // The target may answer before it has read the whole body; then the rest of the body does not matter.
    tokio::select! {
        uploaded = &mut upload => match uploaded {
            Err(ExchangeError::InvalidBody) => Err(ExchangeError::InvalidBody),
            _ => download.await,
        },
        downloaded = &mut download => downloaded,
    }
}

/// Sends exactly the body.
async fn send_body(
    client: &mut ReadHalf<'_>,
    target: &mut WriteHalf<'_>,
    body: BodyFraming,
    early: Vec<u8>,
    traffic: &Traffic,
) -> Result<(), ExchangeError> {
    let mut scanner = ChunkedBodyScanner::default();
    let mut left = match body {
        BodyFraming::None => return Ok(()),
        BodyFraming::Length(length) => length,
        BodyFraming::Chunked => u64::MAX,
    };
    let (mut piece, mut buffer) = (early, vec![0; BUFFER_BYTES]);
    loop {
        let taken = match body {
            BodyFraming::Chunked => scanner.scan(&piece).map_err(|_| ExchangeError::InvalidBody)?,
            _ => usize::try_from(left).map_or(piece.len(), |left| left.min(piece.len())),
        };
        let bytes = piece.get(..taken).unwrap_or_default();
        target.write_all(bytes).await?;
        traffic.count(&traffic.sent, taken);
        left = left.saturating_sub(taken as u64);
        if left == 0 || scanner.is_done() {
            return Ok(());
        }
        let read = client.read(&mut buffer).await?;
        if read == 0 {
            return Err(ExchangeError::InvalidBody);
        }
        piece.clear();
        piece.extend_from_slice(buffer.get(..read).unwrap_or_default());
    }
}

/// Forwards the head of the response, after informational responses.
async fn receive_head(
    target: &mut ReadHalf<'_>,
    client: &mut WriteHalf<'_>,
    traffic: &Traffic,
    limits: &ProxyLimits,
) -> Result<(), ExchangeError> {
    let mut buffer = HeadBuffer::default();
    loop {
        let read = buffer.read_until(target, limits.head_bytes.saturating_mul(2), split_http_head);
        let head = match timeout(limits.response_timeout, read).await {
            Ok(read) => read?,
            Err(_) => return Err(ExchangeError::NoResponse),
        };
        let HeadRead::Complete(head) = head else { return Err(ExchangeError::InvalidResponse) };
        let head = rewrite_response_head(&head).ok_or(ExchangeError::InvalidResponse)?;
        client.write_all(&head.bytes).await?;
        traffic.count(&traffic.received, head.bytes.len());
        if !head.is_interim {
            let rest = buffer.take_rest();
            client.write_all(&rest).await?;
            traffic.count(&traffic.received, rest.len());
            return Ok(());
        }
    }
}
