// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `ledger report`: writes an HTML file with charts and proofs.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;
use tenterhook_guard::LedgerHandle;
use tenterhook_home::{call_meta::now, write_atomic};
use tenterhook_report::{LedgerReport, write_report};

use super::filter::FilterArgs;
use super::passphrase::open_if_passphrase_known;
use super::{open_covered, read_error};
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BOLD, GOOD};

const EXAMPLES: &str = "\
The file is self-contained: no scripts, no network. It follows the reader's light or dark theme, prints to PDF, \
and contains the signed checkpoint and the proof of every record in its table.

Examples:
  tenterhook ledger report --session 89917c00 --output session.html
  tenterhook ledger report --since 7d --output week.html
  tenterhook ledger verify-proof week.html --key key.pub";

/// Write an HTML report of a session or a period, with charts and proofs
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    filter: FilterArgs,
    /// File to write
    #[arg(long, short, value_name = "FILE.html")]
    output: PathBuf,
}

pub(super) fn run(context: &Context, args: &Args, file: Option<&Path>) -> Result<ExitCode, CommandError> {
    let book = open_if_passphrase_known(LedgerHandle::of(context.home()?), file)?;
    let reader = open_covered(context, &book, "records that are not in a checkpoint yet have no proof")?;
    let report = write_report(&reader, &args.filter.filter(context)?, now()).map_err(read_error)?;
    // The report contains commands, so only its owner may read it.
    write_atomic(&std::path::absolute(&args.output)?, report.html.as_bytes(), 0o600)?;
    let LedgerReport { decisions, shown, left_out, .. } = report;
    if context.terminal.json {
        context.terminal.print_json(&json!({
            "output": args.output, "decisions": decisions, "shown": shown, "left_out": left_out,
        }))?;
    } else {
        context.terminal.print(&format!(
            "{GOOD}✓{GOOD:#} {BOLD}{decisions}{BOLD:#} decisions, {shown} records with their proofs, written to `{}`\n",
            args.output.display()
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}
