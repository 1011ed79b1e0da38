// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A ledger in a directory of its own, with a clock and ids that do not change.

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
    Entry, Expect, Ledger, Options, Problem, Queued, Reader, Signer, SoftwareKey, Verified,
};

pub(crate) const ORIGIN: &str = "example.com/ledger";
/// 2026-11-15T08:00:00.000Z
pub(crate) const NOW: u64 = 1_794_729_600_000;

/// The moment in which every test takes place.
pub(crate) fn clock() -> u64 {
    NOW
}

/// Detectors that know one kind of secret: what follows `secret=`, up to a space or quote.
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
    let said = |text: &str| Attributed { by: By::rule("no-four"), value: text.to_owned() };
    Outcome {
        decision: Decision::Deny,
        reasons: vec![said("nothing that four divides")],
        nudges: vec![said("try five")],
        ..Outcome::default()
    }
}

/// The decision about event `number`; every fourth is a deny.
pub(crate) fn entry(number: u64) -> Entry {
    decided(event(number), &outcome(number))
}

pub(crate) fn decided(event: Event, outcome: &Outcome) -> Entry {
    let call = HookCall { event, native: None };
    Entry::decision(
        &DecidedCall { call: &call, outcome, generation: "g1", took_us: 40, facts: None, file_effects: None },
        &find_secrets,
    )
}

/// Records these decisions, in batches.
pub(crate) fn record(ledger: &Ledger, numbers: std::ops::RangeInclusive<u64>) {
    let (tell, told) = std::sync::mpsc::channel();
    let count = numbers.clone().count();
    for number in numbers {
        let tell = tell.clone();
        ledger.append(Queued::new(entry(number), move |result| tell.send(result.unwrap()).unwrap())).unwrap();
    }
    assert_eq!(told.iter().take(count).count(), count);
}

pub(crate) fn key(seed: u8) -> Arc<dyn Signer> {
    Arc::new(SoftwareKey::from_seed(ORIGIN, &[seed; 32]).unwrap())
}

/// Options whose checkpoints come only when they are asked for.
pub(crate) fn options() -> Options {
    let mut options = Options::new(clock);
    options.key = Some(key(1));
    options.checkpoint_every.leaves = u64::MAX;
    options.checkpoint_every.age = Duration::from_hours(1);
    options
}

pub(crate) struct Test {
    pub(crate) dir: PathBuf,
    pub(crate) temporary: TempDir,
}

impl Test {
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

    pub(crate) fn verify(&self) -> Result<Verified, Problem> {
        self.verify_with(Expect { key: Some(key(1).key().clone()), since: None })
    }

    pub(crate) fn verify_with(&self, expect: Expect) -> Result<Verified, Problem> {
        self.reader().verify(expect, &mut |_, _| ())
    }

    /// What `verify` complains about.
    pub(crate) fn complaint(&self) -> String {
        self.verify().unwrap_err().to_string()
    }

    pub(crate) fn path(&self) -> &Path {
        self.temporary.path()
    }
}
