// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Options and operands of a command, by the customs of getopt.

use serde::Serialize;

use super::option_values::{takes_long_names_with_one_dash, values_of};
use super::word::Word;

/// One option word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ShellOption {
    /// Without its dashes: a long name, or a cluster of letters.
    pub name: String,
    /// Whether it was written with two dashes.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub long: bool,
    /// Whether its value turns it off, as in `--dry-run=false`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub off: bool,
}

/// The words of a command, told apart.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub(super) options: Vec<ShellOption>,
    pub(super) operands: Vec<Word>,
    pub(super) values: Vec<Value>,
    /// Whether an unknown word may turn out to be an option.
    pub(super) open: bool,
}

/// The value of an option.
#[derive(Debug)]
pub(super) struct Value {
    pub(super) option: String,
    pub(super) word: Word,
}

/// Options that say with which key or settings to work, whatever the program.
const SETTINGS: &[&str] = &[
    "identity",
    "identity-file",
    "private-key",
    "key",
    "key-file",
    "ssh-key",
    "kubeconfig",
    "config",
    "config-file",
    "defaults-file",
    "defaults-extra-file",
    "netrc-file",
    "credentials",
    "credentials-file",
    "exclude",
];

/// Whether an option says with which key or settings to work, or what to leave out.
pub(super) fn is_setting(option: &str) -> bool {
    option == "i" || SETTINGS.contains(&option) || option.starts_with("exclude")
}

/// Whether the value of an option means that the option is not in effect.
fn turns_off(value: &str) -> bool {
    ["none", "false", "no", "off", "0", "f", "n", "never", ""]
        .iter()
        .any(|off| value.eq_ignore_ascii_case(off))
}

/// Tells options, their values and operands apart.
pub(super) fn parse(program: &str, words: &[Word]) -> Parsed {
    let (letters, names) = values_of(program);
    let one_dash = takes_long_names_with_one_dash(program);
    let mut parsed = Parsed::default();
    let mut words = words.iter();
    let mut options_are_over = false;
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        if options_are_over || !text.starts_with('-') || text == "-" {
            parsed.open |= word.opens && !options_are_over;
            parsed.operands.push(word.clone());
        } else if word.is("--") {
            options_are_over = true;
        } else if let Some(long) = text.strip_prefix("--") {
            let (name, value) =
                long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            let off = value.is_some_and(turns_off);
            parsed.options.push(ShellOption { name: name.to_owned(), long: true, off });
            if value.is_none() && (names.contains(&name) || SETTINGS.contains(&name)) {
                let word = words.next().cloned();
                parsed.values.extend(word.map(|word| Value { option: name.to_owned(), word }));
            }
        } else {
            let cluster = text.trim_start_matches('-');
            if one_dash && names.contains(&cluster) {
                parsed.options.push(ShellOption { name: cluster.to_owned(), long: false, off: false });
                let option = cluster.to_owned();
                parsed.values.extend(words.next().cloned().map(|word| Value { option, word }));
                continue;
            }
            let takes = cluster.char_indices().find(|(_, letter)| letters.contains(*letter));
            let (name, value) = match takes {
                Some((at, letter)) => {
                    cluster.split_at_checked(at + letter.len_utf8()).unwrap_or((cluster, ""))
                }
                None => (cluster, ""),
            };
            // `-dryrun=false`, as Go programs take it.
            let off = text.split_once('=').is_some_and(|(_, value)| turns_off(value));
            parsed.options.push(ShellOption { name: name.to_owned(), long: false, off });
            let option = takes.map(|(_, letter)| letter.to_string()).unwrap_or_default();
            if takes.is_some() && value.is_empty() {
                parsed.values.extend(words.next().cloned().map(|word| Value { option, word }));
            } else if !value.is_empty() {
                let value = value.trim_start_matches('@');
                let shape = word.shape.rsplit_once(value).map_or("*", |_| value);
                let word = Word {
                    text: value.to_owned(),
                    shape: shape.to_owned(),
                    dynamic: word.dynamic,
                    pattern: word.pattern,
                    ..Word::default()
                };
                parsed.values.push(Value { option, word });
            }
        }
    }
    parsed
}

// === impl ShellOption ===

impl ShellOption {
    /// The option a word is, without its value.
    pub(crate) fn from_word(word: &str) -> Option<Self> {
        let (name, long) = match word.strip_prefix("--") {
            Some(name) => (name, true),
            None => (word.strip_prefix('-')?, false),
        };
        Some(Self { name: name.to_owned(), long, off: false })
    }

    /// Whether this is the option of that name: one letter, or a long name as getopt completes it.
    pub(crate) fn is(&self, wanted: &str) -> bool {
        let one_letter = wanted.chars().nth(1).is_none();
        match (self.long, one_letter) {
            (false, true) => self.name.contains(wanted),
            (false, false) | (true, true) => self.name == wanted,
            // Which abbreviations are ambiguous depends on the program; any may be meant.
            (true, false) => !self.name.is_empty() && wanted.starts_with(&self.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Parsed {
        let words: Vec<_> = line.split(' ').map(Word::literal).collect();
        let (program, rest) = words.split_first().unwrap();
        parse(&program.text, rest)
    }

    fn texts(words: &[Word]) -> Vec<&str> {
        words.iter().map(|word| word.text.as_str()).collect()
    }

    fn values(parsed: &Parsed) -> Vec<&str> {
        parsed.values.iter().map(|value| value.word.text.as_str()).collect()
    }

    #[test]
    fn letters_are_found_in_clusters_and_names_in_abbreviations() {
        let has = |line: &str, wanted: &str| parsed(line).options.iter().any(|option| option.is(wanted));
        assert!(has("rm -fr x", "r"));
        assert!(has("rm x -r", "r"));
        assert!(has("rm --recurs x", "recursive"));
        assert!(has("grep --file=x", "file"));
        assert!(has("find . -delete", "delete"));
        assert!(!has("rm -- -r", "r"));
        assert!(!has("rm --force x", "r"));
        assert!(!has("rm - x", "r"));
    }

    #[test]
    fn values_of_known_options_are_no_operands() {
        let scp = parsed("scp -i key file host:");
        assert_eq!((texts(&scp.operands), values(&scp)), (vec!["file", "host:"], vec!["key"]));
        let curl = parsed("curl -sd@file https://x --upload-file f");
        assert_eq!((texts(&curl.operands), values(&curl)), (vec!["https://x"], vec!["file", "f"]));
        assert_eq!(texts(&parsed("rm -rf -- -x y").operands), ["-x", "y"]);
    }
}
