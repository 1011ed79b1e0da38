// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Shows that the session's ledger detects tampering.

use tenterhook_guard::LedgerHandle;
use tenterhook_ledger::{Expectations, Filter, LeafKind, LogProblem, Reader, VerifiedLog, export};
use tenterhook_records::recorded::RecordedDecision;

use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BAD, BOLD, GOOD};
use tenterhook_ledger_commands::ledger::open_covered;

/// Verifies the ledger, and a copy in which one verdict was changed.
pub(super) fn prove_ledger(context: &Context) -> Result<String, CommandError> {
    let whole = export_ledger(context)?;
    let verified = verify_export(&whole).map_err(|problem| CommandError::internal(problem.to_string()))?;
    let key = verified.keys.last().map(tenterhook_ledger::VerifierKey::id).unwrap_or_default();
    let changed = whole.replacen(r#""verdict":"deny""#, r#""verdict":"none""#, 1);
    if changed == whole {
        return Err(CommandError::internal("the demo's ledger has no denial"));
    }
    let Err(problem) = verify_export(&changed) else {
        return Err(CommandError::internal("a changed copy of the demo's ledger was not detected"));
    };
    Ok(format!(
        "\n{BOLD}Ledger{BOLD:#}\n  {GOOD}✓{GOOD:#} {} records match the signature of key {key}\n    \
         root {}\n  In a copy, one verdict was changed from deny to none:\n  {BAD}✗{BAD:#} {problem}\n",
        verified.size, verified.root
    ))
}

/// Prints every decision, one record per line.
pub(super) fn print_records(context: &Context, of: &Context) -> Result<(), CommandError> {
    let failed = |error: tenterhook_ledger::ReadError| CommandError::internal(error.to_string());
    let decisions = Filter { kind: Some(LeafKind::Decision), ..Filter::default() };
    let mut found = open_reader(of)?.query(&decisions, 10_000).map_err(failed)?.records;
    found.reverse();
    for record in &found {
        context.terminal.print_raw(&format!("{}\n", RecordedDecision::from_record(record)?.leaf), "")?;
    }
    Ok(())
}

fn open_reader(context: &Context) -> Result<Reader, CommandError> {
    open_covered(context, &LedgerHandle::of(context.home()?), "the latest records are not in a checkpoint")
}

fn export_ledger(context: &Context) -> Result<String, CommandError> {
    let mut bytes = Vec::new();
    let written = open_reader(context)?.export(tenterhook_ledger::FileFormat::Jsonl, &mut bytes);
    written.map_err(|error| CommandError::internal(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| CommandError::internal(error.to_string()))
}

fn verify_export(text: &str) -> Result<VerifiedLog, LogProblem> {
    export::verify(text.as_bytes(), Expectations::default(), &mut |_, _| {})
}
