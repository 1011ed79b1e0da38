// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `hooks search|add`: hook packages from a git repository are pinned, and do not run until a user trusts them.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::context::{CommandOutput, TestContext};

const KIT: &str = "\
title: No containers
about: Denies docker and podman, whoever starts them.
language: shell
hooks:
  - id: no-docker
    on: pre-tool
    match: class:shell
    exec: [sh, \"{kit}/docker.sh\"]
samples:
  - title: a container
    event: pre-tool
    tool: { name: Bash, args: { command: docker ps } }
    expect: deny
";
const SCRIPT: &str = "case $(cat) in *docker*) echo 'no containers' >&2; exit 2 ;; esac\n";
const INDEX: &str = "version: 1\nhooks:\n  - {name: no-docker, path: kits/no-docker, title: No containers, tags: [shell]}\n  - {name: lost, path: ../../etc}\n";

fn said(ran: &CommandOutput, exit: i32, part: &str) {
    assert_eq!(ran.exit, exit, "{}{}", ran.stdout, ran.stderr);
    let all = format!("{}{}", ran.stdout, ran.stderr);
    assert!(all.contains(part), "`{part}` is not in\n{all}");
}

fn git(dir: &Path, args: &[&str]) -> String {
    let fixed = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"];
    let ran = Command::new("git").arg("-C").arg(dir).args(fixed).args(args).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap().trim().to_owned()
}

/// Creates a repository with one hook package and returns its address.
fn create_repository(test: &TestContext) -> String {
    test.write("theirs/tenterhook-hooks.yaml", INDEX);
    test.write("theirs/kits/no-docker/hook.yaml", KIT);
    test.write("theirs/kits/no-docker/docker.sh", SCRIPT);
    let dir = test.path("theirs");
    git(&dir, &["init", "--quiet"]);
    git(&dir, &["add", "."]);
    git(&dir, &["commit", "--quiet", "-m", "first"]);
    format!("file://{}", dir.display())
}

fn is_denied(test: &TestContext) -> bool {
    let ran = test.run_with(&["hook", "claude-code", "pre-tool-use"], test.bash("docker ps").as_bytes());
    ran.stdout.contains("no containers")
}

// seed: 003-099
#[test]
fn a_hook_package_is_found_added_trusted_and_run() {
    let test = TestContext::new();
    let from = create_repository(&test);
    let found = test.run(&["hooks", "search", "CONTAIN", "--from", &from, "--json"]).json();
    assert_eq!(found["hooks"][0]["name"], "no-docker");
    assert_eq!(found["commit"], git(&test.path("theirs"), &["rev-parse", "HEAD"]));
    said(&test.run(&["hooks", "search", "nothing", "--from", &from]), 1, "no matching hook package");
    said(&test.run(&["hooks", "search", "secrets"]), 0, "env-guard");

    said(&test.run(&["hooks", "add", &from]), 2, "several hook packages");
    said(&test.run(&["hooks", "add", &from, "lost"]), 2, "is outside the repository");
    let ran = test.run(&["hooks", "add", &from, "no-docker"]);
    said(&ran, 0, "its hooks do not run yet");
    said(&ran, 0, "tenterhook hooks trust no-docker");
    let leaf = test.last_change();
    assert_eq!(leaf["what"], "hooks add");
    assert_eq!(leaf["detail"]["kit"]["commit"], found["commit"]);
    assert!(!is_denied(&test), "the package is not trusted");
    said(&test.run(&["hooks", "test", "no-docker"]), 2, "hook package `no-docker` is not trusted");
    said(&test.run(&["hooks", "trust", "no-docker"]), 1, "requested by a guarded agent");
    assert!(!is_denied(&test));
    said(&test.run_on_terminal(&["hooks", "trust", "no-docker"]), 0, "is trusted");
    assert!(is_denied(&test));
    said(&test.run(&["hooks", "test", "no-docker"]), 0, "✓ a container: denied");
    said(&test.run(&["hooks", "add", &from, "no-docker"]), 2, "already exists");

    said(&test.run(&["hooks", "remove", "no-docker"]), 1, "requested by a guarded agent");
    assert!(is_denied(&test));
    said(&test.run_on_terminal(&["hooks", "remove", "no-docker"]), 0, "was removed");
    assert!(!is_denied(&test) && !test.home().join("hooks/no-docker").exists());
}

#[test]
fn a_file_that_changed_is_refused() {
    let test = TestContext::new();
    let from = create_repository(&test);
    test.run(&["hooks", "add", &from, "no-docker"]);
    test.write("home/hooks/no-docker/docker.sh", "exit 0\n");
    said(&test.run_on_terminal(&["hooks", "trust", "no-docker"]), 1, "`docker.sh` was changed");
    said(&test.run(&["hooks", "add", &from, "no-docker"]), 0, "its hooks do not run yet");
    said(&test.run_on_terminal(&["hooks", "trust", "no-docker"]), 0, "is trusted");
    assert!(is_denied(&test));
    test.write("home/hooks/no-docker/docker.sh", "exit 0\n");
    assert!(!is_denied(&test), "a changed package is not trusted");
    said(&test.run(&["check"]), 1, "`docker.sh` was changed");
    said(&test.run(&["hooks", "list"]), 0, "changed");
    test.write("home/hooks/no-docker/docker.sh", SCRIPT);
    assert!(is_denied(&test));
    test.write("home/hooks/no-docker/more.sh", "");
    assert!(!is_denied(&test), "a package with additional files is not trusted");
}

#[test]
fn a_hook_package_is_pinned_by_commit_and_hash() {
    let test = TestContext::new();
    let from = create_repository(&test);
    let first = git(&test.path("theirs"), &["rev-parse", "HEAD"]);
    let kit = test.run(&["hooks", "add", &from, "no-docker", "--json"]).json();
    let hash = kit["sha256"].as_str().unwrap();
    test.write("theirs/kits/no-docker/docker.sh", "exit 0\n");
    git(&test.path("theirs"), &["commit", "--quiet", "-am", "second"]);
    said(&test.run(&["hooks", "add", &from, "no-docker", "--sha256", hash]), 1, "does not match");
    let ran = test.run(&["hooks", "add", &from, "no-docker", "--sha256", hash, "--commit", &first, "--json"]);
    assert_eq!(ran.json()["kit"]["commit"], json!(first), "{}", ran.stderr);
    said(&test.run(&["hooks", "add", &from, "no-docker", "--commit", "HEAD~1"]), 2, "invalid commit");
    // An index can give the hashes of its packages.
    let index = INDEX.replace("tags: [shell]", "sha256: \"00\"");
    test.write("theirs/tenterhook-hooks.yaml", &index);
    git(&test.path("theirs"), &["commit", "--quiet", "-am", "third"]);
    said(&test.run(&["hooks", "add", &from, "no-docker"]), 1, "differs from the index");
}

#[test]
fn a_directory_is_copied_without_links_and_without_being_run() {
    let test = TestContext::new();
    test.write("work/mine/hook.yaml", KIT);
    test.write("work/mine/docker.sh", SCRIPT);
    said(&test.run(&["hooks", "add", "mine", "ours"]), 0, "`ours` added in [DIR]/home/hooks/ours");
    std::os::unix::fs::symlink("/etc/passwd", test.path("work/mine/x")).unwrap();
    said(&test.run(&["hooks", "add", "mine"]), 2, "is not a regular file");
    std::fs::remove_file(test.path("work/mine/x")).unwrap();
    test.write("work/mine/hook.yaml", &KIT.replace("on: pre-tool", "on: nothing"));
    said(&test.run(&["hooks", "add", "mine"]), 2, "unknown event `nothing`");
    said(&test.run(&["hooks", "add", "nowhere"]), 2, "neither `tenterhook-hooks.yaml`");
    let listed: Value = test.run(&["hooks", "list", "--json"]).json();
    assert_eq!((listed["kits"].as_array().unwrap().len(), &listed["hooks"]), (1, &json!([])));
}
