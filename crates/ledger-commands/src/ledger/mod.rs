// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `ledger`: query, verify, export and prune the recorded decisions.

mod checkpoint;
mod export;
mod filter;
mod key;
mod passphrase;
mod progress_bar;
pub mod proof;
mod query;
mod remove;
mod report;
mod retention;
mod show;
mod stats;
mod tail;
mod tail_calls;
mod verify;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tenterhook_guard::LedgerHandle;
use tenterhook_home::write_atomic;
use tenterhook_ledger::{ReadError, Reader, VerifierKey};

pub use filter::parse_time;
pub use progress_bar::ProgressBar;

use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::WARN;

const EXAMPLES: &str = "\
Every event is stored with its decision as a record in a signed tree. `verify` detects every change, deletion and \
insertion. Secrets are redacted before anything is written.

Exit codes:
  0  done; for `verify` and `verify-proof`: everything is as it was signed
  1  it failed; for `verify` and `verify-proof`: the ledger was tampered with
  2  wrong usage, or there is nothing to read

Examples:
  tenterhook ledger tail -f
  tenterhook ledger query --verdict deny --since 24h
  tenterhook ledger verify
  tenterhook ledger report --since 7d --output week.html";

/// Query, verify and export the record of all decisions
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// File with the passphrase of a sealed key, for use without a terminal
    #[arg(long, global = true, value_name = "FILE", help_heading = "Ledger options")]
    passphrase_file: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Tail(tail::Args),
    Query(query::Args),
    Show(show::Args),
    Stats(stats::Args),
    Verify(verify::Args),
    Proof(proof::ProveArgs),
    VerifyProof(proof::VerifyProofArgs),
    Checkpoint(checkpoint::Args),
    Export(export::Args),
    Report(report::Args),
    Erase(remove::EraseArgs),
    Prune(remove::PruneArgs),
    Retention(retention::Args),
    Key(key::Args),
}

/// Runs `ledger`.
pub fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let file = args.passphrase_file.as_deref();
    match &args.command {
        Command::Tail(args) => tail::run(context, args),
        Command::Query(args) => query::run(context, args),
        Command::Show(args) => show::run(context, args),
        Command::Stats(args) => stats::run(context, args),
        Command::Verify(args) => verify::run(context, args, file),
        Command::Proof(args) => proof::prove(context, args),
        Command::VerifyProof(args) => proof::verify(context, args),
        Command::Checkpoint(args) => checkpoint::run(context, args, file),
        Command::Export(args) => export::run(context, args, file),
        Command::Report(args) => report::run(context, args, file),
        Command::Erase(args) => remove::erase(context, args, file),
        Command::Prune(args) => remove::prune(context, args, file),
        Command::Retention(args) => retention::run(context, args),
        Command::Key(args) => key::run(context, args, file),
    }
}

/// Opens the ledger for reading. If the ledger can be written, a checkpoint of all records, including spooled ones,
/// is signed first.
pub fn open_covered(context: &Context, book: &LedgerHandle, note: &str) -> Result<Reader, CommandError> {
    // Fails without a ledger, before anything is written.
    book.reader()?;
    if checkpoint::checkpoint_by_daemon(context)?.is_some() {
        return book.reader();
    }
    match book.writer() {
        Ok(ledger) => drop(book.close(ledger)),
        Err(error) => {
            context.terminal.eprint(&format!("{WARN}note{WARN:#}: {note}: {}\n", error.message))?;
        }
    }
    book.reader()
}

/// Output of a list if nothing was ever recorded, which is not an error.
pub(super) const NOTHING_RECORDED: &str =
    "no records yet; guard an agent with `tenterhook install`, or watch a session with `tenterhook demo`\n";

/// Whether nothing was ever recorded, including spooled decisions.
pub(super) fn is_unused(book: &LedgerHandle, context: &Context) -> Result<bool, CommandError> {
    book.import_spool();
    Ok(book.spool_counts() == (0, 0) && !context.home()?.ledger().join("ledger.db").exists())
}

#[expect(clippy::needless_pass_by_value, reason = "it is passed to `map_err`")]
fn read_error(error: ReadError) -> CommandError {
    CommandError::internal(error.to_string()).hint("`tenterhook ledger verify` checks the ledger")
}

/// Writes text to standard output, or to a file.
fn write_output(context: &Context, text: &str, output: Option<&Path>) -> Result<(), CommandError> {
    match output {
        Some(path) => write_atomic(&std::path::absolute(path)?, text.as_bytes(), 0o644),
        None => context.terminal.print_raw(text, ""),
    }
}

/// Parses a public key, or reads it from a file such as `key.pub`.
fn parse_public_key(text_or_path: &str) -> Result<VerifierKey, CommandError> {
    let invalid = |why: String| {
        CommandError::user(format!("invalid public key `{text_or_path}`: {why}")).hint(
            "a key looks like `tenterhook.local/…+0123abcd+AQ…`; the ledger writes its own to `key.pub`",
        )
    };
    text_or_path.parse().or_else(|error: tenterhook_ledger::note::NoteError| {
        let text = match fs_err::read_to_string(text_or_path) {
            Ok(text) => text,
            // A key contains a `+`; anything else is a file name.
            Err(failed) if !text_or_path.contains('+') => {
                let message = format!("cannot read the key file `{text_or_path}`: {}", failed.kind());
                return Err(CommandError::user(message)
                    .hint("the ledger writes its public key to `ledger/key.pub` in the state directory"));
            }
            Err(_) => return Err(invalid(error.to_string())),
        };
        text.trim().parse().map_err(|error: tenterhook_ledger::note::NoteError| invalid(error.to_string()))
    })
}
