// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Texts for people to see.

/// A text for people to see: short, and without known secrets. What the ledger took
/// out already looks the same.
pub fn sanitize(text: &str, most: usize) -> String {
    // A secret that begins before the cut is found even if its end is not shown.
    let searched =
        text.get(..text.floor_char_boundary(most.saturating_mul(4).saturating_add(4096))).unwrap_or(text);
    let mut out = String::new();
    let mut at = 0;
    for (span, kind) in secrets(searched) {
        out += searched.get(at..span.start).unwrap_or_default();
        out += &format!("[{kind}]");
        at = span.end.max(at);
    }
    out += searched.get(at..).unwrap_or_default();
    if out.contains(MARK) {
        out = unmarked(&out);
    }
    match out.char_indices().nth(most) {
        Some((cut, _)) => format!("{}…", out.get(..cut).unwrap_or_default()),
        None => out,
    }
}

/// The detectors of `tenterhook-secrets`, in the form that the ledger takes.
pub fn secrets(text: &str) -> Vec<(std::ops::Range<usize>, &str)> {
    tenterhook_secrets::secrets(text).into_iter().map(|secret| (secret.span, secret.kind)).collect()
}

const MARK: &str = "[[redacted:";

/// `[[redacted:KIND:DIGEST]]` becomes `[KIND]`.
fn unmarked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, mark)) = rest.split_once(MARK) {
        out += before;
        let inside = mark.split_once("]]").and_then(|(mark, after)| Some((mark.split_once(':')?.0, after)));
        let (kind, after) =
            inside.map_or((MARK.to_owned(), mark), |(kind, after)| (format!("[{kind}]"), after));
        out += &kind;
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_away_takes_its_secret_along() {
        let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
        let shown = sanitize(&format!("curl -H 'Authorization: Bearer {token}' https://example.com"), 40);
        assert!(!shown.contains("a1B2"), "{shown}");
        assert_eq!(sanitize("ls", 40), "ls");
        assert_eq!(sanitize("äöü", 2), "äö…");
        assert_eq!(sanitize("a [[redacted:token:12ab]] b [[redacted:", 40), "a [token] b [[redacted:");
    }
}
