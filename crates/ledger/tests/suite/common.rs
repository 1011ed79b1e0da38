// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Test ledgers in temporary directories, with a fixed clock and fixed ids.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tempfile::TempDir;
use tenterhook_event::{
    Attributed, DecidedCall, Decision, Event, EventId, EventKind, HookCall, Origin as By, Outcome, Timestamp,
    ToolCall,
};
use tenterhook_ledger::{
    Expectations, Ledger, LedgerEntry, LedgerOptions, LogProblem, QueuedEntry, Reader, Signer, SoftwareKey,
    VerifiedLog,
};

pub(crate) const ORIGIN: &str = "example.com/ledger";
/// 2026-11-15T08:00:00.000Z
pub(crate) const NOW: u64 = 1_794_729_600_000;

/// The fixed time of all tests.
pub(crate) fn clock() -> u64 {
    NOW
}

/// A detector for one kind of secret: the text after `secret=`, up to a space or quote.
pub(crate) fn find_secrets(text: &str) -> Vec<(Range<usize>, &str)> {
    let starts = text.match_indices("secret=").map(|(at, found)| at + found.len());
    let end = |start: usize| text[start..].find([' ', '"']).map_or(text.len(), |length| start + length);
    starts.map(|start| (start..end(start), "test-secret")).collect()
}

pub(crate) fn event(number: u64) -> Event {
    let id = EventId::from_parts(NOW + number, u128::from(number));
    let mut event = Event::new(
        id,
        Timestamp::from_unix_ms(NOW + number),
        "claude-code",
        EventKind::PreTool,
        "PreToolUse",
    );
    event.harness_session_id = Some(format!("session-{}", number % 3));
    event.tool_use_id = Some(format!("toolu_{number}"));
    event.cwd = Some("/home/dev/shop".into());
    event.tool = Some(ToolCall::new("Bash", json!({"command": format!("echo {number}")})));
    event
}

pub(crate) fn outcome(number: u64) -> Outcome {
    if !number.is_multiple_of(4) {
        return Outcome::default();
    }
    let attributed = |text: &str| Attributed { by: By::rule("no-four"), value: text.to_owned() };
    Outcome {
        decision: Decision::Deny,
        reasons: vec![attributed("nothing that four divides")],
        nudges: vec![attributed("try five")],
        ..Outcome::default()
    }
}

/// The decision about event `number`; every fourth is a deny.
pub(crate) fn entry(number: u64) -> LedgerEntry {
    decided(event(number), &outcome(number))
}

pub(crate) fn decided(event: Event, outcome: &Outcome) -> LedgerEntry {
    let call = HookCall { event, native: None };
    LedgerEntry::decision(
        &DecidedCall { call: &call, outcome, generation: "g1", took_us: 40, facts: None, file_effects: None },
        &find_secrets,
    )
}

pub(crate) fn record(ledger: &Ledger, numbers: std::ops::RangeInclusive<u64>) {
    let (sender, results) = std::sync::mpsc::channel();
    let count = numbers.clone().count();
    for number in numbers {
        let sender = sender.clone();
        ledger
            .append(QueuedEntry::new(entry(number), move |result| sender.send(result.unwrap()).unwrap()))
            .unwrap();
    }
    assert_eq!(results.iter().take(count).count(), count);
}

pub(crate) fn key(seed: u8) -> Arc<dyn Signer> {
    Arc::new(SoftwareKey::from_seed(ORIGIN, &[seed; 32]).unwrap())
}

/// Options without automatic checkpoints.
pub(crate) fn options() -> LedgerOptions {
    let mut options = LedgerOptions::new(clock);
    options.key = Some(key(1));
    options.checkpoint_every.leaves = u64::MAX;
    options.checkpoint_every.age = Duration::from_hours(1);
    options
}

/// A ledger in a temporary directory.
pub(crate) struct TestLedger {
    pub(crate) dir: PathBuf,
    pub(crate) temporary: TempDir,
}

impl TestLedger {
    pub(crate) fn new() -> Self {
        let temporary = tempfile::tempdir().unwrap();
        Self { dir: temporary.path().join("ledger"), temporary }
    }

    /// A closed ledger of 41 leaves: the start, then 40 decisions; checkpoints at 1, 17, 33 and 41.
    pub(crate) fn filled() -> Self {
        let test = Self::new();
        let ledger = test.open();
        for numbers in [1..=16, 17..=32, 33..=40] {
            record(&ledger, numbers);
            ledger.checkpoint().unwrap();
        }
        ledger.close().unwrap();
        test
    }

    pub(crate) fn open(&self) -> Ledger {
        Ledger::open(&self.dir, options()).unwrap().ledger
    }

    pub(crate) fn reader(&self) -> Reader {
        Reader::open(&self.dir).unwrap()
    }

    pub(crate) fn database(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.dir.join("ledger.db")).unwrap()
    }

    pub(crate) fn verify(&self) -> Result<VerifiedLog, LogProblem> {
        self.verify_with(Expectations { key: Some(key(1).key().clone()), since: None })
    }

    pub(crate) fn verify_with(&self, expect: Expectations) -> Result<VerifiedLog, LogProblem> {
        self.reader().verify(expect, &mut |_, _| ())
    }

    pub(crate) fn complaint(&self) -> String {
        self.verify().unwrap_err().to_string()
    }

    pub(crate) fn path(&self) -> &Path {
        self.temporary.path()
    }
}
