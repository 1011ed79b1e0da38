// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Splits Rust source into comments and string literals, each with its line.

/// A comment or a string literal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Passage {
    pub(crate) line: usize,
    pub(crate) kind: PassageKind,
    pub(crate) text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PassageKind {
    /// `//`, `/* */`
    Comment,
    /// `///`, `//!`
    Doc,
    /// `"…"`, `r#"…"#`
    Literal,
}

/// The passages of a source text, in order.
pub(crate) fn passages(source: &str) -> Vec<Passage> {
    let letters: Vec<char> = source.chars().collect();
    let at = |index: usize| letters.get(index).copied().unwrap_or('\0');
    let (mut found, mut index, mut line) = (Vec::new(), 0, 1);
    while index < letters.len() {
        match (at(index), at(index + 1)) {
            ('/', '/') => {
                let end = (index..letters.len()).find(|&i| at(i) == '\n').unwrap_or(letters.len());
                let marker = at(index + 2);
                let is_doc = marker == '!' || (marker == '/' && at(index + 3) != '/');
                let kind = if is_doc { PassageKind::Doc } else { PassageKind::Comment };
                let start = if is_doc { index + 3 } else { index + 2 };
                let text: String = letters[start.min(end)..end].iter().collect();
                found.push(Passage { line, kind, text: text.trim().to_owned() });
                index = end;
            }
            ('/', '*') => {
                let end = (index + 2..letters.len()).find(|&i| at(i) == '*' && at(i + 1) == '/');
                let end = end.unwrap_or(letters.len());
                let text: String = letters[index + 2..end].iter().collect();
                let lines = text.matches('\n').count();
                found.push(Passage { line, kind: PassageKind::Comment, text });
                line += lines;
                index = end + 2;
            }
            ('r', '"' | '#')
                if !at(index.wrapping_sub(1)).is_alphanumeric() && at(index.wrapping_sub(1)) != '_' =>
            {
                let hashes = (index + 1..letters.len()).take_while(|&i| at(i) == '#').count();
                let open = index + 1 + hashes;
                if at(open) != '"' {
                    index += 1;
                    continue;
                }
                let closes = |i: usize| at(i) == '"' && (1..=hashes).all(|more| at(i + more) == '#');
                let end = (open + 1..letters.len()).find(|&i| closes(i)).unwrap_or(letters.len());
                let text: String = letters[open + 1..end].iter().collect();
                let lines = text.matches('\n').count();
                found.push(Passage { line, kind: PassageKind::Literal, text });
                line += lines;
                index = end + 1 + hashes;
            }
            ('"', _) => {
                let (mut end, began) = (index + 1, line);
                while end < letters.len() && at(end) != '"' {
                    if at(end) == '\\' {
                        line += usize::from(at(end + 1) == '\n');
                        end += 1;
                    }
                    line += usize::from(at(end) == '\n' && at(end - 1) != '\\');
                    end += 1;
                }
                let text: String = letters[index + 1..end.min(letters.len())].iter().collect();
                found.push(Passage { line: began, kind: PassageKind::Literal, text });
                index = end + 1;
            }
            // A quote with an escape is a character literal. A lifetime has no closing quote.
            ('\'', '\\') => {
                let end = (index + 3..letters.len()).find(|&i| at(i) == '\'').unwrap_or(letters.len());
                index = end + 1;
            }
            ('\'', _) if at(index + 2) == '\'' => index += 3,
            ('\n', _) => {
                line += 1;
                index += 1;
            }
            _ => index += 1,
        }
    }
    found
}

/// A program's source without the test module at its end.
pub(crate) fn without_tests(source: &str) -> &str {
    let starts = source.match_indices("\n#[cfg(test)]\n");
    let module = starts.map(|(at, _)| source.split_at(at)).find(|(_, rest)| opens_module(rest));
    module.map_or(source, |(program, _)| program)
}

/// Whether a text begins with a module whose content is in the same file.
fn opens_module(text: &str) -> bool {
    let item = text.trim_start_matches("\n#[cfg(test)]\n");
    let is_module = ["mod ", "pub(crate) mod "].iter().any(|start| item.starts_with(start));
    is_module && item.chars().find(|letter| matches!(letter, '{' | ';')) == Some('{')
}

#[test]
fn comments_and_literals_are_told_apart() {
    let source = "//! Page.\nlet a = 'x'; // why\nlet b = \"a // b\\\"\"; /// Doc.\nlet c = r#\"raw \"x\"\"#;\nfn f<'a>(x: &'a str) {}\n// last\n";
    let found: Vec<_> =
        passages(source).into_iter().map(|passage| (passage.line, passage.kind, passage.text)).collect();
    let text = |text: &str| text.to_owned();
    assert_eq!(
        found,
        [
            (1, PassageKind::Doc, text("Page.")),
            (2, PassageKind::Comment, text("why")),
            (3, PassageKind::Literal, text("a // b\\\"")),
            (3, PassageKind::Doc, text("Doc.")),
            (4, PassageKind::Literal, text("raw \"x\"")),
            (6, PassageKind::Comment, text("last")),
        ]
    );
}

#[test]
fn a_test_module_at_the_end_is_left_out() {
    assert_eq!(without_tests("fn a() {}\n#[cfg(test)]\nmod tests {\n}\n"), "fn a() {}");
    assert_eq!(
        without_tests("#[cfg(test)]\nmod tests;\nfn a() {}\n"),
        "#[cfg(test)]\nmod tests;\nfn a() {}\n"
    );
}
