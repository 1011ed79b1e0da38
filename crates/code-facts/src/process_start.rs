// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Calls that start programs or shells.

use super::args::Args;
use super::reader::Reader;
use super::value::{From, Kind, Value};
use super::{Act, Argument, text};

impl Reader {
    /// One text for a shell, or several words of a program.
    pub(super) fn shell_or_words(&mut self, args: &Args) {
        let mut items: Vec<Value> = args.items.clone();
        // The environment may stand first, options last.
        items.retain(|item| item.kind != Kind::Map);
        let has_list = items.iter().any(|item| item.kind == Kind::List);
        let words = flatten(&items);
        match words.as_slice() {
            [one] if !has_list => self.shell_text(one),
            // Ruby: what follows a single text may be a mode.
            [one, mode] if mode.whole().is_some_and(|mode| matches!(mode, "r" | "w" | "r+" | "w+")) => {
                self.shell_text(one);
            }
            [] => self.act(Act::Shell(Value::unknown().argument())),
            words => self.start(words),
        }
    }

    /// A text for a shell, or a list of words of a program.
    pub(super) fn shell_or_list(&mut self, command: &Value) {
        for one in choices(command) {
            match one.kind {
                Kind::List => self.start(&flatten(&one.items)),
                _ => self.shell_text(one),
            }
        }
    }

    /// A list of words, or a text, for a shell if the option says so.
    pub(super) fn subprocess(&mut self, args: &Args) {
        let command = args.at_or(0, &["args"]);
        let shell = args.is_on("shell");
        for one in choices(&command) {
            match (one.kind, shell) {
                (Kind::List, false) => self.start(&flatten(&one.items)),
                (Kind::List, true) => self.shell_text(&one.items.first().cloned().unwrap_or_default()),
                (_, true) => self.shell_text(one),
                (Kind::Unknown | Kind::Member | Kind::Name, false) => {
                    self.start(&[Value::from(one.from), Value::from(one.from)]);
                }
                (_, false) => self.start(std::slice::from_ref(one)),
            }
        }
        if args.option("stdin").is_some_and(|stdin| stdin.from == From::Network) {
            self.shell = true;
        }
    }

    /// A shell that the call has started runs what the option `input` or `stdin` gives it. Acts from `before` on
    /// are those of the call.
    pub(super) fn feed_started_shell(&mut self, args: &Args, before: usize) {
        let is_fetched = |name: &&str| args.option(name).is_some_and(|input| input.from == From::Network);
        if !["input", "stdin"].iter().any(is_fetched) {
            return;
        }
        let started = self.acts.get(before..).unwrap_or_default();
        let is_shell = started.iter().any(|act| match act {
            Act::Start(words) => starts_bare_shell(words),
            Act::Shell(text) => is_bare_shell(&text.shape),
            _ => false,
        });
        if is_shell {
            self.act(Act::ShellRunsFetched);
        }
    }

    /// A program and a list of its words.
    pub(super) fn spawn(&mut self, args: &Args) {
        let mut items: Vec<Value> =
            args.items.iter().filter(|item| item.kind != Kind::Map).take(2).cloned().collect();
        items.extend(args.option("args").cloned());
        if items.is_empty() {
            items.extend(args.option("cmd").cloned());
        }
        let words = flatten(items.get(..items.len().min(2)).unwrap_or_default());
        match args.option("shell") {
            Some(shell) if shell.is_true() => {
                let text = text::join_texts(&words, " ");
                self.shell_text(&text);
            }
            _ => self.start(&words),
        }
    }

    /// A program is started with these words.
    pub(super) fn start(&mut self, words: &[Value]) {
        let Some(first) = words.first() else { return };
        let rest = words.get(1..).unwrap_or_default();
        if first.is_text()
            && is_shell(&first.shape)
            && rest.iter().all(|word| {
                word.whole().is_some_and(|text| text.starts_with('-') && text != "-c" || is_shell(text))
            })
        {
            self.shell = true;
        }
        if words.iter().any(|word| word.from == From::Network) {
            self.shell = true;
        }
        let arguments: Vec<Argument> = words.iter().map(Value::argument).collect();
        self.act(Act::Start(arguments));
    }
}

/// Each value it may be.
fn choices(value: &Value) -> &[Value] {
    if value.kind == Kind::Either { &value.items } else { std::slice::from_ref(value) }
}

/// Whether words start a shell that reads its commands from its input: `sudo bash -s`.
fn starts_bare_shell(words: &[Argument]) -> bool {
    let mut words = words
        .iter()
        .map(|word| word.shape.as_str())
        .skip_while(|word| matches!(*word, "sudo" | "doas" | "env" | "nohup" | "/usr/bin/env"));
    let reads_input = |word: &str| word.starts_with('-') && word != "-c";
    words.next().is_some_and(is_shell) && words.all(reads_input)
}

/// Whether a text starts a shell that reads its commands from its input.
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

/// Lists among the words are opened.
pub(super) fn flatten(items: &[Value]) -> Vec<Value> {
    let mut out = Vec::new();
    for item in items {
        match item.kind {
            Kind::List => out.extend(item.items.iter().take(256).cloned()),
            Kind::Map => {}
            _ => out.push(item.clone()),
        }
    }
    out.truncate(256);
    out
}
