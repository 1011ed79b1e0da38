// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tokens are made when the tests run, so that nobody who scans this repository finds one.

mod context;

use super::check::{Check, checksum};
use super::shape::{Letters, Part};
use super::table::{ROWS, Row, Shape};
use super::*;

/// Numbers that look like chance and are the same each time.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    pub(super) fn text(&mut self, alphabet: &str, length: usize) -> String {
        let letters: Vec<_> = alphabet.chars().collect();
        (0..length).map(|_| letters[self.roll(letters.len())]).collect()
    }
}

pub(super) const BASE62: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

fn made_of(letters: Letters) -> String {
    (0..=127u8).filter(|byte| letters.has(*byte) && *byte != b'%').map(char::from).collect()
}

/// Something that fits the parts.
fn sample(parts: &[Part], check: Check, dice: &mut Dice) -> String {
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Text(fixed) => text.push_str(fixed),
            Part::Run(letters, least, most) => {
                let length = least + dice.roll((most - least).min(20) + 1);
                let run = dice.text(&made_of(*letters), length);
                text.push_str(&run);
            }
        }
    }
    if check == Check::Checksum {
        let body = text.get(..text.len() - 6).unwrap().to_owned();
        text = format!("{body}{}", String::from_utf8_lossy(&checksum(body.as_bytes())));
    }
    text
}

pub(super) fn found(text: &str) -> Vec<(&'static str, &str)> {
    secrets(text).into_iter().map(|secret| (secret.kind, text.get(secret.span).unwrap())).collect()
}

fn formed(row: &Row) -> Option<(&'static [Part], Check, bool)> {
    match row.shape {
        Shape::Token(parts, check) => Some((parts, check, true)),
        Shape::Value(parts, check) => Some((parts, check, false)),
        Shape::Context(_) | Shape::Guess(_) => None,
    }
}

#[test]
fn every_row_finds_its_tokens_exactly() {
    let mut dice = Dice(1);
    for row in ROWS {
        let Some((parts, check, whole)) = formed(row) else { continue };
        for start in row.starts {
            for around in [("", ""), ("x = \"", "\";\n"), ("é ", " é"), ("say \\n", "\\n"), ("?a=", "&b=c")]
            {
                let rest = loop {
                    let rest = sample(parts, check, &mut dice);
                    if check.passes(rest.as_bytes()) && !super::check::stands_in(rest.as_bytes()) {
                        break rest;
                    }
                };
                let text = format!("{}{start}{rest}{}", around.0, around.1);
                let expected = if whole { format!("{start}{rest}") } else { rest.clone() };
                assert_eq!(found(&text), [(row.kind, expected.as_str())], "{} in {text}", row.about);
            }
        }
    }
}

#[test]
fn no_row_finds_what_only_looks_like_its_tokens() {
    let mut dice = Dice(2);
    for row in ROWS {
        let Some((parts, check, _)) = formed(row) else { continue };
        for start in row.starts {
            let token = sample(parts, check, &mut dice);
            let last = parts.iter().rev().find_map(|part| match part {
                Part::Run(letters, least, most) => Some((*letters, *least, *most)),
                Part::Text(_) => None,
            });
            let (letters, least, most) = last.unwrap();
            let fill: String =
                token.chars().map(|c| if c.is_ascii_alphanumeric() { 'x' } else { c }).collect();
            let same: String =
                token.chars().map(|c| if c.is_ascii_alphanumeric() { 'A' } else { c }).collect();
            let misses = [
                format!("{start}{fill}"),
                format!("{start}{same}"),
                format!("{start}{}", token.get(..token.len().min(least.min(6))).unwrap()),
                format!("{start}<your-token-here>"),
                format!("{start}${{TOKEN}}"),
                format!("{start}{token}{}", dice.text(&made_of(letters), most + 1)),
            ];
            for text in misses {
                assert_eq!(row.find(text.as_bytes(), 0..start.len(), &mut 0), None, "{}: {text}", row.about);
            }
            // In the middle of a word nothing begins, unless it begins with a sign.
            let inside = format!("W{start}{token}");
            let is_letter = start.starts_with(|c: char| c.is_ascii_alphanumeric());
            assert_eq!(
                row.find(inside.as_bytes(), 1..start.len() + 1, &mut 0).is_none(),
                is_letter,
                "{inside}"
            );
        }
    }
}

#[test]
fn a_wrong_checksum_is_no_token() {
    let mut dice = Dice(3);
    for start in ["ghp_", "npm_"] {
        let body = dice.text(BASE62, 30);
        let good = String::from_utf8_lossy(&checksum(body.as_bytes())).into_owned();
        assert_eq!(secrets(&format!("{start}{body}{good}")).len(), 1);
        assert_eq!(secrets(&format!("{start}{body}000000")), []);
        assert_eq!(secrets(&format!("{start}{}", dice.text(BASE62, 36))), []);
    }
    // As published with the description of the format.
    assert_eq!(&checksum(b"zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ"), b"0mLq17");
}

#[test]
fn spans_are_in_bounds_in_order_and_apart() {
    let mut dice = Dice(4);
    let pieces: Vec<String> =
        ROWS.iter().flat_map(|row| row.starts).map(|start| (*start).to_owned()).collect();
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
            match dice.roll(4) {
                0 => text.push_str(more[dice.roll(more.len())]),
                1 => {
                    let length = dice.roll(90);
                    text.push_str(&dice.text(BASE62, length));
                }
                _ => text.push_str(&pieces[dice.roll(pieces.len())]),
            }
        }
        let mut last = 0;
        for secret in secrets(&text) {
            assert!(secret.span.start >= last && secret.span.start < secret.span.end, "{text}");
            assert!(text.get(secret.span.clone()).is_some(), "{text}");
            last = secret.span.end;
        }
    }
}

#[test]
fn kinds_are_told_once_and_are_well_formed() {
    let kinds: Vec<_> = kinds().collect();
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
    let pieces: Vec<_> = ROWS.iter().flat_map(|row| row.starts).collect();
    for piece in pieces {
        for glue in ["", " ", ".", "-", "A", "=", "\""] {
            let text = format!("{piece}{glue}").repeat(3_000 / (piece.len() + glue.len()));
            secrets(&text);
        }
    }
}
