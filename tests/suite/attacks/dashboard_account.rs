// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A dashboard link and its session work only for the account that owns the state directory, over every route to the
//! port. Another local server cannot lock the browser out.

use std::net::TcpStream;

use serde_json::{Value, json};

use crate::daemon::{HANG_TIMEOUT, HttpReply, RunningDaemon, exchange};
use crate::dashboard::{Browser, create_link, origin_header, request};
use crate::system::{as_stranger, is_root};

/// Sends a request to the same port through another address of this machine.
fn ask_through(served: &RunningDaemon, host: &str, head: &str, body: &str) -> HttpReply {
    let stream = TcpStream::connect(format!("{host}:{}", served.address.port())).unwrap();
    stream.set_read_timeout(Some(HANG_TIMEOUT)).unwrap();
    let request = format!(
        "{head}\r\nHost: {}\r\nOrigin: http://{}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        served.address,
        served.address,
        body.len()
    );
    HttpReply::parse(&exchange(stream, request.as_bytes()))
}

#[test]
fn another_account_cannot_use_a_link_over_any_route_to_the_port() {
    if !is_root() {
        return;
    }
    let served = RunningDaemon::new();
    let link = create_link(&served);
    let body = json!({"link": link}).to_string();
    for host in ["127.0.0.1", "[::ffff:127.0.0.1]"] {
        let answer = as_stranger(|| ask_through(&served, host, "POST /v1/dashboard HTTP/1.1", &body));
        assert_eq!(answer.status, 403, "{host}: {answer:?}");
        assert!(answer.message().contains("another account"), "{answer:?}");
    }
    let answer = ask_through(&served, "[::ffff:127.0.0.1]", "POST /v1/dashboard HTTP/1.1", &body);
    assert_eq!(answer.status, 200, "the account itself may use either route, and the link was not used up");
}

#[test]
fn another_account_cannot_use_a_session_that_it_got_hold_of() {
    if !is_root() {
        return;
    }
    let served = RunningDaemon::new();
    let browser = Browser::open(&served);
    let [cookie, key] = browser.shown();
    for host in ["127.0.0.1", "[::ffff:127.0.0.1]"] {
        let head = format!("GET /v1/ledger HTTP/1.1\r\n{cookie}\r\n{key}");
        let answer = as_stranger(|| ask_through(&served, host, &head, ""));
        assert_eq!(answer.status, 403, "{host}: {answer:?}");
        assert_eq!(ask_through(&served, host, &head, "").status, 200, "{host}");
    }
}

/// Any server on this machine can set cookies that the browser sends before our own.
#[test]
fn injected_cookies_do_not_lock_the_browser_out() {
    let served = RunningDaemon::new();
    let browser = Browser::open(&served);
    let [_, key] = browser.shown();
    let (name, _) = browser.cookie.split_once('=').unwrap();
    for (count, value) in [(8, "x".to_owned()), (180, "a1".repeat(32)), (180, "x".repeat(4000))] {
        let tossed = format!("{name}={value}; ").repeat(count);
        let cookie = format!("Cookie: {tossed}{}", browser.cookie);
        let answer = request(&served, "GET", "/v1/policy", &[&cookie, &key], "");
        assert_eq!(answer.status, 200, "{count} cookies of {} bytes: {answer:?}", value.len());
    }
    let answer = request(&served, "GET", "/v1/policy", &[&format!("Cookie: {name}=x"), &key], "");
    assert_eq!(answer.status, 401);
    let foreign = origin_header(&served).replace("127.0.0.1", "localhost");
    assert_eq!(
        request(&served, "POST", "/v1/dashboard/leave", &[&foreign], &Value::Null.to_string()).status,
        401
    );
}
