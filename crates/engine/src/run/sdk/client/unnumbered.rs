// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Answers without `call_id`, from clients of the A3S design's own proto.

use std::sync::Arc;

use super::{Over, Pending, State, Unwanted};
use crate::HookId;
use crate::run::Failure;
use crate::run::sdk::question::{Question, Reply};

impl State {
    /// The question that an answer without `call_id` is for. An answer to a question that was given up may still come
    /// on the same stream, and must not count for another: then, and if several are open, all of them have failed.
    pub(super) fn open_question(&mut self, reply: &Reply) -> Result<u64, Unwanted> {
        self.unnumbered = true;
        let of_hook =
            |pending: &Pending| *pending.question.hook == *reply.hook && reply.is_about(&pending.question);
        let open: Vec<_> = self.pending.iter().filter(|(_, it)| of_hook(it)).map(|(id, _)| *id).collect();
        let stream = self.streams;
        let given_up = self.over.iter().position(|finished| {
            *finished.hook == *reply.hook && finished.over == Over::Cancelled && finished.stream == stream
        });
        match (open.as_slice(), given_up) {
            ([only], None) => Ok(*only),
            ([only], Some(_)) if !reply.event_id.is_empty() => Ok(*only),
            ([], None) => Err(Unwanted::Unknown),
            ([], Some(late)) => {
                self.over.get_mut(late).into_iter().for_each(|late| late.over = Over::Answered);
                Err(Unwanted::TooLate)
            }
            (open, _) => {
                for call_id in open {
                    let Some(Pending { question, answer }) = self.pending.remove(call_id) else { continue };
                    self.remember(*call_id, &question.hook, Over::Cancelled);
                    let _ = answer.send(Err(Failure::Failed(Unwanted::Ambiguous.to_string())));
                }
                Err(Unwanted::Ambiguous)
            }
        }
    }

    /// What a question waits for that must be the only one of its hook.
    pub(super) fn turn(&mut self, hook: &HookId) -> Option<Arc<tokio::sync::Mutex<()>>> {
        self.unnumbered.then(|| Arc::clone(self.turns.entry(Arc::clone(hook)).or_default()))
    }
}

impl Reply {
    /// Whether the event is the one of the question. Without `call_id` it need not be said.
    pub(super) fn is_about(&self, question: &Question) -> bool {
        let is_open = self.call_id.is_none() && self.event_id.is_empty();
        is_open || question.event_id.to_string() == self.event_id
    }
}
