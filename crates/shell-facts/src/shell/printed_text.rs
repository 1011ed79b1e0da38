// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Determines output of commands that is known from their words and standard input.

use std::sync::Arc;

use super::decode::decoder;
use super::expand::unescape;
use super::scope::ShellScope;
use super::word::ShellWord;

/// Maximum length of known `printf` output; the rest is cut.
const MAX_PRINTED_BYTES: usize = 64 * 1024;

/// Returns the texts that a command is known to print or pass on.
pub(super) fn printed_texts(program: &str, words: &[ShellWord], scope: &ShellScope) -> Vec<Arc<str>> {
    match program {
        "echo" => {
            let texts = words
                .iter()
                .skip_while(|word| matches!(word.text.as_str(), "-e" | "-n" | "-ne" | "-en" | "-E"));
            vec![unescape(&texts.map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")).into()]
        }
        "printf" if words.first().is_some_and(|word| word.is("-v")) => Vec::new(),
        "printf" => match format_printf(words) {
            Some(text) => vec![text.into()],
            None => words
                .iter()
                .filter(|word| !matches!(word.text.trim_end_matches("\\n"), "%s" | "%b" | "--"))
                .map(|word| unescape(&word.text).into())
                .collect(),
        },
        _ => match decoder(program, words) {
            Some(decode) => scope.stdin.texts.iter().map(|text| decode(text).into()).collect(),
            None => match printed_literal(program, words) {
                Some(text) => vec![text.into()],
                None => scope.stdin.texts.clone(),
            },
        },
    }
}

/// Returns the output of a filter of `jq` without input that is one string, or several that are added: `"a" + "b"`.
fn printed_literal(program: &str, words: &[ShellWord]) -> Option<String> {
    let has_n = |letters: &str| letters.contains('n') && letters.chars().all(|c| c.is_ascii_alphabetic());
    let has_no_input =
        words.iter().any(|word| word.is("--null-input") || word.text.strip_prefix('-').is_some_and(has_n));
    if !matches!(program, "jq" | "gojq" | "jaq" | "yq") || !has_no_input {
        return None;
    }
    let filter = words.iter().find(|word| !word.text.starts_with('-'))?;
    let mut text = String::new();
    let mut rest = filter.text.trim();
    loop {
        let (part, after) = rest.strip_prefix('"')?.split_once('"')?;
        text.push_str(part);
        let after = after.trim_start();
        if after.is_empty() {
            return Some(unescape(&text));
        }
        rest = after.strip_prefix('+')?.trim_start();
    }
}

/// Returns the output of `printf`; `None` if a word is unknown or the format has other conversions.
fn format_printf(words: &[ShellWord]) -> Option<String> {
    let words = words.strip_prefix(&[ShellWord::literal("--")]).unwrap_or(words);
    let (format, mut values) = words.split_first()?;
    if words.iter().any(|word| word.dynamic || word.pattern) {
        return None;
    }
    let format = unescape(&format.text);
    let mut out = String::new();
    loop {
        let before = values.len();
        let mut rest = format.as_str();
        while let Some((text, after)) = rest.split_once('%') {
            out.push_str(text);
            let mut letters = after.chars();
            match letters.next()? {
                '%' => out.push('%'),
                kind @ ('s' | 'b' | 'd' | 'q') => {
                    let (value, more) = values
                        .split_first()
                        .map_or(("", values), |(first, more)| (first.text.as_str(), more));
                    out.push_str(&if kind == 'b' { unescape(value) } else { value.to_owned() });
                    values = more;
                }
                _ => return None,
            }
            rest = letters.as_str();
        }
        out.push_str(rest);
        if values.is_empty() || values.len() == before || out.len() > MAX_PRINTED_BYTES {
            return Some(out);
        }
    }
}
