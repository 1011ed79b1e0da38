// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `service`: installs the daemon as a system service, which restarts it after a crash.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;
use serde_json::json;
use tenterhook_authority::Action;
use tenterhook_daemon_control::service::{InitSystem, ServiceDefinition, run_command};
use tenterhook_guard::LedgerHandle;
use tenterhook_home::write_atomic;

use super::serve::DaemonArgs;
use crate::confirm::{self, ProofArgs};
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{DIM, GOOD};

const EXAMPLES: &str = "\
Uses systemd on Linux and launchd on macOS. The service runs `tenterhook daemon serve` for your account from your next \
login on and restarts it after a crash; after `tenterhook stop` it stays stopped. With --system it serves the \
whole machine.

Examples:
  tenterhook daemon service print                 show the service file
  tenterhook daemon service install               write it and start the service
  tenterhook daemon service install --no-start    only write it
  tenterhook daemon service uninstall";

/// Run the daemon as a system service that restarts after a crash
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Print the unit or property list without writing it
    Print {
        /// Service manager [default: the platform's]
        #[arg(long, value_name = "MANAGER")]
        manager: Option<ManagerName>,
        #[command(flatten)]
        daemon: DaemonArgs,
    },
    /// Install the service and start it
    Install {
        /// Do not start the service
        #[arg(long)]
        no_start: bool,
        #[command(flatten)]
        daemon: DaemonArgs,
    },
    /// Stop and remove the service
    Uninstall {
        #[command(flatten)]
        proof: ProofArgs,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ManagerName {
    Systemd,
    Launchd,
}

pub(in crate::commands) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    match &args.command {
        Command::Print { manager, daemon } => {
            let manager = manager.map_or_else(InitSystem::of_platform, Into::into);
            context.terminal.print_raw(&manager.to_file_text(&define_service(context, daemon)?), "")?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Install { no_start, daemon } => {
            install_service(context, &define_service(context, daemon)?, !no_start)
        }
        Command::Uninstall { proof } => uninstall_service(context, proof),
    }
}

/// A written service.
pub(in crate::commands) struct WrittenService {
    /// Path of the unit or property list.
    pub(in crate::commands) path: PathBuf,
    /// Commands that start it.
    start_commands: Vec<Vec<String>>,
}

/// Writes the service of this state directory and starts it.
pub(in crate::commands) fn start_service(context: &Context) -> Result<WrittenService, CommandError> {
    write_service(context, &define_service(context, &DaemonArgs::default())?, true)
}

/// Path of this account's service file.
pub(in crate::commands) fn service_path(context: &Context) -> Result<PathBuf, CommandError> {
    InitSystem::of_platform().path(&context.env, context.home()?.is_machine_wide())
}

fn write_service(
    context: &Context,
    service: &ServiceDefinition,
    start: bool,
) -> Result<WrittenService, CommandError> {
    let (home, manager) = (context.home()?, InitSystem::of_platform());
    let path = manager.path(&context.env, service.is_system)?;
    let text = manager.to_file_text(service);
    home.create()?;
    if tenterhook_home::regular_file(&path).ok().flatten().as_deref() != Some(&text) {
        LedgerHandle::of(home).record_change("service install", json!({"file": path}))?;
        if let Some(dir) = path.parent() {
            fs_err::create_dir_all(dir)?;
        }
        write_atomic(&path, text.as_bytes(), 0o644)?;
    }
    let start_commands = manager.start_commands(&path, service.is_system);
    if start {
        start_commands.iter().try_for_each(|words| run_command(words))?;
    }
    Ok(WrittenService { path, start_commands })
}

fn install_service(
    context: &Context,
    service: &ServiceDefinition,
    start: bool,
) -> Result<ExitCode, CommandError> {
    let WrittenService { path, start_commands: commands } = write_service(context, service, start)?;
    if context.terminal.json {
        context.terminal.print_json(&json!({"file": path, "started": start, "commands": commands}))?;
        return Ok(ExitCode::SUCCESS);
    }
    let start_line = |words: &Vec<String>| format!("  {DIM}start it:{DIM:#} {}\n", words.join(" "));
    let next: String = if start {
        "it also starts at your next login\n".to_owned()
    } else {
        commands.iter().map(start_line).collect()
    };
    let what = if start { "the daemon is running" } else { "written" };
    context.terminal.print(&format!("{GOOD}✓{GOOD:#} {what}: {}\n{next}", path.display()))?;
    Ok(ExitCode::SUCCESS)
}

fn uninstall_service(context: &Context, proof: &ProofArgs) -> Result<ExitCode, CommandError> {
    let (home, manager) = (context.home()?, InitSystem::of_platform());
    let is_system = home.is_machine_wide();
    let path = manager.path(&context.env, is_system)?;
    if !path.exists() {
        return Err(CommandError::user(format!("no service installed: `{}` does not exist", path.display())));
    }
    // Without the service the daemon is not restarted, so removing it needs the same confirmation as `stop`.
    confirm::require_confirmation(context, Action::Stop, json!({"service": path}), proof)?;
    for words in manager.stop_commands(&path, is_system) {
        // Ignores a service that is not running or was never loaded.
        drop(run_command(&words));
    }
    fs_err::remove_file(&path)?;
    if context.terminal.json {
        context.terminal.print_json(&json!({"file": path, "removed": true}))?;
    } else {
        context.terminal.print(&format!("{GOOD}✓{GOOD:#} removed: {}\n", path.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

impl From<ManagerName> for InitSystem {
    fn from(manager: ManagerName) -> Self {
        match manager {
            ManagerName::Systemd => Self::Systemd,
            ManagerName::Launchd => Self::Launchd,
        }
    }
}

/// Defines the service that runs the daemon of this state directory.
fn define_service(context: &Context, daemon: &DaemonArgs) -> Result<ServiceDefinition, CommandError> {
    let home = context.home()?;
    let installed = home.bin().join("tenterhook");
    let program = if installed.is_file() { installed } else { std::env::current_exe()? };
    let text = |path: &Path| {
        path.to_str()
            .map(ToOwned::to_owned)
            .ok_or_else(|| CommandError::user(format!("path `{}` is not valid UTF-8", path.display())))
    };
    let mut words = vec![text(&program)?];
    if home.is_machine_wide() {
        words.push("--system".to_owned());
    } else if context.explicit_home.is_some() || context.env.tenterhook_home.is_some() {
        words.extend(["--home".to_owned(), text(&home.state)?]);
    }
    words.extend(["serve", "--log", "json"].map(ToOwned::to_owned));
    words.extend(daemon.to_arguments());
    let mut variables = Vec::new();
    for (name, value) in
        [("XDG_STATE_HOME", &context.env.xdg_state_home), ("XDG_CONFIG_HOME", &context.env.xdg_config_home)]
    {
        if let Some(value) = value {
            variables.push((name, text(value)?));
        }
    }
    Ok(ServiceDefinition { words, variables, log: home.log(), is_system: home.is_machine_wide() })
}
