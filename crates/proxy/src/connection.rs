// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Serves one client connection: reads its request, has it judged, connects and relays.

use std::io;

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::dial::{self, DialError, Dialed};
use crate::head_reader::{HeadBuffer, HeadRead, split_http_head};
use crate::refusal::HttpStatus;
use crate::relay::{Traffic, close_gently, relay};
use crate::server::SharedState;
use crate::socks::{self, SocksReply};
use crate::{
    AddressClass, ConnectionEvent, ConnectionHost, ConnectionJudge, ConnectionRefusal, ConnectionRequest,
    ConnectionTarget, NameResolver, ProxyProtocol, RequestHead, RequestHeadError, RequestTarget,
    http_request, parse_socks_request,
};

/// Maximum size of a SOCKS greeting or request.
const MAX_SOCKS_BYTES: usize = 600;

/// What a client asked for.
struct ProxiedRequest {
    protocol: ProxyProtocol,
    target: ConnectionTarget,
    /// The head of a plain HTTP request.
    plain: Option<RequestHead>,
}

/// Why a client's request is not served.
struct InvalidRequest {
    refusal: ConnectionRefusal,
    reply: Vec<u8>,
}

/// Serves a connection. `evicted` ends it while it waits for the request.
pub(crate) async fn serve<J: ConnectionJudge, R: NameResolver>(
    shared: &SharedState<J, R>,
    id: u64,
    mut client: TcpStream,
    evicted: oneshot::Receiver<()>,
) {
    // Small writes, such as a TLS handshake, are sent at once. If the option cannot be set, they are only slower.
    let _ = client.set_nodelay(true);
    let mut buffer = HeadBuffer::default();
    let request = tokio::select! {
        read = timeout(shared.limits.head_timeout, read_request(&mut client, &mut buffer, shared.limits.head_bytes)) => read,
        _ = evicted => return,
    };
    shared.waiting.remove(id);
    let request = match request {
        Ok(Ok(Some(Ok(request)))) => request,
        Ok(Ok(Some(Err(invalid)))) => {
            shared.observe(ConnectionEvent::Refused {
                id,
                target: None,
                refusal: invalid.refusal,
                judged: false,
            });
            // The client may be gone; the connection ends in any case.
            let _ = client.write_all(&invalid.reply).await;
            return close_gently(&mut client).await;
        }
        // The client closed the connection, or sent no complete request in time.
        Ok(Ok(None) | Err(_)) | Err(_) => return,
    };
    let Ok(_permit) = shared.slots.try_acquire() else {
        let refusal = ConnectionRefusal::new("too many connections are open").with_suggestion("retry later");
        let reply = reply_to(
            request.protocol,
            HttpStatus::Busy,
            SocksReply::GeneralFailure,
            &refusal,
            &request.target,
        );
        shared.observe(ConnectionEvent::Refused { id, target: Some(request.target), refusal, judged: false });
        let _ = client.write_all(&reply).await;
        return close_gently(&mut client).await;
    };
    serve_request(shared, id, client, request, buffer.take_rest()).await;
}

async fn serve_request<J: ConnectionJudge, R: NameResolver>(
    shared: &SharedState<J, R>,
    id: u64,
    mut client: TcpStream,
    request: ProxiedRequest,
    early: Vec<u8>,
) {
    let ProxiedRequest { protocol, target, plain } = request;
    let asked = connection_request(&shared.resolver, id, protocol, &target, plain.as_ref());
    // A client that has gone is not worth a connection; its closing is noticed when the reply is written.
    let Dialed { stream: mut upstream, address, received } = match dial::dial(shared, &asked).await {
        Ok(connected) => connected,
        Err(error) => {
            let (status, code, refusal) = describe_failure(&error);
            let reply = reply_to(protocol, status, code, &refusal, &target);
            shared.observe(match error {
                DialError::Judged(refusal) => {
                    ConnectionEvent::Refused { id, target: Some(target), refusal, judged: true }
                }
                DialError::Refused(refusal) => {
                    ConnectionEvent::Refused { id, target: Some(target), refusal, judged: false }
                }
                _ => ConnectionEvent::Failed { id, target, reason: refusal.reason },
            });
            let _ = client.write_all(&reply).await;
            return close_gently(&mut client).await;
        }
    };
    // As above.
    let _ = upstream.set_nodelay(true);
    shared.observe(ConnectionEvent::Opened { id, protocol, target: target.clone(), address });
    let traffic = Traffic::new();
    let end = match &plain {
        Some(head) => {
            let forwarder = shared.upstream.find(protocol, head.host_and_port());
            let head = match forwarder {
                Some(proxy) => head.to_proxy(proxy.authorization()).map(|bytes| (bytes, head.body)),
                None => head.to_target().map(|bytes| (bytes, head.body)),
            };
            let end =
                http_request::forward(&mut client, &mut upstream, head, early, &traffic, &shared.limits)
                    .await;
            close_gently(&mut client).await;
            end
        }
        None => {
            match open_tunnel(&mut client, &mut upstream, protocol, (&early, &received), &traffic).await {
                Ok(()) => relay(&mut client, &mut upstream, &traffic, &shared.limits).await,
                Err(_) => crate::ConnectionEnd::Failed,
            }
        }
    };
    let count = |counter: &std::sync::atomic::AtomicU64| counter.load(std::sync::atomic::Ordering::Relaxed);
    shared.observe(ConnectionEvent::Closed {
        id,
        target,
        sent: count(&traffic.sent),
        received: count(&traffic.received),
        duration: traffic.duration(),
        end,
    });
}

/// Tells the client that the tunnel is open, and sends both sides what the other has sent already.
async fn open_tunnel(
    client: &mut TcpStream,
    upstream: &mut TcpStream,
    protocol: ProxyProtocol,
    (early, received): (&[u8], &[u8]),
    traffic: &Traffic,
) -> io::Result<()> {
    match protocol {
        ProxyProtocol::Socks5 => client.write_all(&SocksReply::Succeeded.to_bytes()).await?,
        ProxyProtocol::HttpConnect | ProxyProtocol::Http => {
            client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?;
        }
    }
    upstream.write_all(early).await?;
    traffic.count(&traffic.sent, early.len());
    client.write_all(received).await?;
    traffic.count(&traffic.received, received.len());
    Ok(())
}

/// Reads a client's request; `None` if the client closed the connection.
async fn read_request(
    client: &mut TcpStream,
    buffer: &mut HeadBuffer,
    max_bytes: usize,
) -> io::Result<Option<Result<ProxiedRequest, InvalidRequest>>> {
    match buffer.first_byte(client).await? {
        None => Ok(None),
        Some(socks::VERSION) => read_socks(client, buffer).await,
        Some(socks::VERSION_4) => {
            let refusal =
                ConnectionRefusal::new("SOCKS4 is not supported").with_suggestion("use SOCKS5 or HTTP");
            Ok(Some(Err(InvalidRequest { refusal, reply: socks::SOCKS4_REJECTED.to_vec() })))
        }
        // The first byte of TLS: a client that was given an `https://` proxy.
        Some(0x16) => {
            let refusal = ConnectionRefusal::new("this proxy does not speak TLS")
                .with_suggestion("give the address of the proxy with `http://`");
            Ok(Some(Err(InvalidRequest { refusal, reply: Vec::new() })))
        }
        Some(_) => read_http(client, buffer, max_bytes).await,
    }
}

async fn read_http(
    client: &mut TcpStream,
    buffer: &mut HeadBuffer,
    max_bytes: usize,
) -> io::Result<Option<Result<ProxiedRequest, InvalidRequest>>> {
    let (status, reason, suggestion) = match buffer.read_until(client, max_bytes, split_http_head).await? {
        HeadRead::Closed => return Ok(None),
        HeadRead::TooLarge => {
            (HttpStatus::HeadTooLarge, "the head of the request is too large".to_owned(), None)
        }
        HeadRead::Complete(head) => match RequestHead::parse(&head) {
            Ok(head) => {
                let target = head.host_and_port().clone();
                let is_plain = matches!(head.target, RequestTarget::Absolute { .. });
                let (protocol, plain) = if is_plain {
                    (ProxyProtocol::Http, Some(head))
                } else {
                    (ProxyProtocol::HttpConnect, None)
                };
                return Ok(Some(Ok(ProxiedRequest { protocol, target, plain })));
            }
            Err(error) => {
                let is_target = matches!(error, RequestHeadError::Target(_));
                let suggestion = is_target.then_some("write the host as a plain name or address");
                (HttpStatus::BadRequest, error.to_string(), suggestion)
            }
        },
    };
    let refusal = ConnectionRefusal { reason, suggestion: suggestion.map(str::to_owned) };
    let reply = refusal.to_http(status, None);
    Ok(Some(Err(InvalidRequest { refusal, reply })))
}

async fn read_socks(
    client: &mut TcpStream,
    buffer: &mut HeadBuffer,
) -> io::Result<Option<Result<ProxiedRequest, InvalidRequest>>> {
    let greeting = |bytes: &[u8]| socks::parse_greeting(bytes).map(|(used, answer, ok)| ((answer, ok), used));
    let HeadRead::Complete((answer, is_supported)) =
        buffer.read_until(client, MAX_SOCKS_BYTES, greeting).await?
    else {
        return Ok(None);
    };
    if !is_supported {
        let refusal = ConnectionRefusal::new("the SOCKS client offers no method without authentication");
        return Ok(Some(Err(InvalidRequest { refusal, reply: answer.to_vec() })));
    }
    client.write_all(&answer).await?;
    let parse = |bytes: &[u8]| {
        let parsed = parse_socks_request(bytes)?;
        let used = parsed.as_ref().map_or(bytes.len(), |request| request.length);
        Some((parsed, used))
    };
    let HeadRead::Complete(parsed) = buffer.read_until(client, MAX_SOCKS_BYTES, parse).await? else {
        return Ok(None);
    };
    Ok(Some(match parsed {
        Ok(request) => {
            Ok(ProxiedRequest { protocol: ProxyProtocol::Socks5, target: request.target, plain: None })
        }
        Err(error) => {
            let refusal = ConnectionRefusal::new(error.to_string());
            Err(InvalidRequest { refusal, reply: error.reply().to_bytes().to_vec() })
        }
    }))
}

fn connection_request(
    resolver: &impl NameResolver,
    id: u64,
    protocol: ProxyProtocol,
    target: &ConnectionTarget,
    plain: Option<&RequestHead>,
) -> ConnectionRequest {
    let class = match &target.host {
        ConnectionHost::Address(address) => Some(resolver.classify(*address)),
        ConnectionHost::Name(name) => AddressClass::of_name(name),
    };
    let url = plain.and_then(|head| match &head.target {
        RequestTarget::Absolute { target, path } => {
            let path = if path == "*" { "/" } else { path };
            Some(format!("http://{target}{path}"))
        }
        RequestTarget::Connect(_) => None,
    });
    let method = plain.map(|head| head.method.clone());
    ConnectionRequest { id, protocol, target: target.clone(), class, resolved_from: None, method, url }
}

fn describe_failure(error: &DialError) -> (HttpStatus, SocksReply, ConnectionRefusal) {
    match error {
        DialError::Judged(refusal) | DialError::Refused(refusal) => {
            (HttpStatus::Forbidden, SocksReply::NotAllowed, refusal.clone())
        }
        DialError::Unresolved(reason) => {
            (HttpStatus::BadGateway, SocksReply::HostUnreachable, ConnectionRefusal::new(reason))
        }
        DialError::Upstream(error) => {
            (HttpStatus::BadGateway, SocksReply::HostUnreachable, ConnectionRefusal::new(format!("{error}")))
        }
        DialError::Unreachable(error) => {
            let reason = format!("the host cannot be reached: {error}");
            match error.kind() {
                io::ErrorKind::TimedOut => {
                    (HttpStatus::GatewayTimeout, SocksReply::HostUnreachable, ConnectionRefusal::new(reason))
                }
                io::ErrorKind::ConnectionRefused => {
                    (HttpStatus::BadGateway, SocksReply::ConnectionRefused, ConnectionRefusal::new(reason))
                }
                _ => (HttpStatus::BadGateway, SocksReply::HostUnreachable, ConnectionRefusal::new(reason)),
            }
        }
    }
}

fn reply_to(
    protocol: ProxyProtocol,
    status: HttpStatus,
    code: SocksReply,
    refusal: &ConnectionRefusal,
    target: &ConnectionTarget,
) -> Vec<u8> {
    match protocol {
        ProxyProtocol::Socks5 => code.to_bytes().to_vec(),
        ProxyProtocol::HttpConnect | ProxyProtocol::Http => {
            refusal.to_http(status, Some(&target.to_string()))
        }
    }
}
