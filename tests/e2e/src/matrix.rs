// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Expected results of each client in each scenario, from `matrix.txt`. `docs/reference/harnesses.md` is
//! generated from the same file, so it claims only what is tested here.

use anyhow::{Context as _, Result, ensure};

use crate::{clients, scenarios};

/// The table as written.
const MATRIX: &str = include_str!("../matrix.txt");

/// Expected result of a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected {
    /// The client does what the scenario tests.
    Holds,
    /// The client does not do what the scenario tests, for this reason, but nothing forbidden happens.
    Cannot(String),
}

/// Rows of the table: client, scenario and result.
pub fn rows() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let lines = MATRIX.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| {
        let (whose, rest) = line.split_once(' ')?;
        let (scenario, said) = rest.trim_start().split_once(' ')?;
        Some((whose, scenario, said.trim()))
    })
}

/// Expected result of this client in this scenario.
pub fn expected(client: &str, scenario: &str) -> Result<Expected> {
    let mut found = rows().filter(|(whose, about, _)| *whose == client && *about == scenario);
    let (_, _, said) =
        found.next().with_context(|| format!("matrix.txt has no row `{client} {scenario}`"))?;
    ensure!(found.next().is_none(), "matrix.txt has two rows `{client} {scenario}`");
    match said.split_once("cannot: ") {
        Some(("", why)) if !why.is_empty() => Ok(Expected::Cannot(why.to_owned())),
        _ => {
            ensure!(said == "yes", "matrix.txt: `{client} {scenario}` is neither `yes` nor `cannot: why`");
            Ok(Expected::Holds)
        }
    }
}

/// Runs the scenario with the client and compares the result.
///
/// # Panics
///
/// If the result is not the expected one. The test's directory is then kept.
pub fn prove(client: &str, scenario: &str) -> Result<()> {
    let expected = expected(client, scenario)?;
    let (_, run) = scenarios::ALL.iter().find(|(name, _)| *name == scenario).context("no such scenario")?;
    let seen = run(clients::find(client)?)?;
    let story = &seen.story;
    assert!(seen.safe, "{client} {scenario}: what must not happen has happened\n{story}");
    match expected {
        Expected::Holds => assert!(seen.holds, "{client} {scenario}: it does not hold\n{story}"),
        Expected::Cannot(why) => {
            assert!(!seen.holds, "{client} {scenario}: it can, though matrix.txt says: {why}\n{story}");
        }
    }
    Ok(())
}
