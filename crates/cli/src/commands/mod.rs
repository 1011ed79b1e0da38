// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The commands, one module each.

mod agent;
mod approvals;
mod audit;
mod bus;
mod check;
mod choices;
mod daemon;
mod dashboard;
mod demo;
mod detect;
mod doctor;
mod explain;
mod fire;
mod help;
mod hook;
mod hooks;
mod init;
mod install;
mod install_flow;
mod judge;
mod mode;
mod old_names;
mod rules;
mod run;
mod scan;
mod select_harness;
mod self_manage;
mod templates;
mod totp;
mod uninstall;

pub(crate) use daemon::serve::DEFAULT_LISTEN_ADDRESS;
pub(crate) use old_names::RENAMED_COMMANDS;

use std::process::ExitCode;

use clap::Subcommand;
use tenterhook_allow_commands::{allow, undo};
use tenterhook_fleet_commands::fleet;
use tenterhook_ledger_commands::{ledger, sessions};

use self::daemon::{serve, service, start, status, stop};
use self::hooks::adopt;
use self::rules::programs;
use self::self_manage::completions;

pub(crate) use self::hook::Args as HookArgs;
pub(crate) use self::run::enter_sandbox;
use crate::context::Context;
use crate::error::CommandError;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Init(init::Args),
    Demo(demo::Args),
    Agent(agent::Args),
    #[command(hide = true)]
    Detect(detect::Args),
    Install(install::Args),
    Uninstall(uninstall::Args),
    Run(run::Args),
    #[command(hide = true)]
    Adopt(adopt::Args),
    Explain(explain::Args),
    Check(check::Args),
    #[command(hide = true)]
    Judge(judge::Args),
    Ledger(ledger::Args),
    Sessions(sessions::Args),
    Scan(scan::Args),
    Audit(audit::Args),
    #[command(hide = true)]
    Policy(old_names::PolicyArgs),
    Rules(rules::Args),
    #[command(hide = true)]
    Programs(programs::Args),
    Hooks(hooks::Args),
    #[command(hide = true)]
    New(old_names::NewArgs),
    #[command(hide = true)]
    Serve(serve::Args),
    #[command(hide = true)]
    Start(start::Args),
    #[command(hide = true)]
    Stop(stop::Args),
    #[command(hide = true)]
    Restart(start::RestartArgs),
    Status(status::Args),
    Dashboard(dashboard::Args),
    Tui(tenterhook_tui_command::Args),
    #[command(hide = true)]
    Service(service::Args),
    Doctor(doctor::Args),
    Allow(allow::Args),
    Mode(mode::Args),
    Undo(undo::Args),
    Approvals(approvals::Args),
    Fleet(fleet::Args),
    #[command(hide = true)]
    Totp(totp::Args),
    #[command(hide = true)]
    Fire(fire::Args),
    #[command(hide = true)]
    Bus(bus::Args),
    #[command(hide = true)]
    Hook(hook::Args),
    #[command(name = "self")]
    SelfManage(self_manage::Args),
    #[command(hide = true)]
    Completions(completions::Args),
    Daemon(daemon::Args),
    Help(help::Args),
}

impl Command {
    /// Whether a notice about outdated hooks may be printed after this command. No notice is printed after a command
    /// whose output programs read, that reports versions itself, or that keeps running.
    pub(crate) fn is_typed_by_users(&self) -> bool {
        match self {
            Self::Detect(_)
            | Self::Install(_)
            | Self::Explain(_)
            | Self::Check(_)
            | Self::Judge(_)
            | Self::Ledger(_)
            | Self::Sessions(_)
            | Self::Scan(_)
            | Self::Audit(_)
            | Self::Policy(_)
            | Self::Rules(_)
            | Self::Programs(_)
            | Self::Hooks(_)
            | Self::New(_)
            | Self::Dashboard(_)
            | Self::Allow(_)
            | Self::Mode(_)
            | Self::Undo(_)
            | Self::Approvals(_) => true,
            Self::Init(_)
            | Self::Demo(_)
            | Self::Agent(_)
            | Self::Uninstall(_)
            | Self::Run(_)
            | Self::Adopt(_)
            | Self::Serve(_)
            | Self::Start(_)
            | Self::Stop(_)
            | Self::Restart(_)
            | Self::Status(_)
            | Self::Tui(_)
            | Self::Service(_)
            | Self::Doctor(_)
            | Self::Totp(_)
            | Self::Fleet(_)
            | Self::Fire(_)
            | Self::Bus(_)
            | Self::Hook(_)
            | Self::SelfManage(_)
            | Self::Completions(_)
            | Self::Daemon(_)
            | Self::Help(_) => false,
        }
    }
}

pub(crate) fn run(context: &Context, command: Command) -> Result<ExitCode, CommandError> {
    match command {
        Command::Init(args) => init::run(context, &args),
        Command::Demo(args) => demo::run(context, &args),
        Command::Agent(args) => agent::run(context, &args),
        Command::Detect(args) => detect::run(context, &args),
        Command::Install(args) => install::run(context, &args),
        Command::Uninstall(args) => uninstall::run(context, &args),
        Command::Run(args) => run::run(context, &args),
        Command::Adopt(args) => adopt::run(context, &args),
        Command::Explain(args) => explain::run(context, &args),
        Command::Check(args) => check::run(context, &args),
        Command::Judge(args) => judge::run(context, &args),
        Command::Ledger(args) => ledger::run(context, &args),
        Command::Sessions(args) => sessions::run(context, &args),
        Command::Scan(args) => scan::run(context, &args),
        Command::Audit(args) => audit::run(context, &args),
        Command::Policy(args) => old_names::run_policy(context, &args),
        Command::Rules(args) => rules::run(context, &args),
        Command::Programs(args) => programs::run(context, &args),
        Command::Hooks(args) => hooks::run(context, &args),
        Command::New(args) => old_names::run_new(context, &args),
        Command::Serve(args) => serve::run(context, &args),
        Command::Start(args) => start::run(context, &args),
        Command::Stop(args) => stop::run(context, &args),
        Command::Restart(args) => start::restart(context, &args),
        Command::Status(args) => status::run(context, &args),
        Command::Dashboard(args) => dashboard::run(context, &args),
        Command::Tui(args) => tenterhook_tui_command::run(context, &args),
        Command::Service(args) => service::run(context, &args),
        Command::Doctor(args) => doctor::run(context, &args),
        Command::Allow(args) => allow::run(context, &args),
        Command::Mode(args) => mode::run(context, &args),
        Command::Undo(args) => undo::run(context, &args),
        Command::Approvals(args) => approvals::run(context, &args),
        Command::Fleet(args) => fleet::run(context, &args),
        Command::Totp(args) => totp::run(context, &args),
        Command::Fire(args) => fire::run(context, &args),
        Command::Bus(args) => bus::run(context, &args),
        Command::Hook(args) => hook::run(context, &args),
        Command::SelfManage(args) => self_manage::run(context, &args),
        Command::Completions(args) => completions::run(context, &args),
        Command::Daemon(args) => daemon::run(context, &args),
        Command::Help(args) => help::run(context, &args),
    }
}
