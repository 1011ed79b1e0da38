// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The gate before everything that loosens protection, as a command comes to it: the daemon keeps it,
//! and where there is none the same rules are applied here.

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

/// More than anybody types, in bytes.
const MAX_TYPED_BYTES: u64 = 256;

/// What shows that a person is there, where nobody can type.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct ProofArgs {
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

/// Passes the gate, or fails. What is done is on record when it returns; so is a refusal.
pub(crate) fn require_confirmation(
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
    let (what, detail) = Authority::change_record(action, &caller, &result, detail);
    LedgerHandle::of(home).record_change(what, detail)?;
    result.map(drop).map_err(CommandError::from)
}

/// Lets the daemon do something that passes the gate, where one runs. `None`: none does, and nothing was done.
pub(crate) fn ask_daemon(
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

/// What the caller shows for it. Whoever has nothing to show is refused later, on the record.
pub(crate) fn collect_proof(
    context: &Context,
    action: Action,
    args: &ProofArgs,
) -> Result<Proof, CommandError> {
    let (needs, guarded) = caller_standing(context.home()?, action)?;
    // An agent must not be made to wait for somebody who types; a code that is given counts.
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

/// A code: given, or typed on the terminal.
pub(crate) fn read_code(args: &ProofArgs) -> Result<Option<String>, CommandError> {
    match (&args.code, &args.code_file) {
        (Some(code), _) => Ok(Some(code.clone())),
        (None, Some(path)) => Ok(Some(read_code_file(path)?.trim().to_owned())),
        (None, None) => read_typed_line("Code of your authenticator app: "),
    }
}

/// What a person types on the terminal, whatever standard input is. `None`: there is none, or it is
/// somebody else's turn on it.
pub(crate) fn read_typed_line(question: &str) -> Result<Option<String>, CommandError> {
    let opened = File::options().read(true).write(true).open("/dev/tty");
    let Ok(mut terminal) = opened else { return Ok(None) };
    // In the background, reading would stop us until somebody brings us forward.
    if rustix::termios::tcgetpgrp(&terminal).ok() != Some(rustix::process::getpgrp()) {
        return Ok(None);
    }
    terminal.write_all(question.as_bytes())?;
    let mut line = String::new();
    BufReader::new(terminal.take(MAX_TYPED_BYTES)).read_line(&mut line)?;
    Ok(Some(line.trim().to_owned()))
}

/// Whether somebody typed the name of what is to be done.
fn confirm_on_terminal(action: Action) -> Result<bool, CommandError> {
    let question = format!("This loosens your protection. Type `{action}` to go on: ");
    match read_typed_line(&question)? {
        Some(line) if line == action.name() => Ok(true),
        Some(_) => Err(CommandError::internal(format!("that was not `{action}`; nothing is done"))),
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
