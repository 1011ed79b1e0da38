// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The files of `deploy/`: their syntax, and that the options in them exist. They are not run.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tenterhook_test_support::skip_test;

use crate::trial::{PROGRAM, nats_server};

fn deploy(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy").join(name)
}

fn read_yaml(name: &str) -> Value {
    let text = std::fs::read_to_string(deploy(name)).unwrap();
    let python = "import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)";
    // Anchors and merge keys of Compose are resolved by a parser that knows them, if it is installed.
    let child = Command::new("python3")
        .args(["-c", python])
        .stdin(std::fs::File::open(deploy(name)).unwrap())
        .output();
    if let Ok(output) = child.as_ref().map(|output| &output.stdout)
        && let Ok(value) = serde_json::from_slice(output)
    {
        return value;
    }
    let tree = tenterhook_document::parse(&text)
        .unwrap_or_else(|(spot, why)| panic!("{name}: {}: {why}", spot.line));
    tenterhook_document::read(&tree).unwrap()
}

/// Options of `tenterhook-fleet serve`.
fn serve_options() -> BTreeSet<String> {
    let output = Command::new(PROGRAM).args(["serve", "--help"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    words.filter(|word| word.starts_with("--") && word.len() > 2).map(ToOwned::to_owned).collect()
}

fn check_words(place: &str, words: &[&str]) {
    let known = serve_options();
    assert!(known.contains("--nats") && known.contains("--postgres"), "{known:?}");
    assert_eq!(words.first(), Some(&"serve"), "{place}");
    for word in &words[1..] {
        let (option, value) = word.split_once('=').unwrap_or((word, ""));
        assert!(known.contains(option), "{place}: `{option}` is not an option of `serve`");
        assert!(!value.is_empty(), "{place}: `{word}` has no value");
    }
    for needed in ["--nats", "--postgres", "--keys", "--state", "--replicas"] {
        assert!(
            words.iter().any(|word| word.starts_with(&format!("{needed}="))),
            "{place}: {needed} is missing"
        );
    }
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().map(|all| all.iter().filter_map(Value::as_str).collect()).unwrap_or_default()
}

#[test]
fn the_compose_file_uses_options_that_exist() {
    let compose = read_yaml("compose/compose.yaml");
    let services = compose["services"].as_object().unwrap();
    let servers = ["fleet-1", "fleet-2"].map(|name| texts(&services[name]["command"]));
    let words = servers[0].clone();
    check_words("compose.yaml", &words);
    // Both copies are the same, except if aliases were not resolved.
    assert!(servers[1] == words || servers[1].is_empty());
    for name in ["nats-1", "nats-2", "nats-3"] {
        assert_eq!(services[name]["environment"]["SERVER_NAME"], name);
        assert!(words.iter().any(|word| *word == format!("--nats=tls://{name}:4222")), "{words:?}");
        let volumes = texts(&services[name]["volumes"]);
        assert!(volumes.iter().any(|volume| volume.starts_with("./nats.conf:")), "{volumes:?}");
    }
    let text = std::fs::read_to_string(deploy("compose/compose.yaml")).unwrap();
    assert!(text.contains("do not run it"), "the file says that it is not run");
}

#[test]
fn the_kubernetes_manifests_use_options_that_exist() {
    for (file, kind) in [
        ("fleet-server.yaml", "StatefulSet"),
        ("fleet-service.yaml", "Service"),
        ("disruption-budget.yaml", "PodDisruptionBudget"),
    ] {
        let manifest = read_yaml(&format!("kubernetes/{file}"));
        assert_eq!(manifest["kind"], kind, "{file}");
        assert_eq!(manifest["metadata"]["name"], "tenterhook-fleet", "{file}");
        assert!(manifest["apiVersion"].is_string() && manifest["spec"].is_object(), "{file}");
    }
    let server = read_yaml("kubernetes/fleet-server.yaml");
    let pod = &server["spec"]["template"]["spec"];
    let container = &pod["containers"][0];
    let words = texts(&container["args"]);
    check_words("fleet-server.yaml", &words);
    assert_eq!(container["readinessProbe"]["httpGet"]["path"], "/v1/health");
    // Every mount has a volume, and every file that an option names is below a mount.
    let names = |list: &Value| -> BTreeSet<String> {
        list.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    };
    let mut volumes = names(&pod["volumes"]);
    volumes.extend(
        server["spec"]["volumeClaimTemplates"][0]["metadata"]["name"].as_str().map(ToOwned::to_owned),
    );
    let mounts = container["volumeMounts"].as_array().unwrap();
    assert!(names(&container["volumeMounts"]).is_subset(&volumes), "{volumes:?}");
    for option in ["--keys", "--state", "--nats-ca", "--postgres-password-file"] {
        let path = words.iter().find_map(|word| word.strip_prefix(&format!("{option}="))).unwrap();
        let is_mounted = mounts.iter().any(|mount| path.starts_with(mount["mountPath"].as_str().unwrap()));
        assert!(is_mounted, "{option} names `{path}`, which is not mounted");
    }
    let selector = &server["spec"]["selector"]["matchLabels"];
    assert_eq!(selector, &server["spec"]["template"]["metadata"]["labels"]);
    assert_eq!(&read_yaml("kubernetes/fleet-service.yaml")["spec"]["selector"], selector);
}

#[test]
fn nats_accepts_the_configuration() {
    let Some(nats) = nats_server() else { return };
    let dir = tempfile::tempdir().unwrap();
    let keys = dir.path().join("keys");
    let accounts = Command::new(PROGRAM).args(["nats-config", "--keys"]).arg(&keys).output().unwrap();
    assert!(accounts.status.success(), "{accounts:?}");
    std::fs::write(dir.path().join("accounts.conf"), &accounts.stdout).unwrap();
    let text = std::fs::read_to_string(deploy("compose/nats.conf")).unwrap();
    // Certificates of the test: the configuration is checked with them.
    let openssl = Command::new("openssl")
        .args(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=nats-1"
                .split(' '),
        )
        .args(["-keyout", "nats.key", "-out", "nats.pem"])
        .current_dir(dir.path())
        .output();
    if !openssl.is_ok_and(|output| output.status.success()) {
        return skip_test("`openssl` is not installed");
    }
    let place = dir.path().display();
    let text = text.replace("/etc/nats/tls/", &format!("{place}/"));
    let config = dir.path().join("nats.conf");
    let check = |text: &str| {
        std::fs::write(&config, text).unwrap();
        Command::new(&nats).env("SERVER_NAME", "nats-1").args(["-t", "-c"]).arg(&config).output().unwrap()
    };
    let checked = check(&text);
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    // A setting that does not exist is refused, so the check above can fail.
    assert!(!check(&text.replace("sync_interval", "sync_intervals")).status.success());
}

#[test]
fn systemd_accepts_the_unit() {
    let unit = deploy("systemd/tenterhook-fleet.service");
    let text = std::fs::read_to_string(&unit).unwrap();
    let dir = tempfile::tempdir().unwrap();
    // The program of the unit has to exist for the check.
    let copy = dir.path().join("tenterhook-fleet.service");
    std::fs::write(&copy, text.replace("/usr/bin/tenterhook-fleet", PROGRAM)).unwrap();
    let verify =
        |path: &Path| Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(path).output();
    let Ok(verified) = verify(&copy) else { return skip_test("`systemd-analyze` is not installed") };
    let problems = String::from_utf8_lossy(&verified.stderr);
    let about_unit: Vec<&str> =
        problems.lines().filter(|line| line.contains("tenterhook-fleet.service")).collect();
    assert!(about_unit.is_empty(), "{problems}");
    std::fs::write(&copy, text.replace("Restart=always", "Restart=alwais")).unwrap();
    let refused = verify(&copy).unwrap();
    assert!(String::from_utf8_lossy(&refused.stderr).contains("alwais"), "the check finds a wrong value");
}
