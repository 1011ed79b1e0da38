// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads calls that start programs or shells.

use super::args::CallArgs;
use super::reader::CodeReader;
use super::value::{CodeValue, ValueKind, ValueOrigin};
use super::{CallArgument, CodeEffect, text};

impl CodeReader {
    /// Reports a call that runs one string in a shell, or several words as a program.
    pub(super) fn run_shell_or_words(&mut self, args: &CallArgs) {
        let mut items: Vec<CodeValue> = args.items.clone();
        // The environment may come first, and options last.
        items.retain(|item| item.kind != ValueKind::Map);
        let has_list = items.iter().any(|item| item.kind == ValueKind::List);
        let words = flatten(&items);
        match words.as_slice() {
            [one] if !has_list => self.run_shell_text(one),
            // In Ruby, the argument after a single string may be a mode.
            [one, mode] if mode.known_text().is_some_and(|mode| matches!(mode, "r" | "w" | "r+" | "w+")) => {
                self.run_shell_text(one);
            }
            [] => self.push_effect(CodeEffect::Shell(CodeValue::unknown().argument())),
            words => self.start_program(words),
        }
    }

    /// Reports a call that runs a string in a shell, or a list of words as a program.
    pub(super) fn run_shell_or_list(&mut self, command: &CodeValue) {
        for one in choices(command) {
            match one.kind {
                ValueKind::List => self.start_program(&flatten(&one.items)),
                _ => self.run_shell_text(one),
            }
        }
    }

    /// Reports a call that runs a list of words or a string, in a shell if the option `shell` is set.
    pub(super) fn run_subprocess(&mut self, args: &CallArgs) {
        let command = args.at_or(0, &["args"]);
        let shell = args.is_on("shell");
        for one in choices(&command) {
            match (one.kind, shell) {
                (ValueKind::List, false) => self.start_program(&flatten(&one.items)),
                (ValueKind::List, true) => {
                    self.run_shell_text(&one.items.first().cloned().unwrap_or_default());
                }
                (_, true) => self.run_shell_text(one),
                (ValueKind::Unknown | ValueKind::Member | ValueKind::Name, false) => {
                    self.start_program(&[CodeValue::from(one.from), CodeValue::from(one.from)]);
                }
                (_, false) => self.start_program(std::slice::from_ref(one)),
            }
        }
        if args.option("stdin").is_some_and(|stdin| stdin.from == ValueOrigin::Network) {
            self.shell = true;
        }
    }

    /// Reports a shell that runs downloaded data from the option `input` or `stdin`. The effects of this call start at
    /// index `before`.
    pub(super) fn feed_started_shell(&mut self, args: &CallArgs, before: usize) {
        let is_fetched =
            |name: &&str| args.option(name).is_some_and(|input| input.from == ValueOrigin::Network);
        if !["input", "stdin"].iter().any(is_fetched) {
            return;
        }
        let started = self.effects.get(before..).unwrap_or_default();
        let is_shell = started.iter().any(|act| match act {
            CodeEffect::Start(words) => starts_bare_shell(words),
            CodeEffect::Shell(text) => is_bare_shell(&text.shape),
            _ => false,
        });
        if is_shell {
            self.push_effect(CodeEffect::ShellRunsFetched);
        }
    }

    /// Reports a call that starts a program with a list of words.
    pub(super) fn spawn_program(&mut self, args: &CallArgs) {
        let mut items: Vec<CodeValue> =
            args.items.iter().filter(|item| item.kind != ValueKind::Map).take(2).cloned().collect();
        items.extend(args.option("args").cloned());
        if items.is_empty() {
            items.extend(args.option("cmd").cloned());
        }
        let words = flatten(items.get(..items.len().min(2)).unwrap_or_default());
        match args.option("shell") {
            Some(shell) if shell.is_true() => {
                let text = text::join_texts(&words, " ");
                self.run_shell_text(&text);
            }
            _ => self.start_program(&words),
        }
    }

    /// Reports that a program is started with these words.
    pub(super) fn start_program(&mut self, words: &[CodeValue]) {
        let Some(first) = words.first() else { return };
        let rest = words.get(1..).unwrap_or_default();
        if first.is_text()
            && is_shell(&first.shape)
            && rest.iter().all(|word| {
                word.known_text().is_some_and(|text| text.starts_with('-') && text != "-c" || is_shell(text))
            })
        {
            self.shell = true;
        }
        if words.iter().any(|word| word.from == ValueOrigin::Network) {
            self.shell = true;
        }
        let arguments: Vec<CallArgument> = words.iter().map(CodeValue::argument).collect();
        self.push_effect(CodeEffect::Start(arguments));
    }
}

/// Returns the alternatives of a value.
fn choices(value: &CodeValue) -> &[CodeValue] {
    if value.kind == ValueKind::Either { &value.items } else { std::slice::from_ref(value) }
}

/// Whether words start a shell that reads commands from standard input: `sudo bash -s`.
fn starts_bare_shell(words: &[CallArgument]) -> bool {
    let mut words = words
        .iter()
        .map(|word| word.shape.as_str())
        .skip_while(|word| matches!(*word, "sudo" | "doas" | "env" | "nohup" | "/usr/bin/env"));
    let reads_input = |word: &str| word.starts_with('-') && word != "-c";
    words.next().is_some_and(is_shell) && words.all(reads_input)
}

/// Whether a command line starts a shell that reads commands from standard input.
pub(super) fn is_bare_shell(text: &str) -> bool {
    let mut words =
        text.split_whitespace().skip_while(|word| matches!(*word, "exec" | "env" | "/usr/bin/env"));
    let Some(first) = words.next() else { return false };
    is_shell(first)
        && words.all(|word| {
            word.starts_with('-') && !word.starts_with("-c")
                || word.contains(['<', '>', '&'])
                || matches!(word, "0" | "1" | "2")
        })
}

fn is_shell(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
    matches!(
        name,
        "sh" | "bash"
            | "dash"
            | "zsh"
            | "ksh"
            | "ash"
            | "csh"
            | "tcsh"
            | "fish"
            | "cmd"
            | "cmd.exe"
            | "powershell"
            | "powershell.exe"
            | "pwsh"
    )
}

/// Replaces lists among the words by their elements.
pub(super) fn flatten(items: &[CodeValue]) -> Vec<CodeValue> {
    let mut out = Vec::new();
    for item in items {
        match item.kind {
            ValueKind::List => out.extend(item.items.iter().take(256).cloned()),
            ValueKind::Map => {}
            _ => out.push(item.clone()),
        }
    }
    out.truncate(256);
    out
}
