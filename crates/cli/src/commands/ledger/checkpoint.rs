// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::json;
use tenterhook_home::Book;
use tenterhook_ledger::AppendError;

use super::hand_over;
use crate::commands::change::confirm;
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{DIM, GOOD};

const EXAMPLES: &str = "\
A checkpoint signs how many leaves there are and the root over them. Kept where the agent cannot reach it
(another machine, a mail, a print), it shows later that nothing was rolled back:

Examples:
  tenterhook ledger checkpoint
  tenterhook ledger checkpoint --output /mnt/elsewhere/monday
  tenterhook ledger verify --since /mnt/elsewhere/monday";

/// Sign all that is recorded, and print the signed note
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CheckpointArgs {
    /// Write it to a file
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

const ROTATE_EXAMPLES: &str = "\
A new key is made in the ledger's directory and signs from then on. The change itself is a leaf that both
keys sign, so whoever knows the old key can follow to the new one.

Examples:
  tenterhook ledger rotate-key
  tenterhook ledger rotate-key --yes --json";

/// Let a new key sign from here on
#[derive(Debug, clap::Args)]
#[command(after_help = ROTATE_EXAMPLES)]
pub(super) struct RotateArgs {
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

pub(super) fn checkpoint(context: &Context, args: &CheckpointArgs) -> Result<ExitCode, CommandError> {
    let book = Book::of(context.home()?);
    // A ledger is not begun by asking for its checkpoint.
    book.read()?;
    let ledger = book.write()?;
    let note = ledger.checkpoint().map_err(|error| refused(&error))?;
    ledger.close().map_err(|error| refused(&error))?;
    if context.terminal.json {
        context.terminal.print_json(&json!({"checkpoint": note}))?;
    }
    if args.output.is_some() || !context.terminal.json {
        hand_over(context, &note, args.output.as_deref())?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn rotate(context: &Context, args: &RotateArgs) -> Result<ExitCode, CommandError> {
    let home = context.home()?;
    let book = Book::of(home);
    book.read()?;
    if !args.yes && !confirm(context.terminal, "Let a new key sign from here on?", "rotate-key")? {
        return Ok(ExitCode::FAILURE);
    }
    let ledger = book.write()?;
    let note = ledger.rotate(None).map_err(|error| refused(&error))?;
    ledger.close().map_err(|error| refused(&error))?;
    let key = fs_err::read_to_string(home.ledger().join("key.pub"))?.trim().to_owned();
    if context.terminal.json {
        context.terminal.print_json(&json!({"key": key, "checkpoint": note}))?;
    } else {
        let text = format!(
            "{GOOD}✓{GOOD:#} a new key signs from here on\n  {DIM}key{DIM:#} {key}\n\n{DIM}keep this checkpoint; both keys signed it:{DIM:#}\n{note}"
        );
        context.terminal.say(&text)?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn refused(error: &AppendError) -> CommandError {
    CommandError::failed(error.to_string())
        .hint("see that there is room on the disk and that it can be written")
}
