// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Splits command lines of `cmd.exe` into commands and words.

/// One command of a command line.
#[derive(Debug, PartialEq, Eq)]
pub struct CmdCommand {
    /// The command with its quotes.
    pub text: String,
    /// Whether the output is passed to the next command.
    pub pipes: bool,
}

/// Splits a command line at `&`, `&&`, `||`, `|` and line ends outside quotes.
pub fn split_cmd_commands(text: &str) -> Vec<CmdCommand> {
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
pub fn split_cmd_words(text: &str) -> Vec<String> {
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
pub fn strip_cmd_condition(text: &str) -> &str {
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
