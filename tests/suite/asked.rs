// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Questions to a person, on a terminal of their own.

use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;
use tenterhook_test_support::assert_no_hang;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::context::TestContext;
use crate::person::terminal;

const RULES: &str =
    "version: 1\nrules:\n  - {id: no-docker, match: {shell: {program: docker}}, verdict: deny, reason: no}\n";

/// What a person sees who answers the question, and how it ends.
fn answered(test: &TestContext, args: &[&str], answer: &[u8]) -> (String, i32) {
    answered_at("[y/N] ", test, args, answer)
}

/// The same, with the answer given once the screen shows a text.
fn answered_at(shown: &str, test: &TestContext, args: &[&str], answer: &[u8]) -> (String, i32) {
    let (mut near, far) = terminal();
    let end = || Stdio::from(OwnedFd::from(far.try_clone().unwrap()));
    let mut command = test.command(Path::new(env!("CARGO_BIN_EXE_tenterhook")), args);
    let mut child = command.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
    drop((command, far));

    let (mut seen, mut said, started) = (Vec::new(), false, Instant::now());
    loop {
        assert_no_hang(started, &String::from_utf8_lossy(&seen));
        let mut ready = [PollFd::new(&near, PollFlags::IN)];
        let moment = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
        if poll(&mut ready, Some(&moment)).unwrap() == 0 {
            continue;
        }
        let mut part = [0; 4096];
        // When nobody has the other end any more, reading fails.
        let Ok(read) = near.read(&mut part) else { break };
        if read == 0 {
            break;
        }
        seen.extend_from_slice(&part[..read]);
        if !said && String::from_utf8_lossy(&seen).contains(shown) {
            near.write_all(answer).unwrap();
            said = true;
        }
    }
    let exit = child.wait().unwrap().code().unwrap();
    (String::from_utf8(seen).unwrap().replace("\r\n", "\n"), exit)
}

#[test]
fn a_project_is_trusted_when_the_person_says_so_and_only_then() {
    let test = TestContext::new();
    test.write("work/.tenterhook.yaml", RULES);
    let trusted = || test.run(&["policy", "trust", "--list"]).stdout.contains("work");
    for no in ["n", "", "y", "yes", "policy trus", "\u{4}"] {
        let ran = test.person_who(&["policy", "trust"], |_| no.to_owned());
        assert_eq!((ran.exit, trusted()), (1, false), "{no:?}: {}", ran.stderr);
    }
    let ran = test.person(&["policy", "trust"]);
    assert!(ran.stdout.contains("no-docker"), "what it says is shown first: {}", ran.stdout);
    assert_eq!((ran.exit, trusted()), (0, true), "{}", ran.stderr);
    let ran = test.run(&["policy", "trust"]);
    assert!(
        ran.exit == 0 && ran.stdout.contains("already trusted"),
        "nobody has to be asked: {}",
        ran.stdout
    );
}

// seed: 001-041
#[test]
fn the_list_of_agents_shows_what_cannot_be_guarded_and_does_not_offer_it() {
    let test = TestContext::new();
    std::fs::create_dir(test.path("person/.continue")).unwrap();
    // `all` marks everything that has a number.
    let (text, exit) = answered_at("change the marks: ", &test, &["install", "--dry-run"], b"all\n\n");
    assert!(text.contains("[-]    Continue, found, cannot be guarded"), "{text}");
    assert!(text.contains("Claude Code") && exit == 0, "{exit}: {text}");
    let ran = test.run(&["install", "--all", "--dry-run"]);
    assert!(ran.stderr.contains("Continue, found, cannot be guarded"), "{}", ran.stderr);
}

#[test]
fn a_pack_is_added_and_taken_over_when_the_person_says_so() {
    let test = TestContext::new();
    test.write("work/ours/a.yaml", RULES);
    let verdict = |command: &str| {
        test.run(&["policy", "explain", "--json", "--shell", command]).json()["verdict"].clone()
    };
    let (text, exit) = answered(&test, &["rules", "add", "./ours"], b"n\n");
    assert!(text.contains("Add this pack?"), "{text}");
    assert_eq!((exit, verdict("docker ps")), (1, "none".into()), "{text}");
    let (text, exit) = answered(&test, &["rules", "add", "./ours"], b"yes\n");
    assert_eq!((exit, verdict("docker ps")), (0, "deny".into()), "{text}");

    test.write("work/ours/a.yaml", &RULES.replace("docker", "podman"));
    let ran = test.person_who(&["rules", "update", "ours"], |_| "y".to_owned());
    assert_eq!((ran.exit, verdict("podman ps")), (1, "none".into()), "{}", ran.stdout);
    let ran = test.person(&["rules", "update", "ours"]);
    assert_eq!((ran.exit, verdict("podman ps")), (0, "deny".into()), "{}", ran.stderr);
}

#[test]
fn what_cannot_be_undone_is_asked_about() {
    let test = TestContext::new();
    test.run_with(&["hook", "claude-code", "pre-tool-use"], test.bash("ls").as_bytes());
    let leaves = test.leaves().len();
    let key = || test.run(&["ledger", "key", "show", "--json"]).json()["key"].clone();
    let before = key();
    let ran = test.person_who(&["ledger", "key", "rotate"], |_| "y".to_owned());
    assert_eq!((ran.exit, test.leaves().len(), key()), (1, leaves, before.clone()), "{}", ran.stderr);
    let ran = test.run(&["ledger", "key", "rotate", "--yes"]);
    assert_eq!((ran.exit, key()), (1, before.clone()), "an agent is not the one to say yes: {}", ran.stderr);
    let ran = test.person(&["ledger", "key", "rotate"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    assert_ne!(key(), before);
}
