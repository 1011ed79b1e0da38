// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Lets another process pace the agent (`agent run --stepwise`). Before each reply of the model, and at each question
//! to the user, the agent marks the end of its output and waits for a line on standard input. `demo` uses this to
//! show one page at a time. The agent stops at the end of the input.

use std::io::BufRead;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use tenterhook_agent::provider::{ModelReply, ModelRequest, Provider, ProviderError, ReplyDelta};
use tenterhook_agent::{CancelToken, PermissionAnswer, PermissionPrompt, PermissionQuestion};

use super::terminal_user;
use crate::terminal::Terminal;

/// Separate line that ends a step; the next line of input starts the next step. The agent's output cannot contain
/// control characters, see `terminal::tame`.
pub(crate) const STEP_END: &str = "\u{1e}";
/// Separate line that ends a question; the next line of input is the answer.
pub(crate) const QUESTION_END: &str = "\u{5}";

/// Provider that waits for a line of input before each reply.
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
        deltas: &'a mut (dyn FnMut(ReplyDelta) + Send),
        cancel: &'a CancelToken,
    ) -> BoxFuture<'a, Result<ModelReply, ProviderError>> {
        Box::pin(async move {
            drop(self.terminal.print_raw(&format!("{STEP_END}\n"), ""));
            let line = cancel.or(read_line()).await.flatten();
            line.ok_or_else(ProviderError::cancelled)?;
            self.inner.generate(request, deltas, cancel).await
        })
    }
}

/// Asks the user through the process that paces the agent.
pub(super) struct SteppedUser {
    pub(super) terminal: Terminal,
}

impl PermissionPrompt for SteppedUser {
    fn ask<'a>(&'a self, question: &'a PermissionQuestion) -> BoxFuture<'a, PermissionAnswer> {
        Box::pin(async move {
            drop(self.terminal.print(&format!("{}\n", terminal_user::question_text(question))));
            drop(self.terminal.print_raw(&format!("{QUESTION_END}\n"), ""));
            read_line().await.map_or(PermissionAnswer::Unavailable, |line| terminal_user::parse_answer(&line))
        })
    }
}

/// Reads the next line of standard input; `None` at the end of the input.
async fn read_line() -> Option<String> {
    // The read cannot be cancelled, and the process does not wait for it when it ends.
    let read = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        std::io::stdin().lock().read_line(&mut line).ok().filter(|read| *read > 0)?;
        Some(line)
    });
    read.await.ok().flatten()
}
