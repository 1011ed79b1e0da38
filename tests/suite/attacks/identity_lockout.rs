// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A hook call made through a terminal multiplexer or session manager does not lock the user out.

use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::caller_identity::find_program;
use crate::context::TestContext;
use crate::terminal_user::{SocketDaemon, code, until};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tenterhook");

/// A program of unknown name that hosts a terminal, as a multiplexer or an editor does, and runs a hook on request.
const TERMINAL_HOST_SCRIPT: &str = r#"
import os, pty, subprocess, sys, time
child, master = pty.fork()
if child == 0:
    os.execv("/bin/sh", ["sh"])
while not os.read(master, 4096): pass
subprocess.run(["sh", "-c", sys.argv[1]], stdout=2)
print("called", flush=True)
sys.stdin.read()
"#;

/// A process that is marked as an agent and runs the user's commands.
const MARKED_PROCESS_SCRIPT: &str = r#"
import os, subprocess, sys
subprocess.run(["sh", "-c", sys.argv[1] + "; true"], stdout=2)
print(os.getpid(), flush=True)
for line in sys.stdin:
    ran = subprocess.run(line.strip().split(" "), capture_output=True, text=True)
    print(repr((ran.returncode, ran.stdout, ran.stderr)), flush=True)
"#;

/// The shell command that calls a hook.
fn hook_command(test: &TestContext) -> String {
    let payload = test.write("payload.json", &test.bash("ls"));
    format!("'{PROGRAM}' hook claude-code pre-tool-use < '{}'", payload.display())
}

fn marks(test: &TestContext) -> Vec<Value> {
    test.run(&["agent", "list", "--json"]).json()["agents"].as_array().unwrap().clone()
}

/// A tmux server that ends with the test.
struct TmuxServer<'a>(&'a TestContext, std::path::PathBuf);

impl TmuxServer<'_> {
    fn command(&self, words: &[&str]) -> Command {
        let mut command = self.0.command(&self.1, &["-u", "-S"]);
        command.arg(self.0.path("tmux")).args(words).env("TERM", "xterm-256color");
        command
    }

    fn run(&self, words: &[&str]) -> String {
        let output = self.command(words).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn shows(&self, text: &str) {
        until(text, || self.run(&["capture-pane", "-p", "-J"]).contains(text).then_some(()));
    }
}

impl Drop for TmuxServer<'_> {
    fn drop(&mut self) {
        let _ = self.command(&["kill-server"]).output();
    }
}

#[test]
fn a_hook_run_by_tmux_marks_no_process_and_the_user_passes_the_gate() {
    let Some(tmux) = find_program("tmux") else { return };
    for with_daemon in [true, false] {
        let test = TestContext::new();
        let _guard = with_daemon.then(|| SocketDaemon::of(&test));
        let tmux = TmuxServer(&test, tmux.clone());
        tmux.run(&["-f", "/dev/null", "new-session", "-d", "-x", "200", "-y", "40", "sh"]);
        tmux.run(&["run-shell", &format!("{} > /dev/null", hook_command(&test))]);
        assert_eq!(test.decisions().len(), 1, "the call is still judged and recorded");
        assert_eq!(marks(&test), Vec::<Value>::new(), "with a daemon: {with_daemon}");
        tmux.run(&["send-keys", "-l", &format!("'{PROGRAM}' mode monitor")]);
        tmux.run(&["send-keys", "Enter"]);
        tmux.shows("Type `mode monitor` to continue");
        tmux.run(&["send-keys", "-l", "mode monitor"]);
        tmux.run(&["send-keys", "Enter"]);
        tmux.shows("verdicts are only recorded");
        let leaf = test.last_change();
        assert_eq!(
            (&leaf["what"], &leaf["detail"]["authority"]["proof"]),
            (&json!("mode monitor"), &json!("tty")),
        );
    }
}

fn spawn(mut command: Command) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
}

fn read_line(child: &mut Child) -> String {
    use std::io::Read as _;
    let (mut text, mut byte) = (String::new(), [0]);
    while child.stdout.as_mut().unwrap().read(&mut byte).unwrap() > 0 && byte != *b"\n" {
        text.push(char::from(byte[0]));
    }
    text
}

#[test]
fn a_program_of_unknown_name_that_hosts_terminals_is_not_marked() {
    let Some(python) = find_program("python3") else { return };
    let test = TestContext::new();
    let _guard = SocketDaemon::of(&test);
    let mut command = test.command(&python, &["-c", TERMINAL_HOST_SCRIPT]);
    command.arg(hook_command(&test));
    let mut host = spawn(command);
    assert_eq!(read_line(&mut host), "called");
    assert_eq!((test.decisions().len(), marks(&test)), (1, Vec::new()));
    drop(host.stdin.take());
    host.wait().unwrap();
}

/// A process that is marked as an agent and is an ancestor of the user's commands.
struct MarkedProcess(Child, i32);

impl MarkedProcess {
    fn of(test: &TestContext, python: &std::path::Path) -> Self {
        let mut command = test.command(python, &["-c", MARKED_PROCESS_SCRIPT]);
        command.arg(hook_command(test));
        let mut child = spawn(command);
        let pid = read_line(&mut child).parse().unwrap();
        Self(child, pid)
    }

    /// Runs a command below the process. Returns exit code and output as Python prints them.
    fn runs(&mut self, words: &[&str]) -> String {
        use std::io::Write as _;
        let input = self.0.stdin.as_mut().unwrap();
        writeln!(input, "{PROGRAM} {}", words.join(" ")).unwrap();
        read_line(&mut self.0)
    }
}

impl Drop for MarkedProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_refusal_names_the_marked_process_and_a_user_clears_the_mark() {
    let Some(python) = find_program("python3") else { return };
    for with_daemon in [true, false] {
        let test = TestContext::new();
        let _guard = with_daemon.then(|| SocketDaemon::of(&test));
        let mut marked = MarkedProcess::of(&test, &python);
        let pid = marked.1.to_string();
        assert_eq!(marks(&test)[0]["pid"], marked.1);
        let said = marked.runs(&["mode", "monitor"]);
        assert!(said.starts_with("(1,") && said.contains(&format!("process {pid}")), "{said}");
        assert!(said.contains(&format!("tenterhook agent forget {pid}")), "{said}");

        let said = marked.runs(&["agent", "forget", &pid]);
        assert!(
            said.starts_with("(1,") && said.contains("guarded agent"),
            "an agent cannot clear its own mark: {said}"
        );
        let ran = test.run_on_terminal(&["agent", "forget", &pid]);
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
        let leaf = test.last_change();
        assert_eq!(
            (&leaf["what"], &leaf["detail"]["agent"]["pid"]),
            (&json!("agent forget"), &json!(marked.1))
        );
        assert_eq!(marks(&test), Vec::<Value>::new());
        let said = marked.runs(&["mode", "monitor"]);
        assert!(!said.contains("guarded agent") && said.contains("confirmation on a terminal"), "{said}");
        assert_eq!(test.run_on_terminal(&["agent", "forget", &pid]).exit, 1, "the mark is gone");
    }
}

#[test]
fn a_code_overrides_a_mark_and_guesses_do_not_use_up_the_users_tries() {
    let Some(python) = find_program("python3") else { return };
    for with_daemon in [true, false] {
        let test = TestContext::new();
        let _guard = with_daemon.then(|| SocketDaemon::of(&test));
        let secret = test.enroll();
        let mut marked = MarkedProcess::of(&test, &python);
        let said = marked.runs(&["mode", "monitor"]);
        assert!(said.starts_with("(1,") && said.contains("guarded agent"), "{said}");
        let said = marked.runs(&["mode", "monitor", "--code", &code(&secret, 0)]);
        assert!(said.starts_with("(0,"), "{said}");
        let by = &test.last_change()["detail"]["authority"];
        assert_eq!((&by["proof"], &by["agent"]["pid"]), (&json!("code"), &json!(marked.1)));
        assert_eq!(test.run(&["mode", "enforce"]).exit, 0);
        for _ in 0..6 {
            let said = marked.runs(&["mode", "monitor", "--code", "000000"]);
            assert!(said.starts_with("(1,"), "{said}");
        }
        assert!(marked.runs(&["mode", "monitor", "--code", "000000"]).contains("too many codes"));
        let ran = test.run_on_terminal(&["mode", "monitor", "--code", &code(&secret, 1)]);
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
    }
}

#[test]
fn testing_a_hook_records_and_marks_nothing() {
    let test = TestContext::new();
    test.write(
        "home/policy.yaml",
        "version: 1\nrules:\n  - {id: no-make, match: {shell: {program: make}}, verdict: deny}\n",
    );
    for with_daemon in [true, false] {
        let _guard = with_daemon.then(|| SocketDaemon::of(&test));
        let before = test.records().len();
        let words = ["hook", "--try", "claude-code", "pre-tool-use"];
        let ran = test.run_with(&words, test.bash("make all").as_bytes());
        assert!(ran.exit == 0 && ran.stdout.contains("\"deny\""), "{}{}", ran.stdout, ran.stderr);
        assert_eq!(test.records().len(), before, "with a daemon: {with_daemon}");
        assert_eq!(marks(&test), Vec::<Value>::new());
        assert!(!test.run(&["mode", "monitor"]).stderr.contains("guarded agent"));
    }
    let spool = std::fs::read_dir(test.home().join("spool")).map(Iterator::count).unwrap_or_default();
    assert_eq!(spool, 0);
}
