// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What the ledger of the session proves.

use tenterhook_guard::Book;
use tenterhook_ledger::{Expect, Filter, Format, Kind, Problem, Reader, Verified, export};
use tenterhook_records::recorded::Recorded;

use crate::commands::ledger::covered;
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BAD, BOLD, GOOD};

/// The ledger verifies, and a copy in which one verdict was changed does not.
pub(super) fn proved(context: &Context) -> Result<String, CommandError> {
    let whole = exported(context)?;
    let verified = verify(&whole).map_err(|problem| CommandError::internal(problem.to_string()))?;
    let key = verified.keys.last().map(tenterhook_ledger::VerifierKey::id).unwrap_or_default();
    let changed = whole.replacen(r#""verdict":"deny""#, r#""verdict":"none""#, 1);
    if changed == whole {
        return Err(CommandError::internal("the demo's ledger has no denial"));
    }
    let Err(problem) = verify(&changed) else {
        return Err(CommandError::internal("a changed copy of the demo's ledger was not noticed"));
    };
    Ok(format!(
        "\n{BOLD}Ledger{BOLD:#}\n  {GOOD}✓{GOOD:#} {} records match the signature of key {key}\n    \
         root {}\n  In a copy, one verdict was changed from deny to none:\n  {BAD}✗{BAD:#} {problem}\n",
        verified.size, verified.root
    ))
}

/// Every decision, one leaf a line.
pub(super) fn leaves(context: &Context, of: &Context) -> Result<(), CommandError> {
    let failed = |error: tenterhook_ledger::ReadFailed| CommandError::internal(error.to_string());
    let decisions = Filter { kind: Some(Kind::Decision), ..Filter::default() };
    let mut found = reader(of)?.query(&decisions, 10_000).map_err(failed)?.records;
    found.reverse();
    for record in &found {
        context.terminal.exactly(&format!("{}\n", Recorded::of(record)?.leaf), "")?;
    }
    Ok(())
}

fn reader(context: &Context) -> Result<Reader, CommandError> {
    covered(context, &Book::of(context.home()?), "the latest leaves are not covered")
}

fn exported(context: &Context) -> Result<String, CommandError> {
    let mut bytes = Vec::new();
    let written = reader(context)?.export(Format::Jsonl, &mut bytes);
    written.map_err(|error| CommandError::internal(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| CommandError::internal(error.to_string()))
}

fn verify(text: &str) -> Result<Verified, Problem> {
    export::verify(text.as_bytes(), Expect::default(), &mut |_, _| {})
}
