// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::process::ExitCode;

use clap::ValueEnum;
use serde_json::{Value, json};
use tenterhook_authority::Action;
use tenterhook_guard::LedgerHandle;
use tenterhook_home::{Home, Mode, call_meta};

use crate::ask;
use crate::confirm::{self, ProofArgs};
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BOLD, GOOD, WARN};

const EXAMPLES: &str = "\
In monitor mode, only locked rules are enforced. All other rules record their verdicts without stopping calls or \
asking about them. To set monitor mode, confirm it on a terminal or with a code from your phone.

Examples:
  tenterhook mode
  tenterhook mode monitor
  tenterhook mode enforce";

/// Show or set enforce or monitor mode
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Mode to set; without it the current mode is printed
    mode: Option<ModeName>,
    #[command(flatten)]
    proof: ProofArgs,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ModeName {
    /// Enforce the verdicts of rules
    Enforce,
    /// Only record the verdicts of rules
    Monitor,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let home = context.home()?;
    let (mode, changed) = match args.mode {
        None => (read_mode(home)?, false),
        Some(ModeName::Enforce) => (Mode::Enforce, set_mode(context, home, Mode::Enforce, &args.proof)?),
        Some(ModeName::Monitor) => (Mode::Monitor, set_mode(context, home, Mode::Monitor, &args.proof)?),
    };
    if context.terminal.json {
        context.terminal.print_json(&json!({"mode": mode, "changed": changed}))?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = match mode {
        Mode::Enforce => format!("{GOOD}enforce{GOOD:#}: verdicts of rules are enforced\n"),
        Mode::Monitor => {
            format!(
                "{WARN}{BOLD}monitor{BOLD:#}{WARN:#}: verdicts are only recorded; no call is stopped or asked about\n"
            )
        }
    };
    context.terminal.print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the mode that is in force.
pub(super) fn read_mode(home: &Home) -> Result<Mode, CommandError> {
    match ask::get(home, "/v1/mode")? {
        Some(answer) => Ok(serde_json::from_value(answer.get("mode").cloned().unwrap_or_default())
            .map_err(|error| CommandError::internal(format!("unexpected answer of the daemon: {error}")))?),
        None => Mode::read(home),
    }
}

/// Sets the mode. Returns whether the mode changed.
pub(super) fn set_mode(
    context: &Context,
    home: &Home,
    mode: Mode,
    args: &ProofArgs,
) -> Result<bool, CommandError> {
    if Mode::read(home) == Ok(mode) {
        return Ok(false);
    }
    if ask::is_up(home) {
        let proof = match mode {
            Mode::Monitor => confirm::collect_proof(context, Action::Monitor, args)?,
            Mode::Enforce => tenterhook_authority::Proof::default(),
        };
        let body = json!({"mode": mode, "proof": proof});
        if let Some(answer) = ask::request(home, "PUT", "/v1/mode", Some(&body))? {
            return Ok(answer.get("changed") == Some(&Value::Bool(true)));
        }
    }
    let detail = json!({"from": Mode::read(home).ok(), "to": mode});
    match mode {
        Mode::Monitor => confirm::require_confirmation(context, Action::Monitor, detail, args)?,
        Mode::Enforce => {
            home.create()?;
            LedgerHandle::of(home).record_change("mode enforce", detail)?;
        }
    }
    mode.write(home, call_meta::now())?;
    Ok(true)
}
