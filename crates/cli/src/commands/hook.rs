// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::process::ExitCode;
use std::sync::Arc;

use tenterhook_event::{Call, Decided, Decision, Event, Finding, Origin, Outcome};
use tenterhook_harness::{Door, Harness, Reply};
use tenterhook_home::{Book, Memory, Place, Road, secrets};
use tenterhook_ledger::Entry;

use crate::context::Context;
use crate::error::CommandError;
use crate::intake;
use crate::until;

const EXAMPLES: &str = "\
A harness runs this; people rarely do. The payload is read from standard input, the harness's own
reply goes to standard output, and the decision into the ledger.

Examples:
  tenterhook hook claude-code pre-tool-use < payload.json";

/// Answer one hook call of a harness
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The harness: claude-code, codex, cursor, gemini, …
    harness: String,
    /// The event: PreToolUse, pre-tool-use or pre-tool
    event: String,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let harness = intake::harness(&args.harness)?;
    // From here on a failure is an answer to the harness: what can be prevented is prevented.
    let reply = answer(context, harness, &args.event)
        .unwrap_or_else(|error| harness.refuse(&args.event, &error.message));
    match context.terminal.reply(&reply.stdout, &reply.stderr) {
        Ok(()) => Ok(ExitCode::from(reply.exit)),
        // An answer that does not reach the harness counts as none; only the exit code is left.
        Err(error) => Err(CommandError::unusable(format!("the reply could not be written: {error}"))),
    }
}

fn answer(context: &Context, harness: &Harness, event: &str) -> Result<Reply, CommandError> {
    let payload = intake::payload(None)?;
    let home = context.home()?;
    home.make()?;
    let book = Arc::new(Book::of(home));
    let door = context.door(harness, event)?;
    let call = match harness.decode(&door, &payload) {
        Ok(call) => call,
        Err(error) => {
            record_refusal(&book, harness, &door, &error.to_string())?;
            return Err(CommandError::unusable(error.to_string()));
        }
    };
    let road = Road::open(home, &context.env, &Place::of(&call.event), Memory::Ledger(Arc::clone(&book)))?;
    let mut reply = harness.encode(&call, &until::fire(&road, &call)?);
    if harness.event(&call.event.native_event).is_none() {
        reply.stderr += &format!(
            "tenterhook: warning: `{}` is no event of {} that is known here; it was recorded as `other`\n",
            call.event.native_event, harness.title
        );
    }
    for note in book.notes() {
        reply.stderr += &format!("tenterhook: warning: {note}\n");
    }
    Ok(reply)
}

/// A payload nobody could read is an event too.
fn record_refusal(book: &Book, harness: &Harness, door: &Door, why: &str) -> Result<(), CommandError> {
    let row = harness.event(&door.event);
    let kind = row.map_or(tenterhook_event::EventKind::Other, |row| row.kind);
    let name = row.map_or(door.event.as_str(), |row| row.native);
    let event = Event::new(door.id, door.ts, harness.id, kind, name);
    let finding = Finding::decided(Origin::Engine, Decision::Deny, why);
    let outcome = tenterhook_engine::fold::strengthen(Outcome::default(), finding);
    let call = Call { event, native: None };
    let decided = Decided { call: &call, outcome: &outcome, generation: "", took_us: 0, facts: None };
    book.keep(vec![Entry::decision(&decided, &secrets)]).map_err(CommandError::failed)
}
