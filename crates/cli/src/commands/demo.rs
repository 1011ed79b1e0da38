// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use tenterhook_event::{Call, Decision, Event, EventKind, Outcome};
use tenterhook_ledger::{Leaf, Log};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::context::Context;
use crate::env::Env;
use crate::error::CommandError;
use crate::home::Home;
use crate::intake;
use crate::road::{Memory, Road};
use crate::sources::Place;
use crate::terminal::{BOLD, DIM, Terminal, WARN, style_of, tame};

/// Payloads of one real session of Claude Code, one a line, paths made neutral.
const SESSION: &str = include_str!("../../assets/session.jsonl");
/// Whose home the recorded paths are in.
const PERSON: &str = "/home/dev";

const EXAMPLES: &str = "\
The payloads were recorded from a real Claude Code session. Each one goes down the same road as a
live one: decoded, judged by the compiled-in rules, recorded in a ledger (in a directory of its own
that is deleted afterwards), encoded. Nothing is executed and nothing of yours is touched.

Examples:
  tenterhook demo
  tenterhook demo --fast
  tenterhook demo --json | jq .verdict";

/// Watch a recorded session go down the road
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Do not pause between events
    #[arg(long)]
    fast: bool,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let dir = tempfile::Builder::new().prefix("tenterhook-demo-").tempdir()?;
    let home = Home::whole(dir.path().to_owned());
    let log = Log::new(home.ledger());
    let env = Env { home: Some(PERSON.into()), ..Env::default() };
    let road = Road::open(&home, &env, &Place::default(), Memory::Ledger(log))?;
    let harness = intake::harness("claude-code")?;
    let table = Table::new(Terminal::width());
    if !context.terminal.json {
        context.terminal.say(&table.head())?;
    }
    let mut counts = Counts::default();
    for payload in SESSION.lines().filter(|line| !line.is_empty()) {
        let mut door = context.door(harness, "")?;
        door.project = Some(format!("{PERSON}/shop"));
        door.user = Some("dev".to_owned());
        let call = harness
            .decode(&door, payload.as_bytes())
            .map_err(|error| CommandError::failed(error.to_string()))?;
        let outcome = road.fire(&call)?;
        let leaf = last_leaf(&home)?;
        counts.add(&call, &outcome, leaf.took_us);
        if context.terminal.json {
            let line =
                serde_json::to_string(&leaf).map_err(|error| CommandError::failed(error.to_string()))?;
            context.terminal.exactly(&format!("{line}\n"), "")?;
            continue;
        }
        context.terminal.say(&table.row(&call.event, &outcome, leaf.took_us))?;
        if !args.fast && Terminal::is_screen() {
            std::thread::sleep(Duration::from_millis(if outcome.decision == Decision::None {
                220
            } else {
                900
            }));
        }
    }
    if !context.terminal.json {
        context.terminal.say(&counts.tail())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn last_leaf(home: &Home) -> Result<Leaf, CommandError> {
    let leaves =
        tenterhook_ledger::leaves(&home.ledger()).map_err(|error| CommandError::failed(error.to_string()))?;
    let last = leaves.last().ok_or_else(|| CommandError::failed("the demo's ledger is empty"))?;
    last.map_err(|torn| CommandError::failed(torn.to_string()))
}

#[derive(Default)]
struct Counts {
    events: usize,
    denied: usize,
    asked: usize,
    took: Vec<u64>,
}

impl Counts {
    fn add(&mut self, call: &Call, outcome: &Outcome, took_us: u64) {
        self.events += 1;
        self.denied += usize::from(outcome.decision == Decision::Deny);
        self.asked += usize::from(outcome.decision == Decision::Ask);
        if call.event.event == EventKind::PreTool {
            self.took.push(took_us);
        }
    }

    fn tail(&mut self) -> String {
        self.took.sort_unstable();
        let median = self.took.get(self.took.len() / 2).copied().unwrap_or(0);
        let Self { events, denied, asked, .. } = self;
        let (gates, me) = (self.took.len(), Context::program());
        format!(
            "\n{BOLD}{events}{BOLD:#} events, {gates} of them tool calls: {denied} denied, {asked} to be asked about; \
             a tool call took {median} µs to decide (median).\n\nNext:\n  \
             {me} explain --command 'rm -rf ~/work'   {DIM}why a command would be stopped{DIM:#}\n  \
             {me} install claude-code --dry-run       {DIM}what guarding Claude Code would change{DIM:#}\n  \
             {me} install claude-code                 {DIM}guard it{DIM:#}\n"
        )
    }
}

/// Columns: what happened, what the agent wanted, the verdict, why, how long it took.
struct Table {
    wanted: usize,
    why: usize,
}

const EVENT: usize = 18;
const VERDICT: usize = 7;
const TOOK: usize = 9;

impl Table {
    fn new(width: usize) -> Self {
        let room = width.saturating_sub(EVENT + VERDICT + TOOK + 5);
        Self { wanted: room * 11 / 20, why: room - room * 11 / 20 }
    }

    fn head(&self) -> String {
        format!(
            "{BOLD}{} {} {} {} {:>TOOK$}{BOLD:#}\n",
            fit("EVENT", EVENT),
            fit("THE AGENT WANTED", self.wanted),
            fit("VERDICT", VERDICT),
            fit("WHY", self.why),
            "TOOK"
        )
    }

    fn row(&self, event: &Event, outcome: &Outcome, took_us: u64) -> String {
        let style = style_of(outcome.decision);
        let word = match outcome.decision {
            Decision::None => "·",
            decision => decision.word(),
        };
        let mut row = format!(
            "{DIM}{}{DIM:#} {} {style}{}{style:#} {} {DIM}{:>TOOK$}{DIM:#}\n",
            fit(&event.native_event, EVENT),
            fit(&wanted(event), self.wanted),
            fit(word, VERDICT),
            fit(outcome.deciding_rule().unwrap_or_default(), self.why),
            format!("{took_us} µs")
        );
        if outcome.decision > Decision::Allow {
            for (mark, said) in
                [("  ", outcome.reason()), ("→ ", outcome.nudges.first().map(|said| said.what.clone()))]
            {
                let lines = said.iter().flat_map(|text| wrap(text, self.wanted + self.why + VERDICT));
                for (at, line) in lines.enumerate() {
                    let mark = if at == 0 { mark } else { "  " };
                    let _ = writeln!(row, "{:EVENT$} {WARN}{mark}{line}{WARN:#}", "");
                }
            }
        }
        row
    }
}

fn wanted(event: &Event) -> String {
    let text = match (&event.tool, &event.detail.prompt, &event.detail.response) {
        (Some(tool), ..) => format!("{} {}", tool.name, tool.gist()),
        (None, Some(prompt), _) => format!("“{prompt}”"),
        (None, None, Some(response)) => format!("“{response}”"),
        _ => event.detail.cause.clone().unwrap_or_default(),
    };
    tame(&text)
}

/// Exactly this wide: cut with an ellipsis, or filled with blanks.
fn fit(text: &str, width: usize) -> String {
    let cut = if text.width() <= width {
        text.to_owned()
    } else {
        let mut used = 0;
        let kept = text.chars().take_while(|letter| {
            used += letter.width().unwrap_or(0);
            used < width
        });
        kept.collect::<String>() + "…"
    };
    let blanks = width.saturating_sub(cut.width());
    cut + &" ".repeat(blanks)
}

/// Lines of at most this width, broken between words.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_exactly_as_wide_as_its_column() {
        for text in
            ["", "short", "a text that is far too long for its column", "日本語のとても長い文字列です"]
        {
            assert_eq!(fit(text, 12).width(), 12, "{text}");
        }
    }
}
