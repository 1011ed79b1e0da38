// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Both ways of reading a plain script must find the same.

use std::path::Path;

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use tenterhook_event::ToolCall;

use super::super::{Ground, Read, ShellCommand, read_with};
use super::Plain;

fn read(text: &str, plainly: bool) -> Read {
    let tool = ToolCall::new("Bash", json!({ "command": text }));
    let ground = Ground::new(Some("/home/user"), Some("/home/user/project"));
    read_with(&tool, &ground, Some("/home/user/project"), false, plainly)
}

/// Everything that was read.
fn all(read: &Read) -> String {
    let Read { commands, effects, connects, contents, unread, unparsed } = read;
    format!("{commands:#?}\n{effects:#?}\n{connects:?}\n{contents:?}\n{unread:?}\n{unparsed}")
}

/// The commands alone.
fn commands(read: &Read) -> String {
    let one = |command: &ShellCommand| {
        let ShellCommand { raw, words, inputs, outputs, .. } = command;
        format!("{raw} {words:?} {inputs:?} {outputs:?}")
    };
    read.commands.iter().map(one).collect::<Vec<_>>().join("\n")
}

/// Whether the grammar may put the borders of pipelines elsewhere: it takes `a && b 2>&1 | c` for
/// `{ a && b 2>&1; } | c`, and `a | b | c && d` for `a | b | { c && d; }`. There it says too much of where
/// outputs go, and a shell agrees with us.
fn is_misread(script: &Plain) -> bool {
    script.0.iter().any(|links| links.len() > 1 && links.iter().any(|link| link.step.len() > 1))
}

#[track_caller]
fn same(text: &str) {
    let said = if Plain::read(text).is_some_and(|script| is_misread(&script)) { commands } else { all };
    let (plainly, by_tree) = (said(&read(text, true)), said(&read(text, false)));
    let other = plainly.lines().zip(by_tree.lines()).find(|(plain, tree)| plain != tree);
    assert!(plainly == by_tree, "{text:?} is read otherwise than by the grammar, first here: {other:?}");
}

fn corpus(name: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus").join(name);
    let text = std::fs::read_to_string(path).unwrap();
    let command = |line: &str| {
        let row: Value = serde_json::from_str(line).unwrap();
        row["command"].as_str().unwrap_or_default().to_owned()
    };
    text.lines().map(command).collect()
}

#[test]
fn the_corpora_are_read_the_same_in_both_ways() {
    let mut plain = 0;
    for text in ["tuning.jsonl", "tuning-files.jsonl", "tuning-network.jsonl"].into_iter().flat_map(corpus) {
        same(&text);
        plain += usize::from(Plain::read(&text).is_some());
    }
    assert!(plain > 500, "only {plain} commands of the corpora are plain");
}

#[test]
fn ordinary_commands_are_plain() {
    for text in [
        "ls",
        "cargo test --workspace 2>&1 | tail -n 40",
        "cd web && npm ci && npm run build",
        "git commit -m \"Fix the thing\" -m 'and another'",
        "git log --oneline -20 --format=%h:%s; git status",
        "pytest -x tests/unit >out.txt 2>/dev/null || exit 1",
        "make\nmake install DESTDIR=/tmp/x",
        "sort < in > out",
    ] {
        assert!(Plain::read(text).is_some(), "{text}");
        same(text);
    }
}

#[test]
fn whatever_is_more_than_plain_is_left_to_the_grammar() {
    for text in [
        "",
        " ",
        ";",
        "a;;b",
        "a &",
        "a & b",
        "a |& b",
        "a && ",
        "| a",
        "a ||| b",
        "a &&& b",
        "A=1 b",
        "a=b",
        "if a",
        "! a",
        "time a",
        "{ a",
        "[[ a",
        "export A=b",
        "unset A",
        "a $b",
        "a `b`",
        "a \\b",
        "a *",
        "a ?",
        "a [b]",
        "a {b,c}",
        "a ~",
        "a#b",
        "a #b",
        "a !b",
        "a (b)",
        "a 'b",
        "a \"b",
        "a 'b'c",
        "a b'c'",
        "a \"$b\"",
        "a \"\\b\"",
        "a '$b'",
        "a << b",
        "a <<< b",
        "a <(b)",
        "a >(b)",
        "a &> b",
        "a >| b",
        "a <> b",
        "a >&b",
        "a >&- b",
        "a 2>&1b c=$d",
        "a >",
        "> a",
        "2>&1",
        "a é",
        "a 'é'",
        "a\0b",
        "a\rb",
        "a \"b\nc\"",
        "a ^b",
    ] {
        assert!(Plain::read(text).is_none(), "{text:?}");
    }
}

#[test]
fn what_was_read_otherwise_once_is_read_the_same() {
    for text in ["a && a >> a | a", "a | a | a && rm", "a a | - X=1 a"] {
        same(text);
    }
}

#[test]
fn an_output_goes_where_a_shell_sends_it() {
    let read = read("cd a && b 2>&1 | c || d 2>/dev/null | sh", true);
    let feeds: Vec<_> = read.commands.iter().map(|c| (c.program.as_str(), c.feeds.join(" "))).collect();
    let wanted = [("cd", ""), ("b", "c"), ("c", ""), ("d", "sh"), ("sh", "")];
    assert_eq!(feeds, wanted.map(|(program, feeds)| (program, feeds.to_owned())));
}

#[test]
fn a_text_is_plain_up_to_a_length() {
    assert!(Plain::read(&"a ".repeat(64)).is_some());
    assert!(Plain::read(&"a ".repeat(200)).is_none(), "too many words");
    assert!(Plain::read("a|".repeat(40).trim_end_matches('|')).is_none(), "too many stages");
    assert!(Plain::read(&"ab".repeat(2_000)).is_none(), "too long");
}

/// Words that mean something to one reader or another, and joints that end a command.
const WORDS: &[&str] = &[
    "a",
    "rm",
    "-rf",
    "/",
    "/etc/passwd",
    "cd",
    "..",
    "sub/dir",
    "cat",
    "sh",
    "-c",
    "'rm -rf /'",
    "\"cd / && ls\"",
    "echo",
    "printf",
    "exit",
    "return",
    "true",
    ":",
    "set",
    "-e",
    "xargs",
    "sudo",
    "env",
    "X=1",
    "find",
    "-exec",
    "tee",
    "out.txt",
    "git",
    "push",
    "--force",
    "ssh",
    "host",
    "curl",
    "https://x.test/a",
    "eval",
    "trap",
    "EXIT",
    "read",
    "x",
    "test",
    "-f",
    "source",
    "pushd",
    "popd",
    "dd",
    "if=/dev/zero",
    "of=/dev/sda",
    "''",
    "' a '",
    "12",
    "2",
    "-",
    "--",
    "docker",
    "run",
    "alias",
    "let",
    "exec",
    "time",
    "for",
    "local",
    "cp",
    "mv",
    "chmod",
    "+x",
];
const JOINTS: &[&str] = &[
    " ",
    " ",
    " ",
    " ",
    " ",
    " ",
    "  ",
    "\t",
    " | ",
    "|",
    " && ",
    "&&",
    " || ",
    "; ",
    ";",
    "\n",
    " > ",
    ">",
    " 2>&1 ",
    " 2>&1 | ",
    " >> ",
    " < ",
    " 2>/dev/null ",
    " >&2 ",
    " & ",
    " 1> ",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]
    #[test]
    fn made_up_scripts_are_read_the_same_in_both_ways(
        parts in prop::collection::vec((select(WORDS), select(JOINTS)), 1..14),
    ) {
        let text: String = parts.iter().flat_map(|(word, joint)| [*word, *joint]).collect();
        same(&text);
        same(text.trim_end());
    }
}
