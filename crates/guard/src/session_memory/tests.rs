// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::os::unix::fs::PermissionsExt;

use serde_json::json;
use tenterhook_event::{EventKind, Timestamp, ToolCall};
use tenterhook_policy::{EvalEnvironment, RuleSource, SourceLayer};

use super::*;

const RULES: &str = "version: 1
rules:
  - {id: mark, match: {shell: {program: cat}}, verdict: none, label: seen}
  - {id: after, match: {label: seen, shell: {program: curl}}, verdict: deny}
  - {id: often, match: {shell: {program: ls}}, verdict: ask, limit: {count: 1, window: 1h}}
  - {id: together, match: {shell: {program: make}}, verdict: ask, limit: {count: 1, window: 1h, per: rule}}
";

fn rules() -> RuleSet {
    let loaded = RuleSet::load(&[RuleSource {
        name: "rules.yaml",
        text: RULES,
        layer: SourceLayer::User,
        trusted: true,
    }]);
    assert_eq!(loaded.problems, []);
    loaded.rules
}

fn event(number: u64, session: &str, line: &str) -> Event {
    let id = EventId::from_parts(number, u128::from(number));
    let mut event =
        Event::new(id, Timestamp::from_unix_ms(number), "claude-code", EventKind::PreTool, "PreToolUse");
    event.harness_session_id = Some(session.to_owned());
    event.tool = Some(ToolCall::new("Bash", json!({ "command": line })));
    event
}

/// Evaluates an event as a separate process would.
fn call(dir: &Path, event: &Event) -> PolicyJudgement {
    let memory = SessionMemory::read_write(Some(SessionStateDir::new(dir.to_owned())));
    ask(&memory, event)
}

fn ask(memory: &SessionMemory, event: &Event) -> PolicyJudgement {
    let rules = rules();
    let facts = tenterhook_policy::facts(event, &EvalEnvironment::default());
    memory.judge(event, &rules, |state| tenterhook_policy::judge(event, &facts, state, &rules))
}

#[test]
fn labels_and_counts_last_from_one_process_to_the_next() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("sessions");
    assert!(call(&dir, &event(1, "a", "curl x")).findings.is_empty());
    assert!(!dir.join("all.json").exists());
    call(&dir, &event(2, "a", "cat x"));
    assert_eq!(call(&dir, &event(3, "a", "curl x")).findings.len(), 1);
    assert!(call(&dir, &event(4, "b", "curl x")).findings.is_empty(), "another session carries no label");
    assert!(call(&dir, &event(5, "a", "ls")).findings.is_empty());
    assert!(call(&dir, &event(6, "b", "ls")).findings.is_empty(), "each session is counted by itself");
    assert_eq!(call(&dir, &event(7, "a", "ls")).findings.len(), 1);
    assert!(call(&dir, &event(8, "a", "make")).findings.is_empty());
    assert_eq!(call(&dir, &event(9, "b", "make")).findings.len(), 1, "these are counted together");
    for entry in std::fs::read_dir(&dir).unwrap() {
        let path = entry.unwrap().path();
        let mode = path.metadata().unwrap().permissions().mode() & 0o777;
        assert!(path.ends_with(LOCK_FILE) || mode == 0o600, "{}: {mode:o}", path.display());
    }
}

#[test]
fn a_call_that_is_judged_twice_counts_once() {
    let dir = tempfile::tempdir().unwrap();
    let memory = SessionMemory::read_write(Some(SessionStateDir::new(dir.path().to_owned())));
    let first = event(1, "a", "ls");
    assert!(ask(&memory, &first).findings.is_empty());
    assert!(ask(&memory, &first).findings.is_empty(), "the same call, changed");
    assert_eq!(ask(&memory, &event(2, "a", "ls")).findings.len(), 1);
}

#[test]
fn a_question_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let memory = SessionMemory::read_only(Some(SessionStateDir::new(dir.path().join("sessions"))));
    ask(&memory, &event(1, "a", "cat x"));
    assert!(!dir.path().join("sessions").exists());
    call(dir.path(), &event(2, "a", "cat x"));
    let looking = SessionMemory::read_only(Some(SessionStateDir::new(dir.path().to_owned())));
    assert_eq!(ask(&looking, &event(3, "a", "curl x")).findings.len(), 1, "what happened counts");
}

#[test]
fn a_session_whose_file_cannot_be_read_may_have_any_label() {
    let dir = tempfile::tempdir().unwrap();
    call(dir.path(), &event(1, "a", "cat x"));
    let sessions = SessionStateDir::new(dir.path().to_owned());
    let path = sessions.path("claude-code\na");
    for text in ["{", r#"{"v":2,"of":"claude-code\na"}"#, r#"{"v":1,"of":"somebody else"}"#] {
        std::fs::write(&path, text).unwrap();
        let judgement = call(dir.path(), &event(2, "a", "curl x"));
        let [finding] = judgement.findings.as_slice() else { panic!("{:?}", judgement.findings) };
        assert!(finding.reason.as_ref().unwrap().contains("state was lost"), "{finding:?}");
        let note = judgement.steps.last().and_then(|step| step.note.as_deref()).unwrap();
        assert!(note.contains("cannot be read, so the session may have any label"), "{note}");
        call(dir.path(), &event(3, "a", "cat x"));
        assert_eq!(call(dir.path(), &event(4, "a", "curl y")).findings.len(), 1);
        assert!(sessions.read(&path, "claude-code\na").unwrap().is_incomplete, "it stays so");
    }
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    let judgement = call(dir.path(), &event(3, "a", "cat x"));
    let notes: Vec<_> = judgement.steps.iter().filter(|step| step.status == TraceStatus::Failed).collect();
    assert_eq!(notes.len(), 2, "neither read nor written: {notes:?}");
}

#[test]
fn what_nobody_has_touched_for_a_week_is_removed() {
    let dir = tempfile::tempdir().unwrap();
    call(dir.path(), &event(1, "old", "cat x"));
    let sessions = SessionStateDir::new(dir.path().to_owned());
    let old = sessions.path("claude-code\nold");
    let past = SystemTime::now() - STATE_LIFETIME - Duration::from_mins(1);
    File::options().write(true).open(&old).unwrap().set_modified(past).unwrap();
    call(dir.path(), &event(2, "new", "cat x"));
    assert!(!old.exists() && sessions.path("claude-code\nnew").exists());
}

const BUDGETS: &str = "version: 1
rules:
  - {id: session, match: {}, verdict: deny, limit: {cost: 5, per: session}}
  - {id: day, match: {}, verdict: deny, limit: {cost: 8, per: day}}
";

#[test]
fn what_was_spent_lasts_from_one_process_to_the_next_and_an_answer_counts_once() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("sessions");
    let source = RuleSource { name: "rules.yaml", text: BUDGETS, layer: SourceLayer::User, trusted: true };
    let rules = RuleSet::load(&[source]).rules;
    let judged = |memory: &SessionMemory, event: &Event| {
        let facts = tenterhook_policy::facts(event, &EvalEnvironment::default());
        memory.judge(event, &rules, |state| tenterhook_policy::judge(event, &facts, state, &rules))
    };
    let process = || SessionMemory::read_write(Some(SessionStateDir::new(dir.clone())));
    // A million tokens of this model cost three dollars.
    let answers = |number: u64, session: &str| {
        let mut answer = event(number, session, "");
        answer.event = EventKind::PostModel;
        answer.tool = None;
        answer.agent.model = Some("claude-sonnet-4-5".to_owned());
        answer.detail.model_response = Some(json!({"usage": {"input_tokens": 1_000_000}}));
        let memory = process();
        // The same event is evaluated again after a hook has changed it.
        judged(&memory, &answer);
        judged(&memory, &answer);
    };
    let gate = |number: u64, session: &str| -> Vec<String> {
        let judgement = judged(&process(), &event(number, session, "ls"));
        judgement.findings.iter().map(|finding| finding.by.to_string()).collect()
    };
    answers(1, "a");
    assert_eq!(gate(2, "a"), Vec::<String>::new());
    answers(3, "a");
    assert_eq!(gate(4, "a"), ["rule:session"]);
    assert_eq!(gate(5, "b"), Vec::<String>::new());
    answers(6, "b");
    assert_eq!(gate(7, "b"), ["rule:day"], "both sessions together have spent nine dollars");
    assert_eq!(gate(24 * 60 * 60 * 1000, "b"), Vec::<String>::new(), "a new day");
}

#[test]
fn what_another_process_remembers_is_seen_although_nothing_had_changed_before() {
    let dir = tempfile::tempdir().unwrap();
    let memory = SessionMemory::read_write(Some(SessionStateDir::new(dir.path().to_owned())));
    std::thread::sleep(STAMP_SETTLE_TIME * 2);
    assert!(ask(&memory, &event(1, "a", "curl x")).findings.is_empty());
    assert!(lock_cache(&memory.cache).by_session.contains_key("claude-code\na"));
    call(dir.path(), &event(2, "a", "cat x"));
    assert_eq!(ask(&memory, &event(3, "a", "curl x")).findings.len(), 1);
    assert_eq!(ask(&memory, &event(4, "a", "curl x")).findings.len(), 1);
    std::thread::sleep(STAMP_SETTLE_TIME * 2);
    assert_eq!(ask(&memory, &event(5, "a", "curl x")).findings.len(), 1);
    assert_eq!(ask(&memory, &event(6, "a", "curl x")).findings.len(), 1, "it is read once");
    call(dir.path(), &event(7, "b", "cat x"));
    assert_eq!(ask(&memory, &event(8, "b", "curl x")).findings.len(), 1);
}
