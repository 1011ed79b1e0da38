// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What each client has to do in each scenario, from `matrix.txt`. `docs/reference/harnesses.md` shows the same
//! file, so that nothing is said there which is not proved here.

use anyhow::{Context as _, Result, ensure};

use crate::{clients, scenarios};

/// The table, as it is written.
const MATRIX: &str = include_str!("../matrix.txt");

/// What has to be seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected {
    /// What the scenario is about.
    Holds,
    /// Not that, and why not; but nothing worse either.
    Cannot(String),
}

/// The rows of the table: whose they are, about which scenario, and what they say.
pub fn rows() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let lines = MATRIX.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| {
        let (whose, rest) = line.split_once(' ')?;
        let (scenario, said) = rest.trim_start().split_once(' ')?;
        Some((whose, scenario, said.trim()))
    })
}

/// What has to be seen of this client in this scenario.
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

/// Runs the scenario with the client and compares.
///
/// # Panics
///
/// If what was seen is not what has to be seen: so the world is kept.
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
