// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Calls that connect: to a URL, to a host, through a socket.

use super::Act;
use super::args::Args;
use super::reader::Reader;
use super::value::{From, Kind, Value};

impl Reader {
    /// The URL in an argument, or the host that the options name.
    pub(super) fn connect_to_argument(&mut self, args: &Args, at: usize) {
        let to = args.at_or(at, &["url", "uri"]);
        let to =
            if to.is_text() || to.kind == Kind::Either { to } else { host_of_options(args).unwrap_or(to) };
        self.connect(&to);
    }

    pub(super) fn connect(&mut self, to: &Value) {
        for one in to.each() {
            // What was made of an address is connected to once.
            if one.from != From::Network {
                self.act(Act::Connect(one.argument()));
            }
        }
    }

    /// A host and a port in two arguments, in a pair, or in options.
    pub(super) fn open_socket(&mut self, args: &Args, at: usize) {
        self.socket = true;
        let options = args.option("PeerAddr").or_else(|| args.option("PeerHost"));
        let first = options.cloned().unwrap_or_else(|| args.get(at));
        let (host, port) = match (first.kind, first.items.as_slice()) {
            (Kind::List, [host, port, ..]) => (host.clone(), port.clone()),
            _ => (first, args.option("PeerPort").cloned().unwrap_or_else(|| args.get(at + 1))),
        };
        // A socket of this machine's own has no port.
        let has_port = !(port.kind == Kind::Unknown && host.shape.contains([':', '/']));
        let host = host.map(&|host| Some(host.split_once("://").map_or(host, |(_, host)| host).to_owned()));
        let mut to = Value::text("tcp://").concat(host);
        if has_port {
            to = to.concat(Value::text(":")).concat(port);
        }
        self.connect(&to);
    }

    /// A port, then perhaps the host.
    pub(super) fn open_socket_port_first(&mut self, args: &Args) {
        let pair = match args.items.first() {
            Some(options) if options.kind == Kind::Map => {
                vec![args.at_or(9, &["host", "hostname"]), args.at_or(9, &["port"])]
            }
            Some(port)
                if port.kind == Kind::Number || port.kind == Kind::Unknown || port.kind == Kind::Name =>
            {
                let host = args.items.get(1).filter(|host| host.is_text()).cloned();
                vec![host.unwrap_or_else(|| Value::text("localhost")), port.clone()]
            }
            _ => args.items.clone(),
        };
        self.open_socket(&Args::of(pair), 0);
    }
}

/// The address in a value, if it is one.
pub(super) fn address(value: &Value) -> Option<Value> {
    let has_scheme = |value: &Value| {
        value.is_text()
            && ["http://", "https://", "ftp://"].iter().any(|scheme| value.shape.starts_with(scheme))
    };
    has_scheme(value).then(|| value.clone())
}

fn host_of_options(args: &Args) -> Option<Value> {
    args.option("hostname").or_else(|| args.option("host")).or_else(|| args.option("url")).cloned()
}
