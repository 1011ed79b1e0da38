// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A YAML document as a tree in which every node knows its place.
//!
//! The tree stands between the YAML parser and the wire types so that each entry can be read, and
//! refused, on its own. Aliases and merge keys are resolved while it grows.

mod grow;
mod merge;
mod scalar;

pub use grow::parse;

use crate::Spot;

/// A node and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Where it stands; what an alias stands for is where the alias stands.
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
