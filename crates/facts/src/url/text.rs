// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds addresses inside longer text.

use super::UrlFact;
use super::parse::parse_readings;

const URL_STARTS: &[&str] = &["http:", "https:", "ftp:", "ws:", "wss:"];
/// Maximum number of addresses that are collected from one text.
const MAX_URLS_PER_TEXT: usize = 256;
/// Maximum length of an address in bytes. Longer addresses are truncated; the host comes first, so it is kept.
const MAX_URL_BYTES: usize = 2048;

/// Returns every web address in a string, without duplicates.
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
        if !URL_STARTS.iter().any(|start| known(start)) {
            rest = after;
            continue;
        }
        let window = whole.get(..whole.floor_char_boundary(MAX_URL_BYTES)).unwrap_or_default();
        let (found, _) = window.split_at(window.find(ends_address).unwrap_or(window.len()));
        for fact in
            parse_readings(found.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '}', '\'']))
        {
            if !facts.contains(&fact) {
                facts.push(fact);
            }
        }
        if facts.len() >= MAX_URLS_PER_TEXT {
            break;
        }
        rest = whole.get(found.len()..).unwrap_or_default();
    }
    facts
}

fn ends_address(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '"' | '<' | '>' | '`' | '|' | '^')
}
