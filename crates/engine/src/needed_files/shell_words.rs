// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Splits the first command of a shell script into words, except words that need shell expansion.

use super::is_assignment;

/// Shell builtins and keywords: a command that starts with one of these words runs no program. Its other words are
/// ignored.
const SHELL_BUILTINS: &[&str] = &[
    ".", ":", "[", "[[", "alias", "break", "case", "cd", "declare", "do", "done", "echo", "eval", "exit",
    "export", "false", "for", "function", "if", "local", "printf", "pushd", "read", "return", "select",
    "set", "shift", "shopt", "source", "test", "time", "trap", "true", "type", "ulimit", "umask", "unset",
    "until", "wait", "while", "{", "}", "!",
];
/// Words that may precede the program's name.
const COMMAND_PREFIXES: &[&str] = &["exec", "command", "builtin", "nohup"];

/// Returns the words of the first command. A word that only a shell can expand is `None`. The list is empty if the
/// command is not a program.
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
        word.as_deref().is_some_and(|word| is_assignment(word) || COMMAND_PREFIXES.contains(&word))
    });
    let skipped = skipped.count();
    words.drain(..skipped);
    match words.first() {
        Some(Some(word)) if SHELL_BUILTINS.contains(&word.as_str()) => Vec::new(),
        _ => words,
    }
}

struct WordReader<'a> {
    rest: &'a str,
    home: Option<&'a str>,
    variable: &'a dyn Fn(&str) -> Option<String>,
}

impl WordReader<'_> {
    /// Skips to the next word; returns false at the end of the command.
    fn skip_to_word(&mut self) -> bool {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
        !self.rest.is_empty() && !self.rest.starts_with(['\n', ';', '&', '|', '<', '>', '(', ')', '#'])
    }

    /// Reads the next word; `None` if only a shell can expand it.
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
                    self.expand_variable(&mut word);
                    continue;
                }
                (_, '`' | '\\') | (None, '*' | '?' | '[' | '{') => word = None,
                (_, letter) => push(&mut word, letter),
            }
            self.rest = self.rest.get(letter.len_utf8()..).unwrap_or_default();
        }
        word.filter(|_| quote.is_none())
    }

    /// Expands the variable at the start of the remaining text.
    fn expand_variable(&mut self, word: &mut Option<String>) {
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
