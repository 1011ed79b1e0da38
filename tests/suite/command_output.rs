// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Complete output of the most used commands: each test is a transcript of commands with their exit code, standard
//! output and standard error. Parts that differ from run to run are replaced ([`normalize`]); everything else is
//! compared. `INSTA_UPDATE=always` writes the transcripts again.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::context::{CommandOutput, TestContext, repository};

/// Commands with their output.
struct Transcript<'t> {
    test: &'t TestContext,
    text: String,
}

impl<'t> Transcript<'t> {
    fn of(test: &'t TestContext) -> Self {
        Self { test, text: String::new() }
    }

    /// Runs a command and adds its output. Words are separated by single blanks or in single quotes.
    fn run(&mut self, line: &str) {
        self.run_with(line, "");
    }

    fn run_with(&mut self, line: &str, stdin: &str) {
        let ran = self.test.run_with(&words_of(line), stdin.as_bytes());
        self.add(line, &ran);
    }

    /// Runs a command on a terminal.
    fn run_at_terminal(&mut self, line: &str) {
        let ran = self.test.run_on_terminal(&words_of(line));
        self.add(line, &ran);
    }

    fn add(&mut self, line: &str, CommandOutput { stdout, stderr, exit }: &CommandOutput) {
        self.text += &format!("$ tenterhook {line}\n");
        self.text += &normalize(stdout);
        if !stderr.is_empty() {
            self.text += &format!("[standard error]\n{}", normalize(stderr));
        }
        if !self.text.ends_with('\n') {
            self.text += "[no line end]\n";
        }
        self.text += &format!("[exit {exit}]\n\n");
    }

    /// Compares the transcript with the snapshot of this name.
    fn check(self, name: &str) {
        insta::with_settings!({
            snapshot_path => repository().join("tests/suite/snapshots"),
            prepend_module_to_snapshot => false,
            omit_expression => true,
        }, {
            insta::assert_snapshot!(name, self.text);
        });
    }
}

/// Splits a line into words. Text in single quotes is one word.
fn words_of(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for (number, part) in line.split('\'').enumerate() {
        if number % 2 == 1 {
            words.push(part);
        } else {
            words.extend(part.split_whitespace());
        }
    }
    words
}

/// Replaces values that differ from run to run or from machine to machine: times, durations, ids, hashes, keys, file
/// sizes, the version and the user. In lines with replaced values, columns are separated by two blanks, because their
/// widths depend on the original values.
fn normalize(text: &str) -> String {
    let user = std::process::Command::new("id").arg("-un").output().unwrap().stdout;
    let user = regex::escape(String::from_utf8(user).unwrap().trim());
    let replaced = [
        (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?".to_owned(), "[TIME]"),
        (r"\b[0-9A-HJKMNP-TV-Z]{26}\b".to_owned(), "[ID]"),
        (r"\b[b-z][2-9][b-z][2-9][b-z]\b".to_owned(), "[NAME]"),
        (r"tenterhook\.local/[0-9a-f]+".to_owned(), "[LOG]"),
        (r"\+[0-9a-f]{8}\+[A-Za-z0-9+/]{43,}=*".to_owned(), "+[KEY]"),
        (r"[A-Za-z0-9+/]{43}=".to_owned(), "[HASH]"),
        (r"\b[0-9a-f]{16,64}\b".to_owned(), "[HASH]"),
        (r"(?P<before>signer +)[0-9a-f]{8}\b".to_owned(), "${before}[KEY]"),
        (r"(?P<before>took_us +)\d+".to_owned(), "${before}[DURATION]"),
        (r"\b\d+(\.\d+)? ?(s|ms|µs)\b".to_owned(), "[DURATION]"),
        (r"\b\d+ bytes in ".to_owned(), "[SIZE] in "),
        // What sandboxes are possible depends on the machine.
        (r"^[✓!] sandbox: .*".to_owned(), "[SANDBOX]"),
        (r"^(?P<before>  sandbox +).*".to_owned(), "${before}[SANDBOX]"),
        (regex::escape(env!("CARGO_PKG_VERSION")), "[VERSION]"),
        (format!(r#""user":"{user}""#), r#""user":"[USER]""#),
        (format!(r"· {user} ·"), "· [USER] ·"),
        (format!(r"(?P<before>\[TIME\] +){user}(?P<after> +–)"), "${before}[USER]${after}"),
    ]
    .map(|(pattern, with)| (regex::Regex::new(&pattern).unwrap(), with));
    let blanks = regex::Regex::new(r"(?P<before>\S) {2,}").unwrap();
    let line = |line: &str| {
        let mut clean = line.to_owned();
        for (pattern, with) in &replaced {
            clean = pattern.replace_all(&clean, *with).into_owned();
        }
        if clean != line || line.contains("[DIR]") {
            clean = blanks.replace_all(&clean, "${before}  ").into_owned();
        }
        clean.trim_end().to_owned()
    };
    let lines: Vec<String> = text.lines().map(line).collect();
    lines.join("\n") + if text.ends_with('\n') { "\n" } else { "" }
}

/// Payload of a tool call of Claude Code.
fn call(test: &TestContext, tool: &str, input: &Value) -> String {
    json!({
        "session_id": "s-1", "cwd": test.path("work"), "hook_event_name": "PreToolUse",
        "tool_name": tool, "tool_input": input, "tool_use_id": "t-1",
    })
    .to_string()
}

/// A state directory after `install`, with Claude Code on the machine.
fn home_with_claude_code() -> TestContext {
    let test = TestContext::new();
    set_mode(&test, 0o700);
    std::fs::create_dir(test.path("person/.claude")).unwrap();
    test
}

fn set_mode(test: &TestContext, mode: u32) {
    std::fs::set_permissions(test.home(), std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn before_anything_was_recorded() {
    let test = home_with_claude_code();
    let mut transcript = Transcript::of(&test);
    for line in [
        "status",
        "detect",
        "doctor",
        "mode",
        "check",
        "approvals list",
        "ledger query",
        "ledger stats",
        "ledger tail",
        "ledger verify",
        "ledger checkpoint",
        "sessions list",
        "sessions show latest",
        "hooks list",
        "totp status",
    ] {
        transcript.run(line);
    }
    transcript.check("output-before-anything-was-recorded");
}

#[test]
fn rules_and_their_output() {
    let test = home_with_claude_code();
    let mut transcript = Transcript::of(&test);
    for line in [
        "rules list",
        "rules show git-clean",
        "rules search stash",
        "explain --command 'rm -rf ~/'",
        "explain --command 'git stash drop'",
        "explain --command ls",
        "judge --shell 'rm -rf ~/'",
        "judge --shell 'git stash drop'",
        "judge --shell ls",
        "judge --json --shell 'git stash drop'",
    ] {
        transcript.run(line);
    }
    transcript.run_with("hook --try claude-code pre-tool-use", &test.bash("rm -rf ~/"));
    transcript.check("output-rules-and-their-output");
}

#[test]
fn a_recorded_session() {
    let test = home_with_claude_code();
    let mut transcript = Transcript::of(&test);
    for (tool, input) in [
        ("Bash", json!({"command": "ls"})),
        ("Bash", json!({"command": "rm -rf ~/"})),
        ("Write", json!({"file_path": "a.txt", "content": "one\ntwo\n"})),
    ] {
        transcript.run_with("hook claude-code pre-tool-use", &call(&test, tool, &input));
    }
    for line in [
        "ledger query",
        "ledger query --verdict deny",
        "ledger show 3",
        "ledger verify",
        "ledger stats",
        "sessions list",
        "sessions show s-1",
        "detect",
        "doctor",
        "status",
    ] {
        transcript.run(line);
    }
    transcript.check("output-a-recorded-session");
}

#[test]
fn install_and_uninstall() {
    let test = home_with_claude_code();
    std::fs::create_dir(test.path("person/.codex")).unwrap();
    test.write("person/.claude/settings.json", "{\n  \"model\": \"opus\"\n}\n");
    let mut transcript = Transcript::of(&test);
    for line in [
        "install codex --dry-run --diff",
        "install claude-code --dry-run",
        "install claude-code",
        "install claude-code --yes",
        "install claude-code --yes",
        "detect",
        "uninstall claude-code --yes",
    ] {
        transcript.run(line);
    }
    transcript.run_at_terminal("uninstall claude-code --yes");
    transcript.run("detect");
    let left = std::fs::read_to_string(test.path("person/.claude/settings.json")).unwrap();
    assert_eq!(left, "{\n  \"model\": \"opus\"\n}\n");
    transcript.check("output-install-and-uninstall");
}

#[test]
fn mistakes_and_their_hints() {
    let test = home_with_claude_code();
    let mut transcript = Transcript::of(&test);
    for line in [
        "nonsense",
        "install claude",
        "install nope",
        "install cluade --yes",
        "totp verify abc",
        "rules show git-claen",
        "rules enable nope",
        "ledger show 99",
        "ledger show x",
        "sessions show nope",
        "approvals approve 4RRF",
        "explain",
        "judge",
        "check nope.yaml",
        "mode monitor",
        "dashboard",
        "stop",
    ] {
        transcript.run(line);
    }
    set_mode(&test, 0o755);
    transcript.run("doctor");
    set_mode(&test, 0o700);
    test.write("home/policy.yaml", "version: 1\nrules:\n  - id: broken\n    verdict: maybe\n");
    test.write("home/tenterhook.yaml", "hooks: [");
    transcript.run("check");
    transcript.run("status");
    transcript.run_with("hook claude-code pre-tool-use", "not JSON");
    transcript.check("output-mistakes-and-their-hints");
}
