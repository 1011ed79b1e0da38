// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `run`: guards one run of an agent without a change to its settings, and sandboxes a run.

mod agent_process;
mod explain_sandbox;
mod refusal_summary;
mod run_services;
mod sandboxed;

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

use serde_json::json;
use tenterhook_harness::{HARNESSES, Harness};
use tenterhook_harness_install::HarnessClient as _;
use tenterhook_setup::run_plan::{GuardedRun, plan_run};
use tokio::process::Command;

use self::agent_process::{TypedSignals, exit_code_of, run_command};
pub(crate) use self::sandboxed::{describe_available_level, enter_sandbox, undo_interrupted};
use crate::context::Context;
use crate::error::CommandError;
use crate::read_input;
use crate::sandbox_launchers;
use crate::setup::CliHost;
use crate::terminal::{DIM, WARN, tame};

const EXAMPLES: &str = "\
The hooks apply to this run only, and the settings of the agent are not changed. Arguments after AGENT, standard \
input and output, signals and the exit code are passed through. If the settings already contain the hooks, the \
agent is started unchanged. Agents that take settings for one run: claude, codex, qwen, opencode. For the others, \
use `tenterhook install`.

Exit codes: that of the agent; 128 and the number of the signal that ended it; 127 if the agent is not installed; \
2 if it cannot be guarded for one run.

Examples:
  tenterhook run claude
  tenterhook run claude -p 'fix the failing test'
  tenterhook run ./node_modules/.bin/codex exec 'update the docs'
  tenterhook run --dry-run opencode               what would be added
  tenterhook run --sandbox claude                 hooks, and a sandbox
  tenterhook run --sandbox -- npm test            any command in a sandbox
  tenterhook run --sandbox --explain -- npm test  its paths and their rules
  tenterhook run --sandbox --learn -- npm test    propose a profile";

/// Exit code if the agent's program is missing, as in shells.
const EXIT_NOT_FOUND: u8 = 127;

/// Guard one run of an agent without changing its settings
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = "tenterhook run [OPTIONS] <AGENT> [ARGS]...")]
pub(crate) struct Args {
    /// Print what would be added to the run, without running the agent
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    sandbox: SandboxArgs,
    /// Agent, such as `claude` or the path of its program, and its arguments
    // One list, so that options after AGENT belong to the agent, even if Tenterhook has an option of that name.
    #[arg(value_name = "AGENT", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<OsString>,
}

/// Options of a sandboxed run.
#[derive(Debug, clap::Args)]
struct SandboxArgs {
    /// Run the agent or any command in a sandbox that protects the same paths as the rules
    #[arg(long)]
    sandbox: bool,
    /// Profile of the sandbox [default: that of the agent]
    #[arg(long, value_name = "NAME", requires = "sandbox")]
    profile: Option<String>,
    /// Network of the sandbox [default: that of the profile]
    #[arg(long, value_name = "ACCESS", value_parser = ["none", "proxy", "host"], requires = "sandbox")]
    network: Option<String>,
    /// Print the paths of the sandbox with their rules, without running anything
    #[arg(long, requires = "sandbox")]
    explain: bool,
    /// With `--explain`, print the paths as a profile for `sandbox-exec` of macOS (untested)
    #[arg(long, requires = "explain")]
    seatbelt: bool,
    /// Print at the end what a profile would have to allow. What rules protect is never proposed
    #[arg(long, requires = "sandbox", conflicts_with = "explain")]
    learn: bool,
    /// Start with less protection if this machine does not support the whole sandbox
    #[arg(long, requires = "sandbox")]
    best_effort: bool,
}

impl SandboxArgs {
    fn is_on(&self) -> bool {
        self.sandbox
    }
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let Some((agent, rest)) = args.command.split_first() else {
        return Err(CommandError::user("missing agent name"));
    };
    let home = context.home()?;
    if home.is_machine_wide() {
        return Err(CommandError::user("`run` guards a run of your account").hint("omit `--system`"));
    }
    if args.sandbox.is_on() {
        return sandboxed::run(context, home, args, agent, rest);
    }
    let (harness, program) = find_agent(agent)?;
    let host = CliHost { context, home };
    let setup = host.setup();
    let guarded = plan_run(&setup, harness, rest, false)?;
    if args.dry_run {
        return print_plan(context, harness, &program, &guarded);
    }
    let mut command = Command::new(&program);
    let mut directory = None;
    match &guarded {
        GuardedRun::BySettings { scope, .. } => {
            let text = format!("already guarded by its settings ({scope}), so nothing is added to this run");
            context.terminal.eprint(&format!("{DIM}{}: {}{DIM:#}\n", harness.title, tame(&text)))?;
        }
        GuardedRun::ByAdditions(run) => {
            directory = Some(run.write_files(&setup)?);
            command.args(&run.args).envs(run.variables.iter().map(|(name, value)| (name, value)));
            for note in &run.notes {
                context.terminal.eprint(&format!("{WARN}note{WARN:#}: {}\n", tame(note)))?;
            }
        }
    }
    // A launcher of `install --sandbox` would start this program again.
    let search_path = context.env.all.get("PATH").map(OsString::from).unwrap_or_default();
    if let Some(search_path) = sandbox_launchers::search_path_without(home, &search_path) {
        command.env("PATH", search_path);
    }
    command.args(rest);
    // The settings of the run are removed after the agent has ended.
    let status = run_command(command, TypedSignals::FromTerminal, || None);
    drop(directory);
    match status {
        Ok(status) => Ok(exit_code_of(status)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let message = format!("`{}` was not found", program.to_string_lossy());
            let hint = format!("install {}, or name the path of its program", harness.title);
            let _ = context.terminal.report(&CommandError::not_found(message).hint(hint));
            Ok(ExitCode::from(EXIT_NOT_FOUND))
        }
        Err(error) => Err(error.into()),
    }
}

/// Finds the harness of an agent that is named by its program, the program's path, or the harness's id. Returns the
/// program to start too.
fn find_agent(agent: &OsStr) -> Result<(&'static Harness, OsString), CommandError> {
    let name = Path::new(agent).file_name().and_then(OsStr::to_str);
    let by_program = HARNESSES.iter().find(|harness| {
        name.is_some_and(|name| harness.programs().contains(&name)) && harness.installer().is_some()
    });
    if let Some(harness) = by_program {
        return Ok((harness, agent.to_owned()));
    }
    let harness = read_input::parse_harness(&agent.to_string_lossy())?;
    let program = harness.programs().first();
    // A harness without a program of its own cannot be guarded for one run either; that is reported later.
    Ok((harness, program.map_or_else(|| agent.to_owned(), OsString::from)))
}

fn print_plan(
    context: &Context,
    harness: &Harness,
    program: &OsStr,
    guarded: &GuardedRun,
) -> Result<ExitCode, CommandError> {
    let text = |value: &OsString| value.to_string_lossy().into_owned();
    let (scope, args, variables, notes) = match guarded {
        GuardedRun::BySettings { scope, .. } => (Some(scope.clone()), Vec::new(), Vec::new(), Vec::new()),
        GuardedRun::ByAdditions(run) => {
            let variables = run.variables.iter().map(|(name, value)| ((*name).to_owned(), text(value)));
            (None, run.args.iter().map(text).collect(), variables.collect(), run.notes.clone())
        }
    };
    let program = program.to_string_lossy();
    if context.terminal.json {
        context.terminal.print_json(&json!({
            "harness": harness.id,
            "program": program,
            "guarded_by_settings": scope,
            "args": args,
            "variables": variables.into_iter().collect::<std::collections::BTreeMap<_, _>>(),
            "notes": notes,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut lines = vec![format!("runs `{program}` ({})", harness.title)];
    lines.extend(scope.map(|scope| format!("adds nothing: its settings guard it already ({scope})")));
    lines.extend(
        variables.iter().map(|(name, value)| format!("{DIM}variable{DIM:#}  {name}={}", tame(value))),
    );
    lines.extend(args.iter().map(|arg| format!("{DIM}argument{DIM:#}  {}", tame(arg))));
    lines.extend(notes.iter().map(|note| format!("{WARN}note{WARN:#}: {}", tame(note))));
    context.terminal.print(&(lines.join("\n") + "\n"))?;
    Ok(ExitCode::SUCCESS)
}
