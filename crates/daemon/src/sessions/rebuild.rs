// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Sessions of a daemon that has just begun: from the leaves of the last day.

use tenterhook_event::Timestamp;
use tenterhook_home::recorded::Recorded;
use tenterhook_ledger::{ReadFailed, Reader};

use super::Projector;

/// How far back, in milliseconds.
const DAY: u64 = 24 * 60 * 60 * 1000;
/// How many leaves at most.
const MOST: u64 = 50_000;
const PAGE: u64 = 500;

impl Projector {
    /// Applies the leaves before `until`: from there on, events are applied as they are decided. Says
    /// how many decisions there were.
    pub(crate) fn rebuild(&self, reader: &Reader, until: u64, now: Timestamp) -> Result<u64, ReadFailed> {
        let since = now.unix_ms().saturating_sub(DAY);
        let (mut next, mut applied) = (until.saturating_sub(MOST), 0);
        while next < until {
            let page = reader.from(next, PAGE.min(until - next))?;
            let Some(last) = page.last() else { break };
            next = last.seq + 1;
            // What cannot be read is for `ledger verify` to name; changes belong to no session.
            for recorded in page.iter().filter_map(|record| Recorded::happened(record).ok()) {
                if recorded.event.ts.unix_ms() >= since {
                    self.apply_recorded(&recorded.event, recorded.outcome.decision);
                    applied += 1;
                }
            }
        }
        Ok(applied)
    }
}
