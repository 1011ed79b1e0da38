// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs a scripted agent under guard, then shows what was recorded about it.

mod issues;
mod paged_session;
mod pager;
mod proof;
mod stage;
mod view;

use std::process::ExitCode;

use tenterhook_agent::CancelToken;

use self::pager::Pager;
use self::stage::DemoStage;
use super::agent::run::run_until_cancelled;
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BOLD, DIM, Terminal};

const EXAMPLES: &str = "\
The model follows a script; everything else is real: a daemon, the agent, its tools, a subagent, an MCP server, the \
built-in rules and the ledger. Everything is in a temporary directory that is deleted at the end; your files and \
settings are not touched. On a terminal the demo is shown page by page, asks you to approve one call, and keeps its \
daemon running until you end it, so that you can open the dashboard.

Examples:
  tenterhook demo
  tenterhook demo --fast
  tenterhook demo --json | jq .verdict
  tenterhook --home ./here demo         keep the state directory";

/// Pause before each of the model's answers, on a terminal without a keyboard.
const ANSWER_PAUSE_MS: u32 = 1000;
/// Maximum width of the program's path in commands; a longer path is written once instead of in each command.
const MAX_PROGRAM_COLUMNS: usize = 40;

/// Watch a guarded agent at work, in a temporary directory
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Do not pause or ask, and exit at the end
    #[arg(long)]
    fast: bool,
    /// Be the demo's MCP server
    #[arg(long, hide = true)]
    mcp_server: bool,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    if args.mcp_server {
        issues::serve()?;
        return Ok(ExitCode::SUCCESS);
    }
    let stage = DemoStage::create(context)?;
    let on_screen = !args.fast && !context.terminal.json && Terminal::is_screen();
    run_until_cancelled(async |cancel| {
        let shown = if on_screen && Terminal::is_interactive() {
            show_pages(context, &stage, cancel).await
        } else {
            show_unpaged(context, &stage, on_screen, cancel).await
        };
        match shown? {
            DemoEnd::Finished => Ok(ExitCode::SUCCESS),
            DemoEnd::Interrupted => {
                context.terminal.eprint("\ninterrupted\n")?;
                Ok(ExitCode::from(130))
            }
        }
    })
}

/// How the demo ended.
enum DemoEnd {
    Finished,
    /// The demo ended before everything was shown.
    Interrupted,
}

/// Shows the demo page by page, at the user's pace.
async fn show_pages(
    context: &Context,
    stage: &DemoStage,
    cancel: &CancelToken,
) -> Result<DemoEnd, CommandError> {
    let moves_cursor = context.env.all.get("TERM").is_some_and(|term| !term.is_empty() && term != "dumb");
    let mut pager = Pager::new(context.terminal, moves_cursor, cancel);
    pager.start_page()?;
    pager.show(&introduction(stage)).await?;
    paged_session::run_session(stage, &mut pager, cancel).await?;
    for page in
        [view::latest_session_text as fn(&Context) -> Result<String, CommandError>, proof::prove_ledger]
    {
        if cancel.is_cancelled() {
            return Ok(DemoEnd::Interrupted);
        }
        pager.turn_page().await?;
        pager.show(&page(&stage.context)?).await?;
    }
    pager.show(&next_commands()).await?;
    pager.show(&format!("\nThe demo's daemon is still running. {BOLD}d{BOLD:#}: link to its dashboard · {BOLD}q{BOLD:#}: end\n")).await?;
    if cancel.is_cancelled() {
        return Ok(DemoEnd::Interrupted);
    }
    loop {
        match pager.wait_for_key().await {
            // A link is valid once and for one minute, so it is created on request.
            Some(b'd' | b'D') => context.terminal.print(&format!(
                "\n{}\n{DIM}valid once, within a minute; d: new link{DIM:#}\n",
                stage.dashboard_link()
            ))?,
            Some(b'q' | b'Q') | None => return Ok(DemoEnd::Finished),
            Some(_) => {}
        }
    }
}

/// Shows the demo without questions or pages, for pipes and terminals without a keyboard.
async fn show_unpaged(
    context: &Context,
    stage: &DemoStage,
    on_screen: bool,
    cancel: &CancelToken,
) -> Result<DemoEnd, CommandError> {
    let terminal = context.terminal;
    if !terminal.json {
        terminal.print(&introduction(stage))?;
    }
    stage.run_agent(if on_screen { ANSWER_PAUSE_MS } else { 0 }, cancel).await?;
    if cancel.is_cancelled() {
        return Ok(DemoEnd::Interrupted);
    }
    if terminal.json {
        proof::print_records(context, &stage.context)?;
        return Ok(DemoEnd::Finished);
    }
    terminal.print(&view::latest_session_text(&stage.context)?)?;
    terminal.print(&proof::prove_ledger(&stage.context)?)?;
    terminal.print(&next_commands())?;
    if on_screen {
        let (program, home) = (Context::program(), stage.home().display());
        terminal.print(&format!(
            "\nThe demo's daemon runs until Ctrl-C. Its dashboard, from another terminal:\n  \
             {program} --home {home} dashboard\n"
        ))?;
        cancel.cancelled().await;
    } else {
        terminal.print(&format!(
            "\n{DIM}At a terminal, the demo also asks you to approve a call and links to its dashboard.{DIM:#}\n"
        ))?;
    }
    Ok(DemoEnd::Finished)
}

fn introduction(stage: &DemoStage) -> String {
    let dir = stage.dir().display();
    format!(
        "{DIM}A scripted model drives a real agent, and Tenterhook checks each of its calls.\n\
         Everything is in\n  {dir}\n\
         and is deleted at the end; your files and settings are not touched.{DIM:#}\n\n"
    )
}

/// Suggests commands that work on a machine where nothing is installed yet.
fn next_commands() -> String {
    let mut program = Context::program();
    let mut text = format!("\n{BOLD}Next{BOLD:#}\n");
    if program.chars().count() > MAX_PROGRAM_COLUMNS {
        text += &format!("  {DIM}tenterhook is {program}{DIM:#}\n");
        "tenterhook".clone_into(&mut program);
    }
    for (arguments, about) in [
        ("explain --command 'rm -rf ~/'", "which rule matches a command, and why"),
        ("detect", "the agents on this machine, and whether they are guarded"),
        ("audit", "what your agents did so far, checked against the rules"),
        ("install claude-code --dry-run", "what guarding Claude Code would change"),
    ] {
        text += &format!("  {program} {arguments}\n      {DIM}{about}{DIM:#}\n");
    }
    text
}
