// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Browsers of operators: one-time links, sessions, roles, and what the server answers to attacks.

use std::time::Duration;

use serde_json::{Value, json};
use tenterhook_fleet_server::{OperatorKey, SIGNATURE_HEADER};

use crate::trial::Trial;

/// A response of the server.
struct Answer {
    status: u16,
    headers: ureq::http::HeaderMap,
    body: Value,
    text: String,
}

impl Answer {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
    }
}

/// Sends a request with these headers; with a body it is a POST request.
fn send(url: &str, path: &str, body: Option<&Value>, headers: &[(&str, &str)]) -> Answer {
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(Duration::from_mins(1)));
    let agent: ureq::Agent = config.build().into();
    let address = format!("{url}{path}");
    let response = match body {
        None => headers
            .iter()
            .fold(agent.get(address), |request, (name, value)| request.header(*name, *value))
            .call(),
        Some(body) => headers
            .iter()
            .fold(agent.post(address), |request, (name, value)| request.header(*name, *value))
            .send(body.to_string()),
    };
    let mut response = response.unwrap();
    let text = response.body_mut().read_to_string().unwrap();
    Answer {
        status: response.status().as_u16(),
        headers: response.headers().clone(),
        body: serde_json::from_str(&text).unwrap_or_default(),
        text,
    }
}

const OWN_PAGE: (&str, &str) = ("x-tenterhook-fleet", "1");

/// A browser that is signed in.
struct Browser {
    url: String,
    cookie: String,
    page_key: String,
}

impl Browser {
    fn get(&self, path: &str) -> Answer {
        send(&self.url, path, None, &[("cookie", &self.cookie), ("tenterhook-page", &self.page_key)])
    }

    fn post(&self, path: &str, more: &[(&str, &str)]) -> Answer {
        let own = [("cookie", self.cookie.as_str()), ("tenterhook-page", self.page_key.as_str())];
        send(&self.url, path, Some(&json!({})), &[&own, more].concat())
    }
}

/// Creates a link as the owner of a key file in the trial's directory.
fn create_link(trial: &Trial, key: &str) -> String {
    let created = trial.json_unsigned(&["open", "--key", key]);
    let (server, link) = created["url"].as_str().unwrap().split_once("/#link=").unwrap();
    assert_eq!(server, trial.url());
    link.to_owned()
}

fn use_link(url: &str, link: &str) -> Answer {
    send(url, "/v1/sign-in", Some(&json!({ "link": link })), &[OWN_PAGE])
}

fn sign_in(trial: &Trial, key: &str) -> Browser {
    let answer = use_link(&trial.url(), &create_link(trial, key));
    assert_eq!(answer.status, 200, "{}", answer.text);
    let cookie = answer.header("set-cookie");
    assert!(cookie.contains("; HttpOnly; SameSite=Strict; Path=/; Max-Age=43200"), "{cookie}");
    Browser {
        url: trial.url(),
        cookie: cookie.split(';').next().unwrap().to_owned(),
        page_key: answer.body["key"].as_str().unwrap().to_owned(),
    }
}

/// Creates the key of an operator. Returns the path of its file.
fn create_key(trial: &Trial, role: &str) -> String {
    let path = trial.dir.path().join(role).display().to_string();
    trial.json(&["key", "new", role, "--role", role, "--out", &path]);
    path
}

fn admin_key(trial: &Trial) -> String {
    trial.state().join("admin-default.json").display().to_string()
}

#[test]
fn a_link_signs_one_browser_in_once_and_all_copies_of_the_server_accept_its_session() {
    let Some(mut trial) = Trial::start(&["default"], &[]) else { return };
    let copy = trial.serve_copy("copy");
    let (url, other) = (trial.url(), trial.servers[copy].url.clone());
    assert_eq!(send(&url, "/v1/machines", None, &[]).status, 403);
    let link = create_link(&trial, &admin_key(&trial));
    // Another site cannot sign a browser in, and a false link signs nothing in.
    assert_eq!(send(&url, "/v1/sign-in", Some(&json!({ "link": link })), &[]).status, 403);
    assert_eq!(use_link(&url, &link.replace(|c: char| c.is_ascii_digit(), "A")).status, 403);
    // The link is used at one copy of the server, and cannot be used at any other.
    let used = use_link(&other, &link);
    assert_eq!(used.status, 200, "{}", used.text);
    for server in [&url, &other] {
        let again = use_link(server, &link);
        assert_eq!((again.status, again.header("set-cookie")), (403, ""), "{}", again.text);
        assert!(again.text.contains("already used or has expired"), "{}", again.text);
    }
    let browser = sign_in(&trial, &admin_key(&trial));
    let elsewhere = Browser { url: other, ..browser };
    let session = elsewhere.get("/v1/sign-in");
    assert_eq!((session.status, &session.body["role"]), (200, &json!("admin")), "{}", session.text);
    assert_eq!(elsewhere.get("/v1/overview").body["overview"]["machines"], 0);

    // The cookie alone is not sufficient: servers on other ports of this host receive it too.
    let browser = Browser { url: url.clone(), ..elsewhere };
    assert_eq!(send(&url, "/v1/machines", None, &[("cookie", &browser.cookie)]).status, 403);
    assert_eq!(send(&url, "/v1/machines", None, &[("tenterhook-page", &browser.page_key)]).status, 403);
    // Pages of other sites and other ports, even if a browser would let them send everything else.
    for site in ["cross-site", "same-site", "none"] {
        let own = [("cookie", browser.cookie.as_str()), ("tenterhook-page", browser.page_key.as_str())];
        let answer = send(&url, "/v1/machines", None, &[&own[..], &[("sec-fetch-site", site)]].concat());
        assert_eq!(answer.status, 403, "{site}");
    }
    // Secrets are stored as hashes.
    let stored = trial.query("select secret_hash, '' from sign_in_links union all select cookie_hash, page_key_hash from browser_sessions");
    let secrets = [link.as_str(), browser.cookie.split('=').nth(1).unwrap(), browser.page_key.as_str()];
    assert!(!stored.is_empty());
    assert!(
        stored.iter().flatten().flatten().all(|text| secrets.iter().all(|secret| !text.contains(secret)))
    );
    // Sign-ins are records of the ledger.
    let listed = trial.query("select action from actions where action like 'sign-in%' order by id");
    let actions: Vec<_> = listed.into_iter().filter_map(|row| row.into_iter().next().flatten()).collect();
    // The first link is the one that `serve` prints.
    assert_eq!(actions, ["sign-in-link", "sign-in-link", "sign-in", "sign-in-link", "sign-in"]);
}

#[test]
fn expired_links_and_sessions_and_those_of_a_revoked_key_are_refused() {
    let Some(trial) = Trial::start(&["default"], &[]) else { return };
    let viewer = create_key(&trial, "viewer");
    let link = create_link(&trial, &viewer);
    trial.query("update sign_in_links set expires = now() - interval '1 second'");
    assert_eq!(use_link(&trial.url(), &link).status, 403, "an expired link");

    let browser = sign_in(&trial, &viewer);
    assert_eq!(browser.get("/v1/machines").status, 200);
    trial.query("update browser_sessions set expires = now() - interval '1 second'");
    assert_eq!(browser.get("/v1/machines").status, 403, "an expired session");

    let (browser, link) = (sign_in(&trial, &viewer), create_link(&trial, &viewer));
    assert_eq!(browser.get("/v1/machines").status, 200);
    let keys = trial.json(&["key", "list"]);
    let key = keys["keys"].as_array().unwrap().iter().find(|key| key["name"] == "viewer").unwrap();
    trial.json(&["key", "revoke", key["id"].as_str().unwrap()]);
    assert_eq!(browser.get("/v1/machines").status, 403, "the cookie of a removed key");
    assert_eq!(use_link(&trial.url(), &link).status, 403, "the link of a removed key");

    // A sign-out ends the session, not only the cookie in the browser.
    let browser = sign_in(&trial, &admin_key(&trial));
    assert_eq!(browser.post("/v1/sign-out", &[]).status, 403, "a sign-out needs the header too");
    let left = browser.post("/v1/sign-out", &[OWN_PAGE]);
    assert_eq!(left.status, 200);
    assert!(left.header("set-cookie").contains("Max-Age=0"));
    assert_eq!(browser.get("/v1/machines").status, 403);
}

#[test]
fn a_browser_changes_only_what_its_pages_offer_and_its_role_allows() {
    let Some(trial) = Trial::start(&["default"], &[]) else { return };
    trial.query(
        "insert into alerts (tenant, machine, kind, detail) values ('default', 'm', 'machine-silent', '{}')",
    );
    let acknowledge = "/v1/alerts/1/acknowledge";
    let viewer = sign_in(&trial, &create_key(&trial, "viewer"));
    let refused = viewer.post(acknowledge, &[OWN_PAGE]);
    assert_eq!(refused.status, 403);
    assert!(refused.text.contains("this needs the role `author`"), "{}", refused.text);
    assert_eq!(viewer.post("/v1/policy/rollouts/default/halt", &[OWN_PAGE]).status, 403);

    let author = sign_in(&trial, &create_key(&trial, "author"));
    let missing = author.post(acknowledge, &[]);
    assert!(missing.status == 403 && missing.text.contains("x-tenterhook-fleet"), "{}", missing.text);
    assert_eq!(trial.json(&["alerts"])["alerts"].as_array().unwrap().len(), 1);
    assert_eq!(author.post(acknowledge, &[OWN_PAGE]).status, 200);
    let by = trial.query("select acknowledged_by from alerts")[0][0].clone().unwrap();
    assert!(by.starts_with("author (") && by.ends_with(", browser)"), "{by}");
    assert_eq!(author.post("/v1/policy/rollouts/default/halt", &[OWN_PAGE]).status, 404, "no policy");

    // A stolen session of an administrator can neither stay nor publish: these need a signature.
    let admin = sign_in(&trial, &admin_key(&trial));
    for path in [
        "/v1/sign-in/link",
        "/v1/keys",
        "/v1/tokens",
        "/v1/policy/signers",
        "/v1/policy/bundles",
        "/v1/policy/rollouts",
        "/v1/policy/rings",
        "/v1/approvals/answer",
    ] {
        let answer = admin.post(path, &[OWN_PAGE]);
        assert_eq!(answer.status, 403, "{path}: {}", answer.text);
    }
    // A reverse proxy or a signature creates no second identity beside the session.
    let forged = admin.post(acknowledge, &[OWN_PAGE, (SIGNATURE_HEADER, "x")]);
    assert_eq!(forged.status, 403);
}

#[test]
fn pages_are_served_with_headers_that_forbid_frames_and_foreign_scripts() {
    let Some(trial) = Trial::start(&["default"], &[]) else { return };
    for path in ["/", "/v1/health", "/v1/machines", "/assets/none.js"] {
        let answer = send(&trial.url(), path, None, &[]);
        let policy = answer.header("content-security-policy");
        assert!(policy.contains("frame-ancestors 'none'") && policy.contains("script-src 'self';"), "{path}");
        assert_eq!(answer.header("x-frame-options"), "DENY", "{path}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(answer.header("referrer-policy"), "no-referrer", "{path}");
        assert_eq!(answer.header("access-control-allow-origin"), "", "{path}");
    }
    let page = send(&trial.url(), "/", None, &[]);
    assert_eq!(page.status, 200);
    assert!(page.header("content-type").starts_with("text/html"));
    assert!(page.text.contains("Fleet · Tenterhook") || page.text.contains("This build has no dashboard"));
    for path in ["/assets/../fleet.html", "/assets/..%2f..%2fpackage.json", "/index.html"] {
        assert_eq!(send(&trial.url(), path, None, &[]).status, 404, "{path}");
    }
}

#[test]
fn a_server_behind_https_sets_a_secure_cookie_of_its_host() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let options = ["--public-url", "https://fleet.example", "--listen", &free];
    let Some(trial) = Trial::start(&["default"], &options) else { return };
    let (url, body) = (format!("http://{free}"), json!({}));
    let key = OperatorKey::load(&trial.state().join("admin-default.json")).unwrap();
    let header = key.sign("POST", "/v1/sign-in/link", body.to_string().as_bytes()).unwrap();
    let created = send(&url, "/v1/sign-in/link", Some(&body), &[(SIGNATURE_HEADER, &header)]);
    let used = use_link(&url, created.body["link"].as_str().unwrap());
    let cookie = used.header("set-cookie");
    assert!(cookie.starts_with("__Host-tenterhook-fleet-") && cookie.ends_with("; Secure"), "{cookie}");
}
