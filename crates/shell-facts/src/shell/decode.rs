// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Decodes text as programs would: `echo cm0gLXJmIC8= | base64 -d | sh`.

use tenterhook_code_facts::{decode_base32, decode_base64, decode_hex};

use super::word::ShellWord;

/// A function that decodes text.
pub(super) type TextDecoder = Box<dyn Fn(&str) -> String>;

/// Returns the decoder that a program applies to its input; `None` for other programs.
pub(super) fn decoder(program: &str, words: &[ShellWord]) -> Option<TextDecoder> {
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.text.as_str()));
    match program {
        "base64" | "gbase64" if has(&["-d", "-D", "--decode", "-di", "-id"]) => Some(Box::new(decode_base64)),
        "openssl" if has(&["base64", "-base64", "-a"]) && has(&["-d"]) => Some(Box::new(decode_base64)),
        "xxd" if has(&["-r", "-rp", "-pr"]) => Some(Box::new(decode_hex)),
        "base32" | "gbase32" if has(&["-d", "-D", "--decode", "-di"]) => Some(Box::new(decode_base32)),
        "tr" => tr_decoder(words),
        // The compressed content is unknown.
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

/// Returns the decoder of `tr a-z n-za-m` or `tr -d x`.
fn tr_decoder(words: &[ShellWord]) -> Option<TextDecoder> {
    if words.iter().any(|word| word.dynamic || word.text.starts_with('[') || word.text.contains('\\')) {
        return None;
    }
    match words {
        [option, set] if option.is("-d") => {
            let set = tr_letters(&set.text);
            Some(Box::new(move |text| text.chars().filter(|letter| !set.contains(letter)).collect()))
        }
        [from, to] if !from.text.starts_with('-') => {
            let (from, to) = (tr_letters(&from.text), tr_letters(&to.text));
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

/// Returns the characters of a `tr` set such as `a-z` or `A-Za-z`.
fn tr_letters(set: &str) -> Vec<char> {
    const MAX_SET_LETTERS: usize = 128;
    let all: Vec<char> = set.chars().collect();
    let mut out = Vec::new();
    let mut rest = all.as_slice();
    while let Some((first, after)) = rest.split_first() {
        match after {
            ['-', last, ..] if last >= first => {
                out.extend((*first..=*last).take(MAX_SET_LETTERS));
                rest = after.get(2..).unwrap_or_default();
            }
            _ => {
                out.push(*first);
                rest = after;
            }
        }
        if out.len() > MAX_SET_LETTERS {
            break;
        }
    }
    out
}
