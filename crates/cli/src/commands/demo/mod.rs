// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Everything on one screen: an agent at work, guarded, and what is left of it.

mod issues;
mod proof;
mod stage;
mod view;

use std::process::ExitCode;

use tenterhook_agent::Cancel;

use self::stage::Stage;
use super::agent::run::until_ended;
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BOLD, DIM, Terminal};

const EXAMPLES: &str = "\
The model follows a script; everything else is real: a daemon of its own, the agent, its tools, a subagent, an MCP
server, the compiled-in rules and the ledger. All of it lives in a directory of its own that is deleted afterwards;
nothing of yours is touched. On a terminal the daemon goes on until Ctrl-C, so that you can look around.

Examples:
  tenterhook demo
  tenterhook demo --fast
  tenterhook demo --json | jq .verdict
  tenterhook --home ./here demo         in a home that stays";

/// Watch an agent at work, guarded
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Do not pause, and end when it is over
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
    let stage = Stage::set(context)?;
    let stays = !args.fast && !context.terminal.json && Terminal::is_screen();
    until_ended(async |cancel| {
        let shown = show(context, &stage, args, cancel).await;
        if cancel.is_cancelled() {
            context.terminal.note("\nended\n")?;
            return Ok(ExitCode::from(130));
        }
        shown?;
        if stays {
            context.terminal.say(&farewell(&stage))?;
            links(context, &stage, cancel).await?;
        }
        Ok(ExitCode::SUCCESS)
    })
}

/// The session, what it looks like from outside, and the proof of it.
async fn show(context: &Context, stage: &Stage, args: &Args, cancel: &Cancel) -> Result<(), CommandError> {
    let json = context.terminal.json;
    if !json {
        context.terminal.say(&greeting(stage))?;
    }
    let in_a_hurry = args.fast || json || !Terminal::is_screen();
    stage.play(in_a_hurry, cancel).await?;
    if cancel.is_cancelled() {
        return Ok(());
    }
    if json {
        return proof::leaves(context, &stage.context);
    }
    page(context, in_a_hurry, cancel).await?;
    context.terminal.say(&view::latest(&stage.context)?)?;
    page(context, in_a_hurry, cancel).await?;
    context.terminal.say(&proof::proved(&stage.context)?)?;
    context.terminal.say(&next())
}

/// Waits for Enter, so that each part can be read on a small screen.
async fn page(context: &Context, in_a_hurry: bool, cancel: &Cancel) -> Result<(), CommandError> {
    if in_a_hurry || !Terminal::is_interactive() {
        return Ok(());
    }
    context.terminal.note(&format!("{DIM}-- press Enter to go on --{DIM:#}"))?;
    cancel.or(enter()).await;
    Ok(())
}

/// Whether Enter was pressed; false at the end of the input.
async fn enter() -> bool {
    // Reading a line cannot be called off; the process does not wait for it at its end.
    let read = tokio::task::spawn_blocking(|| std::io::stdin().read_line(&mut String::new()));
    matches!(read.await, Ok(Ok(bytes)) if bytes > 0)
}

/// A new link to the dashboard whenever Enter is pressed, until everything is ended. A link is good for one
/// minute only, so none is made before somebody wants it.
async fn links(context: &Context, stage: &Stage, cancel: &Cancel) -> Result<(), CommandError> {
    while Terminal::is_interactive() && cancel.or(enter()).await == Some(true) {
        // On a line of its own, so that it can be copied whole.
        context.terminal.say(&format!("{}\n", stage.dashboard()))?;
    }
    cancel.cancelled().await;
    Ok(())
}

fn greeting(stage: &Stage) -> String {
    let lives = stage.dir().display();
    format!(
        "{DIM}A daemon, an agent and its project, all in\n{lives}.\nThe model follows a script; the rest is real.{DIM:#}\n\n"
    )
}

fn farewell(stage: &Stage) -> String {
    let home = stage.home().display();
    let me = Context::program();
    let link = if Terminal::is_interactive() {
        "Press Enter for a link to its dashboard, good once and for one minute.".to_owned()
    } else {
        format!("Its dashboard, once and within a minute:\n{BOLD}{}{BOLD:#}", stage.dashboard())
    };
    format!(
        "\nThe daemon keeps running until Ctrl-C.\n{link}\n{DIM}From another terminal:\n  {me} --home {home} dashboard{DIM:#}\n"
    )
}

fn next() -> String {
    let me = Context::program();
    format!(
        "\nNext:\n  \
         {me} explain --command 'rm -rf ~/'\n      {DIM}why a command would be stopped{DIM:#}\n  \
         {me} install claude-code --dry-run\n      {DIM}what guarding Claude Code would change{DIM:#}\n  \
         {me} install claude-code\n      {DIM}guard it; then `{me} ledger tail -f` shows it at work{DIM:#}\n"
    )
}
