// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Looks up model prices in a built-in table that the user can extend.

mod load;
mod money;

use std::sync::LazyLock;

use fast_glob::glob_match;
use tenterhook_document::Problem;
use tenterhook_event::TokenCounts;

pub use money::Money;

/// File name of the built-in table, for messages.
const BUILT_IN_NAME: &str = "rules/prices.yaml";
const BUILT_IN_TEXT: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../rules/prices.yaml"));

static BUILT_IN: LazyLock<PriceTable> =
    LazyLock::new(|| PriceTable { rows: load::read_price_file(BUILT_IN_NAME, BUILT_IN_TEXT).0 });

/// Model prices. The first row that matches a model applies.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PriceTable {
    rows: Vec<ModelPrice>,
}

/// Prices of some models.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelPrice {
    /// Names of models, or globs on them.
    pub models: Vec<String>,
    /// Maximum prompt size in tokens to which this row applies.
    pub up_to: Option<u64>,
    /// Price of an input token.
    pub input: Money,
    /// Price of an output token.
    pub output: Money,
    /// Price of an input token that is read from a cache.
    pub cache_read: Money,
    /// Price of an input token that is written to a cache.
    pub cache_write: Money,
    /// Where the price was published.
    pub source: Option<String>,
    /// Date on which the price was published or checked.
    pub date: Option<String>,
}

impl PriceTable {
    /// Returns the prices that are compiled into the program.
    pub fn built_in() -> &'static Self {
        &BUILT_IN
    }

    /// Returns the user's own prices, followed by the built-in ones. A row that cannot be used is refused; the others
    /// are kept.
    pub fn with_own(name: &str, text: &str) -> (Self, Vec<Problem>) {
        let (mut rows, problems) = load::read_price_file(name, text);
        rows.extend(Self::built_in().rows.iter().cloned());
        (Self { rows }, problems)
    }

    /// Returns all rows, in order.
    pub fn rows(&self) -> &[ModelPrice] {
        &self.rows
    }

    /// Returns the price row for a response of this model to a prompt of `prompt` tokens.
    pub fn row(&self, model: &str, prompt: u64) -> Option<&ModelPrice> {
        let bare = normalize_model_name(model);
        let named = |row: &&ModelPrice| row.models.iter().any(|glob| glob == model || glob_match(glob, bare));
        self.rows.iter().filter(named).find(|row| row.up_to.is_none_or(|most| prompt <= most))
    }

    /// Returns the cost of a response; `None` if the model has no price.
    pub fn cost(&self, model: &str, tokens: &TokenCounts) -> Option<Money> {
        let row = self.row(model, tokens.prompt())?;
        let parts = [
            row.input.saturating_mul(tokens.input),
            row.output.saturating_mul(tokens.output),
            row.cache_read.saturating_mul(tokens.cache_read),
            row.cache_write.saturating_mul(tokens.cache_write),
        ];
        Some(parts.into_iter().fold(Money::default(), Money::saturating_add))
    }
}

/// Returns a model's name without provider prefix, date and client-specific suffix.
fn normalize_model_name(model: &str) -> &str {
    let name = model.rsplit('/').next().unwrap_or(model);
    let name = name.split('[').next().unwrap_or(name);
    let name = name.strip_suffix("-latest").unwrap_or(name);
    for (shape, mark) in [("00000000", '-'), ("00000000", '@'), ("0000-00-00", '-')] {
        let Some(place) = name.len().checked_sub(shape.len()) else { continue };
        let Some((rest, date)) = name.split_at_checked(place) else { continue };
        let like = |(letter, shape): (char, char)| {
            if shape == '0' { letter.is_ascii_digit() } else { letter == shape }
        };
        if let Some(rest) = rest.strip_suffix(mark)
            && date.chars().zip(shape.chars()).all(like)
        {
            return rest;
        }
    }
    name
}

#[cfg(test)]
mod tests;
