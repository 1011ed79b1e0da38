// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `run-scenarios CLIENT DIRECTORY SCENARIO…` runs scenarios of a client and prints one line of JSON for
//! each. The line contains whether the scenario holds, what `matrix.txt` expects, and which events were
//! recorded. Details are written to DIRECTORY. `drift.py` uses this program to compare two versions of a
//! client.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::json;
use tenterhook_e2e::scenarios::Seen;
use tenterhook_e2e::{Expected, clients, expected, scenarios};

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let usage = "usage: run-scenarios CLIENT DIRECTORY SCENARIO…";
    let (client, directory) = (args.next().context(usage)?, args.next().context(usage)?);
    for scenario in args {
        let (_, run) =
            scenarios::ALL.iter().find(|(name, _)| *name == scenario).context("no such scenario")?;
        let result = run(clients::find(&client)?);
        let story = match &result {
            Ok(seen) => seen.story.clone(),
            Err(error) => format!("{error:#}"),
        };
        let file = Path::new(&directory).join(format!("{scenario}.txt"));
        fs_err::create_dir_all(&directory)?;
        fs_err::write(&file, story)?;
        let line = json!({
            "scenario": scenario,
            "holds": result.as_ref().is_ok_and(|seen| seen.holds),
            "safe": result.as_ref().is_ok_and(|seen| seen.safe),
            "expected": expected(&client, &scenario)? == Expected::Holds,
            "events": result.as_ref().map(events).unwrap_or_default(),
            "story": file,
        });
        writeln!(std::io::stdout(), "{line}")?;
    }
    Ok(())
}

/// The client's names of the events that were recorded.
fn events(seen: &Seen) -> BTreeSet<String> {
    let ledger = seen.world.as_ref().and_then(|world| world.ledger().ok()).unwrap_or_default();
    let names = ledger.iter().filter_map(|leaf| leaf.get("native_event")?.as_str().map(ToOwned::to_owned));
    names.collect()
}
