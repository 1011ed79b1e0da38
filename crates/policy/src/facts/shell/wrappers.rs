// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Programs that run other programs.

mod table;

use super::super::known::known;
use super::word::Word;
use table::{WRAPPERS, Wrapper};

/// What a wrapper would run.
#[derive(Debug, Default)]
pub(super) struct Wrapped<'a> {
    /// The words of the command.
    pub(super) inner: &'a [Word],
    /// Texts for a shell.
    pub(super) texts: Vec<Word>,
    /// Where it goes first.
    pub(super) goes: Option<Word>,
    /// Whether it starts a shell on standard input.
    pub(super) shell: bool,
    /// Whether the words are one text for a shell.
    pub(super) joins: bool,
}

/// Whether the program runs other programs, and so does nothing with their operands itself.
pub(super) fn is_wrapper(program: &str) -> bool {
    wrapper(program).is_some()
}

fn wrapper(program: &str) -> Option<&'static Wrapper> {
    if !known!(WRAPPERS, [name]).may_have(program) {
        return None;
    }
    WRAPPERS.iter().find(|wrapper| wrapper.name == program)
}

/// What a wrapper would run; `None` if the program is no wrapper.
pub(super) fn unwrap<'a>(program: &str, words: &'a [Word]) -> Option<Wrapped<'a>> {
    let wrapper = wrapper(program)?;
    let mut rest = words;
    let mut operands = wrapper.operands;
    let mut options_are_over = false;
    let mut verb_is_due = !wrapper.verbs.is_empty();
    let mut wrapped = Wrapped { joins: wrapper.joins, ..Wrapped::default() };
    while let Some((word, after)) = rest.split_first() {
        let text = word.text.as_str();
        // `command -v` looks a program up; it runs nothing.
        if program == "command" && matches!(text, "-v" | "-V") {
            return Some(wrapped);
        }
        if !options_are_over && text.len() > 1 && text.starts_with('-') {
            options_are_over = text == "--";
            rest = wrapper.option(word, after, &mut wrapped);
        } else if wrapper.assigns && (is_assignment(text) || text == "-") {
            rest = after;
        } else if verb_is_due {
            if !wrapper.verbs.contains(&text) {
                return Some(wrapped);
            }
            verb_is_due = false;
            rest = after;
        } else if operands > 0 {
            operands -= 1;
            rest = after;
            options_are_over = false;
        } else {
            wrapped.inner = rest;
            return Some(wrapped);
        }
    }
    wrapped.shell = wrapper.shell && wrapped.texts.is_empty();
    Some(wrapped)
}

impl Wrapper {
    /// Takes one option, with its value; returns what is left.
    fn option<'a>(&self, word: &Word, after: &'a [Word], wrapped: &mut Wrapped<'_>) -> &'a [Word] {
        let next = || (after.first().cloned(), after.get(1..).unwrap_or_default());
        let (name, (value, rest)) = if let Some(long) = word.text.strip_prefix("--") {
            match long.split_once('=') {
                Some((name, _)) => (name, (Some(word.tail(name.len() + 3)), after)),
                None if self.long_values.contains(&long) || self.texts.contains(&long) => (long, next()),
                None => return after,
            }
        } else {
            let letters = word.text.char_indices().skip(1);
            let mut letters = letters.filter(|(_, letter)| self.values.contains(*letter));
            let Some((at, letter)) = letters.next() else { return after };
            let end = at + letter.len_utf8();
            let name = word.text.get(at..end).unwrap_or_default();
            if end < word.text.len() { (name, (Some(word.tail(end)), after)) } else { (name, next()) }
        };
        if self.texts.contains(&name) {
            wrapped.texts.extend(value);
        } else if self.goes.contains(&name) {
            wrapped.goes = value;
        }
        rest
    }
}

fn is_assignment(text: &str) -> bool {
    text.split_once('=')
        .is_some_and(|(name, _)| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<Word> {
        line.split(' ').map(Word::literal).collect()
    }

    #[test]
    fn wrappers_are_taken_off() {
        let inner = |line: &str| {
            let words = words(line);
            let (program, rest) = words.split_first().unwrap();
            unwrap(&program.text, rest)
                .and_then(|wrapped| wrapped.inner.first().map(|word| word.text.clone()))
        };
        for line in [
            "sudo -u root rm",
            "sudo -uroot -E A=1 rm",
            "env -i -u X PATH=/x rm",
            "env - PATH=/x rm",
            "timeout -k 5 10 rm",
            "nice -n 10 rm",
            "nohup -- rm",
            "xargs -0 -I {} rm",
            "uv run rm",
            "direnv exec . rm",
            "runuser -u bob -- rm",
        ] {
            assert_eq!(inner(line).as_deref(), Some("rm"), "{line}");
        }
        for line in ["command -v rm", "ls rm", "uv pip rm", "su rm"] {
            assert_eq!(inner(line), None, "{line}");
        }
    }

    #[test]
    fn a_text_may_stick_to_its_option() {
        for line in ["su -cx", "su root --command=x", "script -qc x", "su - root -c x", "nix-shell --run x"] {
            let words = words(line);
            let (program, rest) = words.split_first().unwrap();
            let texts = unwrap(&program.text, rest).unwrap().texts;
            assert_eq!(texts.iter().map(|word| word.text.as_str()).collect::<Vec<_>>(), ["x"], "{line}");
        }
    }
}
