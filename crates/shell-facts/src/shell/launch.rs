// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads programs whose words contain text that runs as commands on this machine.

use tenterhook_code_facts::CodeLanguage;
use tenterhook_paths::{FileOp, expand_tilde};
use tenterhook_programs::{Location, Role};

use super::super::described_command::DescribedCommand;
use super::super::description::extract_word;
use super::ShellReader;
use super::file_input::client_command;
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

/// Commands of interactive programs that run the rest of their line in a shell.
const SHELL_ESCAPES: &[(&[&str], &[&str])] = &[
    (&["vim", "vi", "nvim", "ex", "view", "vimdiff"], &["!", "r !", "w !", "read !", "write !"]),
    (&["ed", "red"], &["!", "r !", "w !", "e !"]),
    (&["gdb", "rust-gdb", "cgdb"], &["shell ", "!", "pipe "]),
    (&["lldb", "rust-lldb"], &["platform shell ", "shell "]),
    (&["sqlite3", "sqlite", "duckdb", "litecli"], &[".shell ", ".system "]),
    (&["psql", "pgcli"], &["\\!"]),
    (&["mysql", "mariadb", "mycli"], &["system ", "\\!"]),
    (&["ncftp", "smbclient", "cadaver", "tftp", "gftp", "yafc"], &["!"]),
    (&["ftp", "tnftp", "sftp", "lftp", "dc", "bc", "telnet", "mail", "mailx"], &["!"]),
    (&["gnuplot"], &["system ", "!"]),
];

/// Clients that send files which their instructions name.
const UPLOAD_CLIENTS: &[&str] =
    &["ftp", "tnftp", "sftp", "lftp", "ncftp", "smbclient", "cadaver", "tftp", "gftp", "yafc"];
/// Maximum number of instructions and files of a transfer that are read.
const MAX_UPLOAD_LINES: usize = 64;

/// Commands of line editors that read or write the file after them.
const EDITOR_FILES: &[(&str, FileOp)] = &[
    ("e ", FileOp::Read),
    ("edit ", FileOp::Read),
    ("r ", FileOp::Read),
    ("w ", FileOp::Write),
    ("write ", FileOp::Write),
];

/// Actions of `fzf` that run the text between the parentheses in a shell.
const FZF_ACTIONS: &[&str] = &["execute(", "execute-silent(", "become(", "reload(", "transform("];

/// Commands of debuggers and editors that run the rest of their line as code.
const EMBEDDED_CODE: &[(&str, &str)] = &[
    ("python ", "python"),
    ("python3 ", "python"),
    ("py ", "python"),
    ("py3 ", "python"),
    ("script ", "python"),
    ("lua ", "lua"),
    ("perl ", "perl"),
    ("ruby ", "ruby"),
];

/// Sections of `git`'s settings in which a tool is described by the command that starts it.
const GIT_TOOL_SECTIONS: &[&str] = &["diff.", "difftool.", "mergetool.", "browser.", "man.", "guitool."];

impl ShellReader<'_> {
    /// Analyses texts and commands among the words of a program whose main purpose is something else.
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
                for word in words {
                    if let Some((name, _)) = word.text.split_once('=') {
                        self.run_hook_variable(name, &word.skip_bytes(name.len() + 1), scope);
                    }
                }
                let starts = ["SHELL=", ".SHELLFLAGS="];
                for text in
                    words.iter().filter_map(|word| starts.iter().find_map(|s| word.text.strip_prefix(s)))
                {
                    self.read_text(text, &mut scope.started_by(program));
                }
            }
            "sed" | "gsed" => self.run_sed(words, scope),
            // `fzf --bind 'start:execute(cmd)'`
            "fzf" => {
                for word in words {
                    for rest in FZF_ACTIONS.iter().flat_map(|action| word.text.split(action).skip(1)) {
                        let text = rest.rsplit_once(')').map_or(rest, |(text, _)| text);
                        self.read_text(text, &mut scope.started_by(program));
                    }
                }
            }
            // The program is named by an option, and its arguments follow.
            "start-stop-daemon" => {
                let at = words
                    .iter()
                    .position(|word| matches!(word.text.as_str(), "-x" | "--exec" | "-a" | "--startas"));
                let name = at.and_then(|at| words.get(at + 1));
                let arguments = words.iter().skip_while(|word| !word.is("--")).skip(1);
                let command: Vec<_> = name.into_iter().chain(arguments).cloned().collect();
                self.run_words(&command, &mut scope.started_by(program));
            }
            _ => {}
        }
        if let Some((_, escapes)) = SHELL_ESCAPES.iter().find(|(programs, _)| programs.contains(&program)) {
            let texts = words.iter().map(|word| word.text.as_str());
            let stdin = scope.stdin.texts.clone();
            for line in texts.clone().chain(stdin.iter().flat_map(|text| text.lines())) {
                self.run_escapes(line, escapes, program, scope);
            }
            if UPLOAD_CLIENTS.contains(&program) {
                for text in texts.chain(stdin.iter().map(|text| &**text)) {
                    self.read_uploads(text, program, scope);
                }
            }
        }
    }

    /// Adds the files that a client for file transfers is told to send: `lcd DIR`, `put FILE`, `mirror -R DIR`.
    pub(super) fn read_uploads(&mut self, text: &str, program: &str, scope: &ShellScope) {
        let mut directory = String::new();
        for line in text.split(['\n', ';', '"']).map(str::trim).take(MAX_UPLOAD_LINES) {
            let mut words = line.split_whitespace();
            let verb = words.next().unwrap_or_default();
            let reverses = words.clone().any(|word| matches!(word, "-R" | "--reverse"));
            let mut files = words.filter(|word| !word.starts_with('-'));
            match verb {
                "lcd" => directory = files.next().unwrap_or_default().to_owned() + "/",
                "put" | "mput" | "reput" | "send" | "append" => {
                    let count = if verb == "mput" { MAX_UPLOAD_LINES } else { 1 };
                    for file in files.take(count) {
                        let is_absolute = file.starts_with(['/', '~']);
                        let file = if is_absolute { file.to_owned() } else { format!("{directory}{file}") };
                        self.add_upload(&file, program, scope);
                    }
                }
                "mirror" if reverses => {
                    if let Some(file) = files.next() {
                        self.add_upload(file, program, scope);
                    }
                }
                _ => {}
            }
        }
    }

    fn add_upload(&mut self, file: &str, program: &str, scope: &ShellScope) {
        let home = &scope.site.roots.home;
        let file = expand_tilde(file, home).unwrap_or_else(|| file.to_owned());
        let word = ShellWord { pattern: file.contains('*'), ..ShellWord::literal(&file) };
        self.add_effect(FileOp::Read, &word, program, scope);
    }

    /// Analyses the shell command in a line for an interactive program: `!cmd`, `shell cmd`, `.system cmd`.
    fn run_escapes(&mut self, line: &str, escapes: &[&str], program: &str, scope: &ShellScope) {
        let line = skip_command_prefix(line);
        let mut inner = scope.started_by(program);
        if let Some(command) = shell_command_after(line, escapes) {
            return self.read_text(command, &mut inner);
        }
        // `e FILE`, `r FILE` and `w FILE` in an editor.
        let is_editor = escapes.contains(&"r !");
        let file = EDITOR_FILES
            .iter()
            .filter(|_| is_editor)
            .find_map(|(start, does)| Some((line.strip_prefix(start)?.trim(), *does)));
        if let Some((file, does)) = file.filter(|(file, _)| !file.is_empty()) {
            return self.add_effect(does, &ShellWord::literal(file), program, scope);
        }
        // `python import os` in a debugger or editor.
        let code = EMBEDDED_CODE.iter().find_map(|(start, name)| Some((line.strip_prefix(start)?, name)));
        if let Some((code, language)) = code
            && let Some(language) = CodeLanguage::from_name(language)
        {
            self.read_code(language, code, program, self.last_command(), scope);
            return;
        }
        if let Some(command) = client_command(line) {
            return self.read_text(&command, &mut inner);
        }
        // `call system("cmd")`
        if let Some((_, rest)) = line.split_once("system(")
            && let Some(text) = unquote_text(rest)
        {
            self.read_text(&text, &mut inner);
        }
    }

    /// Analyses texts that a program runs, if the program is not a wrapper.
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
        let is_text =
            |role: Role| matches!(role, Role::Shell | Role::Command | Role::Program | Role::Code(_));
        // `ssh -o ProxyCommand=…` runs locally, `gcloud compute ssh --command …` remotely.
        let is_here = parsed.location == Location::Here;
        let options = parsed.options.iter().filter(|option| is_text(option.role) && !option.off);
        let options = options.filter(|option| is_here || option.by_prefix);
        let options = options.filter_map(|option| option.value.map(|part| (option.role, part)));
        let operands = parsed.operands.iter().filter(|operand| is_here && is_text(operand.role));
        let own = self.last_command();
        for (role, part) in options.chain(operands.map(|operand| (operand.role, operand.part))) {
            let text = extract_word(words, part);
            if let Role::Code(language) = role {
                self.run_embedded_code(language, program, &text, own, scope);
                continue;
            }
            self.mark_fed(&text.from, "sh");
            self.read_text(&text.text, &mut inner.clone());
        }
    }

    /// Analyses commands in settings: `git -c alias.x='!cmd' x`, `git config alias.x '!cmd'`.
    pub(super) fn run_git_settings(&mut self, words: &[ShellWord], scope: &ShellScope) {
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
                || matches!(last, "textconv" | "cmd")
                    && GIT_TOOL_SECTIONS.iter().any(|start| key.starts_with(start))
                || key.starts_with("gpg.") && last == "program";
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

    /// Analyses the command in `sed '1e cmd'`, and reports `s/…/…/e`, which runs the result of the substitution.
    pub(super) fn run_sed(&mut self, words: &[ShellWord], scope: &ShellScope) {
        let scripts = words
            .iter()
            .filter(|word| !word.dynamic)
            .map(|word| word.text.strip_prefix("--expression=").unwrap_or(&word.text));
        for script in scripts.filter(|script| !script.starts_with('-')) {
            for command in script.split([';', '\n', '{']) {
                let rest = skip_sed_address(command);
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

    /// Analyses the commands in `echo '0 5 * * * cmd' | crontab -`.
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

    /// Analyses commands in scripts: `expect -c 'spawn cmd'`, `osascript -e 'do shell script "cmd"'`.
    pub(super) fn run_spawned(&mut self, program: &str, code: &str, scope: &ShellScope) {
        let mut inner = scope.started_by(program);
        match program {
            "expect" | "tclsh" | "wish" => self.run_tcl(program, code, scope),
            "osascript" => {
                // AppleScript, and JavaScript for Automation.
                let calls = code.split("do shell script").skip(1);
                for rest in calls.chain(code.split("doShellScript(").skip(1)) {
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

/// Skips the lines to which a command of `sed` applies: `1,5`, `$!`, `/x/`.
fn skip_sed_address(command: &str) -> &str {
    let is_sign = |c: char| c.is_ascii_digit() || matches!(c, '$' | ',' | '!' | '~' | '+' | ' ');
    let rest = command.trim_start_matches(is_sign);
    match rest.strip_prefix('/').and_then(|pattern| pattern.split_once('/')) {
        Some((_, after)) => after.trim_start_matches(is_sign),
        None => rest,
    }
}

/// Returns the shell command in a command of an interactive program: `!cmd`, `shell cmd`, `.system cmd`.
pub(super) fn shell_escape_text(text: &str) -> Option<&str> {
    let line = skip_command_prefix(text);
    SHELL_ESCAPES.iter().find_map(|(_, escapes)| shell_command_after(line, escapes))
}

/// Skips what may precede a command of an editor: `:`, `+`, `silent`, `silent!`.
fn skip_command_prefix(line: &str) -> &str {
    let line = line.trim_start_matches(['+', ':', ' ']);
    line.strip_prefix("silent").map_or(line, |rest| rest.strip_prefix("! ").unwrap_or(rest).trim_start())
}

/// Returns the shell command after one of these escapes.
fn shell_command_after<'l>(line: &'l str, escapes: &[&str]) -> Option<&'l str> {
    let command = escapes.iter().find_map(|escape| line.strip_prefix(escape))?;
    Some(command.trim_end_matches("| q").trim())
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

#[cfg(test)]
mod tests {
    use super::super::tests::read_text;

    fn runs_rm(line: &str) -> bool {
        let read = read_text(line);
        read.commands.iter().any(|command| command.program == "rm")
    }

    #[test]
    fn shell_commands_in_the_input_of_interactive_programs_run() {
        for line in [
            "ed -s README.md <<'EOF'\n!rm -rf ~/x\nq\nEOF",
            "gdb -q <<< 'shell rm -rf ~/x'",
            "gdb -batch -ex 'python import os; os.system(\"rm -rf ~\")'",
            "printf '!rm -rf ~/x\\nquit\\n' | ftp -n localhost",
            "echo '.shell rm -rf ~/x' | sqlite3 app.db",
            "mysql -u root <<< 'system rm -rf ~/x'",
            "vim +'silent !rm -rf ~' +q",
            "vim -c 'call system(\"rm -rf ~\")' -c q",
            "dc -e '!rm -rf ~'",
            "fzf --bind 'start:execute(rm -rf ~)'",
            "sed --expression='1e rm -rf ~' x",
            "sed '/x/e rm -rf ~' x",
            "awk -v c='rm -rf ~' 'BEGIN{system(c)}'",
            "echo 'rm -rf ~' | awk '{system($0)}'",
            "osascript -l JavaScript -e 'a.doShellScript(\"rm -rf ~\")'",
            "make --eval='x:;rm -rf ~' x",
            "start-stop-daemon --start --exec /bin/rm -- -rf ~",
            "tclsh <<< 'file delete -force /home/user/x'",
            "git -c difftool.x.cmd='rm -rf ~' difftool -t x",
        ] {
            assert!(runs_rm(line), "{line}");
        }
        for line in [
            "ed -s README.md <<'EOF'\ns/rm -rf/rm -r/\nw\nq\nEOF",
            "sqlite3 app.db 'select \"rm -rf ~\"'",
            "mysql -e 'select system from rm'",
            "vim -c 'set number' notes.txt",
            "gdb -batch -ex 'break rm' ./app",
            "fzf --query 'rm -rf ~'",
            "sed 's/e rm -rf ~//' x",
            "awk -v c='rm -rf ~' '{print c}' x",
            "git -c user.name='rm -rf ~' commit",
        ] {
            assert!(!runs_rm(line), "{line}");
        }
    }

    #[test]
    fn code_of_frameworks_and_modules_is_read() {
        for line in [
            "python manage.py shell -c 'import os; os.system(\"rm -rf ~\")'",
            "rails runner 'system(\"rm -rf ~\")'",
            "bin/rails runner 'system(\"rm -rf ~\")'",
            "php artisan tinker --execute='system(\"rm -rf ~\");'",
            "mix run -e 'System.cmd(\"rm\",[\"-rf\",\"/home/user\"])'",
            "wp eval 'system(\"rm -rf ~\");'",
            "python3 -m timeit \"import os; os.system('rm -rf ~')\"",
            "ipython -c '!rm -rf ~'",
            "mongosh --nodb --eval 'require(\"child_process\").execSync(\"rm -rf ~\")'",
            "emacs -batch -eval '(shell-command \"rm -rf ~\")'",
            "go run a.go; cat > /tmp/m.go <<'E'\nfunc main() { exec.Command(\"rm\", \"-rf\", \"/x\").Run() }\nE\ngo run /tmp/m.go",
        ] {
            assert!(runs_rm(line), "{line}");
        }
        for line in [
            "python manage.py shell -c 'print(\"rm -rf ~\")'",
            "python manage.py migrate",
            "rails runner 'puts User.count'",
            "python3 -m timeit 'sum(range(10))'",
            "python3 -m pip install rm",
            "emacs -batch -eval '(message \"rm\")'",
        ] {
            assert!(!runs_rm(line), "{line}");
        }
    }
}
