// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `service`: the daemon as something the system starts, and starts again when it was killed.

mod launchd;
mod systemd;

use std::path::{Path, PathBuf};
use std::process::{Command as Process, ExitCode};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use rustix::process::Pid;
use serde_json::{Value, json};
use tenterhook_authority::Action;
use tenterhook_guard::Book;
use tenterhook_home::write_whole;

use super::serve::How;
use crate::ask;
use crate::context::Context;
use crate::error::CommandError;
use crate::gate::{self, ProofArgs};
use crate::terminal::{DIM, GOOD};

/// How long a daemon that systemd restarts may take until it answers.
const RESTART_TIMEOUT: Duration = Duration::from_secs(20);

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

/// What the manager is told.
struct Service {
    /// The program and its arguments.
    words: Vec<String>,
    /// What leads to the same home.
    variables: Vec<(&'static str, String)>,
    log: PathBuf,
    /// Whether it is the machine's, and not a person's.
    is_system: bool,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    match &args.command {
        Command::Print { manager, how } => {
            let manager = manager.unwrap_or(Manager::here());
            context.terminal.exactly(&manager.text(&Service::new(context, how)?), "")?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Install { no_start, how } => install(context, &Service::new(context, how)?, !no_start),
        Command::Uninstall { proof } => uninstall(context, proof),
    }
}

fn install(context: &Context, service: &Service, start: bool) -> Result<ExitCode, CommandError> {
    let (home, manager) = (context.home()?, Manager::here());
    let path = manager.path(context, service.is_system)?;
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
    let (home, manager) = (context.home()?, Manager::here());
    let is_system = home.public.is_some();
    let path = manager.path(context, is_system)?;
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

/// Restarts the daemon through systemd, if systemd runs it: started by hand it would no longer be watched over.
pub(super) fn restart_managed(context: &Context, pid: Pid) -> Result<bool, CommandError> {
    let pid = pid.as_raw_nonzero();
    let groups = std::fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
    if !is_in_unit(&groups, systemd::NAME) {
        return Ok(false);
    }
    let home = context.home()?;
    tell(&systemd::tell(home.public.is_some(), &["restart", systemd::NAME]))?;
    let began = Instant::now();
    while began.elapsed() < RESTART_TIMEOUT {
        if let Ok(Some(health)) = ask::get(home, "/v1/health")
            && health.get("pid").and_then(Value::as_i64) != Some(i64::from(pid.get()))
        {
            return Ok(true);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Err(CommandError::internal("systemd restarted the daemon, but it does not answer").hint(format!(
        "see {}, or `journalctl --user -u {}`",
        home.log().display(),
        systemd::NAME
    )))
}

/// Whether `/proc/PID/cgroup` names a unit.
fn is_in_unit(groups: &str, unit: &str) -> bool {
    groups.lines().any(|line| line.rsplit('/').next() == Some(unit))
}

/// Tells the manager something.
fn tell(words: &[String]) -> Result<(), CommandError> {
    let typed = words.join(" ");
    let Some((program, arguments)) = words.split_first() else { return Ok(()) };
    let failed = |why: String| {
        CommandError::internal(format!("the service is written, but `{typed}` failed: {why}")).hint(format!(
            "see what is wrong and type `{typed}`, or use `tenterhook start` without a service"
        ))
    };
    let ran = Process::new(program).args(arguments).output().map_err(|error| failed(error.to_string()))?;
    if ran.status.success() {
        return Ok(());
    }
    Err(failed(String::from_utf8_lossy(&ran.stderr).trim().to_owned()))
}

// === impl Manager ===

impl Manager {
    /// What this platform has.
    fn here() -> Self {
        if cfg!(target_os = "macos") { Self::Launchd } else { Self::Systemd }
    }

    fn text(self, service: &Service) -> String {
        match self {
            Self::Systemd => systemd::unit(service),
            Self::Launchd => launchd::list(service),
        }
    }

    /// Where it is written.
    fn path(self, context: &Context, is_system: bool) -> Result<PathBuf, CommandError> {
        let env = &context.env;
        let person = || {
            env.home
                .clone()
                .ok_or_else(|| CommandError::internal("`HOME` is not set").hint("set it to your home"))
        };
        Ok(match (self, is_system) {
            (Self::Systemd, true) => Path::new("/etc/systemd/system").join(systemd::NAME),
            (Self::Systemd, false) => {
                let said = env.xdg_config_home.clone().filter(|dir| dir.is_absolute());
                let config = said.map_or_else(|| Ok(person()?.join(".config")), Ok::<_, CommandError>)?;
                config.join("systemd/user").join(systemd::NAME)
            }
            (Self::Launchd, true) => Path::new("/Library/LaunchDaemons").join(launchd::FILE),
            (Self::Launchd, false) => person()?.join("Library/LaunchAgents").join(launchd::FILE),
        })
    }

    /// What makes the manager read and start it.
    fn starts(self, path: &Path, is_system: bool) -> Vec<Vec<String>> {
        match self {
            Self::Systemd => {
                vec![
                    systemd::tell(is_system, &["daemon-reload"]),
                    systemd::tell(is_system, &["enable", "--now", systemd::NAME]),
                ]
            }
            Self::Launchd => vec![launchd::tell("bootstrap", Some(path), is_system)],
        }
    }

    fn ends(self, path: &Path, is_system: bool) -> Vec<Vec<String>> {
        match self {
            Self::Systemd => vec![systemd::tell(is_system, &["disable", "--now", systemd::NAME])],
            Self::Launchd => vec![launchd::tell("bootout", Some(path), is_system)],
        }
    }
}

// === impl Service ===

impl Service {
    fn new(context: &Context, how: &How) -> Result<Self, CommandError> {
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
        for (name, value) in [
            ("XDG_STATE_HOME", &context.env.xdg_state_home),
            ("XDG_CONFIG_HOME", &context.env.xdg_config_home),
        ] {
            if let Some(value) = value {
                variables.push((name, text(value)?));
            }
        }
        Ok(Self { words, variables, log: home.log(), is_system: home.public.is_some() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_daemon_of_the_unit_is_known_by_its_control_group() {
        let groups = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/tenterhook.service\n";
        assert!(is_in_unit(groups, systemd::NAME));
        for other in [
            "",
            "0::/user.slice/session-3.scope\n",
            "0::/x/tenterhook.service/child\n",
            "0::/x/my-tenterhook.service\n",
        ] {
            assert!(!is_in_unit(other, systemd::NAME), "{other}");
        }
    }
}
