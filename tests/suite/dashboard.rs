// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Attacks on access to the dashboard in same-user mode: with a used link, with a cookie sent to another port, from
//! a page of another origin, and by the agent itself.

use serde_json::{Value, json};

use crate::daemon::{HttpReply, RunningDaemon, header_lines};
use crate::terminal_user::code;

/// A browser with a session.
pub(crate) struct Browser<'a> {
    pub(crate) served: &'a RunningDaemon,
    pub(crate) cookie: String,
    pub(crate) key: String,
}

impl<'a> Browser<'a> {
    /// Opens the dashboard as a user does.
    pub(crate) fn open(served: &'a RunningDaemon) -> Self {
        let answer = open_link(served, &create_link(served), &[&origin_header(served)]);
        assert_eq!(answer.status, 200, "{answer:?}");
        let cookie = header(&answer, "set-cookie").unwrap();
        let cookie = cookie.split(';').next().unwrap().to_owned();
        Self { served, cookie, key: answer.json()["key"].as_str().unwrap().to_owned() }
    }

    /// Headers that the page sends with every request.
    pub(crate) fn shown(&self) -> [String; 2] {
        [format!("Cookie: {}", self.cookie), format!("tenterhook-page: {}", self.key)]
    }

    fn request(&self, method: &str, path: &str, more: &[&str], body: &Value) -> HttpReply {
        let shown = self.shown();
        let headers: Vec<_> = shown.iter().map(String::as_str).chain(more.iter().copied()).collect();
        request(self.served, method, path, &headers, &body.to_string())
    }
}

/// Sends a request without the token.
pub(crate) fn request(
    served: &RunningDaemon,
    method: &str,
    path: &str,
    headers: &[&str],
    body: &str,
) -> HttpReply {
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\n{}Content-Length: {}\r\n\r\n{body}",
        served.address,
        header_lines(headers),
        body.len()
    );
    served.send_raw(head.as_bytes())
}

pub(crate) fn origin_header(served: &RunningDaemon) -> String {
    format!("Origin: http://{}", served.address)
}

/// Creates a link as a user does, and returns the part after `#link=`.
pub(crate) fn create_link(served: &RunningDaemon) -> String {
    let ran = served.test.run(&["dashboard", "--json"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let url = ran.json()["url"].as_str().unwrap().to_owned();
    let (page, link) = url.split_once("/#link=").unwrap();
    assert_eq!((page, link.len()), (format!("http://{}", served.address).as_str(), 43));
    assert!(url.len() <= 80, "`{url}` wraps");
    link.to_owned()
}

fn open_link(served: &RunningDaemon, link: &str, headers: &[&str]) -> HttpReply {
    request(served, "POST", "/v1/dashboard", headers, &json!({"link": link}).to_string())
}

fn header(answer: &HttpReply, name: &str) -> Option<String> {
    let lines = answer.head.lines().filter_map(|line| line.split_once(':'));
    lines
        .into_iter()
        .find(|(key, _)| key.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.trim().to_owned())
}

#[test]
fn every_reply_has_the_security_headers() {
    let served = RunningDaemon::new();
    for path in ["/", "/favicon.svg", "/assets/none.js", "/v1/health", "/v1/policy", "/nowhere"] {
        let answer = request(&served, "GET", path, &[], "");
        let policy = header(&answer, "content-security-policy").unwrap();
        for part in ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"] {
            assert!(policy.contains(part), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        for (name, value) in [
            ("x-frame-options", "deny"),
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(header(&answer, name).as_deref(), Some(value), "{path}");
        }
        assert!(header(&answer, "access-control-allow-origin").is_none(), "{path}");
    }
    let page = request(&served, "GET", "/", &[], "");
    assert_eq!(page.status, 200);
    assert!(page.body.contains("Tenterhook") && !page.body.contains(&served.token));
    let rebound = request(&served, "GET", "/", &["Host: evil.example"], "");
    assert!([400, 421].contains(&rebound.status), "two host names: {rebound:?}");
}

#[test]
fn a_link_is_good_once_and_only_from_our_own_page() {
    let served = RunningDaemon::new();
    let (link, own) = (create_link(&served), origin_header(&served));
    assert_eq!(open_link(&served, &link, &[]).status, 401, "no page");
    assert_eq!(open_link(&served, &link, &["Origin: http://127.0.0.1:1"]).status, 403, "another port");
    assert_eq!(open_link(&served, &link, &[&own, "Sec-Fetch-Site: same-site"]).status, 401);
    let (all, one_less) = (link.len(), link.get(1..).unwrap());
    assert_eq!((all, open_link(&served, one_less, &[&own]).status), (43, 403));
    let answer = open_link(&served, &link, &[&own, "Sec-Fetch-Site: same-origin"]);
    assert_eq!(answer.status, 200, "{answer:?}");
    let cookie = header(&answer, "set-cookie").unwrap();
    // Header names are compared in lower case.
    for part in ["httponly", "samesite=strict", "path=/", "max-age=86400"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert_eq!(open_link(&served, &link, &[&own]).status, 403, "the link was used");
    let leaf = served.test.last_change();
    assert_eq!((&leaf["what"], &leaf["detail"]["authority"]["via"]), (&json!("dashboard"), &json!("socket")));
}

#[test]
fn a_cookie_without_the_key_of_the_page_opens_nothing() {
    let served = RunningDaemon::new();
    let (one, other) = (Browser::open(&served), Browser::open(&served));
    assert_eq!(one.request("GET", "/v1/policy", &[], &Value::Null).status, 200);
    assert!(one.request("GET", "/v1/dashboard", &[], &Value::Null).json()["until"].is_string());
    let [cookie, key] = one.shown();
    let [_, wrong] = other.shown();
    // Browsers send the cookie to every server on this machine, but only the dashboard's page has the key.
    for headers in
        [vec![cookie.as_str()], vec![&key], vec![&cookie, &wrong], vec![&cookie, "tenterhook-page: "]]
    {
        assert_eq!(request(&served, "GET", "/v1/policy", &headers, "").status, 401, "{headers:?}");
    }
}

#[test]
fn changes_are_accepted_only_from_our_own_page() {
    let served = RunningDaemon::new();
    let (browser, own) = (Browser::open(&served), origin_header(&served));
    let enforce = json!({"mode": "enforce"});
    for (headers, status) in [
        (vec![], 403),
        (vec!["Origin: http://127.0.0.1:1"], 403),
        (vec!["Origin: null"], 403),
        (vec![&*own, "Sec-Fetch-Site: cross-site"], 403),
        (vec![&*own, "Sec-Fetch-Site: same-site"], 403),
        (vec![&*own, "Sec-Fetch-Site: same-origin"], 200),
        (vec![&*own], 200),
    ] {
        let answer = browser.request("PUT", "/v1/mode", &headers, &enforce);
        assert_eq!(answer.status, status, "{headers:?}: {answer:?}");
    }
}

#[test]
fn a_browser_calls_no_hooks() {
    let served = RunningDaemon::new();
    let (browser, own) = (Browser::open(&served), origin_header(&served));
    let payload: Value = serde_json::from_str(&served.test.bash("ls")).unwrap();
    for path in ["/v1/hooks/claude-code/PreToolUse", "/v1/events", "/tenterhook.v1.HookService/Fire"] {
        assert_eq!(browser.request("POST", path, &[&own], &payload).status, 403, "{path}");
    }
    assert!(served.test.decisions().is_empty());
}

#[test]
fn same_user_a_browser_alone_weakens_nothing() {
    let served = RunningDaemon::new();
    let (browser, own) = (Browser::open(&served), origin_header(&served));
    let needs = browser.request("GET", "/v1/authority?action=mode%20monitor", &[], &Value::Null).json();
    assert_eq!(needs["needs"], "tty");
    for proof in [json!({}), json!({"tty": true}), json!({"code": "123456"})] {
        let answer = browser.request("PUT", "/v1/mode", &[&own], &json!({"mode": "monitor", "proof": proof}));
        assert_eq!(answer.status, 403, "{answer:?}");
        assert!(answer.body.contains("tenterhook approvals totp enroll"), "{}", answer.body);
        let leaf = served.test.last_change();
        assert_eq!(
            (&leaf["what"], &leaf["detail"]["authority"]["via"]),
            (&json!("refused"), &json!("browser"))
        );
    }
    for (path, body) in [
        ("/v1/ledger/erase", json!({"from": 0, "reason": "x"})),
        ("/v1/ledger/prune", json!({"to": 1, "reason": "x"})),
        ("/v1/ledger/key/rotate", json!({})),
        ("/v1/ledger/key/seal", json!({"passphrase": "x"})),
        ("/v1/authority", json!({"action": "totp enroll"})),
        ("/v1/authority", json!({"action": "stop"})),
    ] {
        assert_eq!(browser.request("POST", path, &[&own], &body).status, 403, "{path}");
    }
    assert_eq!(served.json("/v1/mode")["mode"], "enforce");
}

#[test]
fn same_user_a_browser_with_a_code_weakens_protection() {
    let served = RunningDaemon::new();
    let (browser, own) = (Browser::open(&served), origin_header(&served));
    let secret = served.test.enroll();
    let body = |code: &str| json!({"mode": "monitor", "proof": {"code": code}});
    assert_eq!(browser.request("PUT", "/v1/mode", &[&own], &json!({"mode": "monitor"})).status, 403);
    let right = code(&secret, 0);
    let answer = browser.request("PUT", "/v1/mode", &[&own], &body(&right));
    assert_eq!((answer.status, &answer.json()["mode"]), (200, &json!("monitor")), "{answer:?}");
    let by = &served.test.last_change()["detail"]["authority"];
    assert_eq!((&by["via"], &by["proof"]), (&json!("browser"), &json!("code")));
    assert_eq!(
        browser.request("POST", "/v1/ledger/key/rotate", &[&own], &body(&right)).status,
        400,
        "unknown field"
    );
    let again = json!({"proof": {"code": right}});
    assert_eq!(
        browser.request("POST", "/v1/ledger/key/rotate", &[&own], &again).status,
        403,
        "a code counts once"
    );
}

#[test]
fn same_user_a_guarded_agent_gets_no_link() {
    let served = RunningDaemon::new();
    let token = served.post("/v1/dashboard/link", &json!({}));
    assert_eq!(token.status, 403, "over TCP: {token:?}");
    served.hook(&served.test.bash("ls"));
    let ran = served.test.run(&["dashboard", "--print"]);
    assert_eq!(ran.exit, 1, "{}", ran.stdout);
    assert!(ran.stderr.contains("by a guarded agent"), "{}", ran.stderr);
    let leaf = served.test.last_change();
    assert_eq!((&leaf["what"], &leaf["detail"]["action"]), (&json!("refused"), &json!("dashboard")));
}

#[test]
fn sessions_end_at_sign_out_and_at_a_restart() {
    let served = RunningDaemon::new();
    let (browser, own) = (Browser::open(&served), origin_header(&served));
    let answer = browser.request("POST", "/v1/dashboard/leave", &[&own], &Value::Null);
    assert!(header(&answer, "set-cookie").unwrap().contains("max-age=0"), "{answer:?}");
    assert_eq!(browser.request("GET", "/v1/policy", &[], &Value::Null).status, 401);
    let other = Browser::open(&served);
    let shown = other.shown();
    drop(other);
    let served = served.restart();
    let headers: Vec<_> = shown.iter().map(String::as_str).collect();
    assert_eq!(request(&served, "GET", "/v1/policy", &headers, "").status, 401);
}

#[test]
fn without_a_daemon_or_without_tcp_it_prints_a_hint() {
    let test = crate::context::TestContext::new();
    let ran = test.run(&["dashboard"]);
    assert_eq!(ran.exit, 1);
    assert!(ran.stderr.contains("tenterhook start"), "{}", ran.stderr);
    let _guard = crate::terminal_user::SocketDaemon::of(&test);
    let ran = test.run(&["dashboard"]);
    assert_eq!(ran.exit, 1);
    assert!(ran.stderr.contains("does not listen over TCP"), "{}", ran.stderr);
}
