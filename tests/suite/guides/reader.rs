// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A reader who follows a page: an account with a temporary home directory, a git project, and a terminal on which
//! every command runs, so that prompts can be answered.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, Instant};
use tenterhook_test_support::assert_no_hang;

use regex::Regex;
use tenterhook_authority::totp;

use crate::terminal_user::{terminal, until};

/// Separates the output of a command from the terminal's echo.
const MARK: char = '\u{1e}';

/// How long a command runs if it does not end until the reader stops it.
const WATCH_TIME: Duration = Duration::from_millis(800);

/// Waits for a line, which is sent once the test is no longer an ancestor of the script. Then runs `$2` with the
/// working directory and the variables that the previous command left.
const SCRIPT: &str = r#"read -r go; trap : INT; cd "$(cat "$1/cwd")"; . "$1/variables"; printf '\036'
eval "$2"
code=$?; printf '\036'; pwd >"$1/cwd"; export -p >"$1/variables"; echo $code >"$1/tmp"; mv "$1/tmp" "$1/code""#;

pub(super) struct Reader {
    dir: tempfile::TempDir,
    /// Hook calls of agents that wait for an answer.
    waiting: Vec<Child>,
}

/// Output of a command, with the paths of the documentation.
pub(super) struct TypedOutput {
    pub(super) output: String,
    pub(super) exit: i32,
}

impl Reader {
    pub(super) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let reader = Self { dir, waiting: Vec::new() };
        for name in ["bin", "home/dev/shop/target/release", "state"] {
            std::fs::create_dir_all(reader.dir.path().join(name)).unwrap();
        }
        for link in [reader.dir.path().join("bin/tenterhook"), reader.path("target/release/tenterhook")] {
            std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_tenterhook"), link).unwrap();
        }
        std::fs::write(reader.dir.path().join("state/cwd"), reader.path("~/shop").to_str().unwrap()).unwrap();
        std::fs::write(reader.dir.path().join("state/variables"), "").unwrap();
        reader.write("~/shop/README.md", "# Shop\n");
        reader.write("~/shop/src/main.rs", "fn main() {}\n");
        reader.write("~/shop/deploy.sh", "#!/bin/sh\necho deployed\n");
        reader.write("~/.gitconfig", "[user]\nname = Dev\nemail = dev@example.com\n");
        let made =
            "git init --quiet --initial-branch main && git add . && git commit --quiet --message begin";
        assert!(reader.command("sh", &["-c", made]).status().unwrap().success());
        reader
    }

    fn home(&self) -> PathBuf {
        self.dir.path().join("home/dev")
    }

    /// Path of `~/…`, or of a file in the project.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        match name.strip_prefix("~/") {
            Some(name) => self.home().join(name),
            None => self.home().join("shop").join(name),
        }
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        if text.starts_with("#!") {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
    }

    /// A command in the reader's environment and project, without a terminal.
    pub(super) fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(self.path("~/shop"))
            .env_clear()
            .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", self.dir.path().join("bin").display()))
            .env("HOME", self.home())
            .env("NO_COLOR", "1")
            .env("TERM", "xterm")
            .env("SHELL", "/bin/bash")
            .env("TENTERHOOK_LISTEN", "127.0.0.1:0")
            .env("TENTERHOOK_SYSTEM_DIR", self.dir.path().join("system"));
        command
    }

    /// The program's JSON output, run by the test itself.
    pub(super) fn json(&self, args: &[&str]) -> serde_json::Value {
        let mut command = self.command("tenterhook", args);
        let ran = command.arg("--json").output().unwrap();
        serde_json::from_slice(&ran.stdout).unwrap_or_default()
    }

    /// Types a command on the terminal, and `keys` once it has run for a while.
    pub(super) fn run(&self, command: &str, keys: Option<&str>) -> TypedOutput {
        let command = self.with_port(command);
        let state = self.dir.path().join("state");
        let (master, slave) = terminal();
        rustix::termios::tcsetwinsize(
            &slave,
            rustix::termios::Winsize { ws_row: 40, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 },
        )
        .unwrap();
        let mut started = self.command("/usr/bin/setsid", &["--fork", "--ctty", "sh", "-c", SCRIPT, "sh"]);
        started.arg(&state).arg(&command);
        started.stdin(slave.try_clone().unwrap()).stdout(slave.try_clone().unwrap()).stderr(slave);
        assert!(started.status().unwrap().success(), "setsid (util-linux) is needed");
        drop(started);
        let mut keyboard = master.try_clone().unwrap();
        keyboard.write_all(b"go\n").unwrap();
        let screen = Arc::new(Mutex::new(String::new()));
        let shown = Arc::clone(&screen);
        let watcher = std::thread::spawn(move || copy(master, &shown));
        let (mut answered, mut keys, began) = (0, keys, Instant::now());
        let ended = until(&format!("`{command}` ends"), || {
            let seen = screen.lock().unwrap().clone();
            if let Some((typed, end)) = answer(seen.get(answered..).unwrap_or_default(), || self.code()) {
                // A command that hides typed text starts hiding it shortly after it has printed the prompt.
                std::thread::sleep(Duration::from_millis(50));
                keyboard.write_all(format!("{typed}\n").as_bytes()).unwrap();
                answered += end;
            }
            if began.elapsed() > WATCH_TIME
                && let Some(keys) = keys.take()
            {
                keyboard.write_all(keys.as_bytes()).unwrap();
            }
            assert_no_hang(began, &format!("`{command}` does not end:\n{seen}"));
            std::fs::read_to_string(state.join("code")).ok()
        });
        std::fs::remove_file(state.join("code")).unwrap();
        drop(keyboard);
        // A daemon that `start` left may hold the terminal open; the mark shows that the command is done.
        until("the output is complete", || (screen.lock().unwrap().matches(MARK).count() > 1).then_some(()));
        drop(watcher);
        let screen = screen.lock().unwrap();
        let output = screen.split(MARK).nth(1).unwrap_or_default();
        TypedOutput { output: self.as_documented(output), exit: ended.trim().parse().unwrap() }
    }

    /// Replaces the default port, which the documentation shows, with this reader's own port.
    fn with_port(&self, command: &str) -> String {
        if !command.contains("127.0.0.1:7878") {
            return command.to_owned();
        }
        let address = self.json(&["status"])["listen"].as_str().unwrap_or("127.0.0.1:7878").to_owned();
        command.replace("127.0.0.1:7878", &address)
    }

    /// Output with the paths and the port of the documentation.
    fn as_documented(&self, output: &str) -> String {
        let home = self.home().canonicalize().unwrap();
        let port = Regex::new(r"127\.0\.0\.1:\d+").unwrap();
        let output = last_writing(&output.replace("\r\n", "\n")).replace(home.to_str().unwrap(), "/home/dev");
        let output = output.replace(env!("CARGO_BIN_EXE_tenterhook"), "/usr/bin/tenterhook");
        port.replace_all(&output, "127.0.0.1:7878").into_owned()
    }

    /// An agent calls a hook. It waits for the answer unless `later`.
    pub(super) fn agent_calls(
        &mut self,
        harness: &str,
        event: &str,
        payload: &serde_json::Value,
        later: bool,
    ) {
        let mut whole = serde_json::json!({
            "session_id": "89917c00-1a49-493b-9066-28df723315f3", "cwd": self.path("~/shop"),
            "hook_event_name": event, "tool_use_id": "t-1", "turn_id": "turn-1",
        });
        whole.as_object_mut().unwrap().extend(payload.as_object().unwrap().clone());
        let mut command = self.command("tenterhook", &["hook", harness, event]);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(whole.to_string().as_bytes()).unwrap();
        if later {
            self.waiting.push(child);
        } else {
            child.wait_with_output().unwrap();
        }
    }

    /// An agent works: a session with a prompt, a to-do list, two changed files, a failure and a denial.
    pub(super) fn agent_works(&mut self) {
        let project = self.path("~/shop");
        for line in include_str!("session.jsonl").lines() {
            let mut payload: serde_json::Value =
                serde_json::from_str(&line.replace("PROJECT", project.to_str().unwrap())).unwrap();
            let event = payload["event"].take().as_str().unwrap().to_owned();
            self.agent_calls("claude-code", &event, &payload, false);
        }
    }

    /// An agent is about to run a command.
    pub(super) fn agent_runs(&mut self, command: &str) {
        let payload = serde_json::json!({"tool_name": "Bash", "tool_input": {"command": command}});
        self.agent_calls("claude-code", "PreToolUse", &payload, false);
    }

    /// A code of the authenticator app. The test resets the last accepted code, as if half a minute had passed since
    /// then.
    pub(super) fn code(&self) -> String {
        let file = |name| self.path("~/.local/state/tenterhook").join(name);
        let path = [file("totp"), file("totp.new")].into_iter().find(|path| path.exists());
        let path = path.unwrap_or_else(|| panic!("a code is needed before codes are set up"));
        let mut kept: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        kept["last"] = 0.into();
        kept["tries"] = serde_json::json!([]);
        std::fs::write(&path, kept.to_string()).unwrap();
        let secret = totp::decode_base32(kept["secret"].as_str().unwrap()).unwrap();
        totp::code_at(&secret, totp::step_at(tenterhook_home::call_meta::now_ms())).unwrap()
    }

    /// The root of this reader's file system, for files outside of the home directory.
    pub(super) fn root(&self) -> &Path {
        self.dir.path()
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        for child in &mut self.waiting {
            drop(child.kill());
            drop(child.wait());
        }
        let pid = self.json(&["status"])["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok());
        if let Some(pid) = pid.and_then(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }
}

/// Prompts of commands and the reader's answers: `None` is a code of the authenticator app.
static QUESTIONS: LazyLock<Vec<(Regex, Option<&str>)>> = LazyLock::new(|| {
    let questions = [
        (r"Type `([^`]+)` to continue: ", Some("$1")),
        (r"\[y/N\] ", Some("y")),
        (r"(`q`: stop here|Enter: continue)\. ", Some("")),
        (
            r"(Passphrase of the ledger's key|New passphrase|Repeat the passphrase): ",
            Some("correct horse battery"),
        ),
        (r"(Code that the app shows now|Code from your authenticator app): ", None),
    ];
    questions.into_iter().map(|(question, answer)| (Regex::new(question).unwrap(), answer)).collect()
});

/// The answer to the first prompt in `text`, and where the prompt ends.
fn answer(text: &str, code: impl Fn() -> String) -> Option<(String, usize)> {
    let asked = QUESTIONS.iter().find_map(|(question, answer)| Some((question.captures(text)?, answer)));
    let (question, answer) = asked?;
    let mut typed = String::new();
    match answer {
        Some(answer) => question.expand(answer, &mut typed),
        None => typed = code(),
    }
    Some((typed, question.get(0)?.end()))
}

/// The output as it is finally visible on the screen. If a line is rewritten, such as a progress line, only its last
/// text is included.
fn last_writing(output: &str) -> String {
    let lines = output
        .split('\n')
        .map(|line| line.rsplit('\r').find(|part| !part.trim().is_empty()).unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

fn copy(mut from: File, to: &Mutex<String>) {
    let (mut bytes, mut part) = (Vec::new(), [0; 4096]);
    // Reading fails once the other side has closed.
    while let Ok(count @ 1..) = from.read(&mut part) {
        bytes.extend_from_slice(&part[..count]);
        to.lock().unwrap().clone_from(&String::from_utf8_lossy(&bytes).into_owned());
    }
}
