// SPDX-License-Identifier: Apache-2.0 OR MIT

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use serde_json::{Value, json};
use tenterhook_event::Timestamp;

use crate::message::{FetchTarget, TuiCommand, TuiMessage, WallClock};
use crate::{KeyPress, TuiState, draw, update};

/// The time 2026-11-15T20:00:30Z.
const NOW_MS: u64 = 1_794_772_830_000;

pub(crate) fn state(columns: u16, rows: u16) -> TuiState {
    let mut state = TuiState::new(WallClock { now_ms: NOW_MS, ahead_s: 0 }, (columns, rows), false);
    update(&mut state, TuiMessage::Connected);
    let health = json!({"ok": true, "version": "0.1.0", "mode": "enforce", "level": "standard", "generation": "745310088c84ffbe",
        "uptime_ms": 7_500_000, "problems": [], "stale": [], "unwired": []});
    fetched(&mut state, FetchTarget::Health, health);
    state
}

pub(crate) fn fetched(state: &mut TuiState, subject: FetchTarget, answer: Value) -> Vec<TuiCommand> {
    update(state, TuiMessage::Fetched(subject, Ok(answer)))
}

pub(crate) fn press_keys(state: &mut TuiState, keys: &[KeyPress]) -> Vec<TuiCommand> {
    keys.iter().flat_map(|key| update(state, TuiMessage::Key(*key))).collect()
}

pub(crate) fn type_text(state: &mut TuiState, text: &str) -> Vec<TuiCommand> {
    press_keys(state, &text.chars().map(KeyPress::Char).collect::<Vec<_>>())
}

pub(crate) fn decided(seq: u64, verdict: &str, gist: &str) -> TuiMessage {
    TuiMessage::Event("decided".to_owned(), decision(seq, "pre-tool", verdict, gist))
}

/// The event of a decision.
pub(crate) fn decision(seq: u64, event: &str, verdict: &str, gist: &str) -> Value {
    // The rate increases over time.
    let back = 40 - seq % 40;
    let rule = if verdict == "none" { Value::Null } else { json!("recursive-delete") };
    json!({
        "seq": seq, "id": "01M7GDFDD5FQJEDHTCGAF9Y9NY", "ts": Timestamp::from_unix_ms(NOW_MS - back * back * 500),
        "harness": "claude-code", "event": event, "session": "s-1",
        "tool": {"name": "Bash", "class": "shell", "gist": gist}, "verdict": verdict, "rule": rule,
        "reason": null, "took_us": 800 + seq * 10,
    })
}

/// The result of a call.
pub(crate) fn ended(seq: u64, gist: &str, failed: bool, ran_ms: u64) -> TuiMessage {
    let event = if failed { "tool-error" } else { "post-tool" };
    let mut data = decision(seq, event, "none", gist);
    data["ran_ms"] = json!(ran_ms);
    TuiMessage::Event("decided".to_owned(), data)
}

/// Returns the screen as text, without trailing spaces.
pub(crate) fn screen(state: &TuiState) -> String {
    let (columns, rows) = state.size;
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    terminal.draw(|frame| draw(state, frame)).unwrap();
    let buffer = terminal.backend().buffer();
    let line = |row: u16| -> String { (0..columns).map(|column| buffer[(column, row)].symbol()).collect() };
    (0..rows).map(|row| line(row).trim_end().to_owned() + "\n").collect()
}

pub(crate) fn record() -> Value {
    json!({
        "seq": 7, "hash": "TMHlFsQNzM74XuIM6K8iOBEDHwRtOSE8XbXv7HGgzdQ=", "erased": false, "pruned": false,
        "leaf": {
            "kind": "decision", "seq": 7, "id": "01M7GDFDD5FQJEDHTCGAF9Y9NY", "ts": "2026-11-15T20:00:07.000Z",
            "recorded": "2026-11-15T20:00:07.001Z", "origin": "daemon", "source": "claude-code", "event": "pre-tool",
            "native_event": "PreToolUse", "harness_session_id": "s-1", "tool_use_id": "t-1",
            "tool": {"name": "Bash", "class": "shell"}, "agent": {"user": "dev"}, "cwd": "/w", "verdict": "deny",
            "reason": "This would delete a whole directory tree outside the project.",
            "nudge": "delete the paths you mean by name", "policy_rule_id": "recursive-delete", "flow": "go",
            "generation": "745310088c84ffbe", "took_us": 1062, "signer": "bcd686e9",
            "trace": [
                {"by": "rule:recursive-delete", "decision": "deny", "note": "`rm` on `/`", "status": "matched"},
                {"by": "hook:watch", "status": "ran", "took_us": 640},
            ],
        },
        "payload": {"args": {"command": "sudo rm -rf /"}},
    })
}

fn session() -> Value {
    json!({
        "id": "s-1", "harness": "claude-code", "state": "active", "title": "make the tests green",
        "model": "claude-opus-4", "project": "/home/dev/shop", "started": "2026-11-15T19:30:00Z",
        "last": "2026-11-15T20:00:07Z", "events": 42, "prompts": 2, "subagents": 1,
        "todos": {"all": 4, "completed": 2, "in_progress": 1}, "files": {"written": 2, "deleted": 0, "changed": 2},
        "tools": {"Bash": 12, "Edit": 5}, "denied": {"all": 1}, "verdicts": {"deny": 1},
        "usage": {"cost_usd": 0.4213, "input_tokens": 12000, "output_tokens": 3400, "context_tokens": 50000, "context_limit": 200_000},
        "todo_items": [
            {"text": "Run the tests", "status": "completed"},
            {"text": "Find what is red", "status": "completed"},
            {"text": "Fix the parser", "active_form": "Fixing the parser", "status": "in_progress"},
            {"text": "Write it down", "status": "pending"},
        ],
        "changed_files": [
            {"path": "/home/dev/shop/src/parse.rs", "shown": "src/parse.rs", "changes": 3, "tools": ["Edit"], "added": 12, "removed": 4, "deleted": false},
            {"path": "/home/dev/shop/NOTES.md", "shown": "NOTES.md", "changes": 1, "tools": ["Write"], "added": 9, "removed": 0, "deleted": false},
        ],
        "changes": [
            {"seq": 3, "path": "/home/dev/shop/NOTES.md", "how": "write"},
            {"seq": 4, "path": "/home/dev/shop/src/parse.rs", "how": "edit"},
        ],
        "tool_results": {"Bash": {"calls": 12, "ok": 10, "failed": 1, "denied": 1}},
        "denials": [{"seq": 7, "ts": "2026-11-15T20:00:07Z", "tool": "Bash", "gist": "sudo rm -rf /", "rule": "recursive-delete"}],
        "agents": [{"id": "a-1", "type": "Explore", "started": "2026-11-15T19:31:00Z"}],
    })
}

fn timeline() -> Value {
    json!({"steps": [
        {"seq": 6, "ts": "2026-11-15T20:00:06Z", "event": "prompt", "said": "clean up", "verdict": "none"},
        {"seq": 7, "ts": "2026-11-15T20:00:07Z", "event": "pre-tool", "tool": {"name": "Bash", "gist": "sudo rm -rf /"},
         "verdict": "deny", "rule": "recursive-delete"},
    ], "next": null})
}

pub(crate) fn approvals_json(wants: &str) -> Value {
    json!({"pending": [{
        "id": "01M7GDFDD5FQJEDHTCGAF9Y9NY", "name": "k7f2m", "digest": "d-1", "since": "2026-11-15T20:00:20.000Z", "until": "2026-11-15T20:01:13.000Z",
        "source": "codex", "event": "PreToolUse", "session": "s-2", "cwd": "/home/dev/shop", "user": "dev",
        "tool": "Bash", "wants": wants, "args": {"command": wants},
        "reasons": [{"by": "rule:ask-make", "said": "builds need approval"}],
    }]})
}

fn full_state(columns: u16, rows: u16) -> TuiState {
    let mut state = state(columns, rows);
    let usual = ["cargo test --workspace", "git status", "rg -n todo src", "ls -la", "cargo fmt --check"];
    for (call, gist) in (0..20).zip(usual.into_iter().cycle()) {
        let seq = call * 2;
        if call % 9 == 7 {
            update(&mut state, decided(seq, "deny", "sudo rm -rf /"));
            continue;
        }
        update(&mut state, decided(seq, "none", gist));
        if call % 6 == 4 {
            let event = decision(seq + 1, "notification", "none", "");
            update(&mut state, TuiMessage::Event("decided".to_owned(), event));
        } else if call < 19 {
            let ended = ended(seq + 1, gist, call % 10 == 5, 40 + call * call * 17);
            update(&mut state, ended);
        }
    }
    fetched(&mut state, FetchTarget::Sessions, json!({"sessions": [session()], "all": 1}));
    fetched(&mut state, FetchTarget::Approvals, approvals_json("terraform apply"));
    state.notice = None;
    state
}

#[test]
fn live_fits_on_a_small_screen_and_shows_more_on_a_large_one() {
    insta::assert_snapshot!("live_80x24", screen(&full_state(80, 24)));
    let mut wide = full_state(140, 40);
    fetched(&mut wide, FetchTarget::Decision(32), record());
    insta::assert_snapshot!("live_140x40", screen(&wide));
    let mut state = full_state(80, 24);
    type_text(&mut state, "n");
    insta::assert_snapshot!("live_80x24_all", screen(&state));
}

#[test]
fn a_decision_shows_its_rules_and_reasons() {
    for (name, columns, rows) in [("decision_80x24", 80, 24), ("decision_120x40", 120, 40)] {
        let mut state = full_state(columns, rows);
        let wanted = press_keys(&mut state, &[KeyPress::Down, KeyPress::Enter]);
        assert_eq!(wanted, [TuiCommand::Fetch(FetchTarget::Decision(30))]);
        state.pages.clear();
        state.pages.push(crate::state::OpenPage::decision(7).0);
        fetched(&mut state, FetchTarget::Decision(7), record());
        insta::assert_snapshot!(name, screen(&state));
    }
}

#[test]
fn a_rule_that_blocks_a_call_is_shown_before_it_is_added_and_a_decision_is_explained() {
    let mut state = full_state(80, 24);
    assert_eq!(type_text(&mut state, "b"), [TuiCommand::Fetch(FetchTarget::DenyRuleDraft(32))]);
    let yaml = "- id: no-rm-32\n  match:\n    shell:\n      program: rm\n  verdict: deny\n";
    let draft = json!({"ids": ["no-rm-32"], "rule": {}, "yaml": yaml, "before": "version: 1\n",
        "text": format!("version: 1\nrules:\n{yaml}"), "etag": "e", "validation": {"ok": true, "problems": []}});
    fetched(&mut state, FetchTarget::DenyRuleDraft(32), draft);
    insta::assert_snapshot!("block_80x24", screen(&state));
    press_keys(&mut state, &[KeyPress::Enter]);
    assert!(screen(&state).contains("Add the rule `no-rm-32` to your policy? y / n"));
    let rule = crate::ShownRule {
        id: "no-rm-32".to_owned(),
        before: "version: 1\n".to_owned(),
        after: format!("version: 1\nrules:\n{yaml}"),
    };
    let action = crate::UserAction::AddRule(rule);
    assert_eq!(type_text(&mut state, "y"), [TuiCommand::Perform(action, crate::GivenProof::Nothing)]);

    let mut state = full_state(80, 24);
    type_text(&mut state, ":explain rm -rf build");
    let subject = crate::ExplainSubject::Command("rm -rf build".to_owned());
    let wanted = press_keys(&mut state, &[KeyPress::Enter]);
    assert_eq!(wanted, [TuiCommand::Fetch(FetchTarget::Explain(subject.clone()))]);
    let answer = json!({"verdict": "ask", "rule": "ask-rm", "says": "deletes a directory", "considered": 50,
        "rules": [
            {"rule": "ask-rm", "matched": true, "counts": true, "verdict": "ask", "why": "`rm` with `-r`"},
            {"rule": "old", "matched": true, "counts": false, "verdict": "deny", "why": "monitor mode"},
            {"rule": "other", "matched": false, "counts": false, "verdict": "deny", "why": "no"},
        ],
        "facts": {"commands": [{"program": "rm"}]}});
    fetched(&mut state, FetchTarget::Explain(subject), answer);
    insta::assert_snapshot!("explanation_80x24", screen(&state));
}

#[test]
fn sessions_and_one_of_them() {
    for (name, columns, rows) in [("session_80x24", 80, 24), ("session_120x40", 120, 40)] {
        let mut state = full_state(columns, rows);
        let key = "claude-code:s-1".to_owned();
        type_text(&mut state, "2");
        if columns >= 120 {
            fetched(&mut state, FetchTarget::Session(key.clone()), session());
        }
        insta::assert_snapshot!(format!("{name}_list"), screen(&state));
        let wanted = press_keys(&mut state, &[KeyPress::Enter]);
        assert_eq!(
            wanted,
            [
                TuiCommand::Fetch(FetchTarget::Session(key.clone())),
                TuiCommand::Fetch(FetchTarget::Timeline(key.clone()))
            ]
        );
        fetched(&mut state, FetchTarget::Session(key.clone()), session());
        fetched(&mut state, FetchTarget::Timeline(key), timeline());
        insta::assert_snapshot!(name, screen(&state));
    }
}

#[test]
fn a_call_that_waits_and_what_has_to_be_typed() {
    for (name, columns, rows) in [("approval_80x24", 80, 24), ("approval_120x40", 120, 40)] {
        let mut state = full_state(columns, rows);
        type_text(&mut state, "3");
        insta::assert_snapshot!(format!("{name}_list"), screen(&state));
        type_text(&mut state, "a");
        let (id, digest) = ("01M7GDFDD5FQJEDHTCGAF9Y9NY".to_owned(), "d-1".to_owned());
        let action = crate::UserAction::Approve(crate::ShownCall { id, digest }, crate::ApproveFor::Once);
        update(&mut state, TuiMessage::ProofNeeded(action, Ok((crate::ProofNeeded::Word, false))));
        type_text(&mut state, "appr");
        insta::assert_snapshot!(name, screen(&state));
    }
}

#[test]
fn statistics_help_and_a_daemon_that_is_gone() {
    for (size, columns, rows) in [("80x24", 80, 24), ("120x40", 120, 40)] {
        let mut state = full_state(columns, rows);
        let wanted = type_text(&mut state, "4");
        assert!(wanted.contains(&TuiCommand::Fetch(FetchTarget::Ledger)));
        let ledger = json!({"size": 1234, "signed": 1230, "sessions": 7, "bytes_on_disk": 3_400_000, "verdicts": {"none": 1100, "deny": 134}, "rules": {}});
        fetched(&mut state, FetchTarget::Ledger, ledger);
        insta::assert_snapshot!(format!("statistics_{size}"), screen(&state));
        type_text(&mut state, "?");
        insta::assert_snapshot!(format!("help_{size}"), screen(&state));
        type_text(&mut state, "?1");
        update(&mut state, TuiMessage::Disconnected("connection refused".to_owned()));
        insta::assert_snapshot!(format!("gone_{size}"), screen(&state));
    }
}

/// Compares the screens in the guide with those of this test. TENTERHOOK_GENERATE=1 writes the screens into the
/// guide.
#[test]
#[expect(clippy::disallowed_methods, reason = "a test may read its own environment")]
fn generated_pictures_of_the_guide() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/tui.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let mut state = full_state(80, 24);
    let live = screen(&state);
    type_text(&mut state, "2");
    press_keys(&mut state, &[KeyPress::Enter]);
    let key = "claude-code:s-1".to_owned();
    fetched(&mut state, FetchTarget::Session(key.clone()), session());
    fetched(&mut state, FetchTarget::Timeline(key), timeline());
    let mut updated = page.clone();
    let mut wide = full_state(120, 24);
    fetched(&mut wide, FetchTarget::Decision(32), record());
    for (name, picture) in [("live", live), ("wide", screen(&wide)), ("session", screen(&state))] {
        let begin = format!("<!-- {name}: made by a test of crates/tui -->\n```text\n");
        let (before, rest) = updated.split_once(&begin).unwrap_or_else(|| panic!("no place for `{name}`"));
        let (_, after) = rest.split_once("```\n").unwrap();
        updated = format!("{before}{begin}{picture}```\n{after}");
    }
    if std::env::var_os("TENTERHOOK_GENERATE").is_some() {
        std::fs::write(&path, &updated).unwrap();
    } else {
        assert!(updated == page, "the screens in docs/guide/tui.md are stale: run `make generate`");
    }
}

#[test]
fn every_size_of_a_screen_can_be_painted() {
    for (columns, rows) in [(0, 0), (1, 1), (3, 2), (20, 4), (40, 10), (79, 23), (300, 100)] {
        let mut state = full_state(columns, rows);
        for keys in ["1", "2", "3", "4", "?"] {
            type_text(&mut state, keys);
            screen(&state);
            press_keys(&mut state, &[KeyPress::Enter]);
            fetched(&mut state, FetchTarget::Session("claude-code:s-1".to_owned()), session());
            fetched(&mut state, FetchTarget::Decision(32), record());
            screen(&state);
            press_keys(&mut state, &[KeyPress::End, KeyPress::PageUp, KeyPress::Home]);
            screen(&state);
        }
    }
}

#[test]
fn without_colours_there_is_none_and_with_them_only_those_of_the_terminal() {
    for colors in [false, true] {
        let mut state = full_state(80, 24);
        state.colors = colors;
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
        terminal.draw(|frame| draw(&state, frame)).unwrap();
        let cells = &terminal.backend().buffer().content;
        let plain = |color| matches!(color, ratatui::style::Color::Reset);
        assert_eq!(cells.iter().all(|cell| plain(cell.fg) && plain(cell.bg)), !colors);
    }
}
