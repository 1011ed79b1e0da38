// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tests of lookups, hostile words, and descriptions that users add.

use tenterhook_programs::{CommandWord, DescriptionTrust, Programs, Role, UserProgramSource};
use tenterhook_test_support::assert_linear_cost;

/// Words of the smaller of two measured commands.
const MEASURED_WORDS: usize = 8_000;

fn user(text: &str, trust: DescriptionTrust) -> UserProgramSource<'_> {
    UserProgramSource { source: "own.yaml", text, trust, layer: 0 }
}

#[test]
fn a_program_is_found_by_its_aliases_and_without_its_version() {
    let programs = Programs::builtin();
    for (name, expected) in [
        ("gcp", "cp"),
        ("gsed", "sed"),
        ("python3.12", "python"),
        ("pip3.11", "pip"),
        ("mkfs.btrfs", "mkfs"),
        ("mkfs.ext4", "mke2fs"),
        ("podman", "docker"),
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
    let words: Vec<&str> = pieces.iter().copied().cycle().take(2 * MEASURED_WORDS).collect();
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
        let repeated = ["-a", "-f", "x", "A=1"].map(|word| vec![word; 2 * MEASURED_WORDS]);
        for words in [&words].into_iter().chain(&repeated) {
            let what = format!("{name} {:?}", words.first());
            assert_linear_cost(&what, |scale| drop(program.parse(&words[..MEASURED_WORDS * scale])));
        }
    }
}

struct UnknownWord(&'static str);

impl CommandWord for UnknownWord {
    fn text(&self) -> &str {
        self.0
    }

    fn may_be_option(&self) -> bool {
        self.0.is_empty()
    }
}

#[test]
fn an_unknown_word_leaves_the_command_unknown_until_options_end() {
    let programs = Programs::builtin();
    let rm = programs.find("rm").unwrap();
    assert!(rm.parse(&[UnknownWord("-r"), UnknownWord("")]).open);
    assert!(!rm.parse(&[UnknownWord("-r"), UnknownWord("--"), UnknownWord("")]).open);
}

#[test]
fn an_unknown_program_is_taken_from_a_user_file() {
    let text = "deployctl:\n  options:\n    --to HOST: host\n  operands: read...\n  examples:\n    deployctl --to a.test x: {host: a.test, read: x}\n";
    let loaded = Programs::with_user_files(&[user(text, DescriptionTrust::AddsOnly)]);
    assert!(loaded.problems.is_empty(), "{:?}", loaded.problems);
    assert!(loaded.programs.find("deployctl").is_none(), "the description only adds");
    let program = loaded.programs.find_addition(0, "deployctl").unwrap();
    let parsed = program.parse(&["--to", "a.test", "x"]);
    assert_eq!(parsed.parts_with_role(Role::Host).next().unwrap().text, "a.test");
}

#[test]
fn a_user_file_adds_to_a_built_in_program_and_takes_nothing_away() {
    let text = "rm:\n  options:\n    --audit FILE: write\n  operands: text...\n";
    let loaded = Programs::with_user_files(&[user(text, DescriptionTrust::AddsOnly)]);
    assert!(loaded.problems.is_empty(), "{:?}", loaded.problems);
    let rm = loaded.programs.find("rm").unwrap();
    let words = ["-r", "--audit", "log", "x"];
    let deleted: Vec<_> = rm.parse(&words).parts_with_role(Role::Delete).map(|part| part.text).collect();
    assert_eq!(deleted, ["log", "x"]);
    let addition = loaded.programs.find_addition(0, "rm").unwrap();
    let added = addition.parse(&words);
    assert_eq!(added.parts_with_role(Role::Write).next().unwrap().text, "log");
}

#[test]
fn only_a_trusted_file_replaces_a_description_and_only_with_replaces() {
    let text = "rm:\n  replaces: true\n  operands: text...\nls:\n  operands: text...\n";
    let deletes = |programs: &Programs| {
        programs.find("rm").unwrap().parse(&["x"]).parts_with_role(Role::Delete).count()
    };
    let loaded = Programs::with_user_files(&[user(text, DescriptionTrust::AddsOnly)]);
    let shown: Vec<_> = loaded.problems.iter().map(ToString::to_string).collect();
    let refused =
        "own.yaml:2:3: program `rm`: only a file of the machine's policy may replace a known program";
    assert_eq!(shown, [refused]);
    assert_eq!(deletes(&loaded.programs), 1);
    assert!(loaded.programs.find_addition(0, "rm").is_some(), "it still adds");
    let trusted = Programs::with_user_files(&[user(text, DescriptionTrust::Trusted)]);
    assert!(trusted.problems.is_empty(), "{:?}", trusted.problems);
    assert_eq!(deletes(&trusted.programs), 0);
    let ls = trusted.programs.find("ls").unwrap();
    assert!(ls.parse(&["x"]).parts_with_role(Role::Text).next().is_none(), "it was not said to replace");
    let wrong = "rm:\n  replaces: true\n  operands: text...\n  examples:\n    rm x: {delete: x}\n";
    let wrong = Programs::with_user_files(&[user(wrong, DescriptionTrust::Trusted)]);
    assert_eq!((wrong.problems.len(), deletes(&wrong.programs)), (1, 1), "a wrong one replaces nothing");
}

#[test]
fn a_program_is_described_once_in_each_layer() {
    let file =
        |source, text, layer| UserProgramSource { source, text, trust: DescriptionTrust::AddsOnly, layer };
    let loaded = Programs::with_user_files(&[
        file("a.yaml", "acme:\n  operands: read...\n", 1),
        file("b.yaml", "x:\nother, acme:\n  operands: write...\n", 1),
        file("c.yaml", "acme:\n  operands: delete...\n", 2),
    ]);
    let shown: Vec<_> = loaded.problems.iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["b.yaml:2:1: program `other`: program is already described at a.yaml:1"]);
    let roles = |layer| {
        let program = loaded.programs.find_addition(layer, "acme").unwrap();
        program.parse(&["x"]).operands.first().unwrap().role
    };
    assert_eq!((loaded.programs.count_additions(), roles(0), roles(1)), (2, Role::Read, Role::Delete));
    let files = loaded.programs.user_files();
    let programs: Vec<_> = files.iter().map(|file| file.programs.len()).collect();
    assert_eq!(programs, [1, 1, 1]);
    let tables = loaded.programs.user_tables().unwrap().clone();
    let again = Programs::with_user_tables(tables).unwrap();
    assert!(again.find_addition(1, "acme").is_some() && again.user_files().is_empty());
    assert!(Programs::builtin().user_tables().is_none());
}

#[test]
fn mistakes_in_a_user_file_have_their_place_and_leave_other_programs_alone() {
    let text = "good:\n  operands: read...\nbad:\n  operandz: read...\n  options:\n    --x FILE: raed\n";
    let loaded = Programs::with_user_files(&[user(text, DescriptionTrust::AddsOnly)]);
    let shown: Vec<_> = loaded.problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        shown,
        [
            "own.yaml:4:3: program `bad`: unknown key `operandz`; did you mean `operands`?",
            "own.yaml:6:15: program `bad`: unknown role `raed`; did you mean `read`?",
        ]
    );
    assert!(
        loaded.programs.find_addition(0, "good").is_some()
            && loaded.programs.find_addition(0, "bad").is_none()
    );
    for text in ["", "a", "[1]", "a: [", "a:\n  examples: {b c: {read: d}}\n", "? [x]\n: y\n"] {
        let _ = Programs::with_user_files(&[user(text, DescriptionTrust::AddsOnly)]);
    }
}
