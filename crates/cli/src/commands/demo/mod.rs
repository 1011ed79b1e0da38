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
            cancel.cancelled().await;
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
    context.terminal.say(&view::latest(&stage.context)?)?;
    context.terminal.say(&proof::proved(&stage.context)?)?;
    context.terminal.say(&next())
}

fn greeting(stage: &Stage) -> String {
    let lives = stage.dir().display();
    format!(
        "{DIM}A daemon, an agent and its project, all in {lives}. The model follows a script; the rest is real.{DIM:#}\n\n"
    )
}

fn farewell(stage: &Stage) -> String {
    let home = stage.home().display();
    let me = Context::program();
    let link = stage.dashboard();
    format!(
        "\nThe daemon goes on. Its dashboard, once and within a minute: {BOLD}{link}{BOLD:#}\n\
         {DIM}Later: {me} --home {home} dashboard. Ctrl-C ends everything.{DIM:#}\n"
    )
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
