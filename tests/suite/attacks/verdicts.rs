// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Evaluates the built-in rules on many commands at once.

use std::path::Path;

use serde_json::{Value, json};

use crate::context::TestContext;

/// Verdict of the built-in rules on each command, in `/home/user/project`.
fn verdicts(commands: &[&str]) -> Vec<String> {
    let line = |command: &&str| json!({"command": command, "cwd": "/home/user/project"}).to_string() + "\n";
    let test = TestContext::new();
    let program = Path::new(env!("CARGO_BIN_EXE_tenterhook"));
    let mut command = test.command(program, &["judge", "--jsonl", "-"]);
    command.env_clear().env("HOME", "/home/user");
    let ran = test.run_command(command, commands.iter().map(line).collect::<String>().as_bytes());
    let verdict = |line: &str| {
        let answer: Value = serde_json::from_str(line).unwrap();
        answer["verdict"].as_str().unwrap_or_else(|| panic!("{line}")).to_owned()
    };
    let verdicts: Vec<_> = ran.stdout.lines().map(verdict).collect();
    assert_eq!(verdicts.len(), commands.len(), "{}", ran.stderr);
    verdicts
}

/// The commands that get one of these verdicts.
pub(super) fn with_verdict<'c>(commands: &[&'c str], wanted: &[&str]) -> Vec<&'c str> {
    let verdicts = verdicts(commands);
    commands
        .iter()
        .zip(verdicts)
        .filter(|(_, said)| wanted.contains(&said.as_str()))
        .map(|(one, _)| *one)
        .collect()
}
