// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Detects the layout of a file, and inserts or removes list items without changing anything else.

use std::{collections::BTreeSet, ops::Range};

use jsonc_parser::ast::Value;

use super::{
    node::JsonNode,
    source::{ItemList, JsoncSource, JsoncTokenKind},
};

/// A replacement of a byte range.
#[derive(Debug)]
pub(super) struct TextEdit {
    pub(super) range: Range<usize>,
    pub(super) text: String,
}

impl TextEdit {
    fn insert(at: usize, text: String) -> Self {
        Self { range: at..at, text }
    }

    fn delete(range: Range<usize>) -> Self {
        Self { range, text: String::new() }
    }
}

/// Applies edits that do not overlap; edits at one position are applied in the given order.
pub(super) fn apply(text: &str, mut edits: Vec<TextEdit>) -> String {
    edits.sort_by_key(|edit| edit.range.start);
    let mut out = String::with_capacity(text.len());
    let mut cursor = 0;
    for edit in edits {
        out.push_str(text.get(cursor..edit.range.start).unwrap_or_default());
        out.push_str(&edit.text);
        cursor = edit.range.end.max(cursor);
    }
    out.push_str(text.get(cursor..).unwrap_or_default());
    out
}

/// Formatting conventions of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TextLayout {
    pub(super) newline: &'static str,
    unit: String,
    after_colon: &'static str,
    after_comma: &'static str,
}

/// Position and formatting of new items in one list.
pub(super) struct InsertPosition {
    /// Indentation of items that have their own line.
    own_line: Option<String>,
    /// Whether new items span several lines.
    pub(super) spread: bool,
    /// Indentation of the line on which a new item starts.
    pub(super) indent: String,
}

impl TextLayout {
    pub(super) fn of(source: &JsoncSource<'_>) -> Self {
        let text = source.text;
        let newline = match (text.find("\r\n"), text.find('\n'), text.find('\r')) {
            (Some(pair), Some(feed), _) if pair < feed => "\r\n",
            (None, None, Some(_)) => "\r",
            _ => "\n",
        };
        let follows = |mark: JsoncTokenKind, ends_line_counts: bool| {
            source.tokens().iter().filter(|token| token.mark == mark).find_map(|token| {
                let next = text.get(token.range.end..).and_then(|rest| rest.chars().next())?;
                match next {
                    '\n' | '\r' if !ends_line_counts => None,
                    next if next.is_whitespace() => Some(" "),
                    _ => Some(""),
                }
            })
        };
        let after_colon = follows(JsoncTokenKind::Colon, true).unwrap_or(" ");
        let after_comma = follows(JsoncTokenKind::Comma, false).unwrap_or(after_colon);
        let unit = source.root().ok().flatten().and_then(|root| {
            let list = ItemList::of_object(root);
            let mut values = root.properties.iter().map(|property| &property.value);
            first_indent(source, &list).or_else(|| values.find_map(|value| indent_within(source, value)))
        });
        Self { newline, unit: unit.unwrap_or_else(|| "  ".into()), after_colon, after_comma }
    }

    /// Position of the next item of `list`. For an empty list, `roomy` means that the item gets its own line.
    pub(super) fn slot(&self, source: &JsoncSource<'_>, list: &ItemList, roomy: bool) -> InsertPosition {
        let Some(newest) = list.items.last() else {
            let indent = format!("{}{}", line_indent(source, list.open), self.unit);
            return if roomy {
                InsertPosition { own_line: Some(indent.clone()), spread: true, indent }
            } else {
                InsertPosition {
                    own_line: None,
                    spread: false,
                    indent: line_indent(source, list.open).into(),
                }
            };
        };
        let indent = line_indent(source, newest.start);
        if starts_line(source, newest.start) {
            return InsertPosition { own_line: Some(indent.into()), spread: true, indent: indent.into() };
        }
        let spread = source.slice(newest.clone()).contains(['\n', '\r']);
        InsertPosition { own_line: None, spread, indent: indent.into() }
    }

    /// Appends `items`, already rendered for `slot`, to `list`.
    pub(super) fn append(
        &self,
        source: &JsoncSource<'_>,
        list: &ItemList,
        slot: &InsertPosition,
        items: &[String],
    ) -> Vec<TextEdit> {
        if items.is_empty() {
            return Vec::new();
        }
        let mut edits = Vec::new();
        let neighbour = list.items.last();
        let after_last = neighbour.map_or(list.open, |item| item.end);
        let inside = source.tokens_in(after_last..list.close);
        let tail = inside.last().map_or(after_last, |token| token.range.end);
        let after_line_comment = inside.last().is_some_and(|token| token.mark == JsoncTokenKind::LineComment);
        let trailing_comma = inside.iter().any(|token| token.mark == JsoncTokenKind::Comma);
        if neighbour.is_some() && !trailing_comma {
            edits.push(TextEdit::insert(after_last, ",".into()));
        }

        let mut text = String::new();
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                text.push(',');
            }
            match &slot.own_line {
                Some(indent) => {
                    text.push_str(self.newline);
                    text.push_str(indent);
                }
                None if index == 0 && after_line_comment => {
                    text.push_str(self.newline);
                    text.push_str(&slot.indent);
                }
                None if index == 0 && neighbour.is_none() && inside.is_empty() => {}
                None => text.push_str(self.after_comma),
            }
            text.push_str(item);
        }
        if trailing_comma {
            text.push(',');
        }
        edits.push(TextEdit::insert(tail, text));

        if neighbour.is_none() && slot.own_line.is_some() {
            let rest = source.slice(tail..list.close);
            if inside.is_empty() || !rest.contains(['\n', '\r']) {
                let text = format!("{}{}", self.newline, line_indent(source, list.open));
                edits.push(TextEdit { range: tail..list.close, text });
            }
        }
        edits
    }

    pub(super) fn render(&self, node: &JsonNode, indent: &str, spread: bool) -> String {
        let mut out = String::new();
        self.write(&mut out, node, indent, spread);
        out
    }

    pub(super) fn render_property(&self, name: &str, node: &JsonNode, indent: &str, spread: bool) -> String {
        format!("{}:{}{}", JsonNode::text(name).scalar(), self.after_colon, self.render(node, indent, spread))
    }

    fn write(&self, out: &mut String, node: &JsonNode, indent: &str, spread: bool) {
        let inner = format!("{indent}{}", self.unit);
        let (open, close, items): (_, _, Vec<String>) = match node {
            JsonNode::Object(properties) => {
                let render =
                    |(name, value): &(String, JsonNode)| self.render_property(name, value, &inner, spread);
                ('{', '}', properties.iter().map(render).collect())
            }
            JsonNode::List(items) => {
                ('[', ']', items.iter().map(|item| self.render(item, &inner, spread)).collect())
            }
            scalar => return out.push_str(&scalar.scalar()),
        };
        out.push(open);
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            if spread {
                out.push_str(self.newline);
                out.push_str(&inner);
            } else if index > 0 {
                out.push_str(self.after_comma);
            }
            out.push_str(item);
        }
        if spread && !items.is_empty() {
            out.push_str(self.newline);
            out.push_str(indent);
        }
        out.push(close);
    }
}

/// Removes the items with these indices from `list`, each with its comma and the white space before it.
pub(super) fn take_out(source: &JsoncSource<'_>, list: &ItemList, gone: &BTreeSet<usize>) -> Vec<TextEdit> {
    if gone.is_empty() {
        return Vec::new();
    }
    let survivors: Vec<usize> = (0..list.items.len()).filter(|index| !gone.contains(index)).collect();
    if survivors.is_empty() && !has_own_comments(source, list) {
        return vec![TextEdit::delete(list.open..list.close)];
    }

    let mut edits = Vec::new();
    // The last kept token before the current item.
    let before_first = list.open..list.items.first().map_or(list.close, |item| item.start);
    let mut last_kept =
        source.tokens_in(before_first).last().map_or(JsoncTokenKind::Other, |token| token.mark);
    let orphan_comma = match (gone.last(), survivors.last()) {
        (Some(&end), Some(&survivor)) if end > survivor && comma_after(source, list, end).is_none() => {
            comma_after(source, list, survivor)
        }
        _ => None,
    };
    edits.extend(orphan_comma.map(TextEdit::delete));

    for (index, item) in list.items.iter().enumerate() {
        let gap = list.gap_after(index);
        let after: Vec<_> = source.tokens_in(gap.clone()).iter().collect();
        if !gone.contains(&index) {
            last_kept = after.last().map_or(JsoncTokenKind::Other, |token| token.mark);
            continue;
        }
        let comma = comma_after(source, list, index);
        let comment_before_comma = after.first().is_some_and(|token| token.mark.is_comment());
        let end = match &comma {
            Some(comma) if !comment_before_comma => comma.end,
            _ => item.end,
        };
        let next = source.tokens_in(end..gap.end).first().map_or(gap.end, |token| token.range.start);
        let line_ends_after = source.slice(end..next).contains(['\n', '\r']);
        let next_goes_too = next == gap.end && gone.contains(&(index + 1));
        // A line comment before the item must keep its line end, or it would comment out what follows.
        let start = if last_kept == JsoncTokenKind::LineComment && (!line_ends_after || next_goes_too) {
            item.start
        } else {
            source.text.get(..item.start).map_or(item.start, |before| before.trim_end().len())
        };
        edits.push(TextEdit::delete(start..end));
        if comment_before_comma {
            edits.extend(comma.map(TextEdit::delete));
        }
        let kept = after.iter().rfind(|token| token.mark.is_comment());
        last_kept = kept.map_or(last_kept, |token| token.mark);
    }
    edits
}

/// Whether there are comments between the items.
pub(super) fn has_own_comments(source: &JsoncSource<'_>, list: &ItemList) -> bool {
    list.gaps().any(|gap| source.tokens_in(gap).iter().any(|token| token.mark.is_comment()))
}

fn comma_after(source: &JsoncSource<'_>, list: &ItemList, index: usize) -> Option<Range<usize>> {
    let gap = source.tokens_in(list.gap_after(index));
    gap.iter().find(|token| token.mark == JsoncTokenKind::Comma).map(|token| token.range.clone())
}

fn line_start(source: &JsoncSource<'_>, offset: usize) -> usize {
    source.slice(0..offset).rfind(['\n', '\r']).map_or(0, |at| at + 1)
}

/// White space at the start of the line that contains `offset`.
pub(super) fn line_indent<'t>(source: &JsoncSource<'t>, offset: usize) -> &'t str {
    let line = source.slice(line_start(source, offset)..offset);
    let width = line.len() - line.trim_start_matches([' ', '\t']).len();
    line.get(..width).unwrap_or_default()
}

fn starts_line(source: &JsoncSource<'_>, offset: usize) -> bool {
    let start = line_start(source, offset);
    start > 0 && source.slice(start..offset).trim().is_empty()
}

fn first_indent(source: &JsoncSource<'_>, list: &ItemList) -> Option<String> {
    let first = list.items.first()?;
    if !starts_line(source, first.start) {
        return None;
    }
    let step = line_indent(source, first.start).strip_prefix(line_indent(source, list.open))?;
    (!step.is_empty()).then(|| step.to_owned())
}

fn indent_within(source: &JsoncSource<'_>, value: &Value<'_>) -> Option<String> {
    match value {
        Value::Object(object) => first_indent(source, &ItemList::of_object(object))
            .or_else(|| object.properties.iter().find_map(|property| indent_within(source, &property.value))),
        Value::Array(array) => first_indent(source, &ItemList::of_array(array))
            .or_else(|| array.elements.iter().find_map(|item| indent_within(source, item))),
        _ => None,
    }
}
