// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Questions to a person, on a terminal of their own.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::context::TestContext;

const RULES: &str =
    "version: 1\nrules:\n  - {id: no-docker, match: {shell: {program: docker}}, verdict: deny, reason: no}\n";

/// What a person sees who answers the question, and how it ends.
fn answered(test: &TestContext, args: &[&str], answer: &[u8]) -> (String, i32) {
    let near = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&near).unwrap();
    unlockpt(&near).unwrap();
    let name = ptsname(&near, Vec::new()).unwrap().into_string().unwrap();
    let far = File::options().read(true).write(true).open(name).unwrap();
    let end = || Stdio::from(OwnedFd::from(far.try_clone().unwrap()));
    let mut command = test.command(Path::new(env!("CARGO_BIN_EXE_tenterhook")), args);
    let mut child = command.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
    drop((command, far));

    let mut near = File::from(near);
    let (mut seen, mut said, started) = (Vec::new(), false, Instant::now());
    loop {
        assert!(started.elapsed() < Duration::from_mins(1), "{}", String::from_utf8_lossy(&seen));
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
        if !said && String::from_utf8_lossy(&seen).contains("[y/N] ") {
            near.write_all(answer).unwrap();
            said = true;
        }
    }
    let exit = child.wait().unwrap().code().unwrap();
    (String::from_utf8(seen).unwrap().replace("\r\n", "\n"), exit)
}

const END_OF_INPUT: &[u8] = b"\x04";

#[test]
fn a_project_is_trusted_when_the_person_says_so_and_only_then() {
    let test = TestContext::new();
    test.write("work/.tenterhook.yaml", RULES);
    let trusted = || test.run(&["policy", "trust", "--list"]).stdout.contains("work");
    for no in [b"n\n".as_slice(), b"\n", b"no\n", b"maybe\n", b"yikes\n", END_OF_INPUT] {
        let (text, exit) = answered(&test, &["policy", "trust"], no);
        assert!(text.contains("Trust this file?"), "{text}");
        assert_eq!((exit, trusted()), (1, false), "{no:?}: {text}");
    }
    let (text, exit) = answered(&test, &["policy", "trust"], b"y\n");
    assert!(text.contains("no-docker"), "what it says is shown first: {text}");
    assert_eq!((exit, trusted()), (0, true), "{text}");
    let (text, exit) = answered(&test, &["policy", "trust"], b"");
    assert!(exit == 0 && text.contains("trusted already") && !text.contains("[y/N]"), "{text}");
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
    let (text, exit) = answered(&test, &["rules", "update", "ours"], b"\n");
    assert!(text.contains("Take this over?"), "{text}");
    assert_eq!((exit, verdict("podman ps")), (1, "none".into()), "{text}");
    let (text, exit) = answered(&test, &["rules", "update", "ours"], b"Y\n");
    assert_eq!((exit, verdict("podman ps")), (0, "deny".into()), "{text}");
}

#[test]
fn what_cannot_be_undone_is_asked_about() {
    let test = TestContext::new();
    test.run_with(&["hook", "claude-code", "pre-tool-use"], test.bash("ls").as_bytes());
    let leaves = test.leaves().len();
    let (text, exit) = answered(&test, &["ledger", "rotate-key"], b"n\n");
    assert!(text.contains("Let a new key sign from here on?"), "{text}");
    assert_eq!((exit, test.leaves().len()), (1, leaves), "{text}");
    let (text, exit) = answered(&test, &["ledger", "rotate-key"], b"y\n");
    assert_eq!(exit, 0, "{text}");
    assert!(test.leaves().len() > leaves, "{text}");
}
