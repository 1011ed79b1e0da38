// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use tenterhook_api::CallSelection;
use tenterhook_guard::LedgerHandle;
use tenterhook_ledger::{Filter, Reader, StoredRecord};
use tenterhook_records::recorded::ledger_record;
use tenterhook_report::RecordRow;
use tenterhook_terminal_text::record_row::RecordTable;

use super::filter::FilterArgs;
use super::tail_calls::CallTail;
use super::{NOTHING_RECORDED, is_unused, read_error};
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::Terminal;

const EXAMPLES: &str = "\
A call, its decision and its result are one row. Notable calls were asked about, denied, rewritten, or failed. In \
`--all`, other events between calls are counted in one row. `--records`, `--kind` and `--json` show every record of its own.

Examples:
  tenterhook ledger tail                       notable calls
  tenterhook ledger tail -f --all              all calls, as they end
  tenterhook ledger tail -f --verdict deny
  tenterhook ledger tail --records
  tenterhook ledger tail -n 0 -f --json | jq .leaf.reason";

/// Interval at which the ledger is polled for new records.
const LEDGER_POLL_INTERVAL: Duration = Duration::from_millis(200);
/// Maximum number of records per query.
const PAGE_RECORDS: u64 = 256;

/// Show the latest calls, and follow new ones
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Keep showing new calls or records
    #[arg(long, short)]
    follow: bool,
    /// Number of calls or records to start with
    #[arg(long, short = 'n', value_name = "NUMBER", default_value_t = 10)]
    lines: u64,
    /// All calls, not only notable ones
    #[arg(long)]
    all: bool,
    /// Every record instead of calls
    #[arg(long, conflicts_with = "all")]
    records: bool,
    #[command(flatten)]
    filter: FilterArgs,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let book = LedgerHandle::of(context.home()?);
    let reader = match book.reader() {
        Ok(reader) => reader,
        Err(_) if args.follow => wait_for_ledger(context, &book)?,
        Err(_) if is_unused(&book, context)? => {
            context.terminal.eprint(NOTHING_RECORDED)?;
            return Ok(ExitCode::SUCCESS);
        }
        Err(error) => return Err(error),
    };
    let filter = args.filter.filter(context)?;
    let is_about_calls = !(args.records || context.terminal.json) && filter.kind.is_none();
    if is_about_calls {
        return run_calls(context, args, &book, &reader, filter);
    }
    let table = RecordTable::new(Terminal::table_layout());
    let mut next = reader.size().map_err(read_error)?;
    let mut latest = Vec::new();
    if args.lines > 0 {
        latest = reader
            .query(&Filter { before: Some(next), ..filter.clone() }, args.lines)
            .map_err(read_error)?
            .records;
    }
    latest.reverse();
    let head = if context.terminal.json { String::new() } else { table.head() };
    let mut open = print_text(context, &head)? && print_records(context, &table, &latest)?;
    while args.follow && open {
        std::thread::sleep(LEDGER_POLL_INTERVAL);
        // Without a daemon, hooks write to the spool.
        book.import_spool();
        let size = reader.size().map_err(read_error)?;
        if size > next {
            open = print_records(context, &table, &records_since(&reader, &filter, next)?)?;
            next = size;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Shows calls, one row for a call and its result.
fn run_calls(
    context: &Context,
    args: &Args,
    book: &LedgerHandle,
    reader: &Reader,
    filter: Filter,
) -> Result<ExitCode, CommandError> {
    let show = if args.all { CallSelection::All } else { CallSelection::Notable };
    let table = RecordTable::of_calls(Terminal::table_layout());
    let head = table.head();
    let mut tail = CallTail::new(filter, show, table, reader.size().map_err(read_error)?);
    let latest = tail.latest(reader, usize::try_from(args.lines).unwrap_or(usize::MAX))?;
    if latest.is_empty() && !args.follow {
        let what = if args.all { "no matching calls" } else { "no notable calls; `--all` lists all calls" };
        context.terminal.print(&format!("{what}\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut open = print_text(context, &(head + &latest))?;
    while args.follow && open {
        std::thread::sleep(LEDGER_POLL_INTERVAL);
        // Without a daemon, hooks write to the spool.
        book.import_spool();
        let text = tail.next(reader)?;
        open = text.is_empty() || print_text(context, &text)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Waits until a ledger exists.
fn wait_for_ledger(context: &Context, book: &LedgerHandle) -> Result<Reader, CommandError> {
    context.terminal.eprint("no records yet; waiting for the first one\n")?;
    loop {
        std::thread::sleep(LEDGER_POLL_INTERVAL);
        if let Ok(reader) = book.reader() {
            return Ok(reader);
        }
    }
}

/// Returns matching records from number `from` on, oldest first.
fn records_since(reader: &Reader, filter: &Filter, from: u64) -> Result<Vec<StoredRecord>, CommandError> {
    let mut filter = filter.clone();
    let mut records = Vec::new();
    loop {
        let page = reader.query(&filter, PAGE_RECORDS).map_err(read_error)?;
        let reached_start = page.records.iter().any(|record| record.seq < from);
        records.extend(page.records.into_iter().filter(|record| record.seq >= from));
        if reached_start || page.next.is_none() {
            records.reverse();
            return Ok(records);
        }
        filter.before = page.next;
    }
}

fn print_records(
    context: &Context,
    table: &RecordTable,
    records: &[StoredRecord],
) -> Result<bool, CommandError> {
    let line = |record: &StoredRecord| -> Result<String, CommandError> {
        if context.terminal.json {
            Ok(serde_json::to_string(&ledger_record(record)).map_err(std::io::Error::from)? + "\n")
        } else {
            Ok(table.row(&RecordRow::from_record(record)))
        }
    };
    print_text(context, &records.iter().map(line).collect::<Result<String, _>>()?)
}

/// Prints text. Returns false if standard output is closed.
fn print_text(context: &Context, text: &str) -> Result<bool, CommandError> {
    let mut out = context.terminal.stdout();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(false),
        written => Ok(written.map(|()| true)?),
    }
}
