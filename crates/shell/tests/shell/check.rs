// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Properties of every tree. The fuzz target in `/fuzz/coverage` includes this file.

use tenterhook_shell::{
    Command, ParsedScript, SimpleCommand, Span, TreeVisitor, UnparsedText, Word, walk_word,
};

/// Checks spans and marks the bytes they cover.
struct SpanChecker<'t> {
    text: &'t str,
    whole: Span,
    unparsed: u32,
}

impl TreeVisitor for SpanChecker<'_> {
    fn word(&mut self, word: &Word) {
        assert!(self.whole.contains(word.span), "{:?} {word:?}", self.text);
        assert!(self.text.get(word.span.range()).is_some(), "{:?} {word:?}", self.text);
        for part in &word.parts {
            assert!(self.text.get(part.span().range()).is_some(), "{:?} {part:?}", self.text);
        }
        walk_word(self, word);
    }

    fn command(&mut self, command: &Command) {
        assert!(self.text.get(command.span().range()).is_some(), "{:?} {command:?}", self.text);
        tenterhook_shell::walk_command(self, command);
    }

    fn unparsed(&mut self, unparsed: &UnparsedText) {
        self.unparsed += 1;
        assert!(self.text.get(unparsed.span.range()).is_some(), "{:?} {unparsed:?}", self.text);
    }
}

/// Collects the spans of here-document bodies.
#[derive(Default)]
struct HereDocumentSpans(Vec<Span>);

impl TreeVisitor for HereDocumentSpans {
    fn command(&mut self, command: &Command) {
        let mut add = |redirects: &[tenterhook_shell::Redirect]| {
            for redirect in redirects {
                if let tenterhook_shell::RedirectTarget::HereDocument(document) = &redirect.target {
                    self.0.extend(document.body().map(|body| body.span));
                }
            }
        };
        match command {
            Command::Simple(SimpleCommand { redirects, .. }) => add(redirects),
            Command::Compound(compound) => add(&compound.redirects),
            _ => {}
        }
        tenterhook_shell::walk_command(self, command);
    }
}

pub(crate) fn check(text: &str, parsed: &ParsedScript) {
    let mut spans = SpanChecker { text, whole: Span::new(0, text.len()), unparsed: 0 };
    spans.script(&parsed.script);
    assert_eq!(spans.unparsed, parsed.unparsed, "{text:?}: each text that was not understood is in the tree");
    let mut covered = vec![false; text.len()];
    let mut cover = |span: Span| covered[span.range()].fill(true);
    let mut documents = HereDocumentSpans::default();
    documents.script(&parsed.script);
    let mut after_document = Vec::new();
    for statement in &parsed.script.statements {
        cover(statement.span);
    }
    parsed.comments.iter().for_each(|comment| cover(comment.span));
    for body in &documents.0 {
        cover(*body);
        after_document.push(body.range().end);
    }
    // The line with the delimiter is not part of a node.
    for start in after_document {
        let end = text[start..].find('\n').map_or(text.len(), |length| start + length);
        covered[start..end].fill(true);
    }
    for (at, byte) in text.bytes().enumerate() {
        let is_separator = matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'\\' | b'!' | b'|');
        assert!(covered[at] || is_separator, "{text:?}: byte {at} belongs to no node: {parsed:#?}");
    }
}
