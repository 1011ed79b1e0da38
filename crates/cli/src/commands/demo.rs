// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use tenterhook_event::{Call, Decision, Event, EventKind, Outcome};
use tenterhook_home::{Book, Home, Memory, Place, Road};
use tenterhook_ledger::{Expect, Filter, Kind, Reader, Verified};

use crate::context::Context;
use crate::env::Env;
use crate::error::CommandError;
use crate::intake;
use crate::layout::{fit, wrap};
use crate::terminal::{BAD, BOLD, DIM, Terminal, WARN, style_of, tame};
use crate::until;
use tenterhook_home::recorded::Recorded;

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
    let book = Arc::new(Book::of(&home));
    let env = Env { home: Some(PERSON.into()), ..Env::default() };
    let road = Road::open(&home, &env, &Place::default(), Memory::Ledger(Arc::clone(&book)))?;
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
        let outcome = until::fire(&road, &call)?;
        let recorded = last_leaf(&book)?;
        counts.add(&call, &outcome, recorded.took_us);
        if context.terminal.json {
            context.terminal.exactly(&format!("{}\n", recorded.leaf), "")?;
            continue;
        }
        context.terminal.say(&table.row(&call.event, &outcome, recorded.took_us))?;
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
        // Hooks leave the latest leaves in the journal; whoever stays longer brings all into one file.
        drop(book.write()?);
        context.terminal.say(&proved(&home, dir.path())?)?;
        context.terminal.say(&next())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn last_leaf(book: &Book) -> Result<Recorded, CommandError> {
    let failed = |error: tenterhook_ledger::ReadFailed| CommandError::failed(error.to_string());
    let decisions = Filter { kind: Some(Kind::Decision), ..Filter::default() };
    let found = book.read()?.query(&decisions, 1).map_err(failed)?;
    let last = found.records.first().ok_or_else(|| CommandError::failed("the demo's ledger is empty"))?;
    Recorded::of(last)
}

/// The ledger verifies itself, and a copy in which one verdict was changed does not.
fn proved(home: &Home, dir: &Path) -> Result<String, CommandError> {
    let copy = dir.join("copy");
    fs_err::create_dir(&copy)?;
    let mut bytes = fs_err::read(home.ledger().join("ledger.db"))?;
    let (old, new) = (br#""verdict":"deny""#, br#""verdict":"none""#);
    let place = bytes.windows(old.len()).position(|part| part == old);
    let spot = place.and_then(|at| bytes.get_mut(at..at + new.len()));
    spot.ok_or_else(|| CommandError::failed("the demo's ledger has no denial"))?.copy_from_slice(new);
    fs_err::write(copy.join("ledger.db"), bytes)?;

    let verify = |dir: &Path| -> Result<Result<Verified, tenterhook_ledger::Problem>, CommandError> {
        let reader = Reader::open(dir).map_err(|error| CommandError::failed(error.to_string()))?;
        Ok(reader.verify(Expect::default(), &mut |_, _| {}))
    };
    let verified = verify(&home.ledger())?.map_err(|problem| CommandError::failed(problem.to_string()))?;
    let key = verified.keys.last().map(tenterhook_ledger::VerifierKey::id).unwrap_or_default();
    let Err(problem) = verify(&copy)? else {
        return Err(CommandError::failed("a changed copy of the demo's ledger was not noticed"));
    };
    Ok(format!(
        "\nThe ledger of this session verifies: {BOLD}{}{BOLD:#} leaves, root {}, signed by key {key}.\n\
         In a copy of it, one verdict was changed from deny to none:\n  {BAD}✗{BAD:#} {problem}\n",
        verified.size, verified.root
    ))
}

fn next() -> String {
    let me = Context::program();
    format!(
        "\nNext:\n  \
         {me} explain --command 'rm -rf ~/work'   {DIM}why a command would be stopped{DIM:#}\n  \
         {me} install claude-code --dry-run       {DIM}what guarding Claude Code would change{DIM:#}\n  \
         {me} install claude-code                 {DIM}guard it{DIM:#}\n  \
         {me} ledger tail -f                      {DIM}watch it at work{DIM:#}\n"
    )
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
        let gates = self.took.len();
        format!(
            "\n{BOLD}{events}{BOLD:#} events, {gates} of them tool calls: {denied} denied, {asked} to be asked about; \
             a tool call took {median} µs to decide (median).\n"
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
