// SPDX-License-Identifier: Apache-2.0 OR MIT

mod cache;
mod denials;
mod files;
mod properties;
mod rebuild_races;
mod todos;
mod usage;

use serde_json::{Value, json};
use tenterhook_api::{MissingContent, MissingDiff, SessionActivity, SessionChange};
use tenterhook_event::{Decision, EventId, EventKind, PathEffect, PathEffectKind, ToolCall, TranscriptUsage};

use tenterhook_records::sanitize;

use super::*;

/// A projector that is fed event by event.
pub(super) struct SessionFeed {
    pub(super) projector: Arc<SessionProjector>,
    seq: std::cell::Cell<u64>,
}

pub(super) fn event(session: &str, ms: u64, kind: EventKind) -> Event {
    let ts = Timestamp::from_unix_ms(ms);
    let mut event = Event::new(EventId::from_parts(ms, 1), ts, "claude-code", kind, kind.name());
    event.harness_session_id = Some(session.to_owned());
    event.cwd = Some("/work".to_owned());
    event
}

pub(super) fn tool(session: &str, ms: u64, name: &str, args: Value) -> Event {
    Event { tool: Some(ToolCall::new(name, args)), ..event(session, ms, EventKind::PreTool) }
}

/// The result event of a call.
pub(super) fn result(call: &Event, output: Value) -> Event {
    let mut result = Event { event: EventKind::PostTool, ..call.clone() };
    result.ts = Timestamp::from_unix_ms(call.ts.unix_ms() + 1);
    result.detail.tool_output = Some(output);
    result
}

pub(super) fn with_id(mut call: Event, id: &str) -> Event {
    call.tool_use_id = Some(id.to_owned());
    call
}

pub(super) fn decided_event(event: &Event, decision: Decision, seq: u64) -> DecidedEvent<'_> {
    DecidedEvent {
        seq,
        event,
        decision,
        stops: false,
        rule: None,
        reason: None,
        nudge: None,
        input: None,
        touched: None,
        seen: None,
        gone: None,
    }
}

impl SessionFeed {
    pub(super) fn new() -> Self {
        Self {
            projector: SessionProjector::new(Some("/home/ada".into()), Arc::default()),
            seq: std::cell::Cell::new(0),
        }
    }

    /// Applies the next event. Returns the changes for followers.
    pub(super) fn apply(&self, event: &Event, decision: Decision) -> Vec<(&'static str, Value)> {
        self.seq.set(self.seq.get() + 1);
        self.apply_decided(&decided_event(event, decision, self.seq.get()))
    }

    pub(super) fn apply_decided(&self, decided: &DecidedEvent<'_>) -> Vec<(&'static str, Value)> {
        let mut feed = SessionUpdate::new(true);
        self.projector.apply(decided, &mut feed);
        let json = |change: SessionChange| (change.kind(), serde_json::to_value(change).unwrap());
        feed.into_changes().into_iter().map(json).collect()
    }

    pub(super) fn details(&self, now: u64) -> Value {
        details(&self.projector, "s", now).unwrap()
    }
}

pub(super) fn details(projector: &SessionProjector, id: &str, now: u64) -> Option<Value> {
    let (key, _) = projector.find(id)?;
    projector
        .with_session(&key, |view| serde_json::to_value(view.details(Timestamp::from_unix_ms(now))).unwrap())
}

#[test]
fn a_session_is_projected_from_its_events() {
    let feed = SessionFeed::new();
    let mut start = event("s", 1000, EventKind::SessionStart);
    start.agent.model = Some("opus".into());
    feed.apply(&start, Decision::None);
    assert_eq!(feed.details(1000)["state"], "idle");
    let mut prompt = event("s", 2000, EventKind::Prompt);
    prompt.detail.prompt = Some(concat!("use AKIA", "Q3EGRZ7LWQ2NFKXT please").into());
    feed.apply(&prompt, Decision::None);
    feed.apply(&tool("s", 3000, "Read", json!({"file_path": "/work/a"})), Decision::None);
    feed.apply(&tool("s", 4000, "Write", json!({"file_path": "/work/b", "content": "x"})), Decision::Allow);
    feed.apply(
        &tool("s", 5000, "Write", json!({"file_path": "/etc/passwd", "content": "x"})),
        Decision::Deny,
    );
    let todos = json!({"todos": [{"content": "one", "status": "completed"}, {"content": "two", "status": "in_progress"}]});
    feed.apply(&tool("s", 6000, "TodoWrite", todos), Decision::None);
    let found = feed.details(7000);
    assert_eq!((&found["model"], &found["state"]), (&json!("opus"), &json!("active")));
    assert_eq!(found["title"], "use [aws-access-key] please");
    assert_eq!((&found["duration_ms"], &found["last_seq"]), (&json!(5000), &json!(6)));
    assert_eq!(found["verdicts"], json!({"none": 4, "allow": 1, "deny": 1}));
    assert_eq!(found["tools"], json!({"Read": 1, "Write": 2, "TodoWrite": 1}));
    assert_eq!(found["calls"], json!({"calls": 4, "ok": 0, "failed": 0, "denied": 1, "asked": 0}));
    assert_eq!(
        found["files"],
        json!({"read": 1, "written": 1, "deleted": 0, "changed": 1, "behind": 0, "left_out": 0}),
        "a denied write does not count"
    );
    assert_eq!(
        found["todos"],
        json!({"all": 2, "completed": 1, "in_progress": 1, "pending": 0, "progress": "1/2"})
    );
    assert!(!found["prompt_texts"][0]["text"].as_str().unwrap().contains("AKIA"), "{found}");
    feed.apply(&tool("s", 8000, "Bash", json!({"command": "x"})), Decision::Ask);
    assert_eq!(feed.details(8000)["state"], "waiting");
    feed.apply(&event("s", 9000, EventKind::Stop), Decision::None);
    assert_eq!(feed.details(9000)["state"], "idle");
    let mut end = event("s", 10_000, EventKind::SessionEnd);
    end.detail.cause = Some("logout".into());
    let news = feed.apply(&end, Decision::None);
    assert_eq!(news, [("ended", json!({"reason": "logout"}))]);
    let found = feed.details(10_000);
    assert_eq!((&found["state"], &found["end_reason"]), (&json!("ended"), &json!("logout")));
    assert_eq!(found["ended"], "1970-01-01T00:00:10.000Z");
    feed.apply(&event("s", 11_000, EventKind::Prompt), Decision::None);
    assert_eq!(feed.details(11_000)["ended"], json!(null), "the session was resumed");
}

#[test]
fn a_session_whose_end_is_fired_twice_ends_once() {
    let feed = SessionFeed::new();
    let end = |ts| {
        let mut end = event("s", ts, EventKind::SessionEnd);
        (end.source, end.native_event) = ("llxprt".into(), "SessionEnd".into());
        feed.projector.fill_from_session(&mut end);
        end
    };
    let mut start = event("s", 1000, EventKind::SessionStart);
    start.source = "llxprt".into();
    feed.apply(&start, Decision::None);
    assert_eq!(feed.apply(&end(2000), Decision::None).len(), 1);
    let second = end(2070);
    assert_eq!(second.event, EventKind::Other, "no hook at the end of a session runs again");
    assert_eq!(feed.apply(&second, Decision::None), []);
    assert_eq!(feed.details(3000)["ended"], "1970-01-01T00:00:02.000Z");
    // The session is resumed, and ends again.
    start.ts = Timestamp::from_unix_ms(4000);
    feed.apply(&start, Decision::None);
    assert_eq!(end(5000).event, EventKind::SessionEnd);
}

#[test]
fn the_model_of_an_earlier_event_holds_for_later_ones() {
    let feed = SessionFeed::new();
    let mut first = event("s", 1, EventKind::SessionStart);
    first.agent.model = Some("opus".into());
    feed.apply(&first, Decision::None);
    let mut later = event("s", 2, EventKind::Stop);
    feed.projector.fill_from_session(&mut later);
    assert_eq!(later.agent.model.as_deref(), Some("opus"));
    let mut stranger = event("t", 2, EventKind::Stop);
    feed.projector.fill_from_session(&mut stranger);
    assert_eq!(stranger.agent.model, None);
}

#[test]
fn the_event_with_the_latest_time_counts_not_the_last_to_arrive() {
    let feed = SessionFeed::new();
    let mut new = event("s", 2000, EventKind::Stop);
    new.agent.model = Some("new".into());
    let mut old = event("s", 1000, EventKind::SessionStart);
    old.agent.model = Some("old".into());
    feed.apply(&new, Decision::None);
    feed.apply(&old, Decision::None);
    let found = feed.details(2000);
    assert_eq!((&found["model"], &found["last_event"]), (&json!("new"), &json!("stop")));
    assert_eq!(found["started"], "1970-01-01T00:00:01.000Z");
}

#[test]
fn subagents_have_their_own_counts() {
    let feed = SessionFeed::new();
    let of = |mut event: Event, agent: &str, parent: Option<&str>| {
        event.agent.id = Some(agent.into());
        event.agent.kind = Some("helper".into());
        event.agent.parent = parent.map(Into::into);
        event
    };
    let news = feed.apply(&of(event("s", 1, EventKind::SubagentStart), "a", None), Decision::None);
    assert_eq!(news[0].0, "subagent");
    feed.apply(&of(tool("s", 2, "Bash", json!({"command": "ls"})), "a", None), Decision::None);
    feed.apply(&of(tool("s", 3, "Bash", json!({"command": "rm -rf /"})), "b", Some("a")), Decision::Deny);
    feed.apply(&of(event("s", 4, EventKind::SubagentStop), "a", None), Decision::Deny);
    assert_eq!(feed.details(9)["agents"][0]["ended"], json!(null), "a denied stop does not end it");
    feed.apply(&of(event("s", 5, EventKind::SubagentStop), "a", None), Decision::None);
    let call = tool("s", 6, "Agent", json!({"prompt": "x"}));
    feed.apply(&call, Decision::None);
    feed.apply(&result(&call, json!({"agentId": "a", "totalTokens": 15})), Decision::None);
    let second = |ms: u64| Timestamp::from_unix_ms(ms);
    assert_eq!(
        feed.details(9)["agents"],
        json!([
            {"id": "a", "type": "helper", "started": second(1), "ended": second(5), "events": 4, "tools": 1, "failed": 0, "denied": 0, "tokens": 15},
            {"id": "b", "type": "helper", "parent": "a", "started": second(3), "events": 1, "tools": 1, "failed": 0, "denied": 1},
        ])
    );
}

#[test]
fn texts_for_people_are_short_and_keep_secrets() {
    assert_eq!(sanitize("short", 10), "short");
    assert_eq!(sanitize("äöü and more", 3), "äöü…");
    let cleaned = sanitize(concat!("token AKIA", "Q3EGRZ7LWQ2NFKXT here"), 100);
    assert!(!cleaned.contains("AKIA") && cleaned.ends_with("] here"), "{cleaned}");
    assert_eq!(
        sanitize("token [[redacted:aws-access-key:0123456789ab]] here", 100),
        cleaned,
        "as the ledger has it"
    );
    assert_eq!(sanitize("an odd [[redacted:", 100), "an odd [[redacted:");
}
