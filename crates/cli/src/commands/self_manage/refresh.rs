// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::cmp::Ordering;
use std::net::SocketAddr;
use std::process::ExitCode;

use rustix::process::Pid;
use serde_json::{Value, json};
use tenterhook_authority::Action;
use tenterhook_daemon_control::launch::{hold_autostart, process_of, stop_daemon_process};
use tenterhook_daemon_control::service::restart_managed;
use tenterhook_guard::{LedgerHandle, snapshot};
use tenterhook_home::{Env, Home, WorkDirs};

use crate::ask;
use crate::commands::daemon::serve::DaemonArgs;
use crate::commands::daemon::start;
use crate::confirm::{self, ProofArgs};
use crate::context::Context;
use crate::error::CommandError;
use crate::setup::{CliHost, HOOK_PROGRAMS, refuse_guarded_agent};
use crate::terminal::{BOLD, DIM, GOOD};
use tenterhook_setup::hook_programs;
use tenterhook_setup::versions::{PROGRAM_VERSION, ProgramVersion, of_hook_programs};

const EXAMPLES: &str = "\
Run it after an upgrade with npm, pip, Homebrew, deb or a new build; `self update` and install.sh run it for you. The \
installed hook programs are replaced by copies of this program. A daemon of another version is restarted on the same \
address; that needs `restart` typed on a terminal, or a code. Calls that wait for an approval are not allowed by a \
restart. Guarded agents are refused, and so is a downgrade.

Examples:
  tenterhook self refresh
  tenterhook self refresh --check";

/// Make installed hooks and the running daemon use this version
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Only print what is outdated; fails if this program may not replace it
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    proof: ProofArgs,
}

/// Hook programs and a daemon that do not run this version.
struct RefreshPlan {
    /// Version of the installed hook programs.
    hooks: Option<ProgramVersion>,
    /// Names of the installed hook programs that differ from those of this version.
    programs: Vec<&'static str>,
    /// The daemon, if it runs a different program.
    daemon: Option<RunningDaemon>,
}

/// A daemon that has to be replaced.
struct RunningDaemon {
    pid: Pid,
    version: String,
    /// The daemon's address, if it listens on TCP.
    listen: Option<SocketAddr>,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let home = context.home()?;
    let plan = RefreshPlan::new(home)?;
    hook_programs::refuse_older(home)?;
    plan.refuse_newer_daemon()?;
    if args.check || plan.is_done() {
        return print_report(context, &plan, false);
    }
    refuse_guarded_agent(home, "refresh the installed hooks or the daemon")?;
    // Confirmation comes first, so that nothing has changed if the restart is refused.
    if let Some(daemon) = &plan.daemon {
        let detail = json!({"from": daemon.version, "to": PROGRAM_VERSION, "why": "self refresh"});
        confirm::require_confirmation(context, Action::Restart, detail, &args.proof)?;
    }
    if !plan.programs.is_empty() {
        let from = plan.hooks.as_ref().map(|found| &found.version);
        let detail = json!({"from": from, "to": PROGRAM_VERSION, "programs": plan.programs});
        LedgerHandle::of(home).record_change("self refresh", detail)?;
        hook_programs::install_programs(&CliHost { context, home }.setup())?;
        refresh_snapshot(home, &context.env);
    }
    if let Some(daemon) = &plan.daemon {
        restart_daemon(context, home, daemon)?;
    }
    print_report(context, &plan, true)
}

impl RefreshPlan {
    fn new(home: &Home) -> Result<Self, CommandError> {
        let hooks = of_hook_programs(home);
        let programs =
            if hooks.is_some() { hook_programs::outdated_programs(home, HOOK_PROGRAMS)? } else { Vec::new() };
        Ok(Self { hooks, programs, daemon: RunningDaemon::find_other(home)? })
    }

    fn is_done(&self) -> bool {
        self.programs.is_empty() && self.daemon.is_none()
    }

    fn refuse_newer_daemon(&self) -> Result<(), CommandError> {
        let Some(RunningDaemon { version, .. }) = &self.daemon else { return Ok(()) };
        if ProgramVersion::new(version).age != Ordering::Greater {
            return Ok(());
        }
        let message = format!(
            "the daemon is version {version}, newer than this program ({PROGRAM_VERSION}); a downgrade is refused"
        );
        Err(CommandError::internal(message).hint("upgrade this program"))
    }
}

impl RunningDaemon {
    /// Finds a state directory's daemon, if that daemon does not run this very program.
    fn find_other(home: &Home) -> Result<Option<Self>, CommandError> {
        let Some(health) = ask::get(home, "/v1/health")? else { return Ok(None) };
        let text = |key: &str| health.get(key).and_then(Value::as_str).map(ToOwned::to_owned);
        let pid = process_of(&health)
            .ok_or_else(|| CommandError::internal("the daemon did not report its process id"))?;
        let version = text("version").unwrap_or_default();
        if version == PROGRAM_VERSION && runs_this_program(pid) {
            return Ok(None);
        }
        let listen = text("listen").and_then(|address| address.parse().ok());
        Ok(Some(Self { pid, version, listen }))
    }

    /// Returns the options for starting the replacement.
    fn restart_options(&self) -> DaemonArgs {
        let listen = self.listen.map_or_else(|| "none".to_owned(), |address| address.to_string());
        let arguments =
            std::fs::read(format!("/proc/{}/cmdline", self.pid.as_raw_nonzero())).unwrap_or_default();
        let relaxed = arguments.split(|byte| *byte == 0).any(|word| word == b"--relaxed");
        DaemonArgs { listen: Some(listen), relaxed }
    }
}

/// Whether a process runs this very program. If the system does not report it, the versions are compared instead.
fn runs_this_program(pid: Pid) -> bool {
    let path = format!("/proc/{}/exe", pid.as_raw_nonzero());
    !cfg!(target_os = "linux") || hook_programs::is_running_program(path.as_ref()).unwrap_or(false)
}

/// Stops the daemon gracefully, so that running calls are answered and recorded, and starts a new one on its address.
fn restart_daemon(context: &Context, home: &Home, daemon: &RunningDaemon) -> Result<(), CommandError> {
    let options = daemon.restart_options();
    if restart_managed(home, daemon.pid)? {
        return Ok(());
    }
    hold_autostart(home);
    stop_daemon_process(home, daemon.pid)?;
    start::launch_daemon(context, home, &options).map_err(|error| {
        error.hint("hooks evaluate the rules in-process until a daemon runs; `tenterhook start` tries again")
    })
}

/// Writes the snapshot again, because hooks without a daemon ignore a snapshot of another version.
fn refresh_snapshot(home: &Home, env: &Env) {
    drop(snapshot::write(home, env, &WorkDirs::default()));
}

fn print_report(context: &Context, plan: &RefreshPlan, done: bool) -> Result<ExitCode, CommandError> {
    let home = context.home()?;
    let RefreshPlan { hooks, programs, daemon } = plan;
    if context.terminal.json {
        let daemon = daemon.as_ref().map(|daemon| json!({"from": daemon.version, "listen": daemon.listen}));
        context.terminal.print_json(&json!({
            "version": PROGRAM_VERSION,
            "hook_programs": {"from": hooks.as_ref().map(|found| &found.version), "outdated": programs},
            "daemon": daemon,
            "refreshed": done && !plan.is_done(),
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    if plan.is_done() {
        let text = match hooks {
            Some(_) => format!("{GOOD}✓{GOOD:#} hooks and daemon run this version ({PROGRAM_VERSION})\n"),
            None => format!("no hooks are installed {DIM}(`tenterhook install` guards an agent){DIM:#}\n"),
        };
        context.terminal.print(&text)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mark = if done { format!("{GOOD}✓{GOOD:#}") } else { "•".to_owned() };
    let mut text = String::new();
    if !programs.is_empty() {
        let from = hooks.as_ref().map_or("", |found| found.version.as_str());
        let what = if done { "replaced" } else { "to be replaced" };
        text += &format!(
            "{mark} hook programs {what}: {} in {} {DIM}({from} → {BOLD}{PROGRAM_VERSION}{BOLD:#}){DIM:#}\n",
            programs.join(", "),
            home.bin().display()
        );
    }
    if let Some(RunningDaemon { version, listen, .. }) = daemon {
        let what = if done { "restarted" } else { "to be restarted" };
        let place = listen.map(|address| format!(" on http://{address}")).unwrap_or_default();
        text += &format!("{mark} daemon {what}{place} {DIM}({version} → {PROGRAM_VERSION}){DIM:#}\n");
    }
    if !done {
        text += &format!("{DIM}run `tenterhook self refresh` to apply{DIM:#}\n");
    }
    context.terminal.print(&text)?;
    Ok(ExitCode::SUCCESS)
}
