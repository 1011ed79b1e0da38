// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::{OpenPage, TuiState, ViewTab};
use crate::message::TuiCommand;

/// Time that an entry must stay selected before it is fetched, in milliseconds.
const SETTLE_MS: u64 = 80;
/// Minimum interval between two fetches, in milliseconds.
const MIN_FETCH_INTERVAL_MS: u64 = 250;

/// The selected entry, shown beside the list.
#[derive(Default)]
pub(crate) struct Preview {
    pub(crate) page: Option<OpenPage>,
    subject: Option<PreviewSubject>,
    /// Commands that fetch the page, and the time from which they may be sent, in milliseconds.
    pending: Option<(u64, Vec<TuiCommand>)>,
    /// Time of the last fetch, in milliseconds.
    fetched_at: u64,
}

/// What a preview shows.
#[derive(Debug, Clone, PartialEq)]
enum PreviewSubject {
    Decision(u64),
    Session(String),
    Approval(String),
}

impl Preview {
    /// Returns the milliseconds until the next fetch, if one is needed.
    pub(crate) fn due_ms(&self, now: u64) -> Option<u64> {
        let pending = self.pending.as_ref().map(|(at, _)| at.saturating_sub(now));
        let refresh = self.page.as_ref().and_then(|page| page.refresh_due_ms(now));
        pending.into_iter().chain(refresh).min()
    }

    /// Returns the commands that are due.
    pub(crate) fn fetch_due(&mut self, now: u64) -> Vec<TuiCommand> {
        if self.pending.as_ref().is_some_and(|(at, _)| *at <= now) {
            self.fetched_at = now;
            return self.pending.take().map(|(_, commands)| commands).unwrap_or_default();
        }
        self.page.as_mut().map(|page| page.refresh(now)).unwrap_or_default()
    }
}

impl TuiState {
    /// Makes the preview show the selected entry.
    pub(crate) fn follow_selection(&mut self) {
        let subject = if self.is_split() { self.preview_subject() } else { None };
        if self.preview.subject == subject {
            return;
        }
        let now = self.clock.now_ms;
        let page = match &subject {
            None => None,
            Some(PreviewSubject::Decision(seq)) => Some(OpenPage::decision(*seq)),
            Some(PreviewSubject::Session(key)) => Some(OpenPage::session(key.clone(), now)),
            Some(PreviewSubject::Approval(id)) => {
                self.approvals.find(id).cloned().map(|card| (OpenPage::approval(card), Vec::new()))
            }
        };
        let (page, commands) = page.unzip();
        let at = (now + SETTLE_MS).max(self.preview.fetched_at + MIN_FETCH_INTERVAL_MS);
        self.preview.pending =
            commands.filter(|commands| !commands.is_empty()).map(|commands| (at, commands));
        (self.preview.page, self.preview.subject) = (page, subject);
    }

    fn preview_subject(&self) -> Option<PreviewSubject> {
        match self.tab {
            ViewTab::Live => {
                let row = self.calls.shown().selected().filter(|row| row.folded.is_none())?;
                Some(PreviewSubject::Decision(row.seq))
            }
            ViewTab::Sessions => Some(PreviewSubject::Session(self.sessions.selected()?.key.clone())),
            ViewTab::Approvals => Some(PreviewSubject::Approval(self.approvals.selected()?.id.clone())),
            ViewTab::Statistics => None,
        }
    }
}
