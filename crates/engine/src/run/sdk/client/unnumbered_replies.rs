// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Handles replies without `call_id`, from clients that use the original proto file of the A3S design.

use std::sync::Arc;

use super::{CallEnd, ClientState, PendingSdkCall, RejectedReply};
use crate::HookId;
use crate::run::RunFailure;
use crate::run::sdk::messages::{SdkCall, SdkReply};

impl ClientState {
    /// Finds the call to which a reply without `call_id` belongs. A late reply to a cancelled call can arrive on the
    /// same stream and must not be used for another call. If that is possible, or if several calls are pending, all
    /// calls of the hook fail.
    pub(super) fn match_unnumbered(&mut self, reply: &SdkReply) -> Result<u64, RejectedReply> {
        self.replies_unnumbered = true;
        let of_hook =
            |pending: &PendingSdkCall| *pending.call.hook == *reply.hook && reply.matches(&pending.call);
        let open: Vec<_> =
            self.pending.iter().filter(|(_, pending)| of_hook(pending)).map(|(id, _)| *id).collect();
        let stream = self.stream_count;
        let cancelled = self.finished.iter().position(|finished| {
            *finished.hook == *reply.hook && finished.end == CallEnd::Cancelled && finished.stream == stream
        });
        match (open.as_slice(), cancelled) {
            ([only], None) => Ok(*only),
            ([only], Some(_)) if !reply.event_id.is_empty() => Ok(*only),
            ([], None) => Err(RejectedReply::UnknownCall),
            ([], Some(late)) => {
                self.finished.get_mut(late).into_iter().for_each(|late| late.end = CallEnd::Answered);
                Err(RejectedReply::TooLate)
            }
            (open, _) => {
                for call_id in open {
                    let Some(PendingSdkCall { call, answer }) = self.pending.remove(call_id) else {
                        continue;
                    };
                    self.remember_finished(*call_id, &call.hook, CallEnd::Cancelled);
                    let _ = answer.send(Err(RunFailure::Failed(RejectedReply::Ambiguous.to_string())));
                }
                Err(RejectedReply::Ambiguous)
            }
        }
    }

    /// Returns the lock that limits a hook to one call at a time, if the client replies without `call_id`.
    pub(super) fn sequence_lock(&mut self, hook: &HookId) -> Option<Arc<tokio::sync::Mutex<()>>> {
        self.replies_unnumbered.then(|| Arc::clone(self.sequence_locks.entry(Arc::clone(hook)).or_default()))
    }
}

impl SdkReply {
    /// Returns whether the reply belongs to the event of the call. Without `call_id`, the event id is optional.
    pub(super) fn matches(&self, call: &SdkCall) -> bool {
        let names_no_event = self.call_id.is_none() && self.event_id.is_empty();
        names_no_event || call.event_id.to_string() == self.event_id
    }
}
