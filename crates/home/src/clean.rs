// SPDX-License-Identifier: Apache-2.0 OR MIT

/// A text for people to see: at most so many characters, and without the secrets that the policy knows.
pub fn clean(text: &str, most: usize) -> String {
    // A secret that begins before the cut is found even if its end is not shown.
    let searched = text.get(..text.floor_char_boundary(most * 4 + 4096)).unwrap_or(text);
    let mut out = String::new();
    let mut at = 0;
    for (span, kind) in crate::secrets(searched) {
        out += searched.get(at..span.start).unwrap_or_default();
        out += &format!("[{kind}]");
        at = span.end.max(at);
    }
    out += searched.get(at..).unwrap_or_default();
    match out.char_indices().nth(most) {
        Some((cut, _)) => format!("{}…", out.get(..cut).unwrap_or_default()),
        None => out,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_away_takes_its_secret_along() {
        let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
        let shown = clean(&format!("curl -H 'Authorization: Bearer {token}' https://example.com"), 40);
        assert!(!shown.contains("a1B2"), "{shown}");
        assert_eq!(clean("ls", 40), "ls");
        assert_eq!(clean("äöü", 2), "äö…");
    }
}
