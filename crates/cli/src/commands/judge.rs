// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;
use tenterhook_event::{Decision, Event};
use tenterhook_harness::MAX_PAYLOAD;
use tenterhook_rulebook::{
    CommandEventFn, Rulebook, RulingLine, about_to_run, is_too_long, judge_line, read_line_bounded,
};

use crate::context::Context;
use crate::error::CommandError;
use crate::intake;
use crate::rule_args::RuleArgs;
use crate::terminal::{BOLD, DIM, style_of, tame, verdict_in_words};

const EXAMPLES: &str = "\
Only the rules speak: the ones compiled in and those of --policy. No hook runs, nothing is recorded,
nothing is executed, and no home is needed. The verdict is the strictest of all rules that match.

A line of --jsonl is `{\"command\": \"…\"}`, with `cwd` and `id` if you like, or a whole event in the normal
form (docs/spec/event.md). For every line there is one line
`{\"verdict\": \"none|allow|ask|deny\", \"rule\": …, \"reason\": …}`, or `{\"error\": …}` for one that cannot be read.

Exit codes: 0 judged; 1 a line could not be read; 2 wrong usage.
With --exit-code: 0 none or allow, 3 ask, 4 deny (the strictest of all lines).

Examples:
  tenterhook judge --shell 'rm -rf ~/work'
  tenterhook judge --shell 'terraform destroy' --policy my-rules.yaml --json
  tenterhook judge --shell 'python3 -q' --harness codex
  tenterhook judge --jsonl commands.jsonl --cwd /srv/app > verdicts.jsonl";

/// Judge a command, or many, by the rules alone
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, group = clap::ArgGroup::new("what").required(true))]
pub(crate) struct Args {
    /// A shell command
    #[arg(long, value_name = "COMMAND", group = "what", allow_hyphen_values = true)]
    shell: Option<String>,
    /// One JSON object per line, from a file or standard input
    #[arg(long, value_name = "FILE", group = "what", num_args = 0..=1, default_missing_value = "-")]
    jsonl: Option<PathBuf>,
    /// Where the command would run [default: here]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// The harness that would run the command
    #[arg(long, value_name = "HARNESS", default_value = "claude-code")]
    harness: String,
    #[command(flatten)]
    rules: RuleArgs,
    /// Say the verdict by the exit code too
    #[arg(long)]
    exit_code: bool,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let book = args.rules.load(context.env.home.as_deref())?.whole()?;
    let cwd = match &args.cwd {
        Some(dir) => Some(std::path::absolute(dir)?),
        // A place that is gone is no place; rules about places then see an unknown one.
        None => std::env::current_dir().ok(),
    };
    let cwd = cwd.as_deref().and_then(Path::to_str);
    let now = tenterhook_home::call_meta::now();
    let unhooked_stdin = intake::harness(&args.harness)?.unhooked_stdin;
    let about = |command: &str, cwd: Option<&str>| {
        let mut event = about_to_run(command, cwd, now);
        event.detail.unhooked_stdin = unhooked_stdin;
        event
    };
    let strictest = match (&args.shell, &args.jsonl) {
        (Some(command), _) => one(context, &book, &about(command, cwd))?,
        (None, file) => {
            let input: Box<dyn Read> =
                if let Some(path) = file.as_deref().filter(|path| *path != Path::new("-")) {
                    Box::new(fs_err::File::open(path).map_err(|error| CommandError::user(error.to_string()))?)
                } else {
                    intake::not_typed(
                        "for example `tenterhook judge --jsonl commands.jsonl`, or `--shell 'rm -rf ~/'`",
                    )?;
                    Box::new(std::io::stdin().lock())
                };
            let about = |command: &str, place: Option<&str>| about(command, place.or(cwd));
            let many = many(&book, BufReader::with_capacity(1 << 16, input), &about)?;
            if many.unreadable {
                return Ok(ExitCode::FAILURE);
            }
            many.strictest
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

fn one(context: &Context, book: &Rulebook, event: &Event) -> Result<Decision, CommandError> {
    let ruling = book.rule_on(event);
    if context.terminal.json {
        context.terminal.print_json(&RulingLine::new(&ruling, None))?;
        return Ok(ruling.verdict);
    }
    let style = style_of(ruling.verdict);
    let mut text = format!("  {style}{}{style:#}\n", verdict_in_words(ruling.verdict));
    if let Some(rule) = &ruling.rule {
        text += &format!("  {BOLD}{rule}{BOLD:#}");
        text += &ruling.reason.as_deref().map_or_else(String::new, |reason| format!("  {}", tame(reason)));
        text.push('\n');
    }
    if let Some(nudge) = ruling.nudge.as_deref().filter(|_| ruling.verdict == Decision::Deny) {
        text += &format!("  {DIM}→ {}{DIM:#}\n", tame(nudge));
    }
    context.terminal.say(&text)?;
    Ok(ruling.verdict)
}

struct Many {
    strictest: Decision,
    unreadable: bool,
}

/// Judges line by line. What is judged is written before more input is waited for.
fn many(
    book: &Rulebook,
    mut input: BufReader<impl Read>,
    about: &CommandEventFn<'_>,
) -> Result<Many, CommandError> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut many = Many { strictest: Decision::None, unreadable: false };
    let mut line = Vec::new();
    while read_line_bounded(&mut input, &mut line, MAX_PAYLOAD)? {
        let said = if is_too_long(&line, MAX_PAYLOAD) {
            Err(CommandError::user(format!("the line is longer than {} MiB", MAX_PAYLOAD / 1024 / 1024)))
        } else {
            judge_line(book, &line, about)
        };
        let mut answer = match said {
            Ok((ruling, id)) => {
                many.strictest = many.strictest.max(ruling.verdict);
                serde_json::to_string(&RulingLine::new(&ruling, id)).map_err(std::io::Error::from)?
            }
            Err(error) => {
                many.unreadable = true;
                json!({"error": error.message}).to_string()
            }
        };
        answer.push('\n');
        let written = out.write_all(answer.as_bytes());
        let flushed = if input.buffer().is_empty() { written.and_then(|()| out.flush()) } else { written };
        match flushed {
            // Somebody who stopped reading has read enough.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => return Ok(many),
            other => other?,
        }
    }
    out.flush()?;
    Ok(many)
}
