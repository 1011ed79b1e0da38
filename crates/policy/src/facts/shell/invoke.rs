// SPDX-License-Identifier: Apache-2.0 OR MIT

//! One command with its words: what it is, and what it starts in its turn.

use std::sync::Arc;

use super::super::path::{PathFact, resolve};
use super::command::ShellCommand;
use super::expand::unescape;
use super::scope::Scope;
use super::word::{Expansion, Word};
use super::wrappers::{Interpreter, Script, interpreter, script, unwrap};
use super::{MOST_COMMANDS, Reader, find};

/// Programs that print a part of what they get, unchanged.
const FILTERS: &[&str] = &["grep", "egrep", "fgrep", "sort", "uniq", "head", "tail"];

/// Files redirected into and out of a command.
#[derive(Debug, Clone, Default)]
pub(super) struct Redirections {
    pub(super) inputs: Vec<PathFact>,
    pub(super) outputs: Vec<PathFact>,
}

impl Reader<'_> {
    /// A command without redirections.
    pub(super) fn invoke(&mut self, words: &[Word], scope: &mut Scope) {
        self.run(words, &Redirections::default(), scope);
    }

    /// Redirections that belong to no single command: `$(<file)`, `{ …; } < file`, `> file`.
    pub(super) fn bare(&mut self, io: &Redirections, words: &[Word], scope: &Scope) {
        if io.inputs.is_empty() && io.outputs.is_empty() {
            return;
        }
        let direction = if io.inputs.is_empty() { ">" } else { "<" };
        let mut all = vec![Word::literal(direction)];
        all.extend_from_slice(words);
        if let Some(command) = ShellCommand::new(&all, self.ground, scope.cwd.as_deref()) {
            self.push(ShellCommand { via: scope.via.clone(), ..command }, io);
        }
    }

    fn push(&mut self, command: ShellCommand, io: &Redirections) -> bool {
        if self.commands.len() >= MOST_COMMANDS {
            self.exhausted = true;
            return false;
        }
        self.commands.push(ShellCommand {
            inputs: io.inputs.clone(),
            outputs: io.outputs.clone(),
            ..command
        });
        true
    }

    pub(super) fn run(&mut self, words: &[Word], io: &Redirections, scope: &mut Scope) {
        let Some(mut command) = ShellCommand::new(words, self.ground, scope.cwd.as_deref()) else { return };
        if !self.spend(words.len()) || !self.enter() {
            return;
        }
        let rest = words.get(1..).unwrap_or_default();
        let program = command.program.clone();
        command.via.clone_from(&scope.via);
        command.said = said(&program, rest, scope);
        if self.push(command, io) {
            if program.is_empty() {
                self.pass_over("the program is only known when it runs", &joined(words));
                // `$(…)` in the place of a program runs what it prints.
                let printed = words.first().map(|word| word.from.clone()).unwrap_or_default();
                self.feed(&printed, "eval");
            }
            self.effects(&program, rest, io, scope);
        }
        self.leave();
    }

    fn effects(&mut self, program: &str, words: &[Word], io: &Redirections, scope: &mut Scope) {
        if let Some(kind) = interpreter(program) {
            return self.interpret(kind, program, words, scope);
        }
        self.feed(&scope.stdin.from.clone(), program);
        let given: Vec<usize> =
            words.iter().filter(|word| word.process).flat_map(|word| word.from.clone()).collect();
        self.feed(&given, program);
        if let Some(body) = scope.function(program) {
            let mut inner = scope.through(program).with_arguments(words);
            self.called.insert(Arc::clone(&body));
            self.text(&body, &mut inner);
            scope.cwd = inner.cwd;
            return;
        }
        match program {
            "eval" => {
                let from: Vec<usize> = words.iter().flat_map(|word| word.from.clone()).collect();
                self.feed(&from, program);
                scope.via.push(program.to_owned());
                self.text(&joined(words), scope);
                scope.via.pop();
            }
            "cd" | "pushd" | "chdir" => {
                let target =
                    words.iter().find(|word| word.splits || !word.text.starts_with('-') || word.is("-"));
                scope.cwd = match target {
                    None => Some(self.ground.home.clone()),
                    Some(word) if word.dynamic || word.pattern || word.is("-") => None,
                    Some(word) => resolve(scope.cwd.as_deref(), &word.text),
                };
            }
            "popd" => scope.cwd = None,
            "read" | "mapfile" | "readarray" => {
                for word in words.iter().filter(|word| !word.text.starts_with('-')) {
                    let mut value = Expansion::unknown(&format!("${}", word.text), false);
                    value.from.clone_from(&scope.stdin.from);
                    scope.set(&word.text, value);
                }
            }
            "trap" => {
                if let Some(text) = words.iter().find(|word| !word.text.starts_with('-')) {
                    self.text(&text.text, &mut scope.through(program));
                }
            }
            "su" | "runuser" | "script" | "flock" => {
                let mut after = words.iter().skip_while(|word| !(word.is("-c") || word.is("--command")));
                if let Some(text) = after.nth(1) {
                    self.text(&text.text, &mut scope.through(program));
                }
            }
            "find" => {
                for command in find::commands(words) {
                    self.invoke(&command, &mut scope.through(program));
                }
            }
            _ => {}
        }
        if let Some(inner) = unwrap(program, words) {
            let mut through = scope.through(program);
            match program {
                "xargs" => {
                    for command in self.with_input(words, inner, scope) {
                        self.run(&command, io, &mut through);
                    }
                }
                // It hands its words to a shell, as one text.
                "watch" => self.text(&joined(inner), &mut through),
                _ => self.run(inner, io, &mut through),
            }
        }
        if program == "env"
            && let Some(text) = split_string(words)
        {
            self.text(&text, &mut scope.through(program));
        }
    }

    fn interpret(&mut self, kind: Interpreter, program: &str, words: &[Word], scope: &Scope) {
        let mut inner = scope.through(program);
        let (texts, from) = match script(kind, program, words) {
            Script::Stdin => {
                // The script has used up the input; what it starts gets what is left of it.
                inner.stdin.texts.clear();
                (scope.stdin.texts.clone(), scope.stdin.from.clone())
            }
            Script::Text(text, arguments) => {
                inner = inner.with_arguments(arguments.get(1..).unwrap_or_default());
                let mut from = text.from.clone();
                // `xargs -I{} sh -c '{}'` runs its input, too.
                if scope.via.last().is_some_and(|via| via == "xargs") && text.dynamic {
                    from.extend(&scope.stdin.from);
                }
                (vec![text.text.as_str().into()], from)
            }
            Script::File(file) if file.process => (Vec::new(), file.from.clone()),
            Script::File(_) | Script::Nothing => return,
        };
        self.feed(&from, program);
        for text in texts {
            match kind {
                Interpreter::Shell => self.text(&text, &mut inner.clone()),
                Interpreter::Other => self.pass_over("it is code in another language", &text),
            }
        }
    }

    /// The output of these commands reaches this program.
    fn feed(&mut self, from: &[usize], program: &str) {
        for index in from {
            if !self.spend(1) {
                return;
            }
            if let Some(command) = self.commands.get_mut(*index)
                && !command.feeds.iter().any(|known| known == program)
            {
                command.feeds.push(program.to_owned());
            }
        }
    }

    /// What `xargs` would run: the command with what comes on standard input.
    fn with_input(&self, words: &[Word], inner: &[Word], scope: &Scope) -> Vec<Vec<Word>> {
        let own = words.len().saturating_sub(inner.len());
        let replaces = words.iter().take(own).any(|word| {
            word.text.starts_with("-I") || word.text.starts_with("-i") || word.text.starts_with("--replace")
        });
        let sources: Vec<_> = scope.stdin.from.iter().filter_map(|index| self.commands.get(*index)).collect();
        let mut finds = sources.iter().filter(|command| !FILTERS.contains(&command.program.as_str()));
        let inputs = match (finds.next(), finds.next()) {
            (Some(only), None) if only.program == "find" => find::targets(&only.words),
            (Some(only), None) if matches!(only.program.as_str(), "echo" | "printf") => {
                only.said.iter().flat_map(|text| text.split_whitespace()).map(Word::literal).collect()
            }
            _ => vec![Word {
                text: "{}".to_owned(),
                shape: "*".to_owned(),
                dynamic: true,
                splits: true,
                from: scope.stdin.from.clone(),
                ..Word::default()
            }],
        };
        if replaces {
            inputs.iter().map(|input| find::replace(inner, input)).collect()
        } else {
            vec![[inner, &inputs].concat()]
        }
    }
}

/// The texts a command is known to print, or to pass on.
fn said(program: &str, words: &[Word], scope: &Scope) -> Vec<Arc<str>> {
    match program {
        "echo" => {
            let texts = words
                .iter()
                .skip_while(|word| matches!(word.text.as_str(), "-e" | "-n" | "-ne" | "-en" | "-E"));
            vec![unescape(&texts.map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")).into()]
        }
        "printf" => words
            .iter()
            .filter(|word| !matches!(word.text.trim_end_matches("\\n"), "%s" | "%b" | "--"))
            .map(|word| unescape(&word.text).into())
            .collect(),
        _ => scope.stdin.texts.clone(),
    }
}

fn joined(words: &[Word]) -> String {
    words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
}

/// `env -S 'rm -rf x'` splits the text itself.
fn split_string(words: &[Word]) -> Option<String> {
    let at = words
        .iter()
        .position(|word| word.text.starts_with("-S") || word.text.starts_with("--split-string"))?;
    let option = words.get(at)?.text.as_str();
    let attached =
        option.trim_start_matches("--split-string").trim_start_matches("-S").trim_start_matches('=');
    let rest = joined(words.get(at + 1..)?);
    Some(format!("{attached} {rest}"))
}
