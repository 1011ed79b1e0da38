// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `service`: the daemon as something the system starts, and starts again when it was killed.

use std::path::Path;
use std::process::ExitCode;

use clap::ValueEnum;
use serde_json::json;
use tenterhook_authority::Action;
use tenterhook_daemon_control::service::{ServiceDefinition, ServiceManager, tell};
use tenterhook_guard::Book;
use tenterhook_home::write_whole;

use super::serve::How;
use crate::context::Context;
use crate::error::CommandError;
use crate::gate::{self, ProofArgs};
use crate::terminal::{DIM, GOOD};

const EXAMPLES: &str = "\
systemd on Linux, launchd on macOS. The service runs `tenterhook serve` for your account from your next login on,
and starts it again if it dies; after `tenterhook stop` it stays stopped. With --system it is the machine's.

Examples:
  tenterhook service print                 what would be written
  tenterhook service install               write it, and start it now
  tenterhook service install --no-start    only write it
  tenterhook service uninstall";

/// Let the system start the daemon, and start it again when it dies
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Show the unit or the property list, and change nothing
    Print {
        /// Of which manager [default: the platform's]
        #[arg(long, value_name = "MANAGER")]
        manager: Option<Manager>,
        #[command(flatten)]
        how: How,
    },
    /// Write it, and start it
    Install {
        /// Only write it
        #[arg(long)]
        no_start: bool,
        #[command(flatten)]
        how: How,
    },
    /// End it, and remove what was written
    Uninstall {
        #[command(flatten)]
        proof: ProofArgs,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Manager {
    Systemd,
    Launchd,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    match &args.command {
        Command::Print { manager, how } => {
            let manager = manager.map_or_else(ServiceManager::here, Into::into);
            context.terminal.exactly(&manager.text(&define_service(context, how)?), "")?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Install { no_start, how } => install(context, &define_service(context, how)?, !no_start),
        Command::Uninstall { proof } => uninstall(context, proof),
    }
}

fn install(context: &Context, service: &ServiceDefinition, start: bool) -> Result<ExitCode, CommandError> {
    let (home, manager) = (context.home()?, ServiceManager::here());
    let path = manager.path(&context.env, service.is_system)?;
    let text = manager.text(service);
    home.make()?;
    if tenterhook_home::regular_file(&path).ok().flatten().as_deref() != Some(&text) {
        Book::of(home).change("service install", json!({"file": path}))?;
        if let Some(dir) = path.parent() {
            fs_err::create_dir_all(dir)?;
        }
        write_whole(&path, text.as_bytes(), 0o644)?;
    }
    let commands = manager.starts(&path, service.is_system);
    if start {
        commands.iter().try_for_each(|words| tell(words))?;
    }
    if context.terminal.json {
        context.terminal.print_json(&json!({"file": path, "started": start, "commands": commands}))?;
        return Ok(ExitCode::SUCCESS);
    }
    let typed = |words: &Vec<String>| format!("  {DIM}start it:{DIM:#} {}\n", words.join(" "));
    let said: String = if start {
        "and starts with your next login as well\n".to_owned()
    } else {
        commands.iter().map(typed).collect()
    };
    let what = if start { "the daemon runs" } else { "written" };
    context.terminal.say(&format!("{GOOD}✓{GOOD:#} {what}: {}\n{said}", path.display()))?;
    Ok(ExitCode::SUCCESS)
}

fn uninstall(context: &Context, proof: &ProofArgs) -> Result<ExitCode, CommandError> {
    let (home, manager) = (context.home()?, ServiceManager::here());
    let is_system = home.public.is_some();
    let path = manager.path(&context.env, is_system)?;
    if !path.exists() {
        return Err(CommandError::user(format!("there is no service: `{}` is not there", path.display())));
    }
    // Nobody starts the daemon again: that is as good as ending it.
    gate::pass(context, Action::Stop, json!({"service": path}), proof)?;
    for words in manager.ends(&path, is_system) {
        // One that does not run, or was never loaded, is as it should be.
        drop(tell(&words));
    }
    fs_err::remove_file(&path)?;
    if context.terminal.json {
        context.terminal.print_json(&json!({"file": path, "removed": true}))?;
    } else {
        context.terminal.say(&format!("{GOOD}✓{GOOD:#} removed: {}\n", path.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

impl From<Manager> for ServiceManager {
    fn from(manager: Manager) -> Self {
        match manager {
            Manager::Systemd => Self::Systemd,
            Manager::Launchd => Self::Launchd,
        }
    }
}

/// The service that runs the daemon of this home.
fn define_service(context: &Context, how: &How) -> Result<ServiceDefinition, CommandError> {
    let home = context.home()?;
    let installed = home.bin().join("tenterhook");
    let program = if installed.is_file() { installed } else { std::env::current_exe()? };
    let text = |path: &Path| {
        path.to_str().map(ToOwned::to_owned).ok_or_else(|| {
            CommandError::user(format!("`{}` is no text, so no service can name it", path.display()))
        })
    };
    let mut words = vec![text(&program)?];
    if home.public.is_some() {
        words.push("--system".to_owned());
    } else if context.said_home.is_some() || context.env.tenterhook_home.is_some() {
        words.extend(["--home".to_owned(), text(&home.state)?]);
    }
    words.extend(["serve", "--log", "json"].map(ToOwned::to_owned));
    words.extend(how.words());
    let mut variables = Vec::new();
    for (name, value) in
        [("XDG_STATE_HOME", &context.env.xdg_state_home), ("XDG_CONFIG_HOME", &context.env.xdg_config_home)]
    {
        if let Some(value) = value {
            variables.push((name, text(value)?));
        }
    }
    Ok(ServiceDefinition { words, variables, log: home.log(), is_system: home.public.is_some() })
}
