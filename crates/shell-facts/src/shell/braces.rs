// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Expands braces in words such as `a{b,c}`.

use super::word::{ExpandedText, WordAtom};

/// Maximum number of words that braces expand to: `{a,b}{c,d}…` grows exponentially. Further words count as unknown.
const MAX_BRACE_WORDS: usize = 64;
/// Maximum length of a word whose braces are expanded. The search for braces is quadratic.
const MAX_BRACE_WORD_CHARS: usize = 1024;

/// Expands braces in text without quoting. `None` if there are too many words.
pub fn expand_braces(text: &str) -> Option<Vec<String>> {
    if !text.contains('{') {
        return Some(vec![text.to_owned()]);
    }
    if text.chars().count() > MAX_BRACE_WORD_CHARS {
        return None;
    }
    // Text is only split at ASCII characters, so the parts are valid UTF-8.
    let words = expand(text.as_bytes(), |letter, other| *letter == other).into_iter();
    words.map(|word| String::from_utf8(word?).ok()).collect()
}

/// Expands the braces of a word: `a{b,c}` becomes `ab ac`.
pub(super) fn expand_brace_atoms(atoms: Vec<WordAtom>) -> Vec<Vec<WordAtom>> {
    if !atoms.contains(&WordAtom::BraceOpen) {
        return vec![atoms];
    }
    let unknown = || ExpandedText::list("{…}").atoms;
    if atoms.len() > MAX_BRACE_WORD_CHARS {
        return vec![unknown()];
    }
    let is = |atom: &WordAtom, byte: u8| match byte {
        b'{' => *atom == WordAtom::BraceOpen,
        b',' => *atom == WordAtom::BraceComma,
        _ => *atom == WordAtom::BraceClose,
    };
    let words = expand(&atoms, is).into_iter();
    words.map(|word| word.unwrap_or_else(unknown)).collect()
}

/// Expands one word; `None` in place of the words beyond the limit.
fn expand<T: Clone>(word: &[T], is: impl Fn(&T, u8) -> bool) -> Vec<Option<Vec<T>>> {
    let mut done = Vec::new();
    let mut open = vec![word.to_vec()];
    while let Some(next) = open.pop() {
        match first_list(&next, &is) {
            Some((before, items, after)) if done.len() + open.len() + items.len() <= MAX_BRACE_WORDS => {
                for item in items.iter().rev() {
                    open.push([before, item, after].concat());
                }
            }
            Some(_) => done.push(None),
            None => done.push(Some(next)),
        }
    }
    done
}

type BraceSplit<'a, T> = (&'a [T], Vec<&'a [T]>, &'a [T]);

fn first_list<T>(word: &[T], is: impl Fn(&T, u8) -> bool) -> Option<BraceSplit<'_, T>> {
    let starts = word.iter().enumerate().filter(|(_, letter)| is(letter, b'{')).map(|(at, _)| at);
    for start in starts {
        let (mut depth, mut cut, mut items) = (0usize, start + 1, Vec::new());
        for (at, letter) in word.iter().enumerate().skip(start) {
            if is(letter, b'{') {
                depth += 1;
            } else if depth == 1 && is(letter, b',') {
                items.push(word.get(cut..at)?);
                cut = at + 1;
            } else if is(letter, b'}') {
                if depth == 1 {
                    if items.is_empty() {
                        break;
                    }
                    items.push(word.get(cut..at)?);
                    return Some((word.get(..start)?, items, word.get(at + 1..)?));
                }
                depth = depth.saturating_sub(1);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brace_bombs_stay_small() {
        let mut bomb = ExpandedText::default();
        for _ in 0..40 {
            bomb.append_alternatives([ExpandedText::literal("a"), ExpandedText::literal("b")].into_iter());
        }
        assert!(bomb.into_words().len() <= MAX_BRACE_WORDS);
        assert_eq!(expand_braces(&"{a,b}".repeat(40)), None);
        assert_eq!(expand_braces(&format!("{{{}}}", "ä,".repeat(600))), None);
    }
}
