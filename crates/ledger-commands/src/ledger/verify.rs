// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;
use tenterhook_error::ErrorKind;
use tenterhook_fleet_state::FleetDir;
use tenterhook_guard::LedgerHandle;
use tenterhook_ledger::checkpoint::Checkpoint;
use tenterhook_ledger::{
    Defect, Expectations, LogProblem, ProblemLocation, Reader, VerifiedLog, export, tiles,
};

use super::checkpoint::append_error;
use super::passphrase::open_for_writing;
use super::{ProgressBar, parse_public_key};
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BAD, BOLD, DIM, GOOD, WARN};

const EXAMPLES: &str = "\
Checks every record, every payload, every hash of the tree, every checkpoint and every key rotation. A ledger \
that was rolled back to an older state still verifies: keep a checkpoint elsewhere (`tenterhook ledger checkpoint \
--output FILE`) and pass it with --since. On a machine of a fleet, --witness does this with the last checkpoint that \
the fleet cosigned.

The index, the counters of `ledger stats` and the filters of text search are derived from the records, and are \
checked too. If only they are wrong, --repair rebuilds them and records that; stop the daemon first.

Exit codes:
  0  everything is as it was signed, or --repair fixed a wrong index
  1  the ledger was tampered with; the first difference is printed
  2  there is nothing to verify

Examples:
  tenterhook ledger verify
  tenterhook ledger verify --since checkpoint-of-monday
  tenterhook ledger verify --witness
  tenterhook ledger verify --repair
  tenterhook ledger verify --file export.jsonl --key key.pub
  tenterhook ledger verify --file tiles/ --key key.pub";

/// Check that no record was changed, removed or inserted
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Export to verify instead of this ledger: a JSON lines file, or a directory of tiles
    #[arg(long, value_name = "EXPORT")]
    file: Option<PathBuf>,
    /// Public key that must have signed the log, or a file with it
    #[arg(long, value_name = "PUBLIC")]
    key: Option<String>,
    /// File with an earlier checkpoint that the log must extend
    #[arg(long, value_name = "CHECKPOINT-FILE")]
    since: Option<PathBuf>,
    /// Require the last checkpoint that the witness of this machine's fleet cosigned
    #[arg(long, conflicts_with_all = ["file", "since"])]
    witness: bool,
    /// Rebuild the index if nothing else is wrong
    #[arg(long, conflicts_with = "file")]
    repair: bool,
}

pub(super) fn run(
    context: &Context,
    args: &Args,
    passphrase: Option<&Path>,
) -> Result<ExitCode, CommandError> {
    let result = verify_ledger(context, args)?;
    let result = match result {
        Err(problem) if args.repair && problem.defect.is_index() => {
            repair_index(context, &problem, passphrase)?;
            verify_ledger(context, args)?
        }
        result => result,
    };
    match result {
        Ok(verified) => print_verified(context, &verified).map(|()| ExitCode::SUCCESS),
        Err(problem) => print_problem(context, &problem),
    }
}

/// Rebuilds the index and records the repair.
fn repair_index(
    context: &Context,
    problem: &LogProblem,
    passphrase: Option<&Path>,
) -> Result<(), CommandError> {
    let book = open_for_writing(context, passphrase)?;
    let ledger = book.writer()?;
    let rebuilt = ledger.rebuild_index(&tenterhook_home::env::current_user());
    let rebuilt = rebuilt.map_err(|error| CommandError::internal(format!("index not repaired: {error}")))?;
    book.close(ledger).map_err(|error| append_error(&error))?;
    let seq = rebuilt.seq();
    context.terminal.eprint(&format!("{WARN}repaired{WARN:#}: {problem} (recorded as {seq})\n"))
}

fn verify_ledger(context: &Context, args: &Args) -> Result<Result<VerifiedLog, LogProblem>, CommandError> {
    let key = args.key.as_deref().map(parse_public_key).transpose()?;
    let since = args.since.as_ref().map(read_checkpoint).transpose()?;
    let mut bar = ProgressBar::new(context.terminal);
    let mut progress = |done: u64, of: Option<u64>| bar.show(done, of);
    let result = if let Some(path) = args.file.as_ref().filter(|path| path.is_dir()) {
        if !path.join("checkpoint").is_file() {
            let message = format!("`{}` is not a directory of tiles: it has no `checkpoint`", path.display());
            return Err(CommandError::user(message)
                .hint("`tenterhook ledger export --format tiles --output DIR` writes one"));
        }
        tiles::verify(path, Expectations { key, since }, &mut progress)
    } else if let Some(path) = &args.file {
        let file = fs_err::File::open(path).map_err(|error| CommandError::user(error.to_string()))?;
        export::verify(BufReader::with_capacity(1 << 20, file), Expectations { key, since }, &mut progress)
    } else {
        let home = context.home()?;
        // The published checkpoint is outside the store, so a rollback of the store alone is detected. The checkpoint
        // is read first, because the store may grow in the meantime.
        let as_user_error = |error| CommandError { kind: ErrorKind::User, ..error };
        let published = tenterhook_ledger::published_checkpoint(&home.ledger());
        let reader = LedgerHandle::of(home).reader().map_err(as_user_error)?;
        let since = if args.witness { Some(witnessed_note(context, &reader)?) } else { since };
        let since = since.or(published.filter(|note| Checkpoint::parse(note).is_ok()));
        reader.verify(Expectations { key, since }, &mut progress)
    };
    bar.clear();
    Ok(result)
}

/// Returns the checkpoint that the fleet's witness cosigned last, after comparing it with the ledger's tree.
fn witnessed_note(context: &Context, reader: &Reader) -> Result<String, CommandError> {
    let dir = FleetDir::of_state(&context.home()?.state);
    match dir.check_witness(reader) {
        Ok(witnessed) => {
            let text =
                format!("witness `{}` cosigned {} records", witnessed.witness, witnessed.checkpoint.size);
            context.terminal.eprint(&format!("{DIM}{text}{DIM:#}\n"))?;
            Ok(witnessed.note)
        }
        Err(error) if error.is_tampering() => Err(CommandError::internal(error.to_string())
            .hint("make a copy of the whole ledger first; the fleet's server has the other records")),
        Err(error) => Err(CommandError::user(error.to_string())),
    }
}

fn read_checkpoint(path: &PathBuf) -> Result<String, CommandError> {
    let note = fs_err::read_to_string(path).map_err(|error| CommandError::user(error.to_string()))?;
    Checkpoint::parse(&note).map_err(|error| {
        CommandError::user(format!("invalid checkpoint `{}`: {error}", path.display()))
            .hint("`tenterhook ledger checkpoint --output FILE` writes one")
    })?;
    Ok(note)
}

fn print_verified(context: &Context, verified: &VerifiedLog) -> Result<(), CommandError> {
    let keys: Vec<_> = verified.keys.iter().map(ToString::to_string).collect();
    if context.terminal.json {
        return context.terminal.print_json(&json!({
            "verified": true, "origin": verified.origin, "size": verified.size, "root": verified.root.to_string(),
            "unpublished": verified.unpublished, "pruned": verified.pruned, "erased": verified.erased,
            "checkpoints": verified.checkpoints, "keys": keys, "trusted_on_first_use": verified.on_first_use,
            "payloads_checked": verified.payloads,
        }));
    }
    let mut text = format!(
        "{GOOD}✓{GOOD:#} {BOLD}{}{BOLD:#} records match their signatures\n  {DIM}log{DIM:#}         {}\n  {DIM}root{DIM:#}        {}\n  {DIM}checkpoints{DIM:#} {}\n",
        verified.size, verified.origin, verified.root, verified.checkpoints
    );
    for key in &keys {
        text += &format!("  {DIM}key{DIM:#}         {key}\n");
    }
    for (number, what) in [
        (verified.unpublished, "records are signed, but not in a published checkpoint yet"),
        (verified.pruned, "records were pruned; the pruning is recorded"),
        (verified.erased, "payloads were erased; the erasure is recorded"),
    ] {
        if number > 0 {
            text += &format!("  {number} {what}\n");
        }
    }
    if !verified.payloads {
        text += &format!("{WARN}note{WARN:#}: tiles have no payloads, so payloads were not checked\n");
    }
    if verified.on_first_use {
        text += &format!(
            "{WARN}note{WARN:#}: the log's own key was trusted; use `--key` to require a key, and `--since` to require an earlier checkpoint\n"
        );
    }
    context.terminal.print(&text)
}

fn print_problem(context: &Context, problem: &LogProblem) -> Result<ExitCode, CommandError> {
    // An unreadable store proves nothing either way.
    if let (ProblemLocation::Log, Defect::Unreadable(why)) = (problem.location, &problem.defect) {
        return Err(CommandError::user(why.clone()));
    }
    let leaf = match problem.location {
        ProblemLocation::Leaf(seq) | ProblemLocation::Leaves(seq, _) => Some(seq),
        _ => None,
    };
    if context.terminal.json {
        context
            .terminal
            .print_json(&json!({"verified": false, "leaf": leaf, "problem": problem.to_string()}))?;
    } else if problem.defect.is_index() {
        context.terminal.print(&format!(
            "{BAD}✗ {problem}{BAD:#}\n  {DIM}every record matches its signature; `tenterhook ledger verify --repair` rebuilds the index{DIM:#}\n"
        ))?;
    } else {
        context.terminal.print(&format!(
            "{BAD}✗ {problem}{BAD:#}\n  {DIM}the records before it match their signatures; make a copy of the whole ledger first{DIM:#}\n"
        ))?;
    }
    Ok(ExitCode::FAILURE)
}
