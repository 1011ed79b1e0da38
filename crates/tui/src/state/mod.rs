// SPDX-License-Identifier: Apache-2.0 OR MIT

//! All that is known, and where the person is in it.

mod page;
mod table;

pub(crate) use page::{Open, Page, Proved};
pub(crate) use table::Table;

use crate::message::{Clock, Command, Subject};
use crate::prompt::Prompt;
use crate::read::{Card, Health, Ledger, Line, Session};
use crate::stats::Stats;

/// How many decisions are kept; older ones are fetched when somebody goes there.
const LINES: usize = 10_000;
/// How many sessions are kept.
const SESSIONS: usize = 1_000;
/// What the frame takes of the screen, in rows: the tabs, a head, the line below, the keys.
const FRAME: u16 = 4;

/// All there is to show.
pub struct State {
    pub(crate) clock: Clock,
    pub(crate) size: (u16, u16),
    pub(crate) colors: bool,
    pub(crate) link: Link,
    pub(crate) tab: Tab,
    /// What was opened, the latest last.
    pub(crate) pages: Vec<Page>,
    pub(crate) help: bool,
    pub(crate) prompt: Option<Prompt>,
    pub(crate) notice: Option<Notice>,
    pub(crate) feed: Table<Line>,
    /// Older decisions are under way, or there are none.
    pub(crate) fetching: Fetching,
    pub(crate) sessions: Table<Session>,
    pub(crate) approvals: Table<Card>,
    pub(crate) stats: Stats,
    pub(crate) health: Health,
    pub(crate) ledger: Ledger,
    /// How much of what happened was not told to us, since the begin.
    pub(crate) missed: u64,
}

/// Whether the daemon is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Link {
    /// Nobody knows yet.
    Begins,
    Up,
    /// Why not, and since when.
    Down(String, u64),
}

/// The views.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tab {
    Live,
    Sessions,
    Approvals,
    Statistics,
}

/// What is known about older decisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fetching {
    No,
    UnderWay,
    /// There are none.
    Done,
}

/// What became of something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) good: bool,
    pub(crate) text: String,
}

impl Tab {
    pub(crate) const ALL: [Self; 4] = [Self::Live, Self::Sessions, Self::Approvals, Self::Statistics];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Live => "Live",
            Self::Sessions => "Sessions",
            Self::Approvals => "Approvals",
            Self::Statistics => "Statistics",
        }
    }

    /// The one so many further.
    pub(crate) fn further(self, by: usize) -> Self {
        let at = Self::ALL.iter().position(|tab| *tab == self).unwrap_or_default();
        Self::ALL.into_iter().cycle().nth(at + by).unwrap_or(self)
    }
}

impl State {
    /// Nothing is known yet.
    pub fn new(clock: Clock, size: (u16, u16), colors: bool) -> Self {
        Self {
            clock,
            size,
            colors,
            link: Link::Begins,
            tab: Tab::Live,
            pages: Vec::new(),
            help: false,
            prompt: None,
            notice: None,
            feed: Table::new(LINES),
            fetching: Fetching::No,
            sessions: Table::new(SESSIONS),
            approvals: Table::new(usize::MAX),
            stats: Stats::default(),
            health: Health::default(),
            ledger: Ledger::default(),
            missed: 0,
        }
    }

    /// When something changes without anybody saying so: a countdown, the next minute. In milliseconds
    /// from now.
    pub fn sleeps_ms(&self) -> u64 {
        let now = self.clock.now_ms;
        let second = || 1000 - now % 1000;
        let minute = 60_000 - now % 60_000;
        let counts_down = !self.approvals.is_empty() || matches!(self.link, Link::Down(..));
        let due = self.pages.last().and_then(|page| page.due(now));
        let first = if counts_down { second() } else { minute };
        due.map_or(first, |due| due.min(first)).max(1)
    }

    /// Rows that a list has.
    pub(crate) fn rows(&self) -> usize {
        usize::from(self.size.1.saturating_sub(FRAME))
    }

    /// Everything that is worth knowing when the daemon is there.
    pub(crate) fn all() -> Vec<Command> {
        let subjects = [Subject::Health, Subject::Approvals, Subject::Decisions(None), Subject::Sessions];
        subjects.map(Command::Get).to_vec()
    }

    pub(crate) fn say(&mut self, good: bool, text: impl Into<String>) {
        self.notice = Some(Notice { good, text: text.into() });
    }

    /// The filter of the view that is shown, if it has one.
    pub(crate) fn filter(&mut self) -> Option<&mut String> {
        match self.tab {
            Tab::Live => Some(&mut self.feed.filter),
            Tab::Sessions => Some(&mut self.sessions.filter),
            Tab::Approvals => Some(&mut self.approvals.filter),
            Tab::Statistics => None,
        }
    }
}
