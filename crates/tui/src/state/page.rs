// SPDX-License-Identifier: Apache-2.0 OR MIT

use crate::message::{Command, Subject};
use crate::read::{Card, Decided, Detail, Step};

/// How often what is open is fetched anew while it changes, in milliseconds.
const PACE: u64 = 500;

/// Something that was opened.
pub(crate) struct Page {
    pub(crate) open: Open,
    /// How many lines are above the screen.
    pub(crate) scroll: usize,
    /// When it was last fetched, and whether it changed since.
    fetched: u64,
    changed: bool,
}

/// What.
pub(crate) enum Open {
    Decision {
        seq: u64,
        found: Option<Box<Decided>>,
        proved: Proved,
    },
    Session {
        key: String,
        found: Option<Box<Detail>>,
        steps: Vec<Step>,
    },
    /// A call as it was when it was opened, and whether it still waits.
    Approval {
        card: Box<Card>,
        waits: bool,
    },
}

/// Whether a leaf is proved to be in the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Proved {
    NotAsked,
    UnderWay,
    /// In a tree of so many leaves, with this root, signed by this key.
    Yes {
        size: u64,
        root: String,
        key: String,
    },
    No(String),
}

impl Page {
    /// A decision, and what has to be fetched.
    pub(crate) fn decision(seq: u64) -> (Self, Vec<Command>) {
        let open = Open::Decision { seq, found: None, proved: Proved::NotAsked };
        (Self::new(open, 0), vec![Command::Get(Subject::Decision(seq))])
    }

    /// A session, and what has to be fetched.
    pub(crate) fn session(key: String, now: u64) -> (Self, Vec<Command>) {
        let commands = session(&key);
        (Self::new(Open::Session { key, found: None, steps: Vec::new() }, now), commands)
    }

    pub(crate) fn approval(card: Card) -> Self {
        Self::new(Open::Approval { card: Box::new(card), waits: true }, 0)
    }

    fn new(open: Open, fetched: u64) -> Self {
        Self { open, scroll: 0, fetched, changed: false }
    }

    /// Something happened in a session.
    pub(crate) fn heard(&mut self, of: &str) {
        if matches!(&self.open, Open::Session { key, .. } if key == of) {
            self.changed = true;
        }
    }

    /// When it has to be fetched anew, in milliseconds from now.
    pub(crate) fn due(&self, now: u64) -> Option<u64> {
        self.changed.then(|| (self.fetched + PACE).saturating_sub(now))
    }

    /// Fetches it anew if it is time.
    pub(crate) fn refresh(&mut self, now: u64) -> Vec<Command> {
        match &self.open {
            Open::Session { key, .. } if self.due(now) == Some(0) => {
                (self.fetched, self.changed) = (now, false);
                session(key)
            }
            _ => Vec::new(),
        }
    }
}

fn session(key: &str) -> Vec<Command> {
    vec![Command::Get(Subject::Session(key.to_owned())), Command::Get(Subject::Timeline(key.to_owned()))]
}
