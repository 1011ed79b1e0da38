// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads command lines of `cmd.exe`, and recognises PowerShell in the text of a tool.

use tenterhook_event::ToolCall;
use tenterhook_paths::FileOp;

use super::command::path_fact;
use super::invoke::Redirections;
use super::powershell::{fold_command_name, home_directory, provider_path, variable_text};
use super::scope::ShellScope;
use super::word::ShellWord;
use super::{MAX_TEXT_BYTES, ShellReader};

/// Built-in commands of `cmd.exe`, and the equivalent cmdlets.
const BUILTINS: &[(&str, &str)] = &[
    ("del", "remove-item"),
    ("erase", "remove-item"),
    ("rd", "remove-item"),
    ("rmdir", "remove-item"),
    ("copy", "copy-item"),
    ("xcopy", "copy-item"),
    ("move", "move-item"),
    ("ren", "rename-item"),
    ("type", "get-content"),
    ("more", "get-content"),
];
/// Verbs of cmdlets with which text of an unknown shell may begin.
const CMDLET_VERBS: &[&str] = &[
    "add",
    "clear",
    "compress",
    "copy",
    "disable",
    "enable",
    "expand",
    "export",
    "format",
    "get",
    "import",
    "install",
    "invoke",
    "join",
    "measure",
    "move",
    "new",
    "out",
    "register",
    "remove",
    "rename",
    "resolve",
    "restart",
    "restore",
    "select",
    "set",
    "start",
    "stop",
    "test",
    "uninstall",
    "unregister",
    "update",
    "wait",
    "write",
];

impl ShellReader<'_> {
    /// Whether the text of a tool is PowerShell: the tool names it, or the text begins with a cmdlet or an assignment.
    pub(super) fn is_powershell(&self, tool: &ToolCall, text: &str) -> bool {
        let names_powershell = |name: &str| {
            let name = name.to_ascii_lowercase();
            name.contains("powershell") || name.contains("pwsh")
        };
        // `{"shell": "powershell", "command": "…"}`
        let shell = tool.args.get("shell").and_then(|shell| shell.as_str()).filter(|shell| shell.len() < 64);
        names_powershell(&tool.name) || shell.is_some_and(names_powershell) || begins_with_powershell(text)
    }

    /// Reads the command line after `cmd /c`.
    pub(super) fn run_cmd_words(&mut self, words: &[ShellWord], scope: &ShellScope) {
        let is_run = |word: &ShellWord| {
            let option = word.text.trim_start_matches('/').to_lowercase();
            word.text.starts_with('/') && matches!(option.as_str(), "c" | "k" | "r")
        };
        let Some(at) = words.iter().position(is_run) else { return };
        let rest = words.get(at + 1..).unwrap_or_default();
        let texts: Vec<String> = rest
            .iter()
            .map(|word| {
                if rest.len() > 1 && word.text.contains(' ') {
                    format!("\"{}\"", word.text)
                } else {
                    word.text.clone()
                }
            })
            .collect();
        self.read_cmd_line(&texts.join(" "), &scope.started_by("cmd"));
    }

    /// Reads the text of a command line.
    fn read_cmd_line(&mut self, text: &str, scope: &ShellScope) {
        if text.len() > MAX_TEXT_BYTES || !self.spend_steps(1 + text.len() / 8) || !self.enter_level() {
            return;
        }
        let mut scope = scope.clone();
        for line in split_commands(text) {
            let start = self.commands.len();
            self.run_cmd_command(&line.text, &mut scope);
            if line.pipes {
                let mut stream = std::mem::take(&mut scope.stdin);
                self.collect_output(start, &mut stream);
                scope.stdin = stream;
            } else {
                scope.stdin = super::scope::InputStream::default();
            }
        }
        self.leave_level();
    }

    /// Analyses a command with options of `cmd.exe`, such as `rmdir /s /q dist`, in any shell. Returns false if the
    /// command has no such options.
    pub(super) fn run_as_cmd(&mut self, name: &str, words: &[ShellWord], scope: &mut ShellScope) -> bool {
        let is_option = |word: &ShellWord| {
            word.text.len() <= 3 && word.text.starts_with('/') && !word.text.ends_with('/') && !word.dynamic
        };
        if !BUILTINS.iter().any(|(known, _)| *known == name) || !words.iter().any(is_option) {
            return false;
        }
        let texts = words.iter().map(|word| format!("\"{}\"", word.text));
        let line: Vec<String> = std::iter::once(name.to_owned()).chain(texts).collect();
        self.run_cmd_command(&line.join(" "), scope);
        true
    }

    fn run_cmd_command(&mut self, text: &str, scope: &mut ShellScope) {
        let text = strip_condition(text.trim().trim_start_matches(['@', '(']).trim_end_matches(')').trim());
        let home = home_directory(scope);
        let mut words = Vec::new();
        let mut io = Redirections::default();
        let mut redirect = None;
        for word in split_words(text) {
            let sign = word.trim_start_matches(|c: char| c.is_ascii_digit());
            if sign.starts_with('>') {
                let appends = sign.starts_with(">>");
                let target = sign.trim_start_matches('>');
                if target.starts_with('&') {
                    continue;
                }
                redirect = Some(appends);
                if target.is_empty() {
                    continue;
                }
                self.open_cmd_redirect(appends, &expand_percent(target, &home, scope), &mut io, scope);
                redirect = None;
                continue;
            }
            let word = expand_percent(&word, &home, scope);
            match redirect.take() {
                Some(appends) => self.open_cmd_redirect(appends, &word, &mut io, scope),
                None => words.push(word),
            }
        }
        let Some((first, rest)) = words.split_first() else { return };
        let name = fold_command_name(&first.text);
        if matches!(name.as_str(), "call" | "start") {
            let inner = rest.iter().skip_while(|word| word.text.starts_with('/') || word.text.is_empty());
            let inner: Vec<String> = inner.map(|word| word.text.clone()).collect();
            return self.run_cmd_command(&inner.join(" "), scope);
        }
        let builtin = BUILTINS.iter().find(|(known, _)| *known == name).map(|(_, described)| *described);
        let mut all = vec![ShellWord::literal(builtin.unwrap_or(&name))];
        for word in rest {
            // Options of these commands begin with a slash.
            match word.text.strip_prefix('/').filter(|_| builtin.is_some()) {
                Some(option) if matches!(option.to_lowercase().as_str(), "s" | "e") => {
                    all.push(ShellWord::literal("-Recurse"));
                }
                Some(option) if option.len() <= 2 || option.contains(':') || option.starts_with('-') => {}
                _ => all.push(word.clone()),
            }
        }
        self.run_command(&all, &io, scope);
    }

    fn open_cmd_redirect(
        &mut self,
        appends: bool,
        word: &ShellWord,
        io: &mut Redirections,
        scope: &ShellScope,
    ) {
        if word.text.eq_ignore_ascii_case("nul") {
            return;
        }
        let path = path_fact(word, &scope.site.roots, scope.cwd.expected());
        io.touched.push((if appends { FileOp::Append } else { FileOp::Write }, path.clone()));
        io.outputs.push(path);
    }
}

/// One command of a command line.
struct CmdCommand {
    text: String,
    /// Whether the output is passed to the next command.
    pipes: bool,
}

/// Splits a command line at `&`, `&&`, `||`, `|` and line ends outside quotes.
fn split_commands(text: &str) -> Vec<CmdCommand> {
    let mut commands = Vec::new();
    let mut current = String::new();
    let mut quoted = false;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => {
                quoted = !quoted;
                current.push(letter);
            }
            '^' if !quoted => current.extend(letters.next()),
            '&' if !quoted && current.ends_with('>') => current.push(letter),
            '&' | '|' | '\n' if !quoted => {
                let doubled = letters.next_if_eq(&letter).is_some();
                let pipes = letter == '|' && !doubled;
                commands.push(CmdCommand { text: std::mem::take(&mut current), pipes });
            }
            letter => current.push(letter),
        }
    }
    commands.push(CmdCommand { text: current, pipes: false });
    commands
}

/// Splits a command into words; quotes are removed, and a redirection begins a word.
fn split_words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut current: Option<String> = None;
    let mut quoted = false;
    for letter in text.chars() {
        match letter {
            '"' => {
                quoted = !quoted;
                current.get_or_insert_default();
            }
            letter if letter.is_whitespace() && !quoted => words.extend(current.take()),
            '>' if !quoted
                && !current
                    .as_deref()
                    .is_some_and(|word| word.chars().all(|c| c.is_ascii_digit() || c == '>')) =>
            {
                words.extend(current.take());
                current = Some(">".to_owned());
            }
            letter => current.get_or_insert_default().push(letter),
        }
    }
    words.extend(current);
    words
}

/// Removes `if exist FILE` and `for %i in (…) do` before a command.
fn strip_condition(text: &str) -> &str {
    let lower = text.to_lowercase();
    if lower.starts_with("for ") {
        return lower.find(" do ").and_then(|at| text.get(at + 4..)).unwrap_or(text).trim();
    }
    let Some(rest) = lower.strip_prefix("if ") else { return text };
    let rest = rest.trim_start();
    let rest = rest.strip_prefix("not ").unwrap_or(rest).trim_start();
    let rest = rest.strip_prefix("exist ").unwrap_or(rest).trim_start();
    let skipped = match rest.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"').map_or("", |(_, rest)| rest),
        None => rest.split_once(char::is_whitespace).map_or("", |(_, rest)| rest),
    };
    // Converting text to lower case may change its length if it is not ASCII.
    let at = text.len().saturating_sub(skipped.len());
    text.get(at..).map_or(text, |rest| rest.trim().trim_start_matches('(').trim())
}

/// Replaces `%NAME%` in a word. An unknown variable makes the word unknown.
fn expand_percent(text: &str, home: &str, scope: &ShellScope) -> ShellWord {
    let mut word = ShellWord::default();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        word.text.push_str(before);
        word.shape.push_str(before);
        let Some((name, behind)) = after.split_once('%').filter(|(name, _)| is_variable_name(name)) else {
            word.text.push('%');
            word.shape.push('%');
            rest = after;
            continue;
        };
        if let Some(value) = variable_text(&format!("env:{}", name.to_lowercase()), scope) {
            word.text.push_str(&value);
            word.shape.push_str(&value);
        } else {
            word.text.push_str(&format!("%{name}%"));
            word.shape.push('*');
            word.dynamic = true;
        }
        rest = behind;
    }
    word.text.push_str(rest);
    word.shape.push_str(rest);
    if let Some(path) = provider_path(&word.shape, home) {
        if !word.dynamic {
            word.text.clone_from(&path);
        }
        word.shape = path;
    }
    word.pattern = !word.dynamic && word.text.contains(['*', '?']);
    word
}

fn is_variable_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '(' | ')'))
}

/// Whether text begins with a cmdlet or an assignment to `$name`, which no script for another shell does.
fn begins_with_powershell(text: &str) -> bool {
    let text = text.trim_start();
    if let Some(rest) = text.strip_prefix('$') {
        let name_end =
            rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | ':'))).unwrap_or(rest.len());
        let after = rest.get(name_end..).unwrap_or_default();
        return name_end > 0 && after.starts_with(' ') && after.trim_start().starts_with("= ");
    }
    let word =
        text.split(|c: char| c.is_whitespace() || matches!(c, ';' | '|' | '(')).next().unwrap_or_default();
    let Some((verb, noun)) = word.split_once('-') else { return false };
    noun.starts_with(|c: char| c.is_ascii_uppercase())
        && noun.chars().all(char::is_alphanumeric)
        && CMDLET_VERBS.contains(&verb.to_ascii_lowercase().as_str())
}
