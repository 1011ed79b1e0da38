// SPDX-License-Identifier: Apache-2.0 OR MIT

use crate::message::{ExplainSubject, FetchTarget, TuiCommand};
use crate::parse::{
    DecisionDetail, ExplanationDetail, PendingApproval, RuleDraft, SessionDetail, TimelineRow,
};

/// Minimum interval between two refreshes of an open session, in milliseconds.
const REFRESH_INTERVAL_MS: u64 = 500;

/// An open page.
pub(crate) struct OpenPage {
    pub(crate) open: PageContent,
    /// Number of lines scrolled off above the screen.
    pub(crate) scroll: usize,
    /// Time of the last fetch, in milliseconds.
    fetched: u64,
    changed: bool,
}

/// Content of a page.
pub(crate) enum PageContent {
    Decision {
        seq: u64,
        found: Option<Box<DecisionDetail>>,
        proved: ProofStatus,
    },
    Session {
        key: String,
        found: Option<Box<SessionDetail>>,
        steps: Vec<TimelineRow>,
    },
    /// A pending call, as it was when the page was opened.
    Approval {
        card: Box<PendingApproval>,
        waits: bool,
    },
    /// What the current rules decide about a call.
    Explanation {
        subject: ExplainSubject,
        found: Option<Box<ExplanationDetail>>,
    },
    /// A rule that would deny calls like the one in this record.
    Draft {
        seq: u64,
        found: Option<Box<RuleDraft>>,
    },
}

/// Whether a record has been verified to be in the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ProofStatus {
    NotAsked,
    UnderWay,
    /// The record is in a ledger with this size and root, signed by this key.
    Yes {
        size: u64,
        root: String,
        key: String,
    },
    No(String),
}

impl OpenPage {
    /// Creates the page of a decision, with the commands that fetch it.
    pub(crate) fn decision(seq: u64) -> (Self, Vec<TuiCommand>) {
        let open = PageContent::Decision { seq, found: None, proved: ProofStatus::NotAsked };
        (Self::new(open, 0), vec![TuiCommand::Fetch(FetchTarget::Decision(seq))])
    }

    /// Creates the page of a session, with the commands that fetch it.
    pub(crate) fn session(key: String, now: u64) -> (Self, Vec<TuiCommand>) {
        let commands = session_fetches(&key);
        (Self::new(PageContent::Session { key, found: None, steps: Vec::new() }, now), commands)
    }

    pub(crate) fn approval(card: PendingApproval) -> Self {
        Self::new(PageContent::Approval { card: Box::new(card), waits: true }, 0)
    }

    /// Creates the page that explains a call, with the command that fetches it.
    pub(crate) fn explanation(subject: ExplainSubject) -> (Self, Vec<TuiCommand>) {
        let commands = vec![TuiCommand::Fetch(FetchTarget::Explain(subject.clone()))];
        (Self::new(PageContent::Explanation { subject, found: None }, 0), commands)
    }

    /// Creates the page of a drafted rule, with the command that fetches it.
    pub(crate) fn draft(seq: u64) -> (Self, Vec<TuiCommand>) {
        let commands = vec![TuiCommand::Fetch(FetchTarget::DenyRuleDraft(seq))];
        (Self::new(PageContent::Draft { seq, found: None }, 0), commands)
    }

    fn new(open: PageContent, fetched: u64) -> Self {
        Self { open, scroll: 0, fetched, changed: false }
    }

    /// Whether the page has no content until this answer arrives.
    pub(crate) fn waits_for(&self, target: &FetchTarget) -> bool {
        match (&self.open, target) {
            (PageContent::Explanation { subject, found: None }, FetchTarget::Explain(wanted)) => {
                subject == wanted
            }
            (PageContent::Draft { seq, found: None }, FetchTarget::DenyRuleDraft(wanted)) => seq == wanted,
            _ => false,
        }
    }

    /// Marks the page for a refresh if it shows this session.
    pub(crate) fn mark_changed(&mut self, of: &str) {
        if matches!(&self.open, PageContent::Session { key, .. } if key == of) {
            self.changed = true;
        }
    }

    /// Returns the milliseconds until the next refresh, if one is needed.
    pub(crate) fn refresh_due_ms(&self, now: u64) -> Option<u64> {
        self.changed.then(|| (self.fetched + REFRESH_INTERVAL_MS).saturating_sub(now))
    }

    /// Returns the commands that refresh the page, if a refresh is due.
    pub(crate) fn refresh(&mut self, now: u64) -> Vec<TuiCommand> {
        match &self.open {
            PageContent::Session { key, .. } if self.refresh_due_ms(now) == Some(0) => {
                (self.fetched, self.changed) = (now, false);
                session_fetches(key)
            }
            _ => Vec::new(),
        }
    }
}

fn session_fetches(key: &str) -> Vec<TuiCommand> {
    vec![
        TuiCommand::Fetch(FetchTarget::Session(key.to_owned())),
        TuiCommand::Fetch(FetchTarget::Timeline(key.to_owned())),
    ]
}
