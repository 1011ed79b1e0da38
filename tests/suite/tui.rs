// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The terminal view with a daemon and hook calls.

use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::context::TestContext;
use crate::terminal_user::{SocketDaemon, code};
use crate::tui_screen::Screen;

const RULES: &str = "version: 1\nrules:\n  - {id: ask-make, match: {shell: {program: make}}, verdict: ask, reason: people make things}\n";

fn call(guard: &SocketDaemon<'_>, tool: &str, input: &Value) -> Value {
    let payload = json!({
        "session_id": "s-1", "cwd": guard.test.path("work"), "hook_event_name": "PreToolUse",
        "tool_name": tool, "tool_input": input, "tool_use_id": "t-1",
    });
    guard.hook("claude-code", "pre-tool-use", &payload)
}

fn bash(guard: &SocketDaemon<'_>, command: &str) -> Value {
    call(guard, "Bash", &json!({"command": command}))
}

#[test]
fn events_are_shown_and_can_be_opened() {
    let test = TestContext::new();
    let guard = SocketDaemon::of(&test);
    let Some(screen) = Screen::open(&test, &[]) else { return };
    screen.shows("no decisions yet");
    bash(&guard, "echo hello-0");
    screen.shows("press n for all calls");
    screen.press(&["n"]);
    for number in 1..3 {
        bash(&guard, &format!("echo hello-{number}"));
        screen.shows(&format!("echo hello-{number}"));
    }
    bash(&guard, "sudo rm -rf /");
    screen.shows("denied   Bash      sudo rm -rf /");
    screen.press(&["/"]);
    screen.type_text("DENY rm");
    screen.press(&["Enter"]);
    screen.wait_until("only what fits on the screen", |seen| {
        seen.contains("1 of 1") && !seen.contains("hello-1")
    });
    screen.press(&["Enter"]);
    screen.shows("Reply");
    screen.press(&["p"]);
    for sought in ["rule:recursive-delete", "✓ verified: in the signed ledger of"] {
        screen.wait_until(sought, |seen| {
            if !seen.contains(sought) {
                screen.press(&["Down"]);
            }
            seen.contains(sought)
        });
    }
    screen.press(&["Escape"]);
    screen.shows("1 of 1");
    screen.press(&["Escape"]);
    screen.shows("echo hello-1");
    screen.press(&["q"]);
    screen.assert_restored("0");
}

#[test]
fn a_session_shows_its_todos_files_and_tools_as_they_change() {
    let test = TestContext::new();
    let guard = SocketDaemon::of(&test);
    let Some(screen) = Screen::open(&test, &[]) else { return };
    let file = test.path("work/notes.md");
    call(&guard, "Write", &json!({"file_path": file, "content": "a\nb\n"}));
    screen.press(&["2"]);
    screen.shows("claude-code");
    screen.press(&["Enter"]);
    screen.shows("Session · claude-code:s-1");
    let todos = |done: usize| -> Value {
        let status = |at: usize| if at < done { "completed" } else { "pending" };
        let todo =
            |at: usize| json!({"content": format!("step {at}"), "status": status(at), "activeForm": "at it"});
        json!({"todos": (0..7).map(todo).collect::<Vec<_>>()})
    };
    for done in [1, 3] {
        call(&guard, "TodoWrite", &todos(done));
        screen.shows(&format!("Todos {done}/7"));
    }
    screen.shows("✓ step 2");
    // The beginning of the file's path may be cut.
    screen.shows("notes.md");
    screen.shows("TodoWrite");
    screen.tmux(&["resize-window", "-x", "120", "-y", "40"]);
    screen
        .wait_until("two columns", |seen| seen.lines().nth(2).is_some_and(|line| line.contains("Timeline")));
    screen.press(&["d"]);
    screen.wait_until("its calls", |seen| seen.contains("filter: s-1") && seen.contains("all calls"));
    screen.press(&["C-c"]);
    screen.assert_restored("0");
}

/// The reply to a call that needs approval.
fn call_while<T>(guard: &SocketDaemon<'_>, command: &str, meanwhile: impl FnOnce() -> T) -> Value {
    let payload = json!({
        "session_id": "s-2", "turn_id": "t", "cwd": guard.test.path("work"), "hook_event_name": "PreToolUse",
        "model": "m", "permission_mode": "default", "tool_name": "Bash",
        "tool_input": {"command": command}, "tool_use_id": "u-1",
    });
    thread::scope(|scope| {
        let reply = scope.spawn(|| guard.hook("codex", "pre-tool-use", &payload));
        meanwhile();
        reply.join().unwrap()
    })
}

#[test]
fn a_waiting_call_is_answered_by_keys_and_an_approval_needs_the_typed_word() {
    let test = TestContext::new();
    test.write("home/policy.yaml", RULES);
    let guard = SocketDaemon::of(&test);
    let Some(screen) = Screen::open(&test, &[]) else { return };
    let reply = call_while(&guard, "make none", || {
        screen.shows("3 Approvals (1)");
        let bells = || String::from_utf8_lossy(&screen.written_bytes()).matches('\u{7}').count();
        crate::terminal_user::until("the bell rings", || (bells() == 1).then_some(()));
        let colored = screen.tmux(&["capture-pane", "-p", "-e"]);
        let tab = colored.lines().next().unwrap().split("3 Approvals").next().unwrap().to_owned();
        assert!(
            tab.rsplit('\u{1b}').take(3).any(|style| style.contains("38;5;3")),
            "the tab is yellow: {tab:?}"
        );
        screen.press(&["3"]);
        screen.shows("make none");
        screen.press(&["d"]);
        screen.shows("message for the agent");
        screen.type_text("not today");
        screen.press(&["Enter"]);
        screen.shows("✓ denied");
    });
    let reason = reply["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap();
    assert!(
        reason.contains("people make things")
            && reason.contains("Denied by ")
            && reason.contains(": not today"),
        "{reply}"
    );
    assert_eq!(test.last_change()["what"], "deny");
    let reply = call_while(&guard, "make all", || {
        screen.shows("make all");
        screen.press(&["a"]);
        screen.shows("Type `approve` to confirm");
        screen.type_text("yes");
        screen.press(&["Enter"]);
        screen.shows("cancelled");
        screen.press(&["a"]);
        screen.shows("Type `approve` to confirm");
        screen.type_text("approve");
        screen.press(&["Enter"]);
        screen.shows("✓ approved");
    });
    assert_ne!(reply["hookSpecificOutput"]["permissionDecision"], "deny", "{reply}");
    let leaf = test.last_change();
    assert_eq!((&leaf["what"], &leaf["detail"]["for"]), (&json!("approve"), &json!("once")));
    assert_eq!(leaf["detail"]["authority"]["proof"], "tty");
    screen.press(&["m"]);
    screen.shows("Type `mode monitor` to confirm");
    screen.type_text("mode monitor");
    screen.press(&["Enter"]);
    screen.shows("● MONITOR");
    screen.press(&["m", "y"]);
    screen.shows("● enforce");
}

/// Reports the end of a tool call.
fn end_call(guard: &SocketDaemon<'_>, command: &str, failed: bool) {
    let (event, route) = if failed {
        ("PostToolUseFailure", "post-tool-use-failure")
    } else {
        ("PostToolUse", "post-tool-use")
    };
    let payload = json!({
        "session_id": "s-1", "cwd": guard.test.path("work"), "hook_event_name": event, "tool_name": "Bash",
        "tool_input": {"command": command}, "tool_use_id": "t-1", "tool_response": {"stdout": "done"},
        "error": "Exit code 2", "duration_ms": 1250,
    });
    guard.hook("claude-code", route, &payload);
}

#[test]
fn a_call_is_one_row_with_its_result_and_wide_screens_show_its_details() {
    let test = TestContext::new();
    let guard = SocketDaemon::of(&test);
    let Some(screen) = Screen::open(&test, &[]) else { return };
    screen.tmux(&["resize-window", "-x", "140", "-y", "30"]);
    screen.wait_until("the wide screen", |seen| seen.lines().next().is_some_and(|line| line.len() > 100));
    bash(&guard, "cargo test");
    end_call(&guard, "cargo test", true);
    screen.wait_until("decision, result, duration", |seen| {
        seen.lines()
            .any(|line| ["no match", "cargo test", "failed", "│"].iter().all(|part| line.contains(part)))
    });
    screen.shows("Decision · record");
    screen.shows("Normalized event · native event PreToolUse");
    bash(&guard, "sudo rm -rf /");
    screen.shows("recursive-delete");
    screen.shows("rule:recursive-delete");
    let rows = screen.content().lines().filter(|line| line.contains("cargo test")).count();
    assert_eq!(rows, 1, "{}", screen.content());
    // Clicks on the row below the selected one, in the list's third and fourth row of the screen.
    screen.type_text("\u{1b}[<0;10;5M");
    screen.type_text("\u{1b}[<0;10;5m");
    screen.wait_until("the details of the clicked row", |seen| {
        seen.contains("2 of 2") && seen.lines().any(|line| line.contains("│  cargo test"))
    });
    screen.type_text("\u{1b}[<0;23;1M");
    screen.shows("todos files denied");
    screen.press(&["q"]);
    screen.shows("ended 0");
}

#[test]
fn a_call_is_blocked_allowed_explained_and_copied_by_keys() {
    let test = TestContext::new();
    let guard = SocketDaemon::of(&test);
    let Some(screen) = Screen::open(&test, &[]) else { return };
    let ask = |command: &str| {
        let reply = bash(&guard, command);
        reply["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or("none").to_owned()
    };
    assert_eq!(ask("terraform apply"), "none");
    screen.press(&["n"]);
    screen.shows("terraform apply");
    screen.press(&["b"]);
    screen.shows("program: [terraform]");
    screen.press(&["Enter"]);
    screen.shows("to your policy? y / n");
    screen.press(&["y"]);
    screen.shows("✓ rule added");
    crate::terminal_user::until("the rule applies", || (ask("terraform apply") == "deny").then_some(()));
    screen.shows("denied   Bash      terraform apply");

    screen.press(&["a"]);
    screen.shows("Type `allow` to confirm");
    screen.type_text("allow");
    screen.press(&["Enter"]);
    screen.shows("✓ allowed once");
    assert_eq!(test.last_change()["what"], "allow");
    assert_ne!(ask("terraform apply"), "deny", "once");
    assert_eq!(ask("terraform apply"), "deny", "and not again");

    screen.press(&["Escape"]);
    screen.shows("all calls");
    screen.press(&["y"]);
    screen.shows("✓ copied: terraform apply");
    let copied = screen.written_bytes();
    let sequence = b"\x1b]52;c;dGVycmFmb3JtIGFwcGx5\x07";
    assert!(copied.windows(sequence.len()).any(|part| part == sequence));
    screen.press(&["e"]);
    screen.shows("Your current rules");
    screen.shows("Matching rules · 1 of");
    screen.press(&["Escape"]);
    screen.shows("all calls");
    screen.type_text(":explain sudo rm -rf /");
    screen.press(&["Enter"]);
    screen.shows("denied by recursive-delete");
    screen.press(&["?"]);
    screen.shows("block calls like this one");
    screen.press(&["x"]);
    screen.type_text(":q");
    screen.press(&["Enter"]);
    screen.assert_restored("0");
}

#[test]
fn with_codes_an_approval_needs_a_code_that_is_not_shown() {
    let test = TestContext::new();
    test.write("home/policy.yaml", RULES);
    let secret = test.enroll();
    let guard = SocketDaemon::of(&test);
    let Some(screen) = Screen::open(&test, &[]) else { return };
    let reply = call_while(&guard, "make all", || {
        screen.shows("3 Approvals (1)");
        screen.press(&["3", "s"]);
        screen.shows("Code from your authenticator app:");
        let shown = code(&secret, 0);
        screen.type_text(&shown);
        screen.shows("******");
        assert!(!screen.content().contains(&shown));
        screen.press(&["Enter"]);
        screen.shows("✓ approved, with all calls that the same rules ask about in this session");
    });
    assert_ne!(reply["hookSpecificOutput"]["permissionDecision"], "deny", "{reply}");
    let leaf = test.last_change();
    assert_eq!(
        (&leaf["detail"]["for"], &leaf["detail"]["authority"]["proof"]),
        (&json!("session"), &json!("code"))
    );
}

#[test]
fn text_of_an_agent_cannot_control_the_terminal() {
    let test = TestContext::new();
    test.write("home/policy.yaml", RULES);
    let guard = SocketDaemon::of(&test);
    let Some(screen) = Screen::open(&test, &[("NO_COLOR", "1")]) else { return };
    screen.press(&["n"]);
    let evil = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{1b}[H\u{1b}[31m\u{1b}c\u{9b}5A\r\u{8}\u{202e}";
    let payload = json!({
        "session_id": format!("s{evil}"), "cwd": format!("/w{evil}"), "hook_event_name": "PreToolUse",
        "tool_name": format!("Bash{evil}"), "tool_input": {"command": format!("ls {evil} end")}, "tool_use_id": evil,
    });
    guard.hook("claude-code", "pre-tool-use", &payload);
    let todo = json!({"todos": [{"content": format!("do {evil}"), "status": "in_progress", "activeForm": format!("doing {evil}")}]});
    call(&guard, "TodoWrite", &todo);
    call(&guard, "Write", &json!({"file_path": format!("/w/a{evil}.txt"), "content": evil}));
    bash(&guard, &format!("echo last {evil}; sudo rm -rf /"));
    screen.shows("echo last");
    let stands = |seen: &str| {
        let (first, last) = (seen.lines().next().unwrap(), seen.lines().last().unwrap());
        first.starts_with("Tenterhook  1 Live") && last.contains("q  quit")
    };
    screen.wait_until("the frame is intact", stands);
    for keys in [
        &["Enter"][..],
        &["Escape"],
        &["2"],
        &["Enter"],
        &["Escape"],
        &["Down", "Enter"],
        &["4"],
        &["1", "End", "Enter"],
    ] {
        screen.press(keys);
        screen.wait_until("the frame is intact", stands);
    }
    // Escape and a letter that follow each other at once are one key.
    screen.press(&["Escape"]);
    screen.shows("all calls");
    screen.press(&["Home", "y"]);
    screen.shows("copied:");
    screen.shows("␛]0;owned␇");
    let reply = call_while(&guard, &format!("make {evil}"), || {
        screen.press(&["3"]);
        screen.shows("make ␛]0;owned␇");
        screen.press(&["d", "Enter"]);
    });
    assert_eq!(reply["hookSpecificOutput"]["permissionDecision"], "deny");
    let title = screen.tmux(&["display-message", "-p", "#{pane_title}"]);
    assert!(!title.contains("owned"), "{title}");
    let written = screen.written_bytes();
    let has = |bytes: &[u8]| written.windows(bytes.len()).any(|part| part == bytes);
    assert!(has("␛]0;owned␇".as_bytes()), "it was shown");
    // One sequence copies the call, which is encoded, and the bell rings for the approval.
    let count = |bytes: &[u8]| written.windows(bytes.len()).filter(|part| *part == bytes).count();
    assert_eq!((count(b"\x1b]"), count(b"\x1b]52;c;"), count(b"\x07")), (1, 1, 2));
    for bytes in [&b"\x1b[31m"[..], b"\x1bc", "\u{9b}".as_bytes(), "\u{202e}".as_bytes(), b"\x08"] {
        assert!(!has(bytes), "{bytes:?} was written to the terminal");
    }
}

#[test]
fn the_view_follows_restarts_of_the_daemon_and_a_signal_restores_the_terminal() {
    let test = TestContext::new();
    let guard = SocketDaemon::of(&test);
    let Some(screen) = Screen::open(&test, &[]) else { return };
    screen.press(&["n"]);
    bash(&guard, "echo kept");
    screen.shows("echo kept");
    guard.terminate();
    screen.wait_until("the lost daemon is shown", |seen| {
        seen.contains("○ no daemon") && seen.contains("echo kept")
    });
    let guard = SocketDaemon::of(&test);
    screen.shows("reconnected to the daemon");
    bash(&guard, "echo again");
    screen.shows("echo again");
    screen.signal(Signal::STOP);
    screen.signal(Signal::CONT);
    bash(&guard, "echo gone on");
    screen.shows("echo gone on");
    screen.signal(Signal::TERM);
    screen.assert_restored("1");
}

#[test]
fn an_idle_view_costs_nothing_and_a_flood_leaves_it_usable() {
    let test = TestContext::new();
    let guard = SocketDaemon::of(&test);
    let Some(screen) = Screen::open(&test, &[]) else { return };
    screen.press(&["n"]);
    bash(&guard, "echo one");
    screen.shows("echo one");
    thread::sleep(Duration::from_secs(1));
    let before = screen.cpu_time();
    thread::sleep(Duration::from_secs(3));
    let idle = screen.cpu_time().saturating_sub(before);
    assert!(idle <= Duration::from_millis(60), "idle for 3 s it used {idle:?}");
    let (before, began) = (screen.cpu_time(), Instant::now());
    let (sent, switched) = thread::scope(|scope| {
        let flood = |lane: usize| {
            let guard = &guard;
            move || {
                for number in 0..250 {
                    bash(guard, &format!("echo {lane}-{number}"));
                }
            }
        };
        let lanes: Vec<_> = (0..4).map(|lane| scope.spawn(flood(lane))).collect();
        screen.press(&["4"]);
        let switched = screen.shows("Decisions per minute");
        for lane in lanes {
            lane.join().unwrap();
        }
        (began.elapsed(), switched)
    });
    screen.press(&["1", "/"]);
    screen.type_text("3-249");
    screen.shows("echo 3-249");
    let used = screen.cpu_time().saturating_sub(before);
    eprintln!(
        "idle 3 s: {idle:?}; 1000 events in {sent:?}: {used:?} of a processor; a key meanwhile: {switched:?}"
    );
    assert!(switched < Duration::from_secs(5), "{switched:?}");
    screen.press(&["Enter", "4"]);
    screen.shows("1,001 in 15 min");
}

#[test]
fn without_a_terminal_it_prints_an_error() {
    let test = TestContext::new();
    let ran = test.run(&["tui"]);
    assert_eq!((ran.exit, ran.stdout.as_str()), (2, ""));
    assert!(
        ran.stderr.contains("`tui` needs a terminal") && ran.stderr.contains("ledger tail -f"),
        "{}",
        ran.stderr
    );
    let ran = test.run(&["tui", "--json"]);
    assert!(ran.exit == 2 && ran.stderr.contains("has no JSON"), "{}", ran.stderr);
    let help = test.run(&["tui", "--help"]).stdout;
    assert!(help.contains("Examples:\n  tenterhook tui\n") && help.contains("--no-mouse"), "{help}");
}
