// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Prompts that a user answers on a terminal.

use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;
use tenterhook_test_support::assert_no_hang;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::context::TestContext;
use crate::terminal_user::terminal;

const RULES: &str =
    "version: 1\nrules:\n  - {id: no-docker, match: {shell: {program: docker}}, verdict: deny, reason: no}\n";

/// Runs a command on a terminal and types `answer`. Returns the screen and the exit code.
fn run_and_answer(test: &TestContext, args: &[&str], answer: &[u8]) -> (String, i32) {
    run_and_answer_at("[y/N] ", test, args, answer)
}

/// Like [`run_and_answer`], but types the answer once the screen shows the text `shown`.
fn run_and_answer_at(shown: &str, test: &TestContext, args: &[&str], answer: &[u8]) -> (String, i32) {
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
        // Reading fails once no process has the terminal's other end open.
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
fn a_project_is_trusted_only_when_the_user_confirms() {
    let test = TestContext::new();
    test.write("work/.tenterhook.yaml", RULES);
    let trusted = || test.run(&["policy", "trust", "--list"]).stdout.contains("work");
    for no in ["n", "", "y", "yes", "policy trus", "\u{4}"] {
        let ran = test.run_on_terminal_answering(&["policy", "trust"], |_| no.to_owned());
        assert_eq!((ran.exit, trusted()), (1, false), "{no:?}: {}", ran.stderr);
    }
    let ran = test.run_on_terminal(&["policy", "trust"]);
    assert!(ran.stdout.contains("no-docker"), "the content is shown first: {}", ran.stdout);
    assert_eq!((ran.exit, trusted()), (0, true), "{}", ran.stderr);
    let ran = test.run(&["policy", "trust"]);
    assert!(
        ran.exit == 0 && ran.stdout.contains("already trusted"),
        "no confirmation is needed: {}",
        ran.stdout
    );
}

// seed: 001-041
#[test]
fn the_list_of_agents_shows_what_cannot_be_guarded_and_does_not_offer_it() {
    let test = TestContext::new();
    std::fs::create_dir(test.path("person/.continue")).unwrap();
    // `all` selects every numbered entry.
    let (text, exit) = run_and_answer_at("change the marks: ", &test, &["install", "--dry-run"], b"all\n\n");
    assert!(text.contains("[-]    Continue, found, cannot be guarded"), "{text}");
    assert!(text.contains("Claude Code") && exit == 0, "{exit}: {text}");
    let ran = test.run(&["install", "--all", "--dry-run"]);
    assert!(ran.stderr.contains("Continue, found, cannot be guarded"), "{}", ran.stderr);
}

#[test]
fn a_pack_is_added_and_replaced_when_the_user_confirms() {
    let test = TestContext::new();
    test.write("work/ours/a.yaml", RULES);
    let verdict = |command: &str| {
        test.run(&["policy", "explain", "--json", "--shell", command]).json()["verdict"].clone()
    };
    let (text, exit) = run_and_answer(&test, &["rules", "add", "./ours"], b"n\n");
    assert!(text.contains("Add this pack?"), "{text}");
    assert_eq!((exit, verdict("docker ps")), (1, "none".into()), "{text}");
    let (text, exit) = run_and_answer(&test, &["rules", "add", "./ours"], b"yes\n");
    assert_eq!((exit, verdict("docker ps")), (0, "deny".into()), "{text}");

    test.write("work/ours/a.yaml", &RULES.replace("docker", "podman"));
    let ran = test.run_on_terminal_answering(&["rules", "update", "ours"], |_| "y".to_owned());
    assert_eq!((ran.exit, verdict("podman ps")), (1, "none".into()), "{}", ran.stdout);
    let ran = test.run_on_terminal(&["rules", "update", "ours"]);
    assert_eq!((ran.exit, verdict("podman ps")), (0, "deny".into()), "{}", ran.stderr);
}

#[test]
fn irreversible_actions_need_confirmation() {
    let test = TestContext::new();
    test.run_with(&["hook", "claude-code", "pre-tool-use"], test.bash("ls").as_bytes());
    let leaves = test.records().len();
    let key = || test.run(&["ledger", "key", "show", "--json"]).json()["key"].clone();
    let before = key();
    let ran = test.run_on_terminal_answering(&["ledger", "key", "rotate"], |_| "y".to_owned());
    assert_eq!((ran.exit, test.records().len(), key()), (1, leaves, before.clone()), "{}", ran.stderr);
    let ran = test.run(&["ledger", "key", "rotate", "--yes"]);
    assert_eq!((ran.exit, key()), (1, before.clone()), "an agent may not confirm: {}", ran.stderr);
    let ran = test.run_on_terminal(&["ledger", "key", "rotate"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    assert_ne!(key(), before);
}
