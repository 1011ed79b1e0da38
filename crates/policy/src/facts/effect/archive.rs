// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Archives: what is packed is read, where they are unpacked is written.

use super::super::Word;
use super::Does::{Delete, Move, Read, Write};
use super::given::{Given, Touch};
use super::{here, within};

/// Letters of `tar` that take a value.
const TAR_VALUES: &str = "bCfgHIKLNTVX";
const TAR_NAMES: &[(&str, &str)] = &[
    ("--file", "f"),
    ("--directory", "C"),
    ("--cd", "C"),
    ("--files-from", "T"),
    ("--exclude-from", "X"),
    ("--exclude", "-"),
    ("--use-compress-program", "I"),
    ("--transform", "-"),
    ("--owner", "-"),
    ("--group", "-"),
];

/// What `tar` was told.
#[derive(Default)]
struct Tar {
    mode: char,
    file: Option<Word>,
    directory: Option<Word>,
    members: Vec<Word>,
    lists: Vec<Word>,
    removes: bool,
    prints: bool,
}

pub(super) fn tar(given: &Given<'_>) -> Vec<Touch> {
    let told = told(given.words);
    let mut touches: Vec<_> = told.lists.iter().map(|list| Touch::new(Read, list)).collect();
    match told.mode {
        'c' | 'r' | 'u' => {
            touches.extend(told.members.iter().map(|member| Touch::new(Read, member).deep(true)));
            if told.removes {
                touches.extend(told.members.iter().map(|member| Touch::new(Delete, member).deep(true)));
            }
            touches.extend(told.file.iter().map(|file| Touch::new(Write, file)));
        }
        'x' => {
            touches.extend(told.file.iter().map(|file| Touch::new(Read, file)));
            if !told.prints {
                let to = told.directory.unwrap_or_else(here);
                touches.push(Touch::new(Write, &to).deep(true));
            }
        }
        _ => touches.extend(told.file.iter().map(|file| Touch::new(Read, file))),
    }
    touches
}

fn told(words: &[Word]) -> Tar {
    let mut told = Tar::default();
    let mut rest = words;
    let mut first = true;
    while let Some((word, after)) = rest.split_first() {
        rest = after;
        let text = word.text.as_str();
        let at_first = std::mem::take(&mut first);
        if text.starts_with("--") {
            let (name, attached) = text.split_once('=').map_or((text, false), |(name, _)| (name, true));
            match name {
                "--create" => told.mode = 'c',
                "--extract" | "--get" => told.mode = 'x',
                "--append" | "--update" => told.mode = 'r',
                "--remove-files" => told.removes = true,
                "--to-stdout" | "--to-command" => told.prints = true,
                _ => {}
            }
            if let Some((_, letter)) = TAR_NAMES.iter().find(|(known, _)| *known == name) {
                let value = if attached {
                    Some(word.tail(name.len() + 1))
                } else {
                    let next = rest.first().cloned();
                    rest = rest.get(1..).unwrap_or_default();
                    next
                };
                told.take(letter.chars().next().unwrap_or('-'), value);
            }
        } else if text.starts_with('-') && text.len() > 1 || at_first && is_cluster(text) {
            // In the old form, `tar xCf DIR FILE`, the values follow in the order of their letters.
            let old = !text.starts_with('-');
            for (at, letter) in text.char_indices().skip(usize::from(!old)) {
                let end = at + letter.len_utf8();
                match letter {
                    'c' | 'x' | 't' | 'r' | 'u' => told.mode = letter,
                    'O' => told.prints = true,
                    _ => {}
                }
                if TAR_VALUES.contains(letter) {
                    if !old && end < text.len() {
                        told.take(letter, Some(word.tail(end)));
                        break;
                    }
                    told.take(letter, rest.first().cloned());
                    rest = rest.get(1..).unwrap_or_default();
                }
            }
        } else {
            told.members.push(within(told.directory.as_ref(), word));
        }
    }
    told
}

impl Tar {
    fn take(&mut self, letter: char, value: Option<Word>) {
        match letter {
            'f' => self.file = value,
            'C' => self.directory = value.map(|value| within(self.directory.as_ref(), &value)),
            'T' | 'X' => self.lists.extend(value),
            _ => {}
        }
    }
}

/// Whether the first word is letters of options without a dash.
fn is_cluster(text: &str) -> bool {
    text.contains(['c', 'x', 't', 'r', 'u', 'A', 'd']) && text.chars().all(|c| c.is_ascii_alphabetic())
}

pub(super) fn zip(given: &Given<'_>) -> Vec<Touch> {
    let Some((archive, members)) = given.operands.split_first() else { return Vec::new() };
    let deep = given.has(&["r", "recurse-paths"]);
    let mut touches: Vec<_> = members.iter().map(|member| Touch::new(Read, member).deep(deep)).collect();
    if given.has(&["m", "move"]) {
        touches.extend(members.iter().map(|member| Touch::new(Delete, member).deep(deep)));
    }
    touches.push(Touch::new(Write, archive));
    touches
}

pub(super) fn unzip(given: &Given<'_>) -> Vec<Touch> {
    let mut touches: Vec<_> = given.operands.first().map(|file| Touch::new(Read, file)).into_iter().collect();
    if !given.has(&["l", "p", "t", "Z", "v"]) && !touches.is_empty() {
        let to = given.value(&["d"]).cloned().unwrap_or_else(here);
        touches.push(Touch::new(Write, &to).deep(true));
    }
    touches
}

pub(super) fn seven_zip(given: &Given<'_>) -> Vec<Touch> {
    let [verb, archive, members @ ..] = given.operands.as_slice() else { return Vec::new() };
    let mut touches = Vec::new();
    match verb.text.as_str() {
        "a" | "u" => {
            touches.extend(members.iter().map(|member| Touch::new(Read, member).deep(true)));
            if given.words.iter().any(|word| word.is("-sdel") || word.is("-df")) {
                touches.extend(members.iter().map(|member| Touch::new(Delete, member).deep(true)));
            }
            touches.push(Touch::new(Write, archive));
        }
        "x" | "e" => {
            touches.push(Touch::new(Read, archive));
            let out = given.words.iter().find(|word| word.text.starts_with("-o"));
            // `unrar x ARCHIVE DIRECTORY/`
            let named =
                members.last().filter(|word| given.program.ends_with("rar") && word.text.ends_with('/'));
            let to = match (out, named) {
                (Some(word), _) => word.tail(2),
                (None, Some(directory)) => (**directory).clone(),
                (None, None) => here(),
            };
            touches.push(Touch::new(Write, &to).deep(true).inner(out.is_some()));
        }
        "d" => touches.push(Touch::new(Write, archive)),
        _ => touches.push(Touch::new(Read, archive)),
    }
    touches
}

/// `gzip x` leaves `x.gz` in its place.
pub(super) fn gzip(given: &Given<'_>) -> Vec<Touch> {
    let keeps = given.program.contains("zstd") && !given.has(&["rm"])
        || given.has(&["c", "k", "t", "l", "stdout", "keep", "test", "list"]);
    let does = if keeps { Read } else { Move };
    given.operands.iter().map(|word| Touch::new(does, word).deep(given.deep)).collect()
}
