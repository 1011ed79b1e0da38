// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses here-documents: the delimiter after `<<`, and the body after the end of the line.

use std::sync::{Arc, OnceLock};

use super::scan::{ByteClass, class};
use super::word::WordBuilder;
use super::{ParseResult, ShellParser};
use crate::Span;
use crate::ast::{HereDocument, HereDocumentBody, Literal, WordPart};

/// A here-document whose body has not been read yet.
pub(super) struct PendingDocument {
    delimiter: Box<str>,
    quoted: bool,
    strips_tabs: bool,
    body: Arc<OnceLock<HereDocumentBody>>,
}

impl PendingDocument {
    /// Fills a document whose body is missing.
    pub(super) fn leave_empty(self, span: Span) {
        // Each document is filled once.
        _ = self.body.set(HereDocumentBody { parts: Vec::new(), closed: false, span });
    }
}

impl ShellParser<'_> {
    /// Parses the delimiter of a here-document. Its body is read at the end of the line.
    pub(super) fn parse_here_document(&mut self, strips_tabs: bool) -> ParseResult<HereDocument> {
        self.count_nodes(2)?;
        let start = self.at;
        let (delimiter, quoted) = self.parse_delimiter()?;
        if self.at == start {
            return Err(self.unexpected("token instead of a delimiter"));
        }
        let body = Arc::new(OnceLock::new());
        let document = HereDocument { delimiter, quoted, strips_tabs, body };
        self.pending.push(PendingDocument {
            delimiter: document.delimiter.clone(),
            quoted,
            strips_tabs,
            body: Arc::clone(&document.body),
        });
        Ok(document)
    }

    /// Parses a word without expansion and removes its quotes; the flag says whether it was quoted.
    fn parse_delimiter(&mut self) -> ParseResult<(Box<str>, bool)> {
        let mut text = String::new();
        let mut quoted = false;
        while let Some(byte) = self.peek() {
            match byte {
                b'\\' if self.byte(self.at + 1) == Some(b'\n') => self.at += 2,
                b'\\' => {
                    quoted = true;
                    self.at += 1;
                    if let Some(letter) = self.character(self.at) {
                        text.push(letter);
                        self.at += letter.len_utf8();
                    }
                }
                b'\'' | b'"' => {
                    quoted = true;
                    let end = self.end_of_quote(self.at, byte).ok_or_else(|| self.unclosed("quote"))?;
                    text.push_str(self.slice(self.at + 1, end));
                    self.at = end + 1;
                }
                b'$' if matches!(self.byte(self.at + 1), Some(b'\'' | b'"')) => self.at += 1,
                _ if class(byte) == ByteClass::Ends => break,
                _ => {
                    let length = self.count_while(self.at + 1, |byte| class(byte) == ByteClass::Plain);
                    text.push_str(self.slice(self.at, self.at + 1 + length));
                    self.at += 1 + length;
                }
            }
        }
        Ok((text.into(), quoted))
    }

    /// Reads the bodies of all pending documents after the end of a line.
    pub(super) fn read_documents(&mut self) -> ParseResult {
        let mut pending = std::mem::take(&mut self.pending).into_iter();
        while let Some(document) = pending.next() {
            let start = self.at;
            let (end, after, closed) = self.find_delimiter(&document);
            let parts = if document.quoted {
                Ok(self.parse_quoted_body(start, end, document.strips_tabs))
            } else {
                self.parse_unquoted_body(start, end, document.strips_tabs)
            };
            let parts = match parts {
                Ok(parts) => parts,
                Err(stop) => {
                    self.pending.extend(std::iter::once(document).chain(pending));
                    return Err(stop);
                }
            };
            // Each document is filled once.
            _ = document.body.set(HereDocumentBody { parts, closed, span: self.span(start, end) });
            self.at = after;
        }
        Ok(())
    }

    /// Returns the end of the body, the offset after the line with the delimiter, and whether there is such a line.
    fn find_delimiter(&self, document: &PendingDocument) -> (usize, usize, bool) {
        let end_of_text = self.bytes.len();
        let mut line = self.at;
        while line < end_of_text {
            let mut from = line;
            if document.strips_tabs {
                from += self.count_while(from, |byte| byte == b'\t');
            }
            let mut wanted = document.delimiter.as_bytes();
            let mut matches = true;
            // A line that ends in a backslash continues in the next one, unless the delimiter is quoted.
            let end = loop {
                let length = self.count_while(from, |byte| byte != b'\n');
                let end = from + length;
                let text = self.bytes.get(from..end).unwrap_or_default();
                let backslashes = text.iter().rev().take_while(|byte| **byte == b'\\').count();
                let joined = !document.quoted && backslashes % 2 == 1 && end < end_of_text;
                let text =
                    if joined { text.get(..length.saturating_sub(1)).unwrap_or_default() } else { text };
                matches = matches
                    && match wanted.strip_prefix(text) {
                        Some(rest) => {
                            wanted = rest;
                            true
                        }
                        None => false,
                    };
                if !joined {
                    break end;
                }
                from = end + 1;
            };
            let after = (end + 1).min(end_of_text);
            if matches && wanted.is_empty() {
                return (line, after, true);
            }
            line = end + 1;
        }
        (end_of_text, end_of_text, false)
    }

    fn parse_quoted_body(&self, start: usize, end: usize, strips_tabs: bool) -> Vec<WordPart> {
        let text = self.slice(start, end);
        if text.is_empty() {
            return Vec::new();
        }
        let text = if strips_tabs {
            text.split_inclusive('\n').map(|line| line.trim_start_matches('\t')).collect::<String>().into()
        } else {
            text.into()
        };
        vec![WordPart::Literal(Literal { text, span: self.span(start, end) })]
    }

    /// Parses a body with expansions. The shell parses them at run time, so an error ends the body, not the
    /// statement.
    fn parse_unquoted_body(
        &mut self,
        start: usize,
        end: usize,
        strips_tabs: bool,
    ) -> ParseResult<Vec<WordPart>> {
        self.count_reread(end.saturating_sub(start))?;
        self.count_node()?;
        self.at = start;
        self.with_end(end, |parser| {
            let mut builder = WordBuilder::new(start);
            match parser.parse_body_parts(&mut builder, strips_tabs) {
                Ok(()) => {}
                Err(stop) if stop.reason.is_limit() => return Err(stop),
                Err(stop) => {
                    let from = builder.literal_start;
                    let unparsed = parser.unparsed_node(from, parser.bytes.len(), stop);
                    parser.at = parser.bytes.len();
                    builder.parts.push(WordPart::Unparsed(Box::new(unparsed)));
                }
            }
            Ok(builder.parts.into_vec())
        })
    }

    fn parse_body_parts(&mut self, builder: &mut WordBuilder, strips_tabs: bool) -> ParseResult {
        loop {
            let at_line_start = self.at.checked_sub(1).and_then(|at| self.byte(at)) == Some(b'\n');
            if strips_tabs && at_line_start {
                self.flush_literal(builder)?;
                self.at += self.count_while(self.at, |byte| byte == b'\t');
                builder.literal_start = self.at;
            }
            let stops = |byte: u8| matches!(byte, b'$' | b'`' | b'\\') || (strips_tabs && byte == b'\n');
            self.at += self.count_while(self.at, |byte| !stops(byte));
            match self.peek() {
                None => return self.flush_literal(builder),
                Some(b'\n') => self.at += 1,
                Some(byte) => self.parse_in_double_quotes(byte, builder, b'\\')?,
            }
        }
    }
}
