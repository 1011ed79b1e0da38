// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A price file → rows. A row that cannot be read is refused alone.

use serde::Deserialize;
use tenterhook_document::{Node, Problem, Value, parse, read as typed};

use super::{Money, Price};
use crate::conditions::OneOrMore;

const KEYS: [&str; 2] = ["version", "prices"];

/// One row, as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a price: a map with `model`, `input` and `output`")]
struct Row {
    model: OneOrMore<String>,
    #[serde(default)]
    up_to: Option<u64>,
    input: f64,
    output: f64,
    #[serde(default)]
    cache_read: Option<f64>,
    #[serde(default)]
    cache_write: Option<f64>,
    #[serde(default)]
    source: Option<String>,
    #[serde(default)]
    date: Option<String>,
}

/// The rows of a file, and what cannot be used.
pub(super) fn read(name: &str, text: &str) -> (Vec<Price>, Vec<Problem>) {
    let mut problems = Vec::new();
    let mut report = |spot, message: String, hint: &str| {
        problems.push(Problem::new(name, spot, message).hint(hint));
    };
    let document = match parse(text) {
        Ok(document) => document,
        Err((spot, message)) => {
            report(spot, message, "no price of this file counts until it is valid YAML");
            return (Vec::new(), problems);
        }
    };
    let shape = "it looks like this: {version: 1, prices: [{model: name, input: 1.00, output: 2.00}]}";
    let Value::Map(entries) = &document.value else {
        report(document.spot, "expected a map with `version` and `prices`".to_owned(), shape);
        return (Vec::new(), problems);
    };
    for (key, _) in entries {
        if !key.text().is_some_and(|name| KEYS.contains(&name)) {
            report(key.spot, format!("no such key: `{}`", key.text().unwrap_or_default()), shape);
        }
    }
    if !matches!(document.get("version").map(|node| &node.value), Some(Value::Whole(1))) {
        report(document.spot, "this version of the format is not known".to_owned(), "write `version: 1`");
        return (Vec::new(), problems);
    }
    let Some(Value::List(items)) = document.get("prices").map(|node| &node.value) else {
        report(document.spot, "`prices` must be a list".to_owned(), shape);
        return (Vec::new(), problems);
    };
    let mut rows = Vec::with_capacity(items.len());
    for item in items {
        match row(item) {
            Ok(row) => rows.push(row),
            Err((spot, message)) => report(spot, message, "this price does not count; the others do"),
        }
    }
    (rows, problems)
}

fn row(item: &Node) -> Result<Price, (tenterhook_document::Spot, String)> {
    let row: Row = typed(item).map_err(|misfit| (misfit.spot, misfit.message))?;
    let price = |key: &str, dollars: f64| {
        if dollars.is_finite() && (0.0..=1_000_000.0).contains(&dollars) {
            return Ok(Money::per_token(dollars));
        }
        let spot = item.get(key).map_or(item.spot, |node| node.spot);
        Err((spot, format!("`{key}` is no price: dollars for a million tokens, from 0 on")))
    };
    if row.model.0.iter().any(String::is_empty) {
        return Err((item.spot, "`model` has no name".to_owned()));
    }
    Ok(Price {
        models: row.model.0,
        up_to: row.up_to,
        input: price("input", row.input)?,
        output: price("output", row.output)?,
        cache_read: price("cache_read", row.cache_read.unwrap_or(row.input))?,
        cache_write: price("cache_write", row.cache_write.unwrap_or(row.input))?,
        source: row.source,
        date: row.date,
    })
}
