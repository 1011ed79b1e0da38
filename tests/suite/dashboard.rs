// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Who may look at the dashboard, attacked, in the mode "same user": with a link that was used, a cookie
//! that went to another port, a page of others, and by the agent itself.

use serde_json::{Value, json};

use crate::daemon::{Answer, Served, lines};
use crate::person::code;

/// A browser that was let in.
pub(crate) struct Browser<'a> {
    pub(crate) served: &'a Served,
    pub(crate) cookie: String,
    pub(crate) key: String,
}

impl<'a> Browser<'a> {
    /// As a person opens it.
    pub(crate) fn open(served: &'a Served) -> Self {
        let answer = enter(served, &link(served), &[&own(served)]);
        assert_eq!(answer.status, 200, "{answer:?}");
        let cookie = header(&answer, "set-cookie").unwrap();
        let cookie = cookie.split(';').next().unwrap().to_owned();
        Self { served, cookie, key: answer.json()["key"].as_str().unwrap().to_owned() }
    }

    /// What its page sends with every request.
    pub(crate) fn shown(&self) -> [String; 2] {
        [format!("Cookie: {}", self.cookie), format!("tenterhook-page: {}", self.key)]
    }

    fn ask(&self, method: &str, path: &str, more: &[&str], body: &Value) -> Answer {
        let shown = self.shown();
        let headers: Vec<_> = shown.iter().map(String::as_str).chain(more.iter().copied()).collect();
        ask(self.served, method, path, &headers, &body.to_string())
    }
}

/// A request without the token.
pub(crate) fn ask(served: &Served, method: &str, path: &str, headers: &[&str], body: &str) -> Answer {
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\n{}Content-Length: {}\r\n\r\n{body}",
        served.address,
        lines(headers),
        body.len()
    );
    served.raw(head.as_bytes())
}

pub(crate) fn own(served: &Served) -> String {
    format!("Origin: http://{}", served.address)
}

/// A link, as a person gets it: what stands behind `#link=`.
pub(crate) fn link(served: &Served) -> String {
    let ran = served.test.run(&["dashboard", "--json"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let url = ran.json()["url"].as_str().unwrap().to_owned();
    let (page, link) = url.split_once("/#link=").unwrap();
    assert_eq!((page, link.len()), (format!("http://{}", served.address).as_str(), 43));
    assert!(url.len() <= 80, "`{url}` wraps");
    link.to_owned()
}

fn enter(served: &Served, link: &str, headers: &[&str]) -> Answer {
    ask(served, "POST", "/v1/dashboard", headers, &json!({"link": link}).to_string())
}

fn header(answer: &Answer, name: &str) -> Option<String> {
    let lines = answer.head.lines().filter_map(|line| line.split_once(':'));
    lines
        .into_iter()
        .find(|(key, _)| key.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.trim().to_owned())
}

#[test]
fn every_answer_tells_browsers_what_to_keep_from_each_other() {
    let served = Served::new();
    for path in ["/", "/favicon.svg", "/assets/none.js", "/v1/health", "/v1/policy", "/nowhere"] {
        let answer = ask(&served, "GET", path, &[], "");
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
    let page = ask(&served, "GET", "/", &[], "");
    assert_eq!(page.status, 200);
    assert!(page.body.contains("Tenterhook") && !page.body.contains(&served.token));
    let rebound = ask(&served, "GET", "/", &["Host: evil.example"], "");
    assert!([400, 421].contains(&rebound.status), "two names: {rebound:?}");
}

#[test]
fn a_link_is_good_once_and_only_from_our_own_page() {
    let served = Served::new();
    let (link, own) = (link(&served), own(&served));
    assert_eq!(enter(&served, &link, &[]).status, 401, "no page");
    assert_eq!(enter(&served, &link, &["Origin: http://127.0.0.1:1"]).status, 403, "another port");
    assert_eq!(enter(&served, &link, &[&own, "Sec-Fetch-Site: same-site"]).status, 401);
    let (all, one_less) = (link.len(), link.get(1..).unwrap());
    assert_eq!((all, enter(&served, one_less, &[&own]).status), (43, 403));
    let answer = enter(&served, &link, &[&own, "Sec-Fetch-Site: same-origin"]);
    assert_eq!(answer.status, 200, "{answer:?}");
    let cookie = header(&answer, "set-cookie").unwrap();
    // The head is read in small letters.
    for part in ["httponly", "samesite=strict", "path=/", "max-age=86400"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert_eq!(enter(&served, &link, &[&own]).status, 403, "it was used");
    let leaf = served.test.last_change();
    assert_eq!((&leaf["what"], &leaf["detail"]["authority"]["via"]), (&json!("dashboard"), &json!("socket")));
}

#[test]
fn a_cookie_without_the_key_of_the_page_opens_nothing() {
    let served = Served::new();
    let (one, other) = (Browser::open(&served), Browser::open(&served));
    assert_eq!(one.ask("GET", "/v1/policy", &[], &Value::Null).status, 200);
    assert!(one.ask("GET", "/v1/dashboard", &[], &Value::Null).json()["until"].is_string());
    let [cookie, key] = one.shown();
    let [_, wrong] = other.shown();
    // Every server on this machine gets the cookie; only our page has the key.
    for headers in
        [vec![cookie.as_str()], vec![&key], vec![&cookie, &wrong], vec![&cookie, "tenterhook-page: "]]
    {
        assert_eq!(ask(&served, "GET", "/v1/policy", &headers, "").status, 401, "{headers:?}");
    }
}

#[test]
fn what_changes_something_comes_from_our_own_page() {
    let served = Served::new();
    let (browser, own) = (Browser::open(&served), own(&served));
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
        let answer = browser.ask("PUT", "/v1/mode", &headers, &enforce);
        assert_eq!(answer.status, status, "{headers:?}: {answer:?}");
    }
}

#[test]
fn a_browser_calls_no_hooks() {
    let served = Served::new();
    let (browser, own) = (Browser::open(&served), own(&served));
    let payload: Value = serde_json::from_str(&served.test.bash("ls")).unwrap();
    for path in ["/v1/hooks/claude-code/PreToolUse", "/v1/events", "/tenterhook.v1.HookService/Fire"] {
        assert_eq!(browser.ask("POST", path, &[&own], &payload).status, 403, "{path}");
    }
    assert!(served.test.ledger().is_empty());
}

#[test]
fn same_user_a_browser_alone_loosens_nothing() {
    let served = Served::new();
    let (browser, own) = (Browser::open(&served), own(&served));
    let needs = browser.ask("GET", "/v1/authority?action=mode%20monitor", &[], &Value::Null).json();
    assert_eq!(needs["needs"], "tty");
    for proof in [json!({}), json!({"tty": true}), json!({"code": "123456"})] {
        let answer = browser.ask("PUT", "/v1/mode", &[&own], &json!({"mode": "monitor", "proof": proof}));
        assert_eq!(answer.status, 403, "{answer:?}");
        assert!(answer.body.contains("tenterhook totp enroll"), "{}", answer.body);
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
        assert_eq!(browser.ask("POST", path, &[&own], &body).status, 403, "{path}");
    }
    assert_eq!(served.json("/v1/mode")["mode"], "enforce");
}

#[test]
fn same_user_a_browser_with_a_code_loosens() {
    let served = Served::new();
    let (browser, own) = (Browser::open(&served), own(&served));
    let secret = served.test.enroll();
    let body = |code: &str| json!({"mode": "monitor", "proof": {"code": code}});
    assert_eq!(browser.ask("PUT", "/v1/mode", &[&own], &json!({"mode": "monitor"})).status, 403);
    let right = code(&secret, 0);
    let answer = browser.ask("PUT", "/v1/mode", &[&own], &body(&right));
    assert_eq!((answer.status, &answer.json()["mode"]), (200, &json!("monitor")), "{answer:?}");
    let by = &served.test.last_change()["detail"]["authority"];
    assert_eq!((&by["via"], &by["proof"]), (&json!("browser"), &json!("code")));
    assert_eq!(
        browser.ask("POST", "/v1/ledger/key/rotate", &[&own], &body(&right)).status,
        400,
        "unknown field"
    );
    let again = json!({"proof": {"code": right}});
    assert_eq!(
        browser.ask("POST", "/v1/ledger/key/rotate", &[&own], &again).status,
        403,
        "a code counts once"
    );
}

#[test]
fn same_user_a_guarded_agent_gets_no_link() {
    let served = Served::new();
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
fn whoever_leaves_is_a_stranger_and_so_is_everybody_after_another_start() {
    let served = Served::new();
    let (browser, own) = (Browser::open(&served), own(&served));
    let answer = browser.ask("POST", "/v1/dashboard/leave", &[&own], &Value::Null);
    assert!(header(&answer, "set-cookie").unwrap().contains("max-age=0"), "{answer:?}");
    assert_eq!(browser.ask("GET", "/v1/policy", &[], &Value::Null).status, 401);
    let other = Browser::open(&served);
    let shown = other.shown();
    drop(other);
    let served = served.again();
    let headers: Vec<_> = shown.iter().map(String::as_str).collect();
    assert_eq!(ask(&served, "GET", "/v1/policy", &headers, "").status, 401);
}

#[test]
fn without_a_daemon_or_without_tcp_it_says_what_to_do() {
    let test = crate::context::TestContext::new();
    let ran = test.run(&["dashboard"]);
    assert_eq!(ran.exit, 1);
    assert!(ran.stderr.contains("tenterhook start"), "{}", ran.stderr);
    let _guard = crate::person::Guard::of(&test);
    let ran = test.run(&["dashboard"]);
    assert_eq!(ran.exit, 1);
    assert!(ran.stderr.contains("does not listen over TCP"), "{}", ran.stderr);
}
