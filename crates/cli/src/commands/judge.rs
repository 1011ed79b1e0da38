// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;
use tenterhook_event::{Decision, Event};
use tenterhook_harness::MAX_PAYLOAD_BYTES;
use tenterhook_rulebook::{
    CommandEventFn, Rulebook, RulingLine, command_event, is_too_long, judge_line, read_line_bounded,
};

use crate::context::Context;
use crate::error::CommandError;
use crate::read_input;
use crate::rule_args::RuleArgs;
use crate::terminal::{BOLD, DIM, describe_verdict, style_of, tame};

const EXAMPLES: &str = "\
Evaluates only rules: the built-in ones and those of --policy. No hook runs, nothing is recorded, nothing is \
executed, and no state directory is needed. The verdict is the strictest of all matching rules.

A line of --jsonl is `{\"command\": \"…\"}`, optionally with `cwd` and `id`, or a whole event in Tenterhook's \
format (docs/spec/event.md). Each line produces one line \
`{\"verdict\": \"none|allow|ask|deny\", \"rule\": …, \"reason\": …}`, or `{\"error\": …}` if it cannot be read.

Exit codes: 0 evaluated; 1 a line could not be read; 2 wrong usage.
With --exit-code: 0 none or allow, 3 ask, 4 deny (the strictest of all lines).

Examples:
  tenterhook rules judge --shell 'rm -rf ~/work'
  tenterhook rules judge --shell 'terraform destroy' --policy my-rules.yaml --json
  tenterhook rules judge --shell 'python3 -q' --harness codex
  tenterhook rules judge --jsonl commands.jsonl --cwd /srv/app > verdicts.jsonl";

/// Evaluate rules for one command or many, without hooks
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, group = clap::ArgGroup::new("what").required(true))]
pub(crate) struct Args {
    /// Shell command to evaluate
    #[arg(long, value_name = "COMMAND", group = "what", allow_hyphen_values = true)]
    shell: Option<String>,
    /// File with one JSON object per line; standard input without a value
    #[arg(long, value_name = "FILE", group = "what", num_args = 0..=1, default_missing_value = "-")]
    jsonl: Option<PathBuf>,
    /// Working directory of the command [default: the current directory]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Harness that would run the command
    #[arg(long, value_name = "HARNESS", default_value = "claude-code")]
    harness: String,
    #[command(flatten)]
    rules: RuleArgs,
    /// Also report the verdict in the exit code
    #[arg(long)]
    exit_code: bool,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let book = args.rules.load(context.env.home.as_deref())?.require_usable()?;
    let cwd = match &args.cwd {
        Some(dir) => Some(std::path::absolute(dir)?),
        // If the current directory was deleted, rules see an unknown directory.
        None => std::env::current_dir().ok(),
    };
    let cwd = cwd.as_deref().and_then(Path::to_str);
    let now = tenterhook_home::call_meta::now();
    let unhooked_stdin = read_input::parse_harness(&args.harness)?.unhooked_stdin;
    let make_event = |command: &str, cwd: Option<&str>| {
        let mut event = command_event(command, cwd, now);
        event.detail.unhooked_stdin = unhooked_stdin;
        event
    };
    let strictest = match (&args.shell, &args.jsonl) {
        (Some(command), _) => judge_one(context, &book, &make_event(command, cwd))?,
        (None, file) => {
            let input: Box<dyn Read> = if let Some(path) =
                file.as_deref().filter(|path| *path != Path::new("-"))
            {
                Box::new(fs_err::File::open(path).map_err(|error| CommandError::user(error.to_string()))?)
            } else {
                read_input::refuse_terminal_input(
                    "for example `tenterhook rules judge --jsonl commands.jsonl`, or `--shell 'rm -rf ~/'`",
                )?;
                Box::new(std::io::stdin().lock())
            };
            let make_event = |command: &str, place: Option<&str>| make_event(command, place.or(cwd));
            let judged = judge_lines(&book, BufReader::with_capacity(1 << 16, input), &make_event)?;
            if judged.has_unreadable {
                return Ok(ExitCode::FAILURE);
            }
            judged.strictest
        }
    };
    Ok(if args.exit_code { ExitCode::from(exit_code(strictest)) } else { ExitCode::SUCCESS })
}

fn exit_code(verdict: Decision) -> u8 {
    match verdict {
        Decision::None | Decision::Allow => 0,
        Decision::Defer | Decision::Ask => 3,
        Decision::Deny => 4,
    }
}

fn judge_one(context: &Context, book: &Rulebook, event: &Event) -> Result<Decision, CommandError> {
    let ruling = book.strictest_ruling(event);
    if context.terminal.json {
        context.terminal.print_json(&RulingLine::new(&ruling, None))?;
        return Ok(ruling.verdict);
    }
    let style = style_of(ruling.verdict);
    let mut text = format!("  {style}{}{style:#}\n", describe_verdict(ruling.verdict));
    if let Some(rule) = &ruling.rule {
        text += &format!("  {BOLD}{rule}{BOLD:#}");
        text += &ruling.reason.as_deref().map_or_else(String::new, |reason| format!("  {}", tame(reason)));
        text.push('\n');
    }
    if let Some(nudge) = ruling.nudge.as_deref().filter(|_| ruling.verdict == Decision::Deny) {
        text += &format!("  {DIM}→ {}{DIM:#}\n", tame(nudge));
    }
    context.terminal.print(&text)?;
    Ok(ruling.verdict)
}

struct JudgedLines {
    strictest: Decision,
    has_unreadable: bool,
}

/// Evaluates line by line. Writes each result before waiting for more input.
fn judge_lines(
    book: &Rulebook,
    mut input: BufReader<impl Read>,
    make_event: &CommandEventFn<'_>,
) -> Result<JudgedLines, CommandError> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut judged = JudgedLines { strictest: Decision::None, has_unreadable: false };
    let mut line = Vec::new();
    while read_line_bounded(&mut input, &mut line, MAX_PAYLOAD_BYTES)? {
        let result = if is_too_long(&line, MAX_PAYLOAD_BYTES) {
            Err(CommandError::user(format!("line exceeds {} MiB", MAX_PAYLOAD_BYTES / 1024 / 1024)))
        } else {
            judge_line(book, &line, make_event)
        };
        let mut answer = match result {
            Ok((ruling, id)) => {
                judged.strictest = judged.strictest.max(ruling.verdict);
                serde_json::to_string(&RulingLine::new(&ruling, id)).map_err(std::io::Error::from)?
            }
            Err(error) => {
                judged.has_unreadable = true;
                json!({"error": error.message}).to_string()
            }
        };
        answer.push('\n');
        let written = out.write_all(answer.as_bytes());
        let flushed = if input.buffer().is_empty() { written.and_then(|()| out.flush()) } else { written };
        match flushed {
            // A closed pipe ends the output without an error.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => return Ok(judged),
            other => other?,
        }
    }
    out.flush()?;
    Ok(judged)
}
