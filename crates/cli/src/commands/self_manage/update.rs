// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use serde_json::{Value, json};
use tenterhook_guard::LedgerHandle;
use tenterhook_self_update::install_method::InstallMethod;
use tenterhook_self_update::release;
use tenterhook_self_update::release_source::ReleaseSource;
use tenterhook_self_update::update::{read_release, replace_program, unpack};

use super::running_program;
use crate::ask;
use crate::context::Context;
use crate::error::CommandError;
use crate::setup::refuse_guarded_agent;
use crate::terminal::{BOLD, DIM, GOOD, WARN};
use tenterhook_setup::versions::{REFRESH_COMMAND, ReleaseVersion};

const EXAMPLES: &str = "\
Only copies that were unpacked from a release archive, by hand or by install.sh, update themselves. npm, pip, \
Homebrew, deb and Docker installs are refused, and the command that upgrades them is printed. The signature is \
verified with the built-in key before anything is unpacked, and an older release is refused. Afterwards the new \
program runs `self refresh`: hooks and daemon use the new version.

Examples:
  tenterhook self update --check
  tenterhook self update --from ./tenterhook-0.2.0
  TENTERHOOK_RELEASES=https://example.com/releases tenterhook self update";

/// Replace this program by the newest signed release
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Directory or https URL with the files of a release
    #[arg(long, value_name = "DIR|URL")]
    from: Option<String>,
    /// Only print which version is available
    #[arg(long)]
    check: bool,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let program = running_program()?;
    let method = InstallMethod::detect(&program, context.unchecked_home());
    if let Some(command) = method.upgrade_command() {
        let message = format!("this copy was installed by {}, which has to upgrade it", method.name());
        return Err(CommandError::internal(message).hint(format!("run `{command}`")));
    }
    if let Some(home) = context.unchecked_home() {
        refuse_guarded_agent(home, "update Tenterhook")?;
    }
    // Without a key nothing can be verified, so this fails before anything is downloaded.
    let key = release::release_key(None)?;
    let configured = context.env.all.get("TENTERHOOK_RELEASES").map(String::as_str);
    let source = ReleaseSource::choose(args.from.as_deref(), configured)?;
    let found = read_release(&source, &key)?;

    let (current, offered) = (env!("CARGO_PKG_VERSION"), found.manifest.version.clone());
    let order = ReleaseVersion::parse(&offered)?.cmp(&ReleaseVersion::parse(current)?);
    if order.is_lt() {
        return Err(CommandError::internal(format!("the offered release {offered} is older than {current}"))
            .hint("to go back, uninstall this version and install the older one"));
    }
    if args.check || order.is_eq() {
        if context.terminal.json {
            context
                .terminal
                .print_json(&json!({"current": current, "available": offered, "updated": false}))?;
        } else if order.is_eq() {
            context.terminal.print(&format!("{GOOD}✓{GOOD:#} {current} is the newest release\n"))?;
        } else {
            context.terminal.print(&format!("{BOLD}{offered}{BOLD:#} is available; this is {current}\n"))?;
        }
        return Ok(ExitCode::SUCCESS);
    }

    let unpacked = unpack(&source, &found)?;
    if let Ok(home) = context.home()
        && home.state.exists()
    {
        let detail = json!({"from": current, "to": offered, "program": program});
        LedgerHandle::of(home).record_change("self update", detail)?;
    }
    replace_program(&unpacked.root, &program)?;
    let refreshed = run_refresh(context, &program);
    print_report(context, &program, (current, &offered), refreshed.as_ref())?;
    Ok(if refreshed.is_some_and(|refreshed| !refreshed.succeeded) {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// Result of the new program's `self refresh`.
struct RefreshResult {
    succeeded: bool,
    /// JSON output of the command; null in text mode.
    answer: Value,
}

/// Runs `self refresh` with the new program. Returns `None` if there is nothing to refresh.
fn run_refresh(context: &Context, program: &Path) -> Option<RefreshResult> {
    let home = context.unchecked_home()?;
    if !home.has_hook_programs() && !ask::is_up(home) {
        return None;
    }
    let mut command = Command::new(program);
    if home.is_machine_wide() {
        command.arg("--system");
    } else if let Some(path) = &context.explicit_home {
        command.arg("--home").arg(path);
    }
    command.args(["self", "refresh"]);
    if !context.terminal.json {
        let succeeded = command.status().is_ok_and(|status| status.success());
        return Some(RefreshResult { succeeded, answer: Value::Null });
    }
    let ran = command.arg("--json").stderr(Stdio::inherit()).output().ok();
    let succeeded = ran.as_ref().is_some_and(|ran| ran.status.success());
    let answer = ran.and_then(|ran| serde_json::from_slice(&ran.stdout).ok()).unwrap_or_default();
    Some(RefreshResult { succeeded, answer })
}

fn print_report(
    context: &Context,
    program: &Path,
    (current, offered): (&str, &str),
    refreshed: Option<&RefreshResult>,
) -> Result<(), CommandError> {
    if context.terminal.json {
        return context.terminal.print_json(&json!({
            "current": current,
            "available": offered,
            "updated": true,
            "program": program,
            "refresh": refreshed.map(|refreshed| &refreshed.answer),
        }));
    }
    let mut text = format!(
        "{GOOD}✓{GOOD:#} {} is now {BOLD}{offered}{BOLD:#} {DIM}(was {current}){DIM:#}\n",
        program.display()
    );
    if refreshed.is_some_and(|refreshed| !refreshed.succeeded) {
        text +=
            &format!("{WARN}note{WARN:#}: hooks and daemon still run {current}: run `{REFRESH_COMMAND}`\n");
    }
    context.terminal.print(&text)
}
