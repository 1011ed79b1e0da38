// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Represents a YAML document as a tree in which every node has its position.
//!
//! The tree is built between the YAML parser and the types, so that each entry can be read or rejected separately.
//! Aliases and merge keys are resolved while it is built.

mod merge;
mod scalar;
mod tree_builder;

pub use tree_builder::parse;

use crate::Spot;

/// A node of the tree.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Position of the node. If the node comes from an alias, this is the position of the alias.
    pub spot: Spot,
    /// Content of the node.
    pub value: Value,
}

/// Content of a node. Maps keep the order of their keys, and repeated keys.
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
    /// Returns the value of a key, if this is a map that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        let Value::Map(entries) = &self.value else { return None };
        entries.iter().find(|(name, _)| name.text() == Some(key)).map(|(_, value)| value)
    }

    /// Returns the string, if this value is one.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}
