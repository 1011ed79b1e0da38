// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Checks that crates depend only on the crates that they are allowed to use, so that dependencies point one way.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::context::repository;

/// The workspace crates that each workspace crate may use. The crates that collect facts do not depend on rules.
/// Engine, policy and ledger are combined only in `guard`, which the daemon and the command line use.
const ALLOWED_DEPENDENCIES: &[(&str, &[&str])] = &[
    ("tenterhook-document", &[]),
    ("tenterhook-command-files", &["tenterhook-document"]),
    ("tenterhook-event", &[]),
    ("tenterhook-file-watch", &[]),
    ("tenterhook-files", &[]),
    (
        "tenterhook-fleet-bundle",
        &["tenterhook-baseline", "tenterhook-event", "tenterhook-ledger", "tenterhook-policy"],
    ),
    ("tenterhook-fleet-protocol", &["tenterhook-ledger"]),
    ("tenterhook-fleet-state", &["tenterhook-files", "tenterhook-fleet-protocol", "tenterhook-ledger"]),
    (
        "tenterhook-fleet-commands",
        &["tenterhook-command", "tenterhook-fleet-state", "tenterhook-home", "tenterhook-ledger"],
    ),
    (
        "tenterhook-fleet-machine",
        &[
            "tenterhook-api",
            "tenterhook-files",
            "tenterhook-fleet-bundle",
            "tenterhook-fleet-protocol",
            "tenterhook-fleet-state",
            "tenterhook-ledger",
        ],
    ),
    (
        "tenterhook-fleet-server",
        &[
            "tenterhook-dashboard",
            "tenterhook-error",
            "tenterhook-event",
            "tenterhook-files",
            "tenterhook-fleet-bundle",
            "tenterhook-fleet-protocol",
            "tenterhook-ledger",
        ],
    ),
    (
        "tenterhook-fleet",
        &[
            "tenterhook-api",
            "tenterhook-authority",
            "tenterhook-command",
            "tenterhook-daemon-control",
            "tenterhook-document",
            "tenterhook-error",
            "tenterhook-event",
            "tenterhook-files",
            "tenterhook-fleet-bundle",
            "tenterhook-fleet-machine",
            "tenterhook-fleet-protocol",
            "tenterhook-fleet-server",
            "tenterhook-fleet-state",
            "tenterhook-home",
            "tenterhook-ledger",
            "tenterhook-records",
        ],
    ),
    ("tenterhook-fleet-cluster", &["tenterhook-fleet-server", "tenterhook-ledger"]),
    ("tenterhook-agent", &["tenterhook-document", "tenterhook-event", "tenterhook-files"]),
    ("tenterhook-api", &["tenterhook-event"]),
    ("tenterhook-error", &[]),
    ("tenterhook-paths", &[]),
    ("tenterhook-patch", &["tenterhook-paths"]),
    ("tenterhook-programs", &["tenterhook-document"]),
    ("tenterhook-secrets", &[]),
    ("tenterhook-code-facts", &["tenterhook-paths"]),
    ("tenterhook-powershell", &[]),
    ("tenterhook-shell", &[]),
    ("tenterhook-sql", &[]),
    (
        "tenterhook-shell-facts",
        &[
            "tenterhook-code-facts",
            "tenterhook-event",
            "tenterhook-patch",
            "tenterhook-paths",
            "tenterhook-powershell",
            "tenterhook-programs",
            "tenterhook-shell",
            "tenterhook-sql",
        ],
    ),
    (
        "tenterhook-facts",
        &[
            "tenterhook-event",
            "tenterhook-host-address",
            "tenterhook-patch",
            "tenterhook-paths",
            "tenterhook-programs",
            "tenterhook-secrets",
            "tenterhook-shell-facts",
        ],
    ),
    ("tenterhook-when", &["tenterhook-event"]),
    (
        "tenterhook-policy",
        &[
            "tenterhook-document",
            "tenterhook-event",
            "tenterhook-facts",
            "tenterhook-paths",
            "tenterhook-programs",
            "tenterhook-shell-facts",
            "tenterhook-sql",
            "tenterhook-when",
        ],
    ),
    ("tenterhook-sandbox", &["tenterhook-document", "tenterhook-event", "tenterhook-policy"]),
    ("tenterhook-baseline", &["tenterhook-policy"]),
    ("tenterhook-harness", &["tenterhook-event"]),
    (
        "tenterhook-engine",
        &[
            "tenterhook-document",
            "tenterhook-event",
            "tenterhook-files",
            "tenterhook-harness",
            "tenterhook-when",
        ],
    ),
    (
        "tenterhook-harness-install",
        &["tenterhook-error", "tenterhook-event", "tenterhook-files", "tenterhook-harness"],
    ),
    (
        "tenterhook-home",
        &[
            "tenterhook-api",
            "tenterhook-baseline",
            "tenterhook-document",
            "tenterhook-engine",
            "tenterhook-error",
            "tenterhook-event",
            "tenterhook-files",
            "tenterhook-fleet-bundle",
            "tenterhook-fleet-state",
            "tenterhook-harness",
            "tenterhook-harness-install",
            "tenterhook-policy",
        ],
    ),
    ("tenterhook-ledger", &["tenterhook-event", "tenterhook-files"]),
    (
        "tenterhook-records",
        &[
            "tenterhook-api",
            "tenterhook-error",
            "tenterhook-event",
            "tenterhook-ledger",
            "tenterhook-paths",
            "tenterhook-secrets",
        ],
    ),
    (
        "tenterhook-notify",
        &["tenterhook-document", "tenterhook-engine", "tenterhook-event", "tenterhook-records"],
    ),
    (
        "tenterhook-transcript",
        &["tenterhook-event", "tenterhook-files", "tenterhook-harness", "tenterhook-harness-install"],
    ),
    (
        "tenterhook-guard",
        &[
            "tenterhook-api",
            "tenterhook-baseline",
            "tenterhook-command-files",
            "tenterhook-document",
            "tenterhook-engine",
            "tenterhook-error",
            "tenterhook-event",
            "tenterhook-facts",
            "tenterhook-files",
            "tenterhook-fleet-state",
            "tenterhook-harness",
            "tenterhook-harness-install",
            "tenterhook-home",
            "tenterhook-ledger",
            "tenterhook-notify",
            "tenterhook-policy",
            "tenterhook-records",
            "tenterhook-shell",
            "tenterhook-transcript",
            "tenterhook-undo",
        ],
    ),
    ("tenterhook-report", &["tenterhook-event", "tenterhook-ledger", "tenterhook-records"]),
    (
        "tenterhook-audit",
        &[
            "tenterhook-error",
            "tenterhook-event",
            "tenterhook-guard",
            "tenterhook-harness",
            "tenterhook-home",
            "tenterhook-ledger",
            "tenterhook-records",
            "tenterhook-report",
            "tenterhook-terminal-text",
            "tenterhook-transcript",
        ],
    ),
    (
        "tenterhook-authority",
        &[
            "tenterhook-api",
            "tenterhook-error",
            "tenterhook-event",
            "tenterhook-fleet-protocol",
            "tenterhook-harness",
            "tenterhook-harness-install",
            "tenterhook-home",
        ],
    ),
    ("tenterhook-host-address", &[]),
    ("tenterhook-proxy", &["tenterhook-host-address"]),
    (
        "tenterhook-egress",
        &[
            "tenterhook-api",
            "tenterhook-authority",
            "tenterhook-daemon-control",
            "tenterhook-error",
            "tenterhook-event",
            "tenterhook-guard",
            "tenterhook-home",
            "tenterhook-proxy",
        ],
    ),
    ("tenterhook-api-routes", &["tenterhook-api", "tenterhook-authority", "tenterhook-error"]),
    ("tenterhook-dashboard", &["tenterhook-error"]),
    ("tenterhook-proto", &[]),
    (
        "tenterhook-sessions",
        &[
            "tenterhook-api",
            "tenterhook-error",
            "tenterhook-event",
            "tenterhook-facts",
            "tenterhook-harness",
            "tenterhook-ledger",
            "tenterhook-policy",
            "tenterhook-records",
        ],
    ),
    (
        "tenterhook-sandbox-run",
        &[
            "tenterhook-error",
            "tenterhook-event",
            "tenterhook-fleet-bundle",
            "tenterhook-guard",
            "tenterhook-home",
            "tenterhook-policy",
            "tenterhook-sandbox",
            "tenterhook-setup",
        ],
    ),
    ("tenterhook-shim", &[]),
    (
        "tenterhook-setup",
        &[
            "tenterhook-api",
            "tenterhook-engine",
            "tenterhook-error",
            "tenterhook-files",
            "tenterhook-guard",
            "tenterhook-harness",
            "tenterhook-harness-install",
            "tenterhook-home",
            "tenterhook-ledger",
            "tenterhook-shim",
        ],
    ),
    (
        "tenterhook-telemetry",
        &[
            "tenterhook-api",
            "tenterhook-engine",
            "tenterhook-event",
            "tenterhook-harness",
            "tenterhook-records",
        ],
    ),
    (
        "tenterhook-posture",
        &[
            "tenterhook-event",
            "tenterhook-guard",
            "tenterhook-harness",
            "tenterhook-harness-install",
            "tenterhook-home",
            "tenterhook-policy",
            "tenterhook-rulebook",
            "tenterhook-setup",
            "tenterhook-terminal-text",
        ],
    ),
    (
        "tenterhook-daemon",
        &[
            "tenterhook-agent",
            "tenterhook-api",
            "tenterhook-api-routes",
            "tenterhook-authority",
            "tenterhook-dashboard",
            "tenterhook-document",
            "tenterhook-engine",
            "tenterhook-error",
            "tenterhook-event",
            "tenterhook-file-watch",
            "tenterhook-files",
            "tenterhook-fleet-bundle",
            "tenterhook-fleet-protocol",
            "tenterhook-fleet-state",
            "tenterhook-guard",
            "tenterhook-harness",
            "tenterhook-harness-install",
            "tenterhook-home",
            "tenterhook-ledger",
            "tenterhook-notify",
            "tenterhook-policy",
            "tenterhook-proto",
            "tenterhook-records",
            "tenterhook-report",
            "tenterhook-sessions",
            "tenterhook-setup",
            "tenterhook-shim",
            "tenterhook-telemetry",
            "tenterhook-terminal-text",
        ],
    ),
    (
        "tenterhook-daemon-control",
        &[
            "tenterhook-authority",
            "tenterhook-error",
            "tenterhook-files",
            "tenterhook-home",
            "tenterhook-shim",
        ],
    ),
    ("tenterhook-hook-programs", &[]),
    ("tenterhook-model-server", &[]),
    (
        "tenterhook-hook-proof",
        &[
            "tenterhook-error",
            "tenterhook-event",
            "tenterhook-files",
            "tenterhook-guard",
            "tenterhook-harness",
            "tenterhook-harness-install",
            "tenterhook-home",
            "tenterhook-ledger",
            "tenterhook-model-server",
            "tenterhook-records",
        ],
    ),
    (
        "tenterhook-package-source",
        &[
            "tenterhook-document",
            "tenterhook-error",
            "tenterhook-files",
            "tenterhook-home",
            "tenterhook-policy",
        ],
    ),
    ("tenterhook-policy-import", &["tenterhook-document", "tenterhook-event", "tenterhook-policy"]),
    ("tenterhook-profile", &["tenterhook-document", "tenterhook-event"]),
    (
        "tenterhook-profile-run",
        &[
            "tenterhook-document",
            "tenterhook-engine",
            "tenterhook-error",
            "tenterhook-event",
            "tenterhook-harness",
            "tenterhook-profile",
        ],
    ),
    (
        "tenterhook-rulebook",
        &["tenterhook-document", "tenterhook-error", "tenterhook-event", "tenterhook-policy"],
    ),
    (
        "tenterhook-scan",
        &[
            "tenterhook-command-files",
            "tenterhook-error",
            "tenterhook-event",
            "tenterhook-facts",
            "tenterhook-files",
            "tenterhook-policy",
            "tenterhook-rulebook",
        ],
    ),
    ("tenterhook-self-update", &["tenterhook-error", "tenterhook-home"]),
    (
        "tenterhook-terminal-text",
        &[
            "tenterhook-api",
            "tenterhook-event",
            "tenterhook-ledger",
            "tenterhook-records",
            "tenterhook-report",
        ],
    ),
    ("tenterhook-agent-transcript", &["tenterhook-agent", "tenterhook-event", "tenterhook-terminal-text"]),
    ("tenterhook-tui", &["tenterhook-event"]),
    ("tenterhook-undo", &["tenterhook-files"]),
    (
        "tenterhook-command",
        &[
            "tenterhook-authority",
            "tenterhook-daemon-control",
            "tenterhook-document",
            "tenterhook-error",
            "tenterhook-event",
            "tenterhook-guard",
            "tenterhook-harness",
            "tenterhook-harness-install",
            "tenterhook-home",
            "tenterhook-policy",
            "tenterhook-profile",
            "tenterhook-profile-run",
            "tenterhook-rulebook",
            "tenterhook-shim",
            "tenterhook-terminal-text",
            "tenterhook-transcript",
        ],
    ),
    (
        "tenterhook-allow-commands",
        &[
            "tenterhook-authority",
            "tenterhook-command",
            "tenterhook-daemon-control",
            "tenterhook-event",
            "tenterhook-guard",
            "tenterhook-home",
            "tenterhook-ledger",
            "tenterhook-paths",
            "tenterhook-policy",
            "tenterhook-records",
            "tenterhook-report",
            "tenterhook-rulebook",
            "tenterhook-terminal-text",
            "tenterhook-undo",
        ],
    ),
    (
        "tenterhook-tui-command",
        &[
            "tenterhook-allow-commands",
            "tenterhook-authority",
            "tenterhook-command",
            "tenterhook-daemon-control",
            "tenterhook-home",
            "tenterhook-ledger",
            "tenterhook-ledger-commands",
            "tenterhook-tui",
        ],
    ),
    (
        "tenterhook-ledger-commands",
        &[
            "tenterhook-api",
            "tenterhook-authority",
            "tenterhook-command",
            "tenterhook-daemon-control",
            "tenterhook-error",
            "tenterhook-event",
            "tenterhook-fleet-state",
            "tenterhook-guard",
            "tenterhook-home",
            "tenterhook-ledger",
            "tenterhook-records",
            "tenterhook-report",
            "tenterhook-sessions",
            "tenterhook-terminal-text",
        ],
    ),
    (
        "tenterhook",
        &[
            "tenterhook-agent",
            "tenterhook-agent-transcript",
            "tenterhook-allow-commands",
            "tenterhook-api",
            "tenterhook-audit",
            "tenterhook-authority",
            "tenterhook-command",
            "tenterhook-daemon",
            "tenterhook-daemon-control",
            "tenterhook-document",
            "tenterhook-egress",
            "tenterhook-engine",
            "tenterhook-error",
            "tenterhook-event",
            "tenterhook-fleet-commands",
            "tenterhook-guard",
            "tenterhook-harness",
            "tenterhook-harness-install",
            "tenterhook-home",
            "tenterhook-hook-programs",
            "tenterhook-hook-proof",
            "tenterhook-ledger",
            "tenterhook-ledger-commands",
            "tenterhook-notify",
            "tenterhook-package-source",
            "tenterhook-policy",
            "tenterhook-policy-import",
            "tenterhook-posture",
            "tenterhook-profile",
            "tenterhook-profile-run",
            "tenterhook-records",
            "tenterhook-report",
            "tenterhook-rulebook",
            "tenterhook-sandbox",
            "tenterhook-sandbox-run",
            "tenterhook-scan",
            "tenterhook-self-update",
            "tenterhook-sessions",
            "tenterhook-setup",
            "tenterhook-shim",
            "tenterhook-terminal-text",
            "tenterhook-transcript",
            "tenterhook-tui-command",
        ],
    ),
    ("tenterhook-client", &["tenterhook-proto"]),
    ("tenterhook-test-support", &[]),
];

/// Packages that the engine must not depend on, so that programs which embed the engine do not have to build them.
const NOT_IN_THE_ENGINE: &[&str] = &[
    "axum",
    "clap",
    "cel",
    "globset",
    "hyper",
    "jsonc-parser",
    "libsqlite3-sys",
    "rusqlite",
    "granit-parser",
    "tonic",
    "tenterhook-powershell",
    "tenterhook-shell",
];

/// Packages that `sessions` must not depend on, because it computes sessions from events alone.
const NOT_IN_SESSIONS: &[&str] =
    &["axum", "clap", "hyper", "tokio", "tonic", "tenterhook-daemon", "tenterhook-guard", "tenterhook-home"];

/// Packages that `scan` must not depend on, because the judge reads and evaluates project files during a call.
const NOT_IN_SCAN: &[&str] =
    &["axum", "clap", "hyper", "tokio", "tonic", "tenterhook-guard", "tenterhook-home", "tenterhook-ledger"];

fn metadata() -> Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--no-deps", "--offline", "--locked"])
        .current_dir(repository())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap()
}

/// Maximum number of lines of Rust in a crate, tests included, so that one person can know it well.
const MAX_CRATE_LINES: usize = 14_000;

/// Crates above the maximum, with their own limits until they are split.
const LARGER_CRATES: &[(&str, usize)] =
    &[("daemon", 14_700), ("guard", 14_800), ("ledger", 14_100), ("policy", 15_000), ("shell-facts", 14_400)];

/// Counts the lines of all Rust files below a directory.
fn count_rust_lines(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries
        .map(|entry| match entry.path() {
            path if entry.file_type().unwrap().is_dir() => count_rust_lines(&path),
            path if path.extension().is_some_and(|extension| extension == "rs") => {
                std::fs::read_to_string(path).unwrap().lines().count()
            }
            _ => 0,
        })
        .sum()
}

#[test]
fn no_crate_is_larger_than_its_limit() {
    let larger: BTreeMap<_, _> = LARGER_CRATES.iter().copied().collect();
    let mut counted = 0;
    for entry in std::fs::read_dir(repository().join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().unwrap().to_str().unwrap();
        let lines = count_rust_lines(&folder);
        let limit = larger.get(name).copied().unwrap_or(MAX_CRATE_LINES);
        assert!(lines <= limit, "`crates/{name}` has {lines} lines of Rust, at most {limit} are allowed");
        let is_listed_in_vain = larger.contains_key(name) && lines <= MAX_CRATE_LINES;
        assert!(!is_listed_in_vain, "`crates/{name}` has {lines} lines: remove it from LARGER_CRATES");
        counted += usize::from(lines > 0);
    }
    assert!(counted >= ALLOWED_DEPENDENCIES.len(), "the crates were counted: {counted}");
}

#[test]
fn our_crates_depend_only_on_allowed_crates() {
    let metadata = metadata();
    let allowed: BTreeMap<_, _> = ALLOWED_DEPENDENCIES.iter().copied().collect();
    let mut seen = BTreeSet::new();
    for package in metadata["packages"].as_array().unwrap() {
        let name = text(package, "name");
        let in_crates = text(package, "manifest_path").contains("/crates/") && package["source"].is_null();
        if !in_crates {
            continue;
        }
        let allowed = allowed.get(name).unwrap_or_else(|| panic!("`{name}` is not in ALLOWED_DEPENDENCIES"));
        seen.insert(name.to_owned());
        for dependency in package["dependencies"].as_array().unwrap() {
            let used = text(dependency, "name");
            let counts = dependency["kind"].is_null() && used.starts_with("tenterhook");
            assert!(!counts || allowed.contains(&used), "`{name}` must not use `{used}`");
        }
    }
    assert_eq!(
        seen.len(),
        ALLOWED_DEPENDENCIES.len(),
        "ALLOWED_DEPENDENCIES names a missing crate: {seen:?}"
    );
}

/// Names of all packages that a crate is built with.
fn dependencies_of(package: &str) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "-p", package, "-e", "normal", "--prefix", "none", "--offline", "--locked"])
        .current_dir(repository())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tree = String::from_utf8(output.stdout).unwrap();
    tree.lines().filter_map(|line| line.split(' ').next()).map(ToOwned::to_owned).collect()
}

#[test]
fn embedding_the_engine_pulls_in_no_database_no_grammar_and_no_server() {
    let names = dependencies_of("tenterhook-engine");
    assert!(names.contains("tokio"), "the tree was read: {names:?}");
    for banned in NOT_IN_THE_ENGINE {
        assert!(!names.contains(*banned), "the engine depends on `{banned}`");
    }
}

#[test]
fn sessions_are_projected_without_a_runtime_and_without_a_home() {
    let names = dependencies_of("tenterhook-sessions");
    assert!(names.contains("tenterhook-ledger"), "the tree was read: {names:?}");
    for banned in NOT_IN_SESSIONS {
        assert!(!names.contains(*banned), "session projection depends on `{banned}`");
    }
}

#[test]
fn project_files_are_scanned_without_a_runtime_and_without_a_home() {
    let names = dependencies_of("tenterhook-scan");
    assert!(names.contains("tenterhook-policy"), "the tree was read: {names:?}");
    for banned in NOT_IN_SCAN {
        assert!(!names.contains(*banned), "scanning depends on `{banned}`");
    }
}
