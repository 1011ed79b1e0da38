// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Long texts: most are long only because they write a file.

/// The text without the here-documents that go into files; `None` when it cannot be told which do.
pub(super) fn without_documents(text: &str) -> Option<String> {
    let mut short = String::new();
    let mut end: Option<&str> = None;
    let mut quotes = 0usize;
    for line in text.split_inclusive('\n') {
        if let Some(word) = end {
            if line.trim_end_matches('\n').trim_start_matches('\t') != word {
                continue;
            }
            end = None;
        } else if let Some(word) = document(line) {
            // In a string it would be no here-document, and what follows would not be text.
            if !quotes.is_multiple_of(2) {
                return None;
            }
            end = Some(word);
        } else {
            quotes += line.chars().filter(|c| matches!(c, '\'' | '"')).count();
        }
        short.push_str(line);
    }
    end.is_none().then_some(short)
}

/// The word that ends the here-document which this line begins and a file takes as it is.
fn document(line: &str) -> Option<&str> {
    let (before, after) = line.split_once("<<")?;
    let program = before.split_whitespace().next()?;
    // Only what is quoted is nothing but text.
    let word = after.trim_start_matches('-').trim_start();
    let quote = word.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let (word, rest) = word.strip_prefix(quote)?.split_once(quote)?;
    let plain = |text: &str| !text.contains(['|', '&', ';', '(', '`', '\'', '"']) && !text.contains("<<");
    let writes = program == "tee" || program == "cat" && (before.contains('>') || rest.contains('>'));
    (writes && plain(before) && plain(rest) && !word.is_empty()).then_some(word)
}

/// The text with a space for every `$IFS`, unless it changes the separators itself or has another
/// variable of such a name.
pub(super) fn without_separators(text: &str) -> Option<String> {
    if text.contains("IFS=") || text.contains("'$IFS") || text.contains("'${IFS") {
        return None;
    }
    let mut plain = text.replace("${IFS}", " ").replace("$IFS$9", " ");
    while let Some(at) = plain.find("$IFS") {
        let end = at + "$IFS".len();
        if plain.get(end..)?.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') {
            return None;
        }
        plain.replace_range(at..end, " ");
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_documents_that_go_into_files_are_left_out() {
        assert_eq!(
            without_documents("cat > f <<'EOF'\nx\nEOF\nls\n").as_deref(),
            Some("cat > f <<'EOF'\nEOF\nls\n")
        );
        for text in ["bash <<'EOF'\nx\nEOF\n", "cat <<'EOF' | sh\nx\nEOF\n", "cat > f <<EOF\n$(x)\nEOF\n"] {
            assert_eq!(without_documents(text).as_deref(), Some(text));
        }
        assert_eq!(without_documents("echo '\ncat > f <<'EOF'\nx\nEOF\n"), None);
        assert_eq!(without_documents("cat > f <<'EOF'\nx\n"), None);
    }
}
