// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Where the upload continues. The server's cursor decides; nothing here has to survive the process.

use std::time::{Duration, Instant};

use tenterhook_fleet_protocol::MessageId;
use tenterhook_fleet_state::UploadCursor;

/// Time after which records that were stored on the message bus, but not acknowledged, are uploaded again.
pub(crate) const ACKNOWLEDGEMENT_TIMEOUT: Duration = Duration::from_mins(5);
/// Minimum time between two requests of the server for the same records. A queue of messages behind a gap causes one
/// request each.
const RESEND_INTERVAL: Duration = Duration::from_secs(5);

/// Result of publishing a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PublishOutcome {
    /// The message bus stored the batch, or had stored it before.
    Stored {
        /// Sequence number of the message in its stream.
        sequence: u64,
    },
    /// Another message is the last one of this machine. Looking it up shows how to continue.
    OtherLastMessage,
    /// The stream is full.
    Full,
    /// The message bus did not answer.
    Unavailable(String),
    /// The message bus refused the message.
    Refused(String),
}

/// How far the records of a machine were uploaded.
#[derive(Debug, Clone)]
pub struct UploadProgress {
    /// The next record to upload.
    next: u64,
    /// Number of records that the server acknowledged.
    acknowledged: u64,
    acknowledged_at: u64,
    /// Sequence number of the machine's last message in its stream; zero if there is none.
    last_sequence: u64,
    /// Distinguishes messages that are uploaded again.
    attempt: u64,
    /// Time of the last change of `acknowledged`, or of the first upload beyond it.
    waiting_since: Option<Instant>,
    last_resend: Option<(u64, Instant)>,
}

impl UploadProgress {
    /// Continues where the server's cursor is. `stored` is the machine's last message in its stream, if its records
    /// are those of the ledger; it is on its way to the server.
    pub fn resume(
        cursor: UploadCursor,
        stored: Option<(&MessageId, u64)>,
        last_sequence: u64,
        now: Instant,
    ) -> Self {
        let in_flight = stored.map_or(0, |(id, _)| id.end);
        let next = cursor.acknowledged.max(in_flight);
        Self {
            next,
            acknowledged: cursor.acknowledged,
            acknowledged_at: cursor.acknowledged_at,
            last_sequence,
            attempt: 0,
            waiting_since: (next > cursor.acknowledged).then_some(now),
            last_resend: None,
        }
    }

    /// Returns the next record to upload.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Returns the number of records that the server acknowledged.
    pub fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// Returns the sequence number that the next message must follow.
    pub fn last_sequence(&self) -> u64 {
        self.last_sequence
    }

    /// Returns the number that distinguishes messages that are uploaded again.
    pub fn attempt(&self) -> u64 {
        self.attempt
    }

    /// Returns what is stored for other programs.
    pub fn cursor(&self) -> UploadCursor {
        UploadCursor {
            uploaded: self.next,
            acknowledged: self.acknowledged,
            acknowledged_at: self.acknowledged_at,
        }
    }

    /// Notes that the message bus stored a batch.
    pub fn note_stored(&mut self, end: u64, sequence: u64, now: Instant) {
        self.next = self.next.max(end);
        self.last_sequence = sequence;
        self.waiting_since = self.waiting_since.or(Some(now));
    }

    /// Notes the machine's last message in its stream after another one was expected. `own` is its end if its records
    /// are those of the ledger.
    pub fn note_last_message(&mut self, sequence: u64, own: Option<u64>) {
        self.last_sequence = sequence;
        self.next = self.next.max(own.unwrap_or(0));
    }

    /// Notes the server's cursor. Returns whether it changed.
    pub fn note_acknowledged(&mut self, cursor: u64, (unix, now): (u64, Instant)) -> bool {
        if cursor <= self.acknowledged {
            return false;
        }
        (self.acknowledged, self.acknowledged_at) = (cursor, unix);
        self.next = self.next.max(cursor);
        self.waiting_since = (self.next > cursor).then_some(now);
        true
    }

    /// Continues at the server's cursor, which it named because records after it are missing. Returns whether the request
    /// is followed; requests for the same records in quick succession are one. A request never skips records.
    pub fn note_resend(&mut self, from: u64, (unix, now): (u64, Instant)) -> bool {
        let is_repeated = self
            .last_resend
            .is_some_and(|(last, at)| last == from && now.duration_since(at) < RESEND_INTERVAL);
        if is_repeated || from > self.next {
            return false;
        }
        self.last_resend = Some((from, now));
        self.restart(from, unix);
        true
    }

    /// Uploads again if the server has not acknowledged for a long time, for example because the stream lost
    /// messages. Returns whether it does.
    pub fn retry_unacknowledged(&mut self, (unix, now): (u64, Instant)) -> bool {
        let waited =
            self.waiting_since.is_some_and(|since| now.duration_since(since) >= ACKNOWLEDGEMENT_TIMEOUT);
        if waited {
            self.restart(self.acknowledged, unix);
        }
        waited
    }

    fn restart(&mut self, from: u64, unix: u64) {
        self.acknowledged = self.acknowledged.min(from);
        self.next = from;
        self.attempt = unix;
        self.waiting_since = None;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tenterhook_fleet_protocol::{MachineId, NkeyKind, NkeyPair};

    use super::*;

    fn id(first: u64, end: u64) -> MessageId {
        let machine = MachineId::of_key(&NkeyPair::from_seed(NkeyKind::User, &[1; 32]).public());
        MessageId { machine, first, end, digest: 0, attempt: 0 }
    }

    fn cursor(acknowledged: u64) -> UploadCursor {
        UploadCursor { uploaded: 0, acknowledged, acknowledged_at: 0 }
    }

    #[test]
    fn the_upload_continues_after_messages_that_are_on_their_way() {
        let now = Instant::now();
        assert_eq!(UploadProgress::resume(cursor(10), None, 0, now).next(), 10);
        let message = id(10, 15);
        let progress = UploadProgress::resume(cursor(10), Some((&message, 7)), 7, now);
        assert_eq!((progress.next(), progress.acknowledged(), progress.last_sequence()), (15, 10, 7));
        // The server has more than the stream: the stream lost messages that the server had stored.
        assert_eq!(UploadProgress::resume(cursor(20), Some((&message, 7)), 7, now).next(), 20);
    }

    #[test]
    fn a_request_to_resend_moves_back_once_and_changes_the_message_ids() {
        let now = Instant::now();
        let mut progress = UploadProgress::resume(cursor(100), None, 3, now);
        assert!(progress.note_resend(40, (1000, now)));
        assert_eq!((progress.next(), progress.acknowledged(), progress.attempt()), (40, 40, 1000));
        progress.note_stored(60, 4, now);
        assert!(!progress.note_resend(40, (1001, now)), "repeated");
        assert_eq!(progress.next(), 60);
        assert!(progress.note_resend(40, (1010, now + RESEND_INTERVAL)));
        assert!(!progress.note_resend(101, (1020, now + RESEND_INTERVAL * 2)), "it would skip records");
    }

    #[test]
    fn records_without_acknowledgement_are_uploaded_again_after_a_while() {
        let now = Instant::now();
        let mut progress = UploadProgress::resume(cursor(10), None, 0, now);
        assert!(!progress.retry_unacknowledged((1, now + ACKNOWLEDGEMENT_TIMEOUT)), "nothing is on its way");
        progress.note_stored(20, 1, now);
        progress.note_stored(30, 2, now + ACKNOWLEDGEMENT_TIMEOUT / 2);
        assert!(progress.note_acknowledged(20, (1, now + ACKNOWLEDGEMENT_TIMEOUT / 2)));
        assert!(
            !progress.retry_unacknowledged((2, now + ACKNOWLEDGEMENT_TIMEOUT)),
            "the server makes progress"
        );
        assert!(progress.retry_unacknowledged((3, now + ACKNOWLEDGEMENT_TIMEOUT * 2)));
        assert_eq!((progress.next(), progress.attempt()), (20, 3));
    }

    #[derive(Debug, Clone)]
    enum Step {
        Store(u64),
        Acknowledge(u64),
        Resend(u64),
        Retry,
        OtherLast(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            (1..50u64).prop_map(Step::Store),
            (0..400u64).prop_map(Step::Acknowledge),
            (0..400u64).prop_map(Step::Resend),
            Just(Step::Retry),
            (0..400u64).prop_map(Step::OtherLast),
        ]
    }

    proptest! {
        /// In every sequence of events, no record between the server's cursor and the next record is skipped unless it is on its way.
        #[test]
        fn no_record_is_skipped(steps in prop::collection::vec(step(), 1..60)) {
            let mut now = Instant::now();
            let mut progress = UploadProgress::resume(UploadCursor::default(), None, 0, now);
            // Records that the message bus has, so that the server can get them.
            let mut stored = std::collections::BTreeSet::new();
            for step in steps {
                now += Duration::from_mins(1);
                match step {
                    Step::Store(count) => {
                        stored.extend(progress.next()..progress.next() + count);
                        progress.note_stored(progress.next() + count, 1, now);
                    }
                    // A server acknowledges only what it got.
                    Step::Acknowledge(cursor) if (0..cursor).all(|record| stored.contains(&record)) => {
                        progress.note_acknowledged(cursor, (1, now));
                    }
                    Step::OtherLast(end) if (0..end).all(|record| stored.contains(&record)) => {
                        progress.note_last_message(1, Some(end));
                    }
                    Step::Acknowledge(_) | Step::OtherLast(_) => {}
                    Step::Resend(from) => {
                        progress.note_resend(from, (1, now));
                    }
                    Step::Retry => {
                        progress.retry_unacknowledged((1, now));
                    }
                }
                prop_assert!(progress.acknowledged() <= progress.next());
                let from = progress.acknowledged();
                prop_assert!((from..progress.next()).all(|record| stored.contains(&record)));
            }
        }
    }
}
