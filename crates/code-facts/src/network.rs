// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads calls that connect to a URL, a host or a socket.

use super::CodeEffect;
use super::args::CallArgs;
use super::reader::CodeReader;
use super::value::{CodeValue, ValueKind, ValueOrigin};

impl CodeReader {
    /// Reports a connection to the URL in an argument, or to the host in the options.
    pub(super) fn connect_to_argument(&mut self, args: &CallArgs, at: usize) {
        let to = args.at_or(at, &["url", "uri"]);
        let to = if to.is_text() || to.kind == ValueKind::Either {
            to
        } else {
            host_of_options(args).unwrap_or(to)
        };
        self.add_connection(&to);
    }

    pub(super) fn add_connection(&mut self, to: &CodeValue) {
        for one in to.each() {
            // A response is not an address. The address that it came from was reported before.
            if one.from != ValueOrigin::Network {
                self.push_effect(CodeEffect::Connect(one.argument()));
            }
        }
    }

    /// Reports a socket to a host and port that are given as two arguments, a pair, or options.
    pub(super) fn open_socket(&mut self, args: &CallArgs, at: usize) {
        self.socket = true;
        let options = args.option("PeerAddr").or_else(|| args.option("PeerHost"));
        let first = options.cloned().unwrap_or_else(|| args.get(at));
        let (host, port) = match (first.kind, first.items.as_slice()) {
            (ValueKind::List, [host, port, ..]) => (host.clone(), port.clone()),
            _ => (first, args.option("PeerPort").cloned().unwrap_or_else(|| args.get(at + 1))),
        };
        // A local socket has no port.
        let has_port = !(port.kind == ValueKind::Unknown && host.shape.contains([':', '/']));
        let host = host.map(&|host| Some(host.split_once("://").map_or(host, |(_, host)| host).to_owned()));
        let mut to = CodeValue::text("tcp://").concat(host);
        if has_port {
            to = to.concat(CodeValue::text(":")).concat(port);
        }
        self.add_connection(&to);
    }

    /// Reports a socket to a port and an optional host.
    pub(super) fn open_socket_port_first(&mut self, args: &CallArgs) {
        let pair = match args.items.first() {
            Some(options) if options.kind == ValueKind::Map => {
                vec![args.at_or(9, &["host", "hostname"]), args.at_or(9, &["port"])]
            }
            Some(port)
                if port.kind == ValueKind::Number
                    || port.kind == ValueKind::Unknown
                    || port.kind == ValueKind::Name =>
            {
                let host = args.items.get(1).filter(|host| host.is_text()).cloned();
                vec![host.unwrap_or_else(|| CodeValue::text("localhost")), port.clone()]
            }
            _ => args.items.clone(),
        };
        self.open_socket(&CallArgs::positional(pair), 0);
    }
}

/// Returns the value, if it is a URL.
pub(super) fn address(value: &CodeValue) -> Option<CodeValue> {
    let has_scheme = |value: &CodeValue| {
        value.is_text()
            && ["http://", "https://", "ftp://"].iter().any(|scheme| value.shape.starts_with(scheme))
    };
    has_scheme(value).then(|| value.clone())
}

fn host_of_options(args: &CallArgs) -> Option<CodeValue> {
    args.option("hostname").or_else(|| args.option("host")).or_else(|| args.option("url")).cloned()
}
