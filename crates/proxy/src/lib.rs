// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The local egress proxy: HTTP `CONNECT`, plain HTTP and SOCKS5 on one port, with the protocol detected by the first
//! byte.
//!
//! A [`Proxy`] accepts connections on a listener, reads the target of each one, and asks a [`ConnectionJudge`] before
//! anything else happens. Names are judged before they are resolved, so a refused name causes no DNS query. All
//! addresses of a name are checked, and the connection is made to one of the checked addresses, so that a name cannot
//! change its address between check and use. An address that is not [public](AddressClass) must be allowed explicitly.
//!
//! On a network that has a proxy of its own, connections are made through that proxy ([`UpstreamProxies`]), after the same
//! checks. A name that this machine cannot resolve must then be allowed explicitly, because its addresses are unknown.
//!
//! The crate knows no rules, no ledger and no daemon. It never prints, and all its buffers are bounded.

mod address_class;
mod chunked_body;
mod connection;
mod dial;
mod event;
mod head_reader;
mod http_request;
mod http_response;
mod judge;
mod limits;
mod refusal;
mod relay;
mod request_head;
mod resolver;
mod server;
mod socks;
mod target;
mod upstream_proxy;

pub use address_class::AddressClass;
pub use chunked_body::{ChunkedBodyError, ChunkedBodyScanner};
pub use event::{ConnectionEnd, ConnectionEvent};
pub use judge::{ConnectionJudge, ConnectionRequest, ConnectionVerdict, ProxyProtocol};
pub use limits::ProxyLimits;
pub use refusal::ConnectionRefusal;
pub use request_head::{BodyFraming, RequestHead, RequestHeadError, RequestTarget};
pub use resolver::{NameResolver, SystemResolver};
pub use server::Proxy;
pub use socks::{SocksError, SocksRequest, parse_socks_request};
pub use target::{ConnectionHost, ConnectionTarget, ConnectionTargetError};
pub use upstream_proxy::{UpstreamProxies, UpstreamProxyError};
