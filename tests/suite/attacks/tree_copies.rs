// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A tree that is copied or moved onto a guarded place writes everything in it.

use std::path::Path;

use serde_json::{Value, json};

use crate::context::TestContext;

/// The verdict of the rules compiled in on each command, in `/home/user/project`.
fn verdicts(commands: &[&str]) -> Vec<String> {
    let line = |command: &&str| json!({"command": command, "cwd": "/home/user/project"}).to_string() + "\n";
    let test = TestContext::new();
    let program = Path::new(env!("CARGO_BIN_EXE_tenterhook"));
    let mut command = test.command(program, &["judge", "--jsonl", "-"]);
    command.env_clear().env("HOME", "/home/user");
    let ran = test.finish(command, commands.iter().map(line).collect::<String>().as_bytes());
    let verdict = |line: &str| {
        let answer: Value = serde_json::from_str(line).unwrap();
        answer["verdict"].as_str().unwrap_or_else(|| panic!("{line}")).to_owned()
    };
    let verdicts: Vec<_> = ran.stdout.lines().map(verdict).collect();
    assert_eq!(verdicts.len(), commands.len(), "{}", ran.stderr);
    verdicts
}

/// Those of the commands that get one of these verdicts.
fn with<'c>(commands: &[&'c str], wanted: &[&str]) -> Vec<&'c str> {
    let verdicts = verdicts(commands);
    commands
        .iter()
        .zip(verdicts)
        .filter(|(_, said)| wanted.contains(&said.as_str()))
        .map(|(one, _)| *one)
        .collect()
}

/// Each once passed, or is another way to do the same.
const ONTO_GUARDED: &[&str] = &[
    "mkdir x && echo '{}' > x/settings.json && cp -r x/. ~/.claude/",
    "cp -rT x ~/.claude",
    "cp -r x/.claude ~",
    "cp -r x/. ~/.ssh/",
    "cp -a x/. ~",
    "(cd x && find . | cpio -pdu ~/.claude)",
    "mv ~/.local/share /tmp/x",
    "rsync -a x/ ~/.claude/",
    "tar xf x.tar -C ~/.claude",
    "unzip -o x.zip -d ~/.codex",
    "install -D -t ~/.claude x/settings.json",
    "cp -t ~/.claude x/settings.json",
    "mv x/.claude ~",
    "mv ~/.config /tmp/x",
    "cd x && find . | cpio -pdmu ~/.config/tenterhook",
    "pax -rw . ~/.claude",
    "scp -r host:x/. ~/.claude/",
    "docker cp c:/x/. ~/.claude",
    r#"python3 -c "import shutil; shutil.copytree('x', '/home/user/.claude', dirs_exist_ok=True)""#,
    "cp -R x/. $HOME/.ssh",
];

/// Trees elsewhere.
const FINE: &[&str] = &[
    "cp -r src/ dist/",
    "cp -a x/. ./build",
    "rsync -a a/ ~/backup/",
    "cp -r skills ~/.claude/",
    "mv notes.md ~/.claude/",
    "tar xzf a.tgz -C vendor",
    "unzip a.zip -d /tmp/x",
    "mv build ../old-build-dir/build",
    "cp -r ~/.claude/commands ./commands",
    "cpio -idmv < a.cpio",
];

/// Patterns that stand for guarded paths.
const DENIED: &[&str] = &["cat ~/.ssh/*", "rm -rf ~/*", "cat ~/.aws/cred*", "rm ~/.claude/*"];

/// Patterns that only could stand for a path of a locked rule.
const NOT_DENIED: &[&str] = &["find src -name '*foo*' -exec sed -i s/a/b/ {} +"];

#[test]
fn a_pattern_that_only_could_match_is_not_denied() {
    assert_eq!(with(NOT_DENIED, &["deny"]), [""; 0]);
}

#[test]
fn a_tree_on_a_guarded_place_is_stopped() {
    assert_eq!(with(ONTO_GUARDED, &["none", "allow"]), [""; 0]);
}

#[test]
fn trees_elsewhere_are_not() {
    assert_eq!(with(FINE, &["ask", "deny"]), [""; 0]);
}

#[test]
fn patterns_that_stand_for_guarded_paths_are_denied() {
    assert_eq!(with(DENIED, &["none", "allow", "ask"]), [""; 0]);
}
