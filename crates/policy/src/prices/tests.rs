// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The built-in prices, the user's own prices, and invalid price files.

use super::*;

fn cost(prices: &PriceTable, model: &str, tokens: TokenCounts) -> Option<f64> {
    prices.cost(model, &tokens).map(Money::as_dollars)
}

const MILLION: TokenCounts = TokenCounts { input: 1_000_000, output: 0, cache_read: 0, cache_write: 0 };

#[test]
fn every_built_in_price_is_valid_and_has_a_source() {
    let (rows, problems) = load::read_price_file(BUILT_IN_NAME, BUILT_IN_TEXT);
    assert_eq!(problems.iter().map(ToString::to_string).collect::<Vec<_>>(), Vec::<String>::new());
    assert!(rows.len() > 20);
    for row in &rows {
        assert!(row.source.as_deref().is_some_and(|source| !source.is_empty()), "{:?}", row.models);
        let date = row.date.as_deref().unwrap_or_default();
        let day = format!("{date}T00:00:00Z").parse::<tenterhook_event::Timestamp>();
        assert!(day.is_ok(), "{:?}: {date}", row.models);
        assert!(row.cache_read <= row.input && row.input < row.output, "{:?}", row.models);
        for model in &row.models {
            let found = PriceTable::built_in().row(model, 0).unwrap();
            assert!(found.models.contains(model), "another row hides {model}");
        }
    }
}

#[test]
fn an_answer_costs_the_sum_of_its_parts() {
    let tokens = TokenCounts { input: 1000, output: 200, cache_read: 10_000, cache_write: 4000 };
    let expected = 1000.0 * 3e-6 + 200.0 * 15e-6 + 10_000.0 * 0.3e-6 + 4000.0 * 3.75e-6;
    let found = cost(PriceTable::built_in(), "claude-sonnet-4-5", tokens).unwrap();
    assert!((found - expected).abs() < 1e-9, "{found}");
}

#[test]
fn a_model_is_known_by_all_of_its_names_and_an_unknown_one_has_no_price() {
    let prices = PriceTable::built_in();
    for name in [
        "claude-sonnet-4-5",
        "claude-sonnet-4-5-20250929",
        "claude-sonnet-4-5@20250929",
        "anthropic/claude-sonnet-4-5",
        "claude-sonnet-4-5[1m]",
    ] {
        assert_eq!(cost(prices, name, MILLION), Some(3.0), "{name}");
    }
    assert_eq!(cost(prices, "gpt-5.4-nano-2026-03-05", MILLION), Some(0.2));
    assert_eq!(cost(prices, "gpt-5.4-mini-2026-03-05", MILLION), Some(0.75));
    assert_eq!(cost(prices, "models/gemini-3.5-flash", MILLION), Some(1.5));
    for name in ["", "scripted", "claude-sonnet-45", "gpt-5-something", "ü-20250929"] {
        assert_eq!(cost(prices, name, MILLION), None, "{name}");
    }
}

#[test]
fn a_long_prompt_has_its_own_price_or_none() {
    let prices = PriceTable::built_in();
    let prompt = |cache_read| TokenCounts { input: 200_000, cache_read, ..TokenCounts::default() };
    assert_eq!(cost(prices, "gemini-3.1-pro-preview", prompt(0)), Some(0.4));
    assert_eq!(cost(prices, "gemini-3.1-pro-preview", prompt(100_000)), Some(1.2));
    assert_eq!(cost(prices, "gpt-6-sol", prompt(100_000)), None);
}

#[test]
fn the_users_own_prices_come_first() {
    let text = "version: 1\nprices:\n  - {model: 'claude-*', input: 7, output: 8, date: 2026-01-01}\n  - {model: home, input: 0, output: 0}\n";
    let (prices, problems) = PriceTable::with_own("prices.yaml", text);
    assert_eq!(problems, []);
    assert_eq!(cost(&prices, "claude-sonnet-4-5", MILLION), Some(7.0));
    assert_eq!(cost(&prices, "home", MILLION), Some(0.0));
    assert_eq!(cost(&prices, "gpt-5.4-mini", MILLION), Some(0.75));
}

#[test]
fn what_cannot_be_read_is_refused_alone_with_its_place() {
    let refused = |text: &str| {
        let (prices, problems) = PriceTable::with_own("prices.yaml", text);
        let own = prices.rows().len() - PriceTable::built_in().rows().len();
        let problems: Vec<_> = problems.iter().map(|problem| format!("  {problem}")).collect();
        format!("{own} of its own\n{}", problems.join("\n"))
    };
    let said = [
        refused(
            "version: 1\nprices:\n  - {model: a, input: 1, output: 2}\n  - {model: b, input: -1, output: 2}\n  - {model: c, output: 2}\n  - {model: d, input: 1, output: 2, cash: 1}\n  - {model: e, input: cheap, output: 2}\n",
        ),
        refused("version: 2\nprices: []\n"),
        refused("version: 1\nprizes: []\n"),
        refused("- a"),
        refused("prices: ["),
    ];
    insta::assert_snapshot!(said.join("\n"));
}
