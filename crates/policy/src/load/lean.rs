// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The packs compiled in, in a form that is read in a tenth of the time: JSON, with their lists opened
//! and without their examples. `make generate` writes it; a test fails when it is stale.

use serde::Deserialize;
use serde_json::{Map, Value as Json};
use tenterhook_document::{Node, Spot, Value};

use super::{File, Header, wire};
use crate::rule::Mode;

#[derive(Deserialize)]
struct Pack {
    /// Of which text this is the lean form.
    of: String,
    mode: Mode,
    order: wire::Order,
    rules: Vec<Placed>,
}

#[derive(Deserialize)]
struct Placed {
    line: usize,
    column: usize,
    rule: wire::Rule,
}

/// Reads the lean form of a text. `None` if it is that of another: somebody has changed the text, and
/// what it says now counts.
pub(crate) fn read(lean: &str, text: &str) -> Option<File> {
    // Seen before anything is read.
    if !lean.starts_with(&opening(text)) {
        return None;
    }
    let pack: Pack = serde_json::from_str(lean).ok()?;
    debug_assert_eq!(pack.of, mark(text));
    let rules = pack.rules.into_iter();
    let rules = rules.map(|Placed { line, column, rule }| (Spot { line, column }, rule));
    Some(File { header: Header { mode: pack.mode, order: pack.order }, rules: rules.collect() })
}

/// The rules of a lean form as they stand there, with their lines.
pub(super) fn raw(lean: &str, text: &str) -> Option<Vec<(usize, Json)>> {
    #[derive(Deserialize)]
    struct Raw {
        rules: Vec<Line>,
    }
    #[derive(Deserialize)]
    struct Line {
        line: usize,
        rule: Json,
    }
    if !lean.starts_with(&opening(text)) {
        return None;
    }
    let raw: Raw = serde_json::from_str(lean).ok()?;
    Some(raw.rules.into_iter().map(|Line { line, rule }| (line, rule)).collect())
}

fn opening(text: &str) -> String {
    format!("{{\"of\":\"{}\"", mark(text))
}

/// Eight bytes at a time: it is there to see an edit, not an attack.
fn mark(text: &str) -> String {
    let (words, rest) = text.as_bytes().as_chunks::<8>();
    let mut last = [0; 8];
    last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    let words = words.iter().chain([&last]).map(|word| u64::from_le_bytes(*word));
    let length = u64::try_from(text.len()).unwrap_or_default();
    let mark =
        words.fold(length, |mark, word| (mark ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29));
    format!("{mark:016x}")
}

/// A node as JSON. Keys of a rule are texts; another would have been refused.
pub(super) fn json(node: &Node) -> Json {
    match &node.value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::from(*value),
        Value::Whole(value) => Json::from(*value),
        Value::Real(value) => Json::from(*value),
        Value::Text(text) => Json::from(text.as_str()),
        Value::List(items) => items.iter().map(json).collect(),
        Value::Map(entries) => {
            let entries =
                entries.iter().map(|(key, value)| (key.text().unwrap_or_default().to_owned(), json(value)));
            Json::Object(entries.collect::<Map<_, _>>())
        }
    }
}

#[cfg(test)]
pub(crate) mod write {
    //! The other direction.

    use serde_json::{Value as Json, json};
    use tenterhook_document::{Value, parse};

    use super::super::lists::Lists;
    use super::{json, opening};

    /// The lean form of a pack: a line for each rule.
    pub(crate) fn write(text: &str) -> String {
        let document = parse(text).unwrap();
        let word = |key: &str, default: &str| {
            let word = document.get(key).map_or(default, |node| node.text().unwrap());
            Json::from(word).to_string()
        };
        let lists = Lists::read(document.get("lists"), &mut |spot, message, _| panic!("{spot:?}: {message}"));
        let Value::List(rules) = &document.get("rules").unwrap().value else { panic!("no rules") };
        let rules = rules.iter().map(|rule| {
            let Json::Object(mut open) = json(&lists.open(rule).unwrap()) else { panic!("a rule is a map") };
            open.remove("examples");
            json!({ "line": rule.spot.line, "column": rule.spot.column, "rule": open }).to_string()
        });
        let rules: Vec<_> = rules.collect();
        let (mode, order) = (word("mode", "enforce"), word("order", "all"));
        format!(
            "{},\"mode\":{mode},\"order\":{order},\"rules\":[\n{}\n]}}\n",
            opening(text),
            rules.join(",\n")
        )
    }
}
