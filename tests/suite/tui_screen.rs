// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The terminal view in a real terminal: tmux, with keys and screenshots.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};
use tenterhook_test_support::assert_no_hang;

use crate::context::TestContext;
use crate::terminal_user::until;

const PROGRAM: &str = env!("CARGO_BIN_EXE_tenterhook");

/// Prints a line, runs the view, and then prints the state of the terminal. The script writes the view's process id
/// to a file that the test reads. It ignores Ctrl-C, so that only the view reacts to it.
const SCREEN_SCRIPT: &str = r#"trap : INT; echo before; sh -c 'echo $$ >"$1"; shift; exec "$@"' sh "$@"; echo "ended $?"; stty -a; exec sleep 600"#;

/// A user who works with the view. The view does not descend from the test process, because tmux runs its own server.
pub(crate) struct Screen<'a> {
    test: &'a TestContext,
    tmux: PathBuf,
}

impl<'a> Screen<'a> {
    /// Opens the view. `None`, with a note, if tmux is not installed.
    pub(crate) fn open(test: &'a TestContext, variables: &[(&str, &str)]) -> Option<Self> {
        let screen = Self::start(test, &["tui"], variables)?;
        screen.shows("● enforce");
        Some(screen)
    }

    /// Starts the program on a terminal of 80 columns and 24 rows. `None` if tmux is not installed.
    pub(crate) fn start(test: &'a TestContext, args: &[&str], variables: &[(&str, &str)]) -> Option<Self> {
        let tmux = ["/usr/bin/tmux", "/usr/local/bin/tmux", "/opt/homebrew/bin/tmux"].map(PathBuf::from);
        let Some(tmux) = tmux.into_iter().find(|tmux| tmux.exists()) else {
            tenterhook_test_support::skip_test("needs tmux");
            return None;
        };
        let screen = Self { test, tmux };
        let mut command = screen.command(&["-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24"]);
        command.args(["sh", "-c", SCREEN_SCRIPT, "sh"]).arg(screen.pid_file()).arg(PROGRAM).args(args);
        command.envs(variables.iter().copied()).env("TERM", "xterm-256color");
        assert!(command.status().unwrap().success(), "tmux starts");
        // Every byte that is written to the terminal.
        screen.tmux(&["pipe-pane", &format!("cat >> '{}'", test.path("written").display())]);
        Some(screen)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.test.command(&self.tmux, &["-u", "-S"]);
        command.arg(self.test.path("tmux")).args(args);
        command
    }

    pub(crate) fn tmux(&self, args: &[&str]) -> String {
        let output = self.command(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Presses keys, which are given by tmux's key names.
    pub(crate) fn press(&self, keys: &[&str]) {
        self.tmux(&[&["send-keys"], keys].concat());
    }

    /// Types text.
    pub(crate) fn type_text(&self, text: &str) {
        self.tmux(&["send-keys", "-l", text]);
    }

    /// Current content of the screen.
    pub(crate) fn content(&self) -> String {
        self.tmux(&["capture-pane", "-p"])
    }

    /// Waits until the screen shows `text`, and returns how long that took.
    pub(crate) fn shows(&self, text: &str) -> Duration {
        self.wait_until(text, |seen| seen.contains(text))
    }

    /// Waits until the content of the screen meets a condition.
    pub(crate) fn wait_until(&self, what: &str, right: impl Fn(&str) -> bool) -> Duration {
        let began = Instant::now();
        let mut last = String::new();
        until(what, || {
            last = self.content();
            assert_no_hang(began, &format!("`{what}` is not shown:\n{last}"));
            right(&last).then_some(())
        });
        began.elapsed()
    }

    /// Every byte that was written to the terminal.
    pub(crate) fn written_bytes(&self) -> Vec<u8> {
        std::fs::read(self.test.path("written")).unwrap_or_default()
    }

    pub(crate) fn pid(&self) -> i32 {
        until("the view has started", || std::fs::read_to_string(self.pid_file()).ok()?.trim().parse().ok())
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_raw(self.pid()).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// Processor time of the view, all threads together.
    pub(crate) fn cpu_time(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid())).unwrap();
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
        // A tick is a hundredth of a second on Linux.
        Duration::from_millis(ticks * 10)
    }

    /// Checks that the terminal is restored: its earlier content is back, and input is line by line again.
    pub(crate) fn assert_restored(&self, exit: &str) {
        self.shows(&format!("ended {exit}"));
        self.shows(" icanon");
        let seen = self.content();
        assert!(seen.starts_with("before\n") && !seen.contains("Tenterhook"), "{seen}");
        assert!(seen.contains(" echo ") && seen.contains(" icrnl"), "{seen}");
        let flags = self.tmux(&["display-message", "-p", "#{cursor_flag} #{alternate_on} #{mouse_any_flag}"]);
        assert_eq!(
            flags, "1 0 0\n",
            "the cursor is visible, the main screen is active, mouse reports are off"
        );
    }

    fn pid_file(&self) -> PathBuf {
        self.test.path("view.pid")
    }
}

impl Drop for Screen<'_> {
    fn drop(&mut self) {
        drop(self.command(&["kill-server"]).output());
    }
}
