// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds names that differ from a known name by a typing error.

/// Returns the known name that differs from this one by one inserted, removed or replaced letter, or by two swapped
/// letters; `None` if the name itself is known.
pub(super) fn find_similar_name<'a>(name: &str, names: &'a [String]) -> Option<&'a str> {
    if names.iter().any(|known| known == name) {
        return None;
    }
    names.iter().map(String::as_str).find(|known| is_similar(name, known))
}

fn is_similar(one: &str, other: &str) -> bool {
    // A name of one letter is close to every other.
    if one.len().abs_diff(other.len()) > 4 || one.len() < 2 || other.len() < 2 {
        return false;
    }
    let (one, other): (Vec<_>, Vec<_>) = (one.chars().collect(), other.chars().collect());
    let start = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
    let (one, other) = (one.get(start..).unwrap_or_default(), other.get(start..).unwrap_or_default());
    let end = one.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count();
    let one = one.get(..one.len() - end).unwrap_or_default();
    let other = other.get(..other.len() - end).unwrap_or_default();
    match (one, other) {
        ([], [_]) | ([_], [] | [_]) => true,
        ([a, b], [c, d]) => a == d && b == c,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_is_one_edit_away() {
        let names: Vec<_> = ["requests", "lodash", "react"].map(str::to_owned).to_vec();
        for (name, expected) in [
            ("request", Some("requests")),
            ("requestss", Some("requests")),
            ("reqests", Some("requests")),
            ("requasts", Some("requests")),
            ("reqeusts", Some("requests")),
            ("xlodash", Some("lodash")),
            ("lodahs", Some("lodash")),
            ("requests", None),
            ("react", None),
            ("ract", Some("react")),
            ("lodahsh", Some("lodash")),
            ("dolash", None),
            ("left-pad", None),
            ("rqeusts", None),
            ("", None),
        ] {
            assert_eq!(find_similar_name(name, &names), expected, "{name}");
        }
    }
}
