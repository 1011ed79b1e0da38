// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A YAML document as a tree in which every node knows its place.
//!
//! The tree stands between the YAML reader and the wire types so that each entry can be read, and
//! refused, on its own. Aliases and merge keys are resolved by the reader before we see them.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{DuplicateKeyPolicy, Spanned};

use crate::Spot;

/// A node and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Where it stands.
    pub spot: Spot,
    /// What it holds.
    pub value: Value,
}

/// What a node holds. Keys keep their order and their repetitions.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Value {
    Null,
    Bool(bool),
    Whole(i64),
    Real(f64),
    Text(String),
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
}

/// Reads a whole document; an error says where and what.
pub fn parse(text: &str) -> Result<Node, (Spot, String)> {
    // A key given twice is reported for the entry it stands in, not for the whole file; and `y` and
    // `n` are option letters, not booleans.
    let options = serde_saphyr::options! {
        duplicate_keys: DuplicateKeyPolicy::LastWins,
        strict_booleans: true,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options::<Node>(text, options).map_err(|error| {
        let spot = error.location().map_or_else(Spot::default, spot);
        let message = error.without_snippet().render_with_formatter(&serde_saphyr::UserMessageFormatter);
        (spot, message)
    })
}

fn spot(location: serde_saphyr::Location) -> Spot {
    let number = |wide: u64| usize::try_from(wide).unwrap_or(0);
    Spot { line: number(location.line()), column: number(location.column()) }
}

// === impl Node ===

impl Node {
    /// The value of a key of a map.
    pub fn get(&self, key: &str) -> Option<&Node> {
        let Value::Map(entries) = &self.value else { return None };
        entries.iter().find(|(name, _)| name.text() == Some(key)).map(|(_, value)| value)
    }

    /// The text, if it is one.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Spanned { value, referenced, .. } = Spanned::<Value>::deserialize(deserializer)?;
        Ok(Self { spot: spot(referenced), value })
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Whole(value))
    }

    /// A number that does not fit is a misfit of the entry it stands in, not of the file.
    #[expect(clippy::cast_precision_loss, reason = "whoever wants a whole number refuses it")]
    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        Ok(i64::try_from(value).map_or(Value::Real(value as f64), Value::Whole))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Real(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            map.push(entry);
        }
        Ok(Value::Map(map))
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
        let Value::Map(entries) = &tree.value else { panic!() };
        assert_eq!(entries.len(), 3);
    }

    #[test]
    fn broken_yaml_says_where() {
        let (spot, _) = parse("a: 1\nb: [1, 2\nc: 3\n").unwrap_err();
        assert!(spot.line >= 2, "{spot:?}");
    }
}
