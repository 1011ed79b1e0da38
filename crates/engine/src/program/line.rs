// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The words of the first command of a shell text, as far as they are plain.

use super::is_assignment;

/// Words at the start of a command that are not programs; what follows them is not looked at.
const BUILTINS: &[&str] = &[
    ".", ":", "[", "[[", "alias", "break", "case", "cd", "declare", "do", "done", "echo", "eval", "exit",
    "export", "false", "for", "function", "if", "local", "printf", "pushd", "read", "return", "select",
    "set", "shift", "shopt", "source", "test", "time", "trap", "true", "type", "ulimit", "umask", "unset",
    "until", "wait", "while", "{", "}", "!",
];
/// Words that are followed by the program.
const PREFIXES: &[&str] = &["exec", "command", "builtin", "nohup"];

/// The words of the first command. A word that only the shell can tell is `None`; a command that is not a
/// program gives no words.
pub(super) fn first_command(
    text: &str,
    home: Option<&str>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Vec<Option<String>> {
    let mut reader = WordReader { rest: text, home, variable };
    let mut words = Vec::new();
    while reader.skip_to_word() {
        words.push(reader.read_word());
    }
    let skipped = words.iter().take_while(|word| {
        word.as_deref().is_some_and(|word| is_assignment(word) || PREFIXES.contains(&word))
    });
    let skipped = skipped.count();
    words.drain(..skipped);
    match words.first() {
        Some(Some(word)) if BUILTINS.contains(&word.as_str()) => Vec::new(),
        _ => words,
    }
}

struct WordReader<'a> {
    rest: &'a str,
    home: Option<&'a str>,
    variable: &'a dyn Fn(&str) -> Option<String>,
}

impl WordReader<'_> {
    /// Goes to the next word. False at the end of the command.
    fn skip_to_word(&mut self) -> bool {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
        !self.rest.is_empty() && !self.rest.starts_with(['\n', ';', '&', '|', '<', '>', '(', ')', '#'])
    }

    /// The word that comes next; `None` if it is not plain.
    fn read_word(&mut self) -> Option<String> {
        let mut word = Some(String::new());
        if let (Some(rest), Some(home)) = (self.rest.strip_prefix("~/"), self.home) {
            word = Some(format!("{home}/"));
            self.rest = rest;
        }
        let mut quote = None;
        while let Some(letter) = self.rest.chars().next() {
            match (quote, letter) {
                (None, ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')') => break,
                (None, '\'' | '"') => quote = Some(letter),
                (Some(open), letter) if open == letter => quote = None,
                (Some('\''), letter) => push(&mut word, letter),
                (_, '$') => {
                    self.substitute(&mut word);
                    continue;
                }
                (_, '`' | '\\') | (None, '*' | '?' | '[' | '{') => word = None,
                (_, letter) => push(&mut word, letter),
            }
            self.rest = self.rest.get(letter.len_utf8()..).unwrap_or_default();
        }
        word.filter(|_| quote.is_none())
    }

    /// Puts the value of the variable in that the rest begins with.
    fn substitute(&mut self, word: &mut Option<String>) {
        let after = self.rest.get(1..).unwrap_or_default();
        let braced = after.strip_prefix('{').and_then(|inner| inner.split_once('}'));
        let (name, rest) = braced.unwrap_or_else(|| {
            let end = after.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
            after.split_at(end.unwrap_or(after.len()))
        });
        match (word.as_mut(), (self.variable)(name)) {
            (Some(word), Some(value)) => word.push_str(&value),
            _ => *word = None,
        }
        self.rest = rest;
    }
}

fn push(word: &mut Option<String>, letter: char) {
    if let Some(word) = word {
        word.push(letter);
    }
}
