// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Lookup, hostile words, and descriptions that users add.

use std::time::{Duration, Instant};

use tenterhook_programs::{CommandWord, Programs, Role, Trust, UserFile};

fn user(text: &str, trust: Trust) -> UserFile<'_> {
    UserFile { source: "own.yaml", text, trust }
}

#[test]
fn a_program_is_found_by_its_aliases_and_without_its_version() {
    let programs = Programs::builtin();
    for (name, expected) in [
        ("gcp", "cp"),
        ("gsed", "sed"),
        ("python3.12", "python"),
        ("pip3.11", "pip"),
        ("mkfs.ext4", "mkfs"),
        ("podman", "podman"),
    ] {
        assert_eq!(programs.find(name).unwrap().name(), expected, "{name}");
    }
    assert!(programs.find("no-such-program").is_none());
    assert!(programs.find("").is_none());
}

#[test]
fn every_built_in_program_can_be_decoded() {
    let programs = Programs::builtin();
    let mut options = 0;
    for name in programs.names() {
        let program = programs.find(name).unwrap();
        options += program.options().len();
    }
    assert!(programs.names().count() > 500, "{}", programs.names().count());
    assert!(options > 5000, "{options}");
}

#[test]
fn hostile_words_are_read_in_linear_time_and_without_panic() {
    let programs = Programs::builtin();
    let pieces = [
        "-",
        "--",
        "---",
        "-=",
        "--=",
        "=",
        "+",
        "+x",
        "-é",
        "--é=ü",
        "-\u{0}",
        "",
        "--no-",
        "--no-no-x",
        "-c",
        "-e",
        ";",
        "A=1",
        "-f",
        "--file",
        "--r",
        "-o",
        "-xzf",
        "if=",
        "-exec",
        "run",
        "exec",
        "install",
        "-t=",
        "@",
        "-d@",
        "\u{feff}--x",
        "--rec",
    ];
    let words: Vec<&str> = pieces.iter().copied().cycle().take(4000).collect();
    for name in programs.names() {
        let program = programs.find(name).unwrap();
        for start in 0..pieces.len() {
            let _ = program.parse(&words[start..start + 8]);
        }
    }
    for name in
        ["tar", "git", "env", "grep", "find", "curl", "sudo", "docker", "kubectl", "dd", "bash", "ssh"]
    {
        let program = programs.find(name).unwrap();
        let repeated = ["-a", "-f", "x", "A=1"].map(|word| vec![word; 20_000]);
        for words in [&words].into_iter().chain(&repeated) {
            let begin = Instant::now();
            let _ = program.parse(words);
            assert!(begin.elapsed() < Duration::from_secs(1), "{name} {:?}", words.first());
        }
    }
}

struct Unknown(&'static str);

impl CommandWord for Unknown {
    fn text(&self) -> &str {
        self.0
    }

    fn may_be_option(&self) -> bool {
        self.0.is_empty()
    }
}

#[test]
fn an_unknown_word_leaves_the_command_open_until_options_are_over() {
    let programs = Programs::builtin();
    let rm = programs.find("rm").unwrap();
    assert!(rm.parse(&[Unknown("-r"), Unknown("")]).open);
    assert!(!rm.parse(&[Unknown("-r"), Unknown("--"), Unknown("")]).open);
}

#[test]
fn an_unknown_program_is_taken_from_a_user_file() {
    let text = "deployctl:\n  options:\n    --to HOST: host\n  operands: read...\n  examples:\n    deployctl --to a.test x: {host: a.test, read: x}\n";
    let loaded = Programs::with_user_files(&[user(text, Trust::AddsOnly)]);
    assert!(loaded.problems.is_empty(), "{:?}", loaded.problems);
    let program = loaded.programs.find("deployctl").unwrap();
    let parsed = program.parse(&["--to", "a.test", "x"]);
    assert_eq!(parsed.parts_with_role(Role::Host).next().unwrap().text, "a.test");
}

#[test]
fn a_user_file_adds_to_a_built_in_program_and_takes_nothing_away() {
    let text = "rm:\n  options:\n    --audit FILE: write\n  operands: text...\n";
    let loaded = Programs::with_user_files(&[user(text, Trust::AddsOnly)]);
    assert!(loaded.problems.is_empty(), "{:?}", loaded.problems);
    let rm = loaded.programs.find("rm").unwrap();
    let words = ["-r", "--audit", "log", "x"];
    let deleted: Vec<_> = rm.parse(&words).parts_with_role(Role::Delete).map(|part| part.text).collect();
    assert_eq!(deleted, ["log", "x"]);
    let added = rm.parse_addition(&words).unwrap();
    assert_eq!(added.parts_with_role(Role::Write).next().unwrap().text, "log");
}

#[test]
fn a_user_file_cannot_weaken_a_built_in_program_unless_it_is_trusted() {
    let text =
        "mytool:\n  operands: read...\nrm:\n  options:\n    -f, --force: dry-run\n  operands: text...\n";
    let loaded = Programs::with_user_files(&[user(text, Trust::AddsOnly)]);
    assert_eq!(loaded.problems.len(), 1, "{:?}", loaded.problems);
    let problem = &loaded.problems[0];
    assert_eq!((problem.line, problem.column), (Some(5), Some(5)));
    assert!(problem.message.contains("`dry-run` weakens"), "{problem}");
    assert!(loaded.programs.find("rm").unwrap().parse_addition(&["x"]).is_none());
    assert!(loaded.programs.find("mytool").is_some());
    let trusted = Programs::with_user_files(&[user(text, Trust::Trusted)]);
    assert!(trusted.problems.is_empty(), "{:?}", trusted.problems);
    let rm = trusted.programs.find("rm").unwrap();
    assert_eq!(rm.parse(&["x"]).parts_with_role(Role::Delete).count(), 0);
}

#[test]
fn mistakes_in_a_user_file_have_their_place_and_leave_other_programs_alone() {
    let text = "good:\n  operands: read...\nbad:\n  operandz: read...\n  options:\n    --x FILE: raed\n";
    let loaded = Programs::with_user_files(&[user(text, Trust::AddsOnly)]);
    let shown: Vec<_> = loaded.problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        shown,
        [
            "own.yaml:4:3: program `bad`: unknown key `operandz`; did you mean `operands`?",
            "own.yaml:6:15: program `bad`: unknown role `raed`; did you mean `read`?",
        ]
    );
    assert!(loaded.programs.find("good").is_some() && loaded.programs.find("bad").is_none());
    for text in ["", "a", "[1]", "a: [", "a:\n  examples: {b c: {read: d}}\n", "? [x]\n: y\n"] {
        let _ = Programs::with_user_files(&[user(text, Trust::AddsOnly)]);
    }
}
