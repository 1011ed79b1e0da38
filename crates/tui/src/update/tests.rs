// SPDX-License-Identifier: Apache-2.0 OR MIT

use serde_json::{Value, json};

use crate::message::{Clock, Command, Deed, Message, Needs, Proof, RequestError, Scope, ShownCall, Subject};
use crate::view::tests::{card, decided, got, kind, press, screen, state};
use crate::{Key, State, update};

const ID: &str = "01M7GDFDD5FQJEDHTCGAF9Y9NY";

fn shown_call() -> ShownCall {
    ShownCall { id: ID.to_owned(), digest: "d-1".to_owned() }
}

fn asked(state: &mut State, scope: Scope, needs: Needs, guarded: bool) -> Vec<Command> {
    update(state, Message::Needed(Deed::Approve(shown_call(), scope), Ok((needs, guarded))))
}

fn waits() -> State {
    let mut state = state(80, 24);
    got(&mut state, Subject::Approvals, card("make all"));
    kind(&mut state, "3");
    state
}

#[test]
fn a_yes_takes_the_word_and_nothing_else_will_do() {
    let mut state = waits();
    let deed = || Deed::Approve(shown_call(), Scope::Once);
    assert_eq!(kind(&mut state, "a"), [Command::Ask(deed())]);
    assert!(screen(&state).contains("It wants\n  make all"), "what is approved is seen");
    assert_eq!(asked(&mut state, Scope::Once, Needs::Word, false), []);
    assert_eq!(kind(&mut state, "yes"), []);
    assert_eq!(press(&mut state, &[Key::Enter]), []);
    assert!(screen(&state).contains("that was not `approve`; nothing is done"));
    asked(&mut state, Scope::Once, Needs::Word, false);
    kind(&mut state, "approve");
    assert_eq!(press(&mut state, &[Key::Enter]), [Command::Do(deed(), Proof::Word)]);
    let refused = Err(RequestError("an agent that is guarded here may not".to_owned()));
    update(&mut state, Message::Done(deed(), refused));
    assert!(screen(&state).contains("an agent that is guarded here may not"));
    let wanted = update(&mut state, Message::Done(deed(), Ok(Value::Null)));
    assert_eq!(wanted, [Command::Get(Subject::Approvals)]);
    assert!(screen(&state).contains("✓ approved"));
}

#[test]
fn a_code_is_not_shown_and_a_guarded_agent_is_not_asked() {
    let mut state = waits();
    kind(&mut state, "s");
    asked(&mut state, Scope::Session, Needs::Code, false);
    kind(&mut state, "123456");
    let shown = screen(&state);
    assert!(shown.contains("Code of your authenticator app: ******") && !shown.contains("123456"));
    let deed = Deed::Approve(shown_call(), Scope::Session);
    let wanted = press(&mut state, &[Key::Enter]);
    assert_eq!(wanted, [Command::Do(deed.clone(), Proof::Code("123456".to_owned()))]);
    let wanted = asked(&mut state, Scope::Session, Needs::Word, true);
    assert_eq!(wanted, [Command::Do(deed, Proof::Nothing)], "it is refused, on the record");
    assert!(state.prompt.is_none());
}

#[test]
fn a_no_carries_a_message_and_needs_nobody() {
    let mut state = waits();
    kind(&mut state, "d");
    kind(&mut state, "not on a Fridayy");
    press(&mut state, &[Key::Backspace]);
    let wanted = press(&mut state, &[Key::Enter]);
    assert_eq!(
        wanted,
        [Command::Do(Deed::Deny(ID.to_owned(), "not on a Friday".to_owned()), Proof::Nothing)]
    );
    kind(&mut state, "dx");
    assert_eq!(press(&mut state, &[Key::Esc]), [], "and can be thought better of");
    assert!(state.prompt.is_none());
}

#[test]
fn a_call_that_takes_the_place_of_the_one_that_was_shown_is_not_approved() {
    let mut state = waits();
    kind(&mut state, "a");
    asked(&mut state, Scope::Once, Needs::Word, false);
    kind(&mut state, "appro");
    let mut other = card("make clean");
    other["pending"][0]["digest"] = json!("d-2");
    update(&mut state, Message::Told("approvals".to_owned(), other));
    assert!(state.prompt.is_none(), "the prompt was about another call");
    assert_eq!(kind(&mut state, "a"), [], "what is open waits no more");
}

#[test]
fn nobody_goes_on_about_a_call_that_waits_no_more() {
    let mut state = waits();
    kind(&mut state, "a");
    asked(&mut state, Scope::Once, Needs::Word, false);
    kind(&mut state, "appro");
    update(&mut state, Message::Told("approvals".to_owned(), json!({"pending": []})));
    assert!(state.prompt.is_none());
    let shown = screen(&state);
    assert!(shown.contains("This call waits no more") && shown.contains("answered elsewhere"), "{shown}");
    assert_eq!(kind(&mut state, "a"), [], "and cannot be approved");
}

#[test]
fn a_filter_works_while_it_is_typed() {
    let mut state = state(80, 24);
    for seq in 0..6 {
        update(&mut state, decided(seq, if seq == 3 { "deny" } else { "none" }, &format!("echo {seq}")));
    }
    kind(&mut state, "/DENY echo");
    assert_eq!(state.feed.shown().len(), 1);
    press(&mut state, &[Key::Enter]);
    assert!(screen(&state).contains("1 of 1 · live · filter: DENY echo"), "{}", screen(&state));
    press(&mut state, &[Key::Esc]);
    assert_eq!(state.feed.shown().len(), 6);
}

#[test]
fn what_is_chosen_stays_chosen_while_others_come_and_older_ones_are_fetched() {
    let mut state = state(80, 24);
    for seq in 100..110 {
        update(&mut state, decided(seq, "none", "ls"));
    }
    press(&mut state, &[Key::Down, Key::Down]);
    assert_eq!(state.feed.chosen().unwrap().seq, 107);
    update(&mut state, decided(110, "none", "ls"));
    assert_eq!(state.feed.chosen().unwrap().seq, 107);
    let wanted = press(&mut state, &[Key::End]);
    assert_eq!(wanted, [Command::Get(Subject::Decisions(Some(100)))]);
    assert_eq!(press(&mut state, &[Key::End]), [], "once");
    got(&mut state, Subject::Decisions(Some(100)), json!({"leaves": [], "next": null}));
    assert_eq!(press(&mut state, &[Key::Down]), [], "there are none");
    press(&mut state, &[Key::Char('g')]);
    update(&mut state, decided(111, "none", "ls"));
    assert_eq!(state.feed.chosen().unwrap().seq, 111, "live again");
}

#[test]
fn many_are_counted_once_and_kept_in_bounds() {
    let mut state = state(80, 24);
    for seq in 0..10_500 {
        update(&mut state, decided(seq, "none", "ls"));
        update(&mut state, decided(seq, "none", "ls"));
    }
    assert_eq!(state.feed.len(), 10_000);
    update(&mut state, decided(3, "none", "ls"));
    let counted: u64 = state.stats.last(60, state.clock.now_ms).iter().map(|minute| minute.decided).sum();
    assert_eq!(counted, 10_500);
}

#[test]
fn an_open_session_is_fetched_anew_while_it_changes_but_not_at_every_event() {
    let mut state = state(80, 24);
    let session = json!({"id": "s", "harness": "codex", "last": "2026-11-15T20:00:00Z"});
    let told = || Message::Told("session".to_owned(), session.clone());
    update(&mut state, told());
    kind(&mut state, "2");
    press(&mut state, &[Key::Enter]);
    let mut fetched = 0;
    let begin = state.clock.now_ms;
    for step in 0..100 {
        update(&mut state, told());
        let now = Message::Now(Clock { now_ms: begin + step * 20, ahead_s: 0 });
        let wanted = update(&mut state, now);
        fetched +=
            wanted.iter().filter(|command| matches!(command, Command::Get(Subject::Session(_)))).count();
    }
    assert!((2..=4).contains(&fetched), "{fetched}");
    assert!(state.sleeps_ms() <= 500);
}

#[test]
fn a_daemon_that_comes_back_is_asked_for_everything() {
    let mut state = state(80, 24);
    assert!(state.sleeps_ms() > 1000, "nothing to do");
    update(&mut state, Message::Down("it ended".to_owned()));
    assert!(screen(&state).contains("○ no daemon") && screen(&state).contains("it ended"));
    assert!(update(&mut state, Message::Up).contains(&Command::Get(Subject::Decisions(None))));
    assert!(screen(&state).contains("✓ the daemon is back"));
}

#[test]
fn mode_is_changed_through_the_gate_one_way_only() {
    let mut state = state(80, 24);
    assert_eq!(kind(&mut state, "m"), [Command::Ask(Deed::Monitor)]);
    update(&mut state, Message::Needed(Deed::Monitor, Ok((Needs::Word, false))));
    kind(&mut state, "mode monitor");
    assert_eq!(press(&mut state, &[Key::Enter]), [Command::Do(Deed::Monitor, Proof::Word)]);
    got(&mut state, Subject::Health, json!({"mode": "monitor"}));
    assert!(screen(&state).contains("● MONITOR"));
    kind(&mut state, "m");
    assert_eq!(kind(&mut state, "y"), [Command::Do(Deed::Enforce, Proof::Nothing)]);
}

#[test]
fn no_text_of_an_agent_reaches_the_screen_as_it_is() {
    let evil = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{1b}[31m\u{9b}1A\r\u{8}\u{202e}gnp.exe\u{200b}";
    let everywhere = |value: Value| -> Value {
        fn poison(value: Value, evil: &str) -> Value {
            match value {
                Value::String(text) if text.starts_with("2026-") => Value::String(text),
                Value::String(text) => Value::String(text + evil),
                Value::Array(all) => all.into_iter().map(|one| poison(one, evil)).collect(),
                Value::Object(all) => {
                    Value::Object(all.into_iter().map(|(key, one)| (key, poison(one, evil))).collect())
                }
                other => other,
            }
        }
        poison(value, evil)
    };
    let mut state = state(120, 40);
    let Message::Told(name, data) = decided(1, "deny", "rm") else { panic!() };
    let mut data = everywhere(data);
    data["verdict"] = json!("deny");
    update(&mut state, Message::Told(name, data));
    got(&mut state, Subject::Approvals, everywhere(card("make")));
    let session = json!({"id": "s", "harness": "codex", "state": "active", "title": "t", "model": "m", "cwd": "/w",
        "tools": {(format!("Bash{evil}")): 1}, "todo_items": [{"text": "x", "status": "pending"}],
        "changed_files": [{"shown": "a", "path": "/a", "tools": ["Edit"]}], "labels": ["l"],
        "denials": [{"tool": "Bash", "gist": "rm", "rule": "r"}], "agents": [{"id": "a", "type": "t"}]});
    let session = everywhere(session);
    got(&mut state, Subject::Sessions, json!({"sessions": [session.clone()]}));
    let mut shown = screen(&state);
    for keys in ["2", "3", "4"] {
        kind(&mut state, keys);
        shown += &screen(&state);
        press(&mut state, &[Key::Enter]);
        let key = state.sessions.chosen().unwrap().key.clone();
        got(&mut state, Subject::Session(key), session.clone());
        shown += &screen(&state);
    }
    update(&mut state, Message::Got(Subject::Health, Err(RequestError(evil.to_owned()))));
    update(&mut state, Message::Down(evil.to_owned()));
    shown += &screen(&state);
    let wrong = |letter: char| letter != '\n' && (letter.is_control() || crate::plain::is_invisible(letter));
    assert!(!shown.contains(wrong), "{shown:?}");
    assert!(shown.contains("rm␛]0;owned␇␛[2J"), "and it is seen that it was there: {shown}");
}
