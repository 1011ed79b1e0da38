// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Prepares recorded text for display.

/// Truncates text, and replaces known secrets and the ledger's redaction placeholders with `[KIND]`.
pub fn sanitize(text: &str, max_chars: usize) -> String {
    // Searches beyond the cut, so that a secret that begins before the cut is found.
    let searched = text
        .get(..text.floor_char_boundary(max_chars.saturating_mul(4).saturating_add(4096)))
        .unwrap_or(text);
    let mut out = String::new();
    let mut at = 0;
    for (span, kind) in secrets(searched) {
        out += searched.get(at..span.start).unwrap_or_default();
        out += &format!("[{kind}]");
        at = span.end.max(at);
    }
    out += searched.get(at..).unwrap_or_default();
    if out.contains(REDACTION_MARK) {
        out = replace_marks(&out);
    }
    match out.char_indices().nth(max_chars) {
        Some((cut, _)) => format!("{}…", out.get(..cut).unwrap_or_default()),
        None => out,
    }
}

/// Detects secrets with `tenterhook-secrets`, in the format that the ledger expects.
pub fn secrets(text: &str) -> Vec<(std::ops::Range<usize>, &str)> {
    tenterhook_secrets::find_secrets(text).into_iter().map(|secret| (secret.span, secret.kind)).collect()
}

const REDACTION_MARK: &str = "[[redacted:";

/// Replaces `[[redacted:KIND:DIGEST]]` with `[KIND]`.
fn replace_marks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, mark)) = rest.split_once(REDACTION_MARK) {
        out += before;
        let inside = mark.split_once("]]").and_then(|(mark, after)| Some((mark.split_once(':')?.0, after)));
        let (kind, after) =
            inside.map_or((REDACTION_MARK.to_owned(), mark), |(kind, after)| (format!("[{kind}]"), after));
        out += &kind;
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_at_the_cut_is_replaced() {
        let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
        let shown = sanitize(&format!("curl -H 'Authorization: Bearer {token}' https://example.com"), 40);
        assert!(!shown.contains("a1B2"), "{shown}");
        assert_eq!(sanitize("ls", 40), "ls");
        assert_eq!(sanitize("äöü", 2), "äö…");
        assert_eq!(sanitize("a [[redacted:token:12ab]] b [[redacted:", 40), "a [token] b [[redacted:");
    }
}
