// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `ledger key`: shows, rotates, seals and unseals the signing key.

use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};
use tenterhook_authority::Action;
use tenterhook_guard::{LedgerHandle, read_passphrase};
use tenterhook_ledger::{Argon2Cost, SoftwareKey};
use tenterhook_records::recorded::JsonField as _;

use super::checkpoint::append_error;
use super::{passphrase, read_error};
use crate::confirm::{self, ProofArgs};
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BOLD, DIM, GOOD, WARN};

const EXAMPLES: &str = "\
The key is in the ledger's directory, readable only by its owner. The agent runs under your account, so it could \
read it; a sealed key cannot be used without its passphrase. Hooks cannot ask for it: they write to the spool \
until a user who has the passphrase opens the ledger, or they read it from the file in \
`ledger.key.passphrase_file` of your `tenterhook.yaml`.

Examples:
  tenterhook ledger key show
  tenterhook ledger key seal
  tenterhook ledger key rotate
  tenterhook ledger key unseal --passphrase-file /media/stick/passphrase";

/// Show, rotate, seal and unseal the signing key
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Show the signing key, and whether it is sealed
    Show,
    /// Replace the signing key; both keys sign the record of the change
    Rotate(ConfirmArgs),
    /// Encrypt the key with a passphrase
    Seal,
    /// Store the key unencrypted again, readable only by its owner
    Unseal(ConfirmArgs),
}

/// Options that confirm the action.
#[derive(Debug, clap::Args)]
struct ConfirmArgs {
    /// Accepted for scripts; a typed confirmation or a code is still needed
    #[arg(long, short, hide = true)]
    yes: bool,
    #[command(flatten)]
    proof: ProofArgs,
}

pub(super) fn run(context: &Context, args: &Args, file: Option<&Path>) -> Result<ExitCode, CommandError> {
    // Fails without a ledger, instead of creating one.
    LedgerHandle::of(context.home()?).reader()?;
    match &args.command {
        Command::Show => show_key(context),
        Command::Rotate(confirmation) => rotate_key(context, &confirmation.proof, file),
        Command::Seal => seal_key(context, file),
        Command::Unseal(confirmation) => unseal_key(context, &confirmation.proof, file),
    }
}

fn show_key(context: &Context) -> Result<ExitCode, CommandError> {
    let book = LedgerHandle::of(context.home()?);
    let key = book.reader()?.key().map_err(read_error)?;
    let key = key.ok_or_else(|| CommandError::internal("the ledger has no key"))?;
    let sealed = SoftwareKey::is_sealed(&book.key_file());
    if context.terminal.json {
        let (id, file) = (key.id(), book.key_file());
        context
            .terminal
            .print_json(&json!({"key": key.to_string(), "id": id, "sealed": sealed, "file": file}))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = format!(
        "{BOLD}{key}{BOLD:#}\n  {DIM}id{DIM:#}     {}\n  {DIM}file{DIM:#}   {}\n",
        key.id(),
        book.key_file().display()
    );
    text += &format!(
        "  {DIM}sealed{DIM:#} {}\n",
        if sealed { "yes, with a passphrase" } else { "no: every process of your account can sign" }
    );
    if book.settings().sealed && !sealed {
        text += &format!(
            "{WARN}warning{WARN:#}: your settings require a sealed key; run `tenterhook ledger key seal`\n"
        );
    }
    context.terminal.print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn rotate_key(context: &Context, proof: &ProofArgs, file: Option<&Path>) -> Result<ExitCode, CommandError> {
    let path = "/v1/ledger/key/rotate";
    let asked = confirm::ask_daemon(context, Action::KeyRotate, path, json!({}), proof)?;
    let rotated = asked.map_or_else(|| rotate_without_daemon(context, proof, file), Ok)?;
    if context.terminal.json {
        context.terminal.print_json(&rotated)?;
    } else {
        let part = |name: &str| rotated.field(name).as_str().unwrap_or_default().to_owned();
        let (key, note) = (part("key"), part("checkpoint"));
        let text = format!(
            "{GOOD}✓{GOOD:#} new signing key\n  {DIM}key{DIM:#} {key}\n\n{DIM}keep this checkpoint; it is signed by both keys:{DIM:#}\n{note}"
        );
        context.terminal.print(&text)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn rotate_without_daemon(
    context: &Context,
    proof: &ProofArgs,
    file: Option<&Path>,
) -> Result<Value, CommandError> {
    confirm::require_confirmation(context, Action::KeyRotate, Value::Null, proof)?;
    let book = passphrase::open_for_writing(context, file)?;
    let ledger = book.writer()?;
    let note = ledger.rotate(None).map_err(|error| append_error(&error))?;
    book.close(ledger).map_err(|error| append_error(&error))?;
    let key = book.reader()?.key().map_err(read_error)?.map(|key| key.to_string()).unwrap_or_default();
    Ok(json!({"key": key, "checkpoint": note}))
}

fn seal_key(context: &Context, file: Option<&Path>) -> Result<ExitCode, CommandError> {
    let book = LedgerHandle::of(context.home()?);
    if SoftwareKey::is_sealed(&book.key_file()) {
        return Err(CommandError::user("the key is already sealed")
            .hint("to change the passphrase, run `tenterhook ledger key unseal`, then seal it again"));
    }
    let passphrase = passphrase::read_new_passphrase(context.terminal, file)?;
    change_key(context, Action::KeySeal, book, &passphrase, &ProofArgs::default())?;
    let hint = "it was stored unencrypted until now; replace it by a new key: `tenterhook ledger key rotate`";
    report_change(context, "the key is sealed", hint, &json!({"sealed": true}))
}

fn unseal_key(context: &Context, proof: &ProofArgs, file: Option<&Path>) -> Result<ExitCode, CommandError> {
    let book = LedgerHandle::of(context.home()?);
    if !SoftwareKey::is_sealed(&book.key_file()) {
        return Err(CommandError::user("the key is not sealed"));
    }
    context.terminal.eprint("Every process of your account will be able to sign with the unsealed key.\n")?;
    let settings = book.settings().passphrase_file.clone();
    let current_passphrase = match file.or(settings.as_deref()) {
        Some(file) => read_passphrase(file)?,
        None => passphrase::prompt_passphrase(context.terminal, "Passphrase of the ledger's key")?,
    };
    change_key(context, Action::KeyUnseal, book, &current_passphrase, proof)?;
    report_change(context, "the key is unsealed, readable only by its owner", "", &json!({"sealed": false}))
}

/// Asks for confirmation, then makes the change in the daemon or, without one, in this process.
fn change_key(
    context: &Context,
    action: Action,
    book: LedgerHandle,
    passphrase: &str,
    proof: &ProofArgs,
) -> Result<(), CommandError> {
    let path = if action == Action::KeySeal { "/v1/ledger/key/seal" } else { "/v1/ledger/key/unseal" };
    if confirm::ask_daemon(context, action, path, json!({"passphrase": passphrase}), proof)?.is_some() {
        return Ok(());
    }
    confirm::require_confirmation(context, action, Value::Null, proof)?;
    let book = if action == Action::KeySeal { book } else { book.with_passphrase(passphrase.to_owned()) };
    let ledger = book.writer()?;
    let changed = match action {
        Action::KeySeal => SoftwareKey::seal_in_place(&book.key_file(), passphrase, Argon2Cost::default()),
        _ => SoftwareKey::unseal_in_place(&book.key_file(), passphrase),
    };
    book.close(ledger).map_err(|error| append_error(&error))?;
    changed.map_err(|error| CommandError::internal(error.to_string()))
}

fn report_change(
    context: &Context,
    what: &str,
    hint: &str,
    answer: &Value,
) -> Result<ExitCode, CommandError> {
    if context.terminal.json {
        context.terminal.print_json(answer)?;
    } else {
        let hint_line = if hint.is_empty() { String::new() } else { format!("  {DIM}{hint}{DIM:#}\n") };
        context.terminal.print(&format!("{GOOD}✓{GOOD:#} {what}\n{hint_line}"))?;
    }
    Ok(ExitCode::SUCCESS)
}
