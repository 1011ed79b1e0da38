// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::fs::OpenOptions;
use std::io::{Read, Seek, SeekFrom};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use tenterhook_authority::Action;
use tenterhook_files::FileClass;
use tenterhook_guard::Settled;
use tenterhook_home::{Home, make_private, write_whole};

use super::serve::{DEFAULT_LISTEN_ADDRESS, How, taken};
use super::{status, stop};
use crate::ask;
use crate::context::Context;
use crate::error::CommandError;
use crate::gate::ProofArgs;
use crate::terminal::WARN;

/// No more of the log is read to find out why a daemon did not start.
const MAX_LOG_BYTES: u64 = 1 << 20;
/// How long a daemon may take until it answers.
const PATIENCE: Duration = Duration::from_secs(10);

/// With more files than this the spool is long.
const LONG: usize = 256;
/// How long the next one to bring it in waits.
const AGAIN: Duration = Duration::from_mins(1);

/// The file in `run` that says when a hook last started a daemon.
const AUTOSTART_MARK: &str = "starting";
/// What a daemon that a hook starts is told of the hook's environment.
const KEPT: &[&str] =
    &["HOME", "PATH", "TENTERHOOK_HOME", "TENTERHOOK_SYSTEM_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME"];

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
    let listen =
        ask::get(home, "/v1/health")?.and_then(|health| Some(health.get("listen")?.as_str()?.to_owned()));
    if context.terminal.json {
        context.terminal.print_json(&json!({"started": true, "log": home.log(), "listen": listen}))?;
        return Ok(ExitCode::SUCCESS);
    }
    say_other_port(context, &args.how, listen.as_deref())?;
    status::run(context, &status::Args {})
}

/// Says so if the usual port was taken and another one is used.
fn say_other_port(context: &Context, how: &How, listen: Option<&str>) -> Result<(), CommandError> {
    let asked = how.listen.is_some()
        || context.env.tenterhook_listen.is_some()
        || Settled::of(context.home()?).0.daemon.listen.is_some();
    let (Some(listen), Ok(usual), false) = (listen, DEFAULT_LISTEN_ADDRESS.parse(), asked) else {
        return Ok(());
    };
    if listen == DEFAULT_LISTEN_ADDRESS {
        return Ok(());
    }
    let text = format!("{WARN}note{WARN:#}: {}; the daemon listens on {listen} instead\n", taken(usual));
    context.terminal.note(&text)
}

/// Ends the daemon, if there is one, and starts another.
pub(super) fn again(context: &Context, args: &AgainArgs) -> Result<ExitCode, CommandError> {
    hold_autostart(context.home()?);
    stop::stop(context, Action::Restart, &args.proof)?;
    run(context, &args.start)
}

/// Starts a daemon of its own session, and waits until it answers.
pub(crate) fn launch(context: &Context, home: &Home, how: &How) -> Result<(), CommandError> {
    let log = home.log();
    let from = fs_err::metadata(&log).map_or(0, |found| found.len());
    let mut child = command(context, home, &["serve", "--log", "json"])?.args(how.words()).spawn()?;
    let began = Instant::now();
    while began.elapsed() < PATIENCE {
        // The socket is there before the daemon knows whether it can start: only an answer counts.
        if ask::is_up(home) && matches!(ask::get(home, "/v1/health"), Ok(Some(_))) {
            return Ok(());
        }
        if child.try_wait()?.is_some() {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut said = String::new();
    if let Ok(Some(mut file)) = tenterhook_files::open(&log, FileClass::State) {
        drop(file.seek(SeekFrom::Start(from)));
        drop(file.take(MAX_LOG_BYTES).read_to_string(&mut said));
    }
    let failure = child_error(&said);
    Err(failure.hint(format!("the log is {}; `tenterhook serve` shows it as it happens", log.display())))
}

/// What the daemon said when it gave up: its error with its hints, else its last line.
fn child_error(said: &str) -> CommandError {
    let plain = |line: &'_ str, label: &str| line.strip_prefix(label).map(|rest| rest.trim().to_owned());
    let error = said.lines().rev().find_map(|line| plain(line, "error:"));
    let last = || said.lines().last().unwrap_or("it said nothing").to_owned();
    let failure = CommandError::internal(format!("the daemon did not start: {}", error.unwrap_or_else(last)));
    said.lines().filter_map(|line| plain(line, "hint:")).fold(failure, CommandError::hint)
}

/// Starts a daemon for the calls to come, where the settings say so. Nobody waits for it, and if it
/// fails the next call is judged as this one was.
pub(super) fn in_passing(context: &Context, home: &Home) {
    if !Settled::of(home).0.daemon.autostart
        || ask::is_up(home)
        || !first_of_many(home, AUTOSTART_MARK, PATIENCE)
    {
        return;
    }
    let Ok(command) = command(context, home, &["serve", "--log", "json"]) else { return };
    behind(context, command);
}

/// Keeps hooks from starting a daemon for some seconds: one is about to be started in place of another.
pub(super) fn hold_autostart(home: &Home) {
    let _ = first_of_many(home, AUTOSTART_MARK, Duration::ZERO);
}

/// Lets somebody bring the spool into the ledger when it has grown long and no daemon does. Nobody waits for
/// it; if the ledger cannot be written, the spool waits on, and `tenterhook doctor` says so.
pub(super) fn take_in(context: &Context, home: &Home) {
    let waiting = std::fs::read_dir(home.spool()).map_or(0, |entries| entries.take(LONG + 1).count());
    if waiting <= LONG || ask::is_up(home) || !first_of_many(home, "taking-in", AGAIN) {
        return;
    }
    // Whoever signs takes in everything first.
    let Ok(command) = command(context, home, &["ledger", "checkpoint"]) else { return };
    behind(context, command);
}

/// Starts it without waiting for it.
fn behind(context: &Context, mut command: Command) {
    // We run in the agent's environment, and a project can choose what is in it.
    command.env_clear().envs(KEPT.iter().filter_map(|name| Some((name, context.env.all.get(*name)?))));
    drop(command.spawn());
}

/// Of calls at the same time only one does something, and for a while no other does.
fn first_of_many(home: &Home, what: &str, within: Duration) -> bool {
    let mark = home.run().join(what);
    let recent = fs_err::metadata(&mark).and_then(|found| found.modified());
    if recent.is_ok_and(|at| at.elapsed().is_ok_and(|age| age < within)) {
        return false;
    }
    make_private(&home.run()).and_then(|()| write_whole(&mark, b"", 0o600)).is_ok()
}

/// This program with other words, beside us: what it says goes to the log.
fn command(context: &Context, home: &Home, words: &[&str]) -> Result<Command, CommandError> {
    home.make()?;
    let log = home.log();
    if let Some(dir) = log.parent() {
        make_private(dir)?;
    }
    let file = tenterhook_files::open_state_for_writing(&log, OpenOptions::new().append(true))?;
    let mut command = Command::new(std::env::current_exe()?);
    // Everything else that leads to this home is inherited.
    if let Some(said) = &context.said_home {
        command.arg("--home").arg(std::path::absolute(said)?);
    }
    if home.public.is_some() {
        command.arg("--system");
    }
    command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(file);
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    Ok(command)
}
