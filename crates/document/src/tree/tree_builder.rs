// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Builds the tree from the events of the YAML parser.

use std::collections::HashMap;

use granit_parser::{ErrorKind, Event, Marker, Parser, ScanError, Span, Tag};

use super::{Node, Value, merge, scalar};
use crate::Spot;

/// Maximum depth of a document, with aliases expanded.
const MAX_DEPTH: usize = 64;
/// Maximum number of nodes, with aliases expanded. Without a limit, a few lines of nested aliases could expand to
/// more than fits in memory.
const MAX_NODES: usize = 250_000;
/// Maximum number of bytes in all strings together, with aliases expanded.
const MAX_TEXT_BYTES: usize = 64 << 20;

type ParseFailure = (Spot, String);

/// Parses a document. An error has a position and a message.
pub fn parse(text: &str) -> Result<Node, (Spot, String)> {
    let options = granit_parser::options! { emit_comments: false };
    let mut events = Parser::new_from_str_with_options(text, options);
    let mut tree = TreeBuilder::default();
    // Set after `...`, which ends the document. Text that is not YAML may follow.
    let mut closed = false;
    while let Some(event) = events.next_event() {
        let (event, span) = match event {
            Ok(event) => event,
            Err(_) if closed => break,
            Err(error) => return Err(scan_failure(&error)),
        };
        closed = match event {
            Event::DocumentEnd => !span.is_empty(),
            Event::StreamEnd => closed,
            _ => false,
        };
        tree.handle_event(event, &span)?;
    }
    Ok(tree.root.unwrap_or(Node { spot: tree.last, value: Value::Null }))
}

fn spot(mark: &Marker) -> Spot {
    Spot { line: mark.line(), column: mark.col() + 1 }
}

fn scan_failure(error: &ScanError) -> ParseFailure {
    let message = match error.kind() {
        ErrorKind::UnknownAnchor => "reference to unknown value".to_owned(),
        _ => error.info(),
    };
    (spot(error.marker()), message)
}

/// A tree that is being built.
#[derive(Default)]
struct TreeBuilder {
    root: Option<Node>,
    /// The lists and maps that are not closed yet, outermost first.
    open: Vec<OpenCollection>,
    /// Nodes that aliases may refer to.
    anchored: HashMap<usize, Node>,
    size: DocumentSize,
    last: Spot,
}

/// A list or a map that is not closed yet.
struct OpenCollection {
    spot: Spot,
    anchor: usize,
    content: PartialCollection,
}

enum PartialCollection {
    List(Vec<Node>),
    Map { entries: Vec<(Node, Node)>, key: PendingKey, merged: Vec<Vec<(Node, Node)>> },
}

/// The key of the next value.
enum PendingKey {
    None,
    Merge,
    Waiting(Node),
}

/// Size of a document so far.
#[derive(Default)]
struct DocumentSize {
    nodes: usize,
    bytes: usize,
}

// === impl TreeBuilder ===

impl TreeBuilder {
    fn handle_event(&mut self, event: Event<'_>, span: &Span) -> Result<(), ParseFailure> {
        let spot = spot(&span.start);
        self.last = spot;
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let tag = tag.as_deref();
                self.size.count_node(text.len(), self.open.len(), spot)?;
                if scalar::is_merge_key(&text, style, tag) && self.starts_merge() {
                    return Ok(());
                }
                let value =
                    scalar::parse_scalar(text, style, tag).map_err(|error| (spot, error.to_string()))?;
                self.add(Node { spot, value }, anchor)
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.open_collection(spot, anchor, tag.as_deref(), "seq", PartialCollection::List(Vec::new()))
            }
            Event::MappingStart(_, anchor, tag) => {
                let map =
                    PartialCollection::Map { entries: Vec::new(), key: PendingKey::None, merged: Vec::new() };
                self.open_collection(spot, anchor, tag.as_deref(), "map", map)
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(open) => {
                    let (spot, anchor) = (open.spot, open.anchor);
                    self.add(Node { spot, value: open.content.close() }, anchor)
                }
                None => Err((spot, "list or mapping end with no start".to_owned())),
            },
            Event::Alias(anchor) => self.copy_node(anchor, spot),
            _ => Ok(()),
        }
    }

    fn open_collection(
        &mut self,
        spot: Spot,
        anchor: usize,
        tag: Option<&Tag>,
        kind: &str,
        content: PartialCollection,
    ) -> Result<(), ParseFailure> {
        scalar::check_tag(tag, kind).map_err(|error| (spot, error.to_string()))?;
        self.check_single_root(spot)?;
        self.open.push(OpenCollection { spot, anchor, content });
        self.size.count_node(0, self.open.len(), spot)
    }

    /// Whether a `<<` is a merge key at this position. In the position of a value, it is a string.
    fn starts_merge(&mut self) -> bool {
        match self.open.last_mut().map(|open| &mut open.content) {
            Some(PartialCollection::Map { key: key @ PendingKey::None, .. }) => {
                *key = PendingKey::Merge;
                true
            }
            _ => false,
        }
    }

    fn copy_node(&mut self, anchor: usize, spot: Spot) -> Result<(), ParseFailure> {
        let Some(node) = self.anchored.get(&anchor) else {
            return Err((spot, "Recursive reference not allowed here".to_owned()));
        };
        let copy = self.size.copy_node(node, self.open.len(), spot)?;
        self.add(copy, 0)
    }

    fn check_single_root(&self, spot: Spot) -> Result<(), ParseFailure> {
        if self.root.is_some() {
            return Err((spot, "only single YAML document expected but multiple found".to_owned()));
        }
        Ok(())
    }

    /// Adds a finished node to its parent.
    fn add(&mut self, node: Node, anchor: usize) -> Result<(), ParseFailure> {
        self.check_single_root(node.spot)?;
        if anchor != 0 {
            let copy = self.size.copy_node(&node, self.open.len(), node.spot)?;
            self.anchored.insert(anchor, copy);
        }
        match self.open.last_mut().map(|open| &mut open.content) {
            None => self.root = Some(node),
            Some(PartialCollection::List(items)) => items.push(node),
            Some(PartialCollection::Map { entries, key, merged }) => {
                match std::mem::replace(key, PendingKey::None) {
                    PendingKey::None => *key = PendingKey::Waiting(node),
                    PendingKey::Merge => merge::collect_maps(node, merged)?,
                    PendingKey::Waiting(key) => entries.push((key, node)),
                }
            }
        }
        Ok(())
    }
}

// === impl PartialCollection ===

impl PartialCollection {
    fn close(self) -> Value {
        match self {
            Self::List(items) => Value::List(items),
            Self::Map { mut entries, merged, .. } => {
                if !merged.is_empty() {
                    merge::merge_maps(&mut entries, merged);
                }
                Value::Map(entries)
            }
        }
    }
}

// === impl DocumentSize ===

impl DocumentSize {
    fn count_node(&mut self, bytes: usize, depth: usize, spot: Spot) -> Result<(), ParseFailure> {
        self.nodes += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        let what = if depth > MAX_DEPTH {
            format!("more than {MAX_DEPTH} levels")
        } else if self.nodes > MAX_NODES {
            format!("more than {MAX_NODES} nodes")
        } else if self.bytes > MAX_TEXT_BYTES {
            format!("more than {MAX_TEXT_BYTES} bytes of text")
        } else {
            return Ok(());
        };
        Err((spot, format!("YAML document too large or too complex: {what}")))
    }

    /// Copies a node and gives all parts of the copy the same position.
    fn copy_node(&mut self, node: &Node, depth: usize, spot: Spot) -> Result<Node, ParseFailure> {
        let depth = depth + usize::from(matches!(node.value, Value::List(_) | Value::Map(_)));
        self.count_node(node.text().map_or(0, str::len), depth, spot)?;
        let value = match &node.value {
            Value::List(items) => {
                let items = items.iter().map(|item| self.copy_node(item, depth, spot));
                Value::List(items.collect::<Result<_, _>>()?)
            }
            Value::Map(entries) => {
                let entries = entries.iter().map(|(key, value)| {
                    Ok((self.copy_node(key, depth, spot)?, self.copy_node(value, depth, spot)?))
                });
                Value::Map(entries.collect::<Result<_, ParseFailure>>()?)
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
