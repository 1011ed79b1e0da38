// SPDX-License-Identifier: Apache-2.0 OR MIT

use serde_json::json;
use tenterhook_event::{EventId, EventKind, ToolCall, Touch, Touches};

use super::*;

fn event(session: &str, ms: u64, kind: EventKind) -> Event {
    let ts = Timestamp::from_unix_ms(ms);
    let mut event = Event::new(EventId::from_parts(ms, 1), ts, "claude-code", kind, kind.name());
    event.harness_session_id = Some(session.to_owned());
    event.cwd = Some("/work".to_owned());
    event
}

fn tool(session: &str, ms: u64, name: &str, args: Value) -> Event {
    Event { tool: Some(ToolCall::new(name, args)), ..event(session, ms, EventKind::PreTool) }
}

fn whole(projector: &Projector, now: u64) -> Value {
    projector.whole("s", Timestamp::from_unix_ms(now)).unwrap().1
}

#[test]
fn a_session_is_what_its_events_say() {
    let projector = Projector::new(None);
    let apply = |event: Event, decision| {
        projector.apply(&event, decision, None, &[]);
    };
    let mut start = event("s", 1000, EventKind::SessionStart);
    start.agent.model = Some("opus".into());
    apply(start, Decision::None);
    assert_eq!(whole(&projector, 1000)["state"], "idle");
    let mut prompt = event("s", 2000, EventKind::Prompt);
    prompt.detail.prompt = Some(concat!("use AKIA", "Q3EGRZ7LWQ2NFKXT please").into());
    apply(prompt, Decision::None);
    apply(tool("s", 3000, "Read", json!({"file_path": "/work/a"})), Decision::None);
    apply(tool("s", 4000, "Write", json!({"file_path": "/work/b", "content": "x"})), Decision::Allow);
    apply(tool("s", 5000, "Write", json!({"file_path": "/etc/passwd", "content": "x"})), Decision::Deny);
    let todos = json!({"todos": [{"content": "one", "status": "completed"}, {"content": "two", "status": "in_progress"}]});
    apply(tool("s", 6000, "TodoWrite", todos), Decision::None);
    let found = whole(&projector, 7000);
    assert_eq!(found["model"], "opus");
    assert_eq!(found["state"], "active");
    assert_eq!(found["verdicts"], json!({"none": 4, "allow": 1, "deny": 1}));
    assert_eq!(found["tools"], json!({"Read": 1, "Write": 2, "TodoWrite": 1}));
    assert_eq!(
        found["files"],
        json!({"read": 1, "written": 1, "deleted": 0, "left_out": 0}),
        "a denied write is none"
    );
    assert_eq!(found["todos"], json!({"all": 2, "completed": 1, "in_progress": 1}));
    assert!(!found["prompt_texts"][0]["text"].as_str().unwrap().contains("AKIA"), "{found}");
    apply(tool("s", 8000, "Bash", json!({"command": "x"})), Decision::Ask);
    assert_eq!(whole(&projector, 8000)["state"], "waiting");
    apply(event("s", 9000, EventKind::Stop), Decision::None);
    assert_eq!(whole(&projector, 9000)["state"], "idle");
    apply(event("s", 10_000, EventKind::SessionEnd), Decision::None);
    assert_eq!(whole(&projector, 10_000)["state"], "ended");
}

#[test]
fn the_model_of_an_earlier_event_holds_for_later_ones() {
    let projector = Projector::new(None);
    let mut first = event("s", 1, EventKind::SessionStart);
    first.agent.model = Some("opus".into());
    projector.apply(&first, Decision::None, None, &[]);
    let mut later = event("s", 2, EventKind::Stop);
    projector.complete(&mut later);
    assert_eq!(later.agent.model.as_deref(), Some("opus"));
    let mut stranger = event("t", 2, EventKind::Stop);
    projector.complete(&mut stranger);
    assert_eq!(stranger.agent.model, None);
}

#[test]
fn what_happened_last_counts_whatever_was_heard_last() {
    let projector = Projector::new(None);
    let mut new = event("s", 2000, EventKind::Stop);
    new.agent.model = Some("new".into());
    let mut old = event("s", 1000, EventKind::SessionStart);
    old.agent.model = Some("old".into());
    projector.apply(&new, Decision::None, None, &[]);
    projector.apply(&old, Decision::None, None, &[]);
    let found = whole(&projector, 2000);
    assert_eq!((&found["model"], &found["last_event"]), (&json!("new"), &json!("stop")));
    assert_eq!(found["started"], "1970-01-01T00:00:01.000Z");
}

#[test]
fn files_that_a_command_touches_come_from_its_judge_or_are_read_from_the_record() {
    let command = json!({"command": "cat a.txt > b.txt && rm -f ~/c.txt"});
    let event = tool("s", 1000, "Bash", command);
    let expected = json!({"read": 1, "written": 1, "deleted": 1, "left_out": 0});
    let projector = Projector::new(Some("/home/ada".into()));
    projector.apply_recorded(&event, Decision::None);
    assert_eq!(whole(&projector, 1000)["files"], expected);
    projector.apply_recorded(&tool("t", 1, "Bash", json!({"command": "x".repeat(70_000)})), Decision::None);
    let left_out = projector.whole("t", Timestamp::from_unix_ms(1)).unwrap().1;
    assert_eq!(left_out["files"]["left_out"], 1);

    let projector = Projector::new(None);
    let touch = |path: &str, how| Touch { path: path.into(), how };
    let touched =
        [touch("a.txt", Touches::Reads), touch("b.txt", Touches::Writes), touch("c.txt", Touches::Deletes)];
    projector.apply(&event, Decision::None, None, &touched);
    assert_eq!(whole(&projector, 1000)["files"], expected);
    projector.apply(&event, Decision::Deny, None, &touched);
    assert_eq!(whole(&projector, 1000)["files"], expected, "what was denied touched nothing");
}

#[test]
fn there_are_never_too_many_and_the_oldest_go_first() {
    let projector = Projector::new(None);
    for number in 0..=u64::try_from(MOST).unwrap() {
        projector.apply(
            &event(&format!("s{number}"), number + 1, EventKind::Stop),
            Decision::None,
            None,
            &[],
        );
    }
    assert!(projector.count() <= MOST && projector.count() > MOST * 9 / 10, "{}", projector.count());
    let now = Timestamp::from_unix_ms(1);
    assert!(projector.whole("s0", now).is_none());
    assert!(projector.whole(&format!("s{MOST}"), now).is_some());
    assert!(projector.whole(&format!("claude-code:s{MOST}"), now).is_some());
}

#[test]
fn texts_for_people_are_short_and_keep_secrets() {
    assert_eq!(clean("short", 10), "short");
    assert_eq!(clean("äöü and more", 3), "äöü…");
    let cleaned = clean(concat!("token AKIA", "Q3EGRZ7LWQ2NFKXT here"), 100);
    assert!(!cleaned.contains("AKIA") && cleaned.ends_with("] here"), "{cleaned}");
}

#[test]
fn of_older_sessions_only_the_numbers_are_kept() {
    let projector = Projector::new(None);
    let number = u64::try_from(WHOLE + 2 * NEW).unwrap();
    for session in 0..=number {
        let name = format!("s{session}");
        let mut prompt = event(&name, session + 1, EventKind::Prompt);
        prompt.detail.prompt = Some("ü".repeat(1000));
        projector.apply(&prompt, Decision::None, None, &[]);
        let read = json!({"file_path": format!("/work/{session}")});
        projector.apply(&tool(&name, session + 1, "Read", read), Decision::None, None, &[]);
    }
    let found = |name: &str| projector.whole(name, Timestamp::from_unix_ms(number)).unwrap().1;
    let (old, new) = (found("s0"), found(&format!("s{number}")));
    assert_eq!((&old["files"]["read"], &new["files"]["read"]), (&json!(1), &json!(1)));
    assert_eq!((&old["files"]["left_out"], old["touched"].as_array().unwrap().len()), (&json!(1), 0));
    assert_eq!(new["touched"][0]["path"], format!("/work/{number}"));
    assert_eq!(old["last_prompt"].as_str().unwrap().chars().count(), 100);
    assert_eq!(new["last_prompt"].as_str().unwrap().chars().count(), 1000);
}
