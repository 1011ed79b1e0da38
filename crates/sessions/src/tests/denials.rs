// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::*;

/// Denies a command with a suggestion. Returns the result after the next call.
fn hint(denied: &str, nudge: Option<&str>, next: &Event) -> String {
    hint_after(denied, nudge, next, Decision::None)
}

fn hint_after(denied: &str, nudge: Option<&str>, next: &Event, decision: Decision) -> String {
    let feed = SessionFeed::new();
    let event = tool("s", 1, "Bash", json!({"command": denied, "description": "first"}));
    let denial = DecidedEvent {
        nudge: nudge.map(Into::into),
        reason: Some("not so".into()),
        rule: Some("a-rule".into()),
        ..decided_event(&event, Decision::Deny, 1)
    };
    feed.apply_decided(&denial);
    assert_eq!(feed.details(1)["denials"][0]["hint"], "open");
    let news = feed.apply(next, decision);
    let news: Vec<_> = news.into_iter().filter(|(kind, _)| *kind == "hint").collect();
    let hint = feed.details(1)["denials"][0]["hint"].as_str().unwrap().to_owned();
    assert_eq!(news[0], ("hint", json!({"denied": 1, "hint": hint})));
    let counted = feed.details(1)["denied"].clone();
    let taken = u64::from(hint == "taken");
    let repeated = u64::from(hint == "repeated");
    assert_eq!(
        counted,
        json!({"all": 1, "nudged": u64::from(nudge.is_some()), "taken": taken, "repeated": repeated})
    );
    hint
}

#[test]
fn the_next_call_shows_whether_the_suggestion_was_taken() {
    let bash = |command: &str| tool("s", 2, "Bash", json!({"command": command, "description": "second"}));
    let (force, lease) = ("git push --force", Some("use `git push --force-with-lease`"));
    assert_eq!(hint(force, lease, &bash("git push --force-with-lease origin main")), "taken");
    assert_eq!(hint(force, lease, &bash("git  push --force")), "repeated", "spaces make no difference");
    assert_eq!(hint(force, lease, &bash("git status")), "other", "the program alone is not the hint");
    assert_eq!(hint("rm -rf x", Some("use trash instead"), &bash("/usr/bin/trash x")), "taken");
    let prose = Some("delete what you mean by name");
    assert_eq!(hint("rm -rf x", prose, &bash("rm x/a")), "taken", "the same program, and not denied");
    assert_eq!(hint("rm -rf x", prose, &bash("ls")), "other");
    assert_eq!(hint_after("rm -rf x", prose, &bash("rm -rf ~"), Decision::Ask), "other", "asked about");
    assert_eq!(
        hint("cat .env", Some("Read the example"), &tool("s", 2, "Read", json!({"file_path": "a"}))),
        "taken"
    );
    let plan = Some("show the plan first (`terraform plan`, `kubectl diff`)");
    assert_eq!(hint("terraform apply", plan, &bash("kubectl diff -f x.yaml")), "taken", "any of them");
    assert_eq!(hint("rm -rf x", None, &bash("ls")), "other");
    assert_eq!(hint("rm -rf x", None, &bash("rm -rf x")), "repeated");
}

#[test]
fn only_the_agent_that_was_denied_can_take_its_hint() {
    let feed = SessionFeed::new();
    feed.apply(&tool("s", 1, "Bash", json!({"command": "rm -rf x"})), Decision::Deny);
    let mut other = tool("s", 2, "Bash", json!({"command": "rm -rf x"}));
    other.agent.id = Some("a".into());
    feed.apply(&other, Decision::None);
    assert_eq!(feed.details(1)["denials"][0]["hint"], "open");
    feed.apply(&event("s", 3, EventKind::Stop), Decision::Deny);
    assert_eq!(feed.details(1)["denied"]["all"], 1, "a denied stop is not a denial");
}

#[test]
fn an_agent_waits_no_longer_than_its_approval_can_last() {
    let feed = SessionFeed::new();
    let mut asked = tool("s", 1000, "Bash", json!({"command": "make"}));
    asked.source = "codex".to_owned();
    "PreToolUse".clone_into(&mut asked.native_event);
    feed.apply(&asked, Decision::Ask);
    let key = SessionKey::of(&asked).unwrap();
    let state = |ms: u64| {
        let state = feed.projector.lock();
        state.cache.sessions.get(&key).unwrap().state(Timestamp::from_unix_ms(ms))
    };
    assert_eq!(
        (state(2000), state(61_000), state(200_000)),
        (SessionActivity::Waiting, SessionActivity::Waiting, SessionActivity::Active)
    );
    assert_eq!(state(1000 + 16 * 60 * 1000), SessionActivity::Idle);
    feed.projector.approval_ended(&asked);
    assert_eq!(state(2000), SessionActivity::Active);
}

#[test]
fn calls_that_were_asked_about_are_counted_and_listed() {
    let feed = SessionFeed::new();
    feed.apply(&tool("s", 1, "Bash", json!({"command": "make"})), Decision::Ask);
    let whole = feed.details(1);
    assert_eq!(whole["tool_results"]["Bash"]["asked"], 1);
    assert_eq!(whole["asks"][0]["gist"], "make");
    assert_eq!(whole["denials"], json!([]));
}
