// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::process::ExitCode;

use serde_json::json;
use tenterhook_guard::LedgerHandle;
use tenterhook_records::recorded::ledger_record;
use tenterhook_report::RecordRow;
use tenterhook_terminal_text::record_row::RecordTable;

use super::filter::FilterArgs;
use super::{NOTHING_RECORDED, is_unused, read_error};
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{DIM, Terminal};

const EXAMPLES: &str = "\
Examples:
  tenterhook ledger query
  tenterhook ledger query --verdict deny --since 24h
  tenterhook ledger query --session 89917c00 --tool Bash --text 'git push'
  tenterhook ledger query --kind change --json | jq '.leaves[].leaf.what'";

/// Find records, newest first
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    filter: FilterArgs,
    /// Maximum number of records
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    limit: u64,
    /// Only records before this number, to continue a list
    #[arg(long, value_name = "SEQ")]
    before: Option<u64>,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let book = LedgerHandle::of(context.home()?);
    if is_unused(&book, context)? {
        if context.terminal.json {
            context.terminal.print_json(&json!({"leaves": [], "next": null}))?;
        } else {
            context.terminal.print(NOTHING_RECORDED)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let reader = book.reader()?;
    let mut filter = args.filter.filter(context)?;
    filter.before = args.before;
    let found = reader.query(&filter, args.limit).map_err(read_error)?;
    if context.terminal.json {
        let leaves: Vec<_> = found.records.iter().map(ledger_record).collect();
        context.terminal.print_json(&json!({"leaves": leaves, "next": found.next}))?;
        return Ok(ExitCode::SUCCESS);
    }
    if found.records.is_empty() {
        context.terminal.print("no matching records\n")?;
        return Ok(ExitCode::SUCCESS);
    }
    let table = RecordTable::new(Terminal::table_layout());
    let mut text = table.head();
    text.extend(found.records.iter().map(|record| table.row(&RecordRow::from_record(record))));
    if let Some(next) = found.next {
        text += &format!("{DIM}more records: use `--before {next}`, or a larger `--limit`{DIM:#}\n");
    }
    context.terminal.print(&text)?;
    Ok(ExitCode::SUCCESS)
}
