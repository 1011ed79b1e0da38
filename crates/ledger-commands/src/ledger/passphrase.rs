// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads the passphrase of a sealed key from a file or the terminal. The passphrase is never an argument, because
//! every process on the machine can read arguments.

use std::io::{BufRead as _, Write as _};
use std::path::Path;

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use tenterhook_guard::{LedgerHandle, read_passphrase};

use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BOLD, Terminal};

/// Opens the ledger for writing, and asks for the passphrase if necessary.
pub(super) fn open_for_writing(context: &Context, file: Option<&Path>) -> Result<LedgerHandle, CommandError> {
    let book = open_if_passphrase_known(LedgerHandle::of(context.home()?), file)?;
    if !book.needs_passphrase() {
        return Ok(book);
    }
    let passphrase = prompt_passphrase(context.terminal, "Passphrase of the ledger's key")?;
    Ok(book.with_passphrase(passphrase))
}

/// Opens the ledger with the passphrase from a file, and never asks. Without a passphrase, a sealed key cannot sign.
pub(super) fn open_if_passphrase_known(
    book: LedgerHandle,
    file: Option<&Path>,
) -> Result<LedgerHandle, CommandError> {
    Ok(match file {
        Some(file) => book.with_passphrase(read_passphrase(file)?),
        None => book,
    })
}

/// Reads a new passphrase, asking for it twice.
pub(super) fn read_new_passphrase(terminal: Terminal, file: Option<&Path>) -> Result<String, CommandError> {
    if let Some(file) = file {
        return read_passphrase(file);
    }
    let first = prompt_passphrase(terminal, "New passphrase")?;
    if first.is_empty() {
        return Err(CommandError::user("the passphrase is empty"));
    }
    if first != prompt_passphrase(terminal, "Repeat the passphrase")? {
        return Err(CommandError::user("the passphrases differ; nothing was changed"));
    }
    Ok(first)
}

/// Reads a line without echo.
pub(super) fn prompt_passphrase(terminal: Terminal, question: &str) -> Result<String, CommandError> {
    if !Terminal::is_interactive() {
        return Err(CommandError::user("a passphrase is needed, but standard input is not a terminal")
            .hint("write it to a file that only you can read, and use `--passphrase-file FILE`"));
    }
    write!(terminal.stderr(), "{BOLD}{question}:{BOLD:#} ")?;
    let hidden = HiddenInput::begin()?;
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    drop(hidden);
    writeln!(terminal.stderr())?;
    read?;
    Ok(line.trim_end_matches(['\n', '\r']).to_owned())
}

/// Turns off the terminal's echo while this value exists.
struct HiddenInput(Termios);

impl HiddenInput {
    fn begin() -> Result<Self, CommandError> {
        let before = tcgetattr(std::io::stdin()).map_err(std::io::Error::from)?;
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHO);
        tcsetattr(std::io::stdin(), OptionalActions::Flush, &quiet).map_err(std::io::Error::from)?;
        Ok(Self(before))
    }
}

impl Drop for HiddenInput {
    fn drop(&mut self) {
        // A failure cannot be reported here.
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Flush, &self.0);
    }
}
