// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tests of the scanner. Tokens are generated while the tests run, so that secret scanners find none in this
//! repository.

mod context;

use super::check::{TokenCheck, checksum};
use super::shape::{TokenAlphabet, TokenPart};
use super::table::{FormShape, TOKEN_FORMS, TokenForm};
use super::*;

/// A deterministic random number generator.
pub(super) struct SeededRandom(u64);

impl SeededRandom {
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    pub(super) fn text(&mut self, alphabet: &str, length: usize) -> String {
        let letters: Vec<_> = alphabet.chars().collect();
        (0..length).map(|_| letters[self.below(letters.len())]).collect()
    }
}

pub(super) const BASE62: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

fn characters_of(alphabet: TokenAlphabet) -> String {
    (0..=127u8).filter(|byte| alphabet.contains(*byte) && *byte != b'%').map(char::from).collect()
}

/// Creates a random string that matches the parts.
fn sample_token(parts: &[TokenPart], check: TokenCheck, random: &mut SeededRandom) -> String {
    let mut text = String::new();
    for part in parts {
        match part {
            TokenPart::Text(fixed) => text.push_str(fixed),
            TokenPart::Run(alphabet, min, max) => {
                let length = min + random.below((max - min).min(20) + 1);
                let run = random.text(&characters_of(*alphabet), length);
                text.push_str(&run);
            }
        }
    }
    if check == TokenCheck::Checksum {
        let body = text.get(..text.len() - 6).unwrap().to_owned();
        text = format!("{body}{}", String::from_utf8_lossy(&checksum(body.as_bytes())));
    }
    text
}

pub(super) fn found(text: &str) -> Vec<(&'static str, &str)> {
    find_secrets(text).into_iter().map(|secret| (secret.kind, text.get(secret.span).unwrap())).collect()
}

fn token_form(form: &TokenForm) -> Option<(&'static [TokenPart], TokenCheck, bool)> {
    match form.shape {
        FormShape::Token(parts, check) => Some((parts, check, true)),
        FormShape::Value(parts, check) => Some((parts, check, false)),
        FormShape::Context(_) | FormShape::Guess(_) => None,
    }
}

#[test]
fn every_row_finds_its_tokens_exactly() {
    let mut random = SeededRandom(1);
    for form in TOKEN_FORMS {
        let Some((parts, check, whole)) = token_form(form) else { continue };
        for start in form.starts {
            for around in [("", ""), ("x = \"", "\";\n"), ("é ", " é"), ("say \\n", "\\n"), ("?a=", "&b=c")]
            {
                let rest = loop {
                    let rest = sample_token(parts, check, &mut random);
                    if check.passes(rest.as_bytes()) && !super::check::is_placeholder(rest.as_bytes()) {
                        break rest;
                    }
                };
                let text = format!("{}{start}{rest}{}", around.0, around.1);
                let expected = if whole { format!("{start}{rest}") } else { rest.clone() };
                assert_eq!(found(&text), [(form.kind, expected.as_str())], "{} in {text}", form.about);
            }
        }
    }
}

#[test]
fn no_row_finds_what_only_looks_like_its_tokens() {
    let mut random = SeededRandom(2);
    for form in TOKEN_FORMS {
        let Some((parts, check, _)) = token_form(form) else { continue };
        for start in form.starts {
            let token = sample_token(parts, check, &mut random);
            let last = parts.iter().rev().find_map(|part| match part {
                TokenPart::Run(alphabet, min, max) => Some((*alphabet, *min, *max)),
                TokenPart::Text(_) => None,
            });
            let (alphabet, min, max) = last.unwrap();
            let fill: String =
                token.chars().map(|c| if c.is_ascii_alphanumeric() { 'x' } else { c }).collect();
            let same: String =
                token.chars().map(|c| if c.is_ascii_alphanumeric() { 'A' } else { c }).collect();
            let misses = [
                format!("{start}{fill}"),
                format!("{start}{same}"),
                format!("{start}{}", token.get(..token.len().min(min.min(6))).unwrap()),
                format!("{start}<your-token-here>"),
                format!("{start}${{TOKEN}}"),
                format!("{start}{token}{}", random.text(&characters_of(alphabet), max + 1)),
            ];
            for text in misses {
                assert_eq!(
                    form.find(text.as_bytes(), 0..start.len(), &mut 0),
                    None,
                    "{}: {text}",
                    form.about
                );
            }
            // No token begins in the middle of a word, unless it begins with a punctuation character.
            let inside = format!("W{start}{token}");
            let is_letter = start.starts_with(|c: char| c.is_ascii_alphanumeric());
            assert_eq!(
                form.find(inside.as_bytes(), 1..start.len() + 1, &mut 0).is_none(),
                is_letter,
                "{inside}"
            );
        }
    }
}

#[test]
fn a_token_with_a_wrong_checksum_is_not_found() {
    let mut random = SeededRandom(3);
    for start in ["ghp_", "npm_"] {
        let body = random.text(BASE62, 30);
        let good = String::from_utf8_lossy(&checksum(body.as_bytes())).into_owned();
        assert_eq!(find_secrets(&format!("{start}{body}{good}")).len(), 1);
        assert_eq!(find_secrets(&format!("{start}{body}000000")), []);
        assert_eq!(find_secrets(&format!("{start}{}", random.text(BASE62, 36))), []);
    }
    // The example was published together with the description of the format.
    assert_eq!(&checksum(b"zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ"), b"0mLq17");
}

#[test]
fn spans_are_in_bounds_in_order_and_apart() {
    let mut random = SeededRandom(4);
    let pieces: Vec<String> =
        TOKEN_FORMS.iter().flat_map(|form| form.starts).map(|start| (*start).to_owned()).collect();
    let more = [
        "é",
        "\u{202e}",
        " ",
        "=",
        ": ",
        "\"",
        "'",
        "@",
        ".",
        "-----",
        "PRIVATE KEY-----",
        "\n",
        "\\",
        "%",
        "x",
    ];
    for _ in 0..4000 {
        let mut text = String::new();
        for _ in 0..12 {
            match random.below(4) {
                0 => text.push_str(more[random.below(more.len())]),
                1 => {
                    let length = random.below(90);
                    text.push_str(&random.text(BASE62, length));
                }
                _ => text.push_str(&pieces[random.below(pieces.len())]),
            }
        }
        let mut last = 0;
        for secret in find_secrets(&text) {
            assert!(secret.span.start >= last && secret.span.start < secret.span.end, "{text}");
            assert!(text.get(secret.span.clone()).is_some(), "{text}");
            last = secret.span.end;
        }
    }
}

#[test]
fn kinds_are_unique_and_well_formed() {
    let kinds: Vec<_> = secret_kinds().collect();
    let mut names: Vec<_> = kinds.iter().map(|(kind, _)| *kind).collect();
    assert!(names.iter().all(|kind| kind.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')));
    assert!(kinds.iter().all(|(_, about)| !about.is_empty()));
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    assert!(count > 50);
}

#[test]
fn hostile_texts_take_no_longer() {
    let pieces: Vec<_> = TOKEN_FORMS.iter().flat_map(|form| form.starts).collect();
    for piece in pieces {
        for glue in ["", " ", ".", "-", "A", "=", "\""] {
            let text = format!("{piece}{glue}").repeat(3_000 / (piece.len() + glue.len()));
            find_secrets(&text);
        }
    }
}
