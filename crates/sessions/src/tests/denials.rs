// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::*;

/// Denies a command with a nudge, and gives what the next call makes of it.
fn hint(denied: &str, nudge: Option<&str>, next: &Event) -> String {
    hint_of(denied, nudge, next, Decision::None)
}

fn hint_of(denied: &str, nudge: Option<&str>, next: &Event, decision: Decision) -> String {
    let told = Teller::new();
    let event = tool("s", 1, "Bash", json!({"command": denied, "description": "first"}));
    let happened = DecidedEvent {
        nudge: nudge.map(Into::into),
        reason: Some("not so".into()),
        rule: Some("a-rule".into()),
        ..happened(&event, Decision::Deny, 1)
    };
    told.tell(&happened);
    assert_eq!(told.whole(1)["denials"][0]["hint"], "open");
    let news = told.apply(next, decision);
    let news: Vec<_> = news.into_iter().filter(|(kind, _)| *kind == "hint").collect();
    let hint = told.whole(1)["denials"][0]["hint"].as_str().unwrap().to_owned();
    assert_eq!(news[0], ("hint", json!({"denied": 1, "hint": hint})));
    let counted = told.whole(1)["denied"].clone();
    let taken = u64::from(hint == "taken");
    let repeated = u64::from(hint == "repeated");
    assert_eq!(
        counted,
        json!({"all": 1, "nudged": u64::from(nudge.is_some()), "taken": taken, "repeated": repeated})
    );
    hint
}

#[test]
fn the_next_call_tells_whether_the_hint_was_taken() {
    let bash = |command: &str| tool("s", 2, "Bash", json!({"command": command, "description": "second"}));
    let (force, lease) = ("git push --force", Some("use `git push --force-with-lease`"));
    assert_eq!(hint(force, lease, &bash("git push --force-with-lease origin main")), "taken");
    assert_eq!(hint(force, lease, &bash("git  push --force")), "repeated", "spaces make no difference");
    assert_eq!(hint(force, lease, &bash("git status")), "other", "the program alone is not the hint");
    assert_eq!(hint("rm -rf x", Some("use trash instead"), &bash("/usr/bin/trash x")), "taken");
    let prose = Some("delete what you mean by name");
    assert_eq!(hint("rm -rf x", prose, &bash("rm x/a")), "taken", "the same program, and nobody objects");
    assert_eq!(hint("rm -rf x", prose, &bash("ls")), "other");
    assert_eq!(hint_of("rm -rf x", prose, &bash("rm -rf ~"), Decision::Ask), "other", "somebody objects");
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
    let told = Teller::new();
    told.apply(&tool("s", 1, "Bash", json!({"command": "rm -rf x"})), Decision::Deny);
    let mut other = tool("s", 2, "Bash", json!({"command": "rm -rf x"}));
    other.agent.id = Some("a".into());
    told.apply(&other, Decision::None);
    assert_eq!(told.whole(1)["denials"][0]["hint"], "open");
    told.apply(&event("s", 3, EventKind::Stop), Decision::Deny);
    assert_eq!(told.whole(1)["denied"]["all"], 1, "a denied stop only means: go on");
}

#[test]
fn an_agent_waits_no_longer_than_its_approval_can_last() {
    let told = Teller::new();
    let mut asked = tool("s", 1000, "Bash", json!({"command": "make"}));
    asked.source = "codex".to_owned();
    "PreToolUse".clone_into(&mut asked.native_event);
    told.apply(&asked, Decision::Ask);
    let key = SessionKey::of(&asked).unwrap();
    let state = |ms: u64| {
        let held = told.projector.lock();
        held.shelf.sessions.get(&key).unwrap().state(Timestamp::from_unix_ms(ms))
    };
    assert_eq!(
        (state(2000), state(61_000), state(200_000)),
        (SessionActivity::Waiting, SessionActivity::Waiting, SessionActivity::Active)
    );
    assert_eq!(state(1000 + 16 * 60 * 1000), SessionActivity::Idle);
    told.projector.approval_ended(&asked);
    assert_eq!(state(2000), SessionActivity::Active);
}

#[test]
fn calls_that_were_asked_about_are_counted_and_listed() {
    let told = Teller::new();
    told.apply(&tool("s", 1, "Bash", json!({"command": "make"})), Decision::Ask);
    let whole = told.whole(1);
    assert_eq!(whole["tool_results"]["Bash"]["asked"], 1);
    assert_eq!(whole["asks"][0]["gist"], "make");
    assert_eq!(whole["denials"], json!([]));
}
