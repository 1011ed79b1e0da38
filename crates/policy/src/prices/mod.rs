// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What models cost: a table that anybody can read, and change.

mod load;
mod money;

use std::sync::LazyLock;

use fast_glob::glob_match;
use tenterhook_document::Problem;
use tenterhook_event::Tokens;

pub use money::Money;

/// The table that is compiled in.
const NAME: &str = "rules/prices.yaml";
const TEXT: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../rules/prices.yaml"));

static BUILT_IN: LazyLock<Prices> = LazyLock::new(|| Prices { rows: load::read(NAME, TEXT).0 });

/// What models cost. The first row that fits counts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Prices {
    rows: Vec<Price>,
}

/// What some models cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Price {
    /// Their names, or globs.
    pub models: Vec<String>,
    /// Only for prompts of so many tokens.
    pub up_to: Option<u64>,
    /// For a token that the model reads.
    pub input: Money,
    /// For a token that it writes.
    pub output: Money,
    /// For a token from a cache.
    pub cache_read: Money,
    /// For a token into a cache.
    pub cache_write: Money,
    /// Who says so.
    pub source: Option<String>,
    /// And when.
    pub date: Option<String>,
}

impl Prices {
    /// The prices that are compiled in.
    pub fn built_in() -> &'static Self {
        &BUILT_IN
    }

    /// A person's own prices, before those that are compiled in. A row that cannot be used is refused alone.
    pub fn with_own(name: &str, text: &str) -> (Self, Vec<Problem>) {
        let (mut rows, problems) = load::read(name, text);
        rows.extend(Self::built_in().rows.iter().cloned());
        (Self { rows }, problems)
    }

    /// All rows, in order.
    pub fn rows(&self) -> &[Price] {
        &self.rows
    }

    /// The row for an answer of this model to a prompt of so many tokens.
    pub fn row(&self, model: &str, prompt: u64) -> Option<&Price> {
        let bare = bare(model);
        let named = |row: &&Price| row.models.iter().any(|glob| glob == model || glob_match(glob, bare));
        self.rows.iter().filter(named).find(|row| row.up_to.is_none_or(|most| prompt <= most))
    }

    /// What an answer cost; none if nobody knows.
    pub fn cost(&self, model: &str, tokens: &Tokens) -> Option<Money> {
        let row = self.row(model, tokens.prompt())?;
        let parts = [
            row.input.times(tokens.input),
            row.output.times(tokens.output),
            row.cache_read.times(tokens.cache_read),
            row.cache_write.times(tokens.cache_write),
        ];
        Some(parts.into_iter().fold(Money::default(), Money::plus))
    }
}

/// A model's name without whoever offers it, without its date, and without what a client wrote behind it.
fn bare(model: &str) -> &str {
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
