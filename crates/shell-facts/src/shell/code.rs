// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Code in other languages: what it would do, in the place where it runs.

use tenterhook_code_facts::{self as code, Act, Argument, Language};
use tenterhook_paths::expand_tilde;

use super::super::effect::Touch;
use super::Reader;
use super::scope::Scope;
use super::word::Word;

/// Stands for what code only knows when it runs.
const UNKNOWN: &str = "${__unknown__}";

impl Reader<'_> {
    /// What a text in this language would do, run by the command of this index.
    pub(super) fn code(
        &mut self,
        language: Language,
        text: &str,
        program: &str,
        own: Option<usize>,
        scope: &Scope,
    ) {
        if !self.spend(1 + text.len() / 16) || !self.enter() {
            return;
        }
        let acts = code::read(language, text);
        // Said once, it says all: it is about the whole text.
        if acts.contains(&Act::RunsUnknown) {
            self.pass_over("it runs code that cannot be read", text);
        }
        for act in acts {
            if !self.spend(1) {
                break;
            }
            self.act(&act, text, program, own, scope);
        }
        self.leave();
    }

    fn act(&mut self, act: &Act, text: &str, program: &str, own: Option<usize>, scope: &Scope) {
        match act {
            Act::Shell(text) => {
                let text = if text.known { text.shape.clone() } else { text.shape.replace('*', UNKNOWN) };
                self.text(&text, &mut scope.through(program));
            }
            Act::Start(words) => {
                let words: Vec<_> = words.iter().map(|word| as_word(word, scope)).collect();
                self.invoke(&words, &mut scope.through(program));
            }
            Act::File { does, path, recursive } => {
                let mut word = as_word(path, scope);
                // Those it picks are some of them, not all.
                if let Some(start) =
                    word.shape.strip_suffix('*').filter(|_| path.pattern && code::chooses(text))
                {
                    let start = start.trim_end_matches('*').to_owned();
                    word.shape = format!("{start}…");
                }
                let touch = Touch::new(*does, &word).deep(*recursive);
                self.touched(&touch, program, scope);
            }
            Act::Connect(address) => self.connects.push(address.shape.clone()),
            Act::RunsFetched => self.mark(own, "runs-fetched"),
            Act::ShellRunsFetched => self.mark(own, "shell-runs-fetched"),
            Act::RunsInput => self.feed(&scope.stdin.from.clone(), ""),
            Act::RunsUnknown => {}
            Act::ReverseShell => self.mark(own, "reverse-shell"),
            Act::Unread => self.leave_unread("it is more code than is read", text),
        }
    }

    /// Code that a tool runs itself, without any command.
    pub(super) fn tool_code(&mut self, tool: &str, code: &str, scope: &Scope) {
        self.pass_over("it is code in another language", code);
        let start = (self.effects.len(), self.commands.len());
        for language in guesses(tool) {
            self.code(language, code, tool, None, scope);
            // What one language makes sense of is not read as another.
            if start != (self.effects.len(), self.commands.len()) {
                return;
            }
        }
    }
}

/// The reader of a language, if it has one.
pub(super) fn readable(language: tenterhook_programs::Language) -> Option<Language> {
    Language::named(language.name())
}

/// The languages a tool may run, by its name.
fn guesses(tool: &str) -> impl Iterator<Item = Language> {
    let name = tool.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| name.contains(word));
    let names: &[&str] = if says(&["python", "jupyter", "notebook"]) {
        &["python"]
    } else if says(&["javascript", "node", "typescript", "browser", "_js", "js_", "deno", "evaluate"]) {
        &["javascript"]
    } else if says(&["ruby"]) {
        &["ruby"]
    } else if says(&["php"]) {
        &["php"]
    } else {
        &["python", "javascript"]
    };
    names.iter().filter_map(|name| Language::named(name))
}

fn as_word(argument: &Argument, scope: &Scope) -> Word {
    let home = &scope.place.ground.home;
    let shape = expand_tilde(&argument.shape, home).unwrap_or_else(|| argument.shape.clone());
    Word {
        text: shape.clone(),
        shape,
        dynamic: !argument.known,
        pattern: argument.pattern,
        opens: !argument.known && argument.shape.starts_with('*'),
        ..Word::default()
    }
}
