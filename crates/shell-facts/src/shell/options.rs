// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Splits the words of a command into options, values and operands.

use serde::Serialize;
use tenterhook_programs::{Location, ParsedArgs, ParsedOption, Role};

use super::super::described_command::DescribedCommand;
use super::super::description;
use super::word::ShellWord;

/// An option word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ShellOption {
    /// Name without dashes: a long name, or a cluster of letters.
    pub name: String,
    /// Whether the option has two dashes.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub long: bool,
    /// Whether the value turns the option off, as in `--dry-run=false`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub off: bool,
}

/// The words of a command as options, values and operands.
#[derive(Debug, Default)]
pub(super) struct ShellArgs {
    pub(super) options: Vec<ShellOption>,
    pub(super) operands: Vec<ShellOperand>,
    pub(super) values: Vec<OptionValue>,
    /// Whether an unknown word may be an option.
    pub(super) open: bool,
}

/// A word that is neither an option nor its value.
#[derive(Debug)]
pub(super) struct ShellOperand {
    pub(super) word: ShellWord,
    pub(super) role: Role,
}

/// The value of an option.
#[derive(Debug)]
pub(super) struct OptionValue {
    pub(super) word: ShellWord,
    pub(super) role: Role,
}

/// Options of undescribed programs that usually take a key or a settings file as the next word.
const SETTING_OPTIONS: &[&str] = &[
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

/// Whether the value of an option means that the option is not in effect.
fn turns_off(value: &str) -> bool {
    ["none", "false", "no", "off", "0", "f", "n", "never", ""]
        .iter()
        .any(|off| value.eq_ignore_ascii_case(off))
}

/// Splits words by the description of the program, or by common conventions.
pub(super) fn parse(described: Option<&DescribedCommand<'_>>, words: &[ShellWord]) -> ShellArgs {
    match described {
        Some(described) => parse_described(words, &described.parsed),
        None => parse_undescribed(words, true),
    }
}

/// Splits words that were parsed with a description. Names of sub-commands count as operands. The words of commands
/// that run elsewhere also count as operands, except their options.
fn parse_described(words: &[ShellWord], described: &ParsedArgs<'_, '_>) -> ShellArgs {
    if described.optionless {
        return parse_undescribed(words, false);
    }
    let mut parsed = ShellArgs { open: described.open, ..ShellArgs::default() };
    let mut options = described.options.iter().peekable();
    let mut operands = described.operands.iter().peekable();
    let mut inner = described.inner.iter().peekable();
    let mut options_are_over = false;
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if let Some(command) = inner.next_if(|command| command.start == at) {
            // A command that runs locally is read separately.
            let is_own =
                command.location != Location::Here || matches!(described.escape, "find" | "parallel");
            let inner = words.get(at..command.end).filter(|_| is_own).unwrap_or_default();
            parsed.operands.extend(parse_undescribed(inner, false).operands);
            at = command.end;
            continue;
        }
        let written = at;
        at += 1;
        if let Some(operand) = operands.next_if(|operand| operand.part.word == written) {
            // `python manage.py flush --noinput`: options of a script count too.
            if options_are_over || word.may_be_option || word.text.len() < 2 || !word.text.starts_with('-') {
                parsed.operands.push(ShellOperand { word: word.clone(), role: operand.role });
            } else {
                let more = parse_undescribed(std::slice::from_ref(word), false);
                parsed.options.extend(more.options);
            }
            continue;
        }
        let mut last: Option<&ParsedOption<'_, '_>> = None;
        while let Some(option) = options.next_if(|option| option.written.word == written) {
            if let Some(part) = option.value {
                at = at.max(part.word + 1);
                parsed
                    .values
                    .push(OptionValue { word: description::extract_word(words, part), role: option.role });
            }
            last = Some(option);
        }
        match last {
            Some(option) => parsed.push_option(word, option),
            None if word.is("--") && !options_are_over => options_are_over = true,
            None => parsed.operands.push(ShellOperand { word: word.clone(), role: Role::Text }),
        }
    }
    parsed
}

/// Splits words without a description. With `guess`, an option that names a key or a settings file in most programs
/// takes the next word as its value.
fn parse_undescribed(words: &[ShellWord], guess: bool) -> ShellArgs {
    let mut parsed = ShellArgs::default();
    let mut words = words.iter();
    let mut options_are_over = false;
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        if options_are_over || !text.starts_with('-') || text == "-" {
            parsed.open |= word.may_be_option && !options_are_over;
            parsed.operands.push(ShellOperand { word: word.clone(), role: Role::Text });
            continue;
        }
        if word.is("--") {
            options_are_over = true;
            continue;
        }
        let off = text.split_once('=').is_some_and(|(_, value)| turns_off(value));
        let (name, long, takes) = if let Some(long) = text.strip_prefix("--") {
            let name = long.split('=').next().unwrap_or(long);
            (name, true, !long.contains('=') && SETTING_OPTIONS.contains(&name))
        } else {
            let cluster = text.trim_start_matches('-');
            let key = cluster.find('i').filter(|_| guess).map(|at| at + 1);
            let name = key.and_then(|end| cluster.get(..end)).unwrap_or(cluster);
            if name.len() < cluster.len() {
                let word = word.skip_bytes(text.len() - cluster.len() + name.len());
                parsed.values.push(OptionValue { word, role: Role::Key });
            }
            (name, false, key == Some(cluster.len()))
        };
        parsed.options.push(ShellOption { name: name.to_owned(), long, off });
        if takes && guess {
            parsed
                .values
                .extend(words.next().map(|word| OptionValue { word: word.clone(), role: Role::Key }));
        }
    }
    parsed
}

// === impl ShellArgs ===

impl ShellArgs {
    /// Adds an option word; `last` is the last option in the word.
    fn push_option(&mut self, word: &ShellWord, last: &ParsedOption<'_, '_>) {
        let text = word.text.as_str();
        // Rules match the whole word in `if=FILE`, and `chattr +i` is not `chattr -i`.
        if text.starts_with('+') || !text.starts_with('-') && text.contains('=') {
            self.operands.push(ShellOperand { word: word.clone(), role: last.role });
            return;
        }
        let long = text.starts_with("--");
        let end = last.written.offset.saturating_add(last.written.text.len());
        let name = text.get(..end).unwrap_or(text).trim_start_matches('-');
        let off = last.off || text.split_once('=').is_some_and(|(_, value)| turns_off(value));
        self.options.push(ShellOption { name: name.to_owned(), long, off });
    }
}

// === impl ShellOption ===

impl ShellOption {
    /// Parses a word as an option without a value.
    pub fn from_word(word: &str) -> Option<Self> {
        let (name, long) = match word.strip_prefix("--") {
            Some(name) => (name, true),
            None => (word.strip_prefix('-')?, false),
        };
        Some(Self { name: name.to_owned(), long, off: false })
    }

    /// Whether this is the named option: a single letter, or a long name that getopt would complete to it.
    pub fn is(&self, name: &str) -> bool {
        let one_letter = name.chars().nth(1).is_none();
        match (self.long, one_letter) {
            (false, true) => self.name.contains(name),
            (false, false) | (true, true) => self.name == name,
            // Which abbreviations are ambiguous depends on the program, so every abbreviation is accepted.
            (true, false) => !self.name.is_empty() && name.starts_with(&self.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> ShellArgs {
        let words: Vec<_> = line.split(' ').map(ShellWord::literal).collect();
        let (program, rest) = words.split_first().unwrap();
        let described =
            description::describe(&program.text).map(|program| DescribedCommand::new(program, rest));
        parse(described.as_ref(), rest)
    }

    fn texts(words: &[ShellOperand]) -> Vec<&str> {
        words.iter().map(|operand| operand.word.text.as_str()).collect()
    }

    fn values(parsed: &ShellArgs) -> Vec<&str> {
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

    #[test]
    fn options_take_values_as_the_program_is_described() {
        let texts = |line: &str| texts(&parsed(line).operands).join(" ");
        let curl = "curl --quote x.txt --noproxy secret.txt --pinnedpubkey key.pem https://a.test";
        assert_eq!(texts(curl), "https://a.test");
        assert_eq!(texts("docker run -i alpine rm -rf x"), "run alpine rm x");
        assert_eq!(texts("tar xzf a.tgz -C /tmp b"), "b");
        assert_eq!(texts("find . -name x -newer y"), ".");
        assert_eq!(texts("dd if=a of=b"), "if=a of=b");
        assert_eq!(texts("chattr +i a"), "+i a");
        assert_eq!(texts("unknown-program -i key a"), "a");
    }

    #[test]
    fn the_options_of_an_inner_command_are_not_those_of_the_outer_one() {
        let options = |line: &str| {
            let parsed = parsed(line);
            parsed.options.iter().map(|option| option.name.clone()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(options("ssh -C a.test mysql -uUSER"), "C");
        assert_eq!(options("sudo -u root rm -rf x"), "u");
        assert_eq!(options("python manage.py flush --noinput"), "noinput");
        assert_eq!(options("git unknown -f"), "f");
        assert_eq!(options("perl -0777ne x"), "0777ne");
    }
}
