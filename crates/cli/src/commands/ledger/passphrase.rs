// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What opens a sealed key: from a file, or typed without being shown. Never an argument, which every
//! process on the machine could read.

use std::io::{BufRead as _, Write as _};
use std::path::Path;

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use tenterhook_guard::{LedgerHandle, read_passphrase};

use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BOLD, Terminal};

/// The record of a home, ready to be written: whoever has to say a passphrase is asked for it.
pub(super) fn open_for_writing(context: &Context, file: Option<&Path>) -> Result<LedgerHandle, CommandError> {
    let book = open_if_passphrase_known(LedgerHandle::of(context.home()?), file)?;
    if !book.needs_passphrase() {
        return Ok(book);
    }
    let passphrase = prompt_passphrase(context.terminal, "Passphrase of the ledger's key")?;
    Ok(book.with_passphrase(passphrase))
}

/// The same, but nobody is asked: what needs a passphrase that is nowhere is left undone.
pub(super) fn open_if_passphrase_known(
    book: LedgerHandle,
    file: Option<&Path>,
) -> Result<LedgerHandle, CommandError> {
    Ok(match file {
        Some(file) => book.with_passphrase(read_passphrase(file)?),
        None => book,
    })
}

/// A passphrase that is new, so it is asked for twice.
pub(super) fn new(terminal: Terminal, file: Option<&Path>) -> Result<String, CommandError> {
    if let Some(file) = file {
        return read_passphrase(file);
    }
    let first = prompt_passphrase(terminal, "New passphrase")?;
    if first.is_empty() {
        return Err(CommandError::user("an empty passphrase seals nothing"));
    }
    if first != prompt_passphrase(terminal, "The same again")? {
        return Err(CommandError::user("the two are not the same; nothing was changed"));
    }
    Ok(first)
}

/// Asks without showing what is typed.
pub(super) fn prompt_passphrase(terminal: Terminal, question: &str) -> Result<String, CommandError> {
    if !Terminal::is_interactive() {
        return Err(CommandError::user("a passphrase is needed, and there is nobody to ask")
            .hint("put it into a file that only you can read, and use `--passphrase-file FILE`"));
    }
    write!(terminal.err(), "{BOLD}{question}:{BOLD:#} ")?;
    let hidden = HiddenInput::begin()?;
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    drop(hidden);
    writeln!(terminal.err())?;
    read?;
    Ok(line.trim_end_matches(['\n', '\r']).to_owned())
}

/// As long as it lives, the terminal shows nothing of what is typed.
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
        // If it cannot be put back, there is nobody left to see it.
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Flush, &self.0);
    }
}
