// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};
use tenterhook_guard::LedgerHandle;
use tenterhook_records::recorded::JsonField as _;

use super::list::NO_SESSIONS;
use super::{percent_encode, recorded_sessions, show};
use crate::ask;
use crate::context::Context;
use crate::error::CommandError;
use crate::ledger::is_unused;
use crate::terminal::{BAD, DIM, GOOD, WARN, tame};

const EXAMPLES: &str = "\
Prints one line per event: prompts, tool calls and their results, changed files, the to-do list, denied calls. \
With --json one object per line: {\"event\": …, \"data\": …}.

Examples:
  tenterhook sessions follow
  tenterhook sessions follow last
  tenterhook sessions follow --json \\
    | jq 'select(.event == \"file-changed\").data.path'";

/// Interval at which the ledger is polled if no daemon is running.
const LEDGER_POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Follow live sessions
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Only this session: its id or a part of it, a record number in it, or `last`
    #[arg(value_name = "SESSION")]
    id: Option<String>,
    /// Exit after N lines
    #[arg(long, short = 'n', value_name = "NUMBER")]
    lines: Option<u64>,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let mut left = args.lines.unwrap_or(u64::MAX);
    let mut show = |kind: &str, data: &Value| -> Result<bool, CommandError> {
        let Some(line) = event_line(context, kind, data) else { return Ok(true) };
        left = left.saturating_sub(1);
        let mut out = context.terminal.stdout();
        match writeln!(out, "{line}").and_then(|()| out.flush()) {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(false),
            written => Ok(written.map(|()| left > 0)?),
        }
    };
    if ask::is_up(context.home()?) {
        let path = match &args.id {
            Some(id) => {
                format!("/v1/sessions/{}/stream", percent_encode(&show::resolve_id(context, None, id)?))
            }
            None => "/v1/sessions/stream".to_owned(),
        };
        ask::stream(context.home()?, &path, &mut show)?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.id.is_none() && is_unused(&LedgerHandle::of(context.home()?), context)? {
        context.terminal.print(NO_SESSIONS)?;
        return Ok(ExitCode::SUCCESS);
    }
    let ledger = recorded_sessions(context)?;
    let id = args.id.as_deref().map(|id| show::resolve_id(context, Some(&ledger), id)).transpose()?;
    let mut following = ledger.follow(id.as_deref())?;
    context.terminal.eprint("no daemon is running: polling the ledger\n")?;
    let book = LedgerHandle::of(context.home()?);
    loop {
        // Without a daemon, hooks write to the spool.
        book.import_spool();
        for event in following.poll()? {
            let data = serde_json::to_value(&event).map_err(std::io::Error::from)?;
            if !show(event.change.kind(), &data)? {
                return Ok(ExitCode::SUCCESS);
            }
        }
        std::thread::sleep(LEDGER_POLL_INTERVAL);
    }
}

/// Formats an event as one line; `None` for keepalives.
fn event_line(context: &Context, kind: &str, data: &Value) -> Option<String> {
    if kind == "hello" {
        return None;
    }
    if context.terminal.json {
        return Some(json!({"event": kind, "data": data}).to_string());
    }
    let text = |key: &str| tame(data.field(key).as_str().unwrap_or_default());
    let number = |key: &str| data.field(key).as_u64().unwrap_or_default();
    let tool = data.field("tool");
    let line = match kind {
        "file-changed" => {
            format!(
                "{GOOD}✎{GOOD:#} {} {} {DIM}+{} −{}{DIM:#}",
                text("tool"),
                text("shown"),
                number("added"),
                number("removed")
            )
        }
        "todo-update" => format!("☑ todo list {}", text("progress")),
        "tool" => {
            let call = format!(
                "{} {}",
                tame(tool.field("name").as_str()?),
                tame(tool.field("gist").as_str().unwrap_or_default())
            );
            match data.field("state").as_str()? {
                "asked" => format!("{DIM}▸{DIM:#} {call}"),
                "done" => format!("{GOOD}✓{GOOD:#} {DIM}{call}{DIM:#}"),
                state => format!("{BAD}✗{BAD:#} {state}: {call}"),
            }
        }
        "prompt" => format!("{WARN}?{WARN:#} {}", text("text")),
        "denied" => {
            let nudge = text("nudge");
            let nudge = if nudge.is_empty() { nudge } else { format!(" → {nudge}") };
            format!("{BAD}denied{BAD:#} by {}: {}{nudge}", text("rule"), text("reason"))
        }
        "hint" => format!("{DIM}hint: {}{DIM:#}", text("hint")),
        "usage" => {
            format!("{DIM}{} tokens in, {} out{DIM:#}", number("input_tokens"), number("output_tokens"))
        }
        "subagent" => {
            let what = if data.field("ended").is_null() { "started" } else { "ended" };
            format!("subagent {} {} {what}", text("type"), text("id"))
        }
        "ended" => format!("{DIM}ended {}{DIM:#}", text("reason")),
        "lagged" => format!("{WARN}{} missed{WARN:#}", number("missed")),
        other => tame(other),
    };
    let at: String =
        tame(data.field("at").field("ts").as_str().unwrap_or_default()).chars().skip(11).take(8).collect();
    let session: String = text("session").chars().take(8).collect();
    Some(format!("{DIM}{at} {} {session}{DIM:#}  {line}", text("harness")))
}
