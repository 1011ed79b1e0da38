// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses price files. A row that cannot be read is refused; the others are kept.

use serde::Deserialize;
use tenterhook_document::{Node, Problem, Value, parse, read as read_node};

use super::{ModelPrice, Money};
use crate::conditions::OneOrMore;

const PRICE_FILE_KEYS: [&str; 2] = ["version", "prices"];

/// One row of a price file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a price: a map with `model`, `input` and `output`")]
struct PriceRow {
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

/// Parses a price file into its rows and the problems found.
pub(super) fn read_price_file(name: &str, text: &str) -> (Vec<ModelPrice>, Vec<Problem>) {
    let mut problems = Vec::new();
    let mut report = |spot, message: String, hint: &str| {
        problems.push(Problem::new(name, spot, message).hint(hint));
    };
    let document = match parse(text) {
        Ok(document) => document,
        Err((spot, message)) => {
            report(spot, message, "no price of this file is used until it is valid YAML");
            return (Vec::new(), problems);
        }
    };
    let shape = "expected form: {version: 1, prices: [{model: name, input: 1.00, output: 2.00}]}";
    let Value::Map(entries) = &document.value else {
        report(document.spot, "expected a map with `version` and `prices`".to_owned(), shape);
        return (Vec::new(), problems);
    };
    for (key, _) in entries {
        if !key.text().is_some_and(|name| PRICE_FILE_KEYS.contains(&name)) {
            report(key.spot, format!("no such key: `{}`", key.text().unwrap_or_default()), shape);
        }
    }
    if !matches!(document.get("version").map(|node| &node.value), Some(Value::Whole(1))) {
        report(document.spot, "unknown version of the price file format".to_owned(), "write `version: 1`");
        return (Vec::new(), problems);
    }
    let Some(Value::List(items)) = document.get("prices").map(|node| &node.value) else {
        report(document.spot, "`prices` must be a list".to_owned(), shape);
        return (Vec::new(), problems);
    };
    let mut rows = Vec::with_capacity(items.len());
    for item in items {
        match read_row(item) {
            Ok(row) => rows.push(row),
            Err((spot, message)) => report(spot, message, "this price is not used; the others are"),
        }
    }
    (rows, problems)
}

fn read_row(item: &Node) -> Result<ModelPrice, (tenterhook_document::Spot, String)> {
    let row: PriceRow = read_node(item).map_err(|misfit| (misfit.spot, misfit.message))?;
    let price = |key: &str, dollars: f64| {
        if dollars.is_finite() && (0.0..=1_000_000.0).contains(&dollars) {
            return Ok(Money::per_token(dollars));
        }
        let spot = item.get(key).map_or(item.spot, |node| node.spot);
        Err((spot, format!("`{key}` must be dollars per million tokens, from 0 to 1,000,000")))
    };
    if row.model.0.iter().any(String::is_empty) {
        return Err((item.spot, "`model` must not be empty".to_owned()));
    }
    Ok(ModelPrice {
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
