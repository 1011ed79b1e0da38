// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Splits a script into statements, by lines.
//!
//! The split only decides which line is reported. If a script is split in the wrong place, the line number is
//! inexact, but the verdict is the same.

use std::ops::Range;

/// Returns ranges of lines. Each range contains a complete statement.
pub(crate) fn split_statements(lines: &[&str]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut splitter = StatementSplitter::default();
    for (at, line) in lines.iter().enumerate() {
        splitter.add_line(line);
        if splitter.is_done() {
            found.push(start..at + 1);
            start = at + 1;
        }
    }
    if start < lines.len() {
        found.push(start..lines.len());
    }
    found
}

/// State of the parser between lines.
#[derive(Default)]
struct StatementSplitter {
    /// The quote character that is still open.
    quote: Option<char>,
    /// The words that close the open blocks.
    open: Vec<&'static str>,
    /// Here-documents whose text has not begun: the delimiter, and whether tabs before it are ignored.
    here: Vec<(String, bool)>,
    continued: bool,
}

impl StatementSplitter {
    fn is_done(&self) -> bool {
        self.quote.is_none() && self.open.is_empty() && self.here.is_empty() && !self.continued
    }

    fn add_line(&mut self, line: &str) {
        if let Some((end, tabs)) = self.here.first().filter(|_| self.quote.is_none() && !self.continued) {
            let text = if *tabs { line.trim_start_matches('\t') } else { line };
            if text == end {
                self.here.remove(0);
            }
            return;
        }
        self.continued = false;
        let mut word = String::new();
        let mut at_command = true;
        let mut operator = String::new();
        let mut letters = line.chars().peekable();
        while let Some(letter) = letters.next() {
            if self.quote.is_none() && !letter.is_whitespace() && !(letter == '#' && word.is_empty()) {
                match letter {
                    '|' | '&' => operator.push(letter),
                    _ => operator.clear(),
                }
            }
            match (self.quote, letter) {
                (Some('\''), '\'') | (Some('"'), '"') => self.quote = None,
                (Some('\''), _) => {}
                (_, '\\') => {
                    self.continued = letters.next().is_none();
                    word.push('x');
                }
                (Some(_), _) => {}
                (None, '\'' | '"') => {
                    self.quote = Some(letter);
                    word.push('x');
                }
                (None, '#') if word.is_empty() => break,
                (None, '<') if letters.peek() == Some(&'<') => {
                    letters.next();
                    // `<<<` is followed by a string on the same line, not by a here-document.
                    if letters.next_if_eq(&'<').is_none() {
                        let tabs = letters.next_if_eq(&'-').is_some();
                        self.here.extend(read_delimiter(&mut letters).map(|end| (end, tabs)));
                    }
                }
                (None, '(') => {
                    self.open.push(")");
                    self.end_word(&mut word, &mut at_command);
                    at_command = true;
                }
                (None, ')') => {
                    self.end_word(&mut word, &mut at_command);
                    // In a `case`, the innermost open block is not `(`, so the `)` of a pattern closes nothing.
                    self.close_block(")");
                    at_command = true;
                }
                (None, ';' | '&' | '|') => {
                    self.end_word(&mut word, &mut at_command);
                    at_command = true;
                }
                (None, letter) if letter.is_whitespace() => self.end_word(&mut word, &mut at_command),
                (None, letter) => word.push(letter),
            }
        }
        self.end_word(&mut word, &mut at_command);
        // After a pipe or `&&`, the statement continues on the next line. After a single `&` it does not.
        self.continued |= !matches!(operator.as_str(), "" | "&");
    }

    /// Handles a whole word: at the start of a command, it may open or close a block.
    fn end_word(&mut self, word: &mut String, at_command: &mut bool) {
        if word.is_empty() {
            return;
        }
        if *at_command {
            match word.as_str() {
                "if" => self.open.push("fi"),
                "for" | "while" | "until" | "select" => self.open.push("done"),
                "case" => self.open.push("esac"),
                "{" => self.open.push("}"),
                "fi" | "done" | "esac" | "}" => self.close_block(word),
                _ => {}
            }
        }
        // After these words, the next word is a command again.
        *at_command = matches!(
            word.as_str(),
            "if" | "then" | "else" | "elif" | "do" | "while" | "until" | "{" | "!" | "time"
        );
        word.clear();
    }

    fn close_block(&mut self, word: &str) {
        if self.open.last() == Some(&word) {
            self.open.pop();
        }
    }
}

/// Returns the delimiter after `<<`, without its quotes.
fn read_delimiter(letters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<String> {
    while letters.next_if(|letter| *letter == ' ' || *letter == '\t').is_some() {}
    let mut end = String::new();
    while let Some(letter) = letters.next_if(|letter| !letter.is_whitespace() && !";|&<>()".contains(*letter))
    {
        if !matches!(letter, '\'' | '"' | '\\') {
            end.push(letter);
        }
    }
    (!end.is_empty()).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<usize> {
        let lines: Vec<_> = text.lines().collect();
        split_statements(&lines).into_iter().map(|range| range.len()).collect()
    }

    #[test]
    fn a_line_is_a_statement_unless_something_is_open() {
        assert_eq!(parts("a\nb # 'x\n\nc"), [1, 1, 1, 1]);
        assert_eq!(parts("a |\nb && # x\nc &\nd || e"), [3, 1]);
        assert_eq!(parts("a \\\n  b\nc 'x\ny' d\ne"), [2, 2, 1]);
        assert_eq!(parts("if a\nthen b\nfi\nfor x in 1\ndo\n y\ndone; z\nw"), [3, 4, 1]);
        assert_eq!(parts("f() {\n  a\n}\ncase x in\n a) b ;;\n *) c\nesac\nd"), [3, 4, 1]);
        assert_eq!(parts("x=$(a \\\n | b)\n(cd y\n z)\necho if\necho done"), [2, 2, 1, 1]);
    }

    #[test]
    fn a_here_document_belongs_to_its_command() {
        assert_eq!(parts("cat <<EOF > x\nif\nEOF\na\ncat <<-'E' <<F\n\tE\nF\nb <<<x\nc"), [3, 1, 3, 1, 1]);
    }

    #[test]
    fn an_unclosed_block_ends_with_the_text() {
        assert_eq!(parts("a\nif b\nc"), [1, 2]);
    }
}
