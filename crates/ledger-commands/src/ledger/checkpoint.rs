// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;
use tenterhook_guard::LedgerHandle;
use tenterhook_ledger::AppendError;
use tenterhook_records::recorded::JsonField as _;

use super::passphrase::open_for_writing;
use super::write_output;
use crate::ask;
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::WARN;

const EXAMPLES: &str = "\
A checkpoint signs the number of records and their root hash. Kept where the agent cannot reach it (another \
machine, an email, a printout), it proves later that the ledger was not rolled back.

Examples:
  tenterhook ledger checkpoint
  tenterhook ledger checkpoint --output /mnt/elsewhere/monday
  tenterhook ledger verify --since /mnt/elsewhere/monday";

/// Sign the current ledger, and print the signed checkpoint
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// File to write the checkpoint to
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) fn run(context: &Context, args: &Args, file: Option<&Path>) -> Result<ExitCode, CommandError> {
    // Fails without a ledger, instead of creating one.
    LedgerHandle::of(context.home()?).reader()?;
    let note = match checkpoint_by_daemon(context)? {
        Some(note) => note,
        None => sign_checkpoint(context, file)?,
    };
    if context.terminal.json {
        context.terminal.print_json(&json!({"checkpoint": note}))?;
    }
    if args.output.is_some() || !context.terminal.json {
        write_output(context, &note, args.output.as_deref())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Signs a checkpoint in this process.
fn sign_checkpoint(context: &Context, file: Option<&Path>) -> Result<String, CommandError> {
    let book = open_for_writing(context, file)?;
    let ledger = book.writer()?;
    let note = ledger.checkpoint().map_err(|error| append_error(&error))?;
    book.close(ledger).map_err(|error| append_error(&error))?;
    for note in book.take_notes() {
        context.terminal.eprint(&format!("{WARN}warning{WARN:#}: {note}\n"))?;
    }
    Ok(note)
}

/// Asks the daemon to sign the ledger; `None` if no daemon is running.
pub(super) fn checkpoint_by_daemon(context: &Context) -> Result<Option<String>, CommandError> {
    let signed = ask::request(context.home()?, "POST", "/v1/ledger/checkpoint", Some(&json!({})))?;
    Ok(signed.map(|signed| signed.field("checkpoint").as_str().unwrap_or_default().to_owned()))
}

pub(super) fn append_error(error: &AppendError) -> CommandError {
    CommandError::internal(error.to_string()).hint("check that the disk has free space and is writable")
}
