// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::fmt::Write as _;
use std::process::ExitCode;

use serde_json::{Map, Value, json};
use tenterhook_event::{Decision, Timestamp};
use tenterhook_guard::LedgerHandle;
use tenterhook_ledger::{DiskUse, SoftwareKey};
use tenterhook_records::recorded;

use super::filter::FilterArgs;
use tenterhook_report::describe_filter;

use super::{NOTHING_RECORDED, is_unused, read_error};
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BOLD, DIM, WARN, tame};

const EXAMPLES: &str = "\
Examples:
  tenterhook ledger stats
  tenterhook ledger stats --since 7d
  tenterhook ledger stats --harness claude-code --json";

/// Show statistics of the ledger
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    filter: FilterArgs,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let home = context.home()?;
    let book = LedgerHandle::of(home);
    if is_unused(&book, context)? && !context.terminal.json {
        context.terminal.print(NOTHING_RECORDED)?;
        return Ok(ExitCode::SUCCESS);
    }
    let reader = book.reader()?;
    let stats = reader.stats(&args.filter.filter(context)?).map_err(read_error)?;
    let published = reader.checkpoint().map_err(read_error)?.map_or(0, |(size, _)| size);
    let size = reader.size().map_err(read_error)?;
    let key = reader.key().map_err(read_error)?.map(|key| key.to_string());
    let on_disk = DiskUse::measure(&home.ledger());
    let (waiting, refused) = book.spool_counts();
    let raw = recorded::unredacted_spans(&reader).map_err(read_error)?;
    let first = home.first_ledger();
    let when = |ms: Option<u64>| ms.map(|ms| Timestamp::from_unix_ms(ms).to_string());
    if context.terminal.json {
        let counted = |list: &[(String, u64)]| -> Value {
            Value::Object(
                list.iter().map(|(name, number)| (name.clone(), json!(number))).collect::<Map<_, _>>(),
            )
        };
        let days: Vec<_> = stats
            .days
            .iter()
            .map(|(day, verdict, number)| json!({"day": when(Some(*day)), "verdict": verdict, "count": number}))
            .collect();
        context.terminal.print_json(&json!({
            "leaves": stats.leaves, "undelivered": stats.undelivered, "sessions": stats.sessions, "first": when(stats.first_ms), "last": when(stats.last_ms),
            "kinds": counted(&stats.kinds), "verdicts": counted(&stats.verdicts), "harnesses": counted(&stats.harnesses),
            "tools": counted(&stats.tools), "rules": counted(&stats.rules), "days": days,
            "payloads": stats.payloads, "payload_bytes": stats.payload_bytes, "erased": stats.erased, "pruned": stats.pruned,
            "size": size, "published": published, "key": key, "bytes_on_disk": on_disk.total, "journal_bytes": on_disk.journal,
            "spool": {"waiting": waiting, "refused": refused},
            "keep_raw": raw.iter().map(|(from, to)| json!({"from": from, "to": to})).collect::<Vec<_>>(),
            "first_ledger": first.is_file().then_some(&first),
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = format!(
        "{BOLD}{}{BOLD:#} records of {} sessions {DIM}{}{DIM:#}\n",
        stats.leaves,
        stats.sessions,
        describe_filter(&args.filter.filter(context)?)
    );
    if let (Some(first), Some(last)) = (when(stats.first_ms), when(stats.last_ms)) {
        let _ = writeln!(text, "  {DIM}from{DIM:#} {first} {DIM}to{DIM:#} {last}");
    }
    for (title, list) in [
        ("By kind", &stats.kinds),
        ("By verdict", &stats.verdicts),
        ("By harness", &stats.harnesses),
        ("By tool", &stats.tools),
        ("By rule", &stats.rules),
    ] {
        if !list.is_empty() {
            let _ = writeln!(text, "\n{BOLD}{title}{BOLD:#}");
        }
        let most = list.iter().map(|(_, number)| *number).max().unwrap_or(1).max(1);
        for (name, number) in list.iter().take(12) {
            let bar = usize::try_from(number * 30 / most).unwrap_or(0).max(1);
            let label = if title == "By verdict" { Decision::label_of(name) } else { name };
            let _ = writeln!(text, "  {:<32} {number:>8} {DIM}{}{DIM:#}", tame(label), "▇".repeat(bar));
        }
    }
    let _ = writeln!(
        text,
        "\n{BOLD}Store{BOLD:#}\n  {} payloads, {} bytes; {} erased, {} records pruned\n  {size} records, signed by {}; the latest checkpoint covers {published}\n  {} bytes in {} (journal: {} bytes, emptied when idle)",
        stats.payloads,
        stats.payload_bytes,
        stats.erased,
        stats.pruned,
        key.as_deref().unwrap_or("no key"),
        on_disk.total,
        home.ledger().display(),
        on_disk.journal
    );
    for (from, to) in raw {
        let until = to.map_or_else(|| "on, until now".to_owned(), |to| format!("to {to}"));
        let _ = writeln!(
            text,
            "  {WARN}secrets were not redacted from record {from} {until}{WARN:#} (`keep_raw`)"
        );
    }
    if book.settings().sealed && !SoftwareKey::is_sealed(&book.key_file()) {
        let _ = writeln!(
            text,
            "  {WARN}your settings require a sealed key, but it is not sealed{WARN:#}: run `tenterhook ledger key seal`"
        );
    }
    if stats.undelivered > 0 {
        let _ = writeln!(
            text,
            "  {} decisions of the daemon came too late: the hook had decided in-process, and that decision counts",
            stats.undelivered
        );
    }
    if waiting + refused > 0 {
        let _ = writeln!(
            text,
            "  {WARN}{waiting} entries wait in the spool, {refused} cannot be read{WARN:#}: {}",
            home.spool().display()
        );
    }
    if first.is_file() {
        let _ = writeln!(
            text,
            "  {DIM}the ledger of an earlier version is kept, but no longer written: {}{DIM:#}",
            first.display()
        );
    }
    context.terminal.print(&text)?;
    Ok(ExitCode::SUCCESS)
}
