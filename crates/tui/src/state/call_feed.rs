// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::FilteredList;
use crate::message::{FetchTarget, ListedCalls, TuiCommand};
use crate::parse::{CallRow, LiveCallPart};

/// Maximum number of rows kept. Older calls are fetched on demand.
const MAX_CALLS: usize = 10_000;
/// Number of rows among which the call of a result is searched.
const PAIR_DISTANCE: usize = 2_000;

/// Calls as rows, one list for each selection.
pub(crate) struct CallFeed {
    show: ListedCalls,
    notable: CallList,
    all: CallList,
}

/// Calls of one selection.
pub(crate) struct CallList {
    pub(crate) rows: FilteredList<CallRow>,
    /// Whether older calls can be fetched.
    history: CallHistory,
}

/// State of fetching older calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallHistory {
    /// Nothing was fetched yet, or a request is under way.
    Waiting,
    /// Calls before this record can be fetched.
    Before(u64),
    /// All calls have been fetched.
    Done,
}

impl CallFeed {
    pub(crate) fn new() -> Self {
        let list = || CallList { rows: FilteredList::new(MAX_CALLS), history: CallHistory::Waiting };
        Self { show: ListedCalls::Notable, notable: list(), all: list() }
    }

    /// Which calls are shown.
    pub(crate) fn show(&self) -> ListedCalls {
        self.show
    }

    /// Shows the calls of a selection, with the same filter.
    pub(crate) fn set_show(&mut self, show: ListedCalls) {
        let filter = std::mem::take(&mut self.shown_mut().filter);
        self.show = show;
        self.shown_mut().filter = filter;
    }

    /// The rows that are shown.
    pub(crate) fn shown(&self) -> &FilteredList<CallRow> {
        match self.show {
            ListedCalls::Notable => &self.notable.rows,
            ListedCalls::All => &self.all.rows,
        }
    }

    pub(crate) fn shown_mut(&mut self) -> &mut FilteredList<CallRow> {
        &mut self.list_mut(self.show).rows
    }

    /// Whether a call of any selection is known.
    pub(crate) fn has_calls(&self) -> bool {
        self.all.rows.newest(MAX_CALLS).any(|row| row.folded.is_none())
    }

    fn list_mut(&mut self, show: ListedCalls) -> &mut CallList {
        match show {
            ListedCalls::Notable => &mut self.notable,
            ListedCalls::All => &mut self.all,
        }
    }

    /// Adds a live event.
    pub(crate) fn add(&mut self, part: LiveCallPart) {
        match part {
            LiveCallPart::Row(row) => self.upsert(row),
            LiveCallPart::Result(result) => {
                let call = self.all.rows.newest(PAIR_DISTANCE).find(|row| row.is_call_of(&result)).cloned();
                // A result whose call is not known is a row of its own.
                self.upsert(match call {
                    Some(mut call) => {
                        call.result = result.result;
                        call
                    }
                    None => result,
                });
            }
            LiveCallPart::Other(other) => {
                let known = self.all.rows.newest(1).next().is_some_and(|first| first.seq >= other.seq);
                if !known && !self.all.rows.first_mut().is_some_and(|first| first.fold(&other)) {
                    self.all.rows.upsert(other.into_folded());
                }
            }
        }
    }

    fn upsert(&mut self, row: CallRow) {
        if row.is_notable() {
            self.notable.rows.upsert(row.clone());
        }
        self.all.rows.upsert(row);
    }

    /// Adds a page of calls. The first page replaces the rows that it covers.
    pub(crate) fn add_page(
        &mut self,
        show: ListedCalls,
        is_first: bool,
        rows: Vec<CallRow>,
        next: Option<u64>,
    ) {
        let list = self.list_mut(show);
        if is_first {
            let newest = rows.first().map_or(0, |row| row.seq);
            let covered = |row: &CallRow| row.seq <= newest && next.is_none_or(|next| row.oldest() >= next);
            let has_gap = next.is_some_and(|next| list.rows.newest(1).all(|row| row.seq < next));
            list.rows.retain(|row| !covered(row) && !has_gap);
            // Rows that are older than the page were fetched before, unless rows are missing between.
            if list.rows.last().is_none_or(|last| next.is_none_or(|next| last.oldest() >= next)) {
                list.history = CallHistory::Waiting;
            }
        }
        if !is_first || list.history == CallHistory::Waiting {
            list.history = next.map_or(CallHistory::Done, CallHistory::Before);
        }
        for row in rows {
            list.rows.upsert(row);
        }
    }

    /// Adds calls of a session. They do not continue the list.
    pub(crate) fn add_session_calls(&mut self, rows: Vec<CallRow>) {
        for row in rows {
            self.upsert(row);
        }
    }

    /// Returns the command that fetches older calls, if there may be any and no request is under way.
    pub(crate) fn fetch_older(&mut self) -> Vec<TuiCommand> {
        let show = self.show;
        let list = self.list_mut(show);
        match list.history {
            CallHistory::Before(before) if !list.rows.is_full() => {
                list.history = CallHistory::Waiting;
                vec![TuiCommand::Fetch(FetchTarget::Calls(show, Some(before)))]
            }
            _ => Vec::new(),
        }
    }

    /// Makes a failed request for older calls possible again.
    pub(crate) fn retry_older(&mut self, show: ListedCalls, before: u64) {
        self.list_mut(show).history = CallHistory::Before(before);
    }
}
