// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Follows shell builtins that change variables, the working directory or functions, or that run text.

use std::sync::Arc;

use tenterhook_paths::FileOp;

use super::ShellReader;
use super::assign::declare_words;
use super::expand::unescape;
use super::invoke::join_texts;
use super::parameter::known_text;
use super::scope::{ShellScope, output_sources};
use super::typed_input::TYPED_PROGRAM;
use super::walk::FunctionBody;
use super::word::{ExpandedText, ShellWord};

impl ShellReader<'_> {
    /// Follows a shell builtin; returns false if the program is not one.
    pub(super) fn run_builtin(&mut self, program: &str, words: &[ShellWord], scope: &mut ShellScope) -> bool {
        match program {
            "eval" => {
                let words = words.iter().skip_while(|word| word.is("--")).cloned().collect::<Vec<_>>();
                let from = output_sources(&words);
                self.mark_fed(&from, program);
                self.mark_if_typed(self.last_command(), &from);
                scope.via.push(program.to_owned());
                self.read_text(&join_texts(&words), scope);
                scope.via.pop();
            }
            "source" | "." => self.run_source(program, words, scope),
            "cd" | "chdir" => {
                let before = scope.cwd.clone();
                change_directory(words, scope);
                scope.previous_cwd = before;
            }
            "pushd" => {
                let before = scope.cwd.clone();
                if words.is_empty() {
                    scope.cwd.change(None, false);
                } else {
                    change_directory(words, scope);
                }
                scope.previous_cwd = before.clone();
                if scope.directory_stack.len() < MAX_DIRECTORY_STACK {
                    scope.directory_stack.push(before);
                }
            }
            "popd" => {
                let before =
                    std::mem::replace(&mut scope.cwd, scope.directory_stack.pop().unwrap_or_default());
                scope.previous_cwd = before;
            }
            "read" if single_stdin_line(scope).is_some() => read_line(words, scope),
            "mapfile" | "readarray" if stdin_lines(scope).is_some() => {
                let lines: Vec<_> = stdin_lines(scope)
                    .unwrap_or_default()
                    .iter()
                    .map(|line| ShellWord::literal(line))
                    .collect();
                let name = words.iter().rfind(|word| !word.text.starts_with('-'));
                let name = name.map_or("MAPFILE", |word| word.text.as_str()).to_owned();
                scope.set_list(&name, &lines, false);
            }
            "read" if self.piped_file(words, scope).is_some() => {
                let file = self.piped_file(words, scope).unwrap_or_default();
                let name = words.iter().rfind(|word| !word.text.starts_with('-'));
                let name = name.map_or("REPLY", |word| word.text.as_str());
                scope.set(name, file.to_value());
            }
            "read" => {
                let from = self.read_sources(scope);
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
                let from = self.read_sources(scope);
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
                    scope.set(&name.text, ExpandedText::literal(&value.text));
                }
                [option, name, format, rest @ ..]
                    if option.is("-v")
                        && format_known_text(format, rest).is_some_and(|text| {
                            scope.set(&name.text, ExpandedText::literal(&text));
                            true
                        }) => {}
                [option, name, rest @ ..] if option.is("-v") => {
                    let from = output_sources(rest);
                    scope.forget(&name.text, &from);
                }
                _ => {}
            },
            "export" | "declare" | "typeset" | "local" | "readonly" => declare_words(words, scope),
            "set" => apply_set(words, scope),
            // `hash -p /bin/rm ls`: the name `ls` now starts `/bin/rm`.
            "hash" => {
                if let [option, path, names @ ..] = words
                    && option.is("-p")
                {
                    for name in names {
                        scope.add_function(&name.text, Arc::new(FunctionBody::starting(&path.text)));
                    }
                }
            }
            // An alias behaves like a function.
            "alias" => {
                for (name, value) in words.iter().filter_map(|word| word.text.split_once('=')) {
                    scope.add_function(name, Arc::new(FunctionBody::starting(value)));
                }
            }
            "shift" => {
                let by =
                    words.first().map_or(Some(1), |word| word.text.parse().ok().filter(|_| !word.dynamic));
                self.spend_steps(scope.arguments_known());
                scope.shift(by);
            }
            "trap" => {
                if let Some(text) = words.iter().find(|word| !word.text.starts_with('-')) {
                    // `trap 'rm -rf "$d"' EXIT; d=$(mktemp -d)`
                    if runs_at_exit(words, &text.text, scope) {
                        self.exit_traps.push(text.text.clone());
                        return true;
                    }
                    self.read_text(&text.text, &mut scope.started_by(program));
                }
            }
            _ => return false,
        }
        true
    }

    /// Returns the commands whose output `read` reads, including the `read` command itself if its input is typed into
    /// a terminal.
    fn read_sources(&mut self, scope: &ShellScope) -> Vec<usize> {
        let mut from = scope.stdin.from.clone();
        if scope.stdin.from_terminal
            && let Some(own) = self.last_command()
            && let Some(command) = self.commands.get_mut(own)
        {
            command.from_terminal = true;
            from.push(own);
        }
        from
    }

    /// Returns the pattern for the files in `find … | while read -r f`.
    fn piped_file(&self, words: &[ShellWord], scope: &ShellScope) -> Option<ShellWord> {
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
        match self.input_words(scope).as_slice() {
            [only] if name && lists && !only.dynamic => Some(only.clone()),
            _ => None,
        }
    }

    /// Analyses the text that `source` runs. The content of a file is unknown, unless it is `<(…)` or standard input.
    fn run_source(&mut self, program: &str, words: &[ShellWord], scope: &mut ShellScope) {
        let Some(file) = words.iter().find(|word| !word.is("--")) else { return };
        let own = self.last_command();
        let texts = if file.is_process {
            self.mark_if_typed(own, &file.from);
            self.printed_by(&file.from)
        } else if is_stdin(&file.text) || self.is_terminal(&file.text, scope) {
            self.mark_typed_program(own, scope);
            if !is_stdin(&file.text) {
                self.mark_act(own, TYPED_PROGRAM);
            }
            scope.stdin.texts.clone()
        } else {
            self.add_effect(FileOp::Run, file, program, scope);
            return self.run_file(&file.text, "sh", scope);
        };
        scope.via.push(program.to_owned());
        for text in texts {
            self.read_text(&text, scope);
        }
        scope.via.pop();
    }
}

/// Whether a trap runs only at the end of the script and uses variables that are not set yet.
fn runs_at_exit(words: &[ShellWord], text: &str, scope: &ShellScope) -> bool {
    let at_end = words.iter().skip(1).all(|word| {
        matches!(word.text.trim_start_matches("SIG"), "EXIT" | "0" | "INT" | "TERM" | "HUP" | "QUIT" | "ERR")
    });
    let body = scope.find_function(text.trim());
    let text = body.as_ref().map_or(text, |body| body.text.as_str());
    let mut names = text.split('$').skip(1).map(|rest| {
        let rest = rest.trim_start_matches('{');
        rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
    });
    at_end && names.any(|name| !name.is_empty() && scope.get(name).is_none())
}

/// Maximum depth of the `pushd` directory stack.
const MAX_DIRECTORY_STACK: usize = 16;

fn change_directory(words: &[ShellWord], scope: &mut ShellScope) {
    let target = words
        .iter()
        .find(|word| !word.is("--") && (word.may_be_option || !word.text.starts_with('-') || word.is("-")));
    let Some(word) = target else {
        return scope.cwd.change(Some(&scope.site.roots.home.clone()), false);
    };
    let text = word.text.as_str();
    let searched =
        !text.starts_with(['/', '.']) && scope.get("CDPATH").is_some_and(|path| !path.atoms.is_empty());
    if word.is("-") {
        scope.cwd = std::mem::take(&mut scope.previous_cwd);
        return;
    }
    if word.dynamic || searched {
        return scope.cwd.change(None, false);
    }
    // These directories always exist, so `cd` succeeds.
    let exists = text.chars().all(|c| matches!(c, '.' | '/'))
        || matches!(text, "/tmp" | "/var/tmp")
        || text == scope.site.roots.home
        || scope.site.roots.project.as_deref() == Some(text);
    scope.cwd.change(Some(text), !(scope.strict || exists));
}

/// Returns the lines on standard input, if all of them are known.
fn stdin_lines(scope: &ShellScope) -> Option<Vec<String>> {
    match scope.stdin.texts.as_slice() {
        [text] if text.len() < 4096 && !text.contains(['$', '`']) => {
            let lines: Vec<_> = text.trim_end_matches('\n').lines().map(str::to_owned).collect();
            (!lines.is_empty()).then_some(lines)
        }
        _ => None,
    }
}

/// Returns the line on standard input, if there is exactly one and all of it is known.
fn single_stdin_line(scope: &ShellScope) -> Option<String> {
    stdin_lines(scope).filter(|lines| lines.len() == 1).and_then(|mut lines| lines.pop())
}

/// Sets the variables of `read a b <<< 'x y z'`.
fn read_line(words: &[ShellWord], scope: &mut ShellScope) {
    let line = single_stdin_line(scope).unwrap_or_default();
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
    // Leading and trailing spaces are dropped, and a run of spaces is one separator. Each other separator counts
    // separately.
    let blank = separators == " " || separators.trim().is_empty() && !separators.is_empty();
    let between = |letter: char| if blank { letter.is_whitespace() } else { separators.contains(letter) };
    if lists && let Some(name) = names.last() {
        let parts = line.split(between).filter(|part| !(blank && part.is_empty()));
        let parts: Vec<_> = parts.map(ShellWord::literal).collect();
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
        let value = ExpandedText { from: from.clone(), ..ExpandedText::literal(value) };
        scope.set(name, value);
        rest = after;
    }
    if names.is_empty() {
        scope.set("REPLY", ExpandedText { from, ..ExpandedText::literal(&line) });
    }
}

/// Returns the output of `printf FORMAT WORDS…` with only `%s`, `%b`, `%d` and `%%`; `None` for other formats and
/// unknown words.
pub(super) fn format_known_text(format: &ShellWord, words: &[ShellWord]) -> Option<String> {
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

/// Whether a path is another name of standard input, or of another descriptor. A text that is redirected to a
/// descriptor is treated as standard input.
pub(super) fn is_stdin(path: &str) -> bool {
    let number = path.strip_prefix("/dev/fd/").or_else(|| path.strip_prefix("/proc/self/fd/"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    path == "/dev/stdin" || number.is_some_and(is_number)
}

/// Applies `set -e`, `set -o errexit` and `set -- a b`.
fn apply_set(words: &[ShellWord], scope: &mut ShellScope) {
    let mut rest = words;
    while let Some((word, after)) = rest.split_first() {
        if word.is("--") {
            return scope.set_arguments(after);
        }
        if word.may_be_option || !word.text.starts_with(['-', '+']) {
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
