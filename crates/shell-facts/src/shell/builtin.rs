// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Commands of the shell itself that change what is known.

use std::sync::Arc;

use tenterhook_paths::Does;

use super::Reader;
use super::assign::declare_words;
use super::expand::unescape;
use super::invoke::joined;
use super::parameter::known_text;
use super::scope::{Scope, from_all};
use super::typed::TYPED_PROGRAM;
use super::walk::FunctionBody;
use super::word::{Expansion, Word};

impl Reader<'_> {
    /// What a command of the shell itself does; false if it is none.
    pub(super) fn builtin(&mut self, program: &str, words: &[Word], scope: &mut Scope) -> bool {
        match program {
            "eval" => {
                let words = words.iter().skip_while(|word| word.is("--")).cloned().collect::<Vec<_>>();
                let from = from_all(&words);
                self.feed(&from, program);
                self.mark_if_typed(self.commands.len().checked_sub(1), &from);
                scope.via.push(program.to_owned());
                self.text(&joined(&words), scope);
                scope.via.pop();
            }
            "source" | "." => self.source(program, words, scope),
            "cd" | "chdir" => {
                let before = scope.cwd.clone();
                change_directory(words, scope);
                scope.left = before;
            }
            "pushd" => {
                let before = scope.cwd.clone();
                if words.is_empty() {
                    scope.cwd.change(None, false);
                } else {
                    change_directory(words, scope);
                }
                scope.left = before.clone();
                if scope.stacked.len() < MOST_STACKED {
                    scope.stacked.push(before);
                }
            }
            "popd" => {
                let before = std::mem::replace(&mut scope.cwd, scope.stacked.pop().unwrap_or_default());
                scope.left = before;
            }
            "read" if one_line(scope).is_some() => read_line(words, scope),
            "mapfile" | "readarray" if lines(scope).is_some() => {
                let lines: Vec<_> =
                    lines(scope).unwrap_or_default().iter().map(|line| Word::literal(line)).collect();
                let name = words.iter().rfind(|word| !word.text.starts_with('-'));
                let name = name.map_or("MAPFILE", |word| word.text.as_str()).to_owned();
                scope.set_list(&name, &lines, false);
            }
            "read" if self.one_file(words, scope).is_some() => {
                let file = self.one_file(words, scope).unwrap_or_default();
                let name = words.iter().rfind(|word| !word.text.starts_with('-'));
                let name = name.map_or("REPLY", |word| word.text.as_str());
                scope.set(name, file.to_value());
            }
            "read" => {
                let from = self.read_from(scope);
                let mut takes_list = false;
                for word in words {
                    if word.text.starts_with('-') {
                        takes_list = word.text.ends_with('a');
                    } else if std::mem::take(&mut takes_list) {
                        scope.forget_list(&word.text, &from);
                    } else {
                        scope.forget(&word.text, &from);
                    }
                }
                scope.forget("REPLY", &from);
            }
            "mapfile" | "readarray" => {
                let names =
                    words.iter().filter(|word| !word.text.starts_with('-')).map(|word| word.text.as_str());
                let from = self.read_from(scope);
                for name in names.chain(["MAPFILE"]) {
                    scope.forget_list(name, &from);
                }
            }
            "getopts" => {
                let name = words.get(1).map(|word| word.text.clone()).unwrap_or_default();
                scope.forget(&name, &[]);
                scope.forget("OPTARG", &[]);
            }
            "printf" => match words {
                [option, name, format, value] if option.is("-v") && format.is("%s") && !value.dynamic => {
                    scope.set(&name.text, Expansion::literal(&value.text));
                }
                [option, name, format, rest @ ..]
                    if option.is("-v")
                        && filled(format, rest).is_some_and(|text| {
                            scope.set(&name.text, Expansion::literal(&text));
                            true
                        }) => {}
                [option, name, rest @ ..] if option.is("-v") => {
                    let from = from_all(rest);
                    scope.forget(&name.text, &from);
                }
                _ => {}
            },
            "export" | "declare" | "typeset" | "local" | "readonly" => declare_words(words, scope),
            "set" => set(words, scope),
            // A function in all but name.
            "alias" => {
                for (name, value) in words.iter().filter_map(|word| word.text.split_once('=')) {
                    scope.define(name, Arc::new(FunctionBody::parse(format!("{value} \"$@\""))));
                }
            }
            "shift" => {
                let by =
                    words.first().map_or(Some(1), |word| word.text.parse().ok().filter(|_| !word.dynamic));
                self.spend(scope.arguments_known());
                scope.shift(by);
            }
            "trap" => {
                if let Some(text) = words.iter().find(|word| !word.text.starts_with('-')) {
                    // `trap 'rm -rf "$d"' EXIT; d=$(mktemp -d)`
                    if waits(words, &text.text, scope) {
                        self.traps.push(text.text.clone());
                        return true;
                    }
                    self.text(&text.text, &mut scope.through(program));
                }
            }
            _ => return false,
        }
        true
    }

    /// The commands that print what `read` gets: its own, if it is typed into a terminal.
    fn read_from(&mut self, scope: &Scope) -> Vec<usize> {
        let mut from = scope.stdin.from.clone();
        if scope.stdin.typed
            && let Some(own) = self.commands.len().checked_sub(1)
            && let Some(command) = self.commands.get_mut(own)
        {
            command.typed = true;
            from.push(own);
        }
        from
    }

    /// `find … | while read -r f`: what is found, one after the other.
    fn one_file(&self, words: &[Word], scope: &Scope) -> Option<Word> {
        let names: Vec<_> = words.iter().filter(|word| !word.text.starts_with('-')).collect();
        let values =
            words.iter().any(|word| matches!(word.text.as_str(), "-d" | "-n" | "-t" | "-u" | "-p" | "-a"));
        let name = match names.as_slice() {
            [] | [_] => true,
            // `-d ''`
            [value, _] => values && value.text.is_empty(),
            _ => false,
        };
        let lists = scope.stdin.from.iter().filter_map(|index| self.commands.get(*index));
        let lists = lists
            .into_iter()
            .any(|command| matches!(command.program.as_str(), "find" | "fd" | "fdfind" | "git"));
        match self.inputs(scope).as_slice() {
            [only] if name && lists && !only.dynamic => Some(only.clone()),
            _ => None,
        }
    }

    /// `source`: a file nobody has read, unless it is `<(…)` or standard input.
    fn source(&mut self, program: &str, words: &[Word], scope: &mut Scope) {
        let Some(file) = words.iter().find(|word| !word.is("--")) else { return };
        let own = self.commands.len().checked_sub(1);
        let texts = if file.process {
            self.mark_if_typed(own, &file.from);
            self.texts_of(&file.from)
        } else if is_stdin(&file.text) || self.is_terminal(&file.text, scope) {
            self.mark_typed_program(own, scope);
            if !is_stdin(&file.text) {
                self.mark(own, TYPED_PROGRAM);
            }
            scope.stdin.texts.clone()
        } else {
            self.touch(Does::Run, file, program, scope);
            return self.run_file(&file.text, "sh", scope);
        };
        scope.via.push(program.to_owned());
        for text in texts {
            self.text(&text, scope);
        }
        scope.via.pop();
    }
}

/// Whether a trap runs only at the end, and is about something that is not known yet.
fn waits(words: &[Word], text: &str, scope: &Scope) -> bool {
    let at_end = words.iter().skip(1).all(|word| {
        matches!(word.text.trim_start_matches("SIG"), "EXIT" | "0" | "INT" | "TERM" | "HUP" | "QUIT" | "ERR")
    });
    let body = scope.function(text.trim());
    let text = body.as_ref().map_or(text, |body| body.text.as_str());
    let mut names = text.split('$').skip(1).map(|rest| {
        let rest = rest.trim_start_matches('{');
        rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
    });
    at_end && names.any(|name| !name.is_empty() && scope.get(name).is_none())
}

/// Directories kept by `pushd`.
const MOST_STACKED: usize = 16;

fn change_directory(words: &[Word], scope: &mut Scope) {
    let target = words
        .iter()
        .find(|word| !word.is("--") && (word.opens || !word.text.starts_with('-') || word.is("-")));
    let Some(word) = target else {
        return scope.cwd.change(Some(&scope.place.ground.home.clone()), false);
    };
    let text = word.text.as_str();
    let searched =
        !text.starts_with(['/', '.']) && scope.get("CDPATH").is_some_and(|path| !path.atoms.is_empty());
    if word.is("-") {
        scope.cwd = std::mem::take(&mut scope.left);
        return;
    }
    if word.dynamic || searched {
        return scope.cwd.change(None, false);
    }
    // These are there, whatever happened before.
    let there = text.chars().all(|c| matches!(c, '.' | '/'))
        || matches!(text, "/tmp" | "/var/tmp")
        || text == scope.place.ground.home
        || scope.place.ground.project.as_deref() == Some(text);
    scope.cwd.change(Some(text), !(scope.strict || there));
}

/// The lines on standard input, if all of them are known.
fn lines(scope: &Scope) -> Option<Vec<String>> {
    match scope.stdin.texts.as_slice() {
        [text] if text.len() < 4096 && !text.contains(['$', '`']) => {
            let lines: Vec<_> = text.trim_end_matches('\n').lines().map(str::to_owned).collect();
            (!lines.is_empty()).then_some(lines)
        }
        _ => None,
    }
}

/// The line on standard input, if there is exactly one and all of it is known.
fn one_line(scope: &Scope) -> Option<String> {
    lines(scope).filter(|lines| lines.len() == 1).and_then(|mut lines| lines.pop())
}

/// `read a b <<< 'x y z'`
fn read_line(words: &[Word], scope: &mut Scope) {
    let line = one_line(scope).unwrap_or_default();
    let from = scope.stdin.from.clone();
    let names: Vec<String> =
        words.iter().filter(|word| !word.text.starts_with('-')).map(|word| word.text.clone()).collect();
    let lists = words.iter().any(|word| word.text.starts_with('-') && word.text.contains('a'));
    let odd = words
        .iter()
        .any(|word| word.text.starts_with('-') && word.text.contains(['d', 'n', 'N', 'p', 't', 'u', 'i']));
    let separators = scope.get("IFS").map_or(Some(" ".to_owned()), |value| known_text(&value));
    let Some(separators) = separators.filter(|_| !odd) else {
        for name in names.iter().map(String::as_str).chain(["REPLY"]) {
            scope.forget(name, &from);
        }
        return;
    };
    // Blanks at the edges go, several count as one; each of the others counts.
    let blank = separators == " " || separators.trim().is_empty() && !separators.is_empty();
    let between = |letter: char| if blank { letter.is_whitespace() } else { separators.contains(letter) };
    if lists && let Some(name) = names.last() {
        let parts = line.split(between).filter(|part| !(blank && part.is_empty()));
        let parts: Vec<_> = parts.map(Word::literal).collect();
        return scope.set_list(name, &parts, false);
    }
    let mut rest = if blank { line.trim() } else { line.as_str() };
    for (at, name) in names.iter().enumerate() {
        let (value, after) = match rest.split_once(between) {
            Some((value, after)) if at + 1 < names.len() => {
                (value, if blank { after.trim_start() } else { after })
            }
            _ => (rest, ""),
        };
        let value = Expansion { from: from.clone(), ..Expansion::literal(value) };
        scope.set(name, value);
        rest = after;
    }
    if names.is_empty() {
        scope.set("REPLY", Expansion { from, ..Expansion::literal(&line) });
    }
}

/// `printf FORMAT WORDS…` where only `%s`, `%d` and `%%` are filled in.
pub(super) fn filled(format: &Word, words: &[Word]) -> Option<String> {
    if format.dynamic || words.iter().any(|word| word.dynamic || word.pattern) {
        return None;
    }
    let mut words = words.iter();
    let text = unescape(&format.text);
    let mut out = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter != '%' {
            out.push(letter);
            continue;
        }
        match letters.next()? {
            '%' => out.push('%'),
            's' | 'd' | 'i' => out.push_str(words.next().map_or("", |word| word.text.as_str())),
            'b' => out.push_str(&unescape(words.next().map_or("", |word| word.text.as_str()))),
            _ => return None,
        }
    }
    Some(out)
}

/// Whether a file is standard input under another name.
pub(super) fn is_stdin(path: &str) -> bool {
    matches!(path, "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0")
}

/// `set -e`, `set -o errexit`, `set -- a b`
fn set(words: &[Word], scope: &mut Scope) {
    let mut rest = words;
    while let Some((word, after)) = rest.split_first() {
        if word.is("--") {
            return scope.set_arguments(after);
        }
        if word.opens || !word.text.starts_with(['-', '+']) {
            return scope.set_arguments(rest);
        }
        let on = word.text.starts_with('-');
        if word.text.contains('e') {
            scope.strict = on;
        }
        rest = after;
        if word.text.ends_with('o') {
            if after.first().is_some_and(|name| name.is("errexit")) {
                scope.strict = on;
            }
            rest = after.get(1..).unwrap_or_default();
        }
    }
}
