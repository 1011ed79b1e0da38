// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `run --sandbox`: runs an agent with its hooks, or any command, in a sandbox.

use std::ffi::{OsStr, OsString};
use std::io::IsTerminal as _;
use std::path::Path;
use std::process::ExitCode;

use serde_json::json;
use tenterhook_event::SandboxLevel;
use tenterhook_home::{Home, call_meta};
use tenterhook_sandbox::after_run::UndoneChange;
use tenterhook_sandbox::bubblewrap::MountMethod;
use tenterhook_sandbox::call_observer::ObservedCalls;
use tenterhook_sandbox::inside::{self, InsideError};
use tenterhook_sandbox::{NetworkAccess, probe};
use tenterhook_sandbox_run::{
    LevelChoice, PreparedRun, SandboxPlan, SandboxRequest, StartWait, repair_interrupted_runs,
};
use tenterhook_setup::SetupHost as _;
use tenterhook_setup::run_plan::{GuardedRun, RunDirectory, plan_run};
use tokio::process::Command;

use super::agent_process::{TypedSignals, exit_code_of, run_command};
use super::refusal_summary;
use super::run_services::RunServices;
use super::{Args, EXIT_NOT_FOUND, SandboxArgs, explain_sandbox, find_agent};
use crate::commands::daemon::start;
use crate::context::Context;
use crate::error::CommandError;
use crate::sandbox_launchers;
use crate::setup::CliHost;
use crate::terminal::{DIM, Terminal, WARN, tame};

/// First argument of this program when it runs inside a sandbox.
const INSIDE_STAGE: &str = "sandbox-inside";
/// Name of a change that was undone after a run, in the ledger.
const UNDONE_RECORD: &str = "sandbox.undo";

/// How often the start of a sandbox is tried.
const MAX_START_ATTEMPTS: usize = 3;

/// What a run starts in its sandbox.
pub(super) struct SandboxedCommand {
    pub(super) program: OsString,
    /// Id of the harness, if the program is an agent.
    pub(super) harness: Option<&'static str>,
    arguments: Vec<OsString>,
    variables: Vec<(&'static str, OsString)>,
    has_hooks: bool,
    /// The settings of the run's hooks, until the agent has ended.
    hooks: Option<RunDirectory>,
}

pub(super) fn run(
    context: &Context,
    home: &Home,
    args: &Args,
    program: &OsStr,
    arguments: &[OsString],
) -> Result<ExitCode, CommandError> {
    let plan = plan(context, home, &args.sandbox, program)?;
    if args.sandbox.seatbelt {
        let text = tenterhook_sandbox::seatbelt_profile(&plan.sets, plan.network);
        context.terminal.print(&text)?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.sandbox.explain || args.dry_run {
        return explain_sandbox::print(context, &plan);
    }
    if !cfg!(target_os = "linux") {
        return Err(CommandError::conflict("sandboxes need Linux"));
    }
    let command = prepare_command(context, home, program, arguments)?;
    print_level(context, &plan)?;
    run_sandboxed(context, home, plan, command, args.sandbox.learn)
}

fn plan(
    context: &Context,
    home: &Home,
    args: &SandboxArgs,
    program: &OsStr,
) -> Result<SandboxPlan, CommandError> {
    let name = Path::new(program).file_name().unwrap_or(program).to_string_lossy();
    let network = args.network.as_deref().map(|network| match network {
        "host" => NetworkAccess::Host,
        "proxy" => NetworkAccess::Proxy,
        _ => NetworkAccess::None,
    });
    SandboxPlan::new(&SandboxRequest {
        home,
        env: &context.env,
        working_directory: &std::env::current_dir()?,
        profile: args.profile.as_deref(),
        program: &name,
        network,
        observed: if args.learn { ObservedCalls::All } else { ObservedCalls::Changes },
        level: if args.best_effort || args.seatbelt {
            LevelChoice::BestEffort
        } else {
            LevelChoice::Required
        },
        now: call_meta::now(),
    })
}

/// Adds hooks if the program is an agent.
fn prepare_command(
    context: &Context,
    home: &Home,
    program: &OsStr,
    arguments: &[OsString],
) -> Result<SandboxedCommand, CommandError> {
    let mut command = SandboxedCommand {
        program: program.to_owned(),
        harness: None,
        arguments: arguments.to_vec(),
        variables: Vec::new(),
        has_hooks: false,
        hooks: None,
    };
    let Ok((harness, agent)) = find_agent(program) else { return Ok(command) };
    let host = CliHost { context, home };
    let setup = host.setup();
    let (args, notes) = match plan_run(&setup, harness, arguments, true)? {
        GuardedRun::BySettings { args, notes, .. } => (args, notes),
        GuardedRun::ByAdditions(run) => {
            command.hooks = Some(run.write_files(&setup)?);
            command.variables = run.variables;
            (run.args, run.notes)
        }
    };
    command.arguments.splice(0..0, args);
    for note in &notes {
        context.terminal.eprint(&format!("{WARN}note{WARN:#}: {}\n", tame(note)))?;
    }
    command.program = agent;
    command.harness = Some(harness.id);
    command.has_hooks = true;
    // A daemon that a hook starts would be in the sandbox, where it cannot write records.
    start::start_for_sandbox(context, home)?;
    Ok(command)
}

fn print_level(context: &Context, plan: &SandboxPlan) -> Result<(), CommandError> {
    let network = match plan.network {
        NetworkAccess::None => "loopback only",
        NetworkAccess::Proxy => "through the proxy",
        NetworkAccess::Host => "of the machine",
    };
    let project = plan.roots.project.display().to_string();
    let line = format!("sandbox: {}; network {network}; writable: {}", plan.level.title(), tame(&project));
    context.terminal.eprint(&format!("{DIM}{line}{DIM:#}\n"))?;
    if let Some(available) =
        plan.availability.as_ref().filter(|_| plan.level != SandboxLevel::NamespacesLandlock)
    {
        let why = available.namespaces_missing.as_deref().unwrap_or_default();
        let text = format!("less protection than a sandbox with namespaces: {}", tame(why));
        context.terminal.eprint(&format!("{WARN}note{WARN:#}: {text}\n"))?;
    }
    Ok(())
}

fn run_sandboxed(
    context: &Context,
    home: &Home,
    plan: SandboxPlan,
    command: SandboxedCommand,
    learns: bool,
) -> Result<ExitCode, CommandError> {
    let has_boundary = plan.level != SandboxLevel::Hooks;
    undo_interrupted(context, home)?;
    let mut run = PreparedRun::new(plan, home, &context.env, command.has_hooks)?;
    let services = RunServices::new(context, home, &run, &command)?;
    let wait = run.wait_for_start(&context.env, services);
    let has_own_session =
        run.plan().level == SandboxLevel::NamespacesLandlock && !std::io::stdin().is_terminal();
    let typed_signals = if has_own_session { TypedSignals::Forwarded } else { TypedSignals::FromTerminal };
    let (mut attempt, mut method) = (1, MountMethod::Prepared);
    let status = loop {
        let process = build_process(context, home, &run, &command, method)?;
        let status = run_command(Command::from(process), typed_signals, || wait.as_ref()?.process());
        let has_started = !has_boundary || wait.as_ref().is_none_or(StartWait::has_started);
        let is_failure =
            status.as_ref().map_or(has_boundary, |status| status.code().is_some_and(|code| code != 0));
        if !has_started && is_failure && method == MountMethod::Prepared {
            // The kernel or a security module may permit mounts to `bwrap` only.
            method = MountMethod::Bubblewrap;
            continue;
        }
        // A socket or file may vanish before it is mounted, for example if its program ends.
        let may_succeed = || probe::available_level().level == SandboxLevel::NamespacesLandlock;
        if has_started || !is_failure || attempt == MAX_START_ATTEMPTS || !may_succeed() {
            break status;
        }
        attempt += 1;
    };
    drop(command.hooks);
    let proposal = refusal_summary::ProposalSite::of(run.plan());
    let end = match wait {
        Some(wait) if has_boundary => run.finish(&wait),
        _ => run.finish_without_boundary(),
    };
    let status = match status {
        Ok(status) => exit_code_of(status),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => ExitCode::from(EXIT_NOT_FOUND),
        Err(error) => return Err(error.into()),
    };
    let end = end?;
    // Printing may fail or wait, so the records come first. A change that cannot be recorded is printed all the same.
    let recorded: Vec<_> = end.undone.iter().map(|change| record_undone(context, home, change)).collect();
    for change in &end.undone {
        print_undone(context, change)?;
    }
    recorded.into_iter().collect::<Result<(), _>>()?;
    if learns {
        refusal_summary::print_proposal(context, home, &proposal, &end.refused)?;
    } else {
        refusal_summary::print_count(context, &proposal, &end.refused)?;
    }
    Ok(status)
}

fn build_process(
    context: &Context,
    home: &Home,
    run: &PreparedRun,
    command: &SandboxedCommand,
    method: MountMethod,
) -> Result<std::process::Command, CommandError> {
    let mut process = if run.plan().level == SandboxLevel::Hooks {
        std::process::Command::new(&command.program)
    } else {
        let has_terminal = std::io::stdin().is_terminal();
        let program = std::env::current_exe()?;
        let mut process = run.command(&program, INSIDE_STAGE, &context.env, has_terminal, method)?;
        process.arg("--").arg(&command.program);
        process
    };
    // A launcher in the `PATH` would start this program again.
    let search_path = context.env.all.get("PATH").map(OsString::from).unwrap_or_default();
    if let Some(search_path) = sandbox_launchers::search_path_without(home, &search_path) {
        process.env("PATH", search_path);
    }
    process.args(&command.arguments).envs(command.variables.iter().map(|(name, value)| (name, value)));
    Ok(process)
}

/// Undoes changes of runs whose supervisor was killed, prints and records them.
pub(crate) fn undo_interrupted(context: &Context, home: &Home) -> Result<(), CommandError> {
    for change in repair_interrupted_runs(home)? {
        print_undone(context, &change)?;
        record_undone(context, home, &change)?;
    }
    Ok(())
}

fn print_undone(context: &Context, change: &UndoneChange) -> Result<(), CommandError> {
    let path = change.path.display().to_string();
    let what = match &change.error {
        None => format!("undone after the run: `{path}`: {}", change.change),
        Some(error) => format!("NOT UNDONE after the run: `{path}`: {}: {error}", change.change),
    };
    context.terminal.eprint(&format!("{WARN}warning{WARN:#}: {}\n", tame(&what)))
}

fn record_undone(context: &Context, home: &Home, change: &UndoneChange) -> Result<(), CommandError> {
    let host = CliHost { context, home };
    let path = change.path.display().to_string();
    let detail = json!({ "path": path, "change": change.change, "error": change.error });
    host.record_change(UNDONE_RECORD, detail)
}

/// Becomes the command of a sandboxed run, if this program was started inside a sandbox for that. Returns only if that
/// is not the case or fails.
pub(crate) fn enter_sandbox() -> Option<ExitCode> {
    let mut words = std::env::args_os().skip(1);
    if words.next()? != INSIDE_STAGE {
        return None;
    }
    let files = words.next()?;
    if words.next()? != "--" {
        return None;
    }
    let program = words.next()?;
    let error = inside::enter(Path::new(&files), &program, &words.collect::<Vec<_>>());
    let exit = match &error {
        InsideError::Command { error, .. } if error.kind() == std::io::ErrorKind::NotFound => {
            ExitCode::from(EXIT_NOT_FOUND)
        }
        _ => ExitCode::FAILURE,
    };
    let terminal = Terminal::new(clap::ColorChoice::Auto, false);
    terminal.report(&CommandError::internal(error.to_string()));
    Some(exit)
}

/// Describes the sandbox that this machine supports, for `status` and `doctor`.
pub(crate) fn describe_available_level() -> (bool, String) {
    let available = probe::available_level();
    let text = match (&available.namespaces_missing, available.hint) {
        (None, _) => available.level.title().to_owned(),
        (Some(why), hint) => {
            let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
            format!("{} ({why}{hint})", available.level.title())
        }
    };
    (available.level == SandboxLevel::NamespacesLandlock, text)
}
