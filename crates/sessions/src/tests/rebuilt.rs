// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Live events while sessions are put together from the ledger: none is lost, and none counts twice.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use tenterhook_event::{Call, Decided, Outcome};
use tenterhook_ledger::{Entry, Ledger, Options, Reader};

use super::*;

/// A ledger, and the sessions of the daemon that writes it.
struct Written {
    dir: tempfile::TempDir,
    ledger: Ledger,
    projector: Arc<Projector>,
    prompts: AtomicU64,
}

impl Written {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(dir.path(), Options::new(|| 1)).unwrap().ledger;
        let projector = Projector::new(None, Arc::default());
        projector.begin();
        Self { dir, ledger, projector, prompts: AtomicU64::new(0) }
    }

    /// The next prompt, and its leaf.
    fn record(&self, session: &str) -> (Event, u64) {
        self.keep(self.prompt(session))
    }

    fn keep(&self, event: Event) -> (Event, u64) {
        let seq = self.ledger.append(entry(event.clone())).unwrap().seq();
        (event, seq)
    }

    fn prompt(&self, session: &str) -> Event {
        let number = self.prompts.fetch_add(1, Ordering::Relaxed) + 1;
        let mut prompt = event(session, number, EventKind::Prompt);
        prompt.detail.prompt = Some(format!("prompt {number}"));
        prompt
    }

    fn hear(&self, (prompt, seq): &(Event, u64)) {
        self.projector.apply(&happened(prompt, Decision::None, *seq), &mut SessionUpdate::default());
    }

    /// Puts all sessions together. `meanwhile` is called whenever somebody begins to read: to see how much
    /// there is, to read it (on one thread, because it is little), and to read what came in meanwhile.
    fn rebuild(&self, meanwhile: impl Fn(usize) + Sync) {
        let begun = AtomicUsize::new(0);
        let open = || {
            meanwhile(begun.fetch_add(1, Ordering::Relaxed));
            Reader::open(self.dir.path())
        };
        self.projector.rebuild(open, RebuildPool::beside_calls()).unwrap();
        assert_eq!(begun.into_inner(), 3);
    }

    fn prompts_of(&self, session: &str) -> Vec<String> {
        let found = whole(&self.projector, session, 1).unwrap_or_default();
        let texts = found["prompt_texts"].as_array().into_iter().flatten();
        let texts: Vec<_> = texts.map(|prompt| prompt["text"].as_str().unwrap().to_owned()).collect();
        assert_eq!(found["events"].as_u64().unwrap_or(0), texts.len() as u64);
        texts
    }
}

fn entry(event: Event) -> Entry {
    let (call, outcome) = (Call { event, native: None }, Outcome::default());
    let decided =
        Decided { call: &call, outcome: &outcome, generation: "g1", took_us: 1, facts: None, touched: None };
    Entry::decision(&decided, &|_| Vec::new())
}

fn numbered(numbers: impl IntoIterator<Item = u64>) -> Vec<String> {
    numbers.into_iter().map(|number| format!("prompt {number}")).collect()
}

#[test]
fn what_comes_in_while_the_ledger_is_read_is_there_once() {
    let written = Written::new();
    written.record("s");
    written.record("s");
    written.hear(&written.record("s"));
    let (late, unseen) = (Mutex::new(None), Mutex::new(None));
    written.rebuild(|step| {
        written.hear(&written.record("s"));
        if step == 2 {
            // It is in the ledger, and whoever decided it has not come to tell yet.
            *late.lock().unwrap() = Some(written.record("s"));
            // It is decided, and a moment from being in the ledger's file.
            let (_, seq) = written.record("other");
            let prompt = (written.prompt("s"), seq + 1);
            written.hear(&prompt);
            *unseen.lock().unwrap() = Some(prompt);
        }
    });
    let (late, (unseen, seq)) = (late.into_inner().unwrap().unwrap(), unseen.into_inner().unwrap().unwrap());
    written.hear(&late);
    assert_eq!(written.ledger.append(entry(unseen)).unwrap().seq(), seq);
    written.hear(&written.record("s"));
    let heard = numbered((1..=7).chain([9, 10]));
    assert_eq!(written.prompts_of("s"), heard);
    assert_eq!(written.prompts_of("other"), numbered([8]));
    written.projector.forget();
    written.rebuild(|_| ());
    assert_eq!(written.prompts_of("s"), heard, "and the same from the ledger alone");
}

#[test]
fn sessions_that_are_asked_for_anew_are_not_those_that_were_under_way() {
    let written = Written::new();
    written.record("s");
    written.rebuild(|step| {
        if step == 2 {
            // Somebody erases something.
            written.projector.forget();
            written.hear(&written.record("s"));
        }
    });
    assert_eq!(written.prompts_of("s"), numbered([2]), "only what came in since");
    written.rebuild(|step| {
        if step == 1 {
            written.hear(&written.record("s"));
        }
    });
    assert_eq!(written.prompts_of("s"), numbered(1..=3));
}

#[test]
fn a_session_that_was_read_anew_meanwhile_is_read_once_more() {
    let written = Written::new();
    written.record("s");
    let key = SessionKey { harness: "claude-code".into(), id: "s".into() };
    written.rebuild(|step| {
        if step == 2 {
            let reader = Reader::open(written.dir.path()).unwrap();
            written.projector.bring_back(&key, &reader, |_| ()).unwrap();
        }
    });
    assert_eq!(written.projector.take_cold().into_iter().collect::<Vec<_>>(), [key]);
}

#[test]
fn a_text_that_was_erased_a_moment_ago_is_in_no_diff() {
    let written = Written::new();
    let call = tool("s", 1, "Write", json!({"file_path": "/work/a", "content": "secret\n"}));
    let heard = written.keep(call);
    written.hear(&heard);
    let reader = Reader::open(written.dir.path()).unwrap();
    let key = SessionKey::of(&heard.0).unwrap();
    let changes = || written.projector.look(&key, |view| view.changes_of("/work/a")).unwrap();
    assert_eq!(diff(changes(), &reader).unwrap()[0].diff.as_deref(), Some("@@ -0,0 +1 @@\n+secret\n"));
    written.ledger.erase(heard.1, heard.1, "ada", "a test", &|_| Vec::new()).unwrap();
    let shown = diff(changes(), &reader).unwrap();
    assert_eq!(
        (shown[0].diff.as_deref(), shown[0].why),
        (None, Some(MissingDiff::Erased)),
        "before all is read anew"
    );
}

#[test]
fn threads_share_the_sessions_and_leave_none_out() {
    let written = Written::new();
    let names: Vec<_> = (0..40).map(|number| format!("s{number}")).collect();
    let entries = (0..20_400).map(|number| {
        let prompt = written.prompt(&names[number % names.len()]);
        entry(prompt).seal(written.ledger.sealing()).unwrap()
    });
    written.ledger.append(entries.collect::<Vec<_>>()).unwrap();
    let open = || Reader::open(written.dir.path());
    let leaves = written.projector.rebuild(open, RebuildPool::new(3)).unwrap();
    assert!(leaves >= 20_400, "{leaves}");
    for (number, name) in (1..).zip(&names) {
        let found = whole(&written.projector, name, 1).unwrap();
        assert_eq!((&found["events"], &found["prompts"]), (&json!(510), &json!(510)));
        let last = format!("prompt {}", number + 40 * 509);
        assert_eq!(found["last_prompt"], last, "in order");
    }
}
