// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs writer commands and the ledger's writer thread. The writer is released before replies are sent, so that a
//! slow caller does not block others.

use super::error::AppendError;
use super::ledger::{Appended, Command, WriterReply};
use super::writer::Writer;
use super::writer_queue::{WriterGuard, WriterQueue, WriterWork};
use crate::entry::SealedEntry;

/// Runs a command, releases the writer and sends the reply.
pub(super) fn run_command(mut guard: WriterGuard<'_>, command: Command) {
    match command {
        Command::Append(entry, reply) => {
            let result = guard.with_writer(|writer| writer.append(&entry));
            drop(guard);
            reply.send(result);
        }
        Command::Checkpoint(reply) => {
            let result = guard.with_writer(Writer::checkpoint);
            drop(guard);
            reply.send(result);
        }
        Command::Rotate(new, reply) => {
            let result = guard.with_writer(|writer| writer.rotate(new));
            drop(guard);
            reply.send(result);
        }
        Command::Remove(removal, reply) => {
            let result = guard.with_writer(|writer| writer.remove(&removal));
            drop(guard);
            reply.send(result);
        }
        Command::RebuildIndex(who, reply) => {
            let result = guard.with_writer(|writer| writer.rebuild_index(&who));
            drop(guard);
            reply.send(result);
        }
        Command::Close(reply) => reply.send(guard.close()),
    }
}

/// Runs the ledger's thread: commits queued entries until the ledger is closed.
pub(super) fn run_writer_thread(queue: &WriterQueue) {
    while let Some((mut guard, work)) = queue.next_work() {
        match work {
            WriterWork::Appends(appends) => commit_appends(guard, appends),
            WriterWork::Other(command) => run_command(guard, command),
            WriterWork::Due => drop(guard.with_writer(|writer| {
                writer.run_maintenance();
                Ok(())
            })),
        }
    }
}

/// Records the entries in as few commits as possible, and sends the replies.
fn commit_appends(mut guard: WriterGuard<'_>, appends: Vec<(Box<SealedEntry>, WriterReply<Appended>)>) {
    let mut results = Vec::with_capacity(appends.len());
    while results.len() < appends.len() {
        let rest = appends.iter().skip(results.len()).map(|(entry, _)| &**entry);
        match guard.with_writer(|writer| writer.commit(rest)) {
            Ok(committed) if !committed.is_empty() => results.extend(committed),
            Ok(_) => results.resize(appends.len(), Err(AppendError::Closed)),
            Err(error) => results.resize(appends.len(), Err(error)),
        }
    }
    drop(guard);
    for ((_, reply), result) in appends.into_iter().zip(results) {
        reply.send(result);
    }
}
