// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Requests of operators: signatures, replays and roles.

use std::time::Duration;

use serde_json::json;
use tenterhook_fleet_server::{OperatorKey, SIGNATURE_HEADER};

use crate::trial::Trial;

fn send(url: &str, method: &str, path: &str, body: &str, headers: &[(&str, &str)]) -> u16 {
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(Duration::from_secs(20)));
    let agent: ureq::Agent = config.build().into();
    let address = format!("{url}{path}");
    if method == "GET" {
        let request =
            headers.iter().fold(agent.get(address), |request, (name, value)| request.header(*name, *value));
        return request.call().unwrap().status().as_u16();
    }
    let request =
        headers.iter().fold(agent.post(address), |request, (name, value)| request.header(*name, *value));
    request.send(body).unwrap().status().as_u16()
}

#[test]
fn requests_without_a_valid_signature_and_replayed_requests_are_refused() {
    let Some(trial) = Trial::start(&["default"], &[]) else { return };
    let url = trial.url();
    let key = OperatorKey::load(&trial.state().join("admin-default.json")).unwrap();
    let header = key.sign("GET", "/v1/machines", b"").unwrap();
    assert_eq!(send(&url, "GET", "/v1/machines", "", &[]), 403);
    assert_eq!(send(&url, "GET", "/v1/machines", "", &[(SIGNATURE_HEADER, "x")]), 403);
    // A header of a proxy counts only if a proxy is configured.
    assert_eq!(send(&url, "GET", "/v1/machines", "", &[("x-forwarded-user", "alice")]), 403);
    assert_eq!(send(&url, "GET", "/v1/machines", "", &[(SIGNATURE_HEADER, &header)]), 200);
    assert_eq!(send(&url, "GET", "/v1/machines", "", &[(SIGNATURE_HEADER, &header)]), 403, "replayed");
    let header = key.sign("GET", "/v1/machines", b"").unwrap();
    assert_eq!(send(&url, "GET", "/v1/alerts", "", &[(SIGNATURE_HEADER, &header)]), 403, "another path");
    let body =
        json!({ "uses": 1, "life_seconds": 60, "labels": {}, "ci": false, "ring": "default" }).to_string();
    let header = key.sign("POST", "/v1/tokens", body.as_bytes()).unwrap();
    let changed = body.replace("\"uses\":1", "\"uses\":9");
    assert_eq!(
        send(&url, "POST", "/v1/tokens", &changed, &[(SIGNATURE_HEADER, &header)]),
        403,
        "another body"
    );
    assert_eq!(send(&url, "POST", "/v1/tokens", &body, &[(SIGNATURE_HEADER, &header)]), 200);
    assert_eq!(send(&url, "GET", "/v1/health", "", &[]), 200);
}

#[test]
fn roles_limit_what_an_operator_may_do_and_revoked_keys_are_refused() {
    let Some(trial) = Trial::start(&["default"], &[]) else { return };
    let path = |name: &str| trial.dir.path().join(name).display().to_string();
    for role in ["viewer", "author"] {
        let output = trial.run_as("default", &["key", "new", role, "--role", role, "--out", &path(role)]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let run = |role: &str, arguments: &[&str]| {
        let mut command = crate::trial::program(trial.dir.path(), &crate::trial::nats_server().unwrap());
        command.args(arguments).arg("--key").arg(path(role)).output().unwrap()
    };
    assert!(run("viewer", &["machines"]).status.success());
    let refused = run("viewer", &["token", "create"]);
    assert_eq!(refused.status.code(), Some(1));
    let text = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(text.contains("this needs the role `admin`"), "{text}");
    assert_eq!(run("viewer", &["alerts", "acknowledge", "1"]).status.code(), Some(1));
    let unknown = run("author", &["alerts", "acknowledge", "1"]);
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("no open alert `1`"));
    assert_eq!(
        run("author", &["key", "new", "x", "--role", "admin", "--out", &path("x")]).status.code(),
        Some(1)
    );

    let keys = trial.json(&["key", "list"]);
    let id = |name: &str| {
        keys["keys"].as_array().unwrap().iter().find(|key| key["name"] == name).unwrap()["id"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert!(trial.run_as("default", &["key", "revoke", &id("viewer")]).status.success());
    assert_eq!(run("viewer", &["machines"]).status.code(), Some(1));
    let last = trial.run_as("default", &["key", "revoke", &id("trial")]);
    assert!(String::from_utf8_lossy(&last.stderr).contains("the last administrator's key cannot be revoked"));
}

#[test]
fn a_proxys_header_counts_only_from_its_address_and_for_known_users() {
    let users = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(users.path(), r#"{"tenant": "default", "roles": {"alice": "author"}}"#).unwrap();
    let file = users.path().display().to_string();
    let options = ["--trusted-proxy-header", "X-Verified-User", "--proxy-users", &file, "--trusted-proxy"];
    let Some(trial) = Trial::start(&["default"], &[&options[..], &["127.0.0.1"]].concat()) else { return };
    let url = trial.url();
    assert_eq!(send(&url, "GET", "/v1/machines", "", &[("x-verified-user", "alice")]), 200);
    assert_eq!(send(&url, "GET", "/v1/tokens", "", &[("x-verified-user", "alice")]), 403);
    assert_eq!(send(&url, "GET", "/v1/machines", "", &[("x-verified-user", "mallory")]), 403);
    // A page of another site can send the user's cookie to the proxy, but no header of its own.
    let acknowledge = "/v1/alerts/1/acknowledge";
    assert_eq!(send(&url, "POST", acknowledge, "", &[("x-verified-user", "alice")]), 403);
    let own_page = [("x-verified-user", "alice"), ("x-tenterhook-fleet", "1")];
    assert_eq!(send(&url, "POST", acknowledge, "", &own_page), 404);
    let twice = [("x-verified-user", "alice"), ("x-verified-user", "mallory")];
    assert_eq!(send(&url, "GET", "/v1/machines", "", &twice), 403);
    drop(trial);
    let Some(trial) = Trial::start(&["default"], &[&options[..], &["10.9.8.7"]].concat()) else { return };
    assert_eq!(send(&trial.url(), "GET", "/v1/machines", "", &[("x-verified-user", "alice")]), 403);
}
