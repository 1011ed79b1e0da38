// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Connections through the proxy of a network. That proxy is a second [`Proxy`], on a real socket.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop where it is")]

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tenterhook_proxy::{
    ConnectionJudge, ConnectionRefusal, ConnectionRequest, ConnectionVerdict, NameResolver, Proxy,
    UpstreamProxies,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

const PUBLIC: IpAddr = IpAddr::V4(Ipv4Addr::new(1, 1, 1, 1));
const LOCAL: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

type Asked = Arc<Mutex<Vec<String>>>;

/// Refuses hosts that contain `denied`, and allows those that contain `explicit` explicitly.
struct TestJudge {
    asked: Asked,
    allows_all: bool,
}

impl ConnectionJudge for TestJudge {
    async fn judge(&self, request: &ConnectionRequest) -> ConnectionVerdict {
        let target = request.target.to_string();
        self.asked.lock().unwrap().push(target.clone());
        if target.contains("denied") {
            return ConnectionVerdict::Refuse(ConnectionRefusal::new("this host is denied"));
        }
        ConnectionVerdict::Allow { explicit: self.allows_all || target.contains("explicit") }
    }
}

/// Names whose address this is; other names have none.
#[derive(Clone, Copy)]
struct OneAddress(&'static str, IpAddr);

impl NameResolver for OneAddress {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        if name.ends_with(self.0) { Ok(vec![self.1]) } else { Err(io::ErrorKind::NotFound.into()) }
    }
}

fn start(resolver: OneAddress, allows_all: bool, upstream: UpstreamProxies) -> (SocketAddr, Asked) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, asked) = (listener.local_addr().unwrap(), Asked::default());
    let judge = TestJudge { asked: Arc::clone(&asked), allows_all };
    let proxy = Proxy::new(judge).with_resolver(resolver).with_upstream(upstream);
    tokio::spawn(proxy.serve(listener));
    (address, asked)
}

/// The proxy of the network, which resolves every name to this machine, and a proxy of a run behind it.
fn start_both(no_proxy: &'static str) -> (SocketAddr, Asked, Asked) {
    let (network, seen) = start(OneAddress("", LOCAL), true, UpstreamProxies::default());
    let (run, asked) = start(OneAddress("public.example", PUBLIC), false, proxies(network, no_proxy));
    (run, asked, seen)
}

fn proxies(network: SocketAddr, no_proxy: &'static str) -> UpstreamProxies {
    let address = format!("http://user:p%40ss@{network}/");
    let variable = |name: &str| match name {
        "https_proxy" | "HTTP_PROXY" => Some(address.as_str()),
        "NO_PROXY" => Some(no_proxy),
        _ => None,
    };
    UpstreamProxies::from_variables(variable).unwrap()
}

async fn send(proxy: SocketAddr, bytes: &[u8]) -> String {
    let mut client = TcpStream::connect(proxy).await.unwrap();
    client.write_all(bytes).await.unwrap();
    let mut reply = Vec::new();
    // A reset after the reply is fine.
    let _ = timeout(Duration::from_mins(1), client.read_to_end(&mut reply)).await.unwrap();
    String::from_utf8_lossy(&reply).into_owned()
}

/// A server that reads a head, answers, and records the heads.
async fn server(answer: &'static str) -> (SocketAddr, Asked) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, heads) = (listener.local_addr().unwrap(), Asked::default());
    let log = Arc::clone(&heads);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                match stream.read_u8().await {
                    Ok(byte) => head.push(byte),
                    Err(_) => break,
                }
            }
            log.lock().unwrap().push(String::from_utf8_lossy(&head).into_owned());
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    (address, heads)
}

const ANSWER: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

#[tokio::test]
async fn every_kind_of_connection_goes_through_the_proxy_of_the_network() {
    let (target, heads) = server(ANSWER).await;
    let port = target.port();
    let (run, asked, seen) = start_both("");
    let plain = format!("GET http://public.example:{port}/x HTTP/1.1\r\nHost: public.example:{port}\r\n\r\n");
    assert!(send(run, plain.as_bytes()).await.ends_with("hi"));
    let tunnel = format!("CONNECT public.example:{port} HTTP/1.1\r\n\r\nGET /t HTTP/1.1\r\n\r\n");
    let reply = send(run, tunnel.as_bytes()).await;
    assert!(reply.starts_with("HTTP/1.1 200 ") && reply.ends_with("hi"), "{reply}");
    let mut socks = vec![5, 1, 0, 5, 1, 0, 3, 14];
    socks.extend(b"public.example");
    socks.extend(port.to_be_bytes());
    socks.extend(b"GET /s HTTP/1.1\r\n\r\n");
    assert!(send(run, &socks).await.ends_with("hi"));
    let name = format!("public.example:{port}");
    assert!(asked.lock().unwrap().iter().all(|target| *target == name), "{asked:?}");
    assert_eq!(seen.lock().unwrap().iter().filter(|target| **target == name).count(), 3, "{seen:?}");
    let lines: Vec<_> =
        heads.lock().unwrap().iter().map(|head| head.lines().next().unwrap().to_owned()).collect();
    assert_eq!(lines, ["GET /x HTTP/1.1", "GET /t HTTP/1.1", "GET /s HTTP/1.1"]);
}

#[tokio::test]
async fn what_is_refused_is_unknown_to_the_proxy_of_the_network() {
    let (run, _, seen) = start_both("");
    for (host, why) in [
        ("denied.public.example", "this host is denied"),
        ("unknown.example", "cannot be resolved here"),
        ("10.1.2.3", "is not a public address"),
        ("169.254.169.254", "is not a public address"),
        ("localhost", "is not a public address"),
    ] {
        let reply = send(run, format!("CONNECT {host}:443 HTTP/1.1\r\n\r\n").as_bytes()).await;
        assert!(reply.starts_with("HTTP/1.1 403 ") && reply.contains(why), "{host}: {reply}");
    }
    assert_eq!(*seen.lock().unwrap(), [""; 0]);
    // A name that resolves to an inner address here is refused, even if the proxy of the network would resolve it to another address.
    let (network, seen) = start(OneAddress("", LOCAL), true, UpstreamProxies::default());
    let inner = OneAddress("inner.example", IpAddr::V4(Ipv4Addr::new(10, 0, 0, 7)));
    let (run, _) = start(inner, false, proxies(network, ""));
    let reply = send(run, b"CONNECT inner.example:443 HTTP/1.1\r\n\r\n").await;
    assert!(reply.contains("resolves to `10.0.0.7`"), "{reply}");
    assert_eq!(*seen.lock().unwrap(), [""; 0]);
}

#[tokio::test]
async fn a_name_that_only_the_network_can_resolve_needs_a_rule() {
    let (target, _) = server(ANSWER).await;
    let port = target.port();
    let (run, _, seen) = start_both("");
    let tunnel = format!("CONNECT explicit.example:{port} HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n");
    assert!(send(run, tunnel.as_bytes()).await.ends_with("hi"));
    assert!(seen.lock().unwrap().contains(&format!("explicit.example:{port}")), "{seen:?}");
}

#[tokio::test]
async fn hosts_of_no_proxy_are_connected_to_directly() {
    let (target, _) = server(ANSWER).await;
    let port = target.port();
    let (network, seen) = start(OneAddress("", LOCAL), true, UpstreamProxies::default());
    // The judge of the run allows this address of this machine.
    let resolver = OneAddress("explicit.example", LOCAL);
    let (run, asked) = start(resolver, true, proxies(network, ".explicit.example"));
    let tunnel = format!("CONNECT explicit.example:{port} HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n");
    assert!(send(run, tunnel.as_bytes()).await.ends_with("hi"));
    assert!(!asked.lock().unwrap().is_empty());
    assert_eq!(*seen.lock().unwrap(), [""; 0]);
}

#[tokio::test]
async fn the_proxy_of_the_network_receives_the_users_password_and_its_refusal_is_passed_on() {
    let (network, heads) = server("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n").await;
    let (run, _) = start(OneAddress("public.example", PUBLIC), false, proxies(network, ""));
    let reply =
        send(run, b"CONNECT public.example:443 HTTP/1.1\r\nProxy-Authorization: Basic eA==\r\n\r\n").await;
    assert!(reply.starts_with("HTTP/1.1 502 "), "{reply}");
    assert!(reply.contains("407 Proxy Authentication Required"), "{reply}");
    // `user:p@ss`, and nothing of what the program in the sandbox sent.
    let expected = "CONNECT public.example:443 HTTP/1.1\r\nHost: public.example:443\r\n\
        Proxy-Authorization: Basic dXNlcjpwQHNz\r\n\r\n";
    assert_eq!(*heads.lock().unwrap(), [expected]);
    let plain = "GET http://public.example/x HTTP/1.1\r\nHost: public.example\r\nProxy-Authorization: Basic eA==\r\n\r\n";
    send(run, plain.as_bytes()).await;
    let expected = "GET http://public.example/x HTTP/1.1\r\nHost: public.example\r\n\
        Proxy-Authorization: Basic dXNlcjpwQHNz\r\nConnection: close\r\n\r\n";
    assert_eq!(heads.lock().unwrap().last().unwrap(), expected);
}
