// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `ledger report`: one HTML file that can be printed, mailed and checked.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;
use tenterhook_guard::Book;
use tenterhook_home::{call_meta::now, write_whole};
use tenterhook_report::{LedgerReport, write_report};

use super::filter::FilterArgs;
use super::passphrase::if_said;
use super::{covered, unread};
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BOLD, GOOD};

const EXAMPLES: &str = "\
The file needs nothing else: no script, no network. It is light or dark as the reader has it, prints to PDF,
and carries the signed checkpoint and the proof of every leaf in its table.

Examples:
  tenterhook ledger report --session 89917c00-1a49-493b-9066-28df723315f3 --output session.html
  tenterhook ledger report --since 7d --output week.html
  tenterhook ledger verify-proof week.html --key key.pub";

/// Write a report of a session or a period, with charts and proofs
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    filter: FilterArgs,
    /// The file
    #[arg(long, short, value_name = "FILE.html")]
    output: PathBuf,
}

pub(super) fn run(context: &Context, args: &Args, file: Option<&Path>) -> Result<ExitCode, CommandError> {
    let book = if_said(Book::of(context.home()?), file)?;
    let reader = covered(context, &book, "leaves that no checkpoint covers yet have no proof")?;
    let report = write_report(&reader, &args.filter.filter(), now()).map_err(unread)?;
    // Reasons and commands are in it, so it is for its owner until they hand it on.
    write_whole(&std::path::absolute(&args.output)?, report.html.as_bytes(), 0o600)?;
    let LedgerReport { decisions, shown, left_out, .. } = report;
    if context.terminal.json {
        context.terminal.print_json(&json!({
            "output": args.output, "decisions": decisions, "shown": shown, "left_out": left_out,
        }))?;
    } else {
        context.terminal.say(&format!(
            "{GOOD}✓{GOOD:#} {BOLD}{decisions}{BOLD:#} decisions; {shown} leaves are shown with their proof, in `{}`\n",
            args.output.display()
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}
