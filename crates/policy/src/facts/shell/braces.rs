// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Brace expansion.

use super::word::{Atom, Expansion, word};

/// `{a,b}{c,d}…` grows quickly; what lies beyond is not known.
const MOST_BRACES: usize = 64;
/// A longer word is not searched for braces: finding them is quadratic.
const LONGEST_BRACES: usize = 1024;

/// Brace expansion of a text without quoting. `None` when it would grow too large.
pub(crate) fn expand_braces(text: &str) -> Option<Vec<String>> {
    let expansion = Expansion::literal(text);
    let words = braces(&expansion.atoms).into_iter().map(|atoms| word(&atoms, &expansion));
    words.map(|word| (!word.dynamic).then_some(word.text)).collect()
}

/// Brace expansion: `a{b,c}` is `ab ac`. What is not a list in braces stays as it is.
pub(super) fn braces(atoms: &[Atom]) -> Vec<Vec<Atom>> {
    if !atoms.contains(&Atom::Plain('{')) {
        return vec![atoms.to_vec()];
    }
    let unknown = || Expansion::list("{…}").atoms;
    if atoms.len() > LONGEST_BRACES {
        return vec![unknown()];
    }
    let mut done = Vec::new();
    let mut open = vec![atoms.to_vec()];
    while let Some(next) = open.pop() {
        match first_list(&next) {
            Some((before, items, after)) if done.len() + open.len() + items.len() <= MOST_BRACES => {
                for item in items.iter().rev() {
                    open.push([before, item, after].concat());
                }
            }
            Some(_) => done.push(unknown()),
            None => done.push(next),
        }
    }
    done
}

type List<'a> = (&'a [Atom], Vec<&'a [Atom]>, &'a [Atom]);

fn first_list(atoms: &[Atom]) -> Option<List<'_>> {
    let starts = atoms.iter().enumerate().filter(|(_, atom)| **atom == Atom::Plain('{')).map(|(at, _)| at);
    for start in starts {
        let (mut depth, mut cut, mut items) = (0usize, start + 1, Vec::new());
        for (at, atom) in atoms.iter().enumerate().skip(start) {
            match atom {
                Atom::Plain('{') => depth += 1,
                Atom::Plain(',') if depth == 1 => {
                    items.push(atoms.get(cut..at)?);
                    cut = at + 1;
                }
                Atom::Plain('}') if depth == 1 => {
                    if items.is_empty() {
                        break;
                    }
                    items.push(atoms.get(cut..at)?);
                    return Some((atoms.get(..start)?, items, atoms.get(at + 1..)?));
                }
                Atom::Plain('}') => depth = depth.saturating_sub(1),
                _ => {}
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
        assert!(Expansion::literal(&"{a,b}".repeat(40)).into_words().len() <= MOST_BRACES);
    }
}
