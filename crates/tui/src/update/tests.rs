// SPDX-License-Identifier: Apache-2.0 OR MIT

use serde_json::{Value, json};

use crate::message::{
    ApproveFor, ExplainSubject, FetchTarget, GivenProof, ListedCalls, MouseAction, MouseInput, ProofNeeded,
    RequestError, ShownCall, ShownSnapshot, TuiCommand, TuiMessage, UserAction, WallClock,
};
use crate::state::ViewTab;
use crate::view::tests::{
    approvals_json, decided, decision, ended, fetched, press_keys, screen, state, type_text,
};
use crate::{KeyPress, TuiState, update};

const ID: &str = "01M7GDFDD5FQJEDHTCGAF9Y9NY";

fn shown_call() -> ShownCall {
    ShownCall { id: ID.to_owned(), digest: "d-1".to_owned() }
}

fn proof_needed(
    state: &mut TuiState,
    scope: ApproveFor,
    needs: ProofNeeded,
    guarded: bool,
) -> Vec<TuiCommand> {
    update(state, TuiMessage::ProofNeeded(UserAction::Approve(shown_call(), scope), Ok((needs, guarded))))
}

fn state_with_approval() -> TuiState {
    let mut state = state(80, 24);
    fetched(&mut state, FetchTarget::Approvals, approvals_json("make all"));
    type_text(&mut state, "3");
    state
}

#[test]
fn an_approval_needs_the_typed_word() {
    let mut state = state_with_approval();
    let action = || UserAction::Approve(shown_call(), ApproveFor::Once);
    assert_eq!(type_text(&mut state, "a"), [TuiCommand::AskProofNeeded(action())]);
    assert!(screen(&state).contains("Call\n  make all"), "the call is shown");
    assert_eq!(proof_needed(&mut state, ApproveFor::Once, ProofNeeded::Word, false), []);
    assert_eq!(type_text(&mut state, "yes"), []);
    assert_eq!(press_keys(&mut state, &[KeyPress::Enter]), []);
    assert!(screen(&state).contains("that was not `approve`; cancelled"));
    proof_needed(&mut state, ApproveFor::Once, ProofNeeded::Word, false);
    type_text(&mut state, "approve");
    assert_eq!(press_keys(&mut state, &[KeyPress::Enter]), [TuiCommand::Perform(action(), GivenProof::Word)]);
    let refused = Err(RequestError("guarded agents may not approve".to_owned()));
    update(&mut state, TuiMessage::ActionDone(action(), refused));
    assert!(screen(&state).contains("guarded agents may not approve"));
    let wanted = update(&mut state, TuiMessage::ActionDone(action(), Ok(Value::Null)));
    assert_eq!(wanted, [TuiCommand::Fetch(FetchTarget::Approvals)]);
    assert!(screen(&state).contains("✓ approved"));
}

#[test]
fn a_code_is_not_shown_and_a_guarded_agent_is_not_asked() {
    let mut state = state_with_approval();
    type_text(&mut state, "s");
    proof_needed(&mut state, ApproveFor::Session, ProofNeeded::Code, false);
    type_text(&mut state, "123456");
    let shown = screen(&state);
    assert!(shown.contains("Code from your authenticator app: ******") && !shown.contains("123456"));
    let action = UserAction::Approve(shown_call(), ApproveFor::Session);
    let wanted = press_keys(&mut state, &[KeyPress::Enter]);
    assert_eq!(wanted, [TuiCommand::Perform(action.clone(), GivenProof::Code("123456".to_owned()))]);
    let wanted = proof_needed(&mut state, ApproveFor::Session, ProofNeeded::Word, true);
    assert_eq!(
        wanted,
        [TuiCommand::Perform(action, GivenProof::Nothing)],
        "the daemon refuses and records it"
    );
    assert!(state.prompt.is_none());
}

#[test]
fn a_denial_has_a_message_and_needs_no_proof() {
    let mut state = state_with_approval();
    type_text(&mut state, "d");
    type_text(&mut state, "not on a Fridayy");
    press_keys(&mut state, &[KeyPress::Backspace]);
    let wanted = press_keys(&mut state, &[KeyPress::Enter]);
    assert_eq!(
        wanted,
        [TuiCommand::Perform(
            UserAction::Deny(ID.to_owned(), "not on a Friday".to_owned()),
            GivenProof::Nothing
        )]
    );
    type_text(&mut state, "dx");
    assert_eq!(press_keys(&mut state, &[KeyPress::Esc]), [], "escape cancels");
    assert!(state.prompt.is_none());
}

#[test]
fn a_call_that_takes_the_place_of_the_one_that_was_shown_is_not_approved() {
    let mut state = state_with_approval();
    type_text(&mut state, "a");
    proof_needed(&mut state, ApproveFor::Once, ProofNeeded::Word, false);
    type_text(&mut state, "appro");
    let mut other = approvals_json("make clean");
    other["pending"][0]["digest"] = json!("d-2");
    update(&mut state, TuiMessage::Event("approvals".to_owned(), other));
    assert!(state.prompt.is_none(), "the prompt was for another call");
    assert_eq!(type_text(&mut state, "a"), [], "the open approval is closed");
}

#[test]
fn a_closed_approval_closes_its_prompt() {
    let mut state = state_with_approval();
    type_text(&mut state, "a");
    proof_needed(&mut state, ApproveFor::Once, ProofNeeded::Word, false);
    type_text(&mut state, "appro");
    update(&mut state, TuiMessage::Event("approvals".to_owned(), json!({"pending": []})));
    assert!(state.prompt.is_none());
    let shown = screen(&state);
    assert!(shown.contains("Approval closed") && shown.contains("answered elsewhere"), "{shown}");
    assert_eq!(type_text(&mut state, "a"), [], "a closed approval cannot be approved");
}

#[test]
fn a_filter_works_while_it_is_typed() {
    let mut state = state(80, 24);
    type_text(&mut state, "n");
    for seq in 0..6 {
        update(&mut state, decided(seq, if seq == 3 { "deny" } else { "none" }, &format!("echo {seq}")));
    }
    type_text(&mut state, "/DENY echo");
    assert_eq!(state.calls.shown().visible_rows().len(), 1);
    press_keys(&mut state, &[KeyPress::Enter]);
    let shown = screen(&state);
    assert!(shown.contains("1 of 1 · all calls · live · filter: DENY echo"), "{shown}");
    type_text(&mut state, "n");
    assert!(screen(&state).contains("1 of 1 · notable calls · live · filter: DENY echo"), "the filter stays");
    press_keys(&mut state, &[KeyPress::Esc]);
    type_text(&mut state, "n");
    assert_eq!(state.calls.shown().visible_rows().len(), 6);
}

fn calls_page(seqs: std::ops::Range<u64>, next: Option<u64>) -> Value {
    let row = |seq| decision(seq, "pre-tool", "none", "ls");
    json!({"rows": seqs.rev().map(row).collect::<Vec<_>>(), "next": next, "size": 200})
}

#[test]
fn what_is_chosen_stays_chosen_while_others_come_and_older_ones_are_fetched() {
    let mut state = state(80, 24);
    type_text(&mut state, "n");
    let all = |before| FetchTarget::Calls(ListedCalls::All, before);
    let wanted = fetched(&mut state, all(None), calls_page(100..110, Some(100)));
    assert_eq!(wanted, [TuiCommand::Fetch(all(Some(100)))], "until the screen is full");
    fetched(&mut state, all(Some(100)), calls_page(60..100, Some(60)));
    press_keys(&mut state, &[KeyPress::Down, KeyPress::Down]);
    assert_eq!(state.calls.shown().selected().unwrap().seq, 107);
    update(&mut state, decided(110, "none", "ls"));
    assert_eq!(state.calls.shown().selected().unwrap().seq, 107);
    assert_eq!(press_keys(&mut state, &[KeyPress::End]), [TuiCommand::Fetch(all(Some(60)))]);
    assert_eq!(press_keys(&mut state, &[KeyPress::End]), [], "once");
    update(&mut state, TuiMessage::Fetched(all(Some(60)), Err(RequestError("busy".to_owned()))));
    assert_eq!(press_keys(&mut state, &[KeyPress::End]), [TuiCommand::Fetch(all(Some(60)))], "again");
    fetched(&mut state, all(Some(60)), calls_page(0..60, None));
    assert_eq!(press_keys(&mut state, &[KeyPress::End]), [], "all were fetched");
    assert_eq!(state.calls.shown().len(), 111);
    press_keys(&mut state, &[KeyPress::Char('g')]);
    update(&mut state, decided(111, "none", "ls"));
    assert_eq!(state.calls.shown().selected().unwrap().seq, 111, "live again");
    // After a reconnection with a gap, what was known before it is dropped.
    fetched(&mut state, all(None), calls_page(150..200, Some(150)));
    assert_eq!(
        (state.calls.shown().len(), press_keys(&mut state, &[KeyPress::End])),
        (50, vec![TuiCommand::Fetch(all(Some(150)))])
    );
}

#[test]
fn a_call_and_its_result_are_one_row_and_other_events_are_folded() {
    let mut state = state(120, 24);
    update(&mut state, decided(1, "none", "make all"));
    update(&mut state, decided(2, "none", "ls"));
    update(&mut state, ended(3, "make all", true, 1250));
    update(&mut state, ended(4, "ls", false, 8));
    for (seq, event) in [(5, "notification"), (6, "stop"), (7, "notification")] {
        update(&mut state, TuiMessage::Event("decided".to_owned(), decision(seq, event, "none", "")));
    }
    let shown = screen(&state);
    assert!(
        shown.contains("failed 1.2 s") && !shown.contains("ok 8 ms"),
        "only the call that failed: {shown}"
    );
    type_text(&mut state, "n");
    let shown = screen(&state);
    for text in ["failed 1.2 s", "ok 8 ms", "3 events: 2 × notification, stop"] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    assert_eq!(state.calls.shown().len(), 3);
    // The daemon sends the same rows.
    let row = |seq: u64, gist: &str| decision(seq, "pre-tool", "none", gist);
    let mut folded = decision(7, "notification", "none", "");
    folded["folded"] = json!({"first": 5, "count": 3, "events": {"notification": 2, "stop": 1}});
    let page = json!({"rows": [folded, row(2, "ls"), row(1, "make all")], "next": null, "size": 8});
    fetched(&mut state, FetchTarget::Calls(ListedCalls::All, None), page);
    assert_eq!(state.calls.shown().len(), 3);
    update(&mut state, ended(9, "unknown", true, 1));
    assert_eq!(state.calls.shown().len(), 4, "a result without its call is a row");
}

#[test]
fn many_are_counted_once_and_kept_in_bounds() {
    let mut state = state(80, 24);
    type_text(&mut state, "n");
    for seq in 0..10_500 {
        update(&mut state, decided(seq, "none", "ls"));
        update(&mut state, decided(seq, "none", "ls"));
    }
    assert_eq!(state.calls.shown().len(), 10_000);
    update(&mut state, decided(3, "none", "ls"));
    let counted: u64 =
        state.stats.last_minutes(60, state.clock.now_ms).iter().map(|minute| minute.decided).sum();
    assert_eq!(counted, 10_500);
}

#[test]
fn the_preview_follows_the_selection_and_fetches_it_once_it_has_settled() {
    let mut state = state(130, 30);
    for seq in 1..9 {
        update(&mut state, decided(seq, "deny", "rm"));
    }
    press_keys(&mut state, &[KeyPress::Down, KeyPress::Down]);
    let begin = state.clock.now_ms;
    assert!(state.next_wake_ms() <= 250);
    let at = |ms| TuiMessage::Tick(WallClock { now_ms: begin + ms, ahead_s: 0 });
    assert_eq!(update(&mut state, at(10)), [], "not at every key");
    assert_eq!(update(&mut state, at(300)), [TuiCommand::Fetch(FetchTarget::Decision(6))]);
    assert_eq!(update(&mut state, at(600)), [], "once");
    state.size = (119, 30);
    press_keys(&mut state, &[KeyPress::Down]);
    assert_eq!(update(&mut state, at(900)), [], "there is no preview on a narrow screen");
}

#[test]
fn a_new_approval_rings_the_bell_once() {
    let mut state = state(80, 24);
    let one = approvals_json("make all");
    let told = |data: &Value| TuiMessage::Event("approvals".to_owned(), data.clone());
    assert_eq!(update(&mut state, told(&one)), [TuiCommand::RingBell]);
    assert_eq!(update(&mut state, told(&one)), []);
    assert_eq!(update(&mut state, told(&json!({"pending": []}))), []);
    assert_eq!(update(&mut state, told(&one)), [TuiCommand::RingBell]);
}

#[test]
fn keys_act_on_the_selected_call_after_it_is_fetched() {
    let mut state = state(80, 24);
    update(&mut state, decided(7, "deny", "sudo rm -rf /"));
    let decision = || TuiCommand::Fetch(FetchTarget::Decision(7));
    assert_eq!(type_text(&mut state, "y"), [decision()]);
    let record = crate::view::tests::record();
    let copied = TuiCommand::Copy("sudo rm -rf /".to_owned());
    assert_eq!(fetched(&mut state, FetchTarget::Decision(7), record.clone()), [copied]);
    assert_eq!(fetched(&mut state, FetchTarget::Decision(7), record.clone()), [], "once");
    assert!(screen(&state).contains("✓ copied: sudo rm -rf /"));
    type_text(&mut state, "u");
    let preview = FetchTarget::RestorePreview("01M7GDFDD5FQJEDHTCGAF9Y9NY".to_owned());
    assert_eq!(fetched(&mut state, FetchTarget::Decision(7), record.clone()), [TuiCommand::Fetch(preview)]);
    type_text(&mut state, "e");
    let wanted = fetched(&mut state, FetchTarget::Decision(7), record.clone());
    let [TuiCommand::Fetch(FetchTarget::Explain(ExplainSubject::Record(7, event)))] = wanted.as_slice()
    else {
        panic!("{wanted:?}")
    };
    let event: tenterhook_event::Event = serde_json::from_value(event.clone()).unwrap();
    assert_eq!(event.tool.unwrap().args, json!({"command": "sudo rm -rf /"}));
    press_keys(&mut state, &[KeyPress::Esc]);
    let action = || UserAction::AllowOnce(7);
    assert_eq!(type_text(&mut state, "a"), [decision(), TuiCommand::AskProofNeeded(action())]);
    assert!(screen(&state).contains("Decision · record 7"), "the call is shown first");
    update(&mut state, TuiMessage::ProofNeeded(action(), Ok((ProofNeeded::Word, false))));
    type_text(&mut state, "allow");
    let wanted = press_keys(&mut state, &[KeyPress::Enter]);
    assert_eq!(wanted, [TuiCommand::Perform(action(), GivenProof::Word)]);
    update(&mut state, TuiMessage::ActionDone(action(), Ok(Value::Null)));
    assert!(screen(&state).contains("✓ allowed once"));
}

#[test]
fn the_command_line_runs_commands_and_completes_them() {
    let mut state = state(80, 24);
    update(&mut state, decided(7, "deny", "rm"));
    let mut run = |text: &str| {
        type_text(&mut state, &format!(":{text}"));
        let commands = press_keys(&mut state, &[KeyPress::Enter]);
        (commands, screen(&state))
    };
    assert!(run("sess").1.contains("`sess` is ambiguous: session, sessions"));
    assert!(run("sessions").1.contains("no sessions yet"));
    assert!(run("all").1.contains("all calls"));
    assert!(run("notable").1.contains("notable calls"));
    assert!(run("filter nothing").1.contains("no matches for this filter"));
    assert!(run("filter").1.contains("1 of 1"));
    assert_eq!(run("record #3").0, [TuiCommand::Fetch(FetchTarget::Decision(3))]);
    assert!(run("record x").1.contains("needs the number of a record"));
    assert!(run("live").1.contains("1 of 1"));
    assert_eq!(run("block").0, [TuiCommand::Fetch(FetchTarget::DenyRuleDraft(7))]);
    assert!(run("sudo").1.contains("unknown command `sudo`"));
    assert_eq!(run("session codex:s").0.len(), 2);
    assert!(run("statistics").1.contains("Decisions per minute"));
    assert!(run("undo").1.contains("`undo` needs a call"));
    assert!(run("help").1.contains("All views"));
    assert_eq!(run("").0, []);
    assert_eq!(run("q").0, [TuiCommand::Quit]);
    type_text(&mut state, ":stat");
    press_keys(&mut state, &[KeyPress::Tab]);
    assert!(screen(&state).contains(":statistics"));
    press_keys(&mut state, &[KeyPress::Esc]);
    type_text(&mut state, ":");
    press_keys(&mut state, &[KeyPress::Backspace]);
    assert!(state.prompt.is_none());
}

#[test]
fn the_mouse_selects_rows_and_tabs_and_its_wheel_scrolls() {
    let mut state = state(130, 30);
    for seq in 1..60 {
        update(&mut state, decided(seq, "deny", "rm"));
    }
    let mouse = |column, row, action| TuiMessage::Mouse(MouseInput { column, row, action });
    // The first row of the list is below the tabs, the chart and the heading.
    update(&mut state, mouse(5, 3 + 4, MouseAction::Click));
    assert_eq!(state.calls.shown().selected().unwrap().seq, 55);
    assert!(state.pages.is_empty());
    update(&mut state, mouse(5, 3 + 4, MouseAction::Click));
    assert!(screen(&state).contains("Decision · record 55"), "a click on the selected row opens it");
    press_keys(&mut state, &[KeyPress::Esc]);
    update(&mut state, mouse(5, 10, MouseAction::WheelDown));
    assert_eq!(state.calls.shown().selected().unwrap().seq, 52);
    update(&mut state, mouse(5, 10, MouseAction::WheelUp));
    assert_eq!(state.calls.shown().selected().unwrap().seq, 55);
    let column = u16::try_from("Tenterhook  1 Live  2 S".len()).unwrap();
    update(&mut state, mouse(column, 0, MouseAction::Click));
    assert_eq!(state.tab, ViewTab::Sessions);
    update(&mut state, mouse(129, 29, MouseAction::Click));
    update(&mut state, mouse(5, 20, MouseAction::Click));
    type_text(&mut state, "m");
    update(&mut state, TuiMessage::ProofNeeded(UserAction::Monitor, Ok((ProofNeeded::Word, false))));
    update(&mut state, mouse(column, 0, MouseAction::Click));
    assert!(state.prompt.is_some(), "a click does not close a question");
}

#[test]
fn an_open_session_is_refreshed_while_it_changes_but_not_at_every_event() {
    let mut state = state(80, 24);
    let session = json!({"id": "s", "harness": "codex", "last": "2026-11-15T20:00:00Z"});
    let told = || TuiMessage::Event("session".to_owned(), session.clone());
    update(&mut state, told());
    type_text(&mut state, "2");
    press_keys(&mut state, &[KeyPress::Enter]);
    let mut fetched = 0;
    let begin = state.clock.now_ms;
    for step in 0..100 {
        update(&mut state, told());
        let now = TuiMessage::Tick(WallClock { now_ms: begin + step * 20, ahead_s: 0 });
        let wanted = update(&mut state, now);
        fetched += wanted
            .iter()
            .filter(|command| matches!(command, TuiCommand::Fetch(FetchTarget::Session(_))))
            .count();
    }
    assert!((2..=4).contains(&fetched), "{fetched}");
    assert!(state.next_wake_ms() <= 500);
}

fn preview(id: &str, restorable: u64, conflicts: u64) -> Value {
    json!({"snapshot": {"id": id, "reason": "git-discard"}, "restorable": restorable, "conflicts": conflicts})
}

#[test]
fn calls_of_a_session_are_undone_one_after_the_other() {
    let mut state = state(80, 24);
    let session = json!({"id": "s", "harness": "codex", "snapshots": [
        {"id": "9-1", "reason": "restore"}, {"id": "8-1", "reason": "git-discard"}, {"id": "7-1", "reason": "git-clean"},
    ]});
    update(&mut state, TuiMessage::Event("session".to_owned(), session.clone()));
    type_text(&mut state, "2");
    press_keys(&mut state, &[KeyPress::Enter]);
    fetched(&mut state, FetchTarget::Session("codex:s".to_owned()), session);
    let target = |id: &str| FetchTarget::RestorePreview(id.to_owned());
    assert_eq!(type_text(&mut state, "u"), [TuiCommand::Fetch(target("8-1"))], "not what a restore saved");
    assert_eq!(target("8-1").api_request(), ("/v1/snapshots/8-1".to_owned(), None));
    // Everything is as before this call, so the call before it is offered.
    let answer = TuiMessage::Fetched(target("8-1"), Ok(preview("8-1", 0, 0)));
    assert_eq!(update(&mut state, answer), [TuiCommand::Fetch(target("7-1"))]);
    fetched(&mut state, target("7-1"), preview("7-1", 3, 1));
    assert!(screen(&state).contains("Restore 3 items"), "{}", screen(&state));
    let shown = || ShownSnapshot {
        id: "7-1".to_owned(),
        reason: "git-discard".to_owned(),
        restorable: 3,
        conflicts: 1,
    };
    let action = || UserAction::Restore(shown());
    assert_eq!(type_text(&mut state, "n"), [], "no is the default");
    fetched(&mut state, target("7-1"), preview("7-1", 3, 1));
    assert_eq!(type_text(&mut state, "y"), [TuiCommand::Perform(action(), GivenProof::Nothing)]);
    let done = json!({"restored": 3, "left": [{}], "saved": "9-2"});
    let wanted = update(&mut state, TuiMessage::ActionDone(action(), Ok(done)));
    assert_eq!(wanted, [TuiCommand::Fetch(FetchTarget::Session("codex:s".to_owned()))]);
    assert!(screen(&state).contains("3 restored, 1 left; `tenterhook undo 9-2` reverts this"));

    fetched(&mut state, target("7-1"), preview("7-1", 0, 2));
    assert!(screen(&state).contains("changed after the call"), "{}", screen(&state));
    fetched(&mut state, target("7-1"), preview("7-1", 0, 0));
    assert!(screen(&state).contains("nothing to undo"), "there is no older call");
    let unknown = Err(RequestError("unknown snapshot `x`; GET /v1/snapshots".to_owned()));
    update(&mut state, TuiMessage::Fetched(target("x"), unknown));
    assert!(screen(&state).contains("nothing was saved for this call"));
}

#[test]
fn a_daemon_that_comes_back_is_asked_for_everything() {
    let mut state = state(80, 24);
    assert!(state.next_wake_ms() > 1000, "nothing to do");
    update(&mut state, TuiMessage::Disconnected("daemon stopped".to_owned()));
    assert!(screen(&state).contains("○ no daemon") && screen(&state).contains("daemon stopped"));
    assert!(update(&mut state, TuiMessage::Connected).contains(&TuiCommand::Fetch(FetchTarget::Decisions)));
    assert!(screen(&state).contains("✓ reconnected to the daemon"));
}

#[test]
fn mode_is_changed_through_the_gate_one_way_only() {
    let mut state = state(80, 24);
    assert_eq!(type_text(&mut state, "m"), [TuiCommand::AskProofNeeded(UserAction::Monitor)]);
    update(&mut state, TuiMessage::ProofNeeded(UserAction::Monitor, Ok((ProofNeeded::Word, false))));
    type_text(&mut state, "mode monitor");
    assert_eq!(
        press_keys(&mut state, &[KeyPress::Enter]),
        [TuiCommand::Perform(UserAction::Monitor, GivenProof::Word)]
    );
    fetched(&mut state, FetchTarget::Health, json!({"mode": "monitor"}));
    assert!(screen(&state).contains("● MONITOR"));
    type_text(&mut state, "m");
    assert_eq!(type_text(&mut state, "y"), [TuiCommand::Perform(UserAction::Enforce, GivenProof::Nothing)]);
}

#[test]
fn text_of_agents_reaches_the_screen_only_without_control_characters() {
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
    let mut state = state(180, 40);
    let TuiMessage::Event(name, data) = decided(1, "deny", "rm") else { panic!() };
    let mut data = everywhere(data);
    data["verdict"] = json!("deny");
    update(&mut state, TuiMessage::Event(name, data));
    fetched(&mut state, FetchTarget::Approvals, everywhere(approvals_json("make")));
    let session = json!({"id": "s", "harness": "codex", "state": "active", "title": "t", "model": "m", "cwd": "/w",
        "tools": {(format!("Bash{evil}")): 1}, "todo_items": [{"text": "x", "status": "pending"}],
        "changed_files": [{"shown": "a", "path": "/a", "tools": ["Edit"]}], "labels": ["l"],
        "snapshots": [{"id": "1-2-3", "reason": "git-discard"}],
        "denials": [{"tool": "Bash", "gist": "rm", "rule": "r"}], "agents": [{"id": "a", "type": "t"}]});
    let session = everywhere(session);
    fetched(&mut state, FetchTarget::Sessions, json!({"sessions": [session.clone()]}));
    let mut shown = screen(&state);
    for keys in ["2", "3", "4"] {
        type_text(&mut state, keys);
        shown += &screen(&state);
        press_keys(&mut state, &[KeyPress::Enter]);
        let key = state.sessions.selected().unwrap().key.clone();
        fetched(&mut state, FetchTarget::Session(key), session.clone());
        shown += &screen(&state);
    }
    update(&mut state, TuiMessage::Fetched(FetchTarget::Health, Err(RequestError(evil.to_owned()))));
    update(&mut state, TuiMessage::Disconnected(evil.to_owned()));
    shown += &screen(&state);
    let wrong = |letter: char| letter != '\n' && (letter.is_control() || crate::plain::is_invisible(letter));
    assert!(!shown.contains(wrong), "{shown:?}");
    assert!(shown.contains("rm␛]0;owned␇␛[2J"), "the characters are visible: {shown}");
}
