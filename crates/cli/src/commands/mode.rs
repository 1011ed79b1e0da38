// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::process::ExitCode;
use std::time::Duration;

use clap::ValueEnum;
use serde_json::{Value, json};
use tenterhook_authority::Action;
use tenterhook_event::Timestamp;
use tenterhook_guard::LedgerHandle;
use tenterhook_home::{Home, Mode, ModeSetting, call_meta};
use tenterhook_records::time_spec::parse_duration_spec;

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
  tenterhook mode monitor --for 15m    rules are enforced again after 15 minutes
  tenterhook mode monitor
  tenterhook mode enforce";

/// Show or set enforce or monitor mode
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Mode to set; without it the current mode is printed
    mode: Option<ModeName>,
    /// Enforce the rules again after this time, such as 15m or 2h; at most 7d
    #[arg(long = "for", value_name = "DURATION", value_parser = parse_duration_spec)]
    time: Option<Duration>,
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
    if args.time.is_some() && !matches!(args.mode, Some(ModeName::Monitor)) {
        return Err(CommandError::user("`--for` needs `monitor`").hint("`tenterhook mode monitor --for 15m`"));
    }
    let changed = match args.mode {
        None => false,
        Some(ModeName::Enforce) => set_mode(context, home, Mode::Enforce, &args.proof)?,
        Some(ModeName::Monitor) => set_mode_for(context, home, Mode::Monitor, args.time, &args.proof)?,
    };
    let (mode, until) = read_mode(home)?;
    if context.terminal.json {
        context.terminal.print_json(&json!({"mode": mode, "changed": changed, "until": until}))?;
        return Ok(ExitCode::SUCCESS);
    }
    let limit = until.map(|until| format!(" until {until}")).unwrap_or_default();
    let text = match mode {
        Mode::Enforce => format!("{GOOD}enforce{GOOD:#}: verdicts of rules are enforced\n"),
        Mode::Monitor => {
            format!(
                "{WARN}{BOLD}monitor{BOLD:#}{WARN:#}{limit}: verdicts are only recorded; no call is stopped or asked about\n"
            )
        }
    };
    context.terminal.print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the mode that is in force, and when it ends by itself.
pub(super) fn read_mode(home: &Home) -> Result<(Mode, Option<Timestamp>), CommandError> {
    let Some(answer) = ask::get(home, "/v1/mode")? else {
        let ModeSetting { mode, until, .. } = ModeSetting::read(home)?;
        return Ok((mode, until));
    };
    let field = |key: &str| answer.get(key).cloned().unwrap_or_default();
    let unexpected = |error: serde_json::Error| {
        CommandError::internal(format!("unexpected answer of the daemon: {error}"))
    };
    Ok((
        serde_json::from_value(field("mode")).map_err(unexpected)?,
        serde_json::from_value(field("until")).map_err(unexpected)?,
    ))
}

/// Sets the mode. Returns whether the mode changed.
pub(super) fn set_mode(
    context: &Context,
    home: &Home,
    mode: Mode,
    args: &ProofArgs,
) -> Result<bool, CommandError> {
    set_mode_for(context, home, mode, None, args)
}

/// Sets the mode, for a limited time if there is one. Returns whether the mode changed.
fn set_mode_for(
    context: &Context,
    home: &Home,
    mode: Mode,
    time: Option<Duration>,
    args: &ProofArgs,
) -> Result<bool, CommandError> {
    if let Some(time) = time {
        ModeSetting::check_time(time)?;
    }
    let before = ModeSetting::read(home);
    if time.is_none() && before.as_ref().is_ok_and(|before| before.mode == mode && before.until.is_none()) {
        return Ok(false);
    }
    if ask::is_up(home) {
        let proof = match mode {
            Mode::Monitor => confirm::collect_proof(context, Action::Monitor, args)?,
            Mode::Enforce => tenterhook_authority::Proof::default(),
        };
        let body = json!({"mode": mode, "for_s": time.map(|time| time.as_secs()), "proof": proof});
        if let Some(answer) = ask::request(home, "PUT", "/v1/mode", Some(&body))? {
            return Ok(answer.get("changed") == Some(&Value::Bool(true)));
        }
    }
    let mut detail = json!({"from": before.ok().map(|before| before.mode), "to": mode});
    if let (Some(time), Some(fields)) = (time, detail.as_object_mut()) {
        fields.insert("for_s".to_owned(), json!(time.as_secs()));
    }
    match mode {
        Mode::Monitor => confirm::require_confirmation(context, Action::Monitor, detail, args)?,
        Mode::Enforce => {
            home.create()?;
            LedgerHandle::of(home).record_change("mode enforce", detail)?;
        }
    }
    match time {
        Some(time) => drop(ModeSetting::write_monitor_for(home, time, call_meta::now())?),
        None => mode.write(home, call_meta::now())?,
    }
    Ok(true)
}
