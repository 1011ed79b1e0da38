// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::process::ExitCode;

use serde_json::{Value, json};
use tenterhook_api::RetentionStatus;
use tenterhook_authority::{Action, Proof};
use tenterhook_guard::{LedgerHandle, Retention, RetentionLimits};
use tenterhook_home::{Home, call_meta};
use tenterhook_terminal_text::retention_text;

use crate::ask;
use crate::confirm::{self, ProofArgs};
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::GOOD;

const EXAMPLES: &str = "\
The daemon removes records that are older than the age, and the oldest ones when their content exceeds the size. \
Hashes stay, so that the rest still verifies, and each removal is recorded. Records of the last day always stay.

Limits that remove more than before need your confirmation on a terminal, or a code. Longer limits need neither.

Examples:
  tenterhook ledger retention
  tenterhook ledger retention set --max-age 90d --max-size 2GB
  tenterhook ledger retention off";

/// Show or set how long records are kept
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Option<RetentionCommand>,
}

#[derive(Debug, clap::Subcommand)]
enum RetentionCommand {
    /// Show the limits that are configured, authorized and applied
    Show,
    Set(SetArgs),
    /// Keep all records
    Off,
}

/// Set both limits; a limit that you omit is turned off
#[derive(Debug, clap::Args)]
struct SetArgs {
    /// Remove records older than this, in days or weeks (90d, 12w)
    #[arg(long, value_name = "AGE", required_unless_present = "max_size")]
    max_age: Option<String>,
    /// Remove the oldest records when their content exceeds this (500MB, 2GB)
    #[arg(long, value_name = "SIZE")]
    max_size: Option<String>,
    #[command(flatten)]
    proof: ProofArgs,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let home = context.home()?;
    let (status, changed) = match &args.command {
        None | Some(RetentionCommand::Show) => (read_retention(home)?, false),
        Some(RetentionCommand::Set(args)) => {
            let limits = RetentionLimits::parse(args.max_age.as_deref(), args.max_size.as_deref())
                .map_err(|error| CommandError::user(error.to_string()))?;
            (set_retention(context, home, limits, &args.proof)?, true)
        }
        Some(RetentionCommand::Off) => {
            (set_retention(context, home, RetentionLimits::default(), &ProofArgs::default())?, true)
        }
    };
    if context.terminal.json {
        context.terminal.print_json(&json!(status))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mark = if changed { format!("{GOOD}✓{GOOD:#} ") } else { String::new() };
    context.terminal.print(&format!("{mark}{}", retention_text(&status)))?;
    Ok(ExitCode::SUCCESS)
}

/// Asks the daemon, or reads the files if no daemon is running.
fn read_retention(home: &Home) -> Result<RetentionStatus, CommandError> {
    match ask::get(home, "/v1/ledger/retention")? {
        Some(answer) => parse_status(answer),
        None => Ok(Retention::read(home).status(None)),
    }
}

fn set_retention(
    context: &Context,
    home: &Home,
    limits: RetentionLimits,
    args: &ProofArgs,
) -> Result<RetentionStatus, CommandError> {
    let before = Retention::read(home);
    let is_shorter = limits.is_shorter_than(&before.authorized);
    if ask::is_up(home) {
        let proof = if is_shorter {
            confirm::collect_proof(context, Action::LedgerRetention, args)?
        } else {
            Proof::default()
        };
        let body = json!({"max_age": limits.age_text(), "max_size": limits.size_text(), "proof": proof});
        if let Some(answer) = ask::request(home, "PUT", "/v1/ledger/retention", Some(&body))? {
            return parse_status(answer);
        }
    }
    let settings = Retention::edit_settings(home, &limits)?;
    let detail = json!({"from": before.authorized.to_string(), "to": limits.to_string()});
    if is_shorter {
        confirm::require_confirmation(context, Action::LedgerRetention, detail, args)?;
    } else {
        home.create()?;
        LedgerHandle::of(home).record_change(Action::LedgerRetention.name(), detail)?;
    }
    Retention::write(home, &limits, &settings, call_meta::now())?;
    Ok(Retention::read(home).status(None))
}

fn parse_status(answer: Value) -> Result<RetentionStatus, CommandError> {
    serde_json::from_value(answer)
        .map_err(|error| CommandError::internal(format!("unexpected answer of the daemon: {error}")))
}
