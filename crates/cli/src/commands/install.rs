// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::{Value, json};
use tenterhook_guard::Configuration;
use tenterhook_harness::Harness;
use tenterhook_harness_install::HarnessClient as _;
use tenterhook_harness_install::SettingsScope;
use tenterhook_harness_install::receipt::InstallOptions;
use tenterhook_home::{Home, WorkDirs};
use tenterhook_setup::install::{Proposal, apply_install, describe, plan_install};
use tenterhook_setup::repository::{apply_repository, describe_repository, plan_repository};
use tenterhook_setup::{Setup, plain_json, wiring};

use super::install_flow::{ChangeArgs, ScopeName, ask_yes_no, print_json_report, propose};
use super::{detect, select_harness};
use crate::context::Context;
use crate::error::CommandError;
use crate::read_input;
use crate::sandbox_launchers::{self, InstalledLaunchers};
use crate::setup::CliHost;
use crate::terminal::{BAD, BOLD, DIM, GOOD, Terminal, WARN};

const EXAMPLES: &str = "\
A summary of the change is shown first; `--diff` shows every line. Comments, order and file mode are kept, the original is backed up, \
and `tenterhook uninstall` restores it byte for byte. Without a name, you choose from a list.

Examples:
  tenterhook install                              choose from a list
  tenterhook install --list                       what is here, and guarded
  tenterhook install claude-code --dry-run --diff
  tenterhook install --all --yes --json
  tenterhook install gemini --scope project       in this project's settings
  tenterhook install claude-code --project        to check in, for cloud sessions
  tenterhook install codex --trust                also trust them in Codex
  tenterhook install claude-code --sandbox        and start `claude` in a sandbox
  sudo tenterhook install --system codex          for every account";

/// Guard harnesses: add Tenterhook's hooks to their settings
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    change: ChangeArgs,
    /// Also mark the hooks as trusted, if the harness requires it (Codex)
    #[arg(long)]
    trust: bool,
    /// Remove comments and trailing commas from settings that the harness would ignore because of them; a
    /// copy of the original is kept in the same directory
    #[arg(long)]
    remove_comments: bool,
    /// How the harness calls Tenterhook: with a small program, or directly over HTTP (Claude Code only; the
    /// limits are printed)
    #[arg(long, value_name = "HOW", default_value = "command")]
    transport: TransportName,
    /// Also start their usual commands in a sandbox, in new shells (see `tenterhook run --help`)
    #[arg(long)]
    sandbox: bool,
    /// List the harnesses on this machine, and whether they are guarded
    #[arg(long, conflicts_with_all = ["harnesses", "all", "scope", "dry_run", "diff", "yes", "transport", "trust", "remove_comments", "project", "sandbox"])]
    list: bool,
    /// Write hooks to check into this repository, for cloud sessions: they find the program from npm or PyPI
    /// (Claude Code only)
    #[arg(long, conflicts_with_all = ["scope", "transport", "trust", "remove_comments", "all", "sandbox"])]
    project: bool,
}

/// Value of `--transport`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum TransportName {
    Command,
    Http,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let home = context.home()?;
    if args.list {
        return detect::run(context, &detect::Args {});
    }
    if args.project {
        return install_repository(context, home, args);
    }
    if args.sandbox && home.is_machine_wide() {
        return Err(CommandError::user("`--sandbox` and `--system` cannot be combined")
            .hint("each account starts its own sandboxes: omit `--system`"));
    }
    let (harnesses, shared) = select_harnesses(context, args)?;
    let scope = match home.machine() {
        Some(root) => machine_scope(root, args.change.scope)?,
        None => args.change.scope.unwrap_or(ScopeName::User).scope()?,
    };
    let http = args.transport == TransportName::Http;
    let asked = InstallOptions { scope, http, trust: args.trust };
    let host = CliHost { context, home };
    let setup = host.setup();
    let (mut proposals, mut failures) = (Vec::new(), Vec::new());
    for harness in harnesses {
        match plan_without_comments(context, &setup, harness, &asked, args) {
            Ok(proposal) => proposals.push(proposal),
            // If no harness was named, the failure of one does not stop the others.
            Err(error) if args.change.harnesses.is_empty() => failures.push((harness, error)),
            Err(error) => return Err(error),
        }
    }
    let done = propose(context, &args.change, &proposals, "install")?;
    if done {
        apply_install(&setup, &proposals)?;
    }
    let launchers = if done && args.sandbox {
        let all: Vec<_> =
            proposals.iter().map(|one| one.harness).chain(shared.iter().map(|(one, _)| *one)).collect();
        Some(sandbox_launchers::install(context, home, &all)?)
    } else {
        None
    };
    let in_force = proposals.iter().all(|proposal| !done || proposal.plan.in_force);
    if context.terminal.json {
        let reports = proposals.iter().map(|proposal| json!(describe(&setup, proposal, done)));
        let failed = failures.iter().map(|(harness, error)| {
            json!({"harness": harness.id, "changed": false, "error": error.message, "hints": error.hints})
        });
        print_json_report(context, &args.change, reports.chain(failed).collect::<Vec<Value>>())?;
    } else {
        let mut text = String::new();
        for (harness, error) in &failures {
            text += &format!("{BAD}✗{BAD:#} {BOLD}{}{BOLD:#}: {}\n", harness.title, error.message);
        }
        for (one, other) in shared {
            text += &format!(
                "{DIM}{} reads the settings of {} and is guarded with it{DIM:#}\n",
                one.title, other.title
            );
        }
        if done {
            text += &proposals.iter().map(|proposal| installed_text(home, proposal)).collect::<String>();
            text += &launchers.as_ref().map(launchers_text).unwrap_or_default();
            text += &summary_text(home, &proposals);
            text += &configuration_problems(context, home);
        }
        context.terminal.print(&text)?;
    }
    Ok(if in_force && failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Writes hooks into the repository. They are files of the repository, so there is no confirmation and no receipt.
fn install_repository(context: &Context, home: &Home, args: &Args) -> Result<ExitCode, CommandError> {
    if args.change.harnesses != ["claude-code"] {
        return Err(CommandError::user("`--project` needs `claude-code`"));
    }
    let files = plan_repository(&wiring::project_root(&std::env::current_dir()?))?;
    if !args.change.dry_run {
        apply_repository(&CliHost { context, home }.setup(), &files)?;
    }
    if context.terminal.json {
        context.terminal.print_json(&json!({"files": files, "changed": !args.change.dry_run}))?;
    } else {
        context.terminal.print(&describe_repository(&files))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the scope of the machine-wide settings, which only root may write.
fn machine_scope(root: PathBuf, scope: Option<ScopeName>) -> Result<SettingsScope, CommandError> {
    if scope.is_some() {
        return Err(CommandError::user("`--system` and `--scope` cannot be combined").hint("omit `--scope`"));
    }
    if !rustix::process::getuid().is_root() {
        return Err(CommandError::internal("only root can guard the whole machine")
            .hint("run `sudo tenterhook install --system …`, or omit `--system` to guard your account"));
    }
    Ok(SettingsScope::Machine(root))
}

pub(super) type SharedSettings = Vec<(&'static Harness, &'static Harness)>;

/// Returns the harnesses to install, and those that share another harness's settings.
fn select_harnesses(
    context: &Context,
    args: &Args,
) -> Result<(Vec<&'static Harness>, SharedSettings), CommandError> {
    let named = if args.change.harnesses.is_empty() {
        select_harness::select_harnesses(context, args.change.all)?
    } else {
        args.change.harnesses.iter().map(|id| read_input::parse_harness(id)).collect::<Result<_, _>>()?
    };
    share_settings(named)
}

/// Separates the harnesses to install from those that share another harness's settings.
pub(super) fn share_settings(
    named: Vec<&'static Harness>,
) -> Result<(Vec<&'static Harness>, SharedSettings), CommandError> {
    let (mut chosen, mut shared): (Vec<&'static Harness>, SharedSettings) = (Vec::new(), Vec::new());
    for harness in named {
        let wired_as = wiring::installer(harness)?.wired_as;
        let same =
            |other: &&Harness| other.installer().is_some_and(|installer| installer.wired_as == wired_as);
        match chosen.iter().copied().find(|other| same(other)) {
            Some(other) if other.id != harness.id => shared.push((harness, other)),
            Some(_) => {}
            None => chosen.push(harness),
        }
    }
    Ok((chosen, shared))
}

/// Plans the installation. If the harness ignores its settings because of comments, offers to remove them first.
fn plan_without_comments(
    context: &Context,
    setup: &Setup<'_>,
    harness: &'static Harness,
    asked: &InstallOptions,
    args: &Args,
) -> Result<Proposal, CommandError> {
    let first = plan_install(setup, harness, asked)?;
    let settings = first.plan.settings();
    let Some(settings) = settings.filter(|path| !first.plan.in_force && plain_json::can_become_plain(path))
    else {
        return Ok(first);
    };
    let shown = settings.display();
    let question =
        format!("{} ignores `{shown}` because of its comments. Remove them (a copy is kept)?", harness.title);
    let may_ask = Terminal::is_interactive() && !context.terminal.json && !args.change.yes;
    let remove = !args.change.dry_run
        && (args.remove_comments || may_ask && ask_yes_no(context.terminal, &question, "install")?);
    if !remove {
        return Ok(first);
    }
    let copy = plain_json::make_plain(settings)?;
    context.terminal.eprint(&format!("the original with its comments is `{}`\n", copy.display()))?;
    plan_install(setup, harness, asked)
}

/// Formats the result for one harness.
pub(super) fn installed_text(home: &Home, proposal: &Proposal) -> String {
    let Proposal { harness, asked, plan } = proposal;
    let title = harness.title;
    if !plan.in_force {
        return format!(
            "{BAD}✗{BAD:#} {BOLD}{title}{BOLD:#} has hooks, but is not guarded: see the note above\n"
        );
    }
    let mut text = if plan.pending.is_empty() {
        format!("{GOOD}✓{GOOD:#} {BOLD}{title}{BOLD:#} is guarded from its next session on\n")
    } else {
        let todo = plan.pending.join(&format!("\n  {WARN}→{WARN:#} "));
        format!(
            "{WARN}!{WARN:#} {BOLD}{title}{BOLD:#} has hooks, and is guarded once you have done this:\n  \
             {WARN}→{WARN:#} {todo}\n"
        )
    };
    if plan.is_noop() && plan.pending.is_empty() {
        text.clear();
    }
    let bypasses = wiring::bypasses(harness, &asked.scope);
    if !plan.is_noop() && !bypasses.is_empty() {
        text += &format!("  {WARN}!{WARN:#} an account or a project can still run it without these hooks:\n");
        for bypass in bypasses {
            text += &format!("    {DIM}- {bypass}{DIM:#}\n");
        }
    }
    if let Some(last_event) = wiring::last_event(home, harness) {
        text += &format!("  {DIM}last event {} (record {}){DIM:#}\n", last_event.ts, last_event.seq);
    }
    text
}

/// Formats which commands start in a sandbox.
fn launchers_text(launchers: &InstalledLaunchers) -> String {
    let InstalledLaunchers { programs, directory, profile } = launchers;
    if programs.is_empty() {
        return format!(
            "{WARN}!{WARN:#} none of these harnesses has a command that can start in a sandbox\n"
        );
    }
    let names = programs.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match profile {
        Some(file) => {
            format!("{GOOD}✓{GOOD:#} {names} starts in a sandbox, in new shells ({})\n", file.display())
        }
        None => format!(
            "{WARN}!{WARN:#} {names} starts in a sandbox once you have done this:\n  {WARN}→{WARN:#} put `{}` first \
             on the PATH\n",
            directory.display()
        ),
    }
}

/// Formats the locations of decisions and rules, and the suggested next commands.
fn summary_text(home: &Home, proposals: &[Proposal]) -> String {
    let wired: Vec<_> = proposals.iter().filter(|one| one.plan.in_force && !one.plan.is_noop()).collect();
    if wired.is_empty() {
        return String::new();
    }
    let names: Vec<_> = wired.iter().map(|one| one.harness.id).collect();
    format!(
        "  {DIM}decisions{DIM:#}  {}\n  {DIM}your rules{DIM:#} {}\n  {DIM}test it{DIM:#}    {program} doctor --probe\n  {DIM}undo{DIM:#}       {program} uninstall {}\n",
        home.ledger().display(),
        home.policy().display(),
        names.join(" "),
        program = home.bin().join("tenterhook").display(),
    )
}

/// Lists invalid rules and hooks, so that the user learns about them at installation, not at the first call.
fn configuration_problems(context: &Context, home: &Home) -> String {
    let place = WorkDirs::at(std::env::current_dir().ok());
    let problems = Configuration::read_trusted(home, &context.env, &place).problems;
    let line = |problem: &tenterhook_policy::Problem| format!("{WARN}warning{WARN:#}: {problem}\n");
    problems.iter().map(line).collect()
}
