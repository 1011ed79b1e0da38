// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A JSON value to be written, with its keys in a fixed order.

use jsonc_parser::ast::Value;

/// A JSON value to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JsonNode {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Number(u64),
    /// A JSON string.
    Text(String),
    /// A JSON array.
    List(Vec<JsonNode>),
    /// A JSON object, with its keys in order.
    Object(Vec<(String, JsonNode)>),
    /// Existing text that is written unchanged.
    Raw(String),
}

impl JsonNode {
    /// A string value.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// An object with these properties, in this order.
    pub fn object<'k>(properties: impl IntoIterator<Item = (&'k str, JsonNode)>) -> Self {
        Self::Object(properties.into_iter().map(|(name, node)| (name.to_owned(), node)).collect())
    }

    pub(crate) fn scalar(&self) -> String {
        match self {
            Self::Bool(value) => value.to_string(),
            Self::Number(value) => value.to_string(),
            Self::Text(value) => serde_json::Value::from(value.as_str()).to_string(),
            Self::Raw(text) => text.clone(),
            Self::List(items) if items.is_empty() => "[]".to_owned(),
            Self::List(_) | Self::Object(_) => String::new(),
        }
    }

    /// Whether the file already has this value, regardless of key order and formatting.
    pub fn is_said_by(&self, value: &Value<'_>) -> bool {
        match (self, value) {
            (Self::Bool(ours), Value::BooleanLit(theirs)) => *ours == theirs.value,
            (Self::Number(ours), Value::NumberLit(theirs)) => ours.to_string() == theirs.value,
            (Self::Text(ours), Value::StringLit(theirs)) => *ours == theirs.value,
            (Self::List(ours), Value::Array(theirs)) => {
                ours.len() == theirs.elements.len()
                    && ours.iter().zip(&theirs.elements).all(|(ours, theirs)| ours.is_said_by(theirs))
            }
            (Self::Object(ours), Value::Object(theirs)) => {
                ours.len() == theirs.properties.len()
                    && ours.iter().all(|(name, node)| {
                        theirs.get(name).is_some_and(|property| node.is_said_by(&property.value))
                    })
            }
            _ => false,
        }
    }
}
