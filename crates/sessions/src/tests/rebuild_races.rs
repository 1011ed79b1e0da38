// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Live events during a rebuild: none is lost, and none is applied twice.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use tenterhook_event::{DecidedCall, HookCall, Outcome};
use tenterhook_ledger::{Ledger, LedgerEntry, LedgerOptions, Reader};

use super::*;

/// A ledger, and the sessions of the daemon that writes it.
struct LedgerFixture {
    dir: tempfile::TempDir,
    ledger: Ledger,
    projector: Arc<SessionProjector>,
    prompts: AtomicU64,
}

impl LedgerFixture {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(dir.path(), LedgerOptions::new(|| 1)).unwrap().ledger;
        let projector = SessionProjector::new(None, Arc::default());
        projector.begin_rebuild();
        Self { dir, ledger, projector, prompts: AtomicU64::new(0) }
    }

    /// Appends the next prompt. Returns it with its sequence number.
    fn append_prompt(&self, session: &str) -> (Event, u64) {
        self.append(self.prompt(session))
    }

    fn append(&self, event: Event) -> (Event, u64) {
        let seq = self.ledger.append(entry(event.clone())).unwrap().seq();
        (event, seq)
    }

    fn prompt(&self, session: &str) -> Event {
        let number = self.prompts.fetch_add(1, Ordering::Relaxed) + 1;
        let mut prompt = event(session, number, EventKind::Prompt);
        prompt.detail.prompt = Some(format!("prompt {number}"));
        prompt
    }

    fn apply(&self, (prompt, seq): &(Event, u64)) {
        self.projector.apply(&decided_event(prompt, Decision::None, *seq), &mut SessionUpdate::default());
    }

    /// Rebuilds all sessions. `meanwhile` is called each time the rebuild opens a reader: to get the size, to
    /// read the records (on one thread, because they are few), and to read the records that arrived in the
    /// meantime.
    fn rebuild(&self, meanwhile: impl Fn(usize) + Sync) {
        let begun = AtomicUsize::new(0);
        let open = || {
            meanwhile(begun.fetch_add(1, Ordering::Relaxed));
            Reader::open(self.dir.path())
        };
        self.projector.rebuild(open, RebuildPool::alongside_calls()).unwrap();
        assert_eq!(begun.into_inner(), 3);
    }

    fn prompts_of(&self, session: &str) -> Vec<String> {
        let found = details(&self.projector, session, 1).unwrap_or_default();
        let texts = found["prompt_texts"].as_array().into_iter().flatten();
        let texts: Vec<_> = texts.map(|prompt| prompt["text"].as_str().unwrap().to_owned()).collect();
        assert_eq!(found["events"].as_u64().unwrap_or(0), texts.len() as u64);
        texts
    }
}

fn entry(event: Event) -> LedgerEntry {
    let (call, outcome) = (HookCall { event, native: None }, Outcome::default());
    let decided = DecidedCall {
        call: &call,
        outcome: &outcome,
        generation: "g1",
        took_us: 1,
        facts: None,
        file_effects: None,
    };
    LedgerEntry::decision(&decided, &|_| Vec::new())
}

fn numbered(numbers: impl IntoIterator<Item = u64>) -> Vec<String> {
    numbers.into_iter().map(|number| format!("prompt {number}")).collect()
}

#[test]
fn events_that_arrive_during_a_rebuild_are_applied_once() {
    let fixture = LedgerFixture::new();
    fixture.append_prompt("s");
    fixture.append_prompt("s");
    fixture.apply(&fixture.append_prompt("s"));
    let (late, unseen) = (Mutex::new(None), Mutex::new(None));
    fixture.rebuild(|step| {
        fixture.apply(&fixture.append_prompt("s"));
        if step == 2 {
            // This event is in the ledger, but not applied yet.
            *late.lock().unwrap() = Some(fixture.append_prompt("s"));
            // This event is applied, but not in the ledger yet.
            let (_, seq) = fixture.append_prompt("other");
            let prompt = (fixture.prompt("s"), seq + 1);
            fixture.apply(&prompt);
            *unseen.lock().unwrap() = Some(prompt);
        }
    });
    let (late, (unseen, seq)) = (late.into_inner().unwrap().unwrap(), unseen.into_inner().unwrap().unwrap());
    fixture.apply(&late);
    assert_eq!(fixture.ledger.append(entry(unseen)).unwrap().seq(), seq);
    fixture.apply(&fixture.append_prompt("s"));
    let expected = numbered((1..=7).chain([9, 10]));
    assert_eq!(fixture.prompts_of("s"), expected);
    assert_eq!(fixture.prompts_of("other"), numbered([8]));
    fixture.projector.clear();
    fixture.rebuild(|_| ());
    assert_eq!(fixture.prompts_of("s"), expected, "the same from the ledger alone");
}

#[test]
fn a_rebuild_is_discarded_if_the_sessions_were_cleared_meanwhile() {
    let fixture = LedgerFixture::new();
    fixture.append_prompt("s");
    fixture.rebuild(|step| {
        if step == 2 {
            // All sessions are cleared, as after an erasure.
            fixture.projector.clear();
            fixture.apply(&fixture.append_prompt("s"));
        }
    });
    assert_eq!(fixture.prompts_of("s"), numbered([2]), "only events after the clear");
    fixture.rebuild(|step| {
        if step == 1 {
            fixture.apply(&fixture.append_prompt("s"));
        }
    });
    assert_eq!(fixture.prompts_of("s"), numbered(1..=3));
}

#[test]
fn a_session_reloaded_during_a_rebuild_is_reloaded_again() {
    let fixture = LedgerFixture::new();
    fixture.append_prompt("s");
    let key = SessionKey { harness: "claude-code".into(), id: "s".into() };
    fixture.rebuild(|step| {
        if step == 2 {
            let reader = Reader::open(fixture.dir.path()).unwrap();
            fixture.projector.reload(&key, &reader, |_| ()).unwrap();
        }
    });
    assert_eq!(fixture.projector.take_stale().into_iter().collect::<Vec<_>>(), [key]);
}

#[test]
fn a_text_that_was_erased_a_moment_ago_is_in_no_diff() {
    let fixture = LedgerFixture::new();
    let call = tool("s", 1, "Write", json!({"file_path": "/work/a", "content": "secret\n"}));
    let expected = fixture.append(call);
    fixture.apply(&expected);
    let reader = Reader::open(fixture.dir.path()).unwrap();
    let key = SessionKey::of(&expected.0).unwrap();
    let changes = || fixture.projector.with_session(&key, |view| view.changes_of("/work/a")).unwrap();
    assert_eq!(diff(changes(), &reader).unwrap()[0].diff.as_deref(), Some("@@ -0,0 +1 @@\n+secret\n"));
    fixture.ledger.erase(expected.1, expected.1, "ada", "a test", &|_| Vec::new()).unwrap();
    let shown = diff(changes(), &reader).unwrap();
    assert_eq!(
        (shown[0].diff.as_deref(), shown[0].why),
        (None, Some(MissingDiff::Erased)),
        "before the rebuild"
    );
}

#[test]
fn threads_share_the_sessions_and_leave_none_out() {
    let fixture = LedgerFixture::new();
    let names: Vec<_> = (0..40).map(|number| format!("s{number}")).collect();
    let entries = (0..20_400).map(|number| {
        let prompt = fixture.prompt(&names[number % names.len()]);
        entry(prompt).seal(fixture.ledger.sealing()).unwrap()
    });
    fixture.ledger.append(entries.collect::<Vec<_>>()).unwrap();
    let open = || Reader::open(fixture.dir.path());
    let records = fixture.projector.rebuild(open, RebuildPool::new(3)).unwrap();
    assert!(records >= 20_400, "{records}");
    for (number, name) in (1..).zip(&names) {
        let found = details(&fixture.projector, name, 1).unwrap();
        assert_eq!((&found["events"], &found["prompts"]), (&json!(510), &json!(510)));
        let last = format!("prompt {}", number + 40 * 509);
        assert_eq!(found["last_prompt"], last, "in order");
    }
}
