// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Attacks on the daemon over HTTP in same-user mode: the attacker has no token, is a page in the user's browser,
//! or sends requests that no client would send.

use std::io::{Read, Write};
use std::time::{Duration, Instant};
use tenterhook_test_support::assert_waited;

use serde_json::json;

use crate::daemon::{HANG_TIMEOUT, HttpReply, RunningDaemon, exchange, header_lines};

/// Sends a request with exactly these headers, without the token that other helpers add.
fn request(served: &RunningDaemon, line: &str, headers: &[&str], body: &str) -> HttpReply {
    let headers = header_lines(headers);
    served.send_raw(format!("{line} HTTP/1.1\r\nConnection: close\r\n{headers}\r\n{body}").as_bytes())
}

fn host(served: &RunningDaemon) -> String {
    format!("Host: {}", served.address)
}

fn token(served: &RunningDaemon) -> String {
    format!("Authorization: Bearer {}", served.token)
}

#[test]
fn dns_rebinding_another_host_name_is_refused() {
    let served = RunningDaemon::new();
    let (port, token) = (served.address.port(), token(&served));
    for name in [
        format!("evil.example:{port}"),
        "evil.example".into(),
        format!("127.0.0.1.evil.example:{port}"),
        "127.0.0.1".into(),
        "127.0.0.1:1".into(),
        String::new(),
    ] {
        let answer = request(&served, "GET /v1/health", &[&format!("Host: {name}"), &token], "");
        assert!([400, 421].contains(&answer.status), "{name}: {answer:?}");
        assert!(!answer.body.contains("generation"), "{name}");
    }
    let without = request(&served, "GET /v1/health", &[&token], "");
    assert!([400, 421].contains(&without.status), "{without:?}");
    let whole =
        request(&served, &format!("GET http://evil.example:{port}/v1/policy"), &[&host(&served), &token], "");
    assert!(whole.status != 200 || !whole.body.contains("evil"), "{whole:?}");
    let twice = request(&served, "GET /v1/policy", &[&host(&served), "Host: evil.example", &token], "");
    assert!([400, 421].contains(&twice.status), "two host names: {twice:?}");
}

#[test]
fn cross_origin_pages_of_other_origins_get_nothing() {
    let served = RunningDaemon::new();
    let payload = served.test.bash("ls");
    let length = format!("Content-Length: {}", payload.len());
    for origin in ["http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1", "file://"] {
        // A form on a web page can send this request without a CORS preflight.
        let headers = [&host(&served), &format!("Origin: {origin}"), "Content-Type: text/plain", &length];
        let answer = request(&served, "POST /v1/hooks/claude-code/PreToolUse", &headers, &payload);
        assert_eq!(answer.status, 403, "{origin}");
        // A page of another origin is refused even if it knows the token.
        let headers: [&str; 3] = [&host(&served), &format!("Origin: {origin}"), &token(&served)];
        assert_eq!(request(&served, "GET /v1/policy", &headers, "").status, 403, "{origin}");
        let asked = request(&served, "OPTIONS /v1/policy", &headers, "");
        assert!(!asked.head.contains("access-control-allow"), "{asked:?}");
    }
    let own: [&str; 3] = [&host(&served), &format!("Origin: http://{}", served.address), &token(&served)];
    assert_eq!(request(&served, "GET /v1/policy", &own, "").status, 200);
    assert!(served.test.decisions().is_empty(), "nothing was decided");
}

#[test]
fn without_the_whole_token_there_is_only_health() {
    let served = RunningDaemon::new();
    let (host, right) = (host(&served), served.token.clone());
    let cut = right.split_at(63).0;
    for header in [
        "X: y".to_owned(),
        "Authorization: Bearer ".to_owned(),
        format!("Authorization: Bearer {cut}"),
        format!("Authorization: Bearer {cut}0{cut}"),
        format!("Authorization: Basic {right}"),
        format!("Authorization: {right}"),
        format!("Authorization: Bearer {}", right.to_uppercase()),
        format!("Cookie: token={right}"),
    ] {
        for path in
            ["/v1/policy", "/v1/ledger", "/v1/stream", "/v1/metrics", "/v1/openapi.json", "/v1/nothing", "/x"]
        {
            let answer = request(&served, &format!("GET {path}"), &[&host, &header], "");
            // A token in upper case is a different token, unless it has no letters.
            if answer.status != 401 {
                assert!(header.ends_with(&right) && header.contains("Bearer"), "{header} opens {path}");
            }
        }
    }
    let query = request(&served, &format!("GET /v1/policy?token={right}"), &[&host], "");
    assert_eq!(query.status, 401, "a token in a URL would end up in logs");
    let health = request(&served, "GET /v1/health", &[&host], "");
    assert_eq!(health.status, 200);
    assert_eq!(
        health.json(),
        json!({"ok": true, "version": env!("CARGO_PKG_VERSION")}),
        "health and nothing else"
    );
    assert!(!served.log().contains(&right), "the token is in no log");
}

#[test]
fn path_traversal_reaches_no_file() {
    let served = RunningDaemon::new();
    let (host, token) = (host(&served), token(&served));
    for path in [
        "/v1/../v1/policy/../../etc/passwd",
        "/v1/%2e%2e/%2e%2e/etc/passwd",
        "/v1/ledger/..%2f..%2fkey",
        "/v1/ledger/%2e%2e",
        "/v1/ledger/..%00",
        "/v1/sessions/..%2f..%2f..%2fetc%2fpasswd",
        "/v1/sessions/%ff%fe",
        "//v1/policy",
        "/v1//policy",
        "/v1/policy/",
        "/run/token",
        "/v1/health/../policy",
    ] {
        let answer = request(&served, &format!("GET {path}"), &[&host, &token], "");
        assert!([400, 404].contains(&answer.status), "{path}: {answer:?}");
        assert!(!answer.body.contains("root:"), "{path}");
        // Health is public; similar paths must not reach other routes.
        let stranger = request(&served, &format!("GET {path}"), &[&host], "");
        assert_eq!(stranger.status, 401, "{path}");
    }
    let named = served.post("/v1/hooks/..%2f..%2fetc/PreToolUse", &json!({}));
    assert_eq!(named.status, 404, "{named:?}");
}

#[test]
fn an_oversized_body_is_refused_before_it_is_read() {
    let served = RunningDaemon::new();
    let (host, token) = (host(&served), token(&served));
    let most = tenterhook_harness::MAX_PAYLOAD_BYTES;
    let line = "POST /v1/hooks/claude-code/PreToolUse";
    let said = request(&served, line, &[&host, &token, &format!("Content-Length: {}", most + 1)], "");
    assert_eq!(said.status, 413, "waiting for it would end with 408: {said:?}");
    for absurd in ["99999999999999999999999999", "-1", "0x10", "1, 2"] {
        let answer = request(&served, line, &[&host, &token, &format!("Content-Length: {absurd}")], "x");
        assert!([400, 413].contains(&answer.status) || answer.head.is_empty(), "{absurd}: {answer:?}");
    }
    // A chunked body has no length in advance.
    let mut stream = served.connect();
    let head = format!("{line} HTTP/1.1\r\n{host}\r\n{token}\r\nTransfer-Encoding: chunked\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let chunk = format!("100000\r\n{}\r\n", "x".repeat(0x10_0000));
    let mut sent = 0;
    while sent <= most + (8 << 20) && stream.write_all(chunk.as_bytes()).is_ok() {
        sent += 0x10_0000;
    }
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    // The connection may be closed before the client has read the reply.
    assert!(answer.is_empty() || HttpReply::parse(&answer).status == 413, "{:?}", HttpReply::parse(&answer));
    assert_eq!(served.bash("ls").status, 200, "others are served");
}

#[test]
fn a_body_that_never_ends_is_cut_off() {
    let served = RunningDaemon::new();
    let mut stream = served.connect();
    let head = format!(
        "POST /v1/hooks/claude-code/PreToolUse HTTP/1.1\r\n{}\r\n{}\r\nContent-Length: 1000\r\n\r\n{{",
        host(&served),
        token(&served)
    );
    stream.write_all(head.as_bytes()).unwrap();
    let began = Instant::now();
    let mut dripping = stream.try_clone().unwrap();
    // A byte is sent from time to time, so that the connection never seems dead.
    std::thread::spawn(move || {
        while began.elapsed() < HANG_TIMEOUT && dripping.write_all(b" ").is_ok() {
            std::thread::sleep(Duration::from_millis(500));
        }
    });
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    assert_eq!(HttpReply::parse(&answer).status, 408);
    assert_waited(began, Duration::from_secs(9));
    assert!(served.test.decisions().is_empty());
}

#[test]
fn slow_loris_many_idle_connections_do_not_block_the_socket() {
    let served = RunningDaemon::new();
    let idle: Vec<_> = (0..600)
        .map(|number| {
            let mut stream = served.connect();
            // Some connections send nothing, some never end their headers.
            let _ = stream.write_all(if number % 2 == 0 { b"" } else { b"GET /v1/health HTTP/1.1\r\nX-a: " });
            stream
        })
        .collect();
    let mut quiet: Vec<_> =
        (0..300).map(|_| std::os::unix::net::UnixStream::connect(served.socket()).unwrap()).collect();
    for stream in &mut quiet {
        stream.write_all(b"TH1 ho").unwrap();
    }
    for _ in 0..20 {
        let reply = served.hook(&served.test.bash("sudo rm -rf /"));
        assert!(reply.starts_with("TH1 ") && reply.contains("deny"), "{reply}");
    }
    // Connections with unfinished headers are closed, so there is room again.
    let mut first = idle.into_iter().nth(1).unwrap();
    let mut answer = Vec::new();
    let _ = first.read_to_end(&mut answer);
    crate::daemon::until("TCP is served again", || {
        let answer = exchange(
            served.connect(),
            format!("GET /v1/health HTTP/1.1\r\n{}\r\nConnection: close\r\n\r\n", host(&served)).as_bytes(),
        );
        Some(()).filter(|()| answer.starts_with(b"HTTP/1.1 200"))
    });
}

#[test]
fn request_smuggling_one_request_is_one_request() {
    let served = RunningDaemon::new();
    let (host, token) = (host(&served), token(&served));
    let hidden = format!("GET /v1/policy HTTP/1.1\r\n{host}\r\n{token}\r\n\r\n");
    let body = format!("0\r\n\r\n{hidden}");
    let length = format!("Content-Length: {}", body.len());
    for (what, headers) in [
        ("a length and chunks", vec![length.as_str(), "Transfer-Encoding: chunked"]),
        ("two lengths", vec!["Content-Length: 4", length.as_str()]),
        ("chunks by another name", vec!["Transfer-Encoding: xchunked"]),
        ("chunks and something else", vec!["Transfer-Encoding: chunked, identity"]),
        ("a space before the colon", vec!["Transfer-Encoding : chunked"]),
        ("a folded line", vec!["X: y\r\n Transfer-Encoding: chunked"]),
        ("a length that is no number", vec!["Content-Length: +10"]),
    ] {
        let mut all = vec![host.as_str(), token.as_str()];
        all.extend(headers);
        let headers = header_lines(&all);
        let sent = format!("POST /v1/events HTTP/1.1\r\n{headers}\r\n{body}");
        let answer = exchange(served.connect(), sent.as_bytes());
        let text = String::from_utf8_lossy(&answer);
        assert!(!text.contains("\"layers\""), "{what}: the hidden request was answered: {text}");
        assert!(text.starts_with("HTTP/1.1 4"), "{what}: {text}");
    }
}
