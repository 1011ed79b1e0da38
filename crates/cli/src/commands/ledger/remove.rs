// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::path::Path;
use std::process::ExitCode;

use serde_json::json;
use tenterhook_event::Timestamp;
use tenterhook_home::authority::Action;
use tenterhook_home::{Book, door::now_ms, secrets};
use tenterhook_ledger::{AppendError, Reader};

use super::checkpoint::refused;
use super::filter::moment;
use super::passphrase::writing;
use super::unread;
use crate::context::Context;
use crate::error::CommandError;
use crate::gate::{self, ProofArgs};
use crate::terminal::{BOLD, GOOD};

const ERASE_EXAMPLES: &str = "\
What the tool was told and what it said go, with the salt of their commitment, so that nobody can guess
them. The leaf stays, the tree still verifies, and a leaf of its own says who erased what and why.

Examples:
  tenterhook ledger erase 17 --reason 'a customer asked for it'
  tenterhook ledger erase 17..42 --reason 'test data' --code-file code.txt";

/// Erase the payloads of leaves; the leaves stay
#[derive(Debug, clap::Args)]
#[command(after_help = ERASE_EXAMPLES)]
pub(super) struct EraseArgs {
    /// One leaf, or from one to another, both included
    #[arg(value_name = "SEQ[..SEQ]", value_parser = range)]
    leaves: (u64, u64),
    /// Why; it is recorded
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Accepted for scripts; a person or a code is needed all the same
    #[arg(long, short, hide = true)]
    yes: bool,
    #[command(flatten)]
    proof: ProofArgs,
}

const PRUNE_EXAMPLES: &str = "\
Leaves that were recorded before then go, with their payloads; their hashes stay, so that the rest still
verifies. What the verifier needs (start, changes of keys, erasures, prunings) stays too.

Examples:
  tenterhook ledger prune --keep-days 90 --reason 'retention: 90 days'
  tenterhook ledger prune --before 2026-01-01 --reason 'last year' --code-file code.txt";

/// Remove old leaves; their hashes stay, and the tree verifies
#[derive(Debug, clap::Args)]
#[command(after_help = PRUNE_EXAMPLES)]
pub(super) struct PruneArgs {
    /// What was recorded before this day or moment goes
    #[arg(long, value_name = "DATE", value_parser = moment, required_unless_present = "keep_days")]
    before: Option<Timestamp>,
    /// What is older than so many days goes
    #[arg(long, value_name = "NUMBER", conflicts_with = "before")]
    keep_days: Option<u64>,
    /// Why; it is recorded
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Accepted for scripts; a person or a code is needed all the same
    #[arg(long, short, hide = true)]
    yes: bool,
    #[command(flatten)]
    proof: ProofArgs,
}

pub(super) fn erase(
    context: &Context,
    args: &EraseArgs,
    file: Option<&Path>,
) -> Result<ExitCode, CommandError> {
    let book = Book::of(context.home()?);
    let (from, to) = args.leaves;
    exists(&book.read()?, to)?;
    let what = format!("The payloads of leaves {from} to {to} go. They cannot be brought back.\n");
    context.terminal.note(&what)?;
    let detail = json!({"from": from, "to": to, "reason": args.reason});
    gate::pass(context, Action::LedgerErase, detail, &args.proof)?;
    let book = writing(context, file)?;
    let ledger = book.write()?;
    let appended = ledger
        .erase(from, to, &tenterhook_home::env::user(), &args.reason, &secrets)
        .map_err(|error| unremoved(&error))?;
    book.close(ledger).map_err(|error| refused(&error))?;
    let what = format!("the payloads of leaves {from} to {to} are erased");
    done(context, &what, from, to, appended.seq())
}

pub(super) fn prune(
    context: &Context,
    args: &PruneArgs,
    file: Option<&Path>,
) -> Result<ExitCode, CommandError> {
    let book = Book::of(context.home()?);
    let kept = args.keep_days.map(|days| now_ms().saturating_sub(days.saturating_mul(86_400_000)));
    let Some(before) = args.before.map(Timestamp::unix_ms).or(kept) else {
        return Err(CommandError::unusable("`--before` or `--keep-days` is needed"));
    };
    let reader = book.read()?;
    let first = first_since(&reader, before)?;
    let Some(to) = first.checked_sub(1) else {
        let moment = Timestamp::from_unix_ms(before);
        context.terminal.say(&format!("nothing was recorded before {moment}; nothing is pruned\n"))?;
        return Ok(ExitCode::SUCCESS);
    };
    drop(reader);
    context.terminal.note(&format!("Leaves 0 to {to} go. They cannot be brought back.\n"))?;
    let detail = json!({"to": to, "reason": args.reason});
    gate::pass(context, Action::LedgerPrune, detail, &args.proof)?;
    let book = writing(context, file)?;
    let ledger = book.write()?;
    let appended = ledger
        .prune(to, &tenterhook_home::env::user(), &args.reason, &secrets)
        .map_err(|error| unremoved(&error))?;
    book.close(ledger).map_err(|error| refused(&error))?;
    done(context, &format!("leaves 0 to {to} are pruned; their hashes are kept"), 0, to, appended.seq())
}

fn done(context: &Context, what: &str, from: u64, to: u64, seq: u64) -> Result<ExitCode, CommandError> {
    if context.terminal.json {
        context.terminal.print_json(&json!({"from": from, "to": to, "leaf": seq}))?;
    } else {
        context.terminal.say(&format!("{GOOD}✓{GOOD:#} {what}; leaf {BOLD}{seq}{BOLD:#} says so\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The first leaf that was recorded at this moment or later: leaves are recorded in order.
fn first_since(reader: &Reader, ms: u64) -> Result<u64, CommandError> {
    let (mut low, mut high) = (0, reader.size().map_err(unread)?);
    while low < high {
        let middle = low.midpoint(high);
        let record = reader.get(middle).map_err(unread)?;
        let recorded = record.as_ref().and_then(|record| record.envelope()).and_then(Result::ok);
        let recorded = recorded.and_then(|leaf| leaf.recorded.parse::<Timestamp>().ok());
        // A leaf that is gone was pruned, so it is from before.
        if recorded.is_some_and(|recorded| recorded.unix_ms() >= ms) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Ok(low)
}

fn exists(reader: &Reader, seq: u64) -> Result<(), CommandError> {
    let size = reader.size().map_err(unread)?;
    if seq < size {
        return Ok(());
    }
    Err(CommandError::unusable(format!("there is no leaf {seq}; the last one is {}", size.saturating_sub(1)))
        .hint("`tenterhook ledger query` lists them; the first column is the number"))
}

fn unremoved(error: &AppendError) -> CommandError {
    CommandError::failed(format!("nothing was removed: {error}"))
}

fn range(text: &str) -> Result<(u64, u64), String> {
    let (from, to) = text.split_once("..").unwrap_or((text, text));
    match (from.parse(), to.parse()) {
        (Ok(from), Ok(to)) if from <= to => Ok((from, to)),
        _ => Err("say one leaf, as in 17, or from one to another, as in 17..42".to_owned()),
    }
}
