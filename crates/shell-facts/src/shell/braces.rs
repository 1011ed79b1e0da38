// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Brace expansion.

use super::word::{Atom, Expansion};

/// `{a,b}{c,d}…` grows quickly; what lies beyond is not known.
const MOST_BRACES: usize = 64;
/// A longer word is not searched for braces: finding them is quadratic.
const LONGEST_BRACES: usize = 1024;

/// Brace expansion of a text without quoting. `None` when it would grow too large.
pub fn expand_braces(text: &str) -> Option<Vec<String>> {
    if !text.contains('{') {
        return Some(vec![text.to_owned()]);
    }
    if text.chars().count() > LONGEST_BRACES {
        return None;
    }
    // Texts are only cut at braces and commas, so what comes out is text again.
    let words = expand(text.as_bytes(), |letter, other| *letter == other).into_iter();
    words.map(|word| String::from_utf8(word?).ok()).collect()
}

/// Brace expansion: `a{b,c}` is `ab ac`.
pub(super) fn braces(atoms: Vec<Atom>) -> Vec<Vec<Atom>> {
    if !atoms.contains(&Atom::BraceOpen) {
        return vec![atoms];
    }
    let unknown = || Expansion::list("{…}").atoms;
    if atoms.len() > LONGEST_BRACES {
        return vec![unknown()];
    }
    let is = |atom: &Atom, byte: u8| match byte {
        b'{' => *atom == Atom::BraceOpen,
        b',' => *atom == Atom::BraceComma,
        _ => *atom == Atom::BraceClose,
    };
    let words = expand(&atoms, is).into_iter();
    words.map(|word| word.unwrap_or_else(unknown)).collect()
}

/// The words that a word with braces stands for; `None` where there are too many.
fn expand<T: Clone>(word: &[T], is: impl Fn(&T, u8) -> bool) -> Vec<Option<Vec<T>>> {
    let mut done = Vec::new();
    let mut open = vec![word.to_vec()];
    while let Some(next) = open.pop() {
        match first_list(&next, &is) {
            Some((before, items, after)) if done.len() + open.len() + items.len() <= MOST_BRACES => {
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

type List<'a, T> = (&'a [T], Vec<&'a [T]>, &'a [T]);

fn first_list<T>(word: &[T], is: impl Fn(&T, u8) -> bool) -> Option<List<'_, T>> {
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
        let mut bomb = Expansion::default();
        for _ in 0..40 {
            bomb.append_alternatives([Expansion::literal("a"), Expansion::literal("b")].into_iter());
        }
        assert!(bomb.into_words().len() <= MOST_BRACES);
        assert_eq!(expand_braces(&"{a,b}".repeat(40)), None);
        assert_eq!(expand_braces(&format!("{{{}}}", "ä,".repeat(600))), None);
    }
}
