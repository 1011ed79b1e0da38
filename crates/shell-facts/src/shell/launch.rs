// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads programs whose words contain text that runs as commands on this machine.

use tenterhook_paths::FileOp;
use tenterhook_programs::{Location, Role};

use super::super::described_command::DescribedCommand;
use super::super::description::extract_word;
use super::ShellReader;
use super::invoke::join_texts;
use super::scope::ShellScope;
use super::word::ShellWord;

/// Settings of `git` whose value is run as a command.
const GIT_COMMAND_SETTINGS: &[&str] = &[
    "core.pager",
    "core.editor",
    "core.sshcommand",
    "core.fsmonitor",
    "core.askpass",
    "core.gitproxy",
    "diff.external",
    "sequence.editor",
    "gpg.program",
    "interactive.difffilter",
];

impl ShellReader<'_> {
    /// Runs texts and commands among the words of a program whose main purpose is something else.
    pub(super) fn run_launcher(
        &mut self,
        described: Option<&DescribedCommand<'_>>,
        program: &str,
        words: &[ShellWord],
        scope: &ShellScope,
    ) {
        if let Some(described) = described {
            self.launch_texts(described, program, scope);
        }
        match program {
            "git" => self.run_git_settings(words, scope),
            // A variable names the program that runs recipes.
            "make" | "gmake" => {
                let starts = ["SHELL=", ".SHELLFLAGS="];
                for text in
                    words.iter().filter_map(|word| starts.iter().find_map(|s| word.text.strip_prefix(s)))
                {
                    self.read_text(text, &mut scope.started_by(program));
                }
            }
            "sed" | "gsed" => self.run_sed(words, scope),
            "vim" | "vi" | "nvim" | "ex" | "view" | "gdb" | "lldb" | "sqlite3" | "psql" | "mysql" => {
                for text in words.iter().filter_map(|word| shell_escape_text(&word.text)) {
                    self.read_text(text, &mut scope.started_by(program));
                }
            }
            _ => {}
        }
    }

    /// Runs texts among the words of a program that is not a wrapper.
    pub(super) fn launch_texts(
        &mut self,
        described: &DescribedCommand<'_>,
        program: &str,
        scope: &ShellScope,
    ) {
        let DescribedCommand { program: description, words, parsed } = described;
        if !description.runs() {
            return;
        }
        if parsed.wraps && parsed.location == Location::Here {
            return;
        }
        let mut inner = scope.started_by(program);
        // These programs write to the standard input of the commands they start.
        inner.stdin.from_terminal &= !description.connects() && !matches!(program, "tar" | "bsdtar" | "gtar");
        let is_text = |role: Role| matches!(role, Role::Shell | Role::Command | Role::Program);
        // `ssh -o ProxyCommand=…` runs locally, `gcloud compute ssh --command …` remotely.
        let is_here = parsed.location == Location::Here;
        let options = parsed.options.iter().filter(|option| is_text(option.role) && !option.off);
        let options = options.filter(|option| is_here || option.by_prefix).filter_map(|option| option.value);
        let operands = parsed.operands.iter().filter(|operand| is_here && is_text(operand.role));
        for part in options.chain(operands.map(|operand| operand.part)) {
            let text = extract_word(words, part);
            self.mark_fed(&text.from, "sh");
            self.read_text(&text.text, &mut inner.clone());
        }
    }

    /// Runs commands in settings: `git -c alias.x='!cmd' x`, `git config alias.x '!cmd'`.
    fn run_git_settings(&mut self, words: &[ShellWord], scope: &ShellScope) {
        let mut inner = scope.started_by("git");
        for pair in words.windows(2) {
            let [first, second] = pair else { continue };
            let (key, value) = match second.text.split_once('=') {
                Some(pair) if first.is("-c") => pair,
                _ => (first.text.as_str(), second.text.as_str()),
            };
            let key = key.to_ascii_lowercase();
            let Some((_, last)) = key.rsplit_once('.') else { continue };
            let runs = GIT_COMMAND_SETTINGS.contains(&key.as_str())
                || key.starts_with("filter.") && matches!(last, "clean" | "smudge" | "process")
                || key.starts_with("pager.") && value.contains(' ')
                || last == "textconv";
            let text = match value.strip_prefix('!') {
                Some(text) if key.starts_with("alias.") || key.contains("helper") => Some(text),
                _ => runs.then_some(value),
            };
            if let Some(text) = text {
                self.read_text(text, &mut inner);
            }
        }
        // `git clone 'ext::sh -c cmd'`
        for text in words.iter().filter_map(|word| word.text.strip_prefix("ext::")) {
            self.read_text(text, &mut inner);
        }
    }

    /// Runs the text of `sed '1e cmd'`, and reports `s/…/…/e`, which runs the result of the substitution.
    pub(super) fn run_sed(&mut self, words: &[ShellWord], scope: &ShellScope) {
        for script in words.iter().filter(|word| !word.text.starts_with('-') && !word.dynamic) {
            for command in script.text.split([';', '\n', '{']) {
                let rest = command.trim_start_matches(|c: char| {
                    c.is_ascii_digit() || matches!(c, '$' | ',' | '!' | '~' | '+' | ' ')
                });
                if let Some(text) = rest.strip_prefix("e ") {
                    self.read_text(text, &mut scope.started_by("sed"));
                }
                let flags = rest.strip_prefix('s').and_then(|rest| {
                    let mark = rest.chars().next().filter(char::is_ascii_punctuation)?;
                    (rest.matches(mark).count() >= 3).then(|| rest.rsplit(mark).next()).flatten()
                });
                let runs = |flags: &str| {
                    flags.contains('e') && flags.chars().all(|c| c.is_ascii_digit() || "gpiIemM".contains(c))
                };
                if flags.is_some_and(runs) {
                    self.report_unread("sed runs what it makes of its input", command);
                    self.mark_typed_program(self.last_command(), scope);
                    self.mark_fed(&scope.stdin.from.clone(), "sh");
                }
            }
        }
    }

    /// Reads a variable whose value other programs run.
    pub(super) fn run_hook_variable(&mut self, name: &str, value: &ShellWord, scope: &ShellScope) {
        match name {
            "PROMPT_COMMAND"
            | "GIT_SSH_COMMAND"
            | "GIT_EDITOR"
            | "GIT_SEQUENCE_EDITOR"
            | "EDITOR"
            | "VISUAL"
            | "PAGER"
            | "GIT_PAGER"
            | "MANPAGER"
            | "GIT_EXTERNAL_DIFF"
            | "GIT_PROXY_COMMAND"
            | "BROWSER"
            | "LESSOPEN" => {
                let text = value.text.trim_start_matches(['|', '-']);
                // A program name without arguments has no effects worth recording.
                if text.contains(char::is_whitespace) {
                    self.read_text(text, &mut scope.started_by(name));
                }
            }
            "BASH_ENV"
            | "ENV"
            | "LD_PRELOAD"
            | "DYLD_INSERT_LIBRARIES"
            | "PYTHONSTARTUP"
            | "GIT_ASKPASS"
            | "SSH_ASKPASS"
                if value.text.contains('/') =>
            {
                self.add_effect(FileOp::Run, value, name, scope);
            }
            _ => {}
        }
    }

    /// Runs the commands of `echo '0 5 * * * cmd' | crontab -`.
    pub(super) fn run_crontab(&mut self, scope: &ShellScope) {
        for text in scope.stdin.texts.clone() {
            for line in text.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
                let fields = if line.starts_with('@') { 1 } else { 5 };
                let mut rest = line;
                for _ in 0..fields {
                    rest = rest.split_once(char::is_whitespace).map_or("", |(_, rest)| rest.trim_start());
                }
                self.read_text(rest, &mut scope.started_by("crontab"));
            }
        }
    }

    /// Runs commands in scripts: `expect -c 'spawn cmd'`, `osascript -e 'do shell script "cmd"'`.
    pub(super) fn run_spawned(&mut self, program: &str, code: &str, scope: &ShellScope) {
        let mut inner = scope.started_by(program);
        match program {
            "expect" | "tclsh" | "wish" => self.run_tcl(program, code, scope),
            "osascript" => {
                for rest in code.split("do shell script").skip(1) {
                    let text = unquote_text(rest.trim_start());
                    if let Some(text) = text {
                        self.read_text(&text, &mut inner);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Returns the shell command in a command of an interactive program: `!cmd`, `shell cmd`, `.system cmd`.
pub(super) fn shell_escape_text(text: &str) -> Option<&str> {
    let text = text.trim_start_matches(['+', ':']);
    let text =
        text.strip_prefix("silent").map_or(text, |rest| rest.strip_prefix('!').unwrap_or(rest).trim_start());
    let starts = ["shell ", ".shell ", ".system ", "\\!", "!", "system ", "platform shell "];
    let rest = starts.into_iter().find_map(|start| text.strip_prefix(start))?;
    Some(rest.trim_end_matches("| q").trim())
}

/// Returns the content of a double-quoted string.
fn unquote_text(text: &str) -> Option<String> {
    let mut letters = text.strip_prefix('"')?.chars();
    let mut out = String::new();
    loop {
        match letters.next()? {
            '"' => return Some(out),
            '\\' => out.extend(letters.next()),
            letter => out.push(letter),
        }
    }
}

/// Returns the command that a configuration management program runs on other machines.
pub(super) fn remote_broadcast(program: &str, words: &[ShellWord]) -> Option<String> {
    let behind = |options: &[&str]| {
        let at = words.iter().position(|word| options.contains(&word.text.as_str()))?;
        words.get(at + 1).map(|word| word.text.clone())
    };
    match program {
        "ansible" => {
            let module = behind(&["-m", "--module-name"]);
            let runs = module.is_none_or(|module| {
                matches!(
                    module.rsplit('.').next(),
                    Some("shell" | "command" | "raw" | "script" | "win_shell")
                )
            });
            behind(&["-a", "--args"]).filter(|_| runs)
        }
        "salt" | "salt-call" | "salt-ssh" => {
            let at = words.iter().position(|word| word.text.starts_with("cmd."))?;
            words.get(at + 1..).map(join_texts)
        }
        "aws" if words.iter().any(|word| word.is("ssm")) => {
            let text = behind(&["--parameters"])?;
            let text = text.split_once("commands=").map_or(text.as_str(), |(_, rest)| rest);
            let text = text.trim_matches(['[', ']', '"', '\'', '{', '}']);
            Some(text.trim_start_matches("commands\":[\"").replace("\",\"", "\n"))
        }
        _ => None,
    }
}
