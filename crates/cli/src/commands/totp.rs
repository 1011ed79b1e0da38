// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::process::ExitCode;

use serde_json::json;
use tenterhook_authority::{Action, Agents, AttemptQuota, Caller, CodeResult, Enrolment, totp};
use tenterhook_home::call_meta::now_ms;
use tenterhook_terminal_text::draw_qr_code;

use crate::confirm::{self, ProofArgs};
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BOLD, DIM, GOOD, WARN};

const EXAMPLES: &str = "\
Once codes are set up, every action that weakens protection needs one: a terminal alone is no longer enough, and \
scripts can pass one with `--code-file`. Each code is valid once, and five may be tried in a minute.

The secret is in your state directory, readable only by your account. An agent that runs under your account and \
escapes its rules can read it there: see docs/threat-model.md.

Examples:
  tenterhook approvals totp enroll           scan the secret, then type the app's code
  tenterhook approvals totp verify 123456
  tenterhook approvals totp remove";

/// Set up codes of an authenticator app for privileged actions
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Create a secret for your authenticator app; the first code activates it
    Enroll,
    /// Activate a new secret with its first code, or test a code
    Verify {
        /// Code to check
        code: String,
    },
    /// Show whether codes are required
    Status,
    /// Stop requiring codes (asks for one)
    Remove {
        #[command(flatten)]
        proof: ProofArgs,
    },
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let codes = Enrolment::of(context.home()?);
    match &args.command {
        Command::Enroll => enroll_secret(context, &codes),
        Command::Verify { code } => verify_code(context, &codes, code),
        Command::Status => print_status(context, &codes),
        Command::Remove { proof } => {
            if !codes.is_enabled() {
                return Err(CommandError::user("codes are not set up"));
            }
            confirm::require_confirmation(context, Action::TotpRemove, json!({}), proof)?;
            codes.remove()?;
            print_status(context, &codes)
        }
    }
}

fn enroll_secret(context: &Context, codes: &Enrolment) -> Result<ExitCode, CommandError> {
    if codes.is_enabled() {
        let error = CommandError::user("codes are already set up");
        return Err(error.hint("to use another app, first run `tenterhook approvals totp remove`"));
    }
    confirm::require_confirmation(
        context,
        Action::TotpEnroll,
        json!({"state": "begun"}),
        &ProofArgs::default(),
    )?;
    let secret = codes.start(now_ms())?;
    let account = format!("{}@{}", tenterhook_home::env::current_user(), host_name());
    let (text, uri) = (totp::encode_base32(&secret), totp::enrolment_uri(&secret, &account));
    if context.terminal.json {
        context.terminal.print_json(&json!({"secret": text, "uri": uri, "on": false}))?;
        return Ok(ExitCode::SUCCESS);
    }
    context.terminal.print(&format!(
        "Scan this with your authenticator app:\n\n{}\n  {DIM}or type{DIM:#} {BOLD}{text}{BOLD:#}\n  {DIM}or open{DIM:#} {uri}\n\n",
        draw_qr_code(&uri).unwrap_or_default()
    ))?;
    if let Some(code) = confirm::read_typed_line("Code that the app shows now: ")? {
        return verify_code(context, codes, &code);
    }
    context.terminal.print("activate the secret with a code: `tenterhook approvals totp verify CODE`\n")?;
    Ok(ExitCode::SUCCESS)
}

fn verify_code(context: &Context, codes: &Enrolment, code: &str) -> Result<ExitCode, CommandError> {
    let is_first = !codes.is_enabled() && codes.is_pending();
    if !is_first && !codes.is_enabled() {
        return Err(CommandError::user("codes are not set up").hint("run `tenterhook approvals totp enroll`"));
    }
    if is_first {
        // The first code activates the secret, so a guarded agent must not enter it.
        confirm::require_confirmation(
            context,
            Action::TotpEnroll,
            json!({"state": "code given"}),
            &ProofArgs::default(),
        )?;
    }
    let result = if is_first {
        codes.confirm(code, now_ms())?
    } else {
        codes.attempt_from(code_tries(context)?, code, now_ms())?
    };
    let wrong_code = if is_first { "wrong code; the secret is not active yet" } else { "wrong code" };
    match result {
        CodeResult::Accepted if is_first => print_status(context, codes),
        CodeResult::Accepted if context.terminal.json => {
            context.terminal.print_json(&json!({"right": true}))?;
            Ok(ExitCode::SUCCESS)
        }
        CodeResult::Accepted => {
            context.terminal.print(&format!("{GOOD}✓{GOOD:#} correct; this code cannot be used again\n"))?;
            Ok(ExitCode::SUCCESS)
        }
        CodeResult::Wrong => Err(CommandError::denied(wrong_code).hint("check the clock of this machine")),
        CodeResult::Used => Err(CommandError::denied("code already used").hint("wait for the next code")),
        CodeResult::TooMany => Err(CommandError::busy("too many codes tried").hint("wait a minute")),
    }
}

/// Returns the quota of attempts. A guarded agent's guesses are counted separately, so they do not use up the user's.
fn code_tries(context: &Context) -> Result<AttemptQuota, CommandError> {
    let caller = Caller::current(&Agents::of(context.home()?));
    Ok(if caller.refusal("totp verify").is_some() { AttemptQuota::Suspect } else { AttemptQuota::Ordinary })
}

fn print_status(context: &Context, codes: &Enrolment) -> Result<ExitCode, CommandError> {
    if context.terminal.json {
        context.terminal.print_json(&json!({"on": codes.is_enabled(), "begun": codes.is_pending()}))?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = if codes.is_enabled() {
        format!("{GOOD}✓{GOOD:#} codes are set up: every privileged action needs one\n")
    } else if codes.is_pending() {
        format!(
            "{WARN}not active yet{WARN:#}: activate the secret with `tenterhook approvals totp verify CODE`\n"
        )
    } else {
        "codes are not set up: privileged actions are confirmed on a terminal\n".to_owned()
    };
    context.terminal.print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}
