// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Judges a target, resolves it, and connects to exactly the addresses that were checked.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::address_class::is_loopback_name;
use crate::server::SharedState;
use crate::upstream_proxy::TunnelError;
use crate::{
    AddressClass, ConnectionHost, ConnectionJudge, ConnectionRefusal, ConnectionRequest, ConnectionVerdict,
    NameResolver, ProxyLimits, ProxyProtocol,
};

/// Maximum number of addresses of one name. A name with more is refused, because all of them are checked.
const MAX_ADDRESSES: usize = 32;

/// Why there is no connection.
#[derive(Debug)]
pub(crate) enum DialError {
    /// The judge refused the target.
    Judged(ConnectionRefusal),
    /// The check of the addresses refused the target.
    Refused(ConnectionRefusal),
    /// The name could not be resolved.
    Unresolved(String),
    /// No address could be connected to.
    Unreachable(io::Error),
    /// The upstream proxy opens no tunnel.
    Upstream(TunnelError),
}

/// A connection to a target, or to the upstream proxy that forwards to it.
pub(crate) struct Dialed {
    pub(crate) stream: TcpStream,
    pub(crate) address: SocketAddr,
    /// What the target has sent already.
    pub(crate) received: Vec<u8>,
}

/// Judges a target and connects to it, or to the upstream proxy for it. Through such a proxy, plain HTTP is forwarded and
/// everything else has a tunnel.
pub(crate) async fn dial<J: ConnectionJudge, R: NameResolver>(
    shared: &SharedState<J, R>,
    request: &ConnectionRequest,
) -> Result<Dialed, DialError> {
    let limits = &shared.limits;
    let upstream = shared.upstream.find(request.protocol, &request.target);
    let checked = check_target(&shared.judge, &shared.resolver, limits, request, upstream.is_some()).await?;
    let Some(upstream) = upstream else {
        let (stream, address) = connect(&checked, limits).await?;
        return Ok(Dialed { stream, address, received: Vec::new() });
    };
    let connected = timeout(limits.connect_timeout, upstream.connect()).await;
    let connected = connected.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
    let (mut stream, address) = connected.map_err(|error| DialError::Upstream(error.into()))?;
    let received = match request.protocol {
        ProxyProtocol::Http => Vec::new(),
        ProxyProtocol::HttpConnect | ProxyProtocol::Socks5 => {
            upstream.open_tunnel(&mut stream, &request.target, limits).await.map_err(DialError::Upstream)?
        }
    };
    Ok(Dialed { stream, address, received })
}

/// Judges a target and returns the addresses that may be connected to. With an upstream proxy, a name may have no address
/// on this machine; then a rule must allow it explicitly.
async fn check_target<J: ConnectionJudge, R: NameResolver>(
    judge: &J,
    resolver: &R,
    limits: &ProxyLimits,
    request: &ConnectionRequest,
    has_upstream: bool,
) -> Result<Vec<SocketAddr>, DialError> {
    let is_explicit = judge_one(judge, request).await?;
    let port = request.target.port;
    let name = match &request.target.host {
        ConnectionHost::Address(address) => return Ok(vec![SocketAddr::new(*address, port)]),
        // These names are never looked up: they mean this machine, and the rules were told so.
        ConnectionHost::Name(name) if is_loopback_name(name) => {
            let both = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
            return Ok(both.map(|address| SocketAddr::new(address, port)).to_vec());
        }
        ConnectionHost::Name(name) => name,
    };
    let addresses = match timeout(limits.resolve_timeout, resolver.resolve(name)).await {
        Ok(Ok(addresses)) => addresses,
        Ok(Err(_)) | Err(_) if has_upstream && is_explicit => return Ok(Vec::new()),
        Ok(Err(_)) | Err(_) if has_upstream => return Err(DialError::Refused(unknown_address(name))),
        Ok(Err(error)) => return Err(DialError::Unresolved(format!("`{name}` cannot be resolved: {error}"))),
        Err(_) => return Err(DialError::Unresolved(format!("`{name}` could not be resolved in time"))),
    };
    let mut checked: Vec<IpAddr> = Vec::new();
    for address in addresses {
        let address = address.to_canonical();
        if !checked.contains(&address) {
            checked.push(address);
        }
    }
    if checked.is_empty() {
        return Err(DialError::Unresolved(format!("`{name}` has no address")));
    }
    if checked.len() > MAX_ADDRESSES {
        let reason = format!("`{name}` has more than {MAX_ADDRESSES} addresses, which are not all checked");
        return Err(DialError::Refused(ConnectionRefusal::new(reason)));
    }
    for address in &checked {
        let class = resolver.classify(*address);
        if class.is_public() {
            continue;
        }
        let mut inner = request.clone();
        inner.target.host = ConnectionHost::Address(*address);
        inner.class = Some(class);
        inner.resolved_from = Some(name.clone());
        judge_one(judge, &inner).await?;
    }
    Ok(checked.into_iter().map(|address| SocketAddr::new(address, port)).collect())
}

/// Asks the judge. An address that is not public must be allowed explicitly by every judge. Returns whether it was.
async fn judge_one<J: ConnectionJudge>(judge: &J, request: &ConnectionRequest) -> Result<bool, DialError> {
    match judge.judge(request).await {
        ConnectionVerdict::Refuse(refusal) => Err(DialError::Judged(refusal)),
        ConnectionVerdict::Allow { explicit: false } if request.needs_explicit_allow() => {
            Err(DialError::Refused(not_public(request)))
        }
        ConnectionVerdict::Allow { explicit } => Ok(explicit),
    }
}

/// Refusal of an address that no rule allows.
fn not_public(request: &ConnectionRequest) -> ConnectionRefusal {
    let class = request.class.map_or("unknown", AddressClass::name);
    let host = &request.target.host;
    let reason = match &request.resolved_from {
        Some(name) => format!("`{name}` resolves to `{host}`, which is not a public address ({class})"),
        None => format!("`{host}` is not a public address ({class})"),
    };
    let suggestion = format!("use a public host, or ask the user to allow the host `{host}` in a rule");
    ConnectionRefusal::new(reason).with_suggestion(suggestion)
}

/// Refusal of a name that only the upstream proxy can resolve.
fn unknown_address(name: &str) -> ConnectionRefusal {
    let reason = format!("`{name}` cannot be resolved here, so its addresses cannot be checked");
    ConnectionRefusal::new(reason).with_suggestion(format!(
        "ask the user to allow the host `{name}` in a rule; the upstream proxy resolves it"
    ))
}

/// Connects to the first of the addresses that answers.
async fn connect(
    addresses: &[SocketAddr],
    limits: &ProxyLimits,
) -> Result<(TcpStream, SocketAddr), DialError> {
    let attempt = async {
        let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
        for address in addresses {
            match TcpStream::connect(address).await {
                Ok(stream) => return Ok((stream, *address)),
                Err(error) => last = error,
            }
        }
        Err(last)
    };
    match timeout(limits.connect_timeout, attempt).await {
        Ok(Ok(connected)) => Ok(connected),
        Ok(Err(error)) => Err(DialError::Unreachable(error)),
        Err(_) => Err(DialError::Unreachable(io::ErrorKind::TimedOut.into())),
    }
}
