// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads command lines of `cmd.exe`, and determines whether the text of a tool is PowerShell.

use tenterhook_event::ToolCall;
use tenterhook_paths::FileOp;
use tenterhook_powershell::{
    begins_with_powershell, fold_command_name, split_cmd_commands, split_cmd_words, strip_cmd_condition,
};

use super::command::path_fact;
use super::invoke::Redirections;
use super::powershell::{home_directory, provider_path, variable_text};
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
        for line in split_cmd_commands(text) {
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
        let text =
            strip_cmd_condition(text.trim().trim_start_matches(['@', '(']).trim_end_matches(')').trim());
        let home = home_directory(scope);
        let mut words = Vec::new();
        let mut io = Redirections::default();
        let mut redirect = None;
        for word in split_cmd_words(text) {
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
