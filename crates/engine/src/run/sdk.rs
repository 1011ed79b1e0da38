// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A hook that is a function in another program. The program is a [`Client`]: it opens a stream, is asked
//! on it and answers on it, in any order. Whatever carries the stream (gRPC in the daemon) is not known here.
//!
//! A client that is slow, dead or talks nonsense fails its own hooks, as they are configured to, and
//! nobody else's: nothing here waits for a client but the very call that asked it.

mod client;
mod question;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tenterhook_event::{Call, Decision, Event, Origin};
use tenterhook_harness::dialect::a3s::{self, Session};
use tenterhook_harness::dialect::{Heard, Misheard};
use tokio::time::Instant;

pub use client::{Attached, Client, GRACE, KEPT, MOST, Unwanted};
pub use question::{FunctionError, Question, Reply, Sent, Why};
pub use tenterhook_harness::dialect::a3s::{Action, Answer};

use super::Failure;
use crate::{BoxFuture, Hook};

/// A hook's function in another program.
#[derive(Clone)]
pub struct Function {
    /// The program.
    pub client: Arc<Client>,
    /// What it wants to know beside the event, and who writes down what becomes of it.
    pub beside: Arc<dyn Beside>,
}

/// What is around the hooks of programs.
pub trait Beside: Send + Sync {
    /// What the session of an event knows.
    fn session(&self, event: &Event) -> Session {
        let _ = event;
        Session::default()
    }

    /// Whether somebody writes this down.
    fn wants(&self, what: What) -> bool {
        let _ = what;
        false
    }

    /// Writes it down. The call waits for it.
    fn note<'a>(&'a self, note: Note<'a>) -> BoxFuture<'a, ()> {
        let _ = note;
        Box::pin(std::future::ready(()))
    }
}

/// Nothing is around.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nothing;

impl Beside for Nothing {}

/// What became of a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// It is asked.
    Started,
    /// It has answered.
    Completed,
    /// It has blocked.
    Blocked,
    /// It has changed something.
    Modified,
    /// It has failed.
    Failed,
}

/// Something about a hook to be written down.
#[derive(Debug)]
pub struct Note<'a> {
    /// What.
    pub what: What,
    /// The hook.
    pub hook: &'a Hook,
    /// Its program, as people know it.
    pub client: &'a str,
    /// What it was asked about.
    pub event: &'a Event,
    /// Which question.
    pub call_id: u64,
    /// What there is to say about it.
    pub why: Option<&'a str>,
    /// How long it took.
    pub took: Duration,
}

pub(super) async fn run(
    function: &Function,
    hook: &Hook,
    call: &Call,
    by: Origin,
    limit: Duration,
    attempt: u32,
) -> Result<Heard, Failure> {
    let Function { client, beside } = function;
    let began = Instant::now();
    let session = beside.session(&call.event);
    let question = Question::new(hook, call, &session, Some(began + limit), attempt);
    let call_id = question.call_id;
    let note = |what, why| {
        let took = began.elapsed();
        Note { what, hook, client: client.name(), event: &call.event, call_id, why, took }
    };
    if beside.wants(What::Started) {
        beside.note(note(What::Started, None)).await;
    }
    let answered = client.ask(question, limit).await;
    let heard = answered.and_then(|answer| {
        a3s::heard(&call.event, by, answer).map_err(|Misheard(why)| {
            client.refuse(call_id, &why);
            Failure::Failed(why)
        })
    });
    for what in became(&heard).into_iter().flatten().filter(|what| beside.wants(*what)) {
        let why = match &heard {
            Ok(heard) => heard.finding.reason.as_deref(),
            Err(Failure::Failed(why) | Failure::Unreachable(why)) => Some(why.as_str()),
            Err(Failure::TimedOut) => Some("no answer in time"),
        };
        beside.note(note(what, why)).await;
    }
    heard
}

/// Tells an observer; whatever becomes of that decides nothing.
pub(super) fn observe(function: &Function, hook: &Hook, call: &Call) {
    let session = function.beside.session(&call.event);
    function.client.tell(Question::new(hook, call, &session, None, 1));
}

fn became(heard: &Result<Heard, Failure>) -> [Option<What>; 3] {
    match heard {
        Err(_) => [Some(What::Failed), None, None],
        Ok(heard) => {
            let finding = &heard.finding;
            let changes = !finding.modifications.is_empty() || finding.context.is_some();
            let blocks = finding.decision == Decision::Deny;
            [Some(What::Completed), changes.then_some(What::Modified), blocks.then_some(What::Blocked)]
        }
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Function").field("client", &self.client.name()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
