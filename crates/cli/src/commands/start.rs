// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use tenterhook_home::authority::Action;
use tenterhook_home::{Home, make_private};

use super::serve::How;
use super::{status, stop};
use crate::ask;
use crate::context::Context;
use crate::error::CommandError;
use crate::gate::ProofArgs;

/// How long a daemon may take until it answers.
const PATIENCE: Duration = Duration::from_secs(10);

const EXAMPLES: &str = "\
Examples:
  tenterhook start        then `tenterhook status`; its log is in the home, under log/
  tenterhook restart      after an upgrade";

/// Answer every agent on this machine, in the background
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    how: How,
}

/// End the daemon and start another
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AgainArgs {
    #[command(flatten)]
    start: Args,
    #[command(flatten)]
    proof: ProofArgs,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let home = context.home()?;
    if ask::is_up(home) {
        context.terminal.say("a daemon is running already\n")?;
        return status::run(context, &status::Args {});
    }
    launch(context, home, &args.how)?;
    if context.terminal.json {
        context.terminal.print_json(&json!({"started": true, "log": home.log()}))?;
        return Ok(ExitCode::SUCCESS);
    }
    status::run(context, &status::Args {})
}

/// Ends the daemon, if there is one, and starts another.
pub(super) fn again(context: &Context, args: &AgainArgs) -> Result<ExitCode, CommandError> {
    stop::stop(context, Action::Restart, &args.proof)?;
    run(context, &args.start)
}

/// Starts a daemon of its own session, and waits until it answers.
pub(crate) fn launch(context: &Context, home: &Home, how: &How) -> Result<(), CommandError> {
    home.make()?;
    let log = home.log();
    if let Some(dir) = log.parent() {
        make_private(dir)?;
    }
    let file = fs_err::OpenOptions::new().create(true).append(true).open(&log)?;
    let from = file.metadata()?.len();
    let file = file.into_parts().0;
    let mut command = Command::new(std::env::current_exe()?);
    // Everything else that leads to this home is inherited.
    if let Some(said) = &context.said_home {
        command.arg("--home").arg(std::path::absolute(said)?);
    }
    if home.public.is_some() {
        command.arg("--system");
    }
    command.args(["serve", "--log", "json"]).args(how.words());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(file);
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn()?;
    let began = Instant::now();
    while began.elapsed() < PATIENCE {
        if ask::is_up(home) {
            return Ok(());
        }
        if child.try_wait()?.is_some() {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let said = fs_err::read_to_string(&log).unwrap_or_default();
    let said = said.get(usize::try_from(from).unwrap_or(0)..).unwrap_or_default();
    let last = said.lines().last().unwrap_or("it said nothing");
    Err(CommandError::failed(format!("the daemon did not start: {last}"))
        .hint(format!("see {}, or run `tenterhook serve` to watch it", log.display())))
}
