// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The proxy on real sockets of loopback. Names are resolved by a table, and the judge allows loopback explicitly
//! where a test needs a target.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop where it is"
)]

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tenterhook_proxy::{
    AddressClass, ConnectionEvent, ConnectionJudge, ConnectionRefusal, ConnectionRequest, ConnectionVerdict,
    NameResolver, Proxy, ProxyLimits,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, timeout};

/// Allows everything except hosts that contain `denied`, and allows loopback explicitly if told so.
struct TestJudge {
    allows_loopback: bool,
    asked: Arc<Mutex<Vec<ConnectionRequest>>>,
}

impl ConnectionJudge for TestJudge {
    async fn judge(&self, request: &ConnectionRequest) -> ConnectionVerdict {
        self.asked.lock().unwrap().push(request.clone());
        if request.target.to_string().contains("denied") {
            let refusal =
                ConnectionRefusal::new("this host is denied").with_suggestion("use allowed.example");
            return ConnectionVerdict::Refuse(refusal);
        }
        ConnectionVerdict::Allow {
            explicit: self.allows_loopback && request.class == Some(AddressClass::Loopback),
        }
    }
}

/// Answers each query for a name with the next of its lists of addresses, and repeats the last one.
#[derive(Clone, Default)]
struct TableResolver(Arc<HashMap<&'static str, ResolverRow>>);

/// The lists of addresses of a name, and the number of queries for it.
type ResolverRow = (Vec<Vec<IpAddr>>, AtomicUsize);

impl TableResolver {
    fn new(rows: &[(&'static str, &[&[&str]])]) -> Self {
        let lists = |lists: &[&[&str]]| {
            lists.iter().map(|list| list.iter().map(|text| text.parse().unwrap()).collect()).collect()
        };
        Self(Arc::new(rows.iter().map(|(name, rows)| (*name, (lists(rows), AtomicUsize::new(0)))).collect()))
    }

    fn queries(&self, name: &str) -> usize {
        self.0[name].1.load(Ordering::SeqCst)
    }
}

impl NameResolver for TableResolver {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let (lists, count) = self.0.get(name).ok_or(io::ErrorKind::NotFound)?;
        let at = count.fetch_add(1, Ordering::SeqCst);
        Ok(lists[at.min(lists.len() - 1)].clone())
    }
}

struct TestProxy {
    address: SocketAddr,
    events: Arc<Mutex<Vec<ConnectionEvent>>>,
    asked: Arc<Mutex<Vec<ConnectionRequest>>>,
    task: tokio::task::JoinHandle<io::Result<()>>,
}

impl Drop for TestProxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn start(allows_loopback: bool, resolver: TableResolver, limits: ProxyLimits) -> TestProxy {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (asked, events) = (Arc::new(Mutex::default()), Arc::new(Mutex::new(Vec::new())));
    let judge = TestJudge { allows_loopback, asked: Arc::clone(&asked) };
    let seen = Arc::clone(&events);
    let proxy = Proxy::new(judge)
        .with_resolver(resolver)
        .with_limits(limits)
        .with_observer(move |event| seen.lock().unwrap().push(event));
    TestProxy { address, events, asked, task: tokio::spawn(proxy.serve(listener)) }
}

fn loopback_proxy() -> TestProxy {
    start(true, TableResolver::default(), ProxyLimits::default())
}

/// Sends bytes and returns everything that comes back.
async fn send(proxy: &TestProxy, bytes: &[u8]) -> Vec<u8> {
    let mut client = TcpStream::connect(proxy.address).await.unwrap();
    client.write_all(bytes).await.unwrap();
    let mut reply = Vec::new();
    // A reset after the reply is fine.
    let _ = timeout(Duration::from_secs(20), client.read_to_end(&mut reply)).await.expect("no end");
    reply
}

async fn send_text(proxy: &TestProxy, text: &str) -> String {
    String::from_utf8_lossy(&send(proxy, text.as_bytes()).await).into_owned()
}

/// A target that records what each connection receives, and answers with this text after the first bytes.
async fn target(answer: &'static str) -> (u16, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let received = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&received);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let log = Arc::clone(&log);
            tokio::spawn(async move {
                let at = {
                    let mut log = log.lock().unwrap();
                    log.push(String::new());
                    log.len() - 1
                };
                let (mut buffer, mut is_answered) = ([0; 4096], false);
                while let Ok(read) = timeout(Duration::from_millis(400), stream.read(&mut buffer)).await {
                    let read = read.unwrap_or_default();
                    if read == 0 {
                        break;
                    }
                    log.lock().unwrap()[at] += &String::from_utf8_lossy(&buffer[..read]);
                    if !is_answered && !answer.is_empty() {
                        is_answered = true;
                        stream.write_all(answer.as_bytes()).await.unwrap();
                    }
                }
            });
        }
    });
    (port, received)
}

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nhi";

async fn wait_for<T>(what: &str, find: impl Fn() -> Option<T>) -> T {
    let until = Instant::now() + Duration::from_secs(10);
    loop {
        if let Some(found) = find() {
            return found;
        }
        assert!(Instant::now() < until, "{what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_tunnel_carries_bytes_both_ways_and_its_end_is_reported() {
    let (port, received) = target("pong").await;
    let proxy = loopback_proxy();
    let mut client = TcpStream::connect(proxy.address).await.unwrap();
    // The first bytes of the tunnel arrive together with the request.
    client.write_all(format!("CONNECT localhost:{port} HTTP/1.1\r\n\r\nping").as_bytes()).await.unwrap();
    let mut reply = Vec::new();
    client.read_to_end(&mut reply).await.unwrap();
    assert_eq!(String::from_utf8(reply).unwrap(), "HTTP/1.1 200 Connection established\r\n\r\npong");
    assert_eq!(received.lock().unwrap()[0], "ping");
    drop(client);
    let events = Arc::clone(&proxy.events);
    let (sent, got) = wait_for("no end", || {
        events.lock().unwrap().iter().find_map(|event| match event {
            ConnectionEvent::Closed { sent, received, .. } => Some((*sent, *received)),
            _ => None,
        })
    })
    .await;
    assert_eq!((sent, got), (4, 4));
    assert!(matches!(proxy.events.lock().unwrap()[0], ConnectionEvent::Opened { .. }));
}

#[tokio::test]
async fn half_closed_tunnels_deliver_the_rest() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut all = Vec::new();
        stream.read_to_end(&mut all).await.unwrap();
        stream.write_all(format!("got {}", all.len()).as_bytes()).await.unwrap();
    });
    let proxy = loopback_proxy();
    let mut client = TcpStream::connect(proxy.address).await.unwrap();
    client.write_all(format!("CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n").as_bytes()).await.unwrap();
    client.write_all(&vec![b'x'; 300_000]).await.unwrap();
    client.shutdown().await.unwrap();
    let mut reply = String::new();
    client.read_to_string(&mut reply).await.unwrap();
    assert!(reply.ends_with("\r\n\r\ngot 300000"), "{reply}");
}

#[tokio::test]
async fn a_refusal_is_readable_over_http_and_a_code_over_socks() {
    let resolver = TableResolver::new(&[("denied.example", &[&["8.8.8.8"]])]);
    let proxy = start(false, resolver.clone(), ProxyLimits::default());
    for request in [
        "CONNECT Denied.example.:443 HTTP/1.1\r\n\r\n",
        "GET http://denied.example/ HTTP/1.1\r\nHost: denied.example\r\n\r\n",
    ] {
        let reply = send_text(&proxy, request).await;
        assert!(reply.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{reply}");
        assert!(reply.contains("reason: this host is denied\nsuggestion: use allowed.example\n"), "{reply}");
    }
    let socks = [&b"\x05\x01\x00\x05\x01\x00\x03\x0edenied.example"[..], &443u16.to_be_bytes()].concat();
    assert_eq!(send(&proxy, &socks).await, [5, 0, 5, 2, 0, 1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(resolver.queries("denied.example"), 0, "a refused name is not looked up");
    let refused = proxy
        .events
        .lock()
        .unwrap()
        .iter()
        .filter(|event| matches!(event, ConnectionEvent::Refused { .. }))
        .count();
    assert_eq!(refused, 3);
}

#[tokio::test]
async fn socks_connects_to_names_and_addresses_and_refuses_the_rest() {
    let (port, _) = target("pong").await;
    let proxy = loopback_proxy();
    let socks = |kind: u8, address: &[u8]| {
        [&[5, 1, 0, 5, 1, 0, kind], address, &port.to_be_bytes(), b"ping"].concat()
    };
    for request in [socks(3, b"\x09localhost"), socks(1, &[127, 0, 0, 1]), socks(3, b"\x05127.1")] {
        let reply = send(&proxy, &request).await;
        assert_eq!(reply, [&[5, 0, 5, 0, 0, 1, 0, 0, 0, 0, 0, 0][..], b"pong"].concat());
    }
    let udp = [5, 1, 0, 5, 3, 0, 1, 127, 0, 0, 1, 0, 80];
    assert_eq!(send(&proxy, &udp).await, [5, 0, 5, 7, 0, 1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(send(&proxy, &[5, 1, 2]).await, [5, 0xff], "a client that insists on a password");
    assert_eq!(send(&proxy, &[4, 1, 0, 80, 127, 0, 0, 1, 0]).await, [0, 0x5b, 0, 0, 0, 0, 0, 0]);
}

#[tokio::test]
async fn one_connection_serves_one_plain_request() {
    let (port, received) = target(OK).await;
    let (other_port, other) = target(OK).await;
    let proxy = loopback_proxy();
    let pipelined = format!(
        "GET http://127.0.0.1:{port}/a HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n\
         GET http://127.0.0.1:{other_port}/b HTTP/1.1\r\nHost: 127.0.0.1:{other_port}\r\n\r\n"
    );
    let reply = send_text(&proxy, &pipelined).await;
    assert_eq!(reply, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi");
    let got = received.lock().unwrap().clone();
    assert_eq!(got, [format!("GET /a HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n")]);
    assert_eq!(*other.lock().unwrap(), [""; 0], "the second request goes nowhere");
    assert_eq!(proxy.asked.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_body_ends_where_its_head_says() {
    let (port, received) = target(OK).await;
    let proxy = loopback_proxy();
    let smuggled = "GET /smuggled HTTP/1.1\r\nHost: evil.example\r\n\r\n";
    for (fields, body) in
        [("Content-Length: 5", "hello"), ("Transfer-Encoding: chunked", "5\r\nhello\r\n0\r\n\r\n")]
    {
        let request = format!(
            "POST http://127.0.0.1:{port}/ HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{fields}\r\n\r\n{body}{smuggled}"
        );
        let reply = send_text(&proxy, &request).await;
        assert!(reply.ends_with("\r\n\r\nhi"), "{reply}");
        let got = received.lock().unwrap().pop().unwrap();
        assert!(got.ends_with(&format!("\r\n\r\n{body}")), "{got}");
    }
    for (fields, body) in [
        ("Content-Length: 5\r\nTransfer-Encoding: chunked", "0\r\n\r\n"),
        ("Content-Length: 5\r\nContent-Length: 6", "hello"),
        ("X: y\nTransfer-Encoding: chunked", "0\r\n\r\n"),
    ] {
        let request = format!(
            "POST http://127.0.0.1:{port}/ HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{fields}\r\n\r\n{body}"
        );
        assert!(send_text(&proxy, &request).await.starts_with("HTTP/1.1 400 "), "{fields}");
    }
    assert_eq!(received.lock().unwrap().len(), 0, "nothing ambiguous was sent");
}

#[tokio::test]
async fn injected_fields_and_other_hosts_reach_nobody() {
    let (port, received) = target(OK).await;
    let proxy = loopback_proxy();
    for request in [
        format!("GET http://127.0.0.1:{port}/ HTTP/1.1\r\nHost: internal.example\r\n\r\n"),
        format!("GET http://127.0.0.1:{port}/ HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nHost: b\r\n\r\n"),
        format!("GET http://127.0.0.1:{port}/\rX: y HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"),
        format!("GET http://127.0.0.1:{port}/ HTTP/1.1\nHost: 127.0.0.1:{port}\n\n"),
        format!("CONNECT 127.0.0.1:{port}\0.good.example HTTP/1.1\r\n\r\n"),
        format!("CONNECT 127.0.0.1:{port} HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"),
        format!("CONNECT good.example:443@127.0.0.1:{port} HTTP/1.1\r\n\r\n"),
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(),
        "CONNECT a%2eb:443 HTTP/1.1\r\n\r\n".to_owned(),
        "CONNECT mün.example:443 HTTP/1.1\r\n\r\n".to_owned(),
    ] {
        let reply = send_text(&proxy, &request).await;
        assert!(reply.starts_with("HTTP/1.1 400 "), "{request:?}: {reply}");
    }
    assert_eq!(received.lock().unwrap().len(), 0);
    assert_eq!(proxy.asked.lock().unwrap().len(), 0, "invalid requests are not judged");
    let large = format!("GET http://127.0.0.1:{port}/ HTTP/1.1\r\nX: {}", "x".repeat(40_000));
    assert!(send_text(&proxy, &large).await.starts_with("HTTP/1.1 431 "));
}

#[tokio::test]
async fn a_name_cannot_change_its_address_between_check_and_use() {
    let (port, received) = target(OK).await;
    // The first answer is public and the second is not, and the other way round.
    let rows: &[(&str, &[&[&str]])] = &[
        ("first.example", &[&["198.51.100.1", "127.0.0.1"], &["8.8.8.8"]]),
        ("mixed.example", &[&["8.8.8.8", "10.0.0.1"]]),
        ("mapped.example", &[&["::ffff:127.0.0.1"]]),
        ("nat.example", &[&["64:ff9b::7f00:1"]]),
        ("loop.example", &[&["127.0.0.1"]]),
    ];
    let resolver = TableResolver::new(rows);
    let proxy = start(false, resolver.clone(), ProxyLimits::default());
    for (name, _) in rows {
        let reply = send_text(&proxy, &format!("CONNECT {name}:{port} HTTP/1.1\r\n\r\n")).await;
        assert!(reply.starts_with("HTTP/1.1 403 "), "{name}: {reply}");
        assert!(reply.contains("is not a public address") && reply.contains("suggestion: "), "{reply}");
        assert_eq!(resolver.queries(name), 1, "a name is resolved once per connection");
    }
    assert_eq!(received.lock().unwrap().len(), 0);
    // The address is judged under its own spelling, with the name it came from.
    let asked = proxy.asked.lock().unwrap().clone();
    let mapped = asked.iter().find(|asked| asked.resolved_from.as_deref() == Some("mapped.example")).unwrap();
    assert_eq!(
        (mapped.target.to_string(), mapped.class),
        (format!("127.0.0.1:{port}"), Some(AddressClass::Loopback))
    );

    // An explicitly allowed answer is used; an answer that a later query would give is never seen.
    let alternating = TableResolver::new(&[("alternate.example", &[&["127.0.0.1"], &["127.0.0.2"]])]);
    let proxy = start(true, alternating.clone(), ProxyLimits::default());
    let reply = send_text(
        &proxy,
        &format!("GET http://alternate.example:{port}/ HTTP/1.1\r\nHost: alternate.example:{port}\r\n\r\n"),
    )
    .await;
    assert!(reply.ends_with("hi"), "{reply}");
    let opened = proxy.events.lock().unwrap().iter().find_map(|event| match event {
        ConnectionEvent::Opened { address, .. } => Some(*address),
        _ => None,
    });
    assert_eq!(
        (opened.unwrap().ip().to_string(), alternating.queries("alternate.example")),
        ("127.0.0.1".to_owned(), 1)
    );
}

#[tokio::test]
async fn metadata_and_inner_addresses_are_refused_in_every_spelling() {
    let proxy = start(false, TableResolver::default(), ProxyLimits::default());
    for host in [
        "169.254.169.254",
        "0xa9fea9fe",
        "2852039166",
        "0xa9.254.0251.0376",
        "169.254.43518",
        "[::ffff:169.254.169.254]",
        "[::ffff:a9fe:a9fe]",
        "[64:ff9b::a9fe:a9fe]",
        "[2002:a9fe:a9fe::]",
        "[fd00:ec2::254]",
        "METADATA.google.internal.",
        "metadata",
        "localhost",
        "LOCALHOST.",
        "x.localhost",
        "127.1",
        "0",
        "[::]",
        "[::1]",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "100.64.0.1",
        "[fe80::1]",
        "[fc00::1]",
        "224.0.0.1",
    ] {
        let reply = send_text(&proxy, &format!("CONNECT {host}:80 HTTP/1.1\r\n\r\n")).await;
        assert!(reply.starts_with("HTTP/1.1 403 "), "{host}: {reply}");
    }
    assert!(
        proxy.events.lock().unwrap().iter().all(|event| matches!(event, ConnectionEvent::Refused { .. }))
    );
}

#[tokio::test]
async fn slow_clients_are_closed_and_do_not_keep_others_out() {
    let (port, _) = target(OK).await;
    let limits = ProxyLimits { head_timeout: Duration::from_millis(700), ..ProxyLimits::default() };
    let proxy = start(true, TableResolver::default(), limits);
    let mut slow = TcpStream::connect(proxy.address).await.unwrap();
    let began = Instant::now();
    let drip = async {
        for byte in b"GET http://a/ HTTP/1.1\r\nX: yyyyyyyyyyyyyyyyyyyy".iter().cycle() {
            if slow.write_all(&[*byte]).await.is_err() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(Duration::from_secs(10), drip).await.expect("a slow client is never closed");
    assert!(began.elapsed() >= Duration::from_millis(600), "{:?}", began.elapsed());
    let reply = send_text(
        &proxy,
        &format!("GET http://127.0.0.1:{port}/ HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"),
    )
    .await;
    assert!(reply.ends_with("hi"), "{reply}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_idle_connections_do_not_keep_a_request_out() {
    let (port, _) = target(OK).await;
    let proxy = loopback_proxy();
    let mut idle = Vec::new();
    for _ in 0..1000 {
        idle.push(TcpStream::connect(proxy.address).await.unwrap());
    }
    let began = Instant::now();
    let reply = send_text(
        &proxy,
        &format!("GET http://127.0.0.1:{port}/ HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"),
    )
    .await;
    assert!(reply.ends_with("hi"), "{reply}");
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    // The oldest are closed; the newest may still send a request.
    let mut closed = 0;
    for stream in &mut idle {
        let mut byte = [0; 1];
        closed += usize::from(timeout(Duration::from_millis(5), stream.read(&mut byte)).await.is_ok());
    }
    let kept = ProxyLimits::default().waiting_clients;
    assert!((1000 - kept..=1000).contains(&closed), "{closed}");
}

#[tokio::test]
async fn open_connections_are_limited_and_idle_ones_end() {
    let (port, _) = target("").await;
    let limits =
        ProxyLimits { connections: 1, idle_timeout: Duration::from_millis(300), ..ProxyLimits::default() };
    let proxy = start(true, TableResolver::default(), limits);
    let connect = format!("CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n");
    let mut first = TcpStream::connect(proxy.address).await.unwrap();
    first.write_all(connect.as_bytes()).await.unwrap();
    let mut head = [0; 20];
    first.read_exact(&mut head).await.unwrap();
    let second = send_text(&proxy, &connect).await;
    assert!(second.starts_with("HTTP/1.1 503 "), "{second}");
    let mut rest = Vec::new();
    timeout(Duration::from_secs(5), first.read_to_end(&mut rest))
        .await
        .expect("an idle tunnel stays open")
        .unwrap();
    let events = Arc::clone(&proxy.events);
    wait_for("no end", || {
        let events = events.lock().unwrap();
        events.iter().any(|event| matches!(event, ConnectionEvent::Closed { .. })).then_some(())
    })
    .await;
    let third = send_text(&proxy, &connect).await;
    assert!(third.starts_with("HTTP/1.1 200 "), "{third}");
}

#[tokio::test]
async fn a_target_that_is_not_there_or_not_http_is_a_bad_gateway() {
    let (port, _) = target("SSH-2.0-x\r\n\r\n").await;
    let proxy = loopback_proxy();
    let reply = send_text(
        &proxy,
        &format!("GET http://127.0.0.1:{port}/ HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"),
    )
    .await;
    assert!(reply.starts_with("HTTP/1.1 502 "), "{reply}");
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let reply = send_text(&proxy, &format!("CONNECT 127.0.0.1:{closed} HTTP/1.1\r\n\r\n")).await;
    assert!(reply.starts_with("HTTP/1.1 502 ") && reply.contains("cannot be reached"), "{reply}");
    let reply = send_text(&proxy, "CONNECT unknown.example:443 HTTP/1.1\r\n\r\n").await;
    assert!(reply.starts_with("HTTP/1.1 502 ") && reply.contains("cannot be resolved"), "{reply}");
}
