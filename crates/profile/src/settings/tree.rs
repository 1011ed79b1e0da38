// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses JSON with comments into a tree in which every node has its position.

use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, ast, parse_to_ast};
use tenterhook_document::{Node, Spot, Value};

/// Parses a whole file; `None` if the file is blank.
pub(super) fn parse(text: &str) -> Result<Option<Node>, (Spot, String)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // The harnesses strip comments and then parse plain JSON.
    let options = ParseOptions {
        allow_comments: true,
        allow_loose_object_property_names: false,
        allow_trailing_commas: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let lines = LineStarts::of(text);
    match parse_to_ast(text, &CollectOptions::default(), &options) {
        Ok(parsed) => Ok(parsed.value.map(|value| node(&lines, &value))),
        Err(error) => {
            let message = error.kind().to_string();
            let mut letters = message.chars();
            let lower: String =
                letters.next().into_iter().flat_map(char::to_lowercase).chain(letters).collect();
            Err((lines.spot(error.range().start), lower))
        }
    }
}

fn node(lines: &LineStarts<'_>, value: &ast::Value<'_>) -> Node {
    let spot = lines.spot(value.start());
    let value = match value {
        ast::Value::NullKeyword(_) => Value::Null,
        ast::Value::BooleanLit(literal) => Value::Bool(literal.value),
        ast::Value::StringLit(literal) => Value::Text(literal.value.clone().into_owned()),
        ast::Value::NumberLit(literal) => match literal.value.parse::<i64>() {
            Ok(whole) => Value::Whole(whole),
            Err(_) => Value::Real(literal.value.parse().unwrap_or(f64::INFINITY)),
        },
        ast::Value::Array(array) => {
            Value::List(array.elements.iter().map(|value| node(lines, value)).collect())
        }
        ast::Value::Object(object) => {
            let mut entries: Vec<(Node, Node)> = Vec::with_capacity(object.properties.len());
            for property in &object.properties {
                let name = property.name.as_str().to_owned();
                // If a key occurs twice, the last value applies, as in JavaScript.
                entries.retain(|(key, _)| key.text() != Some(&name));
                let key = Node { spot: lines.spot(property.start()), value: Value::Text(name) };
                entries.push((key, node(lines, &property.value)));
            }
            Value::Map(entries)
        }
    };
    Node { spot, value }
}

/// Offsets at which lines begin.
struct LineStarts<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> LineStarts<'a> {
    fn of(text: &'a str) -> Self {
        let breaks = text.char_indices().filter(|(_, char)| *char == '\n').map(|(at, _)| at + 1);
        Self { text, starts: std::iter::once(0).chain(breaks).collect() }
    }

    fn spot(&self, offset: usize) -> Spot {
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self.starts.get(line.saturating_sub(1)).copied().unwrap_or_default();
        let column = self.text.get(start..offset).map_or(0, |before| before.chars().count()) + 1;
        Spot { line, column }
    }
}
