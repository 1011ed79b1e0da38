// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Splits code of any language into statements, and separates the literals of a statement from its code.

/// Maximum length of a statement. Longer ones are split.
const MAX_STATEMENT_BYTES: usize = 4096;
/// Maximum number of assignments in a statement that are followed.
const MAX_ASSIGNED_NAMES: usize = 8;
/// Starts of a line that is a comment in one of the languages.
const COMMENT_STARTS: &[&str] = &["//", "# ", "#!", "-- ", ";;", "; ", "% ", "/*", "* ", "\" "];

/// A statement, with and without the content of its literals.
pub(super) struct CodeStatement<'a> {
    /// The whole text.
    pub(super) text: &'a str,
    /// The text without the content of literals, in lower case.
    pub(super) code: String,
    /// The text without the content of literals.
    written: String,
    pub(super) literals: Vec<&'a str>,
}

impl CodeStatement<'_> {
    /// Returns the names and keywords outside literals.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.written.split(|letter: char| !is_name_letter(letter)).filter(|word| !word.is_empty())
    }

    /// Returns the names of the variables that the statement assigns, or over which it iterates.
    pub(super) fn assigned_names(&self) -> Vec<&str> {
        let bytes = self.written.as_bytes();
        let is_assignment = |at: &usize| {
            let before = at.checked_sub(1).and_then(|at| bytes.get(at));
            let after = bytes.get(at + 1);
            !matches!(before, Some(b'=' | b'!' | b'<' | b'>')) && !matches!(after, Some(b'=' | b'>'))
        };
        let signs = self.written.match_indices('=').map(|(at, _)| at).filter(is_assignment);
        let arrows = ["<-", " in ", " : "].into_iter().filter_map(|sign| self.written.find(sign));
        let named = signs.chain(arrows).take(MAX_ASSIGNED_NAMES).filter_map(|end| self.name_before(end));
        // `(define home …)`, `set home …`
        let start = ["define ", "setq ", "defparameter ", "def ", "set "];
        let defined = start.iter().find_map(|word| self.written.split_once(word)).and_then(|(_, rest)| {
            rest.split(|letter: char| !is_name_letter(letter)).next().filter(|name| !name.is_empty())
        });
        named.chain(defined).collect()
    }

    /// Returns the name that ends before a position.
    fn name_before(&self, end: usize) -> Option<&str> {
        let before = self.written.get(..end)?.trim_end_matches([':', ' ', '+']);
        let name = |text| str::rsplit(text, |letter: char| !is_name_letter(letter)).next();
        // `let home: String = …`
        let typed = before.rsplit_once(": ").filter(|(_, kind)| kind.chars().all(is_name_letter));
        name(typed.map_or(before, |(name, _)| name)).filter(|name| !name.is_empty())
    }
}

fn is_name_letter(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Splits code into statements: at the ends of lines and at semicolons, but not between parentheses.
pub(super) fn split_statements(code: &str) -> Vec<CodeStatement<'_>> {
    let mut statements = Vec::new();
    let mut current = StatementDraft::default();
    let mut depth = 0usize;
    let mut at = 0;
    let bytes = code.as_bytes();
    while let Some(byte) = bytes.get(at).copied() {
        let at_line_start = at == 0 || bytes.get(at - 1) == Some(&b'\n');
        if at_line_start && is_comment(code.get(at..).unwrap_or_default()) {
            at = line_end(code, at);
            continue;
        }
        let splits = matches!(byte, b'\n' | b';') && depth == 0 || at - current.start >= MAX_STATEMENT_BYTES;
        if splits && code.is_char_boundary(at) {
            statements.extend(current.finish(code, at));
            current = StatementDraft::new(at + usize::from(matches!(byte, b'\n' | b';')));
            depth = 0;
            if matches!(byte, b'\n' | b';') {
                at += 1;
                continue;
            }
        }
        match byte {
            b'\\' => at += 1,
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth = depth.saturating_sub(1),
            b'"' | b'\'' | b'`' => {
                if let Some(end) = literal_end(code, at) {
                    current.add_literal(code, at, end);
                    at = end + 1;
                    continue;
                }
            }
            _ => {}
        }
        at += 1;
    }
    statements.extend(current.finish(code, code.len()));
    statements
}

/// A statement whose end has not been reached.
#[derive(Default)]
struct StatementDraft<'a> {
    start: usize,
    code_start: usize,
    written: String,
    literals: Vec<&'a str>,
}

impl<'a> StatementDraft<'a> {
    fn new(start: usize) -> Self {
        Self { start, code_start: start, ..Self::default() }
    }

    fn add_literal(&mut self, code: &'a str, start: usize, end: usize) {
        self.written.push_str(code.get(self.code_start..start).unwrap_or_default());
        self.written.push_str("\"\"");
        self.literals.extend(code.get(start + 1..end));
        self.code_start = end + 1;
    }

    fn finish(mut self, code: &'a str, end: usize) -> Option<CodeStatement<'a>> {
        self.written.push_str(code.get(self.code_start..end).unwrap_or_default());
        let text = code.get(self.start..end).unwrap_or_default();
        let is_empty = self.written.trim().is_empty();
        (!is_empty).then(|| CodeStatement {
            text,
            code: self.written.to_ascii_lowercase(),
            written: self.written,
            literals: self.literals,
        })
    }
}

/// Returns the position of the quote that ends a literal. A single quote may also start a lifetime, a symbol or a
/// character, so it has to be closed in the same line.
fn literal_end(code: &str, start: usize) -> Option<usize> {
    let bytes = code.as_bytes();
    let quote = *bytes.get(start)?;
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'\n' if quote != b'"' => return None,
            _ if *byte == quote => return Some(at),
            _ => {}
        }
        if at - start > MAX_STATEMENT_BYTES {
            return None;
        }
        at += 1;
    }
    None
}

fn is_comment(rest: &str) -> bool {
    let line = rest.trim_start_matches([' ', '\t']);
    COMMENT_STARTS.iter().any(|start| line.starts_with(start))
}

fn line_end(code: &str, at: usize) -> usize {
    code.get(at..).and_then(|rest| rest.find('\n')).map_or(code.len(), |length| at + length + 1)
}
