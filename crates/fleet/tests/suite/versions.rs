// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Engines that are missing, too old or do not run.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::trial::PROGRAM;

fn script(path: &Path, text: &str) {
    std::fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn serve(dir: &Path, nats: &Path, postgres: &Path) -> (Option<i32>, String) {
    let mut command = Command::new(PROGRAM);
    command.env_clear().env("HOME", dir).env("PATH", "/usr/bin:/bin");
    command.env("TENTERHOOK_NATS_SERVER", nats).env("TENTERHOOK_POSTGRES_BIN", postgres);
    let output = command.args(["serve", "--listen", "127.0.0.1:0"]).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn missing_and_old_engines_are_named_with_what_is_needed() {
    let dir = tempfile::tempdir().unwrap();
    let (nats, postgres) = (dir.path().join("nats-server"), dir.path().join("bin"));
    std::fs::create_dir(&postgres).unwrap();
    let (code, text) = serve(dir.path(), &nats, &postgres);
    assert_eq!(code, Some(2));
    assert!(text.contains("`nats-server` is not installed; PostgreSQL is not installed"), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("hint: ")).count(), 2, "{text}");

    script(&nats, "echo nats-server: v2.9.10");
    script(&postgres.join("initdb"), "exit 1");
    script(&postgres.join("postgres"), "echo 'postgres (PostgreSQL) 11.22 (Debian 11.22-1)'");
    let (code, text) = serve(dir.path(), &nats, &postgres);
    assert_eq!(code, Some(2));
    assert!(
        text.contains("found `nats-server v2.9.10`, but nats-server 2.11 or newer is required"),
        "{text}"
    );
    assert!(text.contains("but PostgreSQL 14 or newer is required"), "{text}");
}

#[test]
fn servers_that_cannot_be_reached_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let keys = dir.path().join("keys");
    let run = |arguments: &[&str]| {
        let mut command = Command::new(PROGRAM);
        let output = command.env_clear().env("HOME", dir.path()).args(arguments).output().unwrap();
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stdout).into_owned(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    let keys = keys.to_str().unwrap();
    let (code, config, _) = run(&["nats-config", "--keys", keys, "--tenant", "shop"]);
    assert_eq!(code, Some(0));
    assert!(config.starts_with("operator: ey") && config.contains("resolver: MEMORY"), "{config}");
    let (_, again, _) = run(&["nats-config", "--keys", keys, "--tenant", "shop"]);
    assert_eq!(again.lines().nth(1), config.lines().nth(1), "keys that exist are kept");
    let postgres = "postgres://fleet@127.0.0.1:1/fleet";
    let (code, _, text) =
        run(&["serve", "--nats", "nats://127.0.0.1:1", "--postgres", postgres, "--keys", keys]);
    assert_eq!(code, Some(1));
    assert!(text.contains("PostgreSQL: error connecting to server"), "{text}");
    let tls = "postgres://fleet@127.0.0.1:1/fleet?sslmode=require";
    let (code, _, text) = run(&["serve", "--nats", "nats://127.0.0.1:1", "--postgres", tls, "--keys", keys]);
    assert_eq!(code, Some(2));
    assert!(text.contains("`sslmode=require` needs a certificate authority"), "{text}");
    let (code, _, text) = run(&["machines"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("there is no key in"), "{text}");
}

#[test]
fn the_key_of_the_first_administrator_is_made_without_a_server() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("alice.json");
    let run = |arguments: &[&str]| {
        let mut command = Command::new(PROGRAM);
        let output = command.env_clear().env("HOME", dir.path()).args(arguments).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let file = out.to_str().unwrap();
    let new = ["key", "new", "alice", "--out", file, "--fleet", "shop"];
    assert_eq!(run(&new).0, Some(2), "the key names its server");
    let with_server = [&new[..], &["--server", "https://fleet.example"]].concat();
    let (code, text) = run(&with_server);
    assert_eq!(code, Some(0));
    assert!(text.contains("--admin-key shop=alice="), "{text}");
    let key: serde_json::Value = serde_json::from_slice(&std::fs::read(&out).unwrap()).unwrap();
    assert_eq!((&key["server"], &key["fleet"]), (&"https://fleet.example".into(), &"shop".into()));
    assert_ne!(run(&with_server).0, Some(0), "a key is not replaced");
}
