// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Confirms privileged actions. The daemon decides whether an action is confirmed; without a daemon, this module
//! applies the same rules.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tenterhook_authority::{Action, Authority, Caller, Proof, ProofRequirement};
use tenterhook_daemon_control::ask;
use tenterhook_daemon_control::gate::{caller_standing, local_authority};
use tenterhook_guard::LedgerHandle;
use tenterhook_home::call_meta;

use crate::context::Context;
use crate::error::CommandError;

/// Maximum size of a typed line and of a code file.
const MAX_TYPED_BYTES: u64 = 256;

/// Options that prove a user's presence without typing on a terminal.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ProofArgs {
    /// Code from your authenticator app, if codes are set up
    #[arg(long, value_name = "CODE", conflicts_with = "code_file")]
    code: Option<String>,
    /// Read the code from a file; `-` is standard input
    #[arg(long, value_name = "FILE")]
    code_file: Option<PathBuf>,
}

impl ProofArgs {
    fn is_given(&self) -> bool {
        self.code.is_some() || self.code_file.is_some()
    }
}

/// Requires the user's confirmation of a privileged action. A confirmation or refusal is recorded.
pub fn require_confirmation(
    context: &Context,
    action: Action,
    detail: Value,
    args: &ProofArgs,
) -> Result<(), CommandError> {
    let home = context.home()?;
    let proof = collect_proof(context, action, args)?;
    let body = json!({"action": action.name(), "detail": detail, "proof": proof});
    if ask::request(home, "POST", "/v1/authority", Some(&body))?.is_some() {
        return Ok(());
    }
    home.create()?;
    let authority = local_authority(home);
    let caller = Caller::current(&authority.agents);
    let result = authority.admit(action, &caller, &proof, call_meta::now_ms());
    let (change, detail) = Authority::change_record(action, &caller, &result, detail);
    LedgerHandle::of(home).record_change(change, detail)?;
    result.map(drop).map_err(CommandError::from)
}

/// Asks the daemon to carry out a privileged action. Returns `None`, with nothing done, if no daemon is running.
pub fn ask_daemon(
    context: &Context,
    action: Action,
    path: &str,
    mut body: Value,
    args: &ProofArgs,
) -> Result<Option<Value>, CommandError> {
    let home = context.home()?;
    if !ask::is_up(home) {
        return Ok(None);
    }
    if let Some(body) = body.as_object_mut() {
        body.insert("proof".to_owned(), json!(collect_proof(context, action, args)?));
    }
    ask::request(home, "POST", path, Some(&body))
}

/// Collects the proof that the action needs. A caller without proof is refused later, and the refusal is recorded.
pub fn collect_proof(context: &Context, action: Action, args: &ProofArgs) -> Result<Proof, CommandError> {
    let (needs, guarded) = caller_standing(context.home()?, action)?;
    // A guarded agent is not prompted; it can only pass a code as an argument.
    if guarded {
        let code = if args.is_given() { read_code(args)? } else { None };
        return Ok(Proof { code, tty: false });
    }
    Ok(match needs {
        ProofRequirement::Nothing => Proof::default(),
        ProofRequirement::Code => Proof { code: read_code(args)?, tty: false },
        ProofRequirement::Tty => Proof { tty: confirm_on_terminal(action)?, code: None },
    })
}

/// Whether the caller can confirm the action: no proof is needed, a code is given, or a terminal can be read.
pub fn can_confirm(context: &Context, action: Action, args: &ProofArgs) -> Result<bool, CommandError> {
    let (needs, guarded) = caller_standing(context.home()?, action)?;
    Ok(needs == ProofRequirement::Nothing || args.is_given() || (!guarded && open_terminal().is_some()))
}

/// Opens the controlling terminal, if this process is in its foreground. In the background, reading would stop the process
/// until the user brings it to the foreground.
fn open_terminal() -> Option<File> {
    let terminal = File::options().read(true).write(true).open("/dev/tty").ok()?;
    (rustix::termios::tcgetpgrp(&terminal).ok() == Some(rustix::process::getpgrp())).then_some(terminal)
}

/// Reads the code from the arguments, or from the terminal.
pub fn read_code(args: &ProofArgs) -> Result<Option<String>, CommandError> {
    match (&args.code, &args.code_file) {
        (Some(code), _) => Ok(Some(code.clone())),
        (None, Some(path)) => Ok(Some(read_code_file(path)?.trim().to_owned())),
        (None, None) => read_typed_line("Code from your authenticator app: "),
    }
}

/// Reads a line from the controlling terminal, even if standard input is redirected. Returns `None` without a
/// terminal, or if this process is in the background.
pub fn read_typed_line(question: &str) -> Result<Option<String>, CommandError> {
    let Some(mut terminal) = open_terminal() else { return Ok(None) };
    terminal.write_all(question.as_bytes())?;
    let mut line = String::new();
    BufReader::new(terminal.take(MAX_TYPED_BYTES)).read_line(&mut line)?;
    Ok(Some(line.trim().to_owned()))
}

/// Asks the user to type the name of the action.
fn confirm_on_terminal(action: Action) -> Result<bool, CommandError> {
    let question = format!("This weakens your protection. Type `{action}` to continue: ");
    match read_typed_line(&question)? {
        Some(line) if line == action.name() => Ok(true),
        Some(_) => Err(CommandError::internal(format!("you did not type `{action}`; nothing was changed"))),
        None => Ok(false),
    }
}

fn read_code_file(path: &Path) -> Result<String, CommandError> {
    let mut text = String::new();
    if path == Path::new("-") {
        std::io::stdin().lock().take(MAX_TYPED_BYTES).read_to_string(&mut text)?;
    } else {
        fs_err::File::open(path)
            .and_then(|file| file.take(MAX_TYPED_BYTES).read_to_string(&mut text))
            .map_err(|error| CommandError::user(error.to_string()))?;
    }
    Ok(text)
}
