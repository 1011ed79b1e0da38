// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Texts that are written in another alphabet: `echo cm0gLXJmIC8= | base64 -d | sh`.

use tenterhook_code_facts::{decode_base32, decode_base64, decode_hex};

use super::word::Word;

/// What turns a text into another.
pub(super) type Decoder = Box<dyn Fn(&str) -> String>;

/// What a program turns a text into, if it is one that decodes.
pub(super) fn decoder(program: &str, words: &[Word]) -> Option<Decoder> {
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.text.as_str()));
    match program {
        "base64" | "gbase64" if has(&["-d", "-D", "--decode", "-di", "-id"]) => Some(Box::new(decode_base64)),
        "openssl" if has(&["base64", "-base64", "-a"]) && has(&["-d"]) => Some(Box::new(decode_base64)),
        "xxd" if has(&["-r", "-rp", "-pr"]) => Some(Box::new(decode_hex)),
        "base32" | "gbase32" if has(&["-d", "-D", "--decode", "-di"]) => Some(Box::new(decode_base32)),
        "tr" => translation(words),
        // What they hold cannot be seen.
        "gunzip" | "zcat" | "gzcat" | "xzcat" | "unxz" | "zstdcat" | "bzcat" | "bunzip2" => {
            Some(Box::new(|_| String::new()))
        }
        "gzip" | "xz" | "zstd" | "bzip2" if has(&["-d", "-dc", "-cd", "--decompress"]) => {
            Some(Box::new(|_| String::new()))
        }
        "rev" => Some(Box::new(|text: &str| {
            text.lines().map(|line| line.chars().rev().collect::<String>() + "\n").collect()
        })),
        _ => None,
    }
}

/// `tr a-z n-za-m`, `tr -d x`
fn translation(words: &[Word]) -> Option<Decoder> {
    if words.iter().any(|word| word.dynamic || word.text.starts_with('[') || word.text.contains('\\')) {
        return None;
    }
    match words {
        [option, set] if option.is("-d") => {
            let set = letters(&set.text);
            Some(Box::new(move |text| text.chars().filter(|letter| !set.contains(letter)).collect()))
        }
        [from, to] if !from.text.starts_with('-') => {
            let (from, to) = (letters(&from.text), letters(&to.text));
            Some(Box::new(move |text| {
                let turned = |letter: char| {
                    let at = from.iter().position(|known| *known == letter);
                    at.and_then(|at| to.get(at).or(to.last())).copied().unwrap_or(letter)
                };
                text.chars().map(turned).collect()
            }))
        }
        _ => None,
    }
}

/// The letters of a set of `tr`: `a-z`, `A-Za-z`.
fn letters(set: &str) -> Vec<char> {
    const MOST: usize = 128;
    let all: Vec<char> = set.chars().collect();
    let mut out = Vec::new();
    let mut rest = all.as_slice();
    while let Some((first, after)) = rest.split_first() {
        match after {
            ['-', last, ..] if last >= first => {
                out.extend((*first..=*last).take(MOST));
                rest = after.get(2..).unwrap_or_default();
            }
            _ => {
                out.push(*first);
                rest = after;
            }
        }
        if out.len() > MOST {
            break;
        }
    }
    out
}
