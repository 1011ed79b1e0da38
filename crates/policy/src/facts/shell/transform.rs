// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `${x#…}`, `${x/…/…}`, `${x:1:2}`, `${x^^}` on values that are known.

/// Longer values are not worked on, nor are longer patterns: cutting tries every place.
const LONGEST: usize = 128;
const LONGEST_OPERATOR: usize = 32;
/// What one use may cost, in steps.
pub(super) const STEPS: usize = 256;

/// What an operator makes of a value; `None` when it is not one of those known here.
pub(super) fn transform(value: &str, operator: &str) -> Option<String> {
    if value.len() > LONGEST || operator.len() > LONGEST_OPERATOR || operator.contains(['$', '`']) {
        return None;
    }
    if let Some(pattern) = operator.strip_prefix("##") {
        return Some(cut_start(value, pattern, true));
    }
    if let Some(pattern) = operator.strip_prefix('#') {
        return Some(cut_start(value, pattern, false));
    }
    if let Some(pattern) = operator.strip_prefix("%%") {
        return Some(cut_end(value, pattern, true));
    }
    if let Some(pattern) = operator.strip_prefix('%') {
        return Some(cut_end(value, pattern, false));
    }
    if let Some(rest) = operator.strip_prefix('/') {
        let (rest, all) = rest.strip_prefix('/').map_or((rest, false), |rest| (rest, true));
        let (from, to) = rest.split_once('/').unwrap_or((rest, ""));
        if from.is_empty()
            || from.contains(['*', '?', '[', '\\', '#', '%', '"', '\''])
            || to.contains(['"', '\''])
        {
            return None;
        }
        return Some(if all { value.replace(from, to) } else { value.replacen(from, to, 1) });
    }
    if let Some(range) = operator.strip_prefix(':') {
        let (start, length) =
            range.split_once(':').map_or((range, None), |(start, length)| (start, Some(length)));
        let start: usize = start.trim().parse().ok()?;
        let rest = value.chars().skip(start);
        return match length {
            Some(length) => Some(rest.take(length.trim().parse().ok()?).collect()),
            None => Some(rest.collect()),
        };
    }
    let mut letters = value.chars();
    match operator {
        "^^" | "@U" => Some(value.to_uppercase()),
        ",," | "@L" => Some(value.to_lowercase()),
        "^" => letters.next().map(|first| first.to_uppercase().chain(letters).collect()),
        "," => letters.next().map(|first| first.to_lowercase().chain(letters).collect()),
        _ => None,
    }
}

fn cuts(value: &str) -> impl DoubleEndedIterator<Item = usize> {
    let mut cuts: Vec<usize> = value.char_indices().map(|(at, _)| at).collect();
    cuts.push(value.len());
    cuts.into_iter()
}

fn cut_start(value: &str, pattern: &str, longest: bool) -> String {
    let fits = |at: &usize| value.get(..*at).is_some_and(|part| fits(pattern, part));
    let at = if longest { cuts(value).rfind(fits) } else { cuts(value).find(fits) };
    at.and_then(|at| value.get(at..)).unwrap_or(value).to_owned()
}

fn cut_end(value: &str, pattern: &str, longest: bool) -> String {
    let fits = |at: &usize| value.get(*at..).is_some_and(|part| fits(pattern, part));
    let at = if longest { cuts(value).find(fits) } else { cuts(value).rfind(fits) };
    at.and_then(|at| value.get(..at)).unwrap_or(value).to_owned()
}

/// A pattern of `*` and `?` on a whole text, slashes included.
fn fits(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().filter(|c| !matches!(c, '"' | '\'')).collect();
    let text: Vec<char> = text.chars().collect();
    let (mut p, mut t) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                back = Some((p, t));
                p += 1;
            }
            Some('?') => (p, t) = (p + 1, t + 1),
            Some(letter) if text.get(t) == Some(letter) => (p, t) = (p + 1, t + 1),
            _ => {
                let Some((star, at)) = back else { return false };
                back = Some((star, at + 1));
                (p, t) = (star + 1, at + 1);
            }
        }
    }
    pattern.iter().skip(p).all(|letter| *letter == '*')
}

/// The letters of a set of `tr`: `a-z`, `A-Za-z`.
pub(super) fn letters(set: &str) -> Vec<char> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_cut_replaced_and_turned_as_a_shell_does() {
        let table = [
            ("a/b/c", "##*/", "c"),
            ("a/b/c", "#*/", "b/c"),
            ("a.b.c", "%.*", "a.b"),
            ("a.b.c", "%%.*", "a"),
            ("abab", "/b/x", "axab"),
            ("abab", "//b", "aa"),
            ("abcd", ":1:2", "bc"),
            ("ab", "^^", "AB"),
        ];
        for (value, operator, wanted) in table {
            assert_eq!(transform(value, operator).as_deref(), Some(wanted), "{value} {operator}");
        }
        assert_eq!(transform("a", "/$x/y"), None);
        assert_eq!(letters("a-cx"), ['a', 'b', 'c', 'x']);
    }
}
