// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The commands for harnesses: detecting them, installing hooks in several at once, waiting for a hook call (`doctor
//! --probe`), and noticing removed hooks.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};

use crate::context::TestContext;
use crate::daemon::{RunningDaemon, until};

/// Writes a program of this name to a directory on the search path.
fn write_program(test: &TestContext, name: &str) {
    let path = test.write(&format!("bin/{name}"), "#!/bin/sh\n");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn run(test: &TestContext, args: &[&str]) -> crate::context::CommandOutput {
    let mut command = test.command(Path::new(env!("CARGO_BIN_EXE_tenterhook")), args);
    command.env("PATH", format!("{}:/usr/bin:/bin", test.path("bin").display()));
    test.run_command(command, b"")
}

/// Entry of one harness in the output of `detect`.
fn detect_one(test: &TestContext, id: &str) -> Value {
    let ran = run(test, &["detect", "--json"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let all = ran.json();
    let all = all["harnesses"].as_array().unwrap();
    assert_eq!(all.len(), tenterhook_harness::HARNESSES.len(), "every harness of the table");
    all.iter().find(|one| one["harness"] == id).unwrap().clone()
}

#[test]
fn installed_harnesses_are_found_with_their_wiring() {
    let test = TestContext::new();
    write_program(&test, "gemini");
    test.write("person/.continue/config.yaml", "");
    let gemini = detect_one(&test, "gemini");
    assert_eq!((&gemini["found"], &gemini["wired"]), (&json!(true), &json!("no")));
    assert_eq!(detect_one(&test, "cursor")["found"], false);
    let other = detect_one(&test, "continue");
    assert_eq!((&other["found"], &other["wired"]), (&json!(true), &json!("impossible")));
    assert!(other["notes"][0].as_str().unwrap().contains("never called"), "{other}");

    assert_eq!(run(&test, &["install", "gemini", "--yes"]).exit, 0);
    let gemini = detect_one(&test, "gemini");
    assert_eq!((&gemini["wired"], &gemini["scopes"]), (&json!("yes"), &json!(["user"])));
    assert_eq!(gemini["last_heard"], Value::Null);
    let payload = json!({"session_id": "s", "hook_event_name": "BeforeTool", "tool_name": "run_shell_command",
        "tool_input": {"command": "ls"}});
    test.run_with(&["hook", "gemini", "before-tool"], payload.to_string().as_bytes());
    test.run(&["ledger", "stats"]);
    assert!(detect_one(&test, "gemini")["last_heard"]["seq"].is_u64());
    let said = run(&test, &["detect"]).stdout;
    assert!(said.contains("✓ Gemini CLI is guarded (user), last event"), "{said}");
    assert!(said.contains("– Continue cannot be guarded"), "{said}");

    std::fs::write(test.path("person/.gemini/settings.json"), "{}").unwrap();
    assert_eq!(detect_one(&test, "gemini")["wired"], "lost");
}

// seed: 001-023, 001-024, 001-026
#[test]
fn all_installed_harnesses_are_wired_together_and_unwired_again() {
    let test = TestContext::new();
    for name in ["codex", "gemini", "qwen", "copilot"] {
        write_program(&test, name);
    }
    let config = test.write("person/.codex/config.toml", "# mine\n[features]\nhooks = false\n");
    let dry = run(&test, &["install", "--all", "--dry-run", "--diff"]);
    assert_eq!(dry.exit, 0, "{}", dry.stderr);
    assert!(dry.stdout.contains("+hooks = true"), "{}", dry.stdout);
    for words in ["detect", "doctor"] {
        run(&test, &[words]);
    }
    let unchanged = std::fs::read_to_string(&config).unwrap();
    assert_eq!(unchanged, "# mine\n[features]\nhooks = false\n", "only an install sets the flag");
    assert!(!test.path("person/.gemini").exists());

    let ran = run(&test, &["install", "--all", "--yes", "--json"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let answer = ran.json();
    let wired: Vec<_> =
        answer["harnesses"].as_array().unwrap().iter().map(|one| one["harness"].clone()).collect();
    assert_eq!(wired, ["codex", "gemini", "qwen", "copilot"]);
    assert!(answer["harnesses"][0]["pending"][0].as_str().unwrap().contains("`/hooks`"), "{answer}");
    for path in [
        ".codex/hooks.json",
        ".gemini/settings.json",
        ".qwen/settings.json",
        ".copilot/hooks/tenterhook.json",
    ] {
        assert!(test.path("person").join(path).exists(), "{path}");
    }
    assert!(!test.path("person/.cursor").exists(), "missing harnesses are not wired");

    let ran = test.run_on_terminal(&["uninstall", "--all", "--yes"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    assert_eq!(std::fs::read_to_string(config).unwrap(), "# mine\n[features]\nhooks = false\n");
    for path in [".codex/hooks.json", ".gemini", ".qwen", ".copilot"] {
        assert!(!test.path("person").join(path).exists(), "{path}");
    }
    assert!(!test.home().join("install").exists());
}

// seed: 001-040
#[test]
fn without_a_name_and_a_terminal_install_lists_the_harnesses() {
    let test = TestContext::new();
    write_program(&test, "qwen");
    let ran = run(&test, &["install", "--yes"]);
    assert_eq!(ran.exit, 2);
    assert!(ran.stderr.contains("found: qwen"), "{}", ran.stderr);
    let ran = run(&test, &["install", "continue", "--yes"]);
    assert_eq!(ran.exit, 2);
    assert!(ran.stderr.contains("Continue calls no hook"), "{}", ran.stderr);
    let ran = run(&test, &["install", "gemini", "--transport", "http", "--yes"]);
    assert!(ran.stderr.contains("does not support hooks over HTTP"), "{}", ran.stderr);
}

#[test]
fn a_user_selects_by_number() {
    let test = TestContext::new();
    test.write("person/.gemini/settings.json", "{}");
    test.write("person/.qwen/settings.json", "{}");
    // Installed agents are listed first and are selected. `script` provides a terminal, on which the user deselects the
    // second of the two agents and then confirms.
    let program = env!("CARGO_BIN_EXE_tenterhook");
    let command = test.command(Path::new("script"), &["-qec", &format!("'{program}' install"), "/dev/null"]);
    let ran = test.run_command(command, b"2\n\ny\n");
    assert!(ran.stdout.contains("[x]  2 Qwen Code, found"), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("Gemini CLI is guarded from its next session on"), "{}", ran.stdout);
    assert_eq!(std::fs::read_to_string(test.path("person/.qwen/settings.json")).unwrap(), "{}");
}

// seed: 001-028
#[test]
fn an_untrusted_codex_hook_is_broken_and_trust_fixes_it() {
    let test = TestContext::new();
    assert_eq!(run(&test, &["install", "codex", "--yes"]).exit, 0);
    let ill = |test: &TestContext| {
        let answer = run(test, &["doctor", "--json"]).json();
        let findings = answer["findings"].as_array().unwrap().clone();
        findings.into_iter().find(|finding| finding["about"] == "Codex CLI").unwrap()
    };
    let finding = ill(&test);
    assert_eq!(finding["standing"], "broken", "{finding}");
    assert!(finding["fix"].as_str().unwrap().contains("press `t`"), "{finding}");
    assert_eq!(detect_one(&test, "codex")["wired"], "unheeded");

    let ran = run(&test, &["install", "codex", "--trust", "--yes"]);
    assert!(ran.stdout.contains("is guarded from its next session on"), "{}", ran.stdout);
    assert_eq!(ill(&test)["standing"], "warning", "trusted, without a call so far");
    assert!(run(&test, &["install", "codex", "--yes"]).stdout.contains("nothing to change"));
}

#[test]
fn a_project_is_wired_separately_from_the_user() {
    let test = TestContext::new();
    std::fs::create_dir_all(test.path("work/.git")).unwrap();
    let ran = run(&test, &["install", "gemini", "--scope", "project", "--yes", "--json"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    assert_eq!(ran.json()["settings"], "[DIR]/work/.gemini/settings.json");
    assert!(!test.path("person/.gemini").exists());
    let scopes = detect_one(&test, "gemini")["scopes"].clone();
    assert!(scopes[0].as_str().unwrap().starts_with("project "), "{scopes}");
    assert_eq!(test.run_on_terminal(&["uninstall", "gemini", "--yes"]).exit, 0);
    assert!(!test.path("work/.gemini").exists());
}

#[test]
fn a_probe_sees_the_next_call_and_gives_up_in_time() {
    let test = TestContext::new();
    assert_eq!(run(&test, &["install", "qwen", "--yes"]).exit, 0);
    let deaf = run(&test, &["doctor", "--probe", "qwen", "--within", "1", "--json"]);
    assert_eq!(deaf.exit, 1);
    assert!(deaf.stdout.contains("did not call within 1 s"), "{}", deaf.stdout);

    let program = Path::new(env!("CARGO_BIN_EXE_tenterhook"));
    let mut probe = test.command(program, &["doctor", "--probe", "--within", "60", "--json"]);
    let mut probe =
        probe.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let mut asked = std::io::BufReader::new(probe.stderr.take().unwrap());
    let mut line = String::new();
    std::io::BufRead::read_line(&mut asked, &mut line).unwrap();
    assert!(line.contains("Start a session in Qwen Code"), "{line}");
    let payload = json!({"session_id": "s", "hook_event_name": "Stop"}).to_string();
    test.run_with(&["hook", "qwen", "stop"], payload.as_bytes());
    let output = probe.wait_with_output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let heard = &answer["findings"][0];
    assert!(heard["says"].as_str().unwrap().starts_with("called just now"), "{heard}");
    assert!(run(&TestContext::new(), &["doctor", "--probe"]).stderr.contains("no harness is guarded"));
}

#[test]
fn the_daemon_sees_that_hooks_were_taken_out() {
    let test = TestContext::new();
    assert_eq!(run(&test, &["install", "claude-code", "--yes"]).exit, 0);
    let daemon = RunningDaemon::in_home(test, &[]);
    let settings = daemon.test.path("person/.claude/settings.json");
    let wired = std::fs::read_to_string(&settings).unwrap();
    assert_eq!(daemon.json("/v1/health")["unwired"], json!([]));
    std::fs::write(&settings, "{}").unwrap();
    let lost = until("the loss is noticed", || {
        let lost = daemon.json("/v1/health")["unwired"].clone();
        lost[0].is_object().then_some(lost)
    });
    assert_eq!(lost[0]["harness"], "claude-code");
    let status = daemon.test.run(&["status"]).stdout;
    assert!(status.contains("claude-code is not guarded any more"), "{status}");
    std::fs::write(&settings, wired).unwrap();
    until("the restored hooks are noticed", || {
        (daemon.json("/v1/health")["unwired"] == json!([])).then_some(())
    });
    until("both are recorded", || {
        let leaves = daemon.json("/v1/ledger?limit=20").to_string();
        (leaves.contains("wiring lost") && leaves.contains("wiring back")).then_some(())
    });
}

// seed: 001-005
#[test]
fn over_http_the_settings_have_the_url_and_the_token() {
    let test = TestContext::new();
    let ran = run(&test, &["install", "claude-code", "--transport", "http", "--yes"]);
    assert!(ran.stderr.contains("no token yet"), "{}", ran.stderr);
    let daemon = RunningDaemon::in_home(test, &[]);
    let ran = run(&daemon.test, &["install", "claude-code", "--transport", "http", "--yes"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("this is lost"), "{}", ran.stdout);
    let text = std::fs::read_to_string(daemon.test.path("person/.claude/settings.json")).unwrap();
    let settings: Value = serde_json::from_str(&text).unwrap();
    let handler = &settings["hooks"]["PreToolUse"][0]["hooks"][0];
    let url = handler["url"].as_str().unwrap();
    assert!(url.ends_with("/v1/hooks/claude-code/pre-tool-use"), "{handler}");
    assert_eq!(settings["hooks"]["SessionStart"][0]["hooks"][0]["type"], "command");

    // The client's request: the payload, with the header from the settings.
    let authorization = handler["headers"]["Authorization"].as_str().unwrap();
    let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let payload = daemon.test.bash("rm -rf /");
    let request = format!(
        "POST /{path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: {authorization}\r\nConnection: close\r\n\
         Content-Length: {}\r\n\r\n{payload}",
        payload.len()
    );
    let answer = daemon.send_raw(request.as_bytes());
    assert_eq!(answer.json()["hookSpecificOutput"]["permissionDecision"], "deny");
    assert!(
        run(&daemon.test, &["install", "claude-code", "--transport", "http", "--yes"])
            .stdout
            .contains("lost")
    );
}

// seed: 001-005, 001-033
#[test]
fn codex_desktop_has_a_hook_and_endpoints_of_its_own() {
    let daemon = RunningDaemon::new();
    let payload = |id: &str| {
        json!({
            "session_id": "s", "turn_id": "t", "cwd": daemon.test.path("work"), "hook_event_name": "PreToolUse",
            "model": "m", "permission_mode": "default", "tool_name": "Bash",
            "tool_input": {"command": "rm -rf /"}, "tool_use_id": id,
        })
    };
    let posted = daemon.post("/v1/hooks/codex-desktop/pre-tool-use", &payload("u-1"));
    let input = payload("u-2").to_string();
    let hooked = daemon.test.run_with(&["hook", "codex-desktop", "pre-tool-use"], input.as_bytes());
    for answer in [posted.json(), hooked.json()] {
        assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{answer}");
    }
}

/// The list item in a harness's guide that begins with this title.
fn guide_item(harness: &str, title: &str) -> String {
    let path = crate::context::repository().join(format!("docs/guide/harness-{harness}.md"));
    let guide = std::fs::read_to_string(path).unwrap();
    let items = guide.split("\n- ").map(|item| item.replace('\n', " "));
    items.into_iter().find(|item| item.starts_with(&format!("**{title}"))).unwrap_or_default()
}

// seed: 001-029
#[test]
fn the_guide_of_codex_states_what_is_not_covered() {
    // In some harnesses no hook sees text that is typed into a running program. For these harnesses, which are marked
    // in the harness table, the judge asks about programs that read typed text. `tests/e2e/tests/codex.rs` runs the
    // real client.
    let unhooked = |harness: &&tenterhook_harness::Harness| harness.unhooked_stdin;
    let unhooked: Vec<_> = tenterhook_harness::HARNESSES.iter().filter(unhooked).collect();
    let ids: Vec<_> = unhooked.iter().map(|harness| harness.id).collect();
    assert_eq!(ids, ["codex", "codex-desktop"]);
    let not_covered = guide_item("codex", "Not covered");
    assert!(not_covered.contains("Codex calls no hook for its tool `write_stdin`"), "{not_covered}");
    assert!(guide_item("codex-desktop", "Covered and not covered").contains("(harness-codex.md)"));

    let test = TestContext::new();
    for program in ["python3", "cat | sh", "psql"] {
        assert!(not_covered.contains(&format!("`{program}`")), "{program}: {not_covered}");
        let explained = run(&test, &["explain", "--harness", "codex", "--json", "--command", program]).json();
        assert_eq!(explained["outcome"]["decision"], "ask", "{program}: {explained}");
    }
    let covered = guide_item("codex", "Covered");
    let codex = tenterhook_harness::find_harness("codex").unwrap();
    assert!(covered.contains(&format!("{} events", codex.events.len())), "{covered}");
    assert!(covered.contains(&format!("tested with version {}", codex.proved_on.join(", "))), "{covered}");
}

// seed: 001-032
#[test]
fn the_guide_of_codex_desktop_gives_trust_where_install_says() {
    let test = TestContext::new();
    let ran = run(&test, &["install", "codex-desktop", "--yes"]);
    let said = format!("{}{}", ran.stdout, ran.stderr);
    let guide = guide_item("codex-desktop", "Trust it");
    for word in ["Codex CLI", "`/hooks`", "`t`", "`--trust`", "select the Tenterhook entries"] {
        assert!(guide.contains(word) && said.contains(word), "{word}\n{guide}\n{said}");
    }
}

#[test]
fn adopted_hooks_serve_another_harness_and_move_back() {
    let test = TestContext::new();
    let script = test.write("person/guard.sh", "#!/bin/sh\necho 'not on my watch' >&2\nexit 2\n");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mine = "{\n  \"hooks\": {\n    \"PreToolUse\": [{\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"~/guard.sh\"}]}]\n  }\n}\n";
    let settings = test.write("person/.claude/settings.json", mine);
    let dry = run(&test, &["adopt", "claude-code", "--dry-run"]);
    assert!(dry.stdout.contains("+    dialect: claude"), "{}{}", dry.stdout, dry.stderr);
    let ran = test.run_on_terminal(&["adopt", "claude-code", "--yes"]);
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(!std::fs::read_to_string(&settings).unwrap().contains("guard.sh"));
    assert_eq!(run(&test, &["check"]).exit, 0);

    let payload = json!({"session_id": "s", "hook_event_name": "BeforeTool", "tool_name": "run_shell_command",
        "tool_input": {"command": "ls"}, "cwd": test.path("work")});
    let reply = test.run_with(&["hook", "gemini", "before-tool"], payload.to_string().as_bytes());
    assert!(reply.stdout.contains("not on my watch"), "{}{}", reply.stdout, reply.stderr);

    let ran = test.run_on_terminal(&["adopt", "claude-code", "--undo", "--yes"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    assert_eq!(std::fs::read_to_string(&settings).unwrap(), mine);
    assert!(!test.home().join("tenterhook.yaml").exists());

    // `uninstall` restores the adopted hooks even if `install` was run after `adopt`.
    assert_eq!(test.run_on_terminal(&["adopt", "claude-code", "--yes"]).exit, 0);
    assert_eq!(test.run_on_terminal(&["install", "claude-code", "--yes"]).exit, 0);
    let ran = test.run_on_terminal(&["uninstall", "claude-code", "--yes"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    assert_eq!(std::fs::read_to_string(&settings).unwrap(), mine);
    assert!(run(&test, &["adopt", "gemini"]).stderr.contains("cannot be adopted"));
}
