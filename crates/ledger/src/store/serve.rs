// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What is done in a turn of the writer. The writer goes back before anybody is told, so that who
//! is slow to hear holds up nobody.

use super::append::Writer;
use super::desk::{Desk, Turn, Work};
use super::error::AppendError;
use super::ledger::{Appended, Command, Reply};
use crate::entry::Sealed;

/// Does what the writer is told, gives it back, and tells how it went.
pub(super) fn run(mut turn: Turn<'_>, command: Command) {
    match command {
        Command::Append(entry, reply) => {
            let result = turn.write(|writer| writer.append(&entry));
            drop(turn);
            reply.tell(result);
        }
        Command::Checkpoint(reply) => {
            let result = turn.write(Writer::checkpoint);
            drop(turn);
            reply.tell(result);
        }
        Command::Rotate(new, reply) => {
            let result = turn.write(|writer| writer.rotate(new));
            drop(turn);
            reply.tell(result);
        }
        Command::Remove(removal, reply) => {
            let result = turn.write(|writer| writer.remove(&removal));
            drop(turn);
            reply.tell(result);
        }
        Command::RebuildIndex(who, reply) => {
            let result = turn.write(|writer| writer.rebuild_index(&who));
            drop(turn);
            reply.tell(result);
        }
        Command::Close(reply) => reply.tell(turn.close()),
    }
}

/// The ledger's thread: commits what is queued, until the ledger is closed.
pub(super) fn serve(desk: &Desk) {
    while let Some((mut turn, work)) = desk.next() {
        match work {
            Work::Appends(appends) => commit(turn, appends),
            Work::Other(command) => run(turn, command),
            Work::Due => drop(turn.write(|writer| {
                writer.tend();
                Ok(())
            })),
        }
    }
}

/// Commits all of these, in more than one commit if they are many, and tells each.
fn commit(mut turn: Turn<'_>, appends: Vec<(Box<Sealed>, Reply<Appended>)>) {
    let mut told = Vec::with_capacity(appends.len());
    while told.len() < appends.len() {
        let rest = appends.iter().skip(told.len()).map(|(entry, _)| &**entry);
        match turn.write(|writer| writer.commit(rest)) {
            Ok(results) if !results.is_empty() => told.extend(results),
            Ok(_) => told.resize(appends.len(), Err(AppendError::Closed)),
            Err(error) => told.resize(appends.len(), Err(error)),
        }
    }
    drop(turn);
    for ((_, reply), result) in appends.into_iter().zip(told) {
        reply.tell(result);
    }
}
