// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The state of the terminal view: data, selection and open pages.

mod call_feed;
mod filtered_list;
mod open_page;
mod preview;

pub(crate) use call_feed::CallFeed;
pub(crate) use filtered_list::FilteredList;
pub(crate) use open_page::{OpenPage, PageContent, ProofStatus};
pub(crate) use preview::Preview;

use crate::decision_stats::DecisionStats;
use crate::input_prompt::InputPrompt;
use crate::message::{FetchTarget, ListedCalls, TuiCommand, WallClock};
use crate::parse::{HealthSummary, LedgerCounts, PendingApproval, SessionRow};

/// Maximum number of sessions kept.
const MAX_SESSIONS: usize = 1_000;
/// Number of screen rows that the frame uses: tabs, heading, status line, key hints.
const FRAME_ROWS: u16 = 4;
/// Minimum number of screen rows on which the chart of decisions is shown above the lists.
const MIN_CHART_ROWS: u16 = 12;
/// Minimum number of columns on which the selected entry is shown beside the list.
const MIN_SPLIT_COLUMNS: u16 = 120;

/// State of the terminal view.
pub struct TuiState {
    pub(crate) clock: WallClock,
    pub(crate) size: (u16, u16),
    pub(crate) colors: bool,
    pub(crate) link: DaemonLink,
    pub(crate) tab: ViewTab,
    /// Open pages; the last one is visible.
    pub(crate) pages: Vec<OpenPage>,
    pub(crate) help: bool,
    pub(crate) prompt: Option<InputPrompt>,
    pub(crate) notice: Option<StatusNotice>,
    pub(crate) calls: CallFeed,
    /// The selected entry, beside the list.
    pub(crate) preview: Preview,
    /// What to do with a decision once it is fetched.
    pub(crate) deferred: Option<(u64, DeferredAction)>,
    pub(crate) sessions: FilteredList<SessionRow>,
    pub(crate) approvals: FilteredList<PendingApproval>,
    pub(crate) stats: DecisionStats,
    pub(crate) health: HealthSummary,
    pub(crate) ledger: LedgerCounts,
    /// Number of events missed since the start.
    pub(crate) missed: u64,
}

/// Connection to the daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DaemonLink {
    Connecting,
    Up,
    /// The daemon is not connected: the reason, and the time in milliseconds.
    Down(String, u64),
}

/// The views; each is a tab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ViewTab {
    Live,
    Sessions,
    Approvals,
    Statistics,
}

/// Action on a decision that needs its complete record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeferredAction {
    Copy,
    Explain,
    Undo,
    OpenSession,
}

/// Result of an action, shown in the status line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StatusNotice {
    pub(crate) good: bool,
    pub(crate) text: String,
}

impl ViewTab {
    pub(crate) const ALL: [Self; 4] = [Self::Live, Self::Sessions, Self::Approvals, Self::Statistics];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Live => "Live",
            Self::Sessions => "Sessions",
            Self::Approvals => "Approvals",
            Self::Statistics => "Statistics",
        }
    }

    /// Returns the tab `by` positions to the right.
    pub(crate) fn step(self, by: usize) -> Self {
        let at = Self::ALL.iter().position(|tab| *tab == self).unwrap_or_default();
        Self::ALL.into_iter().cycle().nth(at + by).unwrap_or(self)
    }
}

impl TuiState {
    /// Creates an empty state.
    pub fn new(clock: WallClock, size: (u16, u16), colors: bool) -> Self {
        Self {
            clock,
            size,
            colors,
            link: DaemonLink::Connecting,
            tab: ViewTab::Live,
            pages: Vec::new(),
            help: false,
            prompt: None,
            notice: None,
            calls: CallFeed::new(),
            preview: Preview::default(),
            deferred: None,
            sessions: FilteredList::new(MAX_SESSIONS),
            approvals: FilteredList::new(usize::MAX),
            stats: DecisionStats::default(),
            health: HealthSummary::default(),
            ledger: LedgerCounts::default(),
            missed: 0,
        }
    }

    /// Returns the milliseconds until the screen changes because of a countdown, a refresh or the next minute.
    pub fn next_wake_ms(&self) -> u64 {
        let now = self.clock.now_ms;
        let second = || 1000 - now % 1000;
        let minute = 60_000 - now % 60_000;
        let counts_down = !self.approvals.is_empty() || matches!(self.link, DaemonLink::Down(..));
        let due = self.pages.last().and_then(|page| page.refresh_due_ms(now));
        let first = if counts_down { second() } else { minute };
        due.into_iter().chain(self.preview.due_ms(now)).fold(first, u64::min).max(1)
    }

    /// Returns the number of rows that a list can show.
    pub(crate) fn list_rows(&self) -> usize {
        let chart = u16::from(self.has_chart());
        usize::from(self.size.1.saturating_sub(FRAME_ROWS + chart))
    }

    /// Whether the chart of decisions is shown above a list.
    pub(crate) fn has_chart(&self) -> bool {
        let is_list = self.pages.is_empty() && self.tab != ViewTab::Statistics && !self.help;
        is_list && self.size.1 >= MIN_CHART_ROWS
    }

    /// Whether the selected entry is shown beside the list.
    pub(crate) fn is_split(&self) -> bool {
        let is_list = self.pages.is_empty() && self.tab != ViewTab::Statistics && !self.help;
        is_list && self.size.0 >= MIN_SPLIT_COLUMNS
    }

    /// Returns the content of the open page, or of the preview if no page is open.
    pub(crate) fn shown_content(&self) -> Option<&PageContent> {
        let page = if self.pages.is_empty() { self.preview.page.as_ref() } else { self.pages.last() };
        page.map(|page| &page.open)
    }

    /// Returns everything to fetch when the daemon is connected.
    pub(crate) fn initial_fetches() -> Vec<TuiCommand> {
        let subjects = [
            FetchTarget::Health,
            FetchTarget::Approvals,
            FetchTarget::Decisions,
            FetchTarget::Calls(ListedCalls::Notable, None),
            FetchTarget::Calls(ListedCalls::All, None),
            FetchTarget::Sessions,
        ];
        subjects.map(TuiCommand::Fetch).to_vec()
    }

    pub(crate) fn notify(&mut self, good: bool, text: impl Into<String>) {
        self.notice = Some(StatusNotice { good, text: text.into() });
    }

    /// Returns the filter of the current view, if it has one.
    pub(crate) fn filter_mut(&mut self) -> Option<&mut String> {
        match self.tab {
            ViewTab::Live => Some(&mut self.calls.shown_mut().filter),
            ViewTab::Sessions => Some(&mut self.sessions.filter),
            ViewTab::Approvals => Some(&mut self.approvals.filter),
            ViewTab::Statistics => None,
        }
    }
}
