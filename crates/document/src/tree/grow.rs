// SPDX-License-Identifier: Apache-2.0 OR MIT

//! From the events of the YAML parser to the tree.

use std::collections::HashMap;

use granit_parser::{ErrorKind, Event, Marker, Parser, ScanError, Span, Tag};

use super::{Node, Value, merge, scalar};
use crate::Spot;

/// How deep a document may go, with what its aliases stand for.
const DEEPEST: usize = 64;
/// How many nodes it may have, with what its aliases stand for: a few lines of aliases of aliases stand
/// for more than any machine can hold.
const MOST: usize = 250_000;
/// How many bytes its texts may have together, with what its aliases stand for.
const LONGEST: usize = 64 << 20;

type Wrong = (Spot, String);

/// Reads a whole document; an error says where and what.
pub fn parse(text: &str) -> Result<Node, (Spot, String)> {
    let options = granit_parser::options! { emit_comments: false };
    let mut events = Parser::new_from_str_with_options(text, options);
    let mut tree = Growing::default();
    // After `...` comes another document or nothing of ours.
    let mut closed = false;
    while let Some(event) = events.next_event() {
        let (event, span) = match event {
            Ok(event) => event,
            Err(_) if closed => break,
            Err(error) => return Err(unreadable(&error)),
        };
        closed = match event {
            Event::DocumentEnd => !span.is_empty(),
            Event::StreamEnd => closed,
            _ => false,
        };
        tree.take(event, &span)?;
    }
    Ok(tree.root.unwrap_or(Node { spot: tree.last, value: Value::Null }))
}

fn spot(mark: &Marker) -> Spot {
    Spot { line: mark.line(), column: mark.col() + 1 }
}

fn unreadable(error: &ScanError) -> Wrong {
    let message = match error.kind() {
        ErrorKind::UnknownAnchor => "reference to unknown value".to_owned(),
        _ => error.info(),
    };
    (spot(error.marker()), message)
}

/// A tree while its events come in.
#[derive(Default)]
struct Growing {
    root: Option<Node>,
    /// The lists and maps that are not closed yet, outermost first.
    open: Vec<Open>,
    /// What aliases may stand for.
    anchored: HashMap<usize, Node>,
    size: Size,
    last: Spot,
}

/// A list or a map that is not closed yet.
struct Open {
    spot: Spot,
    anchor: usize,
    holds: Holds,
}

enum Holds {
    List(Vec<Node>),
    Map { entries: Vec<(Node, Node)>, key: Key, merged: Vec<Vec<(Node, Node)>> },
}

/// The key whose value comes next.
enum Key {
    None,
    Merge,
    Is(Node),
}

/// How large a document has become.
#[derive(Default)]
struct Size {
    nodes: usize,
    bytes: usize,
}

// === impl Growing ===

impl Growing {
    fn take(&mut self, event: Event<'_>, span: &Span) -> Result<(), Wrong> {
        let spot = spot(&span.start);
        self.last = spot;
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let tag = tag.as_deref();
                self.size.grow(text.len(), self.open.len(), spot)?;
                if scalar::merges(&text, style, tag) && self.starts_merge() {
                    return Ok(());
                }
                let value = scalar::scalar(text, style, tag).map_err(|error| (spot, error.to_string()))?;
                self.add(Node { spot, value }, anchor)
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.start(spot, anchor, tag.as_deref(), "seq", Holds::List(Vec::new()))
            }
            Event::MappingStart(_, anchor, tag) => {
                let map = Holds::Map { entries: Vec::new(), key: Key::None, merged: Vec::new() };
                self.start(spot, anchor, tag.as_deref(), "map", map)
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(open) => {
                    let (spot, anchor) = (open.spot, open.anchor);
                    self.add(Node { spot, value: open.holds.close() }, anchor)
                }
                None => Err((spot, "list or mapping end with no start".to_owned())),
            },
            Event::Alias(anchor) => self.copy(anchor, spot),
            _ => Ok(()),
        }
    }

    fn start(
        &mut self,
        spot: Spot,
        anchor: usize,
        tag: Option<&Tag>,
        kind: &str,
        holds: Holds,
    ) -> Result<(), Wrong> {
        scalar::fits(tag, kind).map_err(|error| (spot, error.to_string()))?;
        self.only_one(spot)?;
        self.open.push(Open { spot, anchor, holds });
        self.size.grow(0, self.open.len(), spot)
    }

    /// Whether a `<<` is a key here: as a value it is a text.
    fn starts_merge(&mut self) -> bool {
        match self.open.last_mut().map(|open| &mut open.holds) {
            Some(Holds::Map { key: key @ Key::None, .. }) => {
                *key = Key::Merge;
                true
            }
            _ => false,
        }
    }

    fn copy(&mut self, anchor: usize, spot: Spot) -> Result<(), Wrong> {
        let Some(node) = self.anchored.get(&anchor) else {
            return Err((spot, "Recursive reference not allowed here".to_owned()));
        };
        let copy = self.size.copy(node, self.open.len(), spot)?;
        self.add(copy, 0)
    }

    fn only_one(&self, spot: Spot) -> Result<(), Wrong> {
        if self.root.is_some() {
            return Err((spot, "only single YAML document expected but multiple found".to_owned()));
        }
        Ok(())
    }

    /// Puts a finished node where it belongs.
    fn add(&mut self, node: Node, anchor: usize) -> Result<(), Wrong> {
        self.only_one(node.spot)?;
        if anchor != 0 {
            let kept = self.size.copy(&node, self.open.len(), node.spot)?;
            self.anchored.insert(anchor, kept);
        }
        match self.open.last_mut().map(|open| &mut open.holds) {
            None => self.root = Some(node),
            Some(Holds::List(items)) => items.push(node),
            Some(Holds::Map { entries, key, merged }) => match std::mem::replace(key, Key::None) {
                Key::None => *key = Key::Is(node),
                Key::Merge => merge::maps(node, merged)?,
                Key::Is(key) => entries.push((key, node)),
            },
        }
        Ok(())
    }
}

// === impl Holds ===

impl Holds {
    fn close(self) -> Value {
        match self {
            Self::List(items) => Value::List(items),
            Self::Map { mut entries, merged, .. } => {
                if !merged.is_empty() {
                    merge::merge(&mut entries, merged);
                }
                Value::Map(entries)
            }
        }
    }
}

// === impl Size ===

impl Size {
    fn grow(&mut self, bytes: usize, depth: usize, spot: Spot) -> Result<(), Wrong> {
        self.nodes += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        let what = if depth > DEEPEST {
            format!("more than {DEEPEST} levels")
        } else if self.nodes > MOST {
            format!("more than {MOST} nodes")
        } else if self.bytes > LONGEST {
            format!("more than {LONGEST} bytes of text")
        } else {
            return Ok(());
        };
        Err((spot, format!("YAML document too large or too complex: {what}")))
    }

    /// A copy of a node whose every part stands at one place.
    fn copy(&mut self, node: &Node, depth: usize, spot: Spot) -> Result<Node, Wrong> {
        let depth = depth + usize::from(matches!(node.value, Value::List(_) | Value::Map(_)));
        self.grow(node.text().map_or(0, str::len), depth, spot)?;
        let value = match &node.value {
            Value::List(items) => {
                let items = items.iter().map(|item| self.copy(item, depth, spot));
                Value::List(items.collect::<Result<_, _>>()?)
            }
            Value::Map(entries) => {
                let entries = entries
                    .iter()
                    .map(|(key, value)| Ok((self.copy(key, depth, spot)?, self.copy(value, depth, spot)?)));
                Value::Map(entries.collect::<Result<_, Wrong>>()?)
            }
            plain => plain.clone(),
        };
        Ok(Node { spot, value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_knows_its_line_and_column() {
        let tree = parse("version: 1\nrules:\n  - id: a\n    match: {}\n").unwrap();
        let Value::List(rules) = &tree.get("rules").unwrap().value else { panic!() };
        assert_eq!(rules[0].spot, Spot { line: 3, column: 5 });
        assert_eq!(rules[0].get("match").unwrap().spot, Spot { line: 4, column: 12 });
    }

    #[test]
    fn aliases_and_repeated_keys_survive_the_reading() {
        let tree = parse("a: &x [y, n]\nb: *x\nb: 2\n").unwrap();
        let Value::List(items) = &tree.get("b").unwrap().value else { panic!() };
        let texts: Vec<_> = items.iter().map(Node::text).collect();
        assert_eq!(texts, [Some("y"), Some("n")]);
        assert_eq!(items[1].spot, Spot { line: 2, column: 4 }, "where the alias stands");
        let Value::Map(entries) = &tree.value else { panic!() };
        assert_eq!(entries.len(), 3);
    }

    #[test]
    fn broken_yaml_says_where() {
        let (spot, _) = parse("a: 1\nb: [1, 2\nc: 3\n").unwrap_err();
        assert!(spot.line >= 2, "{spot:?}");
    }

    #[test]
    fn merged_maps_give_what_is_not_written_out() {
        let tree =
            parse("a: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\nc: {<<: [*a, *b], x: 0}\nd: {<<: *b}\n").unwrap();
        let number = |map: &str, key: &str| tree.get(map).unwrap().get(key).map(|node| node.value.clone());
        assert_eq!(number("c", "x"), Some(Value::Whole(0)));
        assert_eq!(number("c", "y"), Some(Value::Whole(1)));
        assert_eq!(number("c", "z"), Some(Value::Whole(2)));
        assert_eq!(number("d", "z"), Some(Value::Whole(2)));
        assert_eq!(number("d", "<<"), None);
        let (at, message) = parse("a: {<<: b}").unwrap_err();
        assert_eq!(
            (at.column, message.as_str()),
            (9, "YAML merge value must be mapping or sequence of mappings")
        );
        assert_eq!(parse("a: <<").unwrap().get("a").unwrap().text(), Some("<<"), "as a value it is a text");
    }

    #[test]
    fn what_stands_for_too_much_is_refused() {
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..9 {
            let below = vec![format!("*a{}", level - 1); 10].join(", ");
            bomb += &format!("a{level}: &a{level} [{below}]\n");
        }
        let refused = |text: &str| parse(text).unwrap_err();
        let (at, message) = refused(&bomb);
        assert_eq!(message, "YAML document too large or too complex: more than 250000 nodes");
        assert!(at.line > 3, "{at:?}");
        let (_, message) = refused(&format!("{}x{}", "[".repeat(65), "]".repeat(65)));
        assert_eq!(message, "YAML document too large or too complex: more than 64 levels");
        let half = format!("{}x{}", "[".repeat(40), "]".repeat(40));
        let (at, _) = refused(&format!("a: &a {half}\nb: {}*a{}", "[".repeat(40), "]".repeat(40)));
        assert_eq!(at, Spot { line: 2, column: 44 });
        assert_eq!(refused("a: &a [*a]").1, "Recursive reference not allowed here");
        assert_eq!(refused("a: *b").1, "reference to unknown value");
    }

    #[test]
    fn a_file_is_one_document() {
        assert_eq!(parse("").unwrap().value, Value::Null);
        assert_eq!(parse("# nothing\n").unwrap().value, Value::Null);
        assert_eq!(parse("---\na: 1\n...\n").unwrap().get("a").unwrap().value, Value::Whole(1));
        let (at, message) = parse("a: 1\n---\nb: 2\n").unwrap_err();
        assert_eq!((at.line, message.as_str()), (3, "only single YAML document expected but multiple found"));
    }

    #[test]
    fn tags_say_what_a_node_is_and_those_of_others_say_nothing() {
        let one = |text: &str| parse(text).map(|node| node.value).map_err(|(_, message)| message);
        assert_eq!(one("!!str 12"), Ok(Value::Text("12".into())));
        assert_eq!(one("! 12"), Ok(Value::Text("12".into())));
        assert_eq!(one("!!int \"12\""), Ok(Value::Whole(12)));
        assert_eq!(one("!Ref name"), Ok(Value::Text("name".into())));
        assert_eq!(one("!!seq {}"), Err("unsupported tag `!!seq`".into()));
        assert_eq!(one("!!bool perhaps"), Err("expected `true` or `false`".into()));
    }
}
