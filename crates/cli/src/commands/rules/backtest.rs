// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;
use tenterhook_event::Timestamp;
use tenterhook_guard::LedgerHandle;
use tenterhook_guard::backtest::{Backtest, ReplayReport};
use tenterhook_home::{Sources, WorkDirs};

use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{DIM, GOOD, Terminal, WARN, count, style_of, tame};
use tenterhook_ledger_commands::ledger::{ProgressBar, parse_time};

const EXAMPLES: &str = "\
Evaluates every recorded event again: with the rule packs, the organisation's rules and FILE in place of your \
policy.yaml, and with the recorded symbolic links. Nothing is changed. Findings of hooks are ignored; events \
whose payload was erased, pruned or too large cannot be replayed and are counted.

Exit codes: 0 no decision would differ; 1 some would; 2 the file is invalid.

Examples:
  tenterhook rules backtest new-policy.yaml
  tenterhook rules backtest new-policy.yaml --since 7d --json";

/// Replay the ledger with a changed policy, and list the decisions that would differ
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::commands) struct Args {
    /// Rule file to use instead of your policy.yaml
    file: PathBuf,
    /// Only events since: 15m, 24h, 7d, 2026-11-15 or 2026-11-15T08:00:00Z
    #[arg(long, value_name = "WHEN", value_parser = parse_time)]
    since: Option<Timestamp>,
    /// Only events before this time
    #[arg(long, value_name = "WHEN", value_parser = parse_time)]
    until: Option<Timestamp>,
    /// Maximum number of differences to show
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
}

pub(in crate::commands) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let home = context.home()?;
    let sources = Sources::collect(home, &context.env, &WorkDirs::default()).with_policy(home, &args.file)?;
    let loaded = sources.load_checked();
    if let Some(problem) = sources.problems.iter().chain(&loaded.problems).next() {
        let hint = format!("list all problems: `tenterhook check {}`", args.file.display());
        return Err(CommandError::user(problem.to_string()).hint(hint));
    }
    let backtest = Backtest {
        rules: &loaded.rules,
        user_home: context.env.home.as_deref().and_then(Path::to_str),
        from_ms: args.since.map_or(0, Timestamp::unix_ms),
        until_ms: args.until.map_or(u64::MAX, Timestamp::unix_ms),
        threads: std::thread::available_parallelism().map_or(1, usize::from),
    };
    let reader = LedgerHandle::of(home).reader()?;
    let mut bar = ProgressBar::new(context.terminal);
    let began = std::time::Instant::now();
    let replay = backtest.run(&reader, &mut |done, of| bar.show(done, Some(of)))?;
    bar.clear();
    let took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let exit = if replay.by_rule.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    if context.terminal.json {
        let mut answer = serde_json::to_value(&replay).map_err(std::io::Error::from)?;
        if let Some(answer) = answer.as_object_mut() {
            answer.insert("took_ms".to_owned(), json!(took_ms));
        }
        context.terminal.print_json(&answer)?;
    } else {
        context.terminal.print(&replay_text(&replay, args.limit, took_ms))?;
    }
    Ok(exit)
}

fn replay_text(replay: &ReplayReport, limit: usize, took_ms: u64) -> String {
    // Number, both verdicts and the gaps between the columns.
    let layout = Terminal::table_layout();
    let room = layout.width.saturating_sub(29);
    let (width, by_width) = (room * 2 / 3, room - room * 2 / 3);
    let mut text = String::new();
    for difference in replay.differences.iter().take(limit) {
        let (was, now) = (style_of(difference.was), style_of(difference.now));
        let by = difference.now_by.as_ref().or(difference.was_by.as_ref());
        text += &format!(
            "{DIM}{:>7}{DIM:#} {was}{:<8}{was:#} → {now}{:<8}{now:#} {} {DIM}{}{DIM:#}\n",
            difference.seq,
            difference.was.label(),
            difference.now.label(),
            layout.cell(&tame(&difference.what), width),
            layout.cell(&tame(by.map_or("", String::as_str)), by_width).trim_end(),
        );
    }
    let more = replay.differences.len().saturating_sub(limit) + usize::try_from(replay.unnamed).unwrap_or(0);
    if more > 0 {
        text += &format!("{DIM}        and {more} more (`--limit`, `--json`){DIM:#}\n");
    }
    for (rule, changes) in &replay.by_rule {
        let parts = [(changes.stricter, "stricter"), (changes.looser, "less strict")];
        let parts: Vec<_> =
            parts.iter().filter(|(many, _)| *many > 0).map(|(many, how)| format!("{many} {how}")).collect();
        text += &format!("{WARN}{rule}{WARN:#}: {}\n", parts.join(", "));
    }
    let differing = replay.replayed - replay.same;
    let events = count(usize::try_from(replay.replayed).unwrap_or(usize::MAX), "event");
    text += &match differing {
        0 => format!("{GOOD}✓{GOOD:#} {events} replayed; no decision would differ\n"),
        many => format!("{events} replayed; {many} would be decided differently\n"),
    };
    for (why, many) in &replay.left_out {
        text += &format!("{WARN}not replayed{WARN:#}: {many} × {why}\n");
    }
    if replay.redacted > 0 {
        text += &format!(
            "{WARN}note{WARN:#}: {} were evaluated without their redacted secrets; rules about secrets may not match\n",
            count(usize::try_from(replay.redacted).unwrap_or(usize::MAX), "event")
        );
    }
    text + &format!("{DIM}{took_ms} ms{DIM:#}\n")
}
