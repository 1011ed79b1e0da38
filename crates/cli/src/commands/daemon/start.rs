// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::process::ExitCode;

use serde_json::json;
use tenterhook_authority::Action;
use tenterhook_daemon_control::launch::{Launcher, hold_autostart};
use tenterhook_guard::ServiceSettings;
use tenterhook_home::Home;

use super::serve::{DEFAULT_LISTEN_ADDRESS, DaemonArgs, port_taken_text};
use super::{status, stop};
use crate::ask;
use crate::confirm::ProofArgs;
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::WARN;

const EXAMPLES: &str = "\
Examples:
  tenterhook start              the log is in log/ of the state directory
  tenterhook daemon restart     after an upgrade";

/// Run the daemon in the background
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    daemon: DaemonArgs,
}

/// Restart the daemon
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RestartArgs {
    #[command(flatten)]
    start: Args,
    #[command(flatten)]
    proof: ProofArgs,
}

pub(in crate::commands) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let home = context.home()?;
    if ask::is_up(home) {
        context.terminal.print("a daemon is already running\n")?;
        return status::run(context, &status::Args {});
    }
    launch_daemon(context, home, &args.daemon)?;
    let listen =
        ask::get(home, "/v1/health")?.and_then(|health| Some(health.get("listen")?.as_str()?.to_owned()));
    if context.terminal.json {
        context.terminal.print_json(&json!({"started": true, "log": home.log(), "listen": listen}))?;
        return Ok(ExitCode::SUCCESS);
    }
    note_other_port(context, &args.daemon, listen.as_deref())?;
    status::run(context, &status::Args {})
}

/// Prints a notice if the default port was in use and the daemon listens on another one.
fn note_other_port(context: &Context, daemon: &DaemonArgs, listen: Option<&str>) -> Result<(), CommandError> {
    let is_configured = daemon.listen.is_some()
        || context.env.tenterhook_listen.is_some()
        || ServiceSettings::of(context.home()?).0.daemon.listen.is_some();
    let (Some(listen), Ok(default), false) = (listen, DEFAULT_LISTEN_ADDRESS.parse(), is_configured) else {
        return Ok(());
    };
    if listen == DEFAULT_LISTEN_ADDRESS {
        return Ok(());
    }
    let text =
        format!("{WARN}note{WARN:#}: {}; the daemon listens on {listen} instead\n", port_taken_text(default));
    context.terminal.eprint(&text)
}

/// Stops the daemon if one is running, and starts a new one.
pub(in crate::commands) fn restart(context: &Context, args: &RestartArgs) -> Result<ExitCode, CommandError> {
    hold_autostart(context.home()?);
    stop::stop_daemon(context, Action::Restart, &args.proof)?;
    run(context, &args.start)
}

/// Starts a daemon in the background and waits until it answers.
pub(crate) fn launch_daemon(context: &Context, home: &Home, daemon: &DaemonArgs) -> Result<(), CommandError> {
    daemon_launcher(context, home)?.launch(&daemon.to_arguments())
}

/// Starts a daemon for future calls if the settings enable `autostart`.
pub(in crate::commands) fn start_if_configured(context: &Context, home: &Home) {
    if ServiceSettings::of(home).0.daemon.autostart
        && let Ok(launcher) = daemon_launcher(context, home)
    {
        launcher.autostart_daemon();
    }
}

/// Starts a process that imports a long spool into the ledger, if no daemon does so.
pub(in crate::commands) fn import_long_spool(context: &Context, home: &Home) {
    if let Ok(launcher) = daemon_launcher(context, home) {
        launcher.import_spool();
    }
}

fn daemon_launcher<'a>(context: &'a Context, home: &'a Home) -> Result<Launcher<'a>, CommandError> {
    let (program, variables) = (std::env::current_exe()?, &context.env.all);
    Ok(Launcher { home, program, explicit_home: context.explicit_home.as_deref(), variables })
}

/// Starts a daemon and waits until it answers, unless one is running: a sandboxed run cannot start one.
pub(in crate::commands) fn start_for_sandbox(context: &Context, home: &Home) -> Result<(), CommandError> {
    if tenterhook_daemon_control::ask::is_up(home) {
        return Ok(());
    }
    daemon_launcher(context, home)?.launch(&[])
}
