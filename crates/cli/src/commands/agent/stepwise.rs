// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Lets another process pace the agent (`agent run --stepwise`): before each answer of the model, and for each
//! question to the person, the agent marks the end of its output and waits for a line on standard input.
//! `demo` uses it to show one page at a time. At the end of the input the agent stops.

use std::io::BufRead;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use tenterhook_agent::provider::{Delta, ModelReply, ModelRequest, Provider, ProviderError};
use tenterhook_agent::{Answer, Ask, Cancel, Question};

use super::person;
use crate::terminal::Terminal;

/// A line of its own: the step is over, and the next line of input starts another. Text of the agent cannot
/// contain control characters, see `terminal::tame`.
pub(crate) const STEP_END: &str = "\u{1e}";
/// A line of its own: the text above is a question, and the next line of input is the answer.
pub(crate) const QUESTION_END: &str = "\u{5}";

/// A model that answers when it is told to.
pub(super) struct SteppedProvider {
    pub(super) inner: Arc<dyn Provider>,
    pub(super) terminal: Terminal,
}

impl Provider for SteppedProvider {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn generate<'a>(
        &'a self,
        request: &'a ModelRequest,
        deltas: &'a mut (dyn FnMut(Delta) + Send),
        cancel: &'a Cancel,
    ) -> BoxFuture<'a, Result<ModelReply, ProviderError>> {
        Box::pin(async move {
            drop(self.terminal.exactly(&format!("{STEP_END}\n"), ""));
            let line = cancel.or(read_line()).await.flatten();
            line.ok_or_else(ProviderError::cancelled)?;
            self.inner.generate(request, deltas, cancel).await
        })
    }
}

/// A person who is asked by the process that paces the agent.
pub(super) struct SteppedPerson {
    pub(super) terminal: Terminal,
}

impl Ask for SteppedPerson {
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            drop(self.terminal.say(&format!("{}\n", person::text(question))));
            drop(self.terminal.exactly(&format!("{QUESTION_END}\n"), ""));
            read_line().await.map_or(Answer::Nobody, |line| person::answer(&line))
        })
    }
}

/// The next line of standard input; `None` at its end.
async fn read_line() -> Option<String> {
    // Reading cannot be cancelled; the process does not wait for it when it ends.
    let read = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        std::io::stdin().lock().read_line(&mut line).ok().filter(|read| *read > 0)?;
        Some(line)
    });
    read.await.ok().flatten()
}
