// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Addresses inside a longer text.

use super::UrlFact;
use super::read::readings;

const STARTS: &[&str] = &["http:", "https:", "ftp:", "ws:", "wss:"];
/// More addresses than anybody means.
const MOST: usize = 256;
/// Longer ones are cut: the host comes first.
const LONGEST: usize = 2048;

/// Every web address in a text, each once.
pub(crate) fn urls_in(text: &str) -> Vec<UrlFact> {
    let mut facts: Vec<UrlFact> = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(':') {
        if !after.starts_with(['/', '\\']) {
            rest = after;
            continue;
        }
        let letters = before.bytes().rev().take_while(u8::is_ascii_alphabetic).count();
        let whole = rest.get(before.len() - letters..).unwrap_or_default();
        let known =
            |start: &str| whole.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start));
        if !STARTS.iter().any(|start| known(start)) {
            rest = after;
            continue;
        }
        let window = whole.get(..whole.floor_char_boundary(LONGEST)).unwrap_or_default();
        let (found, _) = window.split_at(window.find(ends_address).unwrap_or(window.len()));
        for fact in readings(found.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '}', '\''])) {
            if !facts.contains(&fact) {
                facts.push(fact);
            }
        }
        if facts.len() >= MOST {
            break;
        }
        rest = whole.get(found.len()..).unwrap_or_default();
    }
    facts
}

fn ends_address(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '"' | '<' | '>' | '`' | '|' | '^')
}
