// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads processes from `/proc`. On platforms without `/proc`, no process is found.

use std::io::Read as _;

/// Names of shells. A shell that runs a script is only a launcher; the process above it is the relevant one.
const SHELLS: &[&str] = &["sh", "ash", "bash", "busybox", "dash", "fish", "ksh", "mksh", "nu", "zsh"];
const WRAPPERS: &[&str] = &[
    "doas", "env", "ionice", "nice", "nohup", "runuser", "setpriv", "setsid", "stdbuf", "su", "sudo", "time",
    "timeout",
];

/// A process at the time it was read. A pid can be reused, but never with the same start time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Process id. The kernel may reuse it after the process has ended.
    pub pid: i32,
    /// Pid of the process that started or adopted this process.
    pub parent: i32,
    /// Start time, in ticks since boot.
    pub start: u64,
    /// Id of the process's session; equal to its pid for a session leader.
    pub session: i32,
    /// Whether the process has exited and waits to be reaped.
    pub ended: bool,
    /// Whether the process has a terminal.
    pub terminal: bool,
    /// Name of the process, truncated to 15 bytes by the kernel.
    pub name: String,
}

impl Process {
    /// Reads a process; `None` if it does not exist.
    pub fn read(pid: i32) -> Option<Self> {
        // A hook call waits for this, so the file is read in one system call. Its line is always shorter than the
        // buffer.
        let mut line = [0; 1024];
        let read = fs_err::File::open(format!("/proc/{pid}/stat")).ok()?.read(&mut line).ok()?;
        Self::parse(&String::from_utf8_lossy(line.get(..read)?))
    }

    /// Path of a process's program, if the calling process may read it.
    pub fn program(pid: i32) -> Option<String> {
        let path = fs_err::read_link(format!("/proc/{pid}/exe")).ok()?;
        Some(path.to_string_lossy().into_owned())
    }

    /// The process that made a call. This is the nearest process, starting with this one, that is neither a launcher
    /// nor one of Tenterhook's hook programs. Tenterhook's own agent is not skipped.
    pub fn calling_process(self, harness: &str) -> Option<Self> {
        let is_launcher =
            |process: &Self| process.is_launcher() || super::agents::is_own_program(&process.name, harness);
        let next = |process: &Self| {
            (is_launcher(process) && process.parent > 0).then(|| Self::read(process.parent)).flatten()
        };
        std::iter::successors(Some(self), next).last().filter(|found| found.pid > 1 && !is_launcher(found))
    }

    /// Whether the process only runs other programs.
    pub(crate) fn is_launcher(&self) -> bool {
        WRAPPERS.contains(&self.name.as_str()) || self.is_shell() && !self.is_interactive()
    }

    pub(crate) fn is_shell(&self) -> bool {
        SHELLS.contains(&self.name.as_str())
    }

    /// Whether the process is a shell that a user types into, without a command or script on its command line.
    pub(crate) fn is_interactive(&self) -> bool {
        is_interactive(&self.command_line())
    }

    /// Words of the process's command line, each terminated by a zero byte.
    pub(crate) fn command_line(&self) -> Vec<u8> {
        fs_err::read(format!("/proc/{}/cmdline", self.pid)).unwrap_or_default()
    }

    fn parse(text: &str) -> Option<Self> {
        // The name may contain parentheses and spaces. It ends at the last closing parenthesis.
        let (pid, rest) = text.split_once(" (")?;
        let (name, rest) = rest.rsplit_once(')')?;
        // Order of the fields: state, parent, group, session, terminal, fourteen others, start time.
        let mut fields = rest.strip_prefix(' ')?.split(' ');
        Some(Self {
            pid: pid.parse().ok()?,
            ended: matches!(fields.next()?, "Z" | "X" | "x"),
            parent: fields.next()?.parse().ok()?,
            session: fields.nth(1)?.parse().ok()?,
            terminal: fields.next()?.parse::<i64>().ok()? != 0,
            start: fields.nth(14)?.parse().ok()?,
            name: name.to_owned(),
        })
    }
}

fn is_interactive(words: &[u8]) -> bool {
    let mut words = words.split(|byte| *byte == 0).skip(1).filter(|word| !word.is_empty());
    while let Some(word) = words.next() {
        match word {
            // These options take a value. Editors start the shells in their terminals with such an option.
            b"--init-file" | b"--rcfile" | b"-o" | b"-O" => drop(words.next()),
            _ if word.starts_with(b"--") => {}
            _ if word.starts_with(b"-") && !word.contains(&b'c') => {}
            _ => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_kernel_is_read_whatever_the_name() {
        let stat = "42 (a) b (c) S 7 42 42 34816 42 4194304 100 0 0 0 1 2 0 0 20 0 1 0 98765 1000 10 18446744073709551615";
        let expected = Process {
            pid: 42,
            parent: 7,
            start: 98765,
            session: 42,
            ended: false,
            terminal: true,
            name: "a) b (c".to_owned(),
        };
        assert_eq!(Process::parse(stat), Some(expected));
        assert!(!Process::parse(&stat.replace("34816", "0")).unwrap().terminal);
        assert!(Process::parse(&stat.replace(" S ", " Z ")).unwrap().ended);
        assert_eq!(Process::parse("42 (x) S 1"), None);
    }

    #[test]
    fn a_shell_that_was_given_something_is_told_from_one_that_waits_for_a_person() {
        for (words, expected) in [
            ("bash\0", true),
            ("-bash\0", true),
            ("bash\0--login\0-i\0", true),
            ("zsh\0-l\0", true),
            ("bash\0--init-file\0/opt/editor/init.sh\0", true),
            ("sh\0-c\0tenterhook-hook x\0", false),
            ("bash\0-lc\0x\0", false),
            ("bash\0hook.sh\0", false),
            ("bash\0-e\0hook.sh\0", false),
        ] {
            assert_eq!(is_interactive(words.as_bytes()), expected, "{words:?}");
        }
    }
}
