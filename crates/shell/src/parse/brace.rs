// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses brace expansions. A finished word is scanned again for `{a,b}` and `{1..9}`, with a stack instead of
//! backtracking, so that many `{` in a row take no longer than other text.

use super::{ParseResult, ShellParser};
use crate::ast::{BraceExpansion, BraceKind, Literal, UnparsedReason, Word, WordPart};
use crate::{SmallList, Span};

/// Maximum nesting depth of braces in one word.
const MAX_BRACES: usize = 24;

/// Parts of a word, and pending text that is not a part yet.
#[derive(Default)]
struct PartBuffer {
    parts: Vec<WordPart>,
    text: String,
    text_start: u32,
}

impl PartBuffer {
    fn push_text(&mut self, text: &str, start: u32) {
        let end = self.text_start.saturating_add(byte_length(&self.text));
        if self.text.is_empty() || end != start {
            self.flush_literal();
            self.text_start = start;
        }
        self.text.push_str(text);
    }

    fn push_part(&mut self, part: WordPart) {
        match part {
            WordPart::Literal(literal) => self.push_text(&literal.text, literal.span.start),
            part => {
                self.flush_literal();
                self.parts.push(part);
            }
        }
    }

    fn flush_literal(&mut self) {
        if !self.text.is_empty() {
            let end = self.text_start.saturating_add(byte_length(&self.text));
            let text = std::mem::take(&mut self.text).into();
            let span = Span { start: self.text_start, end };
            self.parts.push(WordPart::Literal(Literal { text, span }));
        }
    }

    fn finish(mut self) -> Vec<WordPart> {
        self.flush_literal();
        self.parts
    }
}

/// An open brace, or the word itself.
#[derive(Default)]
struct BraceFrame {
    /// Offset of the brace.
    open: u32,
    /// Alternatives before the last comma.
    done: Vec<Word>,
    current: PartBuffer,
    current_start: u32,
}

impl ShellParser<'_> {
    /// Replaces `{a,b}` in the literals of a word by brace parts.
    pub(super) fn expand_braces(&mut self, word: &mut Word) -> ParseResult {
        let has = |letter: char| {
            word.parts
                .iter()
                .any(|part| matches!(part, WordPart::Literal(text) if text.text.contains(letter)))
        };
        if !has('{') || !has('}') {
            return Ok(());
        }
        let mut frames = Vec::new();
        let mut base = BraceFrame { current_start: word.span.start, ..BraceFrame::default() };
        for part in std::mem::take(&mut word.parts).into_vec() {
            match part {
                WordPart::Literal(literal) => self.braces_in(&literal, &mut base, &mut frames)?,
                part => frames.last_mut().unwrap_or(&mut base).current.push_part(part),
            }
        }
        while let Some(frame) = frames.pop() {
            leave_literal(frame, &mut frames.last_mut().unwrap_or(&mut base).current);
        }
        word.parts = SmallList::from(base.current.finish());
        Ok(())
    }

    fn braces_in(
        &mut self,
        literal: &Literal,
        base: &mut BraceFrame,
        frames: &mut Vec<BraceFrame>,
    ) -> ParseResult {
        let mut offset = literal.span.start;
        for piece in literal.text.split_inclusive(['{', '}', ',']) {
            let text = piece.strip_suffix(['{', '}', ',']).unwrap_or(piece);
            let sign = piece.as_bytes().get(text.len()).copied();
            let end = offset.saturating_add(byte_length(text));
            let is_nested = !frames.is_empty();
            let frame = frames.last_mut().unwrap_or(base);
            frame.current.push_text(text, offset);
            match sign {
                Some(b'{') => {
                    if frames.len() >= MAX_BRACES {
                        return Err(self.stop(UnparsedReason::TooDeep));
                    }
                    frames.push(BraceFrame { open: end, current_start: end + 1, ..BraceFrame::default() });
                }
                Some(b',') if is_nested => {
                    self.count_nodes(3)?;
                    frame.finish_alternative(end);
                    frame.current_start = end + 1;
                }
                Some(b'}') if is_nested => {
                    self.count_nodes(3)?;
                    if let Some(frame) = frames.pop() {
                        close_frame(frame, end, &mut frames.last_mut().unwrap_or(base).current);
                    }
                }
                Some(b',') => frame.current.push_text(",", end),
                Some(b'}') => frame.current.push_text("}", end),
                _ => {}
            }
            offset = end + 1;
        }
        Ok(())
    }
}

impl BraceFrame {
    /// Ends an alternative at this offset.
    fn finish_alternative(&mut self, end: u32) {
        let parts = SmallList::from(std::mem::take(&mut self.current).finish());
        self.done.push(Word { parts, span: Span { start: self.current_start, end } });
    }
}

/// Ends a brace, which is a list of alternatives, a sequence, or only text.
fn close_frame(mut frame: BraceFrame, end: u32, outer: &mut PartBuffer) {
    let span = Span { start: frame.open, end: end + 1 };
    let kind = if frame.done.is_empty() {
        if frame.current.parts.is_empty() { sequence(&frame.current.text) } else { None }
    } else {
        frame.finish_alternative(end);
        Some(BraceKind::Alternatives(std::mem::take(&mut frame.done)))
    };
    if let Some(kind) = kind {
        outer.push_part(WordPart::Brace(Box::new(BraceExpansion { kind, span })));
    } else {
        leave_literal(frame, outer);
        outer.push_text("}", end);
    }
}

/// Turns a brace that does not expand back into literal text.
fn leave_literal(frame: BraceFrame, outer: &mut PartBuffer) {
    outer.push_text("{", frame.open);
    for alternative in frame.done {
        let end = alternative.span.end;
        alternative.parts.into_vec().into_iter().for_each(|part| outer.push_part(part));
        outer.push_text(",", end);
    }
    frame.current.finish().into_iter().for_each(|part| outer.push_part(part));
}

fn byte_length(text: &str) -> u32 {
    u32::try_from(text.len()).unwrap_or(u32::MAX)
}

/// Parses `1..9` or `a..e..2`.
fn sequence(text: &str) -> Option<BraceKind> {
    let (first, rest) = text.split_once("..")?;
    let (last, step) = match rest.split_once("..") {
        Some((last, step)) => (last, Some(step)),
        None => (rest, None),
    };
    let is_number = |text: &str| text.parse::<i64>().is_ok();
    let is_letter = |text: &str| matches!(text.as_bytes(), [letter] if letter.is_ascii_alphabetic());
    let is_range = (is_number(first) && is_number(last)) || (is_letter(first) && is_letter(last));
    if !is_range || !step.is_none_or(is_number) {
        return None;
    }
    Some(BraceKind::Sequence { first: first.into(), last: last.into(), step: step.map(Into::into) })
}
