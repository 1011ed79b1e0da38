// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::fmt::Write as _;
use std::process::ExitCode;

use tenterhook_api::{SessionActivity, SessionList};
use tenterhook_event::Timestamp;
use tenterhook_guard::LedgerHandle;
use tenterhook_home::call_meta;
use tenterhook_sessions::SessionFilter;

use super::{percent_encode, recorded_sessions};
use crate::ask;
use crate::context::Context;
use crate::error::CommandError;
use crate::ledger::{is_unused, parse_time};
use crate::terminal::{BOLD, DIM, Terminal, tame};
use tenterhook_terminal_text::session_panel;

/// Output for an empty list, with the next step.
pub(super) const NO_SESSIONS: &str =
    "no sessions yet; they appear once a guarded agent runs (`tenterhook install --list` lists agents)\n";

const EXAMPLES: &str = "\
Examples:
  tenterhook sessions list
  tenterhook sessions list --state active --harness codex
  tenterhook sessions list --since 24h --json | jq '.sessions[].title'";

/// List sessions, latest first
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Only this harness, such as claude-code
    #[arg(long, value_name = "HARNESS")]
    harness: Option<String>,
    /// Only this state
    #[arg(long, value_parser = ["active", "waiting", "idle", "ended"])]
    state: Option<String>,
    /// Only this project or working directory
    #[arg(long, value_name = "DIR")]
    project: Option<String>,
    /// Only sessions with an event since: 15m, 24h, 7d, 2026-11-15 or 2026-11-15T08:00:00Z
    #[arg(long, value_name = "WHEN", value_parser = parse_time)]
    since: Option<Timestamp>,
    /// Maximum number of sessions
    #[arg(long, value_name = "NUMBER", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
    /// Continue a list: the `next` of the previous page
    #[arg(long, value_name = "PLACE")]
    after: Option<String>,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let answer = match get_sessions(context, &session_filter(args))? {
        Some(answer) => answer,
        None if is_unused(&LedgerHandle::of(context.home()?), context)? => {
            SessionList { sessions: Vec::new(), all: 0, next: None }
        }
        None => recorded_sessions(context)?.list(&session_filter(args), call_meta::now())?,
    };
    if context.terminal.json {
        context.terminal.print_json(&answer)?;
    } else {
        let Args { harness, state, project, since, after, .. } = args;
        let is_filtered =
            since.is_some() || [harness, state, project, after].iter().any(|part| part.is_some());
        context.terminal.print(&sessions_table(&answer, is_filtered))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn session_filter(args: &Args) -> SessionFilter {
    let Args { harness, state, project, since, limit, after } = args;
    SessionFilter {
        harness: harness.clone(),
        state: state.as_deref().and_then(parse_activity),
        project: project.clone(),
        since: *since,
        after: after.clone(),
        limit: usize::from(*limit),
    }
}

/// Parses a value of `--state`.
fn parse_activity(word: &str) -> Option<SessionActivity> {
    [SessionActivity::Active, SessionActivity::Waiting, SessionActivity::Idle, SessionActivity::Ended]
        .into_iter()
        .find(|activity| session_panel::activity_word(*activity) == word)
}

/// Asks the daemon for sessions; `None` if no daemon is running.
pub(super) fn get_sessions(
    context: &Context,
    filter: &SessionFilter,
) -> Result<Option<SessionList>, CommandError> {
    let since = filter.since.map(|since| since.to_string());
    let state = filter.state.map(|state| session_panel::activity_word(state).to_owned());
    let mut path = format!("/v1/sessions?limit={}", filter.limit);
    for (name, value) in [
        ("harness", &filter.harness),
        ("state", &state),
        ("project", &filter.project),
        ("since", &since),
        ("after", &filter.after),
    ] {
        if let Some(value) = value {
            let _ = write!(path, "&{name}={}", percent_encode(value));
        }
    }
    ask::get_as(context.home()?, &path)
}

/// Minimum width of the title in a table with all columns.
const MIN_TITLE_WIDTH: usize = 16;

fn sessions_table(list: &SessionList, is_filtered: bool) -> String {
    if list.sessions.is_empty() {
        return if is_filtered { "no matching sessions\n".to_owned() } else { NO_SESSIONS.to_owned() };
    }
    // Full lines need 87 columns and a title. A narrow terminal gets the time without year and seconds, shorter ids,
    // and no number of events.
    let layout = Terminal::table_layout();
    let is_narrow = layout.width < 87 + MIN_TITLE_WIDTH;
    let (last_width, harness_width, id_width, fixed) =
        if is_narrow { (11, 11, 8, 68) } else { (19, 12, 10, 87) };
    let title = layout.width.saturating_sub(fixed).max(8);
    let column = |word: String| if is_narrow { String::new() } else { format!("{word:>6}  ") };
    let head = format!(
        "{:<last_width$}  {:<harness_width$}  {:<8}  {:<id_width$}  {}{:>5}  {:>5}  {:>6}  TITLE",
        "LAST",
        "HARNESS",
        "STATE",
        "SESSION",
        column("EVENTS".to_owned()),
        "FILES",
        "TODOS",
        "DENIED"
    );
    let mut text = format!("{BOLD}{head}{BOLD:#}\n");
    for session in &list.sessions {
        let todos = match session.todos.all {
            0 => "–".to_owned(),
            _ => tame(&session.todos.progress),
        };
        let (state, style) = session_panel::state_of(session);
        let last = session.last.to_string().replace('T', " ");
        let _ = writeln!(
            text,
            "{}  {}  {style}{state:<8}{style:#}  {}  {}{:>5}  {todos:>5}  {:>6}  {}",
            last.chars().skip(if is_narrow { 5 } else { 0 }).take(last_width).collect::<String>(),
            layout.cell(&tame(&session.harness), harness_width),
            layout.cell(&tame(&session.id), id_width),
            column(session.events.to_string()),
            session.files.changed,
            session.denied.all,
            layout.cell(&session_panel::title_of(session), title).trim_end(),
        );
    }
    if let Some(next) = &list.next {
        let all = list.all;
        let _ = writeln!(text, "{DIM}{all} sessions; continue with `--after '{}'`{DIM:#}", tame(next));
    }
    text
}
