// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::fs::OpenOptions;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};
use tenterhook_event::{Event, EventId, NativePayload};

use super::*;

/// Prices for a million tokens of this model: 4 dollars for input, 20 for output, 0.20 for reads from the
/// cache and 5 for writes to it.
const MODEL: &str = "claude-opus-5-5";
const NOW: u64 = 1_794_825_314_000;

struct Session {
    dir: tempfile::TempDir,
    reader: UsageReader,
    harness: &'static Harness,
    path: PathBuf,
}

impl Session {
    fn of(harness: &str, below: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("person").join(below);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let harness = tenterhook_harness::find_harness(harness).unwrap();
        let reader = reader(dir.path());
        Self { dir, reader, harness, path }
    }

    fn claude() -> Self {
        Self::of("claude-code", ".claude/projects/-p/s.jsonl")
    }

    fn append(&self, text: &str) {
        let mut file = OpenOptions::new().create(true).append(true).open(&self.path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    fn call(&self, kind: EventKind, ms: u64) -> HookCall {
        let mut event = Event::new(
            EventId::from_parts(ms, 0),
            Timestamp::from_unix_ms(ms),
            self.harness.id,
            kind,
            "PreToolUse",
        );
        event.harness_session_id = Some("s".to_owned());
        let payload = json!({"session_id": "s", "transcript_path": self.path});
        let Value::Object(fields) = payload else { panic!() };
        HookCall { event, native: Some(NativePayload { bytes: Vec::new(), fields }) }
    }

    fn look(&self, ms: u64) -> UsageUpdate {
        self.look_with(ms, MAX_READ_BYTES)
    }

    fn look_with(&self, ms: u64, max_bytes: u64) -> UsageUpdate {
        let request = UsageReader::request(self.harness, &self.call(EventKind::PreTool, ms)).unwrap();
        self.reader.read(&request, TranscriptOwner::current(), max_bytes)
    }

    /// Returns the number of output tokens, if known, and why the number may be too low.
    fn output(&self) -> (Option<u64>, Option<String>) {
        let usage = self.look(NOW).usage;
        (usage.as_ref().map(|usage| usage.output_tokens), usage.and_then(|usage| usage.unknown))
    }

    fn known(&self) -> u64 {
        let (output, unknown) = self.output();
        assert_eq!(unknown, None);
        output.unwrap()
    }
}

fn reader(dir: &Path) -> UsageReader {
    let env = Env { home: Some(dir.join("person")), ..Env::default() };
    UsageReader::new(&Home::in_dir(dir.join("home")), &env)
}

fn answer(id: &str, output: u64, second: u64) -> String {
    let ts = Timestamp::from_unix_ms(NOW - 600_000 + second * 1000);
    let usage = json!({"input_tokens": 10, "output_tokens": output, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 20});
    let line = json!({"parentUuid": null, "message": {"id": id, "model": MODEL, "usage": usage},
        "requestId": id, "type": "assistant", "timestamp": ts});
    format!("{line}\n")
}

#[test]
fn an_answer_counts_once_however_many_lines_it_has() {
    let session = Session::claude();
    session.append("{\"type\":\"user\",\"message\":{\"content\":\"usage\"}}\n");
    session.append(&answer("a", 1, 1));
    session.append(&answer("a", 500, 1));
    session.append(&answer("b", 7, 2));
    session.append(&answer("a", 500, 1));
    let usage = session.look(NOW).usage.unwrap();
    assert_eq!((usage.answers, usage.input_tokens, usage.output_tokens), (2, 20, 507));
    assert_eq!((usage.cache_read_tokens, usage.cache_write_tokens), (200, 40));
    assert_eq!(usage.context_tokens, Some(130));
    // 20 × 4 + 507 × 20 + 200 × 0.20 + 40 × 5 millionths of a dollar.
    assert_eq!((usage.cost_microusd, usage.unpriced_answers), (80 + 10_140 + 40 + 200, 0));
    let today = usage.today.unwrap();
    assert_eq!((today.tokens, today.cost_microusd), (767, 10_460));
}

#[test]
fn only_new_lines_are_read_and_totals_are_told_until_they_are_recorded() {
    let session = Session::claude();
    session.append(&answer("a", 5, 1));
    let found = session.look(NOW);
    assert_eq!(found.usage.as_ref().unwrap().output_tokens, 5);
    assert_eq!(session.known(), 5, "a call at the same time has to know it too");
    session.reader.mark_recorded(&found);
    assert_eq!(session.output(), (None, None), "nothing is new");
    // The beginning of a line is not counted until its end is written.
    let line = answer("b", 6, 2);
    let (begin, end) = line.split_at(line.len() / 2);
    session.append(begin);
    assert_eq!(session.output(), (None, None));
    session.append(end);
    assert_eq!(session.known(), 11);
    // Lines that were counted are not read again, even if they have changed.
    let text = std::fs::read_to_string(&session.path).unwrap().replacen(":5,", ":9,", 1);
    std::fs::write(&session.path, text).unwrap();
    session.append(&answer("c", 1, 3));
    assert_eq!(session.known(), 12);
}

#[test]
fn another_process_goes_on_where_this_one_was() {
    let mut session = Session::claude();
    session.append(&answer("a", 5, 1));
    let found = session.look(NOW);
    session.reader.mark_recorded(&found);
    session.reader.save();
    assert!(!session.reader.has_unsaved());
    session.append(&answer("a", 5, 1));
    session.append(&answer("b", 6, 2));
    session.reader = reader(session.dir.path());
    assert_eq!(session.known(), 11);
    // The process was killed before it saved anything; the next process finds the same totals.
    session.reader = reader(session.dir.path());
    assert_eq!(session.known(), 11);
}

#[test]
fn a_file_that_is_cut_replaced_or_removed_takes_nothing_back() {
    let session = Session::claude();
    let first = format!("{}{}", answer("a", 5, 1), answer("b", 6, 2));
    session.append(&first);
    assert_eq!(session.known(), 11);
    // The file is truncated to nothing, and the client continues.
    std::fs::write(&session.path, "").unwrap();
    assert_eq!(session.known(), 11);
    session.append(&answer("c", 7, 3));
    assert_eq!(session.known(), 18);
    // Another file with the same beginning replaces the transcript.
    std::fs::remove_file(&session.path).unwrap();
    assert_eq!(session.output().0, Some(18));
    assert!(session.output().1.unwrap().ends_with("s.jsonl` was removed"));
    session.append(&format!("{first}{}{}", answer("c", 7, 3), answer("d", 8, 4)));
    assert_eq!(session.known(), 26, "nothing is counted twice");
    // The file was edited in the middle and is longer than before.
    let edited = format!("{}{}", answer("x", 1, 1), answer("e", 9, 5)).repeat(3);
    std::fs::write(&session.path, format!("{}\n{edited}", " ".repeat(4000))).unwrap();
    assert_eq!(session.known(), 35);
}

#[test]
fn a_time_in_the_future_hides_nothing() {
    let session = Session::claude();
    session.append(&answer("a", 1, 1_000_000_000));
    assert_eq!(session.known(), 1);
    std::fs::write(&session.path, "").unwrap();
    assert_eq!(session.known(), 1);
    session.append(&answer("b", 6, 700));
    assert_eq!(session.known(), 7);
}

#[test]
fn what_is_not_a_transcript_of_this_client_is_unknown() {
    let mut session = Session::claude();
    let other = session.dir.path().join("other.jsonl");
    std::fs::write(&other, answer("a", 5, 1)).unwrap();
    symlink(&other, &session.path).unwrap();
    assert!(session.output().1.unwrap().contains("is a symbolic link"));
    std::fs::remove_file(&session.path).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, &session.path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    assert!(session.output().1.unwrap().contains("is not a regular file"));
    let inside = session.path.clone();
    for (path, why) in [
        (other, "is outside the client's directory"),
        (inside.with_file_name("../../../other.jsonl"), "is not an absolute path"),
        (PathBuf::from("relative.jsonl"), "is not an absolute path"),
        (inside.with_extension("txt"), "is not a transcript"),
        (inside.parent().unwrap().join("d.jsonl"), "is not a regular file"),
    ] {
        if why == "is not a regular file" {
            std::fs::create_dir(&path).unwrap();
        }
        session.path = path;
        let (output, unknown) = session.output();
        assert!(unknown.as_ref().unwrap().contains(why), "{unknown:?}");
        assert_eq!(output, Some(0));
    }
    let mut call = session.call(EventKind::PreTool, NOW);
    call.native.as_mut().unwrap().fields.insert("transcript_path".to_owned(), Value::Null);
    let request = UsageReader::request(session.harness, &call).unwrap();
    let found = session.reader.read(&request, TranscriptOwner::current(), MAX_READ_BYTES);
    assert_eq!(found.usage.unwrap().unknown.unwrap(), "the client does not name a transcript");
    // The file belongs to another account.
    session.path = inside.with_file_name("own.jsonl");
    session.append(&answer("a", 5, 1));
    let request = UsageReader::request(session.harness, &session.call(EventKind::PreTool, NOW)).unwrap();
    let found = session.reader.read(&request, TranscriptOwner::other(4711), MAX_READ_BYTES);
    assert!(found.usage.unwrap().unknown.unwrap().contains("belongs to another account"));
}

#[test]
fn lines_that_cannot_be_read_make_the_usage_unknown() {
    let session = Session::claude();
    session.append(&answer("a", 5, 1));
    session.append("{");
    session.append(&answer("b", 6, 2));
    assert_eq!(session.known(), 11, "what stands before a line does not hide it");
    session.append("{\"type\":\"assistant\",\"message\":{\"usage\":{\"output_tokens\":-1}}}\n");
    session.append(&answer("c", 7, 3));
    let (output, unknown) = session.output();
    assert_eq!(output, Some(18));
    assert!(unknown.unwrap().ends_with("has a line with unreadable token counts"));

    let session = Session::claude();
    session.append(&answer("a", 5, 1));
    let huge = "x".repeat(17 << 20);
    session.append(&huge);
    assert!(session.output().1.unwrap().ends_with("has a line that is too long"));
    session.append(&answer("hidden", 1, 2));
    session.append(&answer("b", 6, 3));
    assert_eq!(session.output().0, Some(11));
}

#[test]
fn a_long_transcript_is_read_in_parts() {
    let session = Session::claude();
    for number in 0..200 {
        session.append(&answer(&format!("m{number}"), 1, number));
    }
    let length = std::fs::metadata(&session.path).unwrap().len();
    let mut calls = 0;
    loop {
        let found = session.look_with(NOW, 4096);
        calls += 1;
        let usage = found.usage.unwrap();
        if !found.is_behind {
            assert_eq!((usage.output_tokens, usage.unknown), (200, None));
            break;
        }
        assert!(usage.output_tokens < 200);
        assert_eq!(usage.unknown.as_deref(), Some("the transcript is still being read; try again"));
    }
    assert!((length / 4096..length / 3000).contains(&calls), "{calls} calls for {length} bytes");
    // A sparse file has a very large size.
    let file = OpenOptions::new().write(true).open(&session.path).unwrap();
    file.set_len(1 << 40).unwrap();
    let found = session.look_with(NOW, 32 << 20);
    assert!(found.is_behind);
    assert!(found.usage.unwrap().unknown.is_some());
}

#[test]
fn subagents_count_and_so_do_those_that_come_later() {
    let session = Session::claude();
    session.append(&answer("a", 5, 1));
    assert_eq!(session.known(), 5);
    let subagents = session.path.with_extension("").join("subagents");
    std::fs::create_dir_all(&subagents).unwrap();
    std::fs::write(subagents.join("agent-1.jsonl"), answer("s", 6, 1)).unwrap();
    std::fs::write(subagents.join("agent-1.meta.json"), answer("s", 1, 1)).unwrap();
    assert_eq!(session.known(), 11);
    std::fs::write(subagents.join("agent-2.jsonl"), answer("t", 7, 1)).unwrap();
    assert_eq!(session.known(), 18);
    symlink("/dev/zero", subagents.join("agent-3.jsonl")).unwrap();
    assert!(session.output().1.unwrap().contains("agent-3.jsonl` is a symbolic link"));
}

#[test]
fn a_transcript_comes_a_moment_after_the_first_call_and_copies_do_not_count() {
    let session = Session::claude();
    let unknown = |ms: u64| session.look(ms).usage.map(|usage| usage.unknown.unwrap());
    assert_eq!(unknown(NOW), None, "the client writes a moment later");
    assert_eq!(unknown(NOW + 1900), None);
    assert!(unknown(NOW + 2000).unwrap().starts_with("the client has not written"));
    // A session that continues another session's history begins with that session's responses.
    session.append(&answer("copied", 100, 1));
    session.append(&answer("own", 5, 601));
    assert_eq!(session.known(), 5);
}

#[test]
fn yesterday_counts_for_the_session_and_not_for_today() {
    let session = Session::claude();
    session.append(&answer("a", 5, 1));
    let tomorrow = NOW + 24 * 60 * 60 * 1000;
    let usage = session.look(tomorrow).usage.unwrap();
    assert_eq!((usage.output_tokens, usage.today), (5, None));
}

#[test]
fn codex_totals_become_differences() {
    let session = Session::of("codex", ".codex/sessions/2026/11/16/rollout-x.jsonl");
    let total = |input: u64, cached: u64, output: u64| {
        let usage = json!({"input_tokens": input, "cached_input_tokens": cached, "output_tokens": output});
        let record = json!({"type": "token_usage_record", "payload": {"thread_token_usage": usage}});
        let count = json!({"type": "event_msg", "payload": {"type": "token_count", "info": {"total_token_usage": usage}}});
        format!("{record}\n{count}\n")
    };
    session.append("{\"type\":\"turn_context\",\"payload\":{\"model\":\"gpt-5.5\"}}\n");
    session.append(&total(1000, 400, 10));
    session.append(&total(3000, 1400, 30));
    let usage = session.look(NOW).usage.unwrap();
    assert_eq!((usage.answers, usage.input_tokens, usage.cache_read_tokens), (2, 1600, 1400));
    // 1600 × 5 + 30 × 30 + 1400 × 0.50 millionths of a dollar.
    assert_eq!((usage.output_tokens, usage.cost_microusd), (30, 8000 + 900 + 700));
    assert_eq!(usage.context_tokens, Some(2000));
    // An edit that lowers the totals has no effect, and the client's next line has the true totals.
    std::fs::write(&session.path, total(1, 0, 1)).unwrap();
    assert_eq!(session.known(), 30);
    session.append(&total(4000, 1400, 50));
    assert_eq!(session.known(), 50);
}

#[test]
fn other_transcripts_of_the_session_are_read_at_every_call() {
    let mut session = Session::of("codex", ".codex/sessions/2026/11/16/rollout-x.jsonl");
    let total = |output: u64| {
        let usage = json!({"input_tokens": 0, "output_tokens": output});
        format!("{}\n", json!({"type": "token_usage_record", "payload": {"thread_token_usage": usage}}))
    };
    session.append(&total(10));
    let main = session.path.clone();
    session.path = main.with_file_name("rollout-y.jsonl");
    session.append(&total(100));
    assert_eq!(session.known(), 100);
    session.path = main;
    assert_eq!(session.known(), 110);
    let mut file =
        OpenOptions::new().append(true).open(session.path.with_file_name("rollout-y.jsonl")).unwrap();
    file.write_all(total(150).as_bytes()).unwrap();
    assert_eq!(session.known(), 160, "the subagent's last answer, after its last hook");
    std::fs::remove_file(session.path.with_file_name("rollout-y.jsonl")).unwrap();
    assert_eq!(session.known(), 160);
}

#[test]
fn a_model_without_a_price_has_tokens_and_no_cost() {
    let session = Session::claude();
    session.append(&answer("a", 5, 1).replace(MODEL, "unheard-of"));
    let usage = session.look(NOW).usage.unwrap();
    assert_eq!((usage.cost_microusd, usage.unpriced_answers, usage.unpriced_tokens), (0, 1, 135));
    // From then on, the price in the user's file applies.
    let home = session.dir.path().join("home");
    std::fs::create_dir_all(&home).unwrap();
    std::fs::write(
        home.join("prices.yaml"),
        "version: 1\nprices:\n  - {model: unheard-of, input: 0, output: 1000000}\n",
    )
    .unwrap();
    session.append(&answer("b", 5, 2).replace(MODEL, "unheard-of"));
    let usage = session.look(NOW).usage.unwrap();
    assert_eq!((usage.cost_microusd, usage.unpriced_answers, usage.unpriced_tokens), (5_000_000, 1, 135));
}
