// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};
use tenterhook_authority::Action;
use tenterhook_event::Timestamp;
use tenterhook_fleet_state::FleetDir;
use tenterhook_guard::LedgerHandle;
use tenterhook_home::call_meta::now_ms;
use tenterhook_records::recorded::JsonField as _;
use tenterhook_records::{record_range, secrets};

use super::checkpoint::append_error;
use super::filter::parse_time;
use super::passphrase::open_for_writing;
use super::read_error;
use crate::confirm::{self, ProofArgs};
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BOLD, GOOD};

const ERASE_EXAMPLES: &str = "\
Removes the input and output of the tool calls with the salt of their commitment, so that they \
cannot be guessed. The records stay, the tree still verifies, and a new record states who erased \
what and why.

Examples:
  tenterhook ledger erase 17 --reason 'a customer asked for it'
  tenterhook ledger erase 17..42 --reason 'test data' --code-file code.txt";

/// Erase the payloads of records; the records stay
#[derive(Debug, clap::Args)]
#[command(after_help = ERASE_EXAMPLES)]
pub(super) struct EraseArgs {
    /// Record number, or an inclusive range such as 17..42
    #[arg(value_name = "SEQ[..SEQ]", value_parser = parse_range)]
    records: (u64, u64),
    /// Reason; it is recorded
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Accepted for scripts; a typed confirmation or a code is still needed
    #[arg(long, short, hide = true)]
    yes: bool,
    #[command(flatten)]
    proof: ProofArgs,
}

const PRUNE_EXAMPLES: &str = "\
Removes the records from before that time, with their payloads. Hashes stay, so that the rest still \
verifies. Records that the verifier needs stay too (start, changes of keys, erasures, prunings).
On a machine of a fleet, records that the fleet has not acknowledged are refused without --force.

Examples:
  tenterhook ledger prune --keep-days 90 --reason 'retention: 90 days'
  tenterhook ledger prune --before 2026-01-01 --reason 'last year' \\
    --code-file code.txt";

/// Remove old records; their hashes stay, and the tree still verifies
#[derive(Debug, clap::Args)]
#[command(after_help = PRUNE_EXAMPLES)]
pub(super) struct PruneArgs {
    /// Remove records from before this day or time
    #[arg(long, value_name = "DATE", value_parser = parse_time, required_unless_present = "keep_days")]
    before: Option<Timestamp>,
    /// Remove records older than N days
    #[arg(long, value_name = "NUMBER", conflicts_with = "before")]
    keep_days: Option<u64>,
    /// Reason; it is recorded
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Remove records too that the fleet of this machine has not acknowledged
    #[arg(long)]
    force: bool,
    /// Accepted for scripts; a typed confirmation or a code is still needed
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
    let book = LedgerHandle::of(context.home()?);
    let (from, to) = args.records;
    record_range::check_exists(to, book.reader()?.size().map_err(read_error)?)?;
    let notice = format!("The payloads of records {from} to {to} will be erased. This cannot be undone.\n");
    context.terminal.eprint(&notice)?;
    let removal = (Action::LedgerErase, false);
    let removed = remove_records(context, removal, (from, to), &args.reason, &args.proof, file)?;
    report_removal(context, &format!("erased the payloads of records {from} to {to}"), &removed)
}

pub(super) fn prune(
    context: &Context,
    args: &PruneArgs,
    file: Option<&Path>,
) -> Result<ExitCode, CommandError> {
    let book = LedgerHandle::of(context.home()?);
    let kept = args.keep_days.map(|days| now_ms().saturating_sub(days.saturating_mul(86_400_000)));
    let Some(before) = args.before.map(Timestamp::unix_ms).or(kept) else {
        return Err(CommandError::user("`--before` or `--keep-days` is needed"));
    };
    let Some(to) = record_range::last_recorded_before(&book.reader()?, before).map_err(read_error)? else {
        let time = Timestamp::from_unix_ms(before);
        context.terminal.print(&format!("no records before {time}; nothing was pruned\n"))?;
        return Ok(ExitCode::SUCCESS);
    };
    if !args.force {
        let checked = FleetDir::of_state(&context.home()?.state).check_removable(to);
        checked.map_err(|error| {
            CommandError::conflict(error.to_string())
                .hint("`tenterhook fleet status` shows how far the upload is; `--force` removes them anyway")
        })?;
    }
    context.terminal.eprint(&format!("Records 0 to {to} will be removed. This cannot be undone.\n"))?;
    let removal = (Action::LedgerPrune, args.force);
    let removed = remove_records(context, removal, (0, to), &args.reason, &args.proof, file)?;
    report_removal(context, &format!("pruned records 0 to {to}; their hashes are kept"), &removed)
}

/// Asks for confirmation, then removes the records in the daemon or, without one, in this process. The second part of
/// `removal` is whether records that the fleet has not acknowledged are removed too.
fn remove_records(
    context: &Context,
    (action, force): (Action, bool),
    (from, to): (u64, u64),
    reason: &str,
    proof: &ProofArgs,
    file: Option<&Path>,
) -> Result<Value, CommandError> {
    let mut detail = json!({"from": from, "to": to, "reason": reason});
    if let Some(fields) = detail.as_object_mut().filter(|_| force) {
        fields.insert("force".to_owned(), true.into());
    }
    let (path, body) = match action {
        Action::LedgerErase => ("/v1/ledger/erase", detail.clone()),
        _ => ("/v1/ledger/prune", json!({"to": to, "reason": reason, "force": force})),
    };
    if let Some(removed) = confirm::ask_daemon(context, action, path, body, proof)? {
        return Ok(removed);
    }
    confirm::require_confirmation(context, action, detail, proof)?;
    let book = open_for_writing(context, file)?;
    let ledger = book.writer()?;
    let user = tenterhook_home::env::current_user();
    let removed = match action {
        Action::LedgerErase => ledger.erase(from, to, &user, reason, &secrets),
        _ => ledger.prune(to, &user, reason, &secrets),
    };
    let removed = removed.map_err(|error| CommandError::internal(format!("nothing was removed: {error}")))?;
    book.close(ledger).map_err(|error| append_error(&error))?;
    Ok(json!({"from": from, "to": to, "leaf": removed.seq()}))
}

fn report_removal(context: &Context, notice: &str, removed: &Value) -> Result<ExitCode, CommandError> {
    if context.terminal.json {
        context.terminal.print_json(removed)?;
    } else {
        let seq = removed.field("leaf");
        context.terminal.print(&format!("{GOOD}✓{GOOD:#} {notice} (recorded as {BOLD}{seq}{BOLD:#})\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Why an argument does not name records.
#[derive(Debug, thiserror::Error)]
#[error("expected a record number such as 17, or a range such as 17..42")]
struct InvalidRange;

fn parse_range(text: &str) -> Result<(u64, u64), InvalidRange> {
    let (from, to) = text.split_once("..").unwrap_or((text, text));
    match (from.parse(), to.parse()) {
        (Ok(from), Ok(to)) if from <= to => Ok((from, to)),
        _ => Err(InvalidRange),
    }
}
