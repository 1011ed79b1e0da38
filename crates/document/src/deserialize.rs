// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Deserializes nodes into types and reports the position of a value with the wrong type.

use std::fmt;

use serde::de::{self, DeserializeOwned, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use crate::{Node, Spot, Value};

/// A value that does not fit its type.
#[derive(Debug)]
pub struct Misfit {
    /// Position of the value.
    pub spot: Spot,
    /// What is wrong with the value.
    pub message: String,
}

/// Reads one node into a type.
pub fn read<T: DeserializeOwned>(node: &Node) -> Result<T, Misfit> {
    T::deserialize(NodeDeserializer(node)).map_err(|misfit| misfit.with_spot(node.spot))
}

// === impl Misfit ===

impl Misfit {
    /// Sets the position, unless it is already set. The innermost position is set first and is the most useful one.
    fn with_spot(self, spot: Spot) -> Self {
        if self.spot == Spot::default() { Self { spot, ..self } } else { self }
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Misfit {}

impl de::Error for Misfit {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { spot: Spot::default(), message: message.to_string() }
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::custom(unknown_name("key", field, expected))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self::custom(unknown_name("value", variant, expected))
    }
}

/// Returns a message with the most similar known name, or with all known names if none is similar.
fn unknown_name(what: &str, found: &str, known: &[&str]) -> String {
    if let Some(near) = nearest(found, known.iter().copied()) {
        return format!("unknown {what} `{found}`; did you mean `{near}`?");
    }
    let known: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
    format!("unknown {what} `{found}`; known: {}", known.join(", "))
}

/// Returns the most similar known name, if at most a third of its characters differ.
pub fn nearest<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = known.into_iter().map(|name| (edit_distance(found, name), name));
    let near = near.filter(|(edits, name)| *edits <= name.chars().count().div_ceil(3));
    near.min_by_key(|(edits, _)| *edits).map(|(_, name)| name)
}

/// Returns the Levenshtein distance of two strings.
fn edit_distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (above, letter) in one.chars().enumerate() {
        let mut diagonal = above;
        let mut left = above + 1;
        for (cell, theirs) in row.iter_mut().skip(1).zip(&other) {
            let replaced = diagonal + usize::from(letter != *theirs);
            diagonal = *cell;
            left = replaced.min(diagonal + 1).min(left + 1);
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = above + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

struct NodeDeserializer<'a>(&'a Node);

impl<'de> de::Deserializer<'de> for NodeDeserializer<'_> {
    type Error = Misfit;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        let result = match &self.0.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Whole(value) => visitor.visit_i64(*value),
            Value::Real(value) => visitor.visit_f64(*value),
            Value::Text(value) => visitor.visit_str(value),
            Value::List(items) => visitor.visit_seq(ListAccess(items.iter())),
            Value::Map(entries) => visitor.visit_map(EntryAccess(entries.iter(), None)),
        };
        result.map_err(|misfit| misfit.with_spot(self.0.spot))
    }

    /// Accepts a number as text: `option: [1]` means the option `-1`.
    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match &self.0.value {
            Value::Whole(number) => visitor.visit_string(number.to_string()),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        self.deserialize_string(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.0.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        let Some(word) = self.0.text() else {
            return Err(de::Error::custom("expected a single word"));
        };
        visitor.visit_enum(word.into_deserializer()).map_err(|misfit: Misfit| misfit.with_spot(self.0.spot))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

struct ListAccess<'a>(std::slice::Iter<'a, Node>);

impl<'de> de::SeqAccess<'de> for ListAccess<'_> {
    type Error = Misfit;

    fn next_element_seed<T: de::DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Misfit> {
        let Some(node) = self.0.next() else { return Ok(None) };
        seed.deserialize(NodeDeserializer(node)).map(Some).map_err(|misfit| misfit.with_spot(node.spot))
    }
}

struct EntryAccess<'a>(std::slice::Iter<'a, (Node, Node)>, Option<&'a (Node, Node)>);

impl<'de> de::MapAccess<'de> for EntryAccess<'_> {
    type Error = Misfit;

    fn next_key_seed<K: de::DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Misfit> {
        self.1 = self.0.next();
        let Some((key, _)) = self.1 else { return Ok(None) };
        seed.deserialize(NodeDeserializer(key)).map(Some).map_err(|misfit| misfit.with_spot(key.spot))
    }

    fn next_value_seed<V: de::DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Misfit> {
        let Some((key, value)) = self.1 else {
            return Err(de::Error::custom("a value without its key"));
        };
        // serde reports a repeated key ("duplicate field") here, and only the key has a useful position.
        seed.deserialize(NodeDeserializer(value)).map_err(|misfit| misfit.with_spot(key.spot))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree;

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Sample {
        #[serde(default)]
        names: Vec<String>,
        #[serde(default)]
        flag: Option<bool>,
    }

    #[test]
    fn what_does_not_fit_is_reported_where_it_stands() {
        let place = |text: &str| {
            let misfit = read::<Sample>(&tree::parse(text).unwrap()).unwrap_err();
            (misfit.spot.line, misfit.spot.column)
        };
        assert_eq!(place("names: [a]\nflak: true\n"), (2, 1));
        assert_eq!(place("names:\n  - a\n  - {}\n"), (3, 5));
        assert_eq!(place("flag: perhaps\n"), (1, 7));
    }

    #[test]
    fn a_key_that_is_nearly_right_is_told_the_right_one() {
        let message = |text: &str| read::<Sample>(&tree::parse(text).unwrap()).unwrap_err().message;
        assert_eq!(message("nmaes: [a]"), "unknown key `nmaes`; did you mean `names`?");
        assert_eq!(message("colour: x"), "unknown key `colour`; known: `names`, `flag`");
        assert_eq!(
            (edit_distance("kitten", "sitting"), edit_distance("", "ab"), edit_distance("ab", "")),
            (3, 2, 2)
        );
    }

    #[test]
    fn a_number_where_a_name_is_wanted_is_its_digits() {
        let sample: Sample = read(&tree::parse("names: [1, b]\nflag: true").unwrap()).unwrap();
        assert_eq!(sample.names, ["1", "b"]);
        assert_eq!(sample.flag, Some(true));
    }
}
