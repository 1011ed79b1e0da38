// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads a git configuration file character by character, as git does: comments, quotes, escapes, continued lines, and
//! several headers on a line.

use std::iter::Peekable;
use std::str::Chars;

/// A setting and its place.
#[derive(Debug, Default)]
pub(super) struct ConfigLine {
    /// Section, and after a dot the subsection.
    pub(super) section: String,
    pub(super) key: String,
    pub(super) value: String,
    /// First and last line, counted from 0.
    pub(super) lines: (usize, usize),
    /// Whether the header of a section is on the first line.
    pub(super) shares_line: bool,
}

/// Settings of a file.
#[derive(Debug, Default)]
pub(super) struct ConfigLines {
    pub(super) settings: Vec<ConfigLine>,
    /// First line that git refuses. Nothing after it is read.
    pub(super) invalid: Option<usize>,
}

/// Returns the settings of a configuration file.
pub(super) fn parse(text: &str) -> ConfigLines {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = ConfigReader { rest: text.chars().peekable(), previous: None, line: 0 };
    let mut found = ConfigLines::default();
    let mut section = String::new();
    let mut last_header = None;
    while let Some(letter) = reader.next() {
        match letter {
            letter if is_space(letter) => {}
            '#' | ';' => reader.skip_line(),
            '[' => {
                last_header = Some(reader.line);
                let Some(name) = reader.header() else {
                    found.invalid = last_header;
                    break;
                };
                section = name;
            }
            letter => {
                let first = reader.line;
                let setting = letter.is_ascii_alphabetic().then(|| reader.setting(letter)).flatten();
                let Some((key, value)) = setting else {
                    found.invalid = Some(first);
                    break;
                };
                // The end of the value ends the line too.
                let last = reader.line - usize::from(reader.previous == Some('\n'));
                found.settings.push(ConfigLine {
                    section: section.clone(),
                    key,
                    value,
                    lines: (first, last),
                    shares_line: last_header == Some(first),
                });
            }
        }
    }
    found
}

/// The characters of a file that are not yet read.
struct ConfigReader<'a> {
    rest: Peekable<Chars<'a>>,
    previous: Option<char>,
    /// Number of the current line.
    line: usize,
}

impl ConfigReader<'_> {
    /// Returns the next character. The end of a line is always `\n`.
    fn next(&mut self) -> Option<char> {
        let mut letter = self.rest.next()?;
        if letter == '\r' && self.rest.peek() == Some(&'\n') {
            letter = self.rest.next()?;
        }
        if letter == '\n' {
            self.line += 1;
        }
        self.previous = Some(letter);
        Some(letter)
    }

    fn skip_line(&mut self) {
        while self.next().is_some_and(|letter| letter != '\n') {}
    }

    /// Reads a header after its opening bracket.
    fn header(&mut self) -> Option<String> {
        let mut name = String::new();
        loop {
            match self.next()? {
                ']' => return Some(name),
                letter if is_space(letter) => return self.quoted_header(name, letter),
                letter if is_key(letter) || letter == '.' => name.push(letter.to_ascii_lowercase()),
                _ => return None,
            }
        }
    }

    /// Reads the quoted subsection of a header.
    fn quoted_header(&mut self, mut name: String, first: char) -> Option<String> {
        let mut letter = first;
        while is_space(letter) {
            if letter == '\n' {
                return None;
            }
            letter = self.next()?;
        }
        if letter != '"' {
            return None;
        }
        name.push('.');
        loop {
            let letter = match self.next()? {
                '"' => break,
                '\\' => self.next()?,
                letter => letter,
            };
            if letter == '\n' {
                return None;
            }
            name.push(letter);
        }
        (self.next()? == ']').then_some(name)
    }

    /// Reads a key and its value, up to the end of the line.
    fn setting(&mut self, first: char) -> Option<(String, String)> {
        let mut key = String::from(first.to_ascii_lowercase());
        let mut letter = self.next();
        while let Some(part) = letter.filter(|letter| is_key(*letter)) {
            key.push(part.to_ascii_lowercase());
            letter = self.next();
        }
        while matches!(letter, Some(' ' | '\t')) {
            letter = self.next();
        }
        match letter {
            None | Some('\n') => Some((key, String::new())),
            Some('=') => Some((key, self.value()?)),
            Some(_) => None,
        }
    }

    fn value(&mut self) -> Option<String> {
        let mut value = String::new();
        // Length without the spaces at the end.
        let mut length = 0;
        let mut is_quoted = false;
        loop {
            match self.next() {
                None | Some('\n') => {
                    value.truncate(length);
                    return (!is_quoted).then_some(value);
                }
                Some(letter) if is_space(letter) && !is_quoted => {
                    if !value.is_empty() {
                        value.push(letter);
                    }
                    continue;
                }
                Some('#' | ';') if !is_quoted => {
                    self.skip_line();
                    value.truncate(length);
                    return Some(value);
                }
                Some('\\') => match self.next() {
                    Some('\n') => continue,
                    Some('t') => value.push('\t'),
                    Some('b') => value.push('\u{8}'),
                    Some('n') => value.push('\n'),
                    Some(letter @ ('\\' | '"')) => value.push(letter),
                    _ => return None,
                },
                Some('"') => is_quoted = !is_quoted,
                Some(letter) => value.push(letter),
            }
            length = value.len();
        }
    }
}

fn is_space(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\n' | '\r')
}

fn is_key(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '-'
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// Parts of generated files.
    const PARTS: &[&str] = &[
        "[core]",
        "[branch \"m\"]",
        "[a.b]",
        "[x \"q\\\"\\\\\"]",
        "key",
        "fsmonitor",
        "=",
        " = ",
        "x",
        "\\",
        "\\\n",
        "\n",
        "\n",
        "\r\n",
        "\"",
        "#",
        ";",
        "\t",
        " ",
        "\\n",
        "\\\\",
        "é",
        "-",
        "1",
        "]",
        "a = b\n",
        "[c]\n",
    ];

    /// Returns the keys that git reads, or `None` if it refuses the file.
    fn keys_of_git(directory: &std::path::Path, text: &str) -> Option<Vec<String>> {
        let file = directory.join("config");
        std::fs::write(&file, text).unwrap();
        let mut git = Command::new("git");
        git.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").current_dir(directory);
        git.env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", directory);
        let output =
            git.args(["config", "--no-includes", "-z", "--list", "--file"]).arg(&file).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let keys = text.split_terminator('\0').map(|line| line.split('\n').next().unwrap().to_owned());
        output.status.success().then(|| keys.collect())
    }

    #[test]
    fn the_keys_are_those_that_git_reads() {
        let directory = tempfile::tempdir().unwrap();
        let mut state = 7_u64;
        let mut random = |limit: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(state >> 33).unwrap() % limit
        };
        let mut accepted = 0;
        for _ in 0..1_400 {
            let length = random(14);
            let text = (0..length).map(|_| PARTS[random(PARTS.len())]).collect::<String>();
            let text = format!("[core]\n{text}");
            let Some(wanted) = keys_of_git(directory.path(), &text) else { continue };
            let found = parse(&text);
            let keys: Vec<_> =
                found.settings.iter().map(|line| format!("{}.{}", line.section, line.key)).collect();
            assert_eq!(keys, wanted, "{text:?}");
            assert_eq!(found.invalid, None, "{text:?}");
            accepted += usize::from(!wanted.is_empty());
        }
        assert!(accepted > 40, "git read settings from {accepted} files only");
    }
}
