// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::process::ExitCode;

use tenterhook_guard::LedgerHandle;
use tenterhook_ledger::{Reader, StoredRecord};
use tenterhook_records::id_reference;
use tenterhook_records::recorded::ledger_record;
use tenterhook_terminal_text::record_text;

use super::read_error;
use crate::context::Context;
use crate::error::CommandError;

const EXAMPLES: &str = "\
Examples:
  tenterhook ledger show 17
  tenterhook ledger show last
  tenterhook ledger show 01M7F3GRZQ0000000000000001
  tenterhook ledger show 17 --json | jq .leaf.trace";

/// Show one record: its envelope, payload, trace and hash
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Record: its number, the id of its event or a part of it, or `last`
    #[arg(value_name = "RECORD")]
    leaf: String,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let reader = LedgerHandle::of(context.home()?).reader()?;
    let record = find_record(&reader, &args.leaf)?;
    if context.terminal.json {
        context.terminal.print_json(&ledger_record(&record))?;
    } else {
        let published = reader.checkpoint().map_err(read_error)?.is_some_and(|(size, _)| size > record.seq);
        context.terminal.print(&record_text(&record, published))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Finds a record by its number, its event id or a part of it, or `last`.
pub(super) fn find_record(reader: &Reader, reference: &str) -> Result<StoredRecord, CommandError> {
    id_reference::find_record(reader, reference)?.ok_or_else(|| {
        CommandError::user(format!("unknown record `{reference}`"))
            .hint("`tenterhook ledger query` lists records; the first column is the number")
    })
}
